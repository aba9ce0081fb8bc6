//! A filter for an unknown number of keys: a sequence of filters, each twice as large as the one
//! before, whose rates add up to what was promised.

use alloc::vec::Vec;

use crate::builder::{FilterBuilder, PlanError};
use crate::filter::AnyFilter;
use crate::hashing::{KeyHash, KeyHasher, Stable};
use crate::observer::AccessStatistics;
use crate::raw::Insertion;
use crate::statistics::Statistics;

/// How much larger each stage is than the one before.
const GROWTH: u64 = 2;

/// Keys of the first stage, if nothing is said.
const FIRST_STAGE: u64 = 1_000;

/// A filter that keeps its false-positive rate however many keys come.
///
/// ```
/// use equibloom::AnyFilter;
///
/// let mut filter = AnyFilter::builder().keys(1_000).rate(0.01).build_growing()?;
/// for key in 0..20_000_u64 {
///     filter.insert(&key)?;
/// }
/// assert!((0..20_000_u64).all(|key| filter.contains(&key)));
/// assert!(filter.expected_rate() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It is a sequence of stages, each planned for twice the keys of the one before: the last takes the
/// inserts, and a lookup asks all of them, the youngest first, with one hash. Stage `i` (from 1) is
/// planned for a rate of 6/(πi)² times the promise; those shares add up to 1, however many stages there
/// are, and they shrink so slowly that even the tenth costs only seven bits per key more than a filter
/// of the whole rate.
///
/// The price is paid by misses, which read about one block in every stage:
/// [`expected_accesses_per_miss`](Self::expected_accesses_per_miss) tells how many. A filter planned
/// for its keys reads one. If the keys can be counted first, count them.
#[derive(Debug, Clone)]
pub struct GrowingFilter<H = Stable> {
    wishes: FilterBuilder,
    hasher: H,
    stages: Vec<AnyFilter<H>>,
}

impl<H: Clone> GrowingFilter<H> {
    /// Plans and makes the first stage.
    pub(crate) fn new(wishes: FilterBuilder, hasher: H) -> Result<Self, PlanError> {
        let mut filter = Self { wishes, hasher, stages: Vec::new() };
        filter.stages.push(filter.next_stage()?);
        Ok(filter)
    }

    /// Plans and makes the stage behind the last one.
    fn next_stage(&self) -> Result<AnyFilter<H>, PlanError> {
        let index = self.stages.len() as u32;
        let first = self.wishes.wished_keys().unwrap_or(FIRST_STAGE);
        let keys = first.saturating_mul(GROWTH.saturating_pow(index));
        let wishes = self.wishes.clone().keys(keys).share_of_rate(share_of_stage(index));
        wishes.build_with_hasher(self.hasher.clone())
    }

    /// Inserts a key, unless it is (apparently) present.
    ///
    /// # Errors
    /// [`PlanError`] if a further stage is needed and cannot be had; the filter is as it was.
    pub fn insert<K: ?Sized>(&mut self, key: &K) -> Result<Insertion, PlanError>
    where
        H: KeyHasher<K>,
    {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// [`insert`](Self::insert) by a hash that is known already.
    pub fn insert_hash(&mut self, hash: KeyHash) -> Result<Insertion, PlanError> {
        if self.contains_hash(hash) {
            return Ok(Insertion::AlreadyPresent);
        }
        match self.stages.last_mut() {
            Some(stage) if stage.elements() < stage.parameters().keys => {
                Ok(stage.insert_hash(hash)?)
            }
            _ => {
                let mut stage = self.next_stage()?;
                let insertion = stage.insert_hash(hash)?;
                self.stages.push(stage);
                Ok(insertion)
            }
        }
    }

    /// Whether the key may have been inserted. Never `false` for a key that was.
    pub fn contains<K: ?Sized>(&self, key: &K) -> bool
    where
        H: KeyHasher<K>,
    {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// [`contains`](Self::contains) by a hash that is known already.
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        // Half of all keys are in the youngest stage.
        self.stages.iter().rev().any(|stage| stage.contains_hash(hash))
    }

    /// [`contains`](Self::contains) that adds its memory accesses to `accesses`: each stage counts as a
    /// lookup of its own.
    pub fn contains_counted<K: ?Sized>(&self, key: &K, accesses: &mut AccessStatistics) -> bool
    where
        H: KeyHasher<K>,
    {
        let hash = self.hasher.hash_key(key);
        self.stages.iter().rev().any(|stage| stage.contains_hash_counted(hash, accesses))
    }

    /// The filters it consists of, the oldest and smallest first.
    pub fn stages(&self) -> &[AnyFilter<H>] {
        &self.stages
    }

    /// Elements in all stages.
    pub fn elements(&self) -> u64 {
        self.stages.iter().map(AnyFilter::elements).sum()
    }

    /// Probability that a key never inserted is answered "present", from what the stages hold now.
    pub fn expected_rate(&self) -> f64 {
        let none = |statistics: Statistics| 1.0 - statistics.expected_rate;
        1.0 - self.stages.iter().map(AnyFilter::statistics).map(none).product::<f64>()
    }

    /// Mean blocks that a key never inserted reads, in all stages together.
    pub fn expected_accesses_per_miss(&self) -> f64 {
        let accesses = |statistics: Statistics| statistics.expected_accesses_per_miss;
        self.stages.iter().map(AnyFilter::statistics).map(accesses).sum()
    }

    /// Bytes of all stages.
    pub fn bytes(&self) -> u64 {
        self.stages.iter().map(|stage| stage.statistics().memory.total()).sum()
    }
}

/// The part of the promised rate that a stage, counted from 0, may use up: 6/(π(index + 1))².
fn share_of_stage(index: u32) -> f64 {
    6.0 / (core::f64::consts::PI * f64::from(index + 1)).powi(2)
}

#[cfg(test)]
mod tests {
    use super::share_of_stage;

    #[test]
    fn the_shares_of_all_stages_add_up_to_one() {
        let sum: f64 = (0..1_000_000).map(share_of_stage).sum();
        assert!((1.0 - 1e-6..1.0).contains(&sum), "{sum}");
    }
}
