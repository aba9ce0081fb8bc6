//! `equibloom tables`: the hash tables side by side with those of `std` and `hashbrown`.

mod contest;
mod lineup;
mod report;

use anyhow::ensure;

use crate::{answer, quantity};

/// Compares the balanced and cuckoo maps with `std` and `hashbrown`, on 8-byte keys and values.
///
/// Exit status: 0, or 2 after an error.
///
/// Example: equibloom tables --entries 1M --load 2 --accesses 1.2 --choices 3
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Entries of every map, such as 500000, 2M or 5e7.
    #[arg(long, value_name = "COUNT", default_value = "1M", value_parser = quantity::count)]
    entries: u64,
    /// Mean entries per bucket of the balanced maps. At 2 a whole bucket fits one cache line, at 6 two.
    #[arg(long, value_name = "R", default_value_t = 6.0, allow_negative_numbers = true)]
    load: f64,
    /// Mean buckets that an insert of the balanced maps may read.
    #[arg(long, value_name = "A", default_value_t = 1.2, allow_negative_numbers = true)]
    accesses: f64,
    /// Maximum buckets that a lookup of the balanced maps may read.
    #[arg(long, value_name = "D", default_value_t = 3)]
    choices: u32,
    /// Print one JSON object instead of the table.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    ensure!(arguments.entries > 0, "--entries is 0: give at least 1");
    answer::print(&contest::run(arguments)?, arguments.json)
}
