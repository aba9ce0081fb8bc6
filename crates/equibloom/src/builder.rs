//! From wishes to a working filter: the planner of the theory crate chooses, this file builds.

use core::fmt;

pub use equibloom_theory::planner::{BlockKind, DEFAULT_ACCESSES_MISS, PlacementName, Plan};
use equibloom_theory::planner::{Wishes, plan};

use crate::error::{BuildError, FullError, wraps};
use crate::filter::AnyFilter;
use crate::growing::GrowingFilter;
use crate::hashing::Stable;
use crate::parameters::{Parameters, Scheme, WhenFull};

/// Why a filter could not be planned or built.
#[derive(Debug)]
#[non_exhaustive]
pub enum PlanError {
    /// The wishes are too few, make no sense or contradict each other.
    Wishes(equibloom_theory::Error),
    /// The planned filter could not be made.
    Build(BuildError),
    /// A stage of a growing filter that was told to refuse is full before its time.
    Full(FullError),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wishes(error) => error.fmt(f),
            Self::Build(error) => error.fmt(f),
            Self::Full(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for PlanError {}

wraps!(PlanError { Wishes(equibloom_theory::Error), Build(BuildError), Full(FullError) });

/// Wishes for a filter; everything left out is chosen so that the false-positive rate is lowest.
///
/// Enough are: keys and memory (or bits per key); keys and rate; memory and rate; memory and bits per key.
///
/// ```
/// use equibloom::AnyFilter;
///
/// let mut filter = AnyFilter::builder().keys(100_000).rate(0.001).build()?;
/// filter.insert("alice@example.com")?;
/// assert!(filter.contains("alice@example.com"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The plan says what to expect, and why it is as it is:
///
/// ```
/// use equibloom::AnyFilter;
///
/// let wishes = AnyFilter::builder().keys(100_000).bits_per_key(24.0).accesses_miss(1.1);
/// let plan = wishes.plan()?;
/// assert!(plan.expected.accesses_miss <= 1.1);
///
/// let mut filter = wishes.build()?;
/// filter.try_extend(0..100_000_u64)?;
/// let measured = filter.statistics().expected_rate;
/// assert!((measured / plan.rate() - 1.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct FilterBuilder {
    wishes: Wishes,
    seed: u64,
    when_full: WhenFull,
}

impl AnyFilter {
    /// Starts to collect wishes; [`FilterBuilder::build`] ends it.
    pub fn builder() -> FilterBuilder {
        FilterBuilder { wishes: Wishes::default(), seed: 0, when_full: WhenFull::Saturate }
    }
}

impl FilterBuilder {
    /// How many keys there will be.
    pub fn keys(mut self, keys: u64) -> Self {
        self.wishes.keys = Some(keys);
        self
    }

    /// Most bytes, everything counted: blocks, overflow list, header.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.wishes.memory = Some(bytes);
        self
    }

    /// Most memory per key, everything counted, in bits.
    pub fn bits_per_key(mut self, bits: f64) -> Self {
        self.wishes.bits_per_key = Some(bits);
        self
    }

    /// Highest false-positive rate.
    pub fn rate(mut self, rate: f64) -> Self {
        self.wishes.rate = Some(rate);
        self
    }

    /// Most block accesses of a lookup of an absent key, on average; [`DEFAULT_ACCESSES_MISS`] if
    /// nothing is said.
    pub fn accesses_miss(mut self, accesses: f64) -> Self {
        self.wishes.accesses_miss = Some(accesses);
        self
    }

    /// Most block accesses of an insert, on average.
    pub fn accesses_insert(mut self, accesses: f64) -> Self {
        self.wishes.accesses_insert = Some(accesses);
        self
    }

    /// Bits of a block; a cache line, 512, if nothing is said.
    pub fn block_bits(mut self, bits: u32) -> Self {
        self.wishes.block_bits = Some(bits);
        self
    }

    /// Most block accesses of any key.
    pub fn choices(mut self, choices: u32) -> Self {
        self.wishes.choices = Some(choices);
        self
    }

    /// Largest share of the keys in the overflow list.
    pub fn overflow(mut self, share: f64) -> Self {
        self.wishes.overflow = Some(share);
        self
    }

