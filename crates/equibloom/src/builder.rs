//! Builds filters from requirements, with the planner of the theory crate.

use core::fmt;
use core::marker::PhantomData;

use equibloom_layout::{BlockKind, Design, Placement, Rule, WhenFull};
pub use equibloom_theory::planner::{DEFAULT_ACCESSES_MISS, Plan};
use equibloom_theory::planner::{Requirements, plan};

use crate::error::{BuildError, FullError, wraps};
use crate::filter::Filter;
use crate::growing::GrowingFilter;
use crate::hashing::{Stable, StableKey};
use crate::parameters::Parameters;
use crate::prediction::PredictionError;

/// Why a filter could not be planned or built.
#[derive(Debug)]
#[non_exhaustive]
pub enum PlanError {
    /// The requirements are incomplete, invalid or contradictory.
    Requirements(PredictionError),
    /// The planned filter could not be built.
    Build(BuildError),
    /// A stage of a growing filter that [refuses](WhenFull::Refuse) keys is full too early.
    Full(FullError),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requirements(error) => error.fmt(f),
            Self::Build(error) => error.fmt(f),
            Self::Full(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for PlanError {}

wraps!(PlanError { Requirements(PredictionError), Build(BuildError), Full(FullError) });

/// Requirements for a filter of keys `K`. Everything left out is chosen to minimise the false-positive
/// rate.
///
/// Sufficient: keys and memory (or bits per key); keys and rate; memory and rate; memory and bits per key.
///
/// ```
/// use equibloom::Filter;
///
/// let mut filter = Filter::builder().keys(100_000).rate(0.001).build()?;
/// filter.insert("alice@example.com")?;
/// assert!(filter.contains("alice@example.com"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The plan tells what to expect:
///
/// ```
/// use equibloom::Filter;
///
/// let builder = Filter::builder().keys(100_000).bits_per_key(24.0).accesses_miss(1.1);
/// let plan = builder.plan()?;
/// assert!(plan.expected.accesses_miss <= 1.1);
///
/// let mut filter = builder.build()?;
/// filter.try_extend(0..100_000_u64)?;
/// let measured = filter.statistics().expected_rate;
/// assert!((measured / plan.rate() - 1.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct FilterBuilder<K: ?Sized> {
    requirements: Requirements,
    seed: u64,
    when_full: WhenFull,
    key: PhantomData<fn(&K)>,
}

impl<K: ?Sized> Filter<K> {
    /// Starts a builder; [`FilterBuilder::build`] finishes it. The first inserted key determines the key
    /// type.
    pub fn builder() -> FilterBuilder<K> {
        FilterBuilder {
            requirements: Requirements::default(),
            seed: 0,
            when_full: WhenFull::Saturate,
            key: PhantomData,
        }
    }
}

impl<K: ?Sized> FilterBuilder<K> {
    /// How many keys there will be.
    pub fn keys(mut self, keys: u64) -> Self {
        self.requirements.keys = Some(keys);
        self
    }

    /// Maximum memory in bytes: blocks, overflow list and header.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.requirements.memory = Some(bytes);
        self
    }

    /// Maximum memory per key in bits: blocks, overflow list and header.
    pub fn bits_per_key(mut self, bits: f64) -> Self {
        self.requirements.bits_per_key = Some(bits);
        self
    }

    /// Maximum false-positive rate.
    pub fn rate(mut self, rate: f64) -> Self {
        self.requirements.rate = Some(rate);
        self
    }

    /// Maximum mean block accesses of a lookup for an absent key; [`DEFAULT_ACCESSES_MISS`] by default.
    pub fn accesses_miss(mut self, accesses: f64) -> Self {
        self.requirements.accesses_miss = Some(accesses);
        self
    }

    /// Maximum mean block accesses of an insert.
    pub fn accesses_insert(mut self, accesses: f64) -> Self {
        self.requirements.accesses_insert = Some(accesses);
        self
    }

    /// Bits of a block; by default 512, a cache line.
    pub fn block_bits(mut self, bits: u32) -> Self {
        self.requirements.block_bits = Some(bits);
        self
    }

    /// Maximum block accesses of any key.
    pub fn choices(mut self, choices: u32) -> Self {
        self.requirements.choices = Some(choices);
        self
    }

    /// Maximum share of the keys in the overflow list.
    pub fn overflow(mut self, share: f64) -> Self {
        self.requirements.overflow = Some(share);
        self
    }

    /// Fixes the placement.
    pub fn placement(mut self, placement: Placement) -> Self {
        self.requirements.placement = Some(placement);
        self
    }

    /// Fixes the kind of blocks.
    pub fn block(mut self, kind: BlockKind) -> Self {
        self.requirements.block = Some(kind);
        self
    }

