//! The typed filter: keys of one type, a hash function, and a filter over hashes.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;

use crate::error::{BuildError, FullError, MergeError, RemoveError, ShrinkError};
use crate::hash_filter::HashFilter;
use crate::hashing::{
    ANSWERED_AT_ONCE, INSERTED_AT_ONCE, KeyHash, KeyHasher, Stable, StableKey, hash_next,
};
use crate::parameters::Parameters;
use crate::raw::Insertion;
use crate::statistics::Statistics;

/// An approximate set of keys: no false negatives, few false positives.
///
/// `K` is the key type (`str` for all text, `[u8]` for all bytes), `H` the hash function.
///
/// ```
/// use equibloom::Filter;
///
/// let mut filter = Filter::builder().keys(100_000).rate(0.001).build()?;
/// assert!(filter.insert("alice@example.com")?.is_new());
/// assert!(filter.contains("alice@example.com"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Keys of another type do not compile:
///
/// ```compile_fail,E0308
/// # use equibloom::Filter;
/// let mut filter: Filter<u64> = Filter::builder().keys(1_000).rate(0.001).build()?;
/// filter.insert("alice@example.com")?; // expected `&u64`, found `&str`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`HashFilter`] offers the same operations on hashes, and counts block accesses.
pub struct Filter<K: ?Sized, H = Stable> {
    // Boxed, so that a filter is cheap to move and to keep in an enum.
    pub(crate) hashes: Box<HashFilter>,
    pub(crate) hasher: H,
    // `fn(&K)`, because no key is stored: a filter is `Send` and `Sync` for every `K`.
    pub(crate) key: PhantomData<fn(&K)>,
}

impl<K: StableKey + ?Sized> Filter<K> {
    /// An empty filter with the stable default hash, seeded by the parameters.
    ///
    /// ```
    /// use equibloom::{Blocks, Filter, Layout, Overflow, Parameters, Rule, Share, WhenFull};
    ///
    /// let rule = Rule::FirstWithRoom { below: 27, coin: Share::new(0.5)? };
    /// let blocks = Blocks::Bloom { bits: 512, hashes: 11, hints: 16 };
    /// let layout = Layout::multi_level(blocks, &[830, 145, 25], rule)?
    ///     .with_overflow(Overflow { capacity: 500, when_full: WhenFull::Saturate });
    /// let parameters = Parameters { keys: 25_000, seed: 0, design: layout.into() };
    /// let mut filter = Filter::new(&parameters)?;
    /// filter.insert("alice@example.com")?;
    /// assert!(filter.contains("alice@example.com"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] if the parameters are invalid or memory is short; nothing has been allocated then.
    pub fn new(parameters: &Parameters) -> Result<Self, BuildError> {
        let hasher = Stable::with_seed(parameters.seed);
        let filter = HashFilter::new(parameters)?.with_key_kind(K::KIND);
        Ok(Self::from_hash_filter(filter, hasher))
    }
}

