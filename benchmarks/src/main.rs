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
//! | [`compare`] | How does another revision of the library compare? |
//! | [`pareto`], [`verdict`] | Which filter is best, and do the claims hold? |
//! | [`report`] | How are the results shown as text, HTML and JSON? |

mod compare;
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

use contestants::{Failure, LineUp};
use pages::{HugePages, Pages};
use race::{Outcome, Size};
use report::Report;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// Times inserts, misses, hits and mixed lookups of Equibloom, its peers and plain memory reads.
#[derive(Parser)]
struct Arguments {
    /// Numbers of keys, a race for each; by default 10,000 (not with --compare), a million and 50 million.
    #[arg(long, value_delimiter = ',')]
    keys: Vec<u64>,
    /// Bits per key of every filter, a race for each; by default 16, and also 8, 12, 20 and 24 for a million
    /// keys, or 11.55 and 16 with --compare.
    #[arg(long, value_delimiter = ',')]
    bits_per_key: Vec<f64>,
    /// Number of rounds; by default 15, or 3 with --quick.
    #[arg(long)]
    rounds: Option<usize>,
    /// Rounds in which every filter is rebuilt, the slowest part; in later rounds only filters that several
    /// threads can build are. By default 3, or 7 with --compare.
    #[arg(long)]
    builds: Option<usize>,
    /// Lookups of each kind per round; by default a million, or 100,000 with --quick.
    #[arg(long)]
    lookups: Option<u64>,
    /// Numbers of threads for lookups, and for inserts where supported; one is always included.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// Page size for all filters, as far as the system provides it.
    #[arg(long, value_enum, default_value_t = Pages::Huge)]
    pages: Pages,
    /// Runs only these filters, by whole names (`limit`, `equibloom`) or parts of names (`removable`, `fuse`).
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Compares with another revision of the library, shown under this name. Use `cargo xtask compare`, which
    /// links it; without that, the library is compared with itself.
    #[arg(long, value_name = "NAME", conflicts_with = "only")]
    compare: Option<String>,
    /// Most block accesses per miss of the layout for single lookups, with --compare.
    #[arg(long, default_value_t = 1.05)]
    single_accesses: f64,
    /// A short run: by default 100,000 keys, few rounds and lookups.
    #[arg(long)]
    quick: bool,
    /// Writes all results, including the times of each round, to this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Writes an HTML page with plots to this file.
    #[arg(long)]
    html: Option<PathBuf>,
}

const BENCHMARKS: &str = "cargo run --release -p equibloom-benchmarks";
const USUAL_KEYS: [u64; 3] = [10_000, 1_000_000, 50_000_000];
const COMPARED_KEYS: [u64; 2] = [1_000_000, 50_000_000];
const FEW_KEYS: [u64; 1] = [100_000];
const USUAL_BITS: [f64; 1] = [16.0];
const MANY_BITS: [f64; 5] = [16.0, 8.0, 12.0, 20.0, 24.0];
const COMPARED_BITS: [f64; 2] = [11.55, 16.0];
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
            let table = match &self.compare {
                Some(other) => compare::table(&outcome, other),
                None => report::table(&outcome),
            };
            println!("{table}");
            races.push(outcome);
        }
        let verdict = match &self.compare {
            Some(other) => compare::judge(&races, other),
            None => verdict::judge(&races),
        };
        println!("{}", report::judgements(&verdict));
        let report = Report {
            command: Self::command(),
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
        let number_of_keys = match (&self.keys[..], &self.compare) {
            ([], _) if self.quick => &FEW_KEYS[..],
            ([], Some(_)) => &COMPARED_KEYS[..],
            ([], None) => &USUAL_KEYS[..],
            (keys, _) => keys,
        };
        let rounds = self.rounds.unwrap_or(if self.quick { 3 } else { 15 }).max(1);
        let builds = self.builds.unwrap_or(if self.compare.is_some() { 7 } else { 3 }).max(1);
        let lookups = self.lookups.unwrap_or(if self.quick { 100_000 } else { 1_000_000 }).max(1);
        let mut sizes = Vec::new();
        for &keys in number_of_keys {
            let bits = match &self.bits_per_key[..] {
                [] if self.compare.is_some() => &COMPARED_BITS[..],
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
                let threads = threads.clone();
                sizes.push(Size { keys, bits_per_key, rounds, builds, lookups, threads });
            }
        }
        Ok(sizes)
    }

    fn race(&self, size: &Size) -> Result<Outcome, Failure> {
        let terminal = std::io::stderr().is_terminal();
        let progress = |what: &str| {
            if terminal {
                eprint!("\r\x1b[2K{} keys, {what}", report::grouped(size.keys));
                // A failed progress message does not end the run.
                let _ = std::io::stderr().flush();
            }
        };
        let outcome = match &self.compare {
            Some(other) => compare::run(size, other, self.single_accesses, &progress),
            None => self.line_up(size).and_then(|line_up| race::run(size, line_up, &progress)),
        };
        if terminal {
            eprint!("\r\x1b[2K");
        }
        outcome
    }

    fn line_up(&self, size: &Size) -> Result<LineUp, Failure> {
        let line_up = contestants::line_up(size.keys, size.bytes(), &self.only)?;
        if line_up.entries.is_empty() {
            let names = self.only.join(" or ");
            return Err(format!("no filter is called {names}; see --help").into());
        }
        Ok(line_up)
    }

    /// The command that repeats this run.
    fn command() -> String {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        // `cargo xtask compare NAME …` calls this program with `--compare NAME …`.
        match &arguments[..] {
            [_, arguments @ ..] if compare::OTHER_IS_LINKED => {
                format!("cargo xtask compare {}", arguments.join(" "))
            }
            [] => BENCHMARKS.to_owned(),
            arguments => format!("{BENCHMARKS} -- {}", arguments.join(" ")),
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()).into())
}
