//! The bits of one key: `k` distinct positions out of `n`, every such set equally likely.
//!
//! Positions are drawn until `k` different ones have come up: `k` draws first, and as many more as
//! were repeats. With at most half of the positions in a pattern, every further draw is new with
//! probability one half or more.
//!
//! Draws come from the key's stream of 64-bit words. One word serves several draws: multiplying by
//! `n` gives the position in the upper half and leaves the unused fraction in the lower half. At
//! least 19 bits of the fraction are always left over, which keeps each draw's bias below 2⁻¹⁹. The
//! draws of one word are tested together, without a branch between them: in a half-full block a miss
//! gets past three bits once in eight times, so that the one branch behind them is predictable.
//!
//! Rejected: double hashing (`a + i·b`; in a block of 512 bits it has only 2¹⁷ patterns and floors
//! the rate near 1e-4); one bit in each of `k` segments (no repeats either, but it sets more bits per
//! key: at 24 bits per key the rate of a blocked filter with 256-bit blocks is 14 % higher); Floyd's
//! sampling (exactly `k` draws, but each must wait for the one before: misses took twice as long).

use crate::hashing::KeyHash;
use crate::parameters::MAX_HASHES;

/// Draws that one word serves. Even in the largest block three use up 45 of its 64 bits. More would
/// fit in small ones, but one miss in eight that needs a second word costs less than a longer first
/// step does.
const DRAWS_PER_WORD: u32 = 3;

/// How patterns are drawn in blocks of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatternShape {
    positions: u32,
    hashes: u32,
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

    /// Whether `holds` answers every position of the key's pattern with a word whose lowest bit is
    /// set. It may be asked a few times more than needed after the first no, and twice about one
    /// position. (A word and not a `bool`: the compiler would branch on each.)
    #[inline(always)]
    pub(super) fn all(&self, key: KeyHash, holds: impl FnMut(u32) -> u64) -> bool {
        if self.positions <= Bitmap::POSITIONS {
            self.all_with::<Bitmap>(key, holds)
        } else {
            self.all_with::<List>(key, holds)
        }
    }

    /// Calls `visit` with every position of the key's pattern, with some of them twice.
    #[inline]
    pub(super) fn for_each(&self, key: KeyHash, mut visit: impl FnMut(u32)) {
        self.all(key, |position| {
            visit(position);
            1
        });
    }

    #[inline(always)]
    fn all_with<T: Taken>(&self, key: KeyHash, mut holds: impl FnMut(u32) -> u64) -> bool {
        // Nearly all misses end with the first word. What follows stays out of line, so that the
        // hot path is short enough for the processor to have several keys under way at once.
        self.draws_of_word(0, key, &mut holds) && self.draws_after_the_first_word::<T>(key, holds)
    }

    /// Whether those of the first `k` draws that come from the given word hold.
    #[inline(always)]
    fn draws_of_word(&self, word: u32, key: KeyHash, holds: &mut impl FnMut(u32) -> u64) -> bool {
        let mut fraction = key.pattern_word(word);
        let mut all_hold = 1;
        let left = self.hashes - word * DRAWS_PER_WORD;
        // The usual case has a length that the compiler knows.
        if left >= DRAWS_PER_WORD {
            for _ in 0..DRAWS_PER_WORD {
                all_hold &= holds(self.draw(&mut fraction));
            }
        } else {
            for _ in 0..left {
                all_hold &= holds(self.draw(&mut fraction));
            }
        }
        all_hold & 1 == 1
    }

    #[inline(never)]
    fn draws_after_the_first_word<T: Taken>(
        &self,
        key: KeyHash,
        mut holds: impl FnMut(u32) -> u64,
    ) -> bool {
        let words = self.hashes.div_ceil(DRAWS_PER_WORD);
        let mut taken = T::default();
        let mut missing = self.hashes;
        self.draws_of_word(0, key, &mut |position| {
            missing -= u32::from(taken.take(position));
            1
        });
        for word in 1..words {
            let all_hold = self.draws_of_word(word, key, &mut |position| {
                missing -= u32::from(taken.take(position));
                holds(position)
            });
            if !all_hold {
                return false;
            }
        }
        // Repeats are made up for from fresh words, one draw from each.
        let mut word = words;
        while missing > 0 {
            let position = self.draw(&mut key.pattern_word(word));
            word += 1;
            if taken.take(position) {
                missing -= 1;
                if holds(position) & 1 == 0 {
                    return false;
                }
            }
        }
        true
    }

    /// A position from a word's fraction, which shrinks by as much as the draw used.
    #[inline(always)]
    fn draw(&self, fraction: &mut u64) -> u32 {
        let product = u128::from(*fraction) * u128::from(self.positions);
        *fraction = product as u64;
        (product >> u64::BITS) as u32
    }
}

