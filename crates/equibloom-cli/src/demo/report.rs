//! The demo's table and its summary.

use std::fmt;

use super::Arguments;
use super::contest::{FilterResult, Results};
use crate::columns::{self, Column};

impl fmt::Display for Results<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queries, arguments, .. } = self;
        let Arguments { keys, block_bits, bits_per_key, .. } = arguments;
        writeln!(
            f,
            "{keys} e-mail addresses in Bloom blocks of {block_bits} bits or cache lines of fingerprints, \
             {bits_per_key} bits of memory per address; {queries} lookups of other addresses.\n"
        )?;
        columns::write(f, &COLUMNS, &self.filters, &remarks(self))
    }
}

const COLUMNS: [Column<FilterResult>; 12] = [
    ("filter", |filter| filter.filter.to_owned()),
    ("bits\nper key", |filter| format!("{:.2}", filter.bits_per_key)),
    ("false pos.\nmeasured", |filter| format!("{:.2e}", filter.fpr_measured)),
    ("\npredicted", |filter| format!("{:.2e}", filter.fpr_predicted)),
    ("off\nby", |filter| format!("{:+.1} σ", deviation(filter))),
    ("accesses\ninsert", |filter| format!("{:.2}", filter.accesses_insert)),
    ("\nhit", |filter| format!("{:.2}", filter.accesses_hit)),
    ("\nmiss", |filter| format!("{:.2}", filter.accesses_miss)),
    ("over-\nflow", |filter| format!("{:.2} %", 100.0 * filter.overflow_fraction)),
    ("lost\nkeys", |filter| filter.false_negatives.to_string()),
    ("ns per\ninsert", |filter| format!("{:.0}", filter.ns_insert)),
    ("\nmiss", |filter| format!("{:.0}", filter.ns_miss)),
];

/// Bits of a cache line.
const LINE_BITS: u32 = 512;

/// Distance of the measured rate from the predicted one, in standard deviations.
fn deviation(filter: &FilterResult) -> f64 {
    (filter.fpr_measured - filter.fpr_predicted) / filter.fpr_sigma
}

/// A summary of the table, computed from its numbers.
fn remarks(results: &Results<'_>) -> Vec<String> {
    let find = |name: &str| results.filters.iter().find(|filter| filter.filter == name);
    let (Some(classical), Some(blocked), Some(multi_level)) =
        (find("classical"), find("blocked"), find("multi-level"))
    else {
        return Vec::new();
    };
    let mut remarks = vec![
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
    let lines = results.arguments.block_bits.div_ceil(LINE_BITS);
    if lines > 1 {
        remarks.push(format!(
            "Accesses are blocks. Each has {lines} cache lines, and a key's {} bits may be in as many of them: such \
             blocks save reads of a disk, not of memory. Only fingerprints are in one line.",
            blocked.hashes
        ));
    }
    if let Some(hinted) = find("hinted") {
        remarks.push(format!(
            "With hints, a few bits in which a block records rejected keys, a miss reads {:.2} blocks instead of \
             {:.2}, with {} false positives.",
            hinted.accesses_miss,
            multi_level.accesses_miss,
            compare(hinted.fpr_predicted, multi_level.fpr_predicted),
        ));
    }
    if let Some(fingerprint) = find("fingerprint") {
        remarks.push(format!(
            "Cache lines of fingerprints have {} false positives than the classical filter, at {:.2} \
             blocks per insert and {:.2} per miss.",
            compare(fingerprint.fpr_predicted, classical.fpr_predicted),
            fingerprint.accesses_insert,
            fingerprint.accesses_miss,
        ));
    }
    let lost: u64 = results.filters.iter().map(|filter| filter.false_negatives).sum();
    let furthest = results.filters.iter().map(|filter| deviation(filter).abs()).fold(0.0, f64::max);
    remarks.push(format!(
        "No key may ever be lost: {lost} were. The measured rates lie within {furthest:.1} standard \
         deviations of what the theory predicted before the first insert."
    ));
    remarks.push(format!(
        "Times are per operation on precomputed hashes; hashing an address took {:.0} ns.",
        results.ns_hash
    ));
    remarks
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
