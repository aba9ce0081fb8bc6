//! The filter that users hold: a raw filter with a hash function in front.

mod batches;

use alloc::boxed::Box;
use core::fmt;

use crate::error::{BuildError, FullError, MergeError, RemoveError, ShrinkError};
use crate::hashing::{KeyHash, KeyHasher, Stable};
use crate::observer::{AccessStatistics, Accesses};
use crate::parameters::Parameters;
use crate::raw::{Any, Insertion, RawFilter};
use crate::statistics::Statistics;

/// A set of keys that never forgets one and seldom imagines one.
///
/// `F` is the mechanism ([`raw::Any`](crate::raw::Any): whatever the parameters say), `H` the hash
/// function.
#[derive(Clone, PartialEq)]
pub struct Filter<F = Any, H = Stable> {
    parameters: Parameters,
    raw: F,
    hasher: H,
}

/// A filter of any kind, chosen at run time by its [`Parameters`].
///
/// ```
/// use equibloom::{AnyFilter, Overflow, BlockTable, Parameters, Scheme, Threshold, WhenFull};
///
/// let scheme = Scheme::MultiLevel {
///     blocks: BlockTable { count: 1_000, bits: 512, hashes: 11 },
///     threshold: Threshold { load: 27, probability: 0.5 },
///     hints: 16,
///     overflow: Overflow { capacity: 500, when_full: WhenFull::Saturate },
///     subtables: vec![830, 145, 25],
/// };
/// let mut filter = AnyFilter::new(&Parameters { keys: 25_000, seed: 0, scheme })?;
/// assert!(filter.insert("alice@example.com")?.is_new());
/// assert!(filter.contains("alice@example.com"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type AnyFilter<H = Stable> = Filter<Any, H>;

impl<F: RawFilter> Filter<F, Stable> {
    /// An empty filter with the stable default hash, seeded by the parameters.
    pub fn new(parameters: &Parameters) -> Result<Self, BuildError> {
        Self::with_hasher(parameters, Stable::with_seed(parameters.seed))
    }
}

impl<F: RawFilter, H> Filter<F, H> {
    /// An empty filter with a hash function of the user's choice. The parameters' seed is not used.
    pub fn with_hasher(parameters: &Parameters, hasher: H) -> Result<Self, BuildError> {
        Ok(Self { raw: F::new(parameters)?, parameters: parameters.clone(), hasher })
    }

    /// A filter from its parts.
    #[cfg(feature = "std")]
    pub(crate) const fn from_raw(parameters: Parameters, raw: F, hasher: H) -> Self {
        Self { parameters, raw, hasher }
    }

    /// The parts of a filter.
    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub(crate) fn into_raw(self) -> (Parameters, F, H) {
        (self.parameters, self.raw, self.hasher)
    }

    #[cfg(feature = "file")]
    pub(crate) const fn raw(&self) -> &F {
        &self.raw
    }

    #[cfg(feature = "file")]
    pub(crate) const fn raw_mut(&mut self) -> &mut F {
        &mut self.raw
    }

    #[cfg(feature = "file")]
    pub(crate) const fn hasher(&self) -> &H {
        &self.hasher
    }

    /// What the filter was made from.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The hash that stands for a key in this filter: hash once, ask many filters.
    #[inline]
    pub fn hash<K: ?Sized>(&self, key: &K) -> KeyHash
    where
        H: KeyHasher<K>,
    {
        self.hasher.hash_key(key)
    }

    /// Inserts a key, unless it is (apparently) present; then nothing changes.
    ///
    /// # Errors
    /// [`FullError`] if no block admits the key, the overflow list is full and the filter was told
    /// to refuse. The filter is as it was.
    #[inline]
    pub fn insert<K: ?Sized>(&mut self, key: &K) -> Result<Insertion, FullError>
    where
        H: KeyHasher<K>,
    {
        self.insert_hash(self.hash(key))
    }

