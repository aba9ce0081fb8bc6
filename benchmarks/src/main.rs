//! Equibloom side by side with its peers: the same keys, the same memory, the same run.
//!
//! `cargo run --release -p equibloom-benchmarks` prints a table for each size and judges Equibloom's
//! performance claims. Times on shared machines drift, so the filters take turns in every round, medians and
//! quartiles are shown, and ratios are judged: to the best peer, and to the limit (reading one word of each
//! key's cache line, nothing else). Answers are checked while they are timed.
//!
//! | module | question |
//! |---|---|
//! | [`keys`] | Which keys are inserted and looked up? |
//! | [`contestants`] | Which filters are compared? |
//! | [`race`] | In which order, and are the answers right? |
//! | [`pages`] | In which pages? |
//! | [`second_thread`] | How much does a second thread gain on this machine? |
//! | [`measure`] | How long does it take, and what is the spread? |
//! | [`pareto`], [`verdict`] | Which filter is best, and do the claims hold? |
//! | [`report`] | How are the results shown as text, HTML and JSON? |

mod contestants;
mod keys;
mod measure;
mod pages;
mod pareto;
mod race;
mod report;
mod second_thread;
mod verdict;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use contestants::Failure;
use pages::{HugePages, Pages};
use race::{Outcome, Size};
use report::Report;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// Times inserts, misses, hits and mixed lookups of Equibloom, its peers and plain memory reads.
#[derive(Parser)]
struct Arguments {
    /// Numbers of keys, a race for each.
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 1_000_000, 50_000_000])]
    keys: Vec<u64>,
    /// Bits per key of every filter, a race for each; by default 16, and also 8, 12, 20 and 24 for a million
    /// keys.
    #[arg(long, value_delimiter = ',')]
    bits_per_key: Vec<f64>,
    /// Number of rounds.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Rounds in which every filter is rebuilt, the slowest part; in later rounds only filters that several
    /// threads can build are.
    #[arg(long, default_value_t = 3)]
    builds: usize,
    /// Lookups of each kind per round.
    #[arg(long, default_value_t = 1_000_000)]
    lookups: u64,
    /// Numbers of threads for lookups, and for inserts where supported; one is always included.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// Page size for all filters, as far as the system provides it.
    #[arg(long, value_enum, default_value_t = Pages::Huge)]
    pages: Pages,
    /// Runs only these filters, by whole names (`limit`, `equibloom`) or parts of names (`removable`, `fuse`).
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Writes all results, including the times of each round, to this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Writes an HTML page with plots to this file.
    #[arg(long)]
    html: Option<PathBuf>,
}

const USUAL_BITS: [f64; 1] = [16.0];
const MANY_BITS: [f64; 5] = [16.0, 8.0, 12.0, 20.0, 24.0];
/// A size that is quick to measure and larger than the caches.
const KEYS_FOR_MANY_BITS: u64 = 1_000_000;

fn main() -> ExitCode {
    match Arguments::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Arguments {
    fn run(&self) -> Result<(), Failure> {
        self.pages.choose();
        let mut races = Vec::new();
        for size in self.sizes()? {
            let outcome = self.race(&size)?;
            println!("{}", report::table(&outcome));
            races.push(outcome);
        }
        let verdict = verdict::judge(&races);
        println!("{}", report::judgements(&verdict));
        let report = Report {
            command: command(),
            machine: equibloom_lab::report::machine(),
            compiled_for: if cfg!(target_feature = "avx2") {
                "AVX2"
            } else {
                std::env::consts::ARCH
            },
            version: env!("CARGO_PKG_VERSION"),
            races,
            verdict,
        };
        if let Some(path) = &self.json {
            write(path, &report::json(&report)?)?;
        }
        if let Some(path) = &self.html {
            write(path, &report::page(&report)?)?;
        }
        Ok(())
    }

    /// A race for each number of keys and each size of memory.
    fn sizes(&self) -> Result<Vec<Size>, Failure> {
        let mut threads = self.threads.clone();
        threads.push(1);
        threads.sort_unstable();
        threads.dedup();
        threads.retain(|&threads| threads > 0);
        let mut sizes = Vec::new();
        for &keys in &self.keys {
            let bits = match &self.bits_per_key[..] {
                [] if keys == KEYS_FOR_MANY_BITS => &MANY_BITS[..],
                [] => &USUAL_BITS[..],
                bits => bits,
            };
            for &bits_per_key in bits {
                if keys == 0 || !(1.0..=1_024.0).contains(&bits_per_key) {
                    let size = format!("{keys} keys with {bits_per_key} bits each");
                    return Err(
                        format!("no race with {size}: at least one key, 1 to 1024 bits").into()
                    );
                }
                let (rounds, builds) = (self.rounds.max(1), self.builds.max(1));
                let lookups = self.lookups.max(1);
                let threads = threads.clone();
                sizes.push(Size { keys, bits_per_key, rounds, builds, lookups, threads });
            }
        }
        Ok(sizes)
    }

    fn race(&self, size: &Size) -> Result<Outcome, Failure> {
        let line_up = contestants::line_up(size.keys, size.bytes(), &self.only)?;
        if line_up.entries.is_empty() {
            return Err(
                format!("no filter is called {}; see --help", self.only.join(" or ")).into()
            );
        }
        let terminal = std::io::stderr().is_terminal();
        let progress = |what: &str| {
            if terminal {
                eprint!("\r\x1b[2K{} keys, {what}", report::grouped(size.keys));
                // A failed progress message does not end the run.
                let _ = std::io::stderr().flush();
            }
        };
        let outcome = race::run(size, line_up, &progress);
        if terminal {
            eprint!("\r\x1b[2K");
        }
        outcome
    }
}

/// The command that repeats this run.
fn command() -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command = "cargo run --release -p equibloom-benchmarks";
    if arguments.is_empty() {
        command.to_owned()
    } else {
        format!("{command} -- {}", arguments.join(" "))
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()).into())
}
