//! The candidates of every key, as a short list of block ranges.

use core::hint::black_box;
use core::ops::RangeInclusive;

use super::BlockIndex;
use crate::candidates::Candidates;
use crate::check::MAX_CHOICES;
use crate::hash::{KeyHash, scale, scale_in_halves};
use crate::share::Share;

/// A range of blocks that contains one candidate of each key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// First block.
    pub offset: u64,
    /// Number of blocks.
    pub size: u64,
}

impl Level {
    /// The block selected by a uniform word.
    #[inline(always)]
    pub const fn block_of(self, word: u64) -> BlockIndex {
        BlockIndex(self.offset + scale(word, self.size))
    }

    /// The same for the first level, which begins with the first block.
    #[inline(always)]
    pub const fn first_block_of(self, word: u64) -> BlockIndex {
        BlockIndex(scale(word, self.size))
    }

    /// The words that select one of `count` blocks, at least one, from `first` on.
    pub fn words_of(self, first: u64, count: u64) -> RangeInclusive<u64> {
        let size = u128::from(self.size.max(1));
        let start_of = |block: u64| (u128::from(block - self.offset) << 64).div_ceil(size);
        start_of(first) as u64..=(start_of(first + count) - 1) as u64
    }

    /// Fills `blocks` with the blocks of these words.
    #[inline(always)]
    pub fn blocks_of(self, words: impl Iterator<Item = u64>, blocks: &mut [BlockIndex]) {
        if let Ok(size) = u32::try_from(self.size) {
            // Hides the origin of the number, so that the compiler vectorises the loop.
            let size = black_box(size);
            for (block, word) in blocks.iter_mut().zip(words) {
                block.0 = self.offset + scale_in_halves(word, size);
            }
        } else {
            for (block, word) in blocks.iter_mut().zip(words) {
                *block = self.block_of(word);
            }
        }
    }
}

/// One candidate of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// The block.
    pub block: BlockIndex,
    /// Sixteen uniform bits that select the key's hint in this block.
    pub hint: u64,
    /// A uniform word that selects the next block.
    pub onward: u64,
}

impl Probe {
    /// The probe at `block`, the candidate numbered `number`.
    #[inline(always)]
    pub const fn at(number: usize, key: KeyHash, block: BlockIndex) -> Self {
        let onward = key.candidate(number + 1);
        Self { block, hint: onward & 0xffff, onward }
    }
}

/// The candidates of every key: one block in each level, tried in order. All levels are the same range
/// (candidates anywhere), or they are disjoint (subtables). A share of the keys can be confined to the
/// first level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Levels {
    // Inline, not a vector: the hot path reads it on every probe.
    levels: [Level; MAX_CHOICES as usize],
    count: usize,
    beyond_the_first: Share,
}

impl Levels {
    /// The levels of checked candidates.
    pub fn new(candidates: &Candidates) -> Self {
        let mut levels = [Level { offset: 0, size: 0 }; MAX_CHOICES as usize];
        let count = candidates.choices().min(MAX_CHOICES) as usize;
        let beyond_the_first = match candidates {
            Candidates::Anywhere { blocks, share, .. } => {
                levels[..count].fill(Level { offset: 0, size: *blocks });
                *share
            }
            Candidates::Subtables { sizes } => {
                let mut offset = 0;
                for (level, &size) in levels.iter_mut().zip(sizes.iter()) {
                    *level = Level { offset, size };
                    offset += size;
                }
                Share::ALL
            }
        };
        Self { levels, count, beyond_the_first }
    }

    /// The levels in probing order.
    pub fn as_slice(&self) -> &[Level] {
        &self.levels[..self.count]
    }

    /// Whether every key has just one candidate.
    #[inline(always)]
    pub const fn are_one(&self) -> bool {
        self.count == 1
    }

    /// The level of the probe numbered `number`, which must exist. The modulo removes the bounds check.
    #[inline(always)]
    pub fn level(&self, number: usize) -> Level {
        self.levels[number % self.levels.len()]
    }

    /// Share of keys that have more than one candidate.
    pub fn share_beyond_the_first(&self) -> f64 {
        self.beyond_the_first.get()
    }

    /// Number of candidates of the key.
    #[inline]
    pub fn choices(&self, key: KeyHash) -> usize {
        if self.beyond_the_first.is_all() || self.beyond_the_first.takes(key.second_choice()) {
            self.count
        } else {
            1
        }
    }

    /// The key's candidates in order.
    #[inline(always)]
    pub fn walk(&self, key: KeyHash) -> impl Iterator<Item = Probe> + Clone {
        let mut word = key.candidate(0);
        self.levels[..self.choices(key)].iter().enumerate().map(move |(number, level)| {
            let probe = Probe::at(number, key, level.block_of(word));
            word = probe.onward;
            probe
        })
    }

    /// The key's first candidate.
    #[inline(always)]
    pub fn first_block(&self, key: KeyHash) -> BlockIndex {
        self.levels[0].first_block_of(key.candidate(0))
    }

    /// Fills `blocks` with the first candidates of these keys.
    #[inline(always)]
    pub fn first_blocks(&self, keys: &[KeyHash], blocks: &mut [BlockIndex]) {
        self.levels[0].blocks_of(keys.iter().map(|key| key.candidate(0)), blocks);
    }

    /// The key's candidate numbered `number`.
    #[inline]
    pub fn block(&self, key: KeyHash, number: usize) -> BlockIndex {
        self.levels[number].block_of(key.candidate(number))
    }
}

#[cfg(test)]
mod tests;
