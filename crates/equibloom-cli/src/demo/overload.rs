//! `equibloom demo --overload`: more keys than planned, by the policies, beside fastbloom's Bloom filter of the same bytes.

use std::fmt;

use equibloom::{Filter, HashFilter, KeyHash, KeyHasher, Stable, WhenFull};
use fastbloom::BloomFilter;
use indicatif::ProgressBar;
use serde::Serialize;

use super::Arguments;
use crate::columns::{self, Column};

/// Planned rates.
const RATES: [f64; 2] = [0.01, 0.001];
/// Keys in percent of the plan.
const LOADS: [u64; 7] = [100, 105, 110, 125, 150, 200, 300];
/// Lookups of absent keys at each load.
const QUERIES: u64 = 1_000_000;

pub(super) const STEPS: u64 = (RATES.len() * LOADS.len()) as u64;

/// All measurements; the JSON of `--json`.
#[derive(Serialize)]
pub(super) struct Results {
    keys: u64,
    queries: u64,
    loads: Vec<Load>,
}

/// The filters at one load.
#[derive(Serialize)]
struct Load {
    rate_planned: f64,
    percent: u64,
    /// Of fastbloom in the same memory.
    rate_fastbloom: f64,
    rate_saturate: f64,
    /// What the filter's statistics say.
    rate_saturate_expected: f64,
    rate_refuse: f64,
    /// Keys that were refused.
    refused: u64,
    rate_grow: f64,
    /// Memory in bits per planned key.
    bits_saturate: f64,
    bits_refuse: f64,
    bits_grow: f64,
    /// Accepted keys that are not found.
    lost: u64,
}

pub(super) fn run(arguments: &Arguments, progress: &ProgressBar) -> anyhow::Result<Results> {
    let Arguments { keys, seed, .. } = *arguments;
    let hasher = Stable::with_seed(seed);
    let hash = |key: u64| hasher.hash_key(&key);
    let absent: Vec<u64> = (0..QUERIES).map(|query| u64::MAX - query).collect();
    let asked: Vec<KeyHash> = absent.iter().map(|&key| hash(key)).collect();
    let found_of = |contains: &dyn Fn(KeyHash) -> bool| {
        asked.iter().filter(|&&hash| contains(hash)).count() as f64 / asked.len() as f64
    };
    let mut loads = Vec::new();
    for rate in RATES {
        progress.set_message(format!("planned for {rate}"));
        let builder = Filter::<u64>::builder().keys(keys).rate(rate).seed(seed);
        let build = |when_full| builder.clone().when_full(when_full).build();
        let mut saturate = build(WhenFull::Saturate)?.into_hash_filter();
        let mut refuse = build(WhenFull::Refuse)?.into_hash_filter();
        let mut grow = builder.build()?;
        let mut bloom = bloom_of(&saturate, keys)?;
        let (mut stored, mut refused) = (0, Vec::new());
        for percent in LOADS {
            let all = (u128::from(keys) * u128::from(percent) / 100) as u64;
            for key in stored..all {
                saturate.insert(hash(key))?;
                bloom.insert_hash(word(hash(key)));
                grow.insert(&key)?;
                if refuse.insert(hash(key)).is_err() {
                    refused.push(key);
                }
            }
            stored = all;
            let mut not_in = refused.iter().copied().peekable();
            let lost = (0..all).filter(|&key| {
                let was_refused = not_in.next_if_eq(&key).is_some();
                !(saturate.contains(hash(key)) && grow.contains(&key))
                    || !was_refused && !refuse.contains(hash(key))
            });
            let lost = lost.count() as u64;
            let statistics = saturate.statistics();
            let bits = |bytes: u64| 8.0 * bytes as f64 / keys as f64;
            let found = absent.iter().filter(|key| grow.contains(key)).count();
            loads.push(Load {
                rate_planned: rate,
                percent,
                rate_fastbloom: found_of(&|hash| bloom.contains_hash(word(hash))),
                rate_saturate: found_of(&|hash| saturate.contains(hash)),
                rate_saturate_expected: statistics.expected_rate,
                rate_refuse: found_of(&|hash| refuse.contains(hash)),
                refused: refused.len() as u64,
                rate_grow: found as f64 / QUERIES as f64,
                bits_saturate: bits(statistics.memory.total()),
                bits_refuse: bits(refuse.statistics().memory.total()),
                bits_grow: bits(grow.statistics().memory.total()),
                lost,
            });
            progress.inc(1);
        }
    }
    Ok(Results { keys, queries: QUERIES, loads })
}

/// fastbloom in the memory of another filter, for this many keys.
fn bloom_of(filter: &HashFilter, keys: u64) -> anyhow::Result<BloomFilter> {
    let memory = filter.statistics().memory;
    let bits = usize::try_from(8 * (memory.blocks + memory.overflow))?;
    Ok(BloomFilter::with_num_bits(bits).expected_items(usize::try_from(keys)?))
}

/// What fastbloom takes of a hash.
fn word(hash: KeyHash) -> u64 {
    u128::from(hash) as u64
}

const COLUMNS: [Column<Load>; 13] = [
    ("planned\nrate", |load| load.rate_planned.to_string()),
    ("keys", |load| format!("{} %", load.percent)),
    ("fastbloom\nrate", |load| format!("{:.2e}", load.rate_fastbloom)),
    ("saturate\nrate", |load| format!("{:.2e}", load.rate_saturate)),
    ("\nexpected", |load| format!("{:.2e}", load.rate_saturate_expected)),
    ("\n÷ fastbloom", |load| format!("{:.2}", load.rate_saturate / load.rate_fastbloom)),
    ("\nbits", |load| format!("{:.2}", load.bits_saturate)),
    ("refuse\nrate", |load| format!("{:.2e}", load.rate_refuse)),
    ("\nrefused", |load| load.refused.to_string()),
    ("\nbits", |load| format!("{:.2}", load.bits_refuse)),
    ("grow\nrate", |load| format!("{:.2e}", load.rate_grow)),
    ("\nbits", |load| format!("{:.2}", load.bits_grow)),
    ("lost\nkeys", |load| load.lost.to_string()),
];

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { keys, queries, loads } = self;
        writeln!(
            f,
            "Filters planned for {keys} keys, with more of them; {queries} lookups of other keys.\n"
        )?;
        let remarks = [
            "fastbloom has the bytes of the saturating filter. Bits are memory per planned key."
                .to_owned(),
            "Saturate keeps the memory, refuse the rate, grow both at more memory.".to_owned(),
        ];
        columns::write(f, &COLUMNS, loads, &remarks)
    }
}
