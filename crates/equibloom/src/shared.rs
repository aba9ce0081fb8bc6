//! A filter that many threads use at once.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;

use crate::error::{BuildError, FullError};
use crate::filter::Filter;
use crate::growing::SharedGrowth;
use crate::hash_filter::HashFilter;
use crate::hashing::{ANSWERED_AT_ONCE, KeyHash, KeyHasher, KeyKind, Stable, hash_next};
use crate::parameters::Parameters;
use crate::raw::Insertion;
use crate::raw::shared::Shared;
use crate::statistics::Statistics;

/// A filter that many threads insert into and query at once, through `&self`.
///
/// [`Filter::into_shared`] converts a filter without copying it, and [`into_filter`](Self::into_filter)
/// converts it back. [`snapshot`](Self::snapshot) copies it while it is in use, to save, merge or analyse it.
/// A single thread that inserts one key after the other writes the same words into either.
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
/// # Guarantees
/// - **No insert is lost**, and **a key whose insert has returned is found** by every later lookup. "Later"
///   means happens-after: through a join, a channel, a lock, or a flag released by one thread and acquired
///   by the other. A concurrent insert may be visible or not.
/// - **A key found once is found ever after**, in the same sense.
/// - **Fingerprint blocks end up the same**, word for word, in whatever order the threads insert their keys,
///   and the same as in a filter of one thread. (Removable filters only while no key has more than four
///   copies.)
/// - Filters of Bloom blocks are lock-free except for the overflow list, which few keys need. Inserts lock
///   fingerprint blocks; lookups take no lock there, and read a block again if an insert was writing to it
///   meanwhile.
///
/// # Not guaranteed
/// - Two threads that insert the same key into Bloom blocks at the same time may both store it and both
///   report it as new. It then counts twice in [`len`](Self::len), without other effects.
/// - The words of Bloom blocks depend on the order in which threads reach a block, and differ from run to
///   run. [`insert_parallel`](HashFilter::insert_parallel) writes the same words with any number of threads.
/// - Keys cannot be removed from a shared filter: lookups rely on bits never being cleared, and on
///   fingerprints only moving on.
pub struct SharedFilter<K: ?Sized, H = Stable> {
    // Boxed, so that a filter is cheap to move and to keep in an enum.
    parameters: Box<Parameters>,
    raw: Box<Shared>,
    /// The part that grows, if there may be one.
    growth: Option<SharedGrowth>,
    key_kind: KeyKind,
    hasher: H,
    key: PhantomData<fn(&K)>,
}

