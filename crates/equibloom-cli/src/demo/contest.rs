//! Runs the filters one after the other on the same keys and measures them.

use std::time::Instant;

use anyhow::{Context, ensure};
use equibloom::{AccessStatistics, Design, HashFilter, KeyHash, KeyHasher, Stable};
use indicatif::ProgressBar;
use serde::Serialize;

use super::Arguments;
use super::addresses::write_address;
use super::lineup::Entry;

/// Lookups of absent addresses, for every filter.
const QUERIES: u64 = 5_000_000;
/// How many of them have their accesses counted.
const COUNTED_QUERIES: usize = 1_000_000;
/// Steps of the progress bar for hashing, and for each filter.
const HASHING_STEPS: u64 = 4;
const FILTER_STEPS: u64 = 4;

pub(super) fn steps(filters: usize) -> u64 {
    HASHING_STEPS + FILTER_STEPS * filters as u64
}

/// All measurements; the JSON of `--json`.
#[derive(Serialize)]
pub(super) struct Results<'a> {
    #[serde(flatten)]
    pub(super) arguments: &'a Arguments,
    pub(super) queries: u64,
    /// Time to hash an address, not included in the filters' times.
    pub(super) ns_hash: f64,
    pub(super) filters: Vec<FilterResult>,
}

#[derive(Serialize)]
pub(super) struct FilterResult {
    pub(super) filter: &'static str,
    /// All memory: blocks, counters, hints, padding, overflow list, header.
    pub(super) bits_per_key: f64,
    /// The memory that the papers count: the bits of the blocks.
    pub(super) block_bits_per_key: f64,
    /// Bits that a key sets; 0 for fingerprint blocks.
    pub(super) hashes: u32,
    pub(super) fpr_measured: f64,
    /// Standard deviation of the measured rate: both the queries and the filter are random.
    pub(super) fpr_sigma: f64,
    pub(super) fpr_predicted: f64,
    pub(super) accesses_insert: f64,
    pub(super) accesses_hit: f64,
    pub(super) accesses_miss: f64,
    pub(super) overflow_fraction: f64,
    pub(super) false_negatives: u64,
    pub(super) ns_insert: f64,
    pub(super) ns_miss: f64,
}

/// Every address is hashed once; all filters get the same hashes.
struct Hashes {
    members: Vec<KeyHash>,
    absent: Vec<KeyHash>,
}

pub(super) fn run<'a>(
    arguments: &'a Arguments,
    filters: &[Entry],
    progress: &ProgressBar,
) -> anyhow::Result<Results<'a>> {
    progress.set_message("hashing addresses");
    let start = Instant::now();
    let hashes = Hashes {
        members: hash_addresses(arguments.seed, 0, arguments.keys)?,
        absent: hash_addresses(arguments.seed, arguments.keys, QUERIES)?,
    };
    let ns_hash = nanoseconds_each(start, hashes.members.len() + hashes.absent.len());
    progress.inc(HASHING_STEPS);
    let mut results = Vec::new();
    for entry in filters {
        progress.set_message(entry.name);
        results.push(measure(entry, &hashes, progress).with_context(|| entry.name)?);
    }
    Ok(Results { arguments, queries: QUERIES, ns_hash, filters: results })
}

fn hash_addresses(seed: u64, first: u64, count: u64) -> anyhow::Result<Vec<KeyHash>> {
    let mut hashes = Vec::new();
    let room = usize::try_from(count).ok().filter(|&room| hashes.try_reserve_exact(room).is_ok());
    ensure!(room.is_some(), "the hashes of {count} keys do not fit into memory: give fewer keys");
    let hasher = Stable::with_seed(seed);
    let mut address = String::new();
    for index in first..first + count {
        write_address(index, &mut address);
        hashes.push(hasher.hash_key(address.as_str()));
    }
    Ok(hashes)
}

fn measure(
    Entry { name, parameters }: &Entry,
    hashes: &Hashes,
    progress: &ProgressBar,
) -> anyhow::Result<FilterResult> {
    let keys = hashes.members.len();
    let mut accesses = AccessStatistics::default();
    let mut filter = HashFilter::new(parameters)?;

    // Twice the same lookups: once with accesses counted, once timed.
    for &hash in &hashes.members {
        filter.insert_counted(hash, &mut accesses)?;
    }
    progress.inc(1);
    filter.clear();
    let start = Instant::now();
    for &hash in &hashes.members {
        filter.insert(hash)?;
    }
    let ns_insert = nanoseconds_each(start, keys);
    progress.inc(1);

    let mut false_negatives = 0;
    for &hash in &hashes.members {
        false_negatives += u64::from(!filter.contains_counted(hash, &mut accesses));
    }
    let hits = accesses.hits;
    progress.inc(1);

    let start = Instant::now();
    let false_positives = hashes.absent.iter().filter(|&&hash| filter.contains(hash)).count();
    let ns_miss = nanoseconds_each(start, hashes.absent.len());
    for &hash in &hashes.absent[..COUNTED_QUERIES] {
        filter.contains_counted(hash, &mut accesses);
    }
    progress.inc(1);

    let predicted = parameters.predict(keys as u64)?;
    let queries = hashes.absent.len() as f64;
    let sampling = predicted.rate * (1.0 - predicted.rate) / queries;
    let statistics = filter.statistics();
    let design = &parameters.design;
    Ok(FilterResult {
        filter: name,
        bits_per_key: 8.0 * statistics.memory.total() as f64 / keys as f64,
        block_bits_per_key: block_bits(design) / keys as f64,
        hashes: design.hashes(),
        fpr_measured: false_positives as f64 / queries,
        fpr_sigma: (sampling + predicted.rate_deviation.powi(2)).sqrt(),
        fpr_predicted: predicted.rate,
        accesses_insert: accesses.inserts.mean_blocks(),
        accesses_hit: hits.mean_blocks(),
        accesses_miss: accesses.misses.mean_blocks(),
        overflow_fraction: statistics.overflowed as f64 / keys as f64,
        false_negatives,
        ns_insert,
        ns_miss,
    })
}

/// Bits of all blocks without padding.
fn block_bits(design: &Design) -> f64 {
    match design {
        Design::Classical { bits, .. } => *bits as f64,
        Design::List { .. } => 0.0,
        Design::Blocked(layout) => {
            layout.candidates.blocks() as f64 * f64::from(layout.blocks.bits())
        }
    }
}

fn nanoseconds_each(start: Instant, operations: usize) -> f64 {
    start.elapsed().as_nanos() as f64 / operations.max(1) as f64
}
