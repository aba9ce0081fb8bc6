//! Runs the maps one after the other on the same keys and measures them.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Range;
use std::time::Instant;

use anyhow::{Context, ensure};
use equibloom::KeyHash;
use equibloom_tables::{BalancedMap, CuckooMap, Map, RawTable};
use hashbrown::DefaultHashBuilder;
use serde::Serialize;

use super::{Arguments, lineup};

/// Lookups of each kind per round, rounds, and parts in which maps are filled.
const LOOKUPS: usize = 1_000_000;
const ROUNDS: usize = 9;
const PARTS: usize = 32;
/// Load factor of the cuckoo maps.
const CUCKOO_1_LOAD: f64 = 0.45;
const CUCKOO_4_LOAD: f64 = 0.9;
/// Absent keys have this bit set.
const ABSENT: u64 = 1 << 63;

/// All measurements; the JSON of `--json`.
#[derive(Serialize)]
pub(super) struct Results<'a> {
    #[serde(skip)]
    pub(super) arguments: &'a Arguments,
    pub(super) maps: Vec<MapResult>,
}

/// One map; `None` where a field does not apply or is private.
#[derive(Serialize, Default)]
pub(super) struct MapResult {
    pub(super) map: &'static str,
    pub(super) occupancy: Option<f64>,
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
    /// hashbrown's times in the same rounds.
    pub(super) ratio_insert: f64,
    pub(super) ratio_hit: f64,
    pub(super) ratio_miss: f64,
}

/// Operations of a measured map.
trait MeasuredMap {
    fn insert(&mut self, key: u64, value: u64);
    fn contains(&self, key: u64) -> bool;
}

macro_rules! measured_maps {
    ($([$($parameters:tt)*] $map:ty;)*) => {$(
        impl<$($parameters)*> MeasuredMap for $map {
            #[inline]
            fn insert(&mut self, key: u64, value: u64) {
                <$map>::insert(self, key, value);
            }

            #[inline]
            fn contains(&self, key: u64) -> bool {
                self.get(&key).is_some()
            }
        }
    )*};
}

measured_maps! {
    [T: RawTable<Entry = (u64, u64)>, S: BuildHasher] Map<u64, u64, T, S>;
    [S: BuildHasher] HashMap<u64, u64, S>;
    [S: BuildHasher] hashbrown::HashMap<u64, u64, S>;
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Results<'_>> {
    let entries = usize::try_from(arguments.entries)?;
    let plans = lineup::balanced(arguments)?;
    let too_many = || format!("{entries} entries do not fit into memory: give fewer --entries");
    // One hasher for all maps but std's, which has its own.
    let hasher = DefaultHashBuilder::default();
    let peer = || {
        let mut peer = hashbrown::HashMap::with_hasher(hasher.clone());
        peer.try_reserve(entries).ok().with_context(too_many)?;
        anyhow::Ok(peer)
    };
    let mut maps = Vec::new();
    for entrant in plans {
        let map = BalancedMap::with_plan_and_hasher(entries, entrant.plan, hasher.clone())
            .with_context(too_many)?;
        let mut result = measure_ours(entrant.name, map, peer()?, entries)?;
        result.variance_bound = Some(entrant.variance_bound);
        maps.push(result);
    }
    let one = CuckooMap::<_, _, _, 1>::with_load_and_hasher(entries, CUCKOO_1_LOAD, hasher.clone());
    maps.push(measure_ours("cuckoo-1", one.with_context(too_many)?, peer()?, entries)?);
    let four =
        CuckooMap::<_, _, _, 4>::with_load_and_hasher(entries, CUCKOO_4_LOAD, hasher.clone());
    maps.push(measure_ours("cuckoo-4", four.with_context(too_many)?, peer()?, entries)?);

    let mut std_map = HashMap::new();
    std_map.try_reserve(entries).ok().with_context(too_many)?;
    let slots = swiss_table_slots(std_map.capacity());
    let (result, _) = measure("std", std_map, peer()?, entries)?;
    maps.push(result.with_memory(entries, slots, swiss_table_bytes(slots)));
    let map = peer()?;
    let (slots, bytes) = (swiss_table_slots(map.capacity()), map.allocation_size() as f64);
    let (result, _) = measure("hashbrown", map, peer()?, entries)?;
    maps.push(result.with_memory(entries, slots, bytes));
    Ok(Results { arguments, maps })
}

impl MapResult {
    fn with_memory(self, entries: usize, slots: f64, bytes: f64) -> Self {
        let entries = entries as f64;
        Self { occupancy: Some(entries / slots), bytes_per_entry: Some(bytes / entries), ..self }
    }
}

/// Slots of std's or hashbrown's map: a power of two, at most 7/8 full.
fn swiss_table_slots(capacity: usize) -> f64 {
    (capacity.saturating_mul(8) / 7).next_power_of_two() as f64
}