impl<K: ?Sized, H> Filter<K, H> {
    /// An empty filter with a custom hash function. The parameters' seed is not used.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_hasher(parameters: &Parameters, hasher: H) -> Result<Self, BuildError> {
        Ok(Self::from_hash_filter(HashFilter::new(parameters)?, hasher))
    }

    /// Wraps a filter over hashes. `hasher` must be the function that the hashes came from.
    pub fn from_hash_filter(hashes: HashFilter, hasher: H) -> Self {
        Self { hashes: Box::new(hashes), hasher, key: PhantomData }
    }

    /// The underlying filter over hashes.
    pub const fn as_hash_filter(&self) -> &HashFilter {
        &self.hashes
    }

    /// Mutable access to the underlying filter over hashes.
    pub const fn as_hash_filter_mut(&mut self) -> &mut HashFilter {
        &mut self.hashes
    }

    /// The underlying filter over hashes.
    pub fn into_hash_filter(self) -> HashFilter {
        *self.hashes
    }

    /// The parameters that the filter was built from.
    pub const fn parameters(&self) -> &Parameters {
        self.hashes.parameters()
    }

    /// The hash function.
    pub const fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Removes all keys and keeps the memory of the planned parts.
    pub fn clear(&mut self) {
        self.hashes.clear();
    }

    /// Number of keys, as in [`Statistics::elements`], without scanning the filter: inserts of keys that were
    /// apparently absent (in a removable filter: all inserts, less the removals).
    pub fn len(&self) -> u64 {
        self.hashes.len()
    }

    /// Whether the filter holds no key.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Bytes of the filter, without scanning it.
    pub fn bytes(&self) -> u64 {
        self.hashes.bytes() + size_of::<Self>() as u64
    }

    /// Scans the whole filter: loads, bytes, and the expected rate of its current contents.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.hashes.statistics();
        statistics.memory.header += size_of::<Self>() as u64;
        statistics
    }

    /// Whether the filter holds more keys than it is planned for, or its overflow list was full when a key needed
    /// it. Unless the filter [grows](crate::WhenFull::Grow), the false-positive rate is then above the planned one, or soon
    /// will be; [`statistics`](Self::statistics) tells how far. Scans nothing.
    ///
    /// ```
    /// use equibloom::{Filter, WhenFull};
    ///
    /// let builder = Filter::builder().keys(10_000).rate(0.01).when_full(WhenFull::Saturate);
    /// let mut filter: Filter<u64> = builder.build()?;
    /// filter.try_extend(0..10_000)?;
    /// assert!(!filter.is_over_capacity());
    /// filter.try_extend(10_000..12_000)?;
    /// assert!(filter.is_over_capacity());
    /// assert!(filter.statistics().beyond_plan > 1_800);
    /// assert!(filter.statistics().expected_rate > 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_over_capacity(&self) -> bool {
        self.hashes.is_over_capacity()
    }

    /// Adds all keys of another filter with the same hash and seed.
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let builder = Filter::builder().keys(30_000).rate(0.001);
    /// let (mut monday, mut tuesday) = (builder.build()?, builder.build()?);
    /// monday.insert("alice@example.com")?;
    /// tuesday.insert("bob@example.com")?;
    ///
    /// monday.merge(&tuesday)?;
    /// assert!(monday.contains("alice@example.com") && monday.contains("bob@example.com"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A filter of the same plan is merged in place, which fills this one as inserting the keys one by one would.
    /// With fingerprint blocks the result is the same, word for word, unless the filter is removable or
    /// [overloaded](crate::WhenFull::Saturate). Beyond the planned number of keys the rate rises (see
    /// [`statistics`](Self::statistics)), or the merge is [refused](crate::WhenFull::Refuse). What both overflow
    /// lists hold has room in the merged one: it grows if the filter saturates.
    ///
    /// A filter of another plan is kept beside this one, as another [part](HashFilter::part_count): rates and
    /// accesses of the parts add up. So is one of the same plan, if the filter [grows](crate::WhenFull::Grow) and both
    /// together have more keys than planned. Removable filters have one part only.
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let mut year: Filter<u64> = Filter::builder().keys(30_000).rate(0.001).build()?;
    /// let mut day: Filter<u64> = Filter::builder().keys(1_000).rate(0.001).build()?;
    /// year.try_extend(0..30_000)?;
    /// day.try_extend(30_000..31_000)?;
    ///
    /// year.merge(&day)?;
    /// assert_eq!(year.as_hash_filter().part_count(), 2);
    /// assert!((0..31_000).all(|key| year.contains(&key)));
    /// assert!(year.statistics().expected_rate < 0.002);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MergeError`] if hashes differ, if keys can be removed from one of the filters and their plans differ, or
    /// the overflow list has no room for all keys and may not grow, or no memory to. The filter is unchanged.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError>
    where
        H: PartialEq,
    {
        if self.hasher != other.hasher && self.parameters().seed == other.parameters().seed {
            return Err(MergeError::OtherHash);
        }
        self.hashes.merge(&other.hashes)
    }

    /// A smaller filter with the same keys: every `factor` neighbouring blocks are folded into one. Useful
    /// if far fewer keys came than were planned. The rate becomes that of a filter built at the smaller
    /// size.
    ///
    /// ```
    /// use equibloom::{Blocks, Filter, Layout, Parameters};
    ///
    /// let design = Layout::blocked(Blocks::bloom(512, 8), 1_024).into();
    /// let mut filter = Filter::new(&Parameters { keys: 32_000, seed: 0, design })?;
    /// filter.try_extend(0..4_000_u64)?;
    ///
    /// let small = filter.folded(8)?;
    /// assert!((0..4_000).all(|key| small.contains(&key)));
    /// assert!(small.statistics().memory.blocks == filter.statistics().memory.blocks / 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ShrinkError`] if the number of blocks (of each subtable) is not a multiple of the factor, or the
    /// blocks store fingerprints.
    pub fn folded(&self, factor: u64) -> Result<Self, ShrinkError>
    where
        H: Clone,
    {
        Ok(Self::from_hash_filter(self.hashes.folded(factor)?, self.hasher.clone()))
    }
}

impl<K: ?Sized, H: KeyHasher<K>> Filter<K, H> {
    /// The key's hash in this filter. Hash once to query several filters.
    #[inline]
    pub fn hash(&self, key: &K) -> KeyHash {
        self.hasher.hash_key(key)
    }

    /// Inserts a key. Does nothing if it is (apparently) present; removable filters store it again.
    ///
    /// # Errors
    /// [`FullError`] if no block admits the key, the overflow list is full and the filter
    /// [refuses](crate::WhenFull::Refuse) such keys, or it must [grow](crate::WhenFull::Grow) and memory is short. The
    /// filter is unchanged.
    #[inline]
    pub fn insert(&mut self, key: &K) -> Result<Insertion, FullError> {
        self.hashes.insert(self.hasher.hash_key(key))
    }

