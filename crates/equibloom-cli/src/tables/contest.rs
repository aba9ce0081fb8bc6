//! Runs the maps one after the other on the same keys and measures what they do.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, ensure};
use equibloom::KeyHash;
use equibloom::table::{BalancedMap, CuckooMap, Map, RawTable, TableStatistics};
use hashbrown::DefaultHashBuilder;
use serde::Serialize;

use super::lineup::{self, Wishes};

/// Lookups of each kind that are timed, and how often: the best time counts, because whatever else the
/// machine does only adds to it.
const LOOKUPS: usize = 1_000_000;
const ROUNDS: usize = 5;
/// Share of the slots that the cuckoo maps fill.
const CUCKOO_1_LOAD: f64 = 0.45;
const CUCKOO_4_LOAD: f64 = 0.9;
/// Keys that stand for absent ones have this bit.
const STRANGER: u64 = 1 << 63;

/// Everything that was measured; the JSON of `--json`.
#[derive(Serialize)]
pub(super) struct Results {
    pub(super) maps: Vec<MapResult>,
}

/// One map; `None` where a field has no meaning or cannot be seen from outside.
#[derive(Serialize)]
pub(super) struct MapResult {
    pub(super) map: &'static str,
    pub(super) variance: Option<f64>,
    pub(super) variance_bound: Option<f64>,
    pub(super) buckets_hit: Option<f64>,
    pub(super) buckets_miss: Option<f64>,
    pub(super) buckets_max: Option<usize>,
    pub(super) lines_miss: Option<f64>,
    pub(super) bytes_per_entry: Option<f64>,
    pub(super) ns_insert: f64,
    pub(super) ns_hit: f64,
    pub(super) ns_miss: f64,
}

/// What a map must do to take part.
trait Contestant {
    fn insert(&mut self, key: u64, value: u64);
    fn contains(&self, key: u64) -> bool;
}

impl<T: RawTable<Entry = (u64, u64)>, S: BuildHasher> Contestant for Map<u64, u64, T, S> {
    #[inline]
    fn insert(&mut self, key: u64, value: u64) {
        Map::insert(self, key, value);
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.get(&key).is_some()
    }
}

impl<S: BuildHasher> Contestant for HashMap<u64, u64, S> {
    #[inline]
    fn insert(&mut self, key: u64, value: u64) {
        HashMap::insert(self, key, value);
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.get(&key).is_some()
    }
}

impl<S: BuildHasher> Contestant for hashbrown::HashMap<u64, u64, S> {
    #[inline]
    fn insert(&mut self, key: u64, value: u64) {
        hashbrown::HashMap::insert(self, key, value);
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.get(&key).is_some()
    }
}

pub(super) fn run(wishes: &Wishes) -> anyhow::Result<Results> {
    let entries = wishes.entries;
    let plans = lineup::balanced(wishes)?;
    let too_many = || format!("{entries} entries do not fit into memory: give fewer --entries");
    // One hasher for all maps but std's, which keeps its own as its users do.
    let hasher = DefaultHashBuilder::default();
    let mut maps = Vec::new();
    for entrant in plans {
        let map = BalancedMap::with_plan_and_hasher(entries, entrant.plan, hasher.clone())
            .with_context(too_many)?;
        let mut result = measure_ours(entrant.name, map, entries)?;
        result.variance_bound = Some(entrant.variance_bound);
        maps.push(result);
    }
    let one =
        CuckooMap::<u64, u64, _, 1>::with_load_and_hasher(entries, CUCKOO_1_LOAD, hasher.clone())
            .with_context(too_many)?;
    maps.push(measure_ours("cuckoo-1", one, entries)?);
    let four =
        CuckooMap::<u64, u64, _, 4>::with_load_and_hasher(entries, CUCKOO_4_LOAD, hasher.clone())
            .with_context(too_many)?;
    maps.push(measure_ours("cuckoo-4", four, entries)?);

    let mut std_map = HashMap::new();
    std_map.try_reserve(entries).ok().with_context(too_many)?;
    let capacity = std_map.capacity();
    let (mut result, _) = measure("std", std_map, entries)?;
    result.bytes_per_entry = Some(swiss_table_bytes(capacity) / entries as f64);
    maps.push(result);
    let mut peer = hashbrown::HashMap::with_hasher(hasher);
    peer.try_reserve(entries).ok().with_context(too_many)?;
    let bytes = peer.allocation_size() as f64;
    let (mut result, _) = measure("hashbrown", peer, entries)?;
    result.bytes_per_entry = Some(bytes / entries as f64);
    maps.push(result);
    Ok(Results { maps })
}

/// Bytes of std's map, which does not tell: a power of two of slots, 7/8 of them to be filled, each with an
/// entry and a control byte, and 16 control bytes more.
fn swiss_table_bytes(capacity: usize) -> f64 {
    let slots = (capacity.saturating_mul(8) / 7).next_power_of_two();
    slots as f64 * (size_of::<(u64, u64)>() + 1) as f64 + 16.0
}

fn measure_ours<T: RawTable<Entry = (u64, u64)>, S: BuildHasher>(
    name: &'static str,
    map: Map<u64, u64, T, S>,
    entries: usize,
) -> anyhow::Result<MapResult> {
    let (mut result, map) = measure(name, map, entries)?;
    let statistics: TableStatistics = map.statistics();
    result.variance = Some(statistics.variance());
    result.buckets_hit = Some(statistics.hits.buckets.mean);
    result.buckets_miss = Some(statistics.misses.buckets.mean);
    result.buckets_max = Some(statistics.hits.buckets.max.max(statistics.misses.buckets.max));
    result.lines_miss = Some(statistics.misses.lines.mean);
    result.bytes_per_entry = Some(statistics.bytes_per_entry());
    Ok(result)
}

/// The `index`-th key: all different, in no order.
fn key(index: usize) -> u64 {
    KeyHash::from_u64(index as u64).candidate(0) & !STRANGER
}

fn measure<M: Contestant>(
    name: &'static str,
    mut map: M,
    entries: usize,
) -> anyhow::Result<(MapResult, M)> {
    let start = Instant::now();
    for index in 0..entries {
        map.insert(key(index), index as u64);
    }
    let ns_insert = nanoseconds_each(start, entries);

    // The keys to look up are drawn before the clock starts.
    let random_entry = |index| key((key(index) % entries as u64) as usize);
    let asked: Vec<u64> = (0..LOOKUPS).map(random_entry).collect();
    let (found, ns_hit) = best_of_rounds(|| asked.iter().filter(|&&key| map.contains(key)).count());
    ensure!(found == LOOKUPS, "{name} lost {} keys", LOOKUPS - found);
    let (found, ns_miss) =
        best_of_rounds(|| asked.iter().filter(|&&key| map.contains(key | STRANGER)).count());
    ensure!(found == 0, "{name} found {found} keys that are not there");

    let result = MapResult {
        map: name,
        variance: None,
        variance_bound: None,
        buckets_hit: None,
        buckets_miss: None,
        buckets_max: None,
        lines_miss: None,
        bytes_per_entry: None,
        ns_insert,
        ns_hit,
        ns_miss,
    };
    Ok((result, map))
}

/// How many of the keys were found, and the least time per lookup.
fn best_of_rounds(mut look_up_all: impl FnMut() -> usize) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let found = black_box(look_up_all());
        best = (found, best.1.min(nanoseconds_each(start, LOOKUPS)));
    }
    best
}

fn nanoseconds_each(start: Instant, operations: usize) -> f64 {
    start.elapsed().as_nanos() as f64 / operations as f64
}
