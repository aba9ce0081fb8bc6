//! The typed filter.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;

use super::prefix::Prefix;
use super::schedule::Schedule;
use super::table::{GrowthWork, Table};
use crate::error::{BuildError, MergeError, RemoveError};
use crate::hashing::{
    ANSWERED_AT_ONCE, INSERTED_AT_ONCE, KeyHash, KeyHasher, KeyKind, Stable, hash_next,
};
use crate::observer::{AccessStatistics, Accesses};
use crate::raw::Insertion;
use crate::statistics::Statistics;

/// A filter that keeps its false-positive rate for any number of keys.
///
/// ```
/// use equibloom::Filter;
///
/// let mut filter = Filter::builder().rate(0.01).build_growing()?;
/// for key in 0..20_000_u64 {
///     filter.insert(&key)?;
/// }
/// assert!((0..20_000).all(|key| filter.contains(&key)));
/// assert!(filter.statistics().expected_rate < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It is one table, which grows with its keys: from a few cache lines on, in steps of a fifth, without pauses. An
/// insert fills two blocks at most. At 1 % it takes about 17 bits per key, whatever their number, where a filter
/// planned for them takes 9; at lower rates about 1.6 times as much as a planned one. Lookups read one cache line,
/// rarely two.
pub struct GrowingFilter<K: ?Sized, H = Stable> {
    // Boxed, so that a filter is cheap to move and to keep in an enum.
    pub(super) table: Box<Table>,
    pub(super) rate: f64,
    pub(super) hasher: H,
    pub(super) key_kind: KeyKind,
    pub(super) key: PhantomData<fn(&K)>,
}

impl<K: ?Sized, H> GrowingFilter<K, H> {
    const HEADER_BYTES: u64 = (size_of::<Self>() + size_of::<Table>()) as u64;

    /// An empty filter; `None` for a rate that it cannot have.
    pub(crate) fn new(
        rate: f64,
        keys: u64,
        removable: bool,
        hasher: H,
    ) -> Option<Result<Self, BuildError>> {
        let table = Table::new(Schedule::new(rate, keys)?, removable);
        let (key_kind, key) = (KeyKind::Unspecified, PhantomData);
        Some(table.map(|table| Self { table: Box::new(table), rate, hasher, key_kind, key }))
    }

    /// Bytes of an empty filter; `None` for a rate that it cannot have.
    #[cfg(feature = "planner")]
    pub(crate) fn bytes_when_new(rate: f64, keys: u64) -> Option<u64> {
        let levels = super::levels::Levels::new(Schedule::new(rate, keys)?.first());
        Some(levels.bytes_when_full().saturating_add(Self::HEADER_BYTES))
    }

    /// The hash function.
    pub const fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The false-positive rate that the filter keeps.
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// The kind of keys of a filter whose type does not say it: `K::KIND` is unspecified. A file of any kind can be
    /// read as such a filter, and keeps its kind.
    pub const fn key_kind(&self) -> KeyKind {
        self.key_kind
    }

    /// Changes the [`key_kind`](Self::key_kind).
    pub const fn set_key_kind(&mut self, key_kind: KeyKind) {
        self.key_kind = key_kind;
    }

    /// Whether keys can be removed.
    pub const fn is_removable(&self) -> bool {
        self.table.removable
    }

    /// Number of keys: inserts of keys that were absent (in a removable filter: all inserts, less the removals).
    /// Merging adds the numbers of both filters.
    pub const fn len(&self) -> u64 {
        self.table.elements
    }

    /// Whether no key has been inserted.
    pub const fn is_empty(&self) -> bool {
        self.table.elements == 0
    }

    /// Removes all keys. The filter is as small as at first.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Bytes of the filter, without scanning it.
    pub fn bytes(&self) -> u64 {
        self.table.bytes() + self.table.listed.bytes() + Self::HEADER_BYTES
    }

