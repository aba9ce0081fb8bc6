//! All of it, for programs.

use super::Report;

/// One document: every round's times, medians, quartiles, rates and the verdict.
pub(crate) fn json(report: &Report) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(report)
}
