//! A filter that many threads use at once.

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::convert::Infallible;
use core::fmt;
use core::marker::PhantomData;

use crate::error::{BuildError, FullError};
use crate::filter::Filter;
use crate::hash_filter::HashFilter;
use crate::hashing::{ANSWERED_AT_ONCE, KeyHash, KeyHasher, KeyKind, Stable, hash_chunks};
use crate::parameters::Parameters;
use crate::raw::Insertion;
use crate::raw::shared::{Shared, SharedRaw};

/// A filter that many threads insert into and query at once, through `&self`.
///
/// It is a [`Filter`] in another form: made from one by [`Filter::into_shared`] and turned back by
/// [`into_filter`](Self::into_filter), without a copy, to be saved, merged or looked through. One thread
/// writes the same words into either.
///
/// ```
/// use equibloom::Filter;
///
/// let filter = Filter::builder().keys(20_000).rate(0.001).build()?.into_shared()?;
/// std::thread::scope(|scope| {
///     for worker in 0..4_u64 {
///         let filter = &filter;
///         scope.spawn(move || {
///             for key in (worker..20_000).step_by(4) {
///                 filter.insert(&key).expect("room for all");
///                 assert!(filter.contains(&key));
///             }
///         });
///     }
/// });
/// let filter = filter.into_filter();
/// assert!((0..20_000).all(|key| filter.contains(&key)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What is promised
/// - **No insert is lost**, and **a key whose insert has returned is found** by every lookup that begins
///   afterwards: afterwards as threads know it, by a join, a channel, a lock, or a flag that one released and
///   the other acquired. An insert that is under way may be seen or not.
/// - **What was found once is found ever after**, in the same sense.
/// - Filters of Bloom blocks are lock-free but for the overflow list, which few keys need. Fingerprint blocks have a lock
///   each, for inserts; lookups take no lock, and wait only for an insert that is writing to their
///   very block.
///
/// # What is not
/// - Two threads that insert the same key at the same time may both store it, and both be told that it was new. It then counts as two
///   [`elements`](Self::elements); nothing else comes of it.
/// - The words depend on the order in which threads come to a block, and so differ from run to run. For
///   the same words with any number of threads there is
///   [`insert_parallel`](HashFilter::insert_parallel).
/// - Keys cannot be removed while a filter is shared: that no lookup misses a key rests on nothing being taken back.
pub struct SharedFilter<K: ?Sized, H = Stable> {
    parameters: Parameters,
    raw: Shared,
    key_kind: KeyKind,
    hasher: H,
    key: PhantomData<fn(&K)>,
}

impl<K: ?Sized, H> Filter<K, H> {
    /// Lets many threads use the filter at once. Its memory stays where it is; a filter that is mapped from
    /// a file is copied first.
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`] if there is no memory for that copy.
    pub fn into_shared(self) -> Result<SharedFilter<K, H>, BuildError> {
        let (hashes, hasher) = self.into_parts();
        let (parameters, mut raw, key_kind) = hashes.into_raw();
        #[cfg(feature = "file")]
        raw.detach()?;
        Shared::prepare(&mut raw);
        let raw = Shared::new(raw);
        Ok(SharedFilter { parameters, raw, key_kind, hasher, key: PhantomData })
    }
}

impl<K: ?Sized, H> SharedFilter<K, H> {
    /// The filter for one thread, when no other uses it any more.
    pub fn into_filter(self) -> Filter<K, H> {
        let hashes = HashFilter::from_raw(self.parameters, self.raw.into_any(), self.key_kind);
        Filter::from_hash_filter(hashes, self.hasher)
    }

    /// What the filter was made from.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The hash function.
    pub const fn hasher(&self) -> &H {
        &self.hasher
    }

    /// [`insert`](Self::insert) by a hash that is known already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&self, hash: KeyHash) -> Result<Insertion, FullError> {
        self.raw.insert(hash)
    }

    /// [`contains`](Self::contains) by a hash that is known already.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.raw.contains(hash)
    }

    /// [`insert_batch`](Self::insert_batch) by hashes that are known already.
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn insert_hashes(&self, hashes: &[KeyHash]) -> Result<u64, FullError> {
        self.raw.insert_batch(hashes)
    }

    /// [`contains_batch`](Self::contains_batch) by hashes that are known already.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut Vec<bool>) {
        found.clear();
        found.reserve(hashes.len());
        self.raw.contains_batch(hashes, &mut |answer| found.push(answer));
    }

    /// Elements whose inserts have returned; of those under way, some may be counted already.
    pub fn elements(&self) -> u64 {
        self.raw.elements()
    }
}

impl<K: ?Sized, H: KeyHasher<K>> SharedFilter<K, H> {
    /// The hash of a key in this filter: hash once, ask many filters.
    #[inline]
    pub fn hash(&self, key: &K) -> KeyHash {
        self.hasher.hash_key(key)
    }

    /// Inserts a key, unless it is (apparently) present; then nothing changes.
    ///
    /// # Errors
    /// [`FullError`] if no block admits the key, the overflow list is full and the filter was told
    /// to refuse. The key has changed nothing.
    #[inline]
    pub fn insert(&self, key: &K) -> Result<Insertion, FullError> {
        self.raw.insert(self.hasher.hash_key(key))
    }

    /// Whether the key may have been inserted. Never `false` for a key whose insert has returned.
    #[inline]
    pub fn contains(&self, key: &K) -> bool {
        self.raw.contains(self.hasher.hash_key(key))
    }

    /// Inserts many keys, one after the other, and tells how many were new: while one is placed, the memory
    /// of the next is on its way.
    ///
    /// # Errors
    /// [`FullError`] at the first key that is refused; the keys before it are in the filter.
    pub fn insert_batch<Q: Borrow<K>>(&self, keys: &[Q]) -> Result<u64, FullError> {
        let mut new = 0;
        self.for_each_chunk(keys, |chunk| {
            new += self.raw.insert_batch(chunk)?;
            Ok(())
        })?;
        Ok(new)
    }

    /// Looks many keys up: while one is looked at, the memory of the next is on its way. The answers
    /// replace what is in `found`.
    pub fn contains_batch<Q: Borrow<K>>(&self, keys: &[Q], found: &mut Vec<bool>) {
        found.clear();
        found.reserve(keys.len());
        // Lookups cannot fail.
        let _: Result<(), Infallible> = self.for_each_chunk(keys, |chunk| {
            self.raw.contains_batch(chunk, &mut |answer| found.push(answer));
            Ok(())
        });
    }

    fn for_each_chunk<Q: Borrow<K>, E>(
        &self,
        keys: &[Q],
        visit: impl FnMut(&[KeyHash]) -> Result<(), E>,
    ) -> Result<(), E> {
        let keys = keys.iter().map(Borrow::borrow);
        hash_chunks::<ANSWERED_AT_ONCE, K, _, _, _>(&self.hasher, keys, visit)
    }
}

/// Shows what the filter is, not the megabytes it holds.
impl<K: ?Sized, H: fmt::Debug> fmt::Debug for SharedFilter<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedFilter")
            .field("parameters", &self.parameters)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
