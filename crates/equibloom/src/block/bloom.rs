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
//! *hints*: a key that the block rejects sets one of them, and a lookup whose hint is unset ends, because
//! its key is in no later block. The least-loaded rule uses the number of set bits as the load. That costs
//! no memory (a counter for the rule's tail takes 6 of 256 bits, which would raise the rate by a third at 24
//! bits per key), it cannot overflow, and it is the better measure, because the rate of a block depends on
//! its set bits, not on how many keys set them.
//!
//! Bits are only ever set, and counters only go up. So a shared block needs no lock: a key counts itself in
//! (one compare-and-swap, which fails if the block has become full), then sets its bits; and a lookup may
//! read each word at another moment, because later means at least as much.

#[cfg(test)]
mod tests;

use super::isa::{Isa, Nearness, Target};
use super::occupancy::{likely_loads, match_probabilities};
use super::pattern::{LineMask, List, PatternShape};
use super::{BlockIndex, BlockStats, BlockView, Holds};
use crate::hashing::KeyHash;
use crate::placement::{Choose, Level, Probe};
use crate::storage::{Line, Storage, Update, WORDS_PER_LINE, Words};

const WORD_BITS: u32 = u64::BITS;

/// Bloom blocks of one size, from a few bits to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BloomShape {
    words_per_block: usize,
    /// Whether no block straddles two cache lines.
    within_lines: bool,
    /// Bits that count the block's keys.
    counter_bits: u32,
    /// Hint bits, after the counter.
    hints: u32,
    /// The first bit of a block that keys can set, after the hints.
    data_start: u32,
    pattern: PatternShape,
}

impl BloomShape {
    /// Blocks of `bits` bits, counter and hints included, in which a key sets `hashes` bits.
    pub(crate) fn new(bits: u32, hashes: u32, counter_bits: u32, hints: u32) -> Self {
        let words_per_block = bits.div_ceil(WORD_BITS) as usize;
        Self {
            words_per_block,
            within_lines: WORDS_PER_LINE.is_multiple_of(words_per_block),
            counter_bits,
            hints,
            data_start: counter_bits + hints,
            pattern: PatternShape::new(bits - counter_bits - hints, hashes),
        }
    }

    /// Whether blocks have the common shape, for which specialised code is compiled: within a cache line.
    pub(crate) const fn is_common(&self) -> bool {
        self.within_lines
    }

    /// Words of a block.
    #[inline(always)]
    pub(crate) const fn words_per_block(&self) -> usize {
        self.words_per_block
    }

    /// Whether blocks have hints.
    #[inline(always)]
    pub(crate) const fn has_hints(&self) -> bool {
        self.hints > 0
    }

    #[inline(always)]
    const fn first_word(&self, block: BlockIndex) -> usize {
        block.0 as usize * self.words_per_block
    }

    /// The line that a block lies in, and the bit of it where the keys' bits begin.
    #[inline(always)]
    const fn line(&self, block: BlockIndex) -> (usize, u32) {
        let first = self.first_word(block);
        let start = (first % WORDS_PER_LINE) as u32 * WORD_BITS + self.data_start;
        (first / WORDS_PER_LINE, start)
    }

    /// Word and mask of a block's bit.
    #[inline(always)]
    const fn bit(&self, block: BlockIndex, bit: u32) -> (usize, u64) {
        (self.first_word(block) + (bit / WORD_BITS) as usize, 1 << (bit % WORD_BITS))
    }

    /// Word and mask of the probe's hint. Sixteen uniform bits select it: the bias is below one in a thousand.
    #[inline(always)]
    const fn hint(&self, probe: Probe) -> (usize, u64) {
        let number = (probe.hint as u32 * self.hints) >> 16;
        self.bit(probe.block, self.counter_bits + number)
    }

    /// The counter's bits in the first word.
    #[inline(always)]
    const fn counter_mask(&self) -> u64 {
        (1 << self.counter_bits) - 1
    }

    /// The blocks in `words` as a rule sees them.
    #[inline(always)]
    pub(crate) const fn view<'a, T, S>(&'a self, target: T, words: &'a S) -> View<'a, T, S> {
        View { target, shape: self, words }
    }