impl<K: ?Sized, H> Filter<K, H> {
    /// Converts the filter for use by many threads, without copying. A filter that is mapped from a file is
    /// copied into memory first.
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`] if memory for that copy is short.
    pub fn into_shared(self) -> Result<SharedFilter<K, H>, BuildError> {
        let Self { hashes, hasher, key } = self;
        let HashFilter { parameters, mut raw, key_kind, .. } = *hashes;
        #[cfg(feature = "file")]
        raw.detach()?;
        let policy = parameters.design.overflow().when_full;
        let growth = raw.take_growth();
        let may_grow = policy.grows() || growth.is_some();
        let growth = may_grow.then(|| SharedGrowth::new(growth.as_ref(), policy.growth_rate()));
        let growth = growth.transpose()?;
        let (parameters, raw) = (Box::new(parameters), Box::new(Shared::share(raw)));
        Ok(SharedFilter { parameters, raw, growth, key_kind, hasher, key })
    }
}

impl<K: ?Sized, H> SharedFilter<K, H> {
    /// Converts back into a filter for one thread.
    pub fn into_filter(self) -> Filter<K, H> {
        let Self { parameters, raw, growth, key_kind, hasher, key } = self;
        let hashes = HashFilter::over(*parameters, raw.into_own(), key_kind);
        let growth = growth.and_then(SharedGrowth::into_own);
        Filter { hashes: Box::new(hashes.with_growth(growth)), hasher, key }
    }

    /// The parameters that the filter was built from.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The hash function.
    pub const fn hasher(&self) -> &H {
        &self.hasher
    }

    /// [`insert`](Self::insert) for a precomputed hash.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&self, hash: KeyHash) -> Result<Insertion, FullError> {
        match &self.growth {
            None => self.raw.insert(hash),
            Some(growth) => self.insert_growing(growth, hash),
        }
    }

    /// Inserts a key into the planned parts, or the one that grows.
    fn insert_growing(&self, growth: &SharedGrowth, hash: KeyHash) -> Result<Insertion, FullError> {
        let Parameters { design, keys, .. } = &*self.parameters;
        let grows_at = if design.overflow().when_full.grows() { *keys } else { u64::MAX };
        let full = || FullError { capacity: design.overflow().capacity, stored: self.len() };
        if growth.has_begun() && grows_at < u64::MAX {
            if self.raw.contains(hash) {
                return Ok(Insertion::AlreadyPresent);
            }
            return growth.insert(hash).ok_or_else(full);
        }
        if growth.contains(hash) {
            return Ok(Insertion::AlreadyPresent);
        }
        match self.raw.insert(hash) {
            Err(_) if grows_at < u64::MAX => growth.insert(hash).ok_or_else(full),
            Ok(Insertion::New)
                if is_counted_at(hash, grows_at) && self.raw.elements() >= grows_at =>
            {
                // If memory is short, a later insert tries again.
                let _ = growth.begin();
                Ok(Insertion::New)
            }
            inserted => inserted,
        }
    }

    /// [`contains`](Self::contains) for a precomputed hash.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.raw.contains(hash) || self.growth_contains(hash)
    }

    #[inline]
    fn growth_contains(&self, hash: KeyHash) -> bool {
        self.growth.as_ref().is_some_and(|growth| growth.contains(hash))
    }

    /// The answers in order.
    fn answers<'a>(&'a self, hashes: &'a [KeyHash]) -> impl Iterator<Item = bool> + 'a {
        let planned = self.raw.contains_batch(hashes).zip(hashes);
        planned.map(|(found, &hash)| found || self.growth_contains(hash))
    }

    /// A copy for one thread, to save, merge or analyse while others go on inserting. It has every key whose
    /// insert has returned when the copy begins, and perhaps some that are inserted meanwhile. Lookups and
    /// inserts do not wait for it, except that the few inserts that need the overflow list wait while
    /// the list is copied.
    ///
    /// ```
    /// use equibloom::{Filter, SharedFilter};
    ///
    /// let shared: SharedFilter<str> =
    ///     Filter::builder().keys(1_000).rate(0.001).build()?.into_shared()?;
    /// shared.insert("alice@example.com")?;
    /// let copy = shared.snapshot()?;
    /// shared.insert("bob@example.com")?;
    /// assert!(copy.contains("alice@example.com") && !copy.contains("bob@example.com"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`] if memory for the copy is short.
    pub fn snapshot(&self) -> Result<Filter<K, H>, BuildError>
    where
        H: Clone,
    {
        let Self { parameters, raw, growth, key_kind, hasher, .. } = self;
        let raw = raw.snapshot(&parameters.design)?;
        let growth = growth.as_ref().map_or(Ok(None), SharedGrowth::snapshot)?;
        let hashes = HashFilter::over(**parameters, raw, *key_kind).with_growth(growth);
        Ok(Filter::from_hash_filter(hashes, hasher.clone()))
    }

    /// Statistics of a [`snapshot`](Self::snapshot).
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot).
    pub fn statistics(&self) -> Result<Statistics, BuildError>
    where
        H: Clone,
    {
        Ok(self.snapshot()?.statistics())
    }

    /// Removes all keys and keeps the memory of the planned parts. Needs the filter for itself: no thread uses it
    /// meanwhile.
    pub fn clear(&mut self) {
        self.raw.clear();
        self.growth.iter_mut().for_each(SharedGrowth::clear);
    }

    /// Number of keys, as in [`Filter::len`]: of those whose inserts have returned, and perhaps of some whose
    /// inserts are running.
    pub fn len(&self) -> u64 {
        let growth = self.growth.as_ref().map_or(0, SharedGrowth::elements);
        self.raw.elements().saturating_add(growth)
    }

    /// Whether the filter holds no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As [`Filter::is_over_capacity`].
    pub fn is_over_capacity(&self) -> bool {
        let Self { parameters, raw, .. } = self;
        raw.is_over_capacity(parameters.keys) || self.len() > parameters.keys
    }
}

