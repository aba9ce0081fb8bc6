//! Shared words for the model checker.

use alloc::vec::Vec;

use super::{AtomicU64, Box, Words, versions};

/// The model checker's atomics are larger than a word, so the words are copied.
pub(crate) struct SharedWords {
    words: Vec<AtomicU64>,
    pub(super) versions: Box<[AtomicU64]>,
}

impl SharedWords {
    pub(crate) fn new(words: Words, levels: usize) -> Self {
        let words = words.as_flattened().iter().copied().map(AtomicU64::new).collect();
        Self { words, versions: versions(levels) }
    }

    pub(crate) fn into_words(self) -> Words {
        let mut words = Words::zeroed(self.words.len() as u64).unwrap();
        for (word, mut atomic) in words.as_flattened_mut().iter_mut().zip(self.words) {
            *word = atomic.with_mut(|value| *value);
        }
        words
    }

    pub(crate) fn atomics(&self) -> &[AtomicU64] {
        &self.words
    }
}