/// Bytes of std's map, computed: each slot has an entry and a control byte, plus 16 control bytes.
fn swiss_table_bytes(slots: f64) -> f64 {
    slots * (size_of::<(u64, u64)>() + 1) as f64 + 16.0
}

fn measure_ours<T: RawTable<Entry = (u64, u64)>, S: BuildHasher>(
    name: &'static str,
    map: Map<u64, u64, T, S>,
    peer: impl MeasuredMap,
    entries: usize,
) -> anyhow::Result<MapResult> {
    let (result, map) = measure(name, map, peer, entries)?;
    let statistics = map.statistics();
    Ok(MapResult {
        occupancy: Some(statistics.occupancy()),
        variance: Some(statistics.variance()),
        buckets_hit: Some(statistics.hits.buckets.mean),
        buckets_miss: Some(statistics.misses.buckets.mean),
        buckets_max: Some(statistics.hits.buckets.max.max(statistics.misses.buckets.max)),
        lines_miss: Some(statistics.misses.lines.mean),
        bytes_per_entry: Some(statistics.bytes_per_entry()),
        ..result
    })
}

/// The `index`-th key: all distinct, in random order.
fn key(index: usize) -> u64 {
    KeyHash::from_u64(index as u64).candidate(0) & !ABSENT
}

/// Runs a map and its peer in turn on the same keys, so that other load affects both.
fn measure<M: MeasuredMap>(
    name: &'static str,
    mut map: M,
    mut peer: impl MeasuredMap,
    entries: usize,
) -> anyhow::Result<(MapResult, M)> {
    let mut inserts = Duel::default();
    for part in 0..PARTS {
        // In 128 bits, because the product may overflow.
        let bound = |part| (entries as u128 * part as u128 / PARTS as u128) as usize;
        let indices = bound(part)..bound(part + 1);
        inserts.round(
            part,
            || time(indices.len(), || insert_all(&mut map, indices.clone())),
            || time(indices.len(), || insert_all(&mut peer, indices.clone())),
        );
    }

    let (mut hits, mut misses) = (Duel::default(), Duel::default());
    for round in 0..ROUNDS {
        // Other keys in every round, drawn before the clock starts.
        let draws = (0..LOOKUPS).map(|index| key(round * LOOKUPS + index));
        let absent: Vec<u64> = draws.clone().map(|draw| draw | ABSENT).collect();
        let known: Vec<u64> = draws.map(|draw| key((draw % entries as u64) as usize)).collect();
        for (duel, keys, expected) in [(&mut hits, &known, LOOKUPS), (&mut misses, &absent, 0)] {
            let (mut mine, mut theirs) = (0, 0);
            duel.round(
                round,
                || time(LOOKUPS, || mine = count_found(&map, keys)),
                || time(LOOKUPS, || theirs = count_found(&peer, keys)),
            );
            ensure!(mine == expected, "{name} found {mine} of {expected} keys");
            ensure!(theirs == expected, "hashbrown found {theirs} of {expected} keys");
        }
    }

    let result = MapResult {
        map: name,
        // Inserts slow down as a map fills: all parts count.
        ns_insert: inserts.mean(),
        ns_hit: hits.median(),
        ns_miss: misses.median(),
        ratio_insert: inserts.ratio_of_means(),
        ratio_hit: hits.median_ratio(),
        ratio_miss: misses.median_ratio(),
        ..MapResult::default()
    };
    Ok((result, map))
}

fn insert_all(map: &mut impl MeasuredMap, indices: Range<usize>) {
    for index in indices {
        map.insert(key(index), index as u64);
    }
}

fn count_found(map: &impl MeasuredMap, keys: &[u64]) -> usize {
    keys.iter().filter(|&&key| map.contains(key)).count()
}

/// Nanoseconds per operation.
fn time(operations: usize, run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_nanos() as f64 / operations.max(1) as f64
}

/// The times of a map and its peer, round by round.
#[derive(Default)]
struct Duel {
    rounds: Vec<(f64, f64)>,
}

impl Duel {
    /// The order changes from round to round.
    fn round(&mut self, number: usize, mine: impl FnOnce() -> f64, peer: impl FnOnce() -> f64) {
        if number.is_multiple_of(2) {
            let mine = mine();
            self.rounds.push((mine, peer()));
        } else {
            let peer = peer();
            self.rounds.push((mine(), peer));
        }
    }

    fn mean(&self) -> f64 {
        self.rounds.iter().map(|round| round.0).sum::<f64>() / self.rounds.len() as f64
    }

    fn ratio_of_means(&self) -> f64 {
        self.mean() * self.rounds.len() as f64
            / self.rounds.iter().map(|round| round.1).sum::<f64>()
    }

    fn median(&self) -> f64 {
        median(self.rounds.iter().map(|round| round.0))
    }

    fn median_ratio(&self) -> f64 {
        median(self.rounds.iter().map(|round| round.0 / round.1))
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
