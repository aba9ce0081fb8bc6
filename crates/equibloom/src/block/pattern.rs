//! The bits of one key: `k` distinct positions out of `n`, every such set equally likely.
//!
//! Positions are drawn until `k` different ones are found: `k` draws first, then one more for each repeat.
//! With at most half of the positions in a pattern, every further draw is new with probability one half or
//! more.
//!
//! A draw multiplies a fraction by `n`. In blocks that fit into a cache line, the fractions are 16-bit
//! lanes, four in each word of the key's stream: vector instructions multiply sixteen of them at once.
//! A position gets 128 or 129 of 65,536 fractions (at n ≈ 510), which changes the rate by one part in
//! ten thousand or less. In larger blocks one word of the stream serves three draws: multiplying by `n`
//! gives the position in the upper half and leaves the unused fraction in the lower half, of which at
//! least 19 bits are always left over.
//!
//! A miss seldom needs the whole pattern. A lookup first tests the first draws as they are, and resolves
//! repeats only if all of them are set.
//!
//! Rejected: double hashing (`a + i·b`; in a block of 512 bits it has only 2¹⁷ patterns and floors
//! the rate near 1e-4); one bit in each of `k` segments (no repeats either, but it sets more bits per
//! key: at 24 bits per key the rate of a blocked filter with 256-bit blocks is 14 % higher); Floyd's
//! sampling (exactly `k` draws, but each must wait for the one before: misses took twice as long).

use super::fields::LINE_BITS;
use crate::hashing::KeyHash;
use crate::storage::{Line, WORDS_PER_LINE};
use equibloom_layout::MAX_HASHES;

/// Draws per word of the stream of lanes.
const LANES_PER_WORD: u32 = 4;

/// Draws per word in a block larger than a line. Even in the largest block three draws use only 45 of 64
/// bits.
const DRAWS_PER_WORD: u32 = 3;

/// How patterns are drawn in blocks of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatternShape {
    positions: u32,
    hashes: u32,
}

/// The first draws of a key in a block within a line, repeats included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draws {
    pub(super) key: KeyHash,
    /// Number of positions, at most 512.
    pub(super) positions: u32,
    /// Number of draws.
    pub(super) count: u32,
    /// The bit of the line that is position 0.
    pub(super) start: u32,
}

impl Draws {
    /// Visits the bits of the line selected by the draws of a word.
    #[inline(always)]
    pub(super) fn of_word(&self, word: u32, mut visit: impl FnMut(u32)) {
        let lanes = self.key.pattern_lanes(word);
        let mut draw = |lane: u32| {
            let fraction = (lanes >> (16 * lane)) as u32 & 0xffff;
            visit(self.start + ((fraction * self.positions) >> 16));
        };
        let left = self.count - word * LANES_PER_WORD;
        // In the common case the compiler knows the length.
        if left >= LANES_PER_WORD {
            (0..LANES_PER_WORD).for_each(draw);
        } else {
            (0..left).for_each(&mut draw);
        }
    }
}

impl PatternShape {
    /// Patterns of `hashes` out of `positions` bits; `1 ≤ hashes ≤ min(positions / 2, MAX_HASHES)`.
    pub(super) const fn new(positions: u32, hashes: u32) -> Self {
        Self { positions, hashes }
    }

    /// Number of positions a pattern is drawn from.
    pub(super) const fn positions(&self) -> u32 {
        self.positions
    }

    /// Number of bits in a pattern.
    pub(super) const fn hashes(&self) -> u32 {
        self.hashes
    }

    /// A key's first `k` draws in a block within a line whose positions begin at bit `start`.
    #[inline(always)]
    pub(super) const fn draws(&self, key: KeyHash, start: u32) -> Draws {
        Draws { key, positions: self.positions, count: self.hashes, start }
    }