    /// The load of a block: the counter where there is one, else the number of set bits.
    #[inline(always)]
    pub(crate) fn load<S: Storage>(&self, words: &S, block: BlockIndex) -> u32 {
        if self.counter_bits > 0 {
            (words.word(self.first_word(block)) & self.counter_mask()) as u32
        } else {
            self.set_bits(words, block)
        }
    }

    #[inline(always)]
    fn set_bits<S: Storage>(&self, words: &S, block: BlockIndex) -> u32 {
        let (start, first_bit) = self.bit(block, self.data_start);
        let end = self.first_word(block) + self.words_per_block;
        let first = words.word(start) & !(first_bit - 1);
        (start + 1..end).fold(first.count_ones(), |sum, word| sum + words.word(word).count_ones())
    }

    /// Quick test whether the block holds the key.
    #[inline(always)]
    pub(crate) fn glance<T: Target, S: Storage>(
        &self,
        target: T,
        words: &S,
        block: BlockIndex,
        key: KeyHash,
    ) -> Holds {
        if T::COMMON || self.within_lines {
            let (line, start) = self.line(block);
            target.holds(&words.load(line), &self.pattern.draws(key, start))
        } else if self.holds_across_lines(words, block, key) {
            Holds::Yes
        } else {
            Holds::No
        }
    }

    /// Decides an undecided [`glance`](Self::glance), which there is only within a line. Out of line, because
    /// few keys need it.
    #[inline(never)]
    pub(crate) fn settle<S: Storage>(&self, words: &S, block: BlockIndex, key: KeyHash) -> bool {
        let (line, start) = self.line(block);
        let missing = |(mask, word): (&u64, &u64)| mask & !word;
        let mask = self.mask(key, start);
        mask.iter().zip(&*words.load(line)).map(missing).fold(0, |a, b| a | b) == 0
    }

    /// Whether the block may hold the key.
    #[inline(always)]
    pub(crate) fn test<T: Target, S: Storage>(
        &self,
        target: T,
        words: &S,
        block: BlockIndex,
        key: KeyHash,
    ) -> bool {
        match self.glance(target, words, block, key) {
            Holds::No => false,
            Holds::Yes => true,
            Holds::Perhaps => self.settle(words, block, key),
        }
    }

    /// The test of a block that is larger than a line or straddles two.
    #[inline(never)]
    fn holds_across_lines<S: Storage>(&self, words: &S, block: BlockIndex, key: KeyHash) -> bool {
        let holds = |position| {
            let bit = self.data_start + position;
            words.word(self.first_word(block) + (bit / WORD_BITS) as usize) >> (bit % WORD_BITS)
        };
        self.pattern.begins_with(key, holds)
            && self
                .pattern
                .collect(key, List::new())
                .iter()
                .all(|position| holds(position) & 1 == 1)
    }

    /// Whether the hint of this probe is set; `None` if blocks have no hints.
    #[inline(always)]
    pub(crate) fn hint_is_set<T: Target, S: Storage>(
        &self,
        _target: T,
        words: &S,
        probe: Probe,
    ) -> Option<bool> {
        if !self.has_hints() {
            return None;
        }
        let (word, bit) = self.hint(probe);
        let word = if T::COMMON {
            // In the same line as the block: where that has been tested, its index needs no other check.
            words.word_in_line(self.line(probe.block).0, word % WORDS_PER_LINE)
        } else {
            words.word(word)
        };
        Some(word & bit != 0)
    }

    /// Prefetches a block.
    #[inline(always)]
    pub(crate) fn prefetch<S: Storage>(&self, words: &S, block: BlockIndex, nearness: Nearness) {
        words.prefetch(self.first_word(block) / WORDS_PER_LINE, nearness);
    }

    /// Adds a key to a block, if its load is still one that admits the key; returns whether it was. A counter
    /// saturates: no rule distinguishes higher loads.
    #[inline(always)]
    pub(crate) fn try_add<T: Target, U: Update>(
        &self,
        target: T,
        to: &mut U,
        block: BlockIndex,
        key: KeyHash,
        admits: impl Fn(u32) -> bool,
    ) -> bool {
        let mask = self.counter_mask();
        let count_in = |head: u64| {
            let is_full = head & mask == mask;
            admits((head & mask) as u32).then_some(head + u64::from(!is_full))
        };
        // Without a counter no key is rejected. Of two keys that come for the last place, one gets it.
        if self.counter_bits > 0 && !to.try_change(self.first_word(block), count_in) {
            return false;
        }
        if T::COMMON || self.within_lines {
            let (line, start) = self.line(block);
            if let Some(bits) = target.distinct_draws(&self.pattern.draws(key, start)) {
                let bits = bits.iter().take(self.pattern.hashes() as usize);
                to.set_in_line(line, bits.map(|bit| (usize::from(bit / 64), 1 << (bit % 64))));
            } else {
                to.set_in_line(line, self.mask(key, start).into_iter().enumerate());
            }
        } else {
            self.set_across_lines(to, block, key);
        }
        true
    }