    /// Whether the key may have been inserted. Never `false` for a key that was.
    #[inline]
    pub fn contains<K: ?Sized>(&self, key: &K) -> bool
    where
        H: KeyHasher<K>,
    {
        self.contains_hash(self.hash(key))
    }

    /// [`insert`](Self::insert) by a hash that is known already.
    #[inline]
    pub fn insert_hash(&mut self, hash: KeyHash) -> Result<Insertion, FullError> {
        self.raw.insert(hash, ())
    }

    /// [`contains`](Self::contains) by a hash that is known already.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.raw.contains(hash)
    }

    /// [`insert`](Self::insert) that adds its memory accesses to `accesses`.
    pub fn insert_counted<K: ?Sized>(
        &mut self,
        key: &K,
        accesses: &mut AccessStatistics,
    ) -> Result<Insertion, FullError>
    where
        H: KeyHasher<K>,
    {
        self.insert_hash_counted(self.hash(key), accesses)
    }

    /// [`contains`](Self::contains) that adds its memory accesses to `accesses`.
    pub fn contains_counted<K: ?Sized>(&self, key: &K, accesses: &mut AccessStatistics) -> bool
    where
        H: KeyHasher<K>,
    {
        self.contains_hash_counted(self.hash(key), accesses)
    }

    /// [`insert_hash`](Self::insert_hash) that adds its memory accesses to `accesses`.
    pub fn insert_hash_counted(
        &mut self,
        hash: KeyHash,
        accesses: &mut AccessStatistics,
    ) -> Result<Insertion, FullError> {
        let mut counted = Accesses::default();
        let insertion = self.raw.insert(hash, &mut counted)?;
        accesses.record_insert(counted);
        Ok(insertion)
    }

    /// [`contains_hash`](Self::contains_hash) that adds its memory accesses to `accesses`.
    pub fn contains_hash_counted(&self, hash: KeyHash, accesses: &mut AccessStatistics) -> bool {
        let mut counted = Accesses::default();
        let found = self.raw.contains_observed(hash, &mut counted);
        accesses.record_lookup(found, counted);
        found
    }

    /// Removes a key that was inserted, once for each time it was. Removable are filters with
    /// fingerprint blocks that store every insert (`multiset: true`).
    ///
    /// To remove a key that was never inserted, but looks as if, takes away the key it was mistaken
    /// for. There is no way to tell; a filter can only notice keys that it certainly does not hold.
    ///
    /// ```
    /// use equibloom::{
    ///     AnyFilter, FingerprintTable, Overflow, Parameters, RemoveError, Route, Scheme, WhenFull,
    /// };
    ///
    /// let blocks =
    ///     FingerprintTable { count: 1_000, slots: 37, lists: 48, remainder_bits: 11, hints: 20 };
    /// let route = Route::MultiLevel { subtables: vec![850, 130, 20] };
    /// let overflow = Overflow { capacity: 100, when_full: WhenFull::Saturate };
    /// let scheme = Scheme::Fingerprint { blocks, route, overflow, multiset: true };
    /// let mut filter = AnyFilter::new(&Parameters { keys: 30_000, seed: 0, scheme })?;
    ///
    /// filter.insert("alice@example.com")?;
    /// filter.remove("alice@example.com")?;
    /// assert!(!filter.contains("alice@example.com"));
    /// assert_eq!(filter.remove("alice@example.com"), Err(RemoveError::NotPresent));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RemoveError`] if the filter does not store every insert or certainly does not hold the key.
    #[inline]
    pub fn remove<K: ?Sized>(&mut self, key: &K) -> Result<(), RemoveError>
    where
        H: KeyHasher<K>,
    {
        self.remove_hash(self.hash(key))
    }

    /// [`remove`](Self::remove) by a hash that is known already.
    #[inline]
    pub fn remove_hash(&mut self, hash: KeyHash) -> Result<(), RemoveError> {
        self.raw.remove(hash, ())
    }

    /// Takes in all keys of another filter of the same shape and hash. Afterwards every key of either
    /// is present here.
    ///
    /// ```
    /// use equibloom::{AnyFilter, BlockTable, Parameters, Scheme};
    ///
    /// let blocks = BlockTable { count: 1_000, bits: 512, hashes: 8 };
    /// let parameters = Parameters { keys: 30_000, seed: 0, scheme: Scheme::Blocked { blocks } };
    /// let mut monday = AnyFilter::new(&parameters)?;
    /// let mut tuesday = AnyFilter::new(&parameters)?;
    /// monday.insert("alice@example.com")?;
    /// tuesday.insert("bob@example.com")?;
    ///
    /// monday.merge(&tuesday)?;
    /// assert!(monday.contains("alice@example.com") && monday.contains("bob@example.com"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A filter is as full as its keys are many, whether they came one by one or by a merge: past the
    /// number it was planned for the rate rises ([`statistics`](Self::statistics) tell), and an overflow
    /// list that is too small [refuses or grows](crate::WhenFull).
    ///
    /// # Errors
    /// [`MergeError`] if shapes or hashes differ, or the filter has no room and is told to refuse. It is
    /// as it was, except if there was no memory for an overflow list that may grow: then it may have
    /// taken in some keys.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError>
    where
        H: PartialEq,
    {
        let (ours, theirs) = (&self.parameters, &other.parameters);
        if ours != theirs {
            let (ours, theirs) = (Box::new(ours.clone()), Box::new(theirs.clone()));
            return Err(MergeError::OtherShape { ours, theirs });
        }
        if self.hasher != other.hasher {
            return Err(MergeError::OtherHash);
        }
        self.raw.absorb(&other.raw, 1)
    }

    /// A smaller filter with the same keys: every `factor` neighbouring blocks folded into one. For a
    /// filter that got far fewer keys than it was planned for; the rate rises as if it had been made
    /// that small.
    ///
    /// ```
    /// use equibloom::{AnyFilter, BlockTable, Parameters, Scheme};
    ///
    /// let blocks = BlockTable { count: 1_024, bits: 512, hashes: 8 };
    /// let parameters = Parameters { keys: 32_000, seed: 0, scheme: Scheme::Blocked { blocks } };
    /// let mut filter = AnyFilter::new(&parameters)?;
    /// filter.try_extend(0..4_000_u64)?;
    ///
    /// let small = filter.folded(8)?;
    /// assert!((0..4_000_u64).all(|key| small.contains(&key)));
    /// assert!(small.statistics().memory.blocks == filter.statistics().memory.blocks / 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ShrinkError`] if the number of blocks (of each subtable) is no multiple of the factor, or the
    /// blocks store fingerprints.
    pub fn folded(&self, factor: u64) -> Result<Self, ShrinkError>
    where
        H: Clone,
    {
        let parameters = self.parameters.folded(factor)?;
        let mut raw = F::new(&parameters)?;
        raw.absorb(&self.raw, factor)?;
        Ok(Self { raw, parameters, hasher: self.hasher.clone() })
    }

    /// Removes all keys and keeps the memory.
    pub fn clear(&mut self) {
        self.raw.clear();
    }

    /// Elements in the filter, as [`Statistics::elements`] counts them, without looking through it.
    pub fn elements(&self) -> u64 {
        self.raw.elements()
    }

    /// Looks through the whole filter and tells how it is doing.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.raw.statistics();
        statistics.memory.header = size_of::<Self>() as u64;
        statistics
    }

    /// The filter's contents, word by word: the same seed and keys in the same order give the same
    /// words.
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        self.raw.words()
    }
}

/// Shows what the filter is, not the megabytes it holds.
impl<F: RawFilter, H: fmt::Debug> fmt::Debug for Filter<F, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter")
            .field("parameters", &self.parameters)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