    /// Fixes the number of hint bits of a Bloom block; 0 is the papers' rule.
    pub fn hints(mut self, hints: u32) -> Self {
        self.requirements.hints = Some(hints);
        self
    }

    /// Makes keys [removable](crate::Filter::remove): every insert is stored.
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let mut filter = Filter::builder().keys(100_000).rate(0.001).removable().build()?;
    /// filter.insert("alice@example.com")?;
    /// filter.remove("alice@example.com")?;
    /// assert!(!filter.contains("alice@example.com"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn removable(mut self) -> Self {
        self.requirements.multiset = true;
        self
    }

    /// Width of the hash, for [`build_with_hasher`](Self::build_with_hasher). With 64 bits the rate cannot
    /// fall below keys/2⁶⁴, and the plan accounts for that.
    pub fn hash_bits(mut self, bits: u32) -> Self {
        self.requirements.hash_bits = Some(bits);
        self
    }

    /// Seed of the hash; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// What happens to a key that no block admits when the overflow list is full. By default it is stored
    /// in a block all the same, as in any overfull Bloom filter.
    pub fn when_full(mut self, when_full: WhenFull) -> Self {
        self.when_full = when_full;
        self
    }

    /// Refuses requirements that a growing filter cannot keep.
    pub(crate) fn check_growing(&self) -> Result<(), PredictionError> {
        let Requirements { rate, memory, bits_per_key, multiset, .. } = self.requirements;
        let (conflict, remedy) = if rate.is_none() {
            ("a growing filter keeps a rate, and none is required", "set rate")
        } else if memory.is_some() || bits_per_key.is_some() {
            ("a growing filter takes as much memory as it needs", "drop memory and bits_per_key")
        } else if multiset {
            ("keys cannot be removed from a growing filter", "plan for a number of keys")
        } else {
            return Ok(());
        };
        let (conflict, remedies) = (conflict.into(), alloc::vec![remedy.into()]);
        Err(PredictionError::Contradiction { conflict, remedies })
    }

    pub(crate) const fn required_keys(&self) -> Option<u64> {
        self.requirements.keys
    }

    /// Multiplies the required rate by `share`.
    pub(crate) fn share_of_rate(mut self, share: f64) -> Self {
        self.requirements.rate = self.requirements.rate.map(|rate| rate * share);
        self
    }

    /// Plans the best filter for these requirements without building it.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        Ok(plan(&self.requirements)?)
    }

    /// The plan as the parameters of a filter.
    pub fn parameters(&self) -> Result<Parameters, PlanError> {
        let Plan { keys, mut design, .. } = self.plan()?;
        if let Design::Blocked(layout) = &mut design
            && layout.rule != Rule::LeastLoaded
        {
            layout.overflow.when_full = self.when_full;
        }
        Ok(Parameters { keys, seed: self.seed, design })
    }

    /// Builds the best filter for these requirements, with the stable default hash.
    pub fn build(&self) -> Result<Filter<K>, PlanError>
    where
        K: StableKey,
    {
        Ok(Filter::new(&self.parameters()?)?)
    }

    /// Builds a [`GrowingFilter`] for an unknown number of keys, with the stable default hash. Needs a
    /// rate; `keys` is the capacity of the first stage.
    pub fn build_growing(&self) -> Result<GrowingFilter<K>, PlanError>
    where
        K: StableKey,
    {
        GrowingFilter::new(self.clone(), Stable::with_seed(self.seed))
    }

    /// Builds the best filter for these requirements with a custom hash function. Set
    /// [`hash_bits(64)`](Self::hash_bits) if it has fewer than 128 bits, like
    /// [`WithBuildHasher`](crate::WithBuildHasher).
    ///
    /// ```
    /// use equibloom::{Filter, WithBuildHasher};
    ///
    /// let hasher = WithBuildHasher::new(std::hash::RandomState::new());
    /// let builder = Filter::builder().keys(10_000).rate(0.001).hash_bits(64);
    /// let mut filter = builder.build_with_hasher(hasher)?;
    /// filter.insert(&("any", "key", 7))?;
    /// assert!(filter.contains(&("any", "key", 7)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_with_hasher<H>(&self, hasher: H) -> Result<Filter<K, H>, PlanError> {
        Ok(Filter::with_hasher(&self.parameters()?, hasher)?)
    }
}

/// Implemented by hand: deriving would require `K: Clone`.
impl<K: ?Sized> Clone for FilterBuilder<K> {
    fn clone(&self) -> Self {
        let Self { requirements, seed, when_full, key } = self;
        Self { requirements: requirements.clone(), seed: *seed, when_full: *when_full, key: *key }
    }
}

/// Implemented by hand: deriving would require `K: Debug`.
impl<K: ?Sized> fmt::Debug for FilterBuilder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBuilder")
            .field("requirements", &self.requirements)
            .field("seed", &self.seed)
            .field("when_full", &self.when_full)
            .finish()
    }
}