    /// The placement, instead of the best one.
    pub fn placement(mut self, placement: PlacementName) -> Self {
        self.wishes.placement = Some(placement);
        self
    }

    /// The kind of blocks, instead of the better one.
    pub fn block(mut self, kind: BlockKind) -> Self {
        self.wishes.block = Some(kind);
        self
    }

    /// Hint bits of a block, instead of the best number; 0 as in the papers.
    pub fn hints(mut self, hints: u32) -> Self {
        self.wishes.hints = Some(hints);
        self
    }

    /// A filter whose keys can be [removed](crate::Filter::remove) again: it stores every insert.
    ///
    /// ```
    /// use equibloom::AnyFilter;
    ///
    /// let mut filter = AnyFilter::builder().keys(100_000).rate(0.001).removable().build()?;
    /// filter.insert("alice@example.com")?;
    /// filter.remove("alice@example.com")?;
    /// assert!(!filter.contains("alice@example.com"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn removable(mut self) -> Self {
        self.wishes.multiset = true;
        self
    }

    /// Bits of the hash that stands for a key, for [`build_with_hasher`](Self::build_with_hasher): with 64 bits
    /// the rate cannot fall below keys/2⁶⁴, and the plan takes that into account.
    pub fn hash_bits(mut self, bits: u32) -> Self {
        self.wishes.hash_bits = Some(bits);
        self
    }

    /// Seed of the hash; 0 if nothing is said.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// What happens to a key that no block admits when the overflow list is full. If nothing is said it goes into
    /// a block all the same, as in every Bloom filter with too many keys.
    pub fn when_full(mut self, when_full: WhenFull) -> Self {
        self.when_full = when_full;
        self
    }

    pub(crate) const fn wished_keys(&self) -> Option<u64> {
        self.wishes.keys
    }

    /// Only a share of the wished rate.
    pub(crate) fn share_of_rate(mut self, share: f64) -> Self {
        self.wishes.rate = self.wishes.rate.map(|rate| rate * share);
        self
    }

    /// The best filter for these wishes, without building it.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        Ok(plan(&self.wishes)?)
    }

    /// The same as the parameters of a filter.
    pub fn parameters(&self) -> Result<Parameters, PlanError> {
        let mut parameters = Parameters::from(&self.plan()?);
        parameters.seed = self.seed;
        if let Scheme::Single { overflow, .. }
        | Scheme::Sequential { overflow, .. }
        | Scheme::MultiLevel { overflow, .. }
        | Scheme::Fingerprint { overflow, .. } = &mut parameters.scheme
        {
            overflow.when_full = self.when_full;
        }
        Ok(parameters)
    }

    /// The best filter for these wishes, with the stable default hash.
    pub fn build(&self) -> Result<AnyFilter, PlanError> {
        Ok(AnyFilter::new(&self.parameters()?)?)
    }

    /// A filter for nobody knows how many keys, with the stable default hash: see [`GrowingFilter`].
    /// Needs a rate; the keys are those that the first of its stages is for.
    pub fn build_growing(&self) -> Result<GrowingFilter, PlanError> {
        GrowingFilter::new(self.clone(), Stable::with_seed(self.seed))
    }

    /// The best filter for these wishes, with a hash function of the user's choice. Say
    /// [`hash_bits(64)`](Self::hash_bits) if it has fewer than 128 bits, as
    /// [`WithBuildHasher`](crate::WithBuildHasher) has.
    ///
    /// ```
    /// use equibloom::{AnyFilter, WithBuildHasher};
    ///
    /// let hasher = WithBuildHasher::new(std::hash::RandomState::new());
    /// let wishes = AnyFilter::builder().keys(10_000).rate(0.001).hash_bits(64);
    /// let mut filter = wishes.build_with_hasher(hasher)?;
    /// filter.insert(&("any", "key", 7))?;
    /// assert!(filter.contains(&("any", "key", 7)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_with_hasher<H>(&self, hasher: H) -> Result<AnyFilter<H>, PlanError> {
        Ok(AnyFilter::with_hasher(&self.parameters()?, hasher)?)
    }
}