    /// Scans the whole filter: loads, bytes, and the expected rate of its current contents.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.table.statistics();
        statistics.memory.header = Self::HEADER_BYTES;
        statistics
    }

    /// Adds all keys of another growing filter of the same hash. Sizes and rates may differ; this filter keeps its
    /// own, and the rate to expect is at most the sum of both ([`statistics`](Self::statistics)).
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let (monday, tuesday) = (Filter::builder().rate(0.01), Filter::builder().rate(0.001));
    /// let (mut monday, mut tuesday) = (monday.build_growing()?, tuesday.build_growing()?);
    /// monday.insert("alice@example.com")?;
    /// tuesday.insert("bob@example.com")?;
    ///
    /// monday.merge(&tuesday)?;
    /// assert!(monday.contains("alice@example.com") && monday.contains("bob@example.com"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MergeError`] if the hashes differ, or this filter is removable and the other is not; nothing has changed
    /// then. If memory is short, the filter holds some of the other's keys.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError>
    where
        H: PartialEq,
    {
        if self.hasher != other.hasher {
            return Err(MergeError::OtherHash);
        }
        // One string of the other stands for all its inserts of a key.
        if self.table.removable && !other.table.removable {
            return Err(MergeError::OtherKind);
        }
        Ok(self.table.merge(&other.table)?)
    }

    /// The most that one insert did besides storing its key, since the filter was made or cleared.
    pub const fn longest_insert(&self) -> GrowthWork {
        self.table.longest
    }
}

impl<K: ?Sized, H> GrowingFilter<K, H> {
    /// [`insert`](Self::insert) for a key's hash in this filter.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&mut self, hash: KeyHash) -> Result<Insertion, BuildError> {
        self.table.insert(Prefix::of_key(hash))
    }

    /// [`contains`](Self::contains) for a key's hash in this filter.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.table.contains(Prefix::of_key(hash))
    }

    /// [`remove`](Self::remove) for a key's hash in this filter.
    ///
    /// # Errors
    /// As [`remove`](Self::remove).
    pub fn remove_hash(&mut self, hash: KeyHash) -> Result<(), RemoveError> {
        if !self.table.removable {
            return Err(RemoveError::NotRemovable("growing"));
        }
        if self.table.remove(Prefix::of_key(hash)) { Ok(()) } else { Err(RemoveError::NotPresent) }
    }

    /// [`insert_batch`](Self::insert_batch) for keys' hashes in this filter.
    ///
    /// ```
    /// use equibloom::{Filter, KeyHash};
    ///
    /// let mut filter = Filter::<u64>::builder().rate(0.001).build_growing()?;
    /// let hashes: Vec<KeyHash> = (0..3).map(|key| filter.hash(&key)).collect();
    /// assert_eq!(filter.insert_hashes(&hashes[1..])?, 2);
    /// let mut found = Vec::new();
    /// filter.contains_hashes(&hashes, &mut found);
    /// assert_eq!(found, [false, true, true]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`insert`](Self::insert), at the first key that needs memory; the keys before it are in the filter.
    pub fn insert_hashes(&mut self, hashes: &[KeyHash]) -> Result<u64, BuildError> {
        let before = self.table.elements;
        self.table.insert_batch(hashes)?;
        Ok(self.table.elements - before)
    }

    /// [`contains_batch`](Self::contains_batch) for keys' hashes in this filter.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut Vec<bool>) {
        found.clear();
        found.reserve(hashes.len());
        self.table.contains_batch(hashes, |word, count| {
            found.extend((0..count).map(|bit| word >> bit & 1 == 1));
        });
    }

    /// [`contains_batch_bitmap`](Self::contains_batch_bitmap) for keys' hashes in this filter.
    pub fn contains_hashes_bitmap(&self, hashes: &[KeyHash], found: &mut Vec<u64>) {
        found.clear();
        self.table.contains_batch(hashes, |word, _| found.push(word));
    }
}

impl<K: ?Sized, H: KeyHasher<K>> GrowingFilter<K, H> {
    /// The key's hash in this filter.
    #[inline]
    pub fn hash(&self, key: &K) -> KeyHash {
        self.hasher.hash_key(key)
    }