    /// Whether the key may have been inserted. Never `false` for an inserted key.
    #[inline]
    pub fn contains(&self, key: &K) -> bool {
        self.hashes.raw.contains(self.hasher.hash_key(key))
    }

    /// Removes one copy of an inserted key. Only filters that store every insert can do so: those [built
    /// removable](crate::FilterBuilder::removable).
    ///
    /// Removing a false positive removes the stored key that it matched: the filter detects only keys that
    /// are certainly absent.
    ///
    /// ```
    /// use equibloom::{Filter, RemoveError};
    ///
    /// let mut filter = Filter::builder().keys(30_000).rate(0.001).removable().build()?;
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
    pub fn remove(&mut self, key: &K) -> Result<(), RemoveError> {
        self.hashes.remove(self.hasher.hash_key(key))
    }

    /// Inserts many keys and returns how many [elements](crate::Statistics::elements) more the filter holds.
    /// The result is the same as inserting them one by one in this order, but faster: blocks of later keys
    /// are prefetched. (A removable filter counts the copies of a key, but where it holds more than four of
    /// them, its words depend on the way they came.)
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let mut filter: Filter<str> = Filter::builder().keys(1_000).rate(0.001).build()?;
    /// assert_eq!(filter.insert_batch(&["alice", "bob", "alice"])?, 2);
    /// let mut found = Vec::new();
    /// filter.contains_batch(&["alice", "eve", "bob"], &mut found);
    /// assert_eq!(found, [true, false, true]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FullError`] at the first key that is refused; the keys before it are in the filter.
    pub fn insert_batch<Q: Borrow<K>>(&mut self, keys: &[Q]) -> Result<u64, FullError> {
        self.try_extend(keys.iter().map(Borrow::borrow))
    }

    /// [`insert_batch`](Self::insert_batch) for an iterator. (Not [`Extend`], which cannot return an error.)
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn try_extend<Q: Borrow<K>>(
        &mut self,
        keys: impl IntoIterator<Item = Q>,
    ) -> Result<u64, FullError> {
        let mut hashes = [KeyHash::from_u64(0); INSERTED_AT_ONCE];
        let mut keys = keys.into_iter().fuse();
        let mut new = 0;
        loop {
            let chunk = hash_next(&self.hasher, &mut keys, &mut hashes);
            if chunk.is_empty() {
                return Ok(new);
            }
            new += self.hashes.insert_batch(chunk)?;
        }
    }

    /// Looks up many keys, faster than one by one: blocks of later keys are prefetched. The answers replace
    /// the contents of `found`, whose memory is reused.
    pub fn contains_batch<Q: Borrow<K>>(&self, keys: &[Q], found: &mut Vec<bool>) {
        found.clear();
        found.reserve(keys.len());
        let mut hashes = [KeyHash::from_u64(0); ANSWERED_AT_ONCE];
        for keys in keys.chunks(ANSWERED_AT_ONCE) {
            let keys = keys.iter().map(Borrow::borrow);
            self.hashes.append_answers(hash_next(&self.hasher, keys, &mut hashes), found);
        }
    }

    /// [`contains_batch`](Self::contains_batch) with one bit per answer: key `i` has bit `i % 64` of word
    /// `i / 64`. The words replace the contents of `found`.
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let mut filter: Filter<str> = Filter::builder().keys(1_000).rate(0.001).build()?;
    /// filter.insert_batch(&["alice", "bob"])?;
    /// let mut found = Vec::new();
    /// filter.contains_batch_bitmap(&["alice", "eve", "bob"], &mut found);
    /// assert_eq!(found, [0b101]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contains_batch_bitmap<Q: Borrow<K>>(&self, keys: &[Q], found: &mut Vec<u64>) {
        found.clear();
        let mut hashes = [KeyHash::from_u64(0); ANSWERED_AT_ONCE];
        for keys in keys.chunks(ANSWERED_AT_ONCE) {
            let keys = keys.iter().map(Borrow::borrow);
            self.hashes.append_bitmap(hash_next(&self.hasher, keys, &mut hashes), found);
        }
    }
}

/// Shows the parameters, not the contents.
impl<K: ?Sized, H: fmt::Debug> fmt::Debug for Filter<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter")
            .field("parameters", self.parameters())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}

/// Implemented by hand: deriving would require `K: Clone`.
impl<K: ?Sized, H: Clone> Clone for Filter<K, H> {
    fn clone(&self) -> Self {
        Self::from_hash_filter(HashFilter::clone(&self.hashes), self.hasher.clone())
    }
}

/// Implemented by hand: deriving would require `K: PartialEq`.
impl<K: ?Sized, H: PartialEq> PartialEq for Filter<K, H> {
    fn eq(&self, other: &Self) -> bool {
        self.hashes == other.hashes && self.hasher == other.hasher
    }
}
