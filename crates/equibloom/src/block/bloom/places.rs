//! Positions of the parts of a block, for shared filters, which access the words atomically.

use super::{BlockIndex, BloomBlocks, LineMask, List, WORD_BITS, WORDS_PER_LINE};
use crate::hashing::KeyHash;
use crate::placement::Probe;

impl BloomBlocks {
    /// The word of the array that has the block's counter.
    #[inline(always)]
    pub(crate) fn head(&self, block: BlockIndex) -> usize {
        self.first_word(block)
    }

    /// The counter in a head word; `None` if blocks have none.
    #[inline(always)]
    pub(crate) fn counted_in(&self, head: u64) -> Option<u32> {
        self.is_counted().then(|| (head & self.counter_mask()) as u32)
    }

    /// The head word with its counter incremented, saturating.
    #[inline(always)]
    pub(crate) fn counting_one_more(&self, head: u64) -> u64 {
        let mask = self.counter_mask();
        if head & mask == mask { head } else { head + 1 }
    }

    /// Word and bit of the probe's hint; `None` if blocks have no hints.
    #[inline(always)]
    pub(crate) fn hint(&self, probe: Probe) -> Option<(usize, u64)> {
        let (word, bit) = self.bit(probe.block, self.hints.bit_of(probe.hint));
        (self.hints.count() > 0).then_some((word, 1 << bit))
    }

    /// Number of bits set by keys, with words from `read`.
    #[inline(always)]
    pub(crate) fn set_bits_in(&self, block: BlockIndex, read: impl Fn(usize) -> u64) -> u32 {
        let (start, offset) = self.place(block, 0);
        let end = self.first_word(block) + self.words_per_block;
        let first = read(start) >> offset;
        (start + 1..end).fold(first.count_ones(), |sum, word| sum + read(word).count_ones())
    }

    /// Visits the words with bits of the key, and these bits, until `visit` returns false; some words may
    /// repeat. Returns whether all were visited.
    #[inline(always)]
    pub(crate) fn every_bit(
        &self,
        block: BlockIndex,
        key: KeyHash,
        mut visit: impl FnMut(usize, u64) -> bool,
    ) -> bool {
        if self.within_lines {
            let (line, start) = self.line(block);
            let mask = self.pattern.collect(key, LineMask::starting_at(start));
            let mut words = (line * WORDS_PER_LINE..).zip(mask.words());
            words.all(|(word, &bits)| bits == 0 || visit(word, bits))
        } else {
            self.pattern.collect(key, List::new()).iter().all(|position| {
                let (word, bit) = self.place(block, position);
                visit(word, 1 << bit)
            })
        }
    }

    /// Whether the block has the key's first bits, with words from `read`. Rejects most absent keys.
    #[inline(always)]
    pub(crate) fn begins_with(
        &self,
        block: BlockIndex,
        key: KeyHash,
        read: impl Fn(usize) -> u64,
    ) -> bool {
        let start = self.first_word(block);
        let data_start = self.data_start();
        self.pattern.begins_with(key, |position| {
            let bit = data_start + position;
            read(start + (bit / WORD_BITS) as usize) >> (bit % WORD_BITS)
        })
    }
}
