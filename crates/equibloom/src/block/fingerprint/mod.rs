//! Blocks of one cache line that store a fingerprint of each key.
//!
//! A block for 33 remainders of 12 bits in 59 lists, with 24 hints:
//!
//! ```text
//!  bit 0     24                   116                                      248                512
//! ┌─────────┬────────────────────┬────────────────────────────────────────┬────────────────────┐
//! │ hints   │ unary code         │ high bits                              │ bytes              │
//! │ 24      │ 59 lists, 33 slots │ bits 8 … 11 of each remainder          │ bits 0 … 7 of      │
//! │         │ 1101000100…        │                                        │ each remainder     │
//! └─────────┴────────────────────┴────────────────────────────────────────┴────────────────────┘
//! ```
//!
//! An absent key finds its fingerprint in a block of `n` with probability n/(m·2ʳ), about 2⁻ʳ, and the
//! block spends r + 1 + m/n bits on each key. That is less than a Bloom block needs for the same rate,
//! once r is about 7.
//!
//! Of a stored key, only its fingerprint and its block are known. All later draws (the next block, the
//! hint, the overflow entry) are derived from those two, so that a key can be removed, and be moved on when
//! filters are merged.

#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod lines;
mod pocket;
mod shape;

use alloc::vec::Vec;

use super::fields::{Line, ones, window};
use super::isa::{Isa, Nearness, Portable};
use super::{BlockArray, BlockIndex, BlockStats, ByteMatches, Holds};
use crate::hashing::KeyHash;
use crate::placement::{ByFingerprint, Level, Probe};
use crate::storage::{WORDS_PER_LINE, Words};
use shape::{Fingerprint, Shape};

/// The description of a fingerprint block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FingerprintShape {
    pub(crate) slots: u32,
    pub(crate) lists: u32,
    pub(crate) remainder_bits: u32,
    pub(crate) hints: u32,
}

/// An array of fingerprint blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FingerprintBlocks {
    words: Words,
    count: u64,
    shape: Shape,
}

impl FingerprintBlocks {
    #[inline(always)]
    fn line(&self, block: BlockIndex) -> &Line {
        self.words.line(block.0 as usize)
    }

    /// Removes one copy of the key's fingerprint; returns whether there was one.
    pub(crate) fn remove(&mut self, block: BlockIndex, key: KeyHash) -> bool {
        let line = self.words.line_mut(block.0 as usize);
        pocket::remove(&self.shape, line, Fingerprint::of(key))
    }

    /// The stored keys of a block, as reduced hashes.
    pub(crate) fn keys(&self, block: BlockIndex) -> impl Iterator<Item = KeyHash> {
        pocket::fingerprints(&self.shape, self.line(block))
            .map(|fingerprint| KeyHash::from(u128::from(fingerprint.to_pattern())))
    }

    /// Removes and returns all keys of a block; its hints stay.
    pub(crate) fn take_all(&mut self, block: BlockIndex) -> Vec<KeyHash> {
        let keys = self.keys(block).collect();
        let hints = self.line(block)[0] & ones(self.shape.hints.count());
        *self.words.line_mut(block.0 as usize) = [hints, 0, 0, 0, 0, 0, 0, 0];
        keys
    }

    /// Maximum number of keys in a block.
    pub(crate) fn slots(&self) -> u32 {
        self.shape.slots
    }

    /// Sets the hints that are set in the same block of `other`.
    pub(crate) fn merge_hints(&mut self, block: BlockIndex, other: &Self) {
        let hints = ones(self.shape.hints.count()) & window(other.line(block), 0);
        self.words.line_mut(block.0 as usize)[0] |= hints;
    }

    /// Probability that an absent key matches one given fingerprint of its block.
    pub(crate) fn match_probability(&self) -> f64 {
        1.0 / self.shape.fingerprints()
    }
}

impl BlockArray for FingerprintBlocks {
    type Shape = FingerprintShape;
    type Routing = ByFingerprint;

    const HAS_SLOTS: bool = true;

