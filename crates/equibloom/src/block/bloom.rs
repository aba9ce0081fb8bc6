//! Blocks that are small Bloom filters.
//!
//! A block of 256 bits with a counter of 4 and 8 hints:
//!
//! ```text
//!  word 0                        word 1              word 2              word 3
//! ┌────┬─────┬──────────────────┬───────────────────┬───────────────────┬───────────────────┐
//! │load│hints│ bits 0 … 51      │ 52 … 115          │ 116 … 179         │ 180 … 243         │
//! └────┴─────┴──────────────────┴───────────────────┴───────────────────┴───────────────────┘
//! ```
//!
//! Threshold rules need the exact load and store a counter in the block, as in the paper; lookups need the
//! hints. The least-loaded rule uses the number of set bits as the load. That costs no memory (a counter
//! for the rule's tail takes 6 of 256 bits, which would raise the rate by a third at 24 bits per key), it
//! cannot overflow, and it is the better measure, because the rate of a block depends on its set bits, not
//! on how many keys set them.

#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod places;

use super::hints::Hints;
use super::isa::{Isa, Nearness};
use super::occupancy::{likely_loads, match_probabilities};
use super::pattern::{LineMask, List, PatternShape};
use super::{BlockArray, BlockIndex, BlockStats, Holds};
use crate::hashing::KeyHash;
use crate::placement::{ByHash, Level, Probe};
use crate::storage::{WORDS_PER_LINE, Words};

const WORD_BITS: u32 = u64::BITS;

/// The description of a Bloom block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BloomShape {
    /// Bits of a block, counter and hints included.
    pub(crate) bits: u32,
    /// Bits that a key sets.
    pub(crate) hashes: u32,
    /// Bits that count the block's keys.
    pub(crate) counter_bits: u32,
    /// Hint bits.
    pub(crate) hints: u32,
}

/// An array of Bloom blocks of one size, from 64 bits to a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BloomBlocks {
    words: Words,
    count: u64,
    words_per_block: usize,
    /// Whether no block straddles two cache lines.
    within_lines: bool,
    counter_bits: u32,
    hints: Hints,
    pattern: PatternShape,
}

impl BloomBlocks {
    /// Whether blocks carry a counter.
    fn is_counted(&self) -> bool {
        self.counter_bits > 0
    }

    /// The first bit of a block that keys can set.
    #[inline(always)]
    fn data_start(&self) -> u32 {
        self.hints.end()
    }

    #[inline]
    fn first_word(&self, block: BlockIndex) -> usize {
        debug_assert!(block.0 < self.count);
        block.0 as usize * self.words_per_block
    }

    /// The line that a block lies in, and the bit of it where the keys' bits begin.
    #[inline(always)]
    fn line(&self, block: BlockIndex) -> (usize, u32) {
        let first = self.first_word(block);
        let start = (first % WORDS_PER_LINE) as u32 * WORD_BITS + self.data_start();
        (first / WORDS_PER_LINE, start)
    }

    /// Word and bit of a position in a block of any size.
    #[inline(always)]
    fn place(&self, block: BlockIndex, position: u32) -> (usize, u32) {
        self.bit(block, self.data_start() + position)
    }

    /// Word and bit of a block's bit.
    #[inline(always)]
    fn bit(&self, block: BlockIndex, bit: u32) -> (usize, u32) {
        (self.first_word(block) + (bit / WORD_BITS) as usize, bit % WORD_BITS)
    }

    /// Tests the first draws of the key in a block within a line.
    #[inline(always)]
    fn holds<I: Isa>(&self, isa: I, block: BlockIndex, key: KeyHash) -> Holds {
        let (line, start) = self.line(block);
        isa.holds(self.words.line(line), &self.pattern.draws(key, start))
    }

    /// Whether a block within a line has all of the key's bits. Out of line, because [`Isa::holds`] mostly
    /// decides.
    #[inline(never)]
    fn holds_all_in_line(&self, block: BlockIndex, key: KeyHash) -> bool {
        let (line, start) = self.line(block);
        let mask = self.pattern.collect(key, LineMask::starting_at(start));
        let missing = |(mask, word): (&u64, &u64)| mask & !word;
        mask.words().iter().zip(self.words.line(line)).map(missing).fold(0, |a, b| a | b) == 0
    }

    /// The test of a block that is larger than a line or straddles two.
    #[inline(never)]
    fn holds_all_across_lines(&self, block: BlockIndex, key: KeyHash) -> bool {
        let holds = |position| {
            let (word, bit) = self.place(block, position);
            self.words.get(word) >> bit
        };
        self.pattern.begins_with(key, holds)
            && self
                .pattern
                .collect(key, List::new())
                .iter()
                .all(|position| holds(position) & 1 == 1)
    }

