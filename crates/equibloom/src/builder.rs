//! Builds filters from requirements, with the planner of the theory crate.

use core::fmt;
use core::marker::PhantomData;

use equibloom_layout::{BlockKind, Placement, WhenFull};
pub use equibloom_theory::planner::{DEFAULT_ACCESSES_MISS, Lookup, Plan};
use equibloom_theory::planner::{Requirements, plan};

use crate::error::{BuildError, wraps};
use crate::filter::Filter;
use crate::growing::GrowingFilter;
use crate::hashing::{Stable, StableKey};
use crate::parameters::Parameters;
use crate::prediction::PredictionError;

/// Why a filter could not be planned or built.
///
/// ```
/// use equibloom::Filter;
///
/// let error = Filter::<str>::builder().keys(1_000).build().unwrap_err();
/// assert!(error.to_string().starts_with("keys alone cannot be planned for"), "{error}");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PlanError {
    /// The requirements are incomplete, invalid or contradictory.
    Requirements(PredictionError),
    /// The planned filter could not be built.
    Build(BuildError),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requirements(error) => error.fmt(f),
            Self::Build(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for PlanError {}

wraps!(PlanError { Requirements(PredictionError), Build(BuildError) });

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
    key: PhantomData<fn(&K)>,
}

impl<K: ?Sized> Filter<K> {
    /// Starts a builder; [`FilterBuilder::build`] finishes it. The first inserted key determines the key
    /// type.
    pub fn builder() -> FilterBuilder<K> {
        FilterBuilder { requirements: Requirements::default(), seed: 0, key: PhantomData }
    }
}

/// Setters of what is required.
macro_rules! requirements {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        impl<K: ?Sized> FilterBuilder<K> {$(
            $(#[$doc])*
            pub fn $name(mut self, $name: $type) -> Self {
                self.requirements.$name = Some($name);
                self
            }
        )*}
    };
}

requirements! {
    /// How many keys there will be.
    keys: u64;
    /// Maximum memory in bytes: blocks, overflow list and header.
    memory: u64;
    /// Maximum memory per key in bits: blocks, overflow list and header.
    bits_per_key: f64;
    /// Maximum false-positive rate.
    rate: f64;
    /// Maximum mean block accesses of a lookup for an absent key; [`DEFAULT_ACCESSES_MISS`] by default.
    accesses_miss: f64;
    /// Maximum mean block accesses of an insert.
    accesses_insert: f64;
    /// Maximum mean cache lines of a lookup for an absent key: where blocks are larger than a line, an access
    /// touches several.
    lines_miss: f64;
    /// Maximum mean cache lines of an insert.
    lines_insert: f64;
    /// Bits of a block; by default 512, a cache line.
    block_bits: u32;
    /// Maximum block accesses of any key.
    choices: u32;
    /// Maximum share of the keys in the overflow list.
    overflow: f64;
    /// Fixes the placement.
    placement: Placement;
    /// Fixes the kind of blocks.
    block: BlockKind;
    /// Fixes the number of hint bits of a Bloom block; 0 is the papers' rule.
    hints: u32;
    /// Bits of a remainder in a fingerprint block. The planner chooses those with the lowest rate. Lookups compare the
    /// first eight at once: with fewer, as in most filters of more than 0.5 %, they take two to three times as long.
    remainder_bits: u32;
    /// Width of the hash, for [`build_with_hasher`](Self::build_with_hasher). With 64 bits the rate cannot
    /// fall below keys/2⁶⁴, and the plan accounts for that.
    hash_bits: u32;
}

impl<K: ?Sized> FilterBuilder<K> {
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

    /// Filters of parts of the keys, built from this plan, can be [merged](crate::Filter::merge) into one that is as
    /// good as a filter of all `keys`. (Others can be merged too, but thresholds and second choices only level the
    /// blocks of one filter.)
    pub fn mergeable(mut self) -> Self {
        self.requirements.mergeable = true;
        self
    }

    /// Seed of the hash; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// A random seed of the hash, for keys from untrusted sources: keys can be chosen for a known seed so that they
    /// all go to one block. Filters that are to be merged need the same seed.
    pub fn random_seed(self) -> Self {
        use core::hash::{BuildHasher, Hasher};
        let seed = std::hash::RandomState::new().build_hasher().finish();
        self.seed(seed)
    }

