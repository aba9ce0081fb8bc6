//! `equibloom demo`: the papers' filters and ours side by side, on the slides' example.

mod addresses;
mod contest;
mod lineup;
mod overload;
mod report;

use anyhow::ensure;
use indicatif::ProgressBar;

use crate::{answer, progress, quantity};

/// Compares the papers' filters with the hinted and fingerprint filters, in the same memory, on generated
/// e-mail addresses.
///
/// Exit status: 0, or 2 after an error.
///
/// Example: equibloom demo --keys 1M --bits-per-key 16 --block-bits 512
#[derive(clap::Args, serde::Serialize)]
pub(crate) struct Arguments {
    /// Number of addresses to insert, such as 500000, 2M or 1e7.
    #[arg(long, value_name = "COUNT", default_value = "1M", value_parser = quantity::count)]
    keys: u64,
    /// Memory per key of every filter, everything counted.
    #[arg(long, value_name = "BITS", default_value_t = 24.0, allow_negative_numbers = true)]
    bits_per_key: f64,
    /// Bits of a block: 64 to 32768. A cache line has 512, a page 32768.
    #[arg(long, value_name = "BITS", default_value_t = 256)]
    block_bits: u32,
    /// Seed of the hash function.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Compare instead what happens with up to three times the planned keys: saturate, refuse, grow, beside a
    /// Bloom filter of the same bytes.
    #[arg(long, conflicts_with_all = ["bits_per_key", "block_bits"])]
    #[serde(skip)]
    overload: bool,
    /// Print one JSON object instead of the table.
    #[arg(long)]
    #[serde(skip)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    ensure!(arguments.keys > 0, "--keys is 0: give at least 1");
    let style = progress::style("{bar:30} {percent:>3} %  {msg}");
    if arguments.overload {
        let progress = ProgressBar::new(overload::STEPS).with_style(style);
        let results = overload::run(arguments, &progress)?;
        progress.finish_and_clear();
        return answer::print(&results, arguments.json);
    }
    let filters = lineup::lineup(arguments)?;
    let progress = ProgressBar::new(contest::steps(filters.len())).with_style(style);
    let results = contest::run(arguments, &filters, &progress)?;
    progress.finish_and_clear();
    answer::print(&results, arguments.json)
}
