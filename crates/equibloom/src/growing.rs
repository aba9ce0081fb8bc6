//! A filter for an unknown number of keys: a sequence of filters, each twice as large as the previous one,
//! whose rates add up to the required rate.

use alloc::vec::Vec;
use core::fmt;

use crate::builder::{FilterBuilder, PlanError};
use crate::hash_filter::HashFilter;
use crate::hashing::{KeyHash, KeyHasher, Stable};
use crate::raw::Insertion;
use crate::statistics::Statistics;

/// Size of each stage relative to the previous one.
const GROWTH: u64 = 2;

/// Default number of keys of the first stage.
const FIRST_STAGE: u64 = 1_000;

/// A filter that keeps its false-positive rate for any number of keys.
///
/// ```
/// use equibloom::Filter;
///
/// let mut filter = Filter::builder().keys(1_000).rate(0.01).build_growing()?;
/// for key in 0..20_000_u64 {
///     filter.insert(&key)?;
/// }
/// assert!((0..20_000).all(|key| filter.contains(&key)));
/// assert!(filter.expected_rate() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It is a sequence of stages, each planned for twice the keys of the previous one. Inserts go to the last
/// stage; a lookup hashes the key once and queries all stages, the newest first. Stage `i` (from 1) is
/// planned for 6/(πi)² of the required rate. These shares add up to 1 for any number of stages, and shrink
/// slowly: the tenth stage needs only seven more bits per key than a filter of the full rate.
///
/// Misses read about one block in every stage
/// ([`expected_accesses_per_miss`](Self::expected_accesses_per_miss)), where a filter planned for its keys
/// reads one in all. If the keys can be counted first, count them.
pub struct GrowingFilter<K: ?Sized, H = Stable> {
    builder: FilterBuilder<K>,
    hasher: H,
    stages: Vec<HashFilter>,
}

impl<K: ?Sized, H> GrowingFilter<K, H> {
    /// Plans and builds the first stage.
    pub(crate) fn new(builder: FilterBuilder<K>, hasher: H) -> Result<Self, PlanError> {
        builder.check_growing()?;
        let mut filter = Self { builder, hasher, stages: Vec::new() };
        filter.stages.push(filter.next_stage()?);
        Ok(filter)
    }

    /// Plans and builds the stage after the last one.
    fn next_stage(&self) -> Result<HashFilter, PlanError> {
        let index = self.stages.len() as u32;
        let first = self.builder.required_keys().unwrap_or(FIRST_STAGE);
        let keys = first.saturating_mul(GROWTH.saturating_pow(index));
        let builder = self.builder.clone().keys(keys).share_of_rate(share_of_stage(index));
        Ok(HashFilter::new(&builder.parameters()?)?)
    }

    /// The hash function.
    pub const fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The stages, the oldest and smallest first.
    pub fn stages(&self) -> &[HashFilter] {
        &self.stages
    }

    /// Number of elements in all stages.
    pub fn elements(&self) -> u64 {
        self.stages.iter().map(HashFilter::elements).sum()
    }

    /// Expected false-positive rate of the current contents.
    pub fn expected_rate(&self) -> f64 {
        let none = |statistics: Statistics| 1.0 - statistics.expected_rate;
        1.0 - self.stages.iter().map(HashFilter::statistics).map(none).product::<f64>()
    }

    /// Expected mean number of blocks that a miss reads, in all stages together.
    pub fn expected_accesses_per_miss(&self) -> f64 {
        let accesses = |statistics: Statistics| statistics.expected_accesses_per_miss;
        self.stages.iter().map(HashFilter::statistics).map(accesses).sum()
    }

    /// Bytes of all stages.
    pub fn bytes(&self) -> u64 {
        self.stages.iter().map(|stage| stage.statistics().memory.total()).sum()
    }
}

impl<K: ?Sized, H: KeyHasher<K>> GrowingFilter<K, H> {
    /// Inserts a key. Does nothing if it is (apparently) present.
    ///
    /// # Errors
    /// [`PlanError`] if a new stage is needed and cannot be built; the filter is unchanged.
    pub fn insert(&mut self, key: &K) -> Result<Insertion, PlanError> {
        let hash = self.hasher.hash_key(key);
        if self.holds(hash) {
            return Ok(Insertion::AlreadyPresent);
        }
        // A stage that is told to refuse may be full before its time.
        if let Some(stage) = self.stages.last_mut()
            && stage.elements() < stage.parameters().keys
            && let Ok(insertion) = stage.insert(hash)
        {
            return Ok(insertion);
        }
        let mut stage = self.next_stage()?;
        let insertion = stage.insert(hash)?;
        self.stages.push(stage);
        Ok(insertion)
    }

    /// Whether the key may have been inserted. Never `false` for an inserted key.
    pub fn contains(&self, key: &K) -> bool {
        self.holds(self.hasher.hash_key(key))
    }

    fn holds(&self, hash: KeyHash) -> bool {
        // The newest first: it holds half of all keys.
        self.stages.iter().rev().any(|stage| stage.contains(hash))
    }
}

/// Implemented by hand: deriving would require `K: Clone`.
impl<K: ?Sized, H: Clone> Clone for GrowingFilter<K, H> {
    fn clone(&self) -> Self {
        let Self { builder, hasher, stages } = self;
        Self { builder: builder.clone(), hasher: hasher.clone(), stages: stages.clone() }
    }
}

/// Implemented by hand: deriving would require `K: Debug`.
impl<K: ?Sized, H: fmt::Debug> fmt::Debug for GrowingFilter<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrowingFilter")
            .field("builder", &self.builder)
            .field("hasher", &self.hasher)
            .field("stages", &self.stages)
            .finish()
    }
}

/// The share of the required rate for a stage, counted from 0: 6/(π(index + 1))².
fn share_of_stage(index: u32) -> f64 {
    6.0 / (core::f64::consts::PI * f64::from(index + 1)).powi(2)
}

#[cfg(test)]
mod tests;
