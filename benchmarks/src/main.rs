//! Equibloom side by side with its peers: the same keys, the same memory, the same run.
//!
//! `cargo run --release -p equibloom-benchmarks` prints one table per size. Times on shared machines
//! drift, so the contestants take turns in every round, medians are shown, and what counts are the
//! ratios: to `fastbloom`, and to the limit (reading one word of each key's cache line, and nothing
//! else). Answers are checked while they are timed.

mod contestant;
mod race;

use std::process::ExitCode;

use clap::Parser;

/// Times inserts, misses and hits of blocked and balanced filters against fastbloom and the limit.
#[derive(Parser)]
struct Arguments {
    /// Numbers of keys, one table each; default: one that fits the caches and one that does not.
    #[arg(long, value_delimiter = ',', default_values_t = [100_000, 20_000_000])]
    keys: Vec<u64>,
    /// Memory of every filter.
    #[arg(long, default_value_t = 16)]
    bits_per_key: u64,
    /// How often every contestant takes its turn.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Lookups of each kind per turn.
    #[arg(long, default_value_t = 2_000_000)]
    lookups: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    for &keys in &arguments.keys {
        let size = race::Size {
            keys: keys.max(1),
            bits_per_key: arguments.bits_per_key.max(1),
            rounds: arguments.rounds.max(1),
            lookups: arguments.lookups.max(1),
        };
        match race::run(&size) {
            Ok(table) => println!("{table}"),
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
