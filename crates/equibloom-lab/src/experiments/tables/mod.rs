//! The hash tables: the cuckoo graph, the cost of insertions and lookups, the variance of buckets.

pub(super) mod graph;
pub(super) mod lines;
pub(super) mod load;
mod reads;
pub(super) mod rehash;
pub(super) mod variance;

use std::hash::{BuildHasher, Hasher};

use equibloom_tables::{BalancedMap, BucketPlan, Cuckoo, RawTable, TableStatistics};

use crate::experiments::prelude::*;
use crate::simulator::{fill, words};

/// The library's cuckoo tables with exactly this many buckets each, at their maximum load.
fn cuckoo_tables<T, const SLOTS: usize>(buckets: u64) -> Result<Cuckoo<T, SLOTS>, Error> {
    // The library rounds the number of buckets up: half a bucket less is in the middle.
    let slots = SLOTS as f64 * (2 * buckets - 1) as f64;
    let entries = (Cuckoo::<T, SLOTS>::MAX_LOAD * slots).floor();
    Ok(Cuckoo::new(entries as usize, entries / slots)?)
}

/// Entries at a load, but no more than the library's tables of this size hold without growing.
fn entries_at<const SLOTS: usize>(load: f64, buckets: u64) -> Result<u64, Error> {
    let wanted = load * (2 * SLOTS as u64 * buckets) as f64;
    Ok((wanted.round() as u64).min(cuckoo_tables::<(), SLOTS>(buckets)?.capacity() as u64))
}

/// A map that is filled by this plan with as many random keys as it is planned for.
pub(super) fn filled(plan: BucketPlan, entries: u64, seed: u64) -> Result<TableStatistics, Error> {
    let entries = entries as usize;
    let mut map = BalancedMap::with_plan_and_hasher(entries, plan, AsItIs::default())?;
    map.extend(words(seed).take(entries).map(|key| (key, ())));
    Ok(map.statistics())
}

/// The sizes of buckets that are filled by this plan, by simulation: how many there are of each.
pub(super) fn simulated_sizes(plan: &BucketPlan, entries: u64, seed: u64) -> Vec<u64> {
    let candidates = plan.proportions.with_blocks((entries as f64 / plan.load).ceil() as u64);
    fill(&candidates, plan.rule, None, &[entries], seed)[0].all_loads()
}

/// The hash of a key that is already a random word.
#[derive(Debug, Clone, Copy, Default)]
struct AsItIs(u64);

impl BuildHasher for AsItIs {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        *self
    }
}

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0 << 8 | u64::from(byte);
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}

#[cfg(test)]
mod tests;
