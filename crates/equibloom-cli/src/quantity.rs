//! Parses numbers with units.
//!
//! | | examples |
//! |---|---|
//! | counts | `250000`, `250_000`, `4M`, `1.5k`, `1e9` |
//! | bytes | `4096`, `150MB` (10⁶ bytes), `1GiB` (2³⁰), `64k` |
//! | shares and rates | `0.001`, `1e-6`, `0.1%` |
//! | real numbers | `1.2`, `16` |

/// Above 2⁵³ a float does not represent every whole number.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Parses a count.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    whole(text, &DECIMAL, "count", "give a whole number such as 250000, 4M or 1e9")
}

/// Parses a number of bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let units = [&BINARY[..], &DECIMAL_BYTES, &DECIMAL].concat();
    whole(text, &units, "number of bytes", "give bytes such as 4096, 150MB or 1GiB")
}

/// Parses a share from 0 to 1, also in per cent.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = ratio(text)?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(format!("`{text}` is not between 0 and 1 (or 0% and 100%)"))
    }
}

/// Parses a real number, also in per cent.
pub(crate) fn ratio(text: &str) -> Result<f64, String> {
    // A product by 0.01 would turn 0.1% into 0.0010000000000000002.
    let (digits, divisor) = match text.strip_suffix('%') {
        Some(digits) => (digits.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let share =
        real(digits).map_err(|_| not_a_number(text, "give a share such as 0.001, 1e-6 or 0.1%"))?;
    Ok(share / divisor)
}

/// Parses a finite real number.
pub(crate) fn real(text: &str) -> Result<f64, String> {
    let number: f64 = text
        .replace('_', "")
        .parse()
        .map_err(|_| not_a_number(text, "give one such as 1.2 or 16"))?;
    if number.is_finite() {
        Ok(number)
    } else {
        Err(not_a_number(text, "give a finite one such as 1.2 or 16"))
    }
}

/// Units and their factors; longer names come first.
type Units = [(&'static str, f64)];
const DECIMAL: [(&str, f64); 4] = [("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12)];
const DECIMAL_BYTES: [(&str, f64); 5] =
    [("kb", 1e3), ("mb", 1e6), ("gb", 1e9), ("tb", 1e12), ("b", 1.0)];
const BINARY: [(&str, f64); 4] =
    [("kib", 1024.0), ("mib", 1_048_576.0), ("gib", 1_073_741_824.0), ("tib", 1_099_511_627_776.0)];

fn whole(text: &str, units: &Units, what: &str, accepted: &str) -> Result<u64, String> {
    let plain = text.replace('_', "").to_ascii_lowercase();
    let unit = units.iter().find_map(|&(name, unit)| Some((plain.strip_suffix(name)?, unit)));
    let (digits, unit) = unit.unwrap_or((&plain, 1.0));
    let digits = digits.trim_end();
    if unit == 1.0
        && let Ok(number) = digits.parse()
    {
        return Ok(number);
    }
    let value = digits.parse::<f64>().map_err(|_| not_a_number(text, accepted))? * unit;
    // 1.1G is a whole number although the floating-point product may be slightly off.
    let nearest = value.round();
    let is_whole = (value - nearest).abs() <= 1e-9 * unit.min(nearest);
    if (0.0..=LARGEST_EXACT).contains(&nearest) && is_whole {
        Ok(nearest as u64)
    } else {
        Err(format!("`{text}` is not a {what}: {accepted}"))
    }
}

fn not_a_number(text: &str, accepted: &str) -> String {
    format!("`{text}` is not a number: {accepted}")
}

#[cfg(test)]
mod tests;
