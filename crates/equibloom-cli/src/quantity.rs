//! Numbers as people write them.

/// Reads a count: `250000`, `250_000`, `4M`, `1.5k`, `1e9`.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    let (digits, unit) = match plain.char_indices().last() {
        Some((at, 'k' | 'K')) => (&plain[..at], 1e3),
        Some((at, 'm' | 'M')) => (&plain[..at], 1e6),
        Some((at, 'g' | 'G')) => (&plain[..at], 1e9),
        _ => (&plain[..], 1.0),
    };
    let accepted = "give a whole number such as 250000, 4M or 1e9";
    if unit == 1.0
        && let Ok(count) = digits.parse()
    {
        return Ok(count);
    }
    let value =
        digits.parse::<f64>().map_err(|_| format!("`{text}` is not a number: {accepted}"))? * unit;
    // Above 2⁵³ a float does not hold every whole number.
    if !(0.0..=9_007_199_254_740_992.0).contains(&value) || value.fract() != 0.0 {
        return Err(format!("`{text}` is not a count: {accepted}"));
    }
    Ok(value as u64)
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn counts_read_as_people_write_them() {
        for (text, value) in [
            ("0", 0),
            ("250_000", 250_000),
            ("4M", 4_000_000),
            ("1.5k", 1_500),
            ("1e9", 1_000_000_000),
            ("2g", 2_000_000_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_count_is_named() {
        for text in ["", "M", "-1", "1.5", "nan", "inf", "1e30", "12 apples", "é", "1µ"] {
            let error = count(text).unwrap_err();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