    /// Sets the bits of a key in a block within a line.
    #[inline(never)]
    fn set_in_line(&mut self, block: BlockIndex, key: KeyHash) {
        let (line, start) = self.line(block);
        let mask = self.pattern.collect(key, LineMask::starting_at(start));
        for (word, mask) in self.words.line_mut(line).iter_mut().zip(mask.words()) {
            *word |= mask;
        }
    }

    /// Sets the bits of a key in a block that is larger than a line or straddles two.
    #[inline(never)]
    fn set_across_lines(&mut self, block: BlockIndex, key: KeyHash) {
        let (first, data_start) = (self.first_word(block), self.data_start());
        let words = &mut self.words.words_mut()[first..];
        for position in self.pattern.collect(key, List::new()).iter() {
            let bit = data_start + position;
            words[(bit / WORD_BITS) as usize] |= 1 << (bit % WORD_BITS);
        }
    }

    /// The counter's bits in the first word.
    #[inline]
    fn counter_mask(&self) -> u64 {
        (1 << self.counter_bits) - 1
    }

    #[inline]
    fn counter(&self, block: BlockIndex) -> u32 {
        (self.words.get(self.first_word(block)) & self.counter_mask()) as u32
    }

    #[inline]
    fn set_bits(&self, block: BlockIndex) -> u32 {
        let (start, offset) = self.place(block, 0);
        let end = self.first_word(block) + self.words_per_block;
        let words = &self.words.words()[start..end];
        words.iter().map(|word| word.count_ones()).sum::<u32>()
            - (words[0] & ((1 << offset) - 1)).count_ones()
    }

    fn count_set_hints(&self, block: BlockIndex) -> u32 {
        let is_set = |&bit: &u32| {
            let (word, bit) = self.bit(block, bit);
            self.words.get(word) >> bit & 1 == 1
        };
        (self.counter_bits..self.hints.end()).filter(is_set).count() as u32
    }

    /// Adds the contents of block `from` of an array of equal blocks. Counts are added: the sum is not less
    /// than either count, so that keys rejected by a full block stay reachable.
    pub(crate) fn merge_block(&mut self, block: BlockIndex, other: &Self, from: BlockIndex) {
        let mask = self.counter_mask();
        let load = u64::from(self.counter(block) + other.counter(from)).min(mask);
        let (into, from) = (self.first_word(block), other.first_word(from));
        for word in 0..self.words_per_block {
            *self.words.get_mut(into + word) |= other.words.get(from + word);
        }
        let head = self.words.get_mut(into);
        *head = *head & !mask | load;
    }
}

impl BlockArray for BloomBlocks {
    type Shape = BloomShape;
    type Routing = ByHash;

    const HAS_SLOTS: bool = false;

