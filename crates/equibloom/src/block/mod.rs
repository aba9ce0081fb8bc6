//! Arrays of blocks. A block is a small set, read by one memory access.
//!
//! Rules work on any [`BlockView`] and see a block's load, not its format. A [`BlockArray`] also stores
//! keys, and is generic over the ISA. There are two: [`BloomBlocks`] of any size, which only set bits, and
//! [`FingerprintBlocks`] of one cache line, which store a short fingerprint of each key and can remove it.

mod bloom;
mod fields;
mod fingerprint;
mod hints;
pub(crate) mod isa;
pub(crate) mod occupancy;
mod pattern;
mod stats;

pub(crate) use bloom::{BloomBlocks, BloomShape};
pub(crate) use equibloom_layout::placement::{BlockIndex, BlockView};
pub(crate) use fingerprint::{FingerprintBlocks, FingerprintShape};
pub(crate) use stats::BlockStats;

use alloc::boxed::Box;
#[cfg(feature = "std")]
use alloc::vec::Vec;

use crate::hashing::KeyHash;
use crate::placement::{Level, Probe, Routing};
use crate::storage::Words;
#[cfg(feature = "std")]
use crate::storage::{Divided, WORDS_PER_LINE};
use isa::{Isa, Nearness};

/// The result of a quick membership test of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// The block does not hold the key.
    No,
    /// The block holds the key, or a key indistinguishable from it.
    Yes,
    /// Unknown: [`BlockArray::settle`] decides, more slowly.
    Perhaps(ByteMatches),
}

/// Intermediate result of a quick test, for [`BlockArray::look_closely`]: in fingerprint blocks, bit i is
/// set if byte i of the line is a slot's and equals the fingerprint's low byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByteMatches(u64);

impl ByteMatches {
    /// No intermediate result.
    pub(crate) const NONE: Self = Self(0);
}

impl Holds {
    /// A definite result.
    #[inline(always)]
    pub(crate) const fn exactly(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    #[inline(always)]
    pub(crate) const fn is_perhaps(self) -> bool {
        matches!(self, Self::Perhaps(_))
    }
}

/// An array of equal blocks, each of which stores keys, with false positives but no false negatives. Only
/// the arrays of this crate implement it.
pub(crate) trait BlockArray: Clone + PartialEq + Send + Sync + sealed::Sealed {
    /// The description of a block.
    type Shape: Copy;

    /// How a key's next candidate is derived.
    type Routing: Routing;

    /// Whether a block has a fixed number of slots. Other blocks accept any number of keys, at the price of
    /// false positives.
    const HAS_SLOTS: bool;

    /// An array of `count` blocks over existing words, whose number must match.
    fn over(shape: &Self::Shape, count: u64, words: Words) -> Self;

    /// The words of the blocks.
    fn storage(&self) -> &Words;

    /// Mutable access to the words of the blocks.
    fn storage_mut(&mut self) -> &mut Words;

    /// An empty array.
    #[cfg(test)]
    fn allocate(shape: &Self::Shape, count: u64) -> Self {
        let empty = Self::over(shape, count, Words::none());
        let words = Words::zeroed(count * empty.words_per_block() as u64).unwrap();
        Self::over(shape, count, words)
    }

    /// Number of blocks.
    fn count(&self) -> u64;

    /// Keeps only the part of the hash that a block stores.
    #[inline(always)]
    fn reduce(&self, key: KeyHash) -> KeyHash {
        key
    }

    /// Fills `patterns` with the patterns of [reduced](Self::reduce) keys.
    #[inline(always)]
    fn reduce_all(&self, keys: &[KeyHash], patterns: &mut [u64]) {
        for (&key, pattern) in keys.iter().zip(patterns) {
            *pattern = self.reduce(key).pattern_word(0);
        }
    }

    /// Whether the blocks have the common shape, for which specialised code is compiled: see `Isa::COMMON`.
    fn is_common(&self) -> bool;

    /// Words of a block.
    fn words_per_block(&self) -> usize;

    /// An array of `count` blocks of the same shape over these words.
    fn resized(&self, count: u64, words: Words) -> Self;