    /// Inserts a key. Does nothing if it is (apparently) present; removable filters store it again.
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`] if the filter has to grow and cannot; it holds what it held.
    #[inline]
    pub fn insert(&mut self, key: &K) -> Result<Insertion, BuildError> {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Whether the key may have been inserted. Never `false` for an inserted key.
    #[inline]
    pub fn contains(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// [`contains`](Self::contains) that adds its memory accesses to `accesses`.
    pub fn contains_counted(&self, key: &K, accesses: &mut AccessStatistics) -> bool {
        let mut counted = Accesses::default();
        let found =
            self.table.contains_observed(Prefix::of_key(self.hasher.hash_key(key)), &mut counted);
        let lookups = if found { &mut accesses.hits } else { &mut accesses.misses };
        lookups.record(counted);
        found
    }

    /// Removes one copy of an inserted key. Only filters [built removable](crate::FilterBuilder::removable) can do
    /// so.
    ///
    /// Removing a false positive removes a stored key that it matched: the filter detects only keys that are
    /// certainly absent. Keys that were inserted when the filter was smaller by a factor of hundreds may leave a false
    /// positive behind.
    ///
    /// ```
    /// use equibloom::{Filter, RemoveError};
    ///
    /// let mut filter = Filter::builder().rate(0.001).removable().build_growing()?;
    /// filter.insert("alice@example.com")?;
    /// filter.remove("alice@example.com")?;
    /// assert!(!filter.contains("alice@example.com"));
    /// assert_eq!(filter.remove("alice@example.com"), Err(RemoveError::NotPresent));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RemoveError`] if the filter does not store every insert or certainly does not hold the key.
    pub fn remove(&mut self, key: &K) -> Result<(), RemoveError> {
        self.remove_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys and returns how many of them were new. The result is the same as inserting them one by one,
    /// but faster: blocks of later keys are prefetched.
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let mut filter = Filter::<str>::builder().rate(0.001).build_growing()?;
    /// assert_eq!(filter.insert_batch(&["alice", "bob", "alice"])?, 2);
    /// let mut found = Vec::new();
    /// filter.contains_batch(&["alice", "eve", "bob"], &mut found);
    /// assert_eq!(found, [true, false, true]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`insert`](Self::insert), at the first key that needs memory; the keys before it are in the filter.
    pub fn insert_batch<Q: Borrow<K>>(&mut self, keys: &[Q]) -> Result<u64, BuildError> {
        self.try_extend(keys.iter().map(Borrow::borrow))
    }

    /// [`insert_batch`](Self::insert_batch) for an iterator.
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn try_extend<Q: Borrow<K>>(
        &mut self,
        keys: impl IntoIterator<Item = Q>,
    ) -> Result<u64, BuildError> {
        let mut hashes = [KeyHash::from_u64(0); INSERTED_AT_ONCE];
        let mut keys = keys.into_iter().fuse();
        let before = self.table.elements;
        loop {
            let chunk = hash_next(&self.hasher, &mut keys, &mut hashes);
            if chunk.is_empty() {
                return Ok(self.table.elements - before);
            }
            self.table.insert_batch(chunk)?;
        }
    }

    /// Looks up many keys, faster than one by one: blocks of later keys are prefetched. The answers replace
    /// the contents of `found`, whose memory is reused.
    pub fn contains_batch<Q: Borrow<K>>(&self, keys: &[Q], found: &mut Vec<bool>) {
        found.clear();
        found.reserve(keys.len());
        self.for_each_word(keys, |word, count| {
            found.extend((0..count).map(|bit| word >> bit & 1 == 1));
        });
    }

    /// [`contains_batch`](Self::contains_batch) with one bit per answer: key `i` has bit `i % 64` of word
    /// `i / 64`. The words replace the contents of `found`.
    pub fn contains_batch_bitmap<Q: Borrow<K>>(&self, keys: &[Q], found: &mut Vec<u64>) {
        found.clear();
        self.for_each_word(keys, |word, _| found.push(word));
    }

    /// Calls `answer` with the answers for each 64 keys, and the number of these.
    fn for_each_word<Q: Borrow<K>>(&self, keys: &[Q], mut answer: impl FnMut(u64, usize)) {
        let mut hashes = [KeyHash::from_u64(0); ANSWERED_AT_ONCE];
        for keys in keys.chunks(ANSWERED_AT_ONCE) {
            let keys = keys.iter().map(Borrow::borrow);
            self.table.contains_batch(hash_next(&self.hasher, keys, &mut hashes), &mut answer);
        }
    }
}

/// Implemented by hand: deriving would require `K: Clone`.
impl<K: ?Sized, H: Clone> Clone for GrowingFilter<K, H> {
    fn clone(&self) -> Self {
        let Self { table, rate, hasher, key_kind, key } = self;
        let (table, hasher) = (table.clone(), hasher.clone());
        Self { table, rate: *rate, hasher, key_kind: *key_kind, key: *key }
    }
}

/// Implemented by hand: deriving would require `K: PartialEq`.
impl<K: ?Sized, H: PartialEq> PartialEq for GrowingFilter<K, H> {
    fn eq(&self, other: &Self) -> bool {
        self.table == other.table && self.rate == other.rate && self.hasher == other.hasher
    }
}

/// Shows what the filter is, not its contents.
impl<K: ?Sized, H: fmt::Debug> fmt::Debug for GrowingFilter<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrowingFilter")
            .field("rate", &self.rate)
            .field("removable", &self.table.removable)
            .field("elements", &self.table.elements)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