impl<K: ?Sized, H: KeyHasher<K>> SharedFilter<K, H> {
    /// The key's hash in this filter. Hash once to query several filters.
    #[inline]
    pub fn hash(&self, key: &K) -> KeyHash {
        self.hasher.hash_key(key)
    }

    /// Inserts a key. Does nothing if it is (apparently) present; removable filters store it again.
    ///
    /// # Errors
    /// [`FullError`] if no block admits the key, the overflow list is full and the filter
    /// [refuses](crate::WhenFull::Refuse) such keys. The key has changed nothing.
    #[inline]
    pub fn insert(&self, key: &K) -> Result<Insertion, FullError> {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Whether the key may have been inserted. Never `false` for a key whose insert has returned.
    #[inline]
    pub fn contains(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys in order and returns how many were new. Blocks of later keys are prefetched.
    ///
    /// # Errors
    /// [`FullError`] at the first key that is refused; the keys before it are in the filter.
    pub fn insert_batch<Q: Borrow<K>>(&self, keys: &[Q]) -> Result<u64, FullError> {
        self.try_extend(keys.iter().map(Borrow::borrow))
    }

    /// [`insert_batch`](Self::insert_batch) for an iterator.
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn try_extend<Q: Borrow<K>>(
        &self,
        keys: impl IntoIterator<Item = Q>,
    ) -> Result<u64, FullError> {
        let mut hashes = [KeyHash::from_u64(0); ANSWERED_AT_ONCE];
        let mut keys = keys.into_iter().fuse();
        let mut new = 0;
        loop {
            let chunk = hash_next(&self.hasher, &mut keys, &mut hashes);
            if chunk.is_empty() {
                return Ok(new);
            }
            for hash in self.raw.prefetched(chunk) {
                new += u64::from(self.insert_hash(hash)?.is_new());
            }
        }
    }

    /// Looks up many keys; blocks of later keys are prefetched. The answers replace the contents of
    /// `found`.
    pub fn contains_batch<Q: Borrow<K>>(&self, keys: &[Q], found: &mut Vec<bool>) {
        found.clear();
        found.reserve(keys.len());
        let mut hashes = [KeyHash::from_u64(0); ANSWERED_AT_ONCE];
        for keys in keys.chunks(ANSWERED_AT_ONCE) {
            let keys = keys.iter().map(Borrow::borrow);
            found.extend(self.answers(hash_next(&self.hasher, keys, &mut hashes)));
        }
    }

    /// [`contains_batch`](Self::contains_batch) with one bit per answer: key `i` has bit `i % 64` of word
    /// `i / 64`. The words replace the contents of `found`.
    pub fn contains_batch_bitmap<Q: Borrow<K>>(&self, keys: &[Q], found: &mut Vec<u64>) {
        found.clear();
        let mut hashes = [KeyHash::from_u64(0); u64::BITS as usize];
        for keys in keys.chunks(hashes.len()) {
            let keys = keys.iter().map(Borrow::borrow);
            let answers = self.answers(hash_next(&self.hasher, keys, &mut hashes));
            found.push(
                answers
                    .enumerate()
                    .fold(0, |word, (bit, is_there)| word | u64::from(is_there) << bit),
            );
        }
    }
}

/// Whether an insert of this key counts a filter that begins to grow with so many elements. The counts of all
/// threads are added for that: in a larger filter by one insert of 64.
fn is_counted_at(hash: KeyHash, grows_at: u64) -> bool {
    grows_at < 4_096 || grows_at < u64::MAX && u128::from(hash) % 64 == 0
}

/// Shows the parameters, not the contents.
impl<K: ?Sized, H: fmt::Debug> fmt::Debug for SharedFilter<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedFilter")
            .field("parameters", &self.parameters)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
