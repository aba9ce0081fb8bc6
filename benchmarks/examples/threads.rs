//! How much faster several threads build a filter than one, in turn, each time from an empty filter.
//!
//!     cargo run --release -p equibloom-benchmarks --example threads -- --keys 50000000
//!
//! The time of all processors together is given as well (Linux): on a machine that others use, it says what they
//! take away from the ratio.

use std::error::Error;
use std::time::Instant;

use clap::Parser;
use equibloom::{AnyFilter, KeyHash, WhenFull};

#[derive(Parser)]
struct Arguments {
    #[arg(long, default_value_t = 20_000_000)]
    keys: u64,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// How often each: the median counts.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Bits for each key.
    #[arg(long, default_value_t = 16.0)]
    bits: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { keys, threads, rounds, bits } = Arguments::parse();
    let hashes: Vec<KeyHash> = (0..keys).map(KeyHash::from_u64).collect();
    let plan = AnyFilter::builder().keys(keys).bits_per_key(bits);
    for (name, plan) in [
        ("planned", plan.clone()),
        ("planned, refusing", plan.clone().when_full(WhenFull::Refuse)),
        ("blocked", plan.placement("blocked".parse()?)),
    ] {
        let mut filters = [plan.build()?, plan.build()?];
        let mut times = [const { Vec::new() }; 2];
        let mut work = [0.0; 2];
        // The first round touches the memory and does not count.
        for round in 0..=rounds {
            for (which, filter) in filters.iter_mut().enumerate() {
                filter.clear();
                let (start, before) = (Instant::now(), processor_seconds());
                if which == 0 {
                    filter.insert_hashes(&hashes)?;
                } else {
                    filter.insert_hashes_parallel(&hashes, threads)?;
                }
                if round > 0 {
                    times[which].push(start.elapsed().as_secs_f64() * 1e9 / keys as f64);
                    work[which] +=
                        (processor_seconds() - before) * 1e9 / (keys as f64 * rounds as f64);
                }
            }
            assert!(filters[0] == filters[1], "one filter, whoever builds it");
        }
        let [one, many] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        println!(
            "{name}: {one:.1} ns a key by one thread, {many:.1} by {threads}, ratio {:.2}; \
             of all processors {:.1} and {:.1}",
            one / many,
            work[0],
            work[1],
        );
    }
    Ok(())
}

/// What this process has used of all processors; 0 where nobody says.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // Fields 14 and 15: user and system time, in hundredths.
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
