//! What one memory access sees: an array of blocks, each a small set of its own.
//!
//! Placements work on any [`BlockView`]; they ask for a block's load and know nothing of what a block
//! looks like inside. A [`BlockArray`] takes keys as well, and works by the instructions of whatever machine
//! it is run on. There are two: [`BloomBlocks`] of any size, which only ever set bits, and
//! [`FingerprintBlocks`] of one cache line, which store a short fingerprint of each key and can give it back.

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
use crate::memory::Words;
#[cfg(feature = "std")]
use crate::memory::{Divided, WORDS_PER_LINE};
use crate::placement::{Level, Probe, Routing};
use isa::{Isa, Nearness};

/// What can be told quickly of whether a block holds a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// It does not.
    No,
    /// It does.
    Yes,
    /// It may: to [settle](BlockArray::settle) it takes longer.
    Perhaps(ByteMatches),
}

/// What led to a "perhaps", for those who [look closely](BlockArray::look_closely): a word of the
/// array's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByteMatches(u64);

impl ByteMatches {
    /// Nothing that would help.
    pub(crate) const NONE: Self = Self(0);
}

impl Holds {
    /// "Yes" or "no".
    #[inline(always)]
    pub(crate) const fn exactly(it_does: bool) -> Self {
        if it_does { Self::Yes } else { Self::No }
    }

    #[inline(always)]
    pub(crate) const fn is_perhaps(self) -> bool {
        matches!(self, Self::Perhaps(_))
    }
}

/// An array of equal blocks, each of which stores keys and may answer "present" by mistake, never
/// "absent". Only the arrays of this crate implement it.
pub(crate) trait BlockArray: Clone + PartialEq + Send + Sync + sealed::Sealed {
    /// What its blocks are made from.
    type Shape: Copy;

    /// What leads a key from one block to the next.
    type Routing: Routing;

    /// Whether a block has only so many slots. The others take any number of keys, at the price of
    /// false positives.
    const HAS_SLOTS: bool;

    /// An array of `count` blocks over words that are there already, as many as it needs.
    fn over(shape: &Self::Shape, count: u64, words: Words) -> Self;

    /// The words it lies in.
    fn storage(&self) -> &Words;

    /// The words it lies in, to be changed.
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

    /// The key, less what the blocks cannot tell of it.
    #[inline(always)]
    fn reduce(&self, key: KeyHash) -> KeyHash {
        key
    }

    /// The patterns of as many keys [seen](Self::seen) as there is room for.
    #[inline(always)]
    fn reduce_all(&self, keys: &[KeyHash], patterns: &mut [u64]) {
        for (&key, pattern) in keys.iter().zip(patterns) {
            *pattern = self.reduce(key).pattern_word(0);
        }
    }

    /// Whether its blocks have the shape that most of them have. For such, code is compiled apart: see
    /// `Isa::COMMON`.
    fn is_common(&self) -> bool;

    /// Words of a block.
    fn words_per_block(&self) -> usize;

    /// So many blocks of the same shape, over these words.
    fn resized(&self, count: u64, words: Words) -> Self;

    /// Gives the blocks away in parts that begin with the first and with each of `cuts`, which ascend and are
    /// multiples of 64, so that parts begin on a cache line. The array has no words until they are united.
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

    /// How full a block is, in a unit of the array's own: more is fuller.
    fn load<I: Isa>(&self, isa: I, block: BlockIndex) -> u32;

    /// What can be told quickly of whether the block may hold the key.
    fn glance<I: Isa>(&self, isa: I, block: BlockIndex, key: KeyHash) -> Holds;

    /// What can be told a little later, if a glance has left such a clue.
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

    /// A glance, and a closer look if need be.
    #[inline(always)]
    fn look_at<I: Isa>(&self, isa: I, block: BlockIndex, key: KeyHash) -> Holds {
        match self.glance(isa, block, key) {
            Holds::Perhaps(matches) => self.look_closely(isa, block, key, matches),
            told => told,
        }
    }

    /// Whether the block may hold a key of which a glance says "perhaps".
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

    /// Whether its blocks give hints.
    fn gives_hints(&self) -> bool;

    /// Whether the block may have turned away a key that goes on from here like this one; `None` if
    /// its blocks give no hints.
    fn hint_is_set<I: Isa>(&self, isa: I, probe: Probe) -> Option<bool>;

    /// Asks for the block's memory: it will be needed soon.
    fn prefetch(&self, block: BlockIndex, nearness: Nearness);

    /// Puts the key into the block and counts it. A block with slots must have a free one.
    fn add<I: Isa>(&mut self, isa: I, block: BlockIndex, key: KeyHash);

    /// Notes that the block at this stop turned a key away.
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

    /// What the blocks of a level look like, one after the other.
    fn block_stats(&self, level: Level) -> impl Iterator<Item = BlockStats>;
}

/// An array of blocks as a rule sees it, on a machine.
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
