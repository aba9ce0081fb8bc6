//! Ranges of hash words that map to ranges of blocks.

use core::ops::Range;

use super::pending::WORD;
use crate::hashing::KeyHash;
use crate::placement::Level;

/// The words that map to a range of blocks. Larger words map to later blocks, so they are contiguous: one
/// comparison recognises them, where computing the block takes a multiplication.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordRange {
    first: u64,
    /// Distance from the first word to the last.
    span: u64,
}

impl WordRange {
    /// The words of these blocks of a level, if there are any.
    pub(super) fn to(level: Level, blocks: Range<u64>) -> Option<Self> {
        let place =
            |block: u64| block.clamp(level.offset, level.offset + level.size) - level.offset;
        // The range of the last block ends at 2⁶⁴.
        let first_to = |place: u64| (u128::from(place) << 64).div_ceil(u128::from(level.size));
        let (start, end) = (place(blocks.start), place(blocks.end));
        (start < end).then(|| {
            let (first, behind) = (first_to(start), first_to(end));
            Self { first: first as u64, span: (behind - 1 - first) as u64 }
        })
    }

    /// Which of up to 64 keys have their first block in the range, one bit for each.
    #[inline(always)]
    pub(super) fn among(self, keys: &[KeyHash]) -> u64 {
        let bits = |keys: &[KeyHash]| {
            let leads = |key: &KeyHash| u64::from(self.contain(key.candidate(0)));
            keys.iter().enumerate().fold(0, |bits, (index, key)| bits | leads(key) << index)
        };
        match keys.first_chunk::<WORD>() {
            // The compiler vectorises a loop of constant length.
            Some(keys) => bits(keys),
            None => bits(keys),
        }
    }

    #[inline(always)]
    pub(super) fn contain(self, word: u64) -> bool {
        word.wrapping_sub(self.first) <= self.span
    }
}

#[cfg(test)]
mod tests;