    /// Sets the key's bits in a block that is larger than a line or straddles two.
    #[inline(never)]
    fn set_across_lines<U: Update>(&self, to: &mut U, block: BlockIndex, key: KeyHash) {
        for position in self.pattern.collect(key, List::new()).iter() {
            let (word, bit) = self.bit(block, self.data_start + position);
            to.set(word, bit);
        }
    }

    /// The key's bits in a line where a block's bits begin at `start`.
    #[inline(never)]
    fn mask(&self, key: KeyHash, start: u32) -> Line {
        *self.pattern.collect(key, LineMask::starting_at(start)).words()
    }

    /// Sets the hint of this probe, after its block rejected a key.
    #[inline(always)]
    pub(crate) fn set_hint<U: Update>(&self, to: &mut U, probe: Probe) {
        if self.has_hints() {
            let (word, bit) = self.hint(probe);
            to.set(word, bit);
        }
    }

    /// Adds the contents of block `from` of other words. Counts are added: the sum is not less than either
    /// count, so that keys rejected by a full block stay reachable.
    pub(crate) fn merge_block(
        &self,
        words: &mut Words,
        block: BlockIndex,
        other: &Words,
        from: BlockIndex,
    ) {
        let mask = self.counter_mask();
        let (into, from) = (self.first_word(block), self.first_word(from));
        let (words, other) = (words.as_flattened_mut(), other.as_flattened());
        let load = ((words[into] & mask) + (other[from] & mask)).min(mask);
        for word in 0..self.words_per_block {
            words[into + word] |= other[from + word];
        }
        words[into] = words[into] & !mask | load;
    }

    /// Statistics of the blocks of a level, in order.
    pub(crate) fn block_stats<R: Choose>(
        &self,
        words: &Words,
        level: Level,
        rule: &R,
    ) -> impl Iterator<Item = BlockStats> {
        let (bits, hashes) = (self.pattern.positions(), self.pattern.hashes());
        let match_probability = match_probabilities(bits, hashes);
        let likely_load = likely_loads(bits, hashes);
        let is_set = move |(word, bit)| words.word(word) & bit != 0;
        (level.offset..level.offset + level.size).map(BlockIndex).map(move |block| {
            // A damaged file may have bits set in the padding.
            let set_bits = self.set_bits(words, block).min(bits);
            let is_counted = self.counter_bits > 0;
            let likely = likely_load[set_bits as usize];
            let load = if is_counted { self.load(words, block) } else { likely };
            let hints = (self.counter_bits..self.data_start).map(|bit| self.bit(block, bit));
            let hints_set = hints.filter(|&hint| is_set(hint)).count() as f64;
            BlockStats {
                load,
                set_bits: Some(set_bits),
                matching: match_probability[set_bits as usize],
                continuing: if self.has_hints() {
                    hints_set / f64::from(self.hints)
                } else {
                    rule.continuing_probability(load)
                },
            }
        })
    }
}

/// Blocks as a rule sees them.
pub(crate) struct View<'a, T, S> {
    target: T,
    shape: &'a BloomShape,
    words: &'a S,
}

impl<T: Target, S: Storage> BlockView for View<'_, T, S> {
    #[inline(always)]
    fn load(&self, block: BlockIndex) -> u32 {
        self.shape.load(self.words, block)
    }

    #[inline(always)]
    fn test(&self, block: BlockIndex, key: KeyHash) -> bool {
        self.shape.test(self.target, self.words, block, key)
    }

    #[inline(always)]
    fn hint_is_set(&self, probe: Probe) -> Option<bool> {
        self.shape.hint_is_set(self.target, self.words, probe)
    }
}
