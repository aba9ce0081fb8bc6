//! What a bucket's header keeps of a key.

use core::num::NonZeroU8;

use crate::hashing::KeyHash;

/// A key's tag, and the class it is counted in where it passes by. Both come from the half of the hash that
/// does not choose the buckets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) tag: NonZeroU8,
    word: u64,
}

impl Mark {
    #[inline]
    pub(crate) fn of(key: KeyHash) -> Self {
        let word = key.pattern_word(0);
        // 0 marks free slots, so the tag 1 stands for two values.
        Self { tag: NonZeroU8::new((word >> 56) as u8).unwrap_or(NonZeroU8::MIN), word }
    }

    /// The key's class among `classes`.
    #[inline]
    pub(crate) fn class(&self, classes: usize) -> usize {
        ((u64::from(self.word as u32) * classes as u64) >> 32) as usize
    }
}
