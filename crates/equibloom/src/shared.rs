//! A filter that many threads use at once.

use alloc::vec::Vec;
use core::fmt;

use crate::error::{BuildError, FullError};
use crate::filter::AnyFilter;
use crate::hashing::{KeyHash, KeyHasher, KeyKind, Stable};
use crate::parameters::Parameters;
use crate::raw::shared::{Shared, SharedRaw};
use crate::raw::{Insertion, RawFilter};

/// Keys of a batch that are hashed before the first of them is looked up.
const HASHED_AT_ONCE: usize = 512;

/// A filter that many threads insert into and query at once, through `&self`.
///
/// It is an [`AnyFilter`] in another form: made from one by [`AnyFilter::into_shared`] and turned back by
/// [`into_filter`](Self::into_filter), without a copy, to be saved, merged or looked through. One thread
/// writes the same words into either.
///
/// ```
/// use equibloom::AnyFilter;
///
/// let filter = AnyFilter::builder().keys(20_000).rate(0.001).build()?.into_shared()?;
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
/// assert!((0..20_000_u64).all(|key| filter.contains(&key)));
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
///   [`insert_hashes_parallel`](AnyFilter::insert_hashes_parallel).
/// - Keys cannot be removed while a filter is shared: that no lookup misses a key rests on nothing being taken back.
pub struct SharedFilter<H = Stable> {
    parameters: Parameters,
    raw: Shared,
    hasher: H,
    key_kind: KeyKind,
}

impl<H> AnyFilter<H> {
    /// Lets many threads use the filter at once. Its memory stays where it is; a filter that is mapped from
    /// a file is copied first.
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`] if there is no memory for that copy.
    pub fn into_shared(self) -> Result<SharedFilter<H>, BuildError> {
        let key_kind = self.key_kind();
        let (parameters, mut raw, hasher) = self.into_raw();
        #[cfg(feature = "file")]
        crate::raw::FromParts::detach(&mut raw)?;
        Shared::prepare(&mut raw);
        Ok(SharedFilter { parameters, raw: Shared::new(raw), hasher, key_kind })
    }
}

impl SharedFilter<Stable> {
    /// An empty filter with the stable default hash, seeded by the parameters.
    ///
    /// # Errors
    /// As [`AnyFilter::new`].
    pub fn new(parameters: &Parameters) -> Result<Self, BuildError> {
        Self::with_hasher(parameters, Stable::with_seed(parameters.seed))
    }
}

impl<H> SharedFilter<H> {
    /// An empty filter with a hash function of the user's choice. The parameters' seed is not used.
    ///
    /// # Errors
    /// As [`AnyFilter::with_hasher`].
    pub fn with_hasher(parameters: &Parameters, hasher: H) -> Result<Self, BuildError> {
        let raw = Shared::new(RawFilter::new(parameters)?);
        let key_kind = KeyKind::Unspecified;
        Ok(Self { parameters: parameters.clone(), raw, hasher, key_kind })
    }

    /// The filter for one thread, when no other uses it any more.
    pub fn into_filter(self) -> AnyFilter<H> {
        AnyFilter::from_raw(self.parameters, self.raw.into_any(), self.hasher)
            .with_key_kind(self.key_kind)
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
    /// to refuse. The key has changed nothing.
    #[inline]
    pub fn insert<K: ?Sized>(&self, key: &K) -> Result<Insertion, FullError>
    where
        H: KeyHasher<K>,
    {
        self.insert_hash(self.hash(key))
    }

    /// Whether the key may have been inserted. Never `false` for a key whose insert has returned.
    #[inline]
    pub fn contains<K: ?Sized>(&self, key: &K) -> bool
    where
        H: KeyHasher<K>,
    {
        self.contains_hash(self.hash(key))
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

    /// Inserts many keys, one after the other, and tells how many were new: while one is placed, the memory
    /// of the next is on its way.
    ///
    /// # Errors
    /// [`FullError`] at the first key that is refused; the keys before it are in the filter.
    pub fn insert_batch<K>(&self, keys: &[K]) -> Result<u64, FullError>
    where
        H: KeyHasher<K>,
    {
        let mut hashes = Vec::with_capacity(keys.len().min(HASHED_AT_ONCE));
        keys.chunks(HASHED_AT_ONCE).try_fold(0, |new, keys| {
            self.hash_all(keys, &mut hashes);
            Ok(new + self.raw.insert_batch(&hashes)?)
        })
    }

    /// Looks many keys up: while one is looked at, the memory of the next is on its way. The answers
    /// replace what is in `found`.
    pub fn contains_batch<K>(&self, keys: &[K], found: &mut Vec<bool>)
    where
        H: KeyHasher<K>,
    {
        found.clear();
        found.reserve(keys.len());
        let mut hashes = Vec::with_capacity(keys.len().min(HASHED_AT_ONCE));
        for keys in keys.chunks(HASHED_AT_ONCE) {
            self.hash_all(keys, &mut hashes);
            self.raw.contains_batch(&hashes, &mut |answer| found.push(answer));
        }
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

    fn hash_all<K>(&self, keys: &[K], hashes: &mut Vec<KeyHash>)
    where
        H: KeyHasher<K>,
    {
        hashes.clear();
        hashes.extend(keys.iter().map(|key| self.hasher.hash_key(key)));
    }

    /// Elements whose inserts have returned; of those under way, some may be counted already.
    pub fn elements(&self) -> u64 {
        self.raw.elements()
    }
}

/// Shows what the filter is, not the megabytes it holds.
impl<H: fmt::Debug> fmt::Debug for SharedFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedFilter")
            .field("parameters", &self.parameters)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
