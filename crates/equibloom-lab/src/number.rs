//! Formats numbers for text.

/// Three significant digits; powers of ten where they help.
pub fn short(value: f64) -> String {
    significant(value, 3)
}

/// This many significant digits; powers of ten where they help.
pub fn significant(value: f64, digits: usize) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let exponent = magnitude.log10().floor() as i32;
    if !(-3..6).contains(&exponent) {
        let text = format!("{value:.*e}", digits.saturating_sub(1));
        return match text.split_once('e') {
            Some((mantissa, power)) => match trim(mantissa) {
                "1" => format!("10{}", superscript(power)),
                mantissa => format!("{mantissa}·10{}", superscript(power)),
            },
            None => text,
        };
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    trim(&format!("{value:.decimals$}")).to_owned()
}

/// A whole power of ten.
pub fn power_of_ten(exponent: i32) -> String {
    format!("10{}", superscript(&exponent.to_string()))
}

fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Of digits and a minus sign.
fn superscript(digits: &str) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digits
        .chars()
        .map(|digit| digit.to_digit(10).map_or('⁻', |digit| RAISED[digit as usize]))
        .collect()
}

#[cfg(test)]
mod tests;