/// The positions taken so far.
trait Taken: Default {
    /// Takes a position; whether it was free.
    fn take(&mut self, position: u32) -> bool;
}

/// One bit per position, for blocks up to a cache line.
#[derive(Default)]
struct Bitmap {
    bits: [u64; 8],
}

impl Bitmap {
    const POSITIONS: u32 = 512;
}

impl Taken for Bitmap {
    #[inline(always)]
    fn take(&mut self, position: u32) -> bool {
        let word = &mut self.bits[(position / 64 % 8) as usize];
        let bit = 1 << (position % 64);
        let free = *word & bit == 0;
        *word |= bit;
        free
    }
}

/// A list, for larger blocks, where repeats are rare: most questions are answered by the summary.
struct List {
    summary: u64,
    positions: [u16; MAX_HASHES as usize],
    count: usize,
}

impl Default for List {
    fn default() -> Self {
        Self { summary: 0, positions: [0; MAX_HASHES as usize], count: 0 }
    }
}

impl Taken for List {
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
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    fn pattern(shape: PatternShape, key: u64) -> BTreeSet<u32> {
        let mut positions = BTreeSet::new();
        shape.for_each(KeyHash::from_u64(key), |position| {
            assert!(position < shape.positions);
            positions.insert(position);
        });
        positions
    }

    #[test]
    fn a_pattern_has_exactly_k_distinct_positions() {
        for (positions, hashes) in
            [(64, 1), (64, 64), (58, 17), (252, 17), (500, 12), (512, 64), (32_768, 28)]
        {
            let shape = PatternShape::new(positions, hashes);
            for key in 0..200 {
                assert_eq!(pattern(shape, key).len(), hashes as usize);
            }
        }
    }

    #[test]
    fn a_test_says_yes_exactly_to_blocks_that_hold_the_whole_pattern() {
        let shape = PatternShape::new(70, 20);
        for key in 0..500 {
            let bits = pattern(shape, key);
            assert!(shape.all(KeyHash::from_u64(key), |p| bits.contains(&p).into()));
            for &missing in &bits {
                assert!(
                    !shape.all(KeyHash::from_u64(key), |p| (p != missing && bits.contains(&p))
                        .into())
                );
            }
        }
    }

    /// Chi-square over single positions and over pairs, 5σ.
    #[test]
    fn every_position_and_every_pair_is_equally_likely() {
        let (positions, hashes, keys) = (66_u32, 9_u32, 200_000_u64);
        let shape = PatternShape::new(positions, hashes);
        let mut single = vec![0_f64; positions as usize];
        let mut pairs = vec![0_f64; (positions * positions) as usize];
        for key in 0..keys {
            let bits: Vec<u32> = pattern(shape, key).into_iter().collect();
            for (i, &a) in bits.iter().enumerate() {
                single[a as usize] += 1.0;
                for &b in &bits[i + 1..] {
                    pairs[(a * positions + b) as usize] += 1.0;
                }
            }
        }
        let chi_square = |counts: &[f64], cells: f64, per_key: f64| {
            let expected = keys as f64 * per_key / cells;
            let sum: f64 = counts
                .iter()
                .filter(|&&c| c > 0.0)
                .map(|c| (c - expected).powi(2) / expected)
                .sum();
            (sum - cells) / (2.0 * cells).sqrt()
        };
        let (n, k) = (f64::from(positions), f64::from(hashes));
        assert!(chi_square(&single, n, k) < 5.0);
        assert!(chi_square(&pairs, n * (n - 1.0) / 2.0, k * (k - 1.0) / 2.0) < 5.0);
    }
}
