//! A block as eight words, for shared filters, which access the words atomically.
//!
//! **The lock.** The unary code has a zero for every list and at most as many ones as there are slots. Its
//! last bit is therefore the zero of the last list, or unused: never a one. It serves as a lock.

use core::ops::Range;

use super::pocket;
use super::shape::Fingerprint;
use super::{FingerprintBlocks, Line};
use crate::block::isa::{Isa, Portable};
use crate::hashing::KeyHash;
use crate::placement::Probe;
use crate::storage::WORDS_PER_LINE;

impl FingerprintBlocks {
    /// The words of a block that contain parts of the code.
    #[inline(always)]
    pub(crate) fn code_words(&self) -> Range<usize> {
        let code = &self.shape.code;
        (code.start / 64) as usize..code.end.div_ceil(64) as usize
    }

    /// Number of ones of the code in this word of a block.
    #[inline(always)]
    pub(crate) fn ones_of_code(&self, word: usize, value: u64) -> u32 {
        (value & self.shape.code.mask[word % WORDS_PER_LINE]).count_ones()
    }

    /// Word and bit of a block's lock: the last bit of its code. The word is the last of the code.
    #[inline(always)]
    pub(crate) fn lock(&self) -> (usize, u64) {
        let last = self.shape.code.end.saturating_sub(1);
        ((last / 64) as usize % 8, 1 << (last % 64))
    }

    /// Number of keys in a block.
    #[inline(always)]
    pub(crate) fn load_of(&self, line: &Line) -> u32 {
        pocket::load(Portable, &self.shape, line)
    }

    /// Whether a block holds the key.
    #[inline(always)]
    pub(crate) fn is_in<I: Isa>(&self, isa: I, line: &Line, key: KeyHash) -> bool {
        pocket::contains(isa, &self.shape, line, Fingerprint::of(key))
    }

    /// Adds the key to a block with a free slot.
    #[inline(always)]
    pub(crate) fn add_to<I: Isa>(&self, isa: I, line: &mut Line, key: KeyHash) {
        pocket::insert(isa, &self.shape, line, Fingerprint::of(key));
    }

    /// The bit of the probe's hint in a block's first word; `None` if blocks have no hints.
    #[inline(always)]
    pub(crate) fn hint(&self, probe: Probe) -> Option<u64> {
        let hints = self.shape.hints;
        (hints.count() > 0).then(|| 1 << hints.bit_of(probe.hint))
    }

    /// Unlocks every block. Only a damaged file has locked blocks: keys never write to the lock.
    pub(crate) fn unlock_all(&mut self) {
        let (word, lock) = self.lock();
        for line in 0..self.count as usize {
            if self.words.line(line)[word] & lock != 0 {
                self.words.line_mut(line)[word] &= !lock;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::block::FingerprintShape;
    use crate::block::{BlockArray, BlockIndex};

    proptest! {
        #[test]
        fn keys_never_write_to_the_lock(
            slots in 1_u32..40, lists in 1_u32..100, hints in 0_u32..=64, keys: Vec<u64>,
        ) {
            let shape = FingerprintShape { slots, lists, remainder_bits: 6, hints };
            let mut blocks = FingerprintBlocks::allocate(&shape, 1);
            let (word, lock) = blocks.lock();
            prop_assert_eq!(word, blocks.code_words().end - 1);
            // As many as there are slots, most of them in the last list.
            let last_list = (0..slots).map(|key| u64::MAX - u64::from(key));
            for key in keys.into_iter().chain(last_list).take(slots as usize) {
                let key = blocks.reduce(KeyHash::from(u128::from(key)));
                blocks.add(Portable, BlockIndex(0), key);
                prop_assert_eq!(blocks.storage().line(0)[word] & lock, 0);
            }
            prop_assert_eq!(blocks.load(Portable, BlockIndex(0)), slots);
        }
    }
}
