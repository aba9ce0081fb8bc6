//! Speedup of building a filter with several threads over one thread, in turn, each time from an empty filter.
//!
//!     cargo run --release -p equibloom-benchmarks --example threads -- --keys 50000000
//!
//! On a busy machine CPU time (Linux) is more reliable than wall time: the total of all threads, and the part
//! of the first thread, which is serial. Both together give the ratio on an idle machine.

use std::error::Error;
use std::time::Instant;

use clap::Parser;
use equibloom::{Filter, HashFilter, KeyHash, Placement, WhenFull};

#[derive(Parser)]
struct Arguments {
    #[arg(long, default_value_t = 20_000_000)]
    keys: u64,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Number of rounds; the median is reported.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Bits per key.
    #[arg(long, default_value_t = 16.0)]
    bits: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { keys, threads, rounds, bits } = Arguments::parse();
    let hashes: Vec<KeyHash> = (0..keys).map(KeyHash::from_u64).collect();
    let plan = Filter::<u64>::builder().keys(keys).bits_per_key(bits);
    for (name, plan) in [
        ("planned", plan.clone()),
        ("planned, refusing", plan.clone().when_full(WhenFull::Refuse)),
        ("blocked", plan.placement(Placement::Blocked)),
    ] {
        let empty = HashFilter::new(&plan.parameters()?)?;
        let mut filters = [empty.clone(), empty];
        let mut times = [const { Vec::new() }; 2];
        let mut work = [Work::default(); 2];
        // The first round touches the memory and is not counted.
        for round in 0..=rounds {
            for (which, filter) in filters.iter_mut().enumerate() {
                filter.clear();
                let (start, before) = (Instant::now(), Work::so_far());
                if which == 0 {
                    filter.insert_batch(&hashes)?;
                } else {
                    filter.insert_parallel(&hashes, threads)?;
                }
                if round > 0 {
                    times[which].push(start.elapsed().as_secs_f64() * 1e9 / keys as f64);
                    work[which].add(Work::so_far(), before);
                }
            }
            assert!(filters[0] == filters[1], "the filter depends on the number of threads");
        }
        let [one, many] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        let share = |seconds: f64| seconds * 1e9 / (keys as f64 * rounds as f64);
        let shared = (work[1].all - work[1].first) / threads as f64;
        println!(
            "{name}: {one:.1} ns a key by one thread, {many:.1} by {threads}, ratio {:.2}; of the processors {:.1} and \
             {:.1}, of which {:.1} alone: ratio {:.2} undisturbed",
            one / many,
            share(work[0].all),
            share(work[1].all),
            share(work[1].first),
            work[0].all / (work[1].first + shared),
        );
    }
    Ok(())
}

/// CPU seconds; 0 where the system does not count them.
#[derive(Clone, Copy, Default)]
struct Work {
    /// All threads.
    all: f64,
    /// The first thread.
    first: f64,
}

impl Work {
    fn so_far() -> Self {
        let [all, first] = ["/proc/self/stat", "/proc/thread-self/stat"].map(|path| {
            let stat = std::fs::read_to_string(path).unwrap_or_default();
            let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
            // Fields 14 and 15: user and system time, in hundredths.
            let ticks = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
            ticks.sum::<f64>() / 100.0
        });
        Self { all, first }
    }

    fn add(&mut self, now: Self, before: Self) {
        self.all += now.all - before.all;
        self.first += now.first - before.first;
    }
}
