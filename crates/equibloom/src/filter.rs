//! The filter that users hold: a raw filter with a hash function in front.

use core::fmt;

use crate::error::{BuildError, FullError};
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
        self.raw.insert(hash, &mut ())
    }

    /// [`contains`](Self::contains) by a hash that is known already.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.raw.contains(hash, &mut ())
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
        let found = self.raw.contains(hash, &mut counted);
        accesses.record_lookup(found, counted);
        found
    }

    /// Inserts every key of an iterator and tells how many were new. (Not [`Extend`], which could
    /// not tell that the filter is full.)
    ///
    /// # Errors
    /// [`FullError`] at the first key that is refused; the keys before it are in the filter.
    pub fn try_extend<K>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<u64, FullError>
    where
        H: KeyHasher<K>,
    {
        let mut new = 0;
        for key in keys {
            new += u64::from(self.insert(&key)?.is_new());
        }
        Ok(new)
    }

    /// Removes all keys and keeps the memory.
    pub fn clear(&mut self) {
        self.raw.clear();
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