    /// What happens to keys beyond the plan. By default a filter planned for keys and a rate [grows](WhenFull::Grow), so
    /// that it keeps the rate for any number of keys; where memory is given, it [saturates](WhenFull::Saturate), as
    /// any overfull Bloom filter does. Classical filters do not grow, and of removable ones only the list of what has no
    /// room in the blocks, which takes 20 bytes and more for each key beyond the plan. [`WhenFull::Refuse`] requires a
    /// filter that can be full: one with a threshold or with fingerprint blocks.
    ///
    /// ```
    /// use equibloom::{Filter, WhenFull};
    ///
    /// let builder = Filter::<u64>::builder().keys(10_000).rate(0.01);
    /// let (mut grows, mut saturates) = (builder.build()?, builder.clone().when_full(WhenFull::Saturate).build()?);
    /// grows.try_extend(0..30_000)?;
    /// saturates.try_extend(0..30_000)?;
    /// assert!(grows.statistics().expected_rate < 0.01);
    /// assert!(saturates.statistics().expected_rate > 0.15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn when_full(mut self, when_full: WhenFull) -> Self {
        self.requirements.when_full = Some(when_full);
        self
    }

    /// Plans for so large a share of keys more, at the same rate: 0.2 for a fifth.
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let plan = Filter::<u64>::builder().keys(100_000).rate(0.001).headroom(0.2).plan()?;
    /// assert_eq!(plan.keys, 120_000);
    /// assert!(plan.rate() <= 0.001);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn headroom(mut self, share: f64) -> Self {
        self.requirements.headroom = Some(share);
        self
    }

    /// How keys will be looked up. With [`Lookup::OneByOne`] and a given memory, a filter with faster lookups may
    /// have up to a quarter more false positives.
    pub fn prefer(mut self, lookup: Lookup) -> Self {
        self.requirements.prefer = Some(lookup);
        self
    }

    /// Plans the best filter for these requirements without building it.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        let mut requirements = self.requirements.clone();
        requirements.when_full = requirements.when_full.or_else(|| requirements.default_policy());
        Ok(plan(&requirements)?)
    }

    /// The plan as the parameters of a filter.
    pub fn parameters(&self) -> Result<Parameters, PlanError> {
        let Plan { keys, design, .. } = self.plan()?;
        Ok(Parameters { keys, seed: self.seed, design })
    }

    /// Builds the best filter for these requirements, with the stable default hash.
    pub fn build(&self) -> Result<Filter<K>, PlanError>
    where
        K: StableKey,
    {
        Ok(Filter::new(&self.parameters()?)?)
    }

    /// Builds the best filter for these requirements, for use by many threads. Keys can be
    /// [removed](Self::removable) from it once it is turned [back](crate::SharedFilter::into_filter).
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let filter = Filter::builder().keys(1_000).rate(0.01).build_shared()?;
    /// std::thread::scope(|scope| scope.spawn(|| filter.insert("alice@example.com")).join().is_ok());
    /// assert!(filter.contains("alice@example.com"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub fn build_shared(&self) -> Result<crate::SharedFilter<K>, PlanError>
    where
        K: StableKey,
    {
        Ok(self.build()?.into_shared()?)
    }

    /// Builds a [`GrowingFilter`] for an unknown number of keys, with the stable default hash. Needs a
    /// rate; `keys` is how many it has memory for at first.
    pub fn build_growing(&self) -> Result<GrowingFilter<K>, PlanError>
    where
        K: StableKey,
    {
        self.build_growing_with_hasher(Stable::with_seed(self.seed))
    }

    /// Bytes that [`build_growing`](Self::build_growing) allocates: what such a filter takes until it has more than
    /// `keys`.
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let builder = Filter::<str>::builder().keys(1_000_000).rate(0.01);
    /// assert!(builder.growing_bytes()? < 2_500_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn growing_bytes(&self) -> Result<u64, PlanError> {
        self.growing(|rate, keys, _| GrowingFilter::<K>::bytes_when_new(rate, keys).map(Ok))
    }

    /// [`build_growing`](Self::build_growing) with a custom hash function.
    pub fn build_growing_with_hasher<H>(
        &self,
        hasher: H,
    ) -> Result<GrowingFilter<K, H>, PlanError> {
        self.growing(|rate, keys, removable| GrowingFilter::new(rate, keys, removable, hasher))
    }

    /// [`build_growing`](Self::build_growing), for use by many threads.
    #[cfg(target_has_atomic = "64")]
    pub fn build_shared_growing(&self) -> Result<crate::SharedGrowingFilter<K>, PlanError>
    where
        K: StableKey,
    {
        self.build_shared_growing_with_hasher(Stable::with_seed(self.seed))
    }

    /// [`build_shared_growing`](Self::build_shared_growing) with a custom hash function.
    #[cfg(target_has_atomic = "64")]
    pub fn build_shared_growing_with_hasher<H>(
        &self,
        hasher: H,
    ) -> Result<crate::SharedGrowingFilter<K, H>, PlanError> {
        self.growing(|rate, keys, removable| {
            crate::SharedGrowingFilter::new(rate, keys, removable, hasher)
        })
    }

    /// Builds a growing filter for a rate and a first number of keys, removable or not.
    fn growing<F>(
        &self,
        build: impl FnOnce(f64, u64, bool) -> Option<Result<F, BuildError>>,
    ) -> Result<F, PlanError> {
        let refused = |conflict: &str, remedy: &str| {
            let (conflict, remedies) = (conflict.into(), alloc::vec![remedy.into()]);
            PlanError::from(PredictionError::Contradiction { conflict, remedies })
        };
        let Requirements { rate, keys, memory, bits_per_key, multiset, .. } = self.requirements;
        let Some(rate) = rate else {
            return Err(refused("a growing filter keeps a rate, and none is required", "set rate"));
        };
        if memory.is_some() || bits_per_key.is_some() {
            let conflict = "a growing filter takes as much memory as it needs";
            return Err(refused(conflict, "drop memory and bits_per_key"));
        }
        let Some(filter) = build(rate, keys.unwrap_or(0), multiset) else {
            let conflict = alloc::format!("a growing filter cannot keep a rate of {rate}");
            return Err(refused(&conflict, "set rate to 1e-12 … 0.5"));
        };
        Ok(filter?)
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
        let Self { requirements, seed, key } = self;
        Self { requirements: requirements.clone(), seed: *seed, key: *key }
    }
}

/// Implemented by hand: deriving would require `K: Debug`.
impl<K: ?Sized> fmt::Debug for FilterBuilder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBuilder")
            .field("requirements", &self.requirements)
            .field("seed", &self.seed)
            .finish()
    }
}