    /// Moves the blocks into parts that begin with the first block and with each of `cuts`, ascending
    /// multiples of 64, so that parts begin on a cache line. The array is empty until the parts are
    /// reunited.
    #[cfg(feature = "std")]
    fn divide(&mut self, cuts: &[u64]) -> (Divided, Vec<Self>) {
        let words = core::mem::replace(self.storage_mut(), Words::none());
        let line_of = |&block: &u64| block as usize * self.words_per_block() / WORDS_PER_LINE;
        let (divided, parts) = words.divide(cuts.iter().map(line_of));
        let starts = [0].iter().chain(cuts);
        let ends = cuts.iter().copied().chain([self.count()]);
        let counts = starts.zip(ends).map(|(start, end)| end.saturating_sub(*start));
        (divided, parts.into_iter().zip(counts).map(|(words, n)| self.resized(n, words)).collect())
    }

    /// The load of a block, in a unit chosen by the array.
    fn load<I: Isa>(&self, isa: I, block: BlockIndex) -> u32;

    /// Quick test whether the block holds the key.
    fn glance<I: Isa>(&self, isa: I, block: BlockIndex, key: KeyHash) -> Holds;

    /// Slower test after an undecided [`glance`](Self::glance), from its byte matches.
    #[inline(always)]
    fn look_closely<I: Isa>(
        &self,
        _isa: I,
        _block: BlockIndex,
        _key: KeyHash,
        matches: ByteMatches,
    ) -> Holds {
        Holds::Perhaps(matches)
    }

    /// A [`glance`](Self::glance), followed by a closer look if undecided.
    #[inline(always)]
    fn look_at<I: Isa>(&self, isa: I, block: BlockIndex, key: KeyHash) -> Holds {
        match self.glance(isa, block, key) {
            Holds::Perhaps(matches) => self.look_closely(isa, block, key, matches),
            decided => decided,
        }
    }

    /// Decides an undecided [`glance`](Self::glance).
    fn settle<I: Isa>(&self, isa: I, block: BlockIndex, key: KeyHash) -> bool;

    /// Whether the block may hold the key.
    #[inline(always)]
    fn test<I: Isa>(&self, isa: I, block: BlockIndex, key: KeyHash) -> bool {
        match self.look_at(isa, block, key) {
            Holds::No => false,
            Holds::Yes => true,
            Holds::Perhaps(_) => self.settle(isa, block, key),
        }
    }

    /// Whether the blocks have hints.
    fn has_hints(&self) -> bool;

    /// Whether the hint of this probe is set; `None` if the blocks have no hints.
    fn hint_is_set<I: Isa>(&self, isa: I, probe: Probe) -> Option<bool>;

    /// Prefetches the block.
    fn prefetch(&self, block: BlockIndex, nearness: Nearness);

    /// Adds the key to the block and counts it. A block with slots must have a free one.
    fn add<I: Isa>(&mut self, isa: I, block: BlockIndex, key: KeyHash);

    /// Sets the hint of this probe, after its block rejected a key.
    fn set_hint(&mut self, probe: Probe);

    /// Empties every block.
    fn clear(&mut self) {
        self.storage_mut().fill_with_zeros();
    }

    /// Bytes of the array, padding included.
    fn bytes(&self) -> u64 {
        self.storage().bytes()
    }

    /// Every word of the array in order.
    fn words(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        Box::new(self.storage().iter())
    }

    /// Statistics of the blocks of a level, in order.
    fn block_stats(&self, level: Level) -> impl Iterator<Item = BlockStats>;
}

/// A block array as a [`BlockView`], with the ISA to use.
pub(crate) struct On<'a, B, I> {
    pub(crate) blocks: &'a B,
    pub(crate) isa: I,
}

impl<B: BlockArray, I: Isa> BlockView for On<'_, B, I> {
    #[inline(always)]
    fn load(&self, block: BlockIndex) -> u32 {
        self.blocks.load(self.isa, block)
    }

    #[inline(always)]
    fn test(&self, block: BlockIndex, key: KeyHash) -> bool {
        self.blocks.test(self.isa, block, key)
    }

    #[inline(always)]
    fn hint_is_set(&self, probe: Probe) -> Option<bool> {
        self.blocks.hint_is_set(self.isa, probe)
    }
}

mod sealed {
    pub(crate) trait Sealed {}
    impl Sealed for super::BloomBlocks {}
    impl Sealed for super::FingerprintBlocks {}
}
