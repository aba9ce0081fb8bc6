//! Words shared by many threads.
//!
//! The same memory viewed as atomic words while it is shared: conversions copy nothing, and no plain
//! reference to a word exists meanwhile.

#[cfg(all(test, loom))]
use alloc::vec::Vec;

use super::{WORDS_PER_LINE, Words};
use crate::raw::shared::sync::AtomicU64;

/// Words with atomic access only.
#[cfg(not(all(test, loom)))]
pub(crate) struct SharedWords(Words);

#[cfg(not(all(test, loom)))]
impl SharedWords {
    /// Shares words. Mapped words, which must not be written, are copied.
    pub(crate) fn new(mut words: Words) -> Self {
        // Copies mapped words.
        words.lines_mut();
        Self(words)
    }

    /// Converts back into plain words.
    pub(crate) fn into_words(self) -> Words {
        self.0
    }

    /// All words, including the padding of the last line.
    #[inline(always)]
    pub(crate) fn atomics(&self) -> &[AtomicU64] {
        let Words { start, count, .. } = &self.0;
        // SAFETY: the invariant of `Words`; an atomic word has the size of a word and at most the alignment
        // of a line. The words are not mapped (see `new`), so that they may be written, and only this array
        // uses them, as atomics.
        unsafe { core::slice::from_raw_parts(start.as_ptr().cast(), count * WORDS_PER_LINE) }
    }
}

/// The model checker's atomics are larger than a word, so the words are copied.
#[cfg(all(test, loom))]
pub(crate) struct SharedWords(Vec<AtomicU64>);

#[cfg(all(test, loom))]
impl SharedWords {
    pub(crate) fn new(words: Words) -> Self {
        Self(words.iter().map(AtomicU64::new).collect())
    }

    pub(crate) fn into_words(self) -> Words {
        let mut words = Words::zeroed(self.0.len() as u64).unwrap();
        for (word, mut atomic) in words.words_mut().iter_mut().zip(self.0) {
            *word = atomic.with_mut(|value| *value);
        }
        words
    }

    pub(crate) fn atomics(&self) -> &[AtomicU64] {
        &self.0
    }
}

impl SharedWords {
    /// The word at `index`.
    #[inline(always)]
    pub(crate) fn word(&self, index: usize) -> &AtomicU64 {
        &self.atomics()[index]
    }

    /// Eight words at once.
    #[inline(always)]
    pub(crate) fn line(&self, line: usize) -> &[AtomicU64; WORDS_PER_LINE] {
        &self.atomics().as_chunks().0[line]
    }
}
