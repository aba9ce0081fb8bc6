//! The typed filter for many threads.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;

use super::filter::GrowingFilter;
use super::sharded::Sharded;
use super::table::GrowthWork;
use crate::error::{BuildError, MergeError, RemoveError};
use crate::hashing::{INSERTED_AT_ONCE, KeyHash, KeyHasher, KeyKind, Stable, hash_next};
use crate::raw::Insertion;
use crate::statistics::{Memory, Statistics};

/// A [`GrowingFilter`] that many threads insert into and query at once, through `&self`.
///
/// ```
/// use equibloom::Filter;
///
/// let filter = Filter::builder().rate(0.01).build_shared_growing()?;
/// std::thread::scope(|scope| {
///     for worker in 0..4_u64 {
///         let filter = &filter;
///         scope.spawn(move || {
///             for key in (worker..20_000).step_by(4) {
///                 filter.insert(&key).expect("enough memory");
///                 assert!(filter.contains(&key));
///             }
///         });
///     }
/// });
/// assert!(filter.statistics()?.expected_rate < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The hash space is divided into 32 tables, each behind a lock and growing by itself. A lookup shares the lock
/// of one table; an insert or a removal holds it for itself. None of them waits for a [`snapshot`](Self::snapshot),
/// nor for growth, longer than a few blocks take to be copied. Rate, memory and accesses are those of a growing
/// filter; an empty one takes some 50 KiB.
///
/// A key whose insert has returned is found by every later lookup, as in a
/// [`SharedFilter`](crate::SharedFilter).
pub struct SharedGrowingFilter<K: ?Sized, H = Stable> {
    sharded: Sharded,
    rate: f64,
    hasher: H,
    key_kind: KeyKind,
    key: PhantomData<fn(&K)>,
}

impl<K: ?Sized, H> GrowingFilter<K, H> {
    /// Converts the filter for use by many threads. Its strings are copied.
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`] if memory for the copy is short.
    pub fn into_shared(self) -> Result<SharedGrowingFilter<K, H>, BuildError> {
        let Self { table, rate, hasher, key_kind, key } = self;
        let sharded = Sharded::from_table(&table)?;
        Ok(SharedGrowingFilter { sharded, rate, hasher, key_kind, key })
    }
}

impl<K: ?Sized, H> SharedGrowingFilter<K, H> {
    /// An empty filter; `None` for a rate that it cannot have.
    #[cfg(feature = "planner")]
    pub(crate) fn new(
        rate: f64,
        keys: u64,
        removable: bool,
        hasher: H,
    ) -> Option<Result<Self, BuildError>> {
        let sharded = Sharded::new(rate, keys, removable)?;
        let (key_kind, key) = (KeyKind::Unspecified, PhantomData);
        Some(sharded.map(|sharded| Self { sharded, rate, hasher, key_kind, key }))
    }

    /// Converts back into a filter for one thread. Its strings are copied.
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`] if memory for the copy is short.
    pub fn into_growing(self) -> Result<GrowingFilter<K, H>, BuildError> {
        let Self { sharded, rate, hasher, key_kind, key } = self;
        let table = Box::new(sharded.snapshot()?);
        Ok(GrowingFilter { table, rate, hasher, key_kind, key })
    }

    /// A copy for one thread, to save, merge or analyse while others go on using the filter. It has every key whose
    /// insert has returned when the copy begins (and that is not removed meanwhile), and perhaps some that are
    /// inserted meanwhile. No lookup waits for it, and no insert longer than one block takes to be copied.
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let shared = Filter::builder().rate(0.001).build_shared_growing()?;
    /// shared.insert("alice@example.com")?;
    /// let copy = shared.snapshot()?;
    /// shared.insert("bob@example.com")?;
    /// assert!(copy.contains("alice@example.com") && !copy.contains("bob@example.com"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`] if memory for the copy is short.
    pub fn snapshot(&self) -> Result<GrowingFilter<K, H>, BuildError>
    where
        H: Clone,
    {
        let Self { sharded, rate, hasher, key_kind, key } = self;
        let (table, hasher) = (Box::new(sharded.snapshot()?), hasher.clone());
        Ok(GrowingFilter { table, rate: *rate, hasher, key_kind: *key_kind, key: *key })
    }

    /// The hash function.
    pub const fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The false-positive rate that the filter keeps.
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// Whether keys can be removed.
    pub const fn is_removable(&self) -> bool {
        self.sharded.is_removable()
    }

    /// Number of keys, as in a [`GrowingFilter`]: of those whose inserts have returned, and perhaps of some whose
    /// inserts are running.
    pub fn len(&self) -> u64 {
        self.sharded.elements()
    }

    /// Whether no key has been inserted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all keys. Needs the filter for itself: no thread uses it meanwhile.
    pub fn clear(&mut self) {
        self.sharded.clear();
    }

    /// Bytes of the filter, without scanning it.
    pub fn bytes(&self) -> u64 {
        self.memory().total()
    }

    fn memory(&self) -> Memory {
        let [blocks, overflow, header] = self.sharded.bytes();
        Memory { blocks, overflow, header }
    }

    /// Statistics of a [`snapshot`](Self::snapshot), with the memory of this filter.
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot).
    pub fn statistics(&self) -> Result<Statistics, BuildError> {
        Ok(Statistics { memory: self.memory(), ..self.sharded.snapshot()?.statistics() })
    }

    /// Adds all keys of a growing filter of the same hash, as [`GrowingFilter::merge`] does, while others go on
    /// using this one.
    ///
    /// # Errors
    /// As [`GrowingFilter::merge`].
    pub fn merge(&self, other: &GrowingFilter<K, H>) -> Result<(), MergeError>
    where
        H: PartialEq,
    {
        if self.hasher != other.hasher {
            return Err(MergeError::OtherHash);
        }
        if self.is_removable() && !other.is_removable() {
            return Err(MergeError::OtherKind);
        }
        Ok(self.sharded.merge(&other.table)?)
    }

    /// The most that one insert did besides storing its key, since the filter was made or cleared.
    pub fn longest_insert(&self) -> GrowthWork {
        self.sharded.longest_insert()
    }

    /// [`insert`](Self::insert) for a key's hash in this filter.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&self, hash: KeyHash) -> Result<Insertion, BuildError> {
        self.sharded.insert(hash)
    }

    /// [`contains`](Self::contains) for a key's hash in this filter.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.sharded.contains(hash)
    }
}

