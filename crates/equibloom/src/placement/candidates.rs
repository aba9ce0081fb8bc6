//! The blocks a key may live in, as a short list of ranges.

use core::hint::black_box;
use core::marker::PhantomData;

use super::Coin;
use crate::block::BlockIndex;
use crate::hashing::{KeyHash, scale, scale_in_halves};
use crate::parameters::MAX_CHOICES;

/// A range of blocks, one of which is a candidate of each key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// First block.
    pub offset: u64,
    /// Number of blocks.
    pub size: u64,
}

impl Level {
    /// The block that a uniform word leads to.
    #[inline(always)]
    pub(crate) const fn block_of(self, word: u64) -> BlockIndex {
        BlockIndex(self.offset + scale(word, self.size))
    }

    /// The blocks of as many words as there is room for.
    #[inline(always)]
    pub(crate) fn blocks_of(self, words: impl Iterator<Item = u64>, blocks: &mut [BlockIndex]) {
        if let Ok(size) = u32::try_from(self.size) {
            // The compiler forgets that it is so small if it knows where it comes from.
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

/// Where a walk over the candidates stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// The block.
    pub block: BlockIndex,
    /// Sixteen uniform bits that choose the hint which the block gives to those who come later.
    pub mark: u64,
    /// A uniform word that leads on from it to the next block.
    pub onward: u64,
}

/// What a key's way depends on. Only the ones of this crate implement it.
pub trait Lead: Copy + core::fmt::Debug + Eq + Send + Sync + sealed::Sealed {
    /// Whether a share of the keys can be confined to the first candidate.
    const CONFINES: bool;

    /// Where a walk stands that came to `block` of the level numbered `probe`.
    fn stop_at(probe: usize, key: KeyHash, block: BlockIndex) -> Stop;

    /// What stands for a key in the overflow list.
    fn overflow_entry(candidates: &Candidates<Self>, key: KeyHash) -> u64;
}

/// The key's hash leads: every candidate is independent of the ones before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByHash;

impl Lead for ByHash {
    const CONFINES: bool = true;

    #[inline(always)]
    fn stop_at(probe: usize, key: KeyHash, block: BlockIndex) -> Stop {
        let onward = key.candidate(probe + 1);
        Stop { block, mark: onward & 0xffff, onward }
    }

    fn overflow_entry(_candidates: &Candidates<Self>, key: KeyHash) -> u64 {
        key.overflow_entry()
    }
}

/// The block that the key stands at and its fingerprint lead: all that is known of a key once it is stored,
/// so that a stored key can be sent on as well as a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByFingerprint;

impl Lead for ByFingerprint {
    const CONFINES: bool = false;

    #[inline(always)]
    fn stop_at(_probe: usize, key: KeyHash, block: BlockIndex) -> Stop {
        Stop { block, mark: key.mark_at(block.0), onward: key.onward_from(block.0) }
    }

    /// Where a walk over all candidates leads to.
    fn overflow_entry(candidates: &Candidates<Self>, key: KeyHash) -> u64 {
        candidates.walk(key).last().map_or(0, |stop| stop.onward)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::ByHash {}
    impl Sealed for super::ByFingerprint {}
}

/// The candidates of every key: one block in each level, tried in order. Levels may be the same
/// range (candidates anywhere) or disjoint (subtables). A share of the keys can be confined to the
/// first level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidates<L = ByHash> {
    // Inline and not a vector: the hot path reads it on every probe.
    levels: [Level; MAX_CHOICES as usize],
    count: usize,
    beyond_the_first: Coin,
    lead: PhantomData<L>,
}

impl Candidates<ByHash> {
    /// One candidate anywhere among `blocks`, and a second one for a share `alpha` of the keys.
    pub(crate) fn one_or_two(blocks: u64, alpha: f64) -> Self {
        let level = Level { offset: 0, size: blocks };
        Self::from_levels([level, level], alpha)
    }
}

impl<L: Lead> Candidates<L> {
    /// `choices` candidates anywhere among `blocks`; at most [`MAX_CHOICES`].
    pub(crate) fn anywhere(blocks: u64, choices: u32) -> Self {
        let level = Level { offset: 0, size: blocks };
        Self::from_levels((0..choices).map(|_| level), 1.0)
    }

    /// One candidate in each of these consecutive subtables; at most [`MAX_CHOICES`].
    pub(crate) fn in_subtables(sizes: &[u64]) -> Self {
        let mut offset = 0;
        let levels = sizes.iter().map(|&size| {
            let level = Level { offset, size };
            offset += size;
            level
        });
        Self::from_levels(levels, 1.0)
    }

    fn from_levels(levels: impl IntoIterator<Item = Level>, beyond_the_first: f64) -> Self {
        let mut list = [Level { offset: 0, size: 0 }; MAX_CHOICES as usize];
        let mut count = 0;
        for (slot, level) in list.iter_mut().zip(levels) {
            *slot = level;
            count += 1;
        }
        let beyond_the_first = Coin::new(beyond_the_first);
        Self { levels: list, count, beyond_the_first, lead: PhantomData }
    }

    /// The levels in the order they are tried.
    pub fn levels(&self) -> &[Level] {
        &self.levels[..self.count]
    }

    /// Whether every key has just one.
    #[inline(always)]
    pub(crate) const fn are_one(&self) -> bool {
        self.count == 1
    }

    /// The level of the candidate tried at `probe`, of those that there are.
    #[inline(always)]
    pub(crate) fn level(&self, probe: usize) -> Level {
        self.levels[probe % self.levels.len()]
    }

    /// Share of keys that have more than one candidate.
    pub(crate) fn share_beyond_the_first(&self) -> f64 {
        self.beyond_the_first.probability()
    }

    /// How many candidates the key has.
    #[inline]
    pub fn choices(&self, key: KeyHash) -> usize {
        if !L::CONFINES
            || self.beyond_the_first.always_says_yes()
            || self.beyond_the_first.says_yes(key.second_choice())
        {
            self.count
        } else {
            1
        }
    }

    /// The key's candidates in order.
    #[inline(always)]
    pub fn walk(&self, key: KeyHash) -> impl Iterator<Item = Stop> + Clone {
        let mut word = key.candidate(0);
        self.levels[..self.choices(key)].iter().enumerate().map(move |(probe, level)| {
            let stop = self.stop(*level, probe, key, word);
            word = stop.onward;
            stop
        })
    }

    /// Where a walk stands that came to `block` of the level numbered `probe`.
    #[inline(always)]
    pub(crate) fn stop_at(&self, probe: usize, key: KeyHash, block: BlockIndex) -> Stop {
        L::stop_at(probe, key, block)
    }

    /// The key's first candidate.
    #[inline(always)]
    pub(crate) fn first_block(&self, key: KeyHash) -> BlockIndex {
        // The first level begins with the first block.
        BlockIndex(scale(key.candidate(0), self.levels[0].size))
    }

    /// The first candidates of as many keys as there is room for.
    #[inline(always)]
    pub(crate) fn first_blocks(&self, keys: &[KeyHash], blocks: &mut [BlockIndex]) {
        self.levels[0].blocks_of(keys.iter().map(|key| key.candidate(0)), blocks);
    }

    /// The rest of a walk that stands at `block` of the level numbered `probe`, that block included.
    pub(crate) fn walk_from(
        &self,
        probe: usize,
        block: BlockIndex,
        key: KeyHash,
    ) -> impl Iterator<Item = Stop> {
        let here = self.stop_at(probe, key, block);
        let mut word = here.onward;
        let rest = self.levels[probe + 1..self.count].iter().enumerate();
        core::iter::once(here).chain(rest.map(move |(further, level)| {
            let stop = self.stop(*level, probe + 1 + further, key, word);
            word = stop.onward;
            stop
        }))
    }

    #[inline(always)]
    fn stop(&self, level: Level, probe: usize, key: KeyHash, word: u64) -> Stop {
        self.stop_at(probe, key, level.block_of(word))
    }

    /// What stands for the key in the overflow list.
    pub(crate) fn overflow_entry(&self, key: KeyHash) -> u64 {
        L::overflow_entry(self, key)
    }

    /// The key's candidate at `probe`, counted from 0, of candidates that are independent.
    #[inline]
    pub fn block(&self, key: KeyHash, probe: usize) -> BlockIndex {
        self.levels[probe].block_of(key.candidate(probe))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn candidates_stay_inside_their_subtables() {
        let candidates = <Candidates>::in_subtables(&[5, 3, 1]);
        for key in (0..1_000).map(KeyHash::from_u64) {
            assert_eq!(candidates.choices(key), 3);
            assert!((0..5).contains(&candidates.block(key, 0).0));
            assert!((5..8).contains(&candidates.block(key, 1).0));
            assert_eq!(candidates.block(key, 2).0, 8);
        }
    }

    #[test]
    fn many_first_blocks_are_those_of_each_key() {
        let keys: Vec<KeyHash> = (0..100).map(KeyHash::from_u64).collect();
        for blocks in [1, 1_000_003, u64::from(u32::MAX), 1 << 32, 1_000_000_000_000] {
            let candidates = <Candidates>::anywhere(blocks, 2);
            let mut found = [BlockIndex(0); 100];
            candidates.first_blocks(&keys, &mut found);
            let expected = keys.iter().map(|&key| candidates.first_block(key));
            assert!(found.into_iter().eq(expected), "{blocks}");
        }
    }

    /// Ten thousand keys over 10¹² blocks: computed, not allocated. If indices were cut to 32 bits
    /// they would all lie in the first half per cent.
    #[test]
    fn block_indices_spread_beyond_2_to_the_32() {
        let blocks = 1_000_000_000_000_u64;
        let candidates = <Candidates>::anywhere(blocks, 3);
        for probe in 0..3 {
            let indices = (0..10_000).map(|key| candidates.block(KeyHash::from_u64(key), probe).0);
            let mean = indices.clone().map(|i| i as f64).sum::<f64>() / 10_000.0 / blocks as f64;
            assert!((mean - 0.5).abs() < 4.0 * (1.0_f64 / 12.0 / 10_000.0).sqrt(), "{mean}");
            let odd = indices.filter(|i| i % 2 == 1).count() as f64;
            assert!((odd / 10_000.0 - 0.5).abs() < 4.0 * 0.005);
        }
    }

    #[test]
    fn a_share_alpha_of_the_keys_has_a_second_choice() {
        let candidates = <Candidates>::one_or_two(100, 0.3);
        let keys = 100_000;
        let two =
            (0..keys).filter(|&key| candidates.choices(KeyHash::from_u64(key)) == 2).count() as f64;
        assert!((two / keys as f64 - 0.3).abs() < 4.0 * (0.3 * 0.7 / keys as f64).sqrt());
    }
}
