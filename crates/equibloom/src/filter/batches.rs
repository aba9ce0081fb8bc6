//! Many keys at once.

use alloc::vec::Vec;

use super::Filter;
use crate::error::FullError;
use crate::hashing::{KeyHash, KeyHasher};
use crate::raw::RawFilter;

/// Keys of a batch that are hashed before the first of them is looked up.
const HASHED_AT_ONCE: usize = 512;
/// Keys of a batch that are hashed before the first of them is inserted: enough to go level by level.
const INSERTED_AT_ONCE: usize = 2_048;

/// Answers of a bitmap's word.
const WORD: usize = u64::BITS as usize;

impl<F: RawFilter, H> Filter<F, H> {
    /// Inserts many keys and tells how many were new. The filter becomes the same as if they had come
    /// one by one in this order, but faster: while one is placed, the memory of the next is on its way.
    ///
    /// ```
    /// use equibloom::AnyFilter;
    ///
    /// let mut filter = AnyFilter::builder().keys(1_000).rate(0.001).build()?;
    /// assert_eq!(filter.insert_batch(&["alice", "bob", "alice"])?, 2);
    /// let mut found = Vec::new();
    /// filter.contains_batch(&["alice", "eve", "bob"], &mut found);
    /// assert_eq!(found, [true, false, true]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FullError`] at the first key that is refused; the keys before it are in the filter.
    pub fn insert_batch<K>(&mut self, keys: &[K]) -> Result<u64, FullError>
    where
        H: KeyHasher<K>,
    {
        let mut new = 0;
        let mut hashes = [KeyHash::from_u64(0); INSERTED_AT_ONCE];
        for keys in keys.chunks(INSERTED_AT_ONCE) {
            let hashes = self.hash_all(keys, &mut hashes);
            new += self.raw.insert_batch(hashes)?;
        }
        Ok(new)
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
        let mut hashes = [KeyHash::from_u64(0); INSERTED_AT_ONCE];
        let mut keys = keys.into_iter();
        loop {
            let mut count = 0;
            for (hash, key) in hashes.iter_mut().zip(&mut keys) {
                *hash = self.hasher.hash_key(&key);
                count += 1;
            }
            if count == 0 {
                return Ok(new);
            }
            new += self.raw.insert_batch(&hashes[..count])?;
        }
    }

    /// Looks many keys up, faster than one by one: while one is looked at, the memory of the next is on
    /// its way. The answers replace what is in `found`, which can be used again and again.
    pub fn contains_batch<K>(&self, keys: &[K], found: &mut Vec<bool>)
    where
        H: KeyHasher<K>,
    {
        found.clear();
        found.reserve(keys.len());
        let mut hashes = [KeyHash::from_u64(0); HASHED_AT_ONCE];
        for keys in keys.chunks(HASHED_AT_ONCE) {
            self.append_answers(self.hash_all(keys, &mut hashes), found);
        }
    }

    /// [`contains_batch`](Self::contains_batch) with one bit for each answer: that of key `i` is bit
    /// `i % 64` of the word `i / 64`. The words replace what is in `found`.
    ///
    /// ```
    /// use equibloom::AnyFilter;
    ///
    /// let mut filter = AnyFilter::builder().keys(1_000).rate(0.001).build()?;
    /// filter.insert_batch(&["alice", "bob"])?;
    /// let mut found = Vec::new();
    /// filter.contains_batch_bitmap(&["alice", "eve", "bob"], &mut found);
    /// assert_eq!(found, [0b101]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contains_batch_bitmap<K>(&self, keys: &[K], found: &mut Vec<u64>)
    where
        H: KeyHasher<K>,
    {
        found.clear();
        found.resize(keys.len().div_ceil(WORD), 0);
        let mut hashes = [KeyHash::from_u64(0); HASHED_AT_ONCE];
        for (keys, found) in
            keys.chunks(HASHED_AT_ONCE).zip(found.chunks_mut(HASHED_AT_ONCE / WORD))
        {
            self.raw.contains_batch(self.hash_all(keys, &mut hashes), found);
        }
    }

    /// [`insert_batch`](Self::insert_batch) by hashes that are known already.
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn insert_hashes(&mut self, hashes: &[KeyHash]) -> Result<u64, FullError> {
        self.raw.insert_batch(hashes)
    }

    /// [`insert_hashes`](Self::insert_hashes) by up to so many threads, one at least. The filter becomes the same, word
    /// by word, whatever their number.
    ///
    /// Kinds whose levels share no blocks (blocked, single, multi-level, also with fingerprints) are
    /// divided among threads, where they lie; beside them it takes some MiB. Into the others
    /// (classical, sequential, two-choice, one-plus-alpha) one thread inserts. The same for fewer than some
    /// thousand keys, and from where an overflow list runs out that may not grow.
    ///
    /// ```
    /// use equibloom::{AnyFilter, KeyHash};
    ///
    /// let mut filter = AnyFilter::builder().keys(10_000).rate(0.001).build()?;
    /// let hashes: Vec<KeyHash> = (0..10_000_u64).map(|key| filter.hash(&key)).collect();
    /// let mut by_one = filter.clone();
    /// assert_eq!(filter.insert_hashes_parallel(&hashes, 4)?, by_one.insert_hashes(&hashes)?);
    /// assert!(filter == by_one);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    #[cfg(feature = "std")]
    pub fn insert_hashes_parallel(
        &mut self,
        hashes: &[KeyHash],
        threads: usize,
    ) -> Result<u64, FullError> {
        self.raw.insert_parallel(hashes, threads)
    }

    /// [`contains_batch`](Self::contains_batch) by hashes that are known already.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut Vec<bool>) {
        found.clear();
        found.reserve(hashes.len());
        for hashes in hashes.chunks(HASHED_AT_ONCE) {
            self.append_answers(hashes, found);
        }
    }

    /// [`contains_batch_bitmap`](Self::contains_batch_bitmap) by hashes that are known already.
    pub fn contains_hashes_bitmap(&self, hashes: &[KeyHash], found: &mut Vec<u64>) {
        found.clear();
        found.resize(hashes.len().div_ceil(WORD), 0);
        self.raw.contains_batch(hashes, found);
    }

    fn hash_all<'a, K>(&self, keys: &[K], hashes: &'a mut [KeyHash]) -> &'a [KeyHash]
    where
        H: KeyHasher<K>,
    {
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = self.hasher.hash_key(key);
        }
        &hashes[..keys.len().min(hashes.len())]
    }

    /// Appends the answers for at most as many hashes as are made at once.
    fn append_answers(&self, hashes: &[KeyHash], found: &mut Vec<bool>) {
        let mut bits = [0; HASHED_AT_ONCE / WORD];
        self.raw.contains_batch(hashes, &mut bits);
        let answers = bits.iter().flat_map(|&word| (0..64).map(move |bit| word >> bit & 1 == 1));
        found.extend(answers.take(hashes.len()));
    }
}
