//! Bloom's filter of 1970, shared: bits are set atomically, and that is all.

use super::SharedRaw;
use super::tally::Tally;
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::raw::{Classical, Insertion};
use crate::storage::sync::Ordering::Relaxed;
use crate::storage::{SharedWords, Words};

/// [`Classical`] for many threads.
pub(crate) struct SharedClassical {
    /// The filter without its words.
    plan: Classical,
    words: SharedWords,
    tally: Tally,
}

impl SharedClassical {
    pub(super) fn new(mut filter: Classical) -> Self {
        let words = core::mem::replace(&mut filter.array, Words::none());
        Self { plan: filter, words: SharedWords::new(words), tally: Tally::new() }
    }

    pub(super) fn into_filter(self) -> Classical {
        let elements = self.elements();
        Classical { array: self.words.into_words(), elements, ..self.plan }
    }

    /// Word and bit of the key's `index`-th position.
    #[inline]
    fn place(&self, key: KeyHash, index: u32) -> (usize, u64) {
        let (word, bit) = Classical::position(self.plan.bits, key, index);
        (word, 1 << bit)
    }
}

impl SharedRaw for SharedClassical {
    #[inline]
    fn insert(&self, key: KeyHash) -> Result<Insertion, FullError> {
        let mut is_new = false;
        for index in 0..self.plan.hashes {
            let (word, bit) = self.place(key, index);
            let word = self.words.word(word);
            // A write would invalidate the line in all other caches.
            if word.load(Relaxed) & bit == 0 {
                is_new |= word.fetch_or(bit, Relaxed) & bit == 0;
            }
        }
        if !is_new {
            return Ok(Insertion::AlreadyPresent);
        }
        self.tally.count(0);
        Ok(Insertion::New)
    }

    #[inline]
    fn contains(&self, key: KeyHash) -> bool {
        (0..self.plan.hashes).all(|index| {
            let (word, bit) = self.place(key, index);
            self.words.word(word).load(Relaxed) & bit != 0
        })
    }

    fn insert_batch(&self, keys: &[KeyHash]) -> Result<u64, FullError> {
        keys.iter().try_fold(0, |new, &key| Ok(new + u64::from(self.insert(key)?.is_new())))
    }

    fn contains_batch(&self, keys: &[KeyHash], answer: &mut dyn FnMut(bool)) {
        keys.iter().for_each(|&key| answer(self.contains(key)));
    }

    fn elements(&self) -> u64 {
        self.plan.elements.saturating_add(self.tally.elements())
    }
}
