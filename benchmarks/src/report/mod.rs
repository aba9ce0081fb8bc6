//! Reports as text, HTML and JSON.

mod html;
mod json;
mod table;

use serde::Serialize;

pub(crate) use html::page;
pub(crate) use json::json;
pub(crate) use table::{NOTHING, STYLE, judgements, quartiles, table};

use crate::race::Outcome;
use crate::verdict::Verdict;

/// All results of a run.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) command: String,
    pub(crate) machine: String,
    /// Target features enabled at compile time; more are detected at run time.
    pub(crate) compiled_for: &'static str,
    pub(crate) version: &'static str,
    pub(crate) races: Vec<Outcome>,
    pub(crate) verdict: Verdict,
}

/// A whole number with thousands separators.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_grouped() {
        let numbers = [0, 12, 999, 1_000, 50_000_000].map(grouped);
        assert_eq!(numbers, ["0", "12", "999", "1,000", "50,000,000"]);
    }
}