impl<K: ?Sized, H: KeyHasher<K>> SharedGrowingFilter<K, H> {
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
    pub fn insert(&self, key: &K) -> Result<Insertion, BuildError> {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Whether the key may have been inserted. Never `false` for a key whose insert has returned.
    #[inline]
    pub fn contains(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// Removes one copy of an inserted key; see [`GrowingFilter::remove`].
    ///
    /// # Errors
    /// [`RemoveError`] if the filter does not store every insert or certainly does not hold the key.
    pub fn remove(&self, key: &K) -> Result<(), RemoveError> {
        if !self.is_removable() {
            return Err(RemoveError::NotRemovable("growing"));
        }
        let is_removed = self.sharded.remove(self.hasher.hash_key(key));
        if is_removed { Ok(()) } else { Err(RemoveError::NotPresent) }
    }

    /// Inserts many keys and returns how many of them were new. The result is the same as inserting them one by one,
    /// but faster: blocks of later keys are prefetched, and keys of one table are inserted under one lock.
    ///
    /// # Errors
    /// As [`insert`](Self::insert); some of the keys are in the filter.
    pub fn insert_batch<Q: Borrow<K>>(&self, keys: &[Q]) -> Result<u64, BuildError> {
        self.try_extend(keys.iter().map(Borrow::borrow))
    }

    /// [`insert_batch`](Self::insert_batch) for an iterator.
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn try_extend<Q: Borrow<K>>(
        &self,
        keys: impl IntoIterator<Item = Q>,
    ) -> Result<u64, BuildError> {
        let mut hashes = [KeyHash::from_u64(0); INSERTED_AT_ONCE];
        let mut keys = keys.into_iter().fuse();
        let mut new = 0;
        loop {
            let chunk = hash_next(&self.hasher, &mut keys, &mut hashes);
            if chunk.is_empty() {
                return Ok(new);
            }
            new += self.sharded.insert_batch(chunk)?;
        }
    }

    /// Looks up many keys, faster than one by one: blocks of later keys are prefetched, and keys of one table are
    /// looked up under one lock. The answers replace the contents of `found`, whose memory is reused.
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
        let mut hashes = [KeyHash::from_u64(0); INSERTED_AT_ONCE];
        for keys in keys.chunks(INSERTED_AT_ONCE) {
            let keys = keys.iter().map(Borrow::borrow);
            self.sharded.contains_batch(hash_next(&self.hasher, keys, &mut hashes), &mut answer);
        }
    }
}

/// Shows what the filter is, not its contents.
impl<K: ?Sized, H: fmt::Debug> fmt::Debug for SharedGrowingFilter<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedGrowingFilter")
            .field("rate", &self.rate)
            .field("removable", &self.is_removable())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