    fn over(shape: &BloomShape, count: u64, words: Words) -> Self {
        let &BloomShape { bits, hashes, counter_bits, hints } = shape;
        let words_per_block = bits.div_ceil(WORD_BITS) as usize;
        Self {
            words,
            count,
            words_per_block,
            within_lines: WORDS_PER_LINE.is_multiple_of(words_per_block),
            counter_bits,
            hints: Hints::new(counter_bits, hints),
            pattern: PatternShape::new(bits - counter_bits - hints, hashes),
        }
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

    /// Within a cache line.
    #[inline(always)]
    fn is_common(&self) -> bool {
        self.within_lines
    }

    fn words_per_block(&self) -> usize {
        self.words_per_block
    }

    fn resized(&self, count: u64, words: Words) -> Self {
        Self { words, count, ..*self }
    }

    /// The counter where there is one, else the number of set bits.
    #[inline(always)]
    fn load<I: Isa>(&self, _isa: I, block: BlockIndex) -> u32 {
        if self.is_counted() { self.counter(block) } else { self.set_bits(block) }
    }

    #[inline(always)]
    fn glance<I: Isa>(&self, isa: I, block: BlockIndex, key: KeyHash) -> Holds {
        if I::COMMON || self.within_lines {
            self.holds(isa, block, key)
        } else {
            Holds::exactly(self.holds_all_across_lines(block, key))
        }
    }

    /// Reached only within a line, where draws may repeat; across lines `glance` decides.
    #[inline(always)]
    fn settle<I: Isa>(&self, _isa: I, block: BlockIndex, key: KeyHash) -> bool {
        self.holds_all_in_line(block, key)
    }

    #[inline(always)]
    fn has_hints(&self) -> bool {
        self.hints.count() > 0
    }

    #[inline(always)]
    fn hint_is_set<I: Isa>(&self, _isa: I, probe: Probe) -> Option<bool> {
        if !self.has_hints() {
            return None;
        }
        let (word, bit) = self.bit(probe.block, self.hints.bit_of(probe.hint));
        Some(self.words.get(word) >> bit & 1 == 1)
    }

    #[inline(always)]
    fn prefetch(&self, block: BlockIndex, nearness: Nearness) {
        self.words.prefetch(self.first_word(block) / WORDS_PER_LINE, nearness);
    }

    /// Sets the key's bits. A counter saturates; no rule distinguishes higher loads.
    #[inline(always)]
    fn add<I: Isa>(&mut self, isa: I, block: BlockIndex, key: KeyHash) {
        if I::COMMON || self.within_lines {
            let (line, start) = self.line(block);
            let draws = self.pattern.draws(key, start);
            let line = self.words.line_mut(line);
            if let Some(bits) = isa.distinct_draws(&draws) {
                for bit in bits.iter().take(self.pattern.hashes() as usize) {
                    line[usize::from(bit / 64) % WORDS_PER_LINE] |= 1 << (bit % 64);
                }
            } else {
                self.set_in_line(block, key);
            }
        } else {
            self.set_across_lines(block, key);
        }
        let mask = self.counter_mask();
        let first = self.first_word(block);
        let head = self.words.get_mut(first);
        if *head & mask != mask {
            *head += 1;
        }
    }

    fn set_hint(&mut self, probe: Probe) {
        if self.has_hints() {
            let (word, bit) = self.bit(probe.block, self.hints.bit_of(probe.hint));
            *self.words.get_mut(word) |= 1 << bit;
        }
    }

    fn block_stats(&self, level: Level) -> impl Iterator<Item = BlockStats> {
        let (bits, hashes) = (self.pattern.positions(), self.pattern.hashes());
        let match_probability = match_probabilities(bits, hashes);
        let likely_load = likely_loads(bits, hashes);
        (level.offset..level.offset + level.size).map(BlockIndex).map(move |block| {
            // A damaged file may have bits set in the padding.
            let set_bits = self.set_bits(block).min(bits);
            let likely = likely_load[set_bits as usize];
            let hints_set = f64::from(self.count_set_hints(block)) / f64::from(self.hints.count());
            BlockStats {
                load: if self.is_counted() { self.counter(block) } else { likely },
                set_bits: Some(set_bits),
                matching: match_probability[set_bits as usize],
                hints_set: self.has_hints().then_some(hints_set),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::isa::Portable;

    fn blocks(bits: u32, hashes: u32, counter_bits: u32) -> BloomBlocks {
        hinted_blocks(bits, hashes, counter_bits, 0)
    }

    fn hinted_blocks(bits: u32, hashes: u32, counter_bits: u32, hints: u32) -> BloomBlocks {
        BloomBlocks::allocate(&BloomShape { bits, hashes, counter_bits, hints }, 3)
    }

    #[test]
    fn a_key_sets_its_bits_in_its_own_block_and_nowhere_else() {
        for bits in [64, 65, 100, 256, 500, 512, 4_096, 32_767, 32_768] {
            for counter_bits in [0, 5] {
                let mut array = blocks(bits, 7, counter_bits);
                array.add(Portable, BlockIndex(1), KeyHash::from_u64(9));
                assert!(array.test(Portable, BlockIndex(1), KeyHash::from_u64(9)));
                assert!(!array.test(Portable, BlockIndex(0), KeyHash::from_u64(9)));
                assert!(!array.test(Portable, BlockIndex(2), KeyHash::from_u64(9)));
                assert_eq!(array.set_bits(BlockIndex(1)), 7);
                assert_eq!(
                    array.words().map(u64::count_ones).sum::<u32>(),
                    7 + u32::from(counter_bits > 0)
                );
            }
        }
    }

    #[test]
    fn the_load_is_the_counter_or_else_the_set_bits() {
        let mut counted = blocks(256, 10, 4);
        let mut uncounted = blocks(256, 10, 0);
        for key in 0..3 {
            counted.add(Portable, BlockIndex(2), KeyHash::from_u64(key));
            uncounted.add(Portable, BlockIndex(2), KeyHash::from_u64(key));
        }
        assert_eq!(counted.load(Portable, BlockIndex(2)), 3);
        assert!((20..=30).contains(&uncounted.load(Portable, BlockIndex(2))));
        assert_eq!(uncounted.load(Portable, BlockIndex(2)), uncounted.set_bits(BlockIndex(2)));
    }

    #[test]
    fn a_counter_stops_at_its_highest_value_and_spares_the_bits_beside_it() {
        let mut array = blocks(64, 1, 2);
        for key in 0..100 {
            array.add(Portable, BlockIndex(0), KeyHash::from_u64(key));
        }
        assert_eq!(array.load(Portable, BlockIndex(0)), 3);
        assert!((0..100).all(|key| array.test(Portable, BlockIndex(0), KeyHash::from_u64(key))));
    }

    /// At 500 of 512 bits the last twelve are padding.
    #[test]
    fn padding_is_never_written() {
        let mut array = blocks(500, 64, 3);
        for key in 0..1_000 {
            array.add(Portable, BlockIndex(1), KeyHash::from_u64(key));
        }
        assert_eq!(array.set_bits(BlockIndex(1)), 497);
        assert_eq!(array.words.get(15) >> 52, 0);
    }
}