    /// Collects the key's pattern.
    #[inline(always)]
    pub(super) fn collect<P: Positions>(&self, key: KeyHash, mut pattern: P) -> P {
        if self.positions <= LINE_BITS {
            let draws = self.draws(key, 0);
            let mut missing = self.hashes;
            let words = self.hashes.div_ceil(LANES_PER_WORD);
            for word in 0..words {
                draws.of_word(word, |position| missing -= u32::from(pattern.take(position)));
            }
            // Each repeat is replaced by one draw from a fresh word.
            let mut word = words;
            while missing > 0 {
                let one = Draws { count: word * LANES_PER_WORD + 1, ..draws };
                one.of_word(word, |position| missing -= u32::from(pattern.take(position)));
                word += 1;
            }
        } else {
            let mut missing = self.hashes;
            let words = self.hashes.div_ceil(DRAWS_PER_WORD);
            for word in 0..words {
                let draws = DRAWS_PER_WORD.min(self.hashes - word * DRAWS_PER_WORD);
                let mut fraction = key.pattern_word(word);
                for _ in 0..draws {
                    missing -= u32::from(pattern.take(self.draw(&mut fraction)));
                }
            }
            // Each repeat is replaced by one draw from a fresh word.
            let mut word = words;
            while missing > 0 {
                let position = self.draw(&mut key.pattern_word(word));
                missing -= u32::from(pattern.take(position));
                word += 1;
            }
        }
        pattern
    }

    /// Whether `holds` is odd for the first positions of the key's pattern, those of one word, in a block
    /// larger than a line. (A word, not a `bool`: the compiler would branch on each.)
    #[inline(always)]
    pub(super) fn begins_with(&self, key: KeyHash, mut holds: impl FnMut(u32) -> u64) -> bool {
        let mut all_hold = 1;
        if self.positions <= LINE_BITS {
            self.draws(key, 0).of_word(0, |position| all_hold &= holds(position));
        } else {
            let mut fraction = key.pattern_word(0);
            for _ in 0..DRAWS_PER_WORD.min(self.hashes) {
                all_hold &= holds(self.draw(&mut fraction));
            }
        }
        all_hold & 1 == 1
    }

    /// A position from a word's fraction, which shrinks by as much as the draw used.
    #[inline(always)]
    fn draw(&self, fraction: &mut u64) -> u32 {
        let product = u128::from(*fraction) * u128::from(self.positions);
        *fraction = product as u64;
        (product >> u64::BITS) as u32
    }
}

/// A set of positions under construction.
pub(super) trait Positions {
    /// Adds a position; returns whether it was new.
    fn take(&mut self, position: u32) -> bool;
}

/// A pattern as a mask of one cache line, for blocks within a line.
pub(super) struct LineMask {
    start: u32,
    bits: Line,
}

impl LineMask {
    /// No bits yet, in a line whose positions begin at bit `start`.
    #[inline(always)]
    pub(super) const fn starting_at(start: u32) -> Self {
        Self { start, bits: [0; WORDS_PER_LINE] }
    }

    /// The bits, word by word.
    #[inline(always)]
    pub(super) const fn words(&self) -> &Line {
        &self.bits
    }
}

impl Positions for LineMask {
    #[inline(always)]
    fn take(&mut self, position: u32) -> bool {
        let at = self.start + position;
        let word = &mut self.bits[(at / 64) as usize % WORDS_PER_LINE];
        let bit = 1 << (at % 64);
        let free = *word & bit == 0;
        *word |= bit;
        free
    }
}

/// A pattern as a list, for larger blocks, where repeats are rare: a one-word summary mostly shows that a
/// position is new.
pub(super) struct List {
    summary: u64,
    positions: [u16; MAX_HASHES as usize],
    count: usize,
}

impl List {
    /// No positions yet.
    #[inline]
    pub(super) const fn new() -> Self {
        Self { summary: 0, positions: [0; MAX_HASHES as usize], count: 0 }
    }

    /// The positions in the order of drawing.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.positions[..self.count].iter().map(|&position| position.into())
    }
}

impl Positions for List {
    #[inline]
    fn take(&mut self, position: u32) -> bool {
        let bit = 1 << (position % 64);
        if self.summary & bit != 0 && self.positions[..self.count].contains(&(position as u16)) {
            return false;
        }
        self.summary |= bit;
        self.positions[self.count] = position as u16;
        self.count += 1;
        true
    }
}

#[cfg(test)]
mod tests;