    fn over(shape: &FingerprintShape, count: u64, words: Words) -> Self {
        Self { words, count, shape: Shape::new(shape) }
    }

    fn storage(&self) -> &Words {
        &self.words
    }

    fn storage_mut(&mut self) -> &mut Words {
        &mut self.words
    }

    #[inline]
    fn count(&self) -> u64 {
        self.count
    }

    #[inline(always)]
    fn reduce(&self, key: KeyHash) -> KeyHash {
        key.reduced_to(self.shape.fingerprint(key).to_pattern())
    }

    #[inline(always)]
    fn reduce_all(&self, keys: &[KeyHash], patterns: &mut [u64]) {
        for (&key, pattern) in keys.iter().zip(patterns) {
            *pattern = self.shape.fingerprint_in_halves(key).to_pattern();
        }
    }

    #[inline(always)]
    fn is_common(&self) -> bool {
        self.shape.is_common
    }

    fn words_per_block(&self) -> usize {
        WORDS_PER_LINE
    }

    fn resized(&self, count: u64, words: Words) -> Self {
        Self { words, count, ..*self }
    }

    #[inline(always)]
    fn load<I: Isa>(&self, isa: I, block: BlockIndex) -> u32 {
        pocket::load(isa, &self.shape, self.line(block))
    }

    #[inline(always)]
    fn glance<I: Isa>(&self, isa: I, block: BlockIndex, key: KeyHash) -> Holds {
        pocket::glance(isa, &self.shape, self.line(block), Fingerprint::of(key))
    }

    #[inline(always)]
    fn look_closely<I: Isa>(
        &self,
        isa: I,
        block: BlockIndex,
        key: KeyHash,
        matches: ByteMatches,
    ) -> Holds {
        let line = self.line(block);
        pocket::look_closely(isa, &self.shape, line, Fingerprint::of(key), matches)
    }

    #[inline(always)]
    fn settle<I: Isa>(&self, isa: I, block: BlockIndex, key: KeyHash) -> bool {
        pocket::contains(isa, &self.shape, self.line(block), Fingerprint::of(key))
    }

    #[inline(always)]
    fn has_hints(&self) -> bool {
        self.shape.hints.count() > 0
    }

    #[inline(always)]
    fn hint_is_set<I: Isa>(&self, _isa: I, probe: Probe) -> Option<bool> {
        if !I::COMMON && !self.has_hints() {
            return None;
        }
        // Hints are the first bits of the first word.
        Some(self.line(probe.block)[0] >> self.shape.hints.number_of(probe.hint) & 1 == 1)
    }

    #[inline(always)]
    fn prefetch(&self, block: BlockIndex, nearness: Nearness) {
        self.words.prefetch(block.0 as usize, nearness);
    }

    #[inline(always)]
    fn add<I: Isa>(&mut self, isa: I, block: BlockIndex, key: KeyHash) {
        let line = self.words.line_mut(block.0 as usize);
        pocket::insert(isa, &self.shape, line, Fingerprint::of(key));
    }

    fn set_hint(&mut self, probe: Probe) {
        if self.has_hints() {
            let bit = self.shape.hints.bit_of(probe.hint);
            self.words.line_mut(probe.block.0 as usize)[0] |= 1 << bit;
        }
    }

    fn block_stats(&self, level: Level) -> impl Iterator<Item = BlockStats> {
        let hints = self.shape.hints.count();
        (level.offset..level.offset + level.size).map(BlockIndex).map(move |block| {
            let load = self.load(Portable, block);
            let mut patterns: Vec<u64> = self.keys(block).map(|key| key.pattern_word(0)).collect();
            patterns.sort_unstable();
            patterns.dedup();
            let set = (self.line(block)[0] & ones(hints)).count_ones();
            BlockStats {
                load,
                set_bits: None,
                matching: patterns.len() as f64 * self.match_probability(),
                hints_set: (hints > 0).then(|| f64::from(set) / f64::from(hints)),
            }
        })
    }
}
