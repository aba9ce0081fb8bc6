//! The demo's table and its summary.

use std::fmt;

use comfy_table::Table;

use super::contest::{FilterResult, Results};
use crate::columns;

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { keys, queries, block_bits, bits_per_key, .. } = self;
        writeln!(
            f,
            "{keys} e-mail addresses in blocks of {block_bits} bits, {bits_per_key} bits of memory per \
             address; {queries} lookups of other addresses.\n",
        )?;
        writeln!(f, "{}\n", table(&self.filters).trim_fmt())?;
        for sentence in sentences(self) {
            writeln!(f, "- {sentence}")?;
        }
        Ok(())
    }
}

fn table(filters: &[FilterResult]) -> Table {
    let header = [
        "filter",
        "bits\nper key",
        "false pos.\nmeasured",
        "\npredicted",
        "off\nby",
        "accesses\ninsert",
        "\nhit",
        "\nmiss",
        "over-\nflow",
        "lost\nkeys",
        "ns per\ninsert",
        "\nmiss",
    ];
    let rows = filters.iter().map(|filter| {
        [
            filter.filter.to_owned(),
            format!("{:.2}", filter.bits_per_key),
            format!("{:.2e}", filter.fpr_measured),
            format!("{:.2e}", filter.fpr_predicted),
            format!("{:+.1} σ", deviation(filter)),
            format!("{:.2}", filter.accesses_insert),
            format!("{:.2}", filter.accesses_hit),
            format!("{:.2}", filter.accesses_miss),
            format!("{:.2} %", 100.0 * filter.overflow_fraction),
            filter.false_negatives.to_string(),
            format!("{:.0}", filter.ns_insert),
            format!("{:.0}", filter.ns_miss),
        ]
    });
    columns::table(header, rows)
}

/// Distance of the measured rate from the predicted one, in standard deviations.
fn deviation(filter: &FilterResult) -> f64 {
    (filter.fpr_measured - filter.fpr_predicted) / filter.fpr_sigma
}

/// A summary of the table, computed from its numbers.
fn sentences(results: &Results) -> Vec<String> {
    let find = |name: &str| results.filters.iter().find(|filter| filter.filter == name);
    let (Some(classical), Some(blocked), Some(multi_level)) =
        (find("classical"), find("blocked"), find("multi-level"))
    else {
        return Vec::new();
    };
    let mut sentences = vec![
        format!(
            "The classical filter reads {:.0} bits per insert and {:.1} per miss; the blocked filter reads a \
             single block, and has {} the false positives.",
            classical.accesses_insert,
            classical.accesses_miss,
            ratio(blocked.fpr_predicted, classical.fpr_predicted),
        ),
        format!(
            "Multi-level stores each key in the first of three blocks that has room: {:.2} accesses per \
             insert, {:.2} per miss, and {} false positives than blocked.",
            multi_level.accesses_insert,
            multi_level.accesses_miss,
            compare(multi_level.fpr_predicted, blocked.fpr_predicted),
        ),
    ];
    if let Some(hinted) = find("hinted") {
        sentences.push(format!(
            "Hints, a few bits in which a block records rejected keys, reduce a miss to {:.2} \
             blocks, with {} false positives than multi-level without them.",
            hinted.accesses_miss,
            compare(hinted.fpr_predicted, multi_level.fpr_predicted),
        ));
    }
    if let Some(fingerprint) = find("fingerprint") {
        sentences.push(format!(
            "Cache lines of fingerprints have {} false positives than the classical filter, at {:.2} \
             blocks per insert and {:.2} per miss.",
            compare(fingerprint.fpr_predicted, classical.fpr_predicted),
            fingerprint.accesses_insert,
            fingerprint.accesses_miss,
        ));
    }
    let lost: u64 = results.filters.iter().map(|filter| filter.false_negatives).sum();
    let furthest = results.filters.iter().map(|filter| deviation(filter).abs()).fold(0.0, f64::max);
    sentences.push(format!(
        "No key may ever be lost: {lost} were. The measured rates lie within {furthest:.1} standard \
         deviations of what the theory predicted before the first insert."
    ));
    sentences.push(format!(
        "Times are per operation on precomputed hashes; hashing an address took {:.0} ns.",
        results.ns_hash
    ));
    sentences
}

fn ratio(value: f64, reference: f64) -> String {
    let times = value / reference;
    if times >= 10.0 { format!("{times:.0} times") } else { format!("{times:.1} times") }
}

fn compare(value: f64, reference: f64) -> String {
    if value < reference {
        format!("{:.1} times fewer", reference / value)
    } else {
        format!("{:.1} times more", value / reference)
    }
}
