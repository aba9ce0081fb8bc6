//! Unary codes: how many entries does each list of a block have?

#[cfg(test)]
mod tests;

use super::fields::{Before, Field, window};
use super::isa::{Isa, Target};
use crate::storage::Line;

/// A string of bits at the beginning of a line. For each list in turn, it has a one for each of the list's
/// entries, and a zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnaryCode {
    field: Field,
    /// Number of words with bits of the code.
    words: usize,
}

impl UnaryCode {
    /// A code of this many bits.
    pub(crate) const fn new(bits: u32) -> Self {
        Self { field: Field::new(0, bits), words: bits.div_ceil(64) as usize }
    }

    /// One past the last bit.
    pub(crate) const fn end(&self) -> u32 {
        self.field.end
    }

    /// Whether the code lies within two words. Common shapes require it.
    pub(crate) const fn is_short(&self) -> bool {
        self.words <= 2
    }

    /// The words of the line with bits of the code, and the masks of these.
    #[inline(always)]
    fn words<'a>(&'a self, line: &'a Line) -> impl Iterator<Item = (u64, u64)> + 'a {
        line.iter().copied().zip(self.field.mask).take(self.words)
    }

    /// Number of ones.
    #[inline(always)]
    pub(crate) fn ones<T: Target>(&self, t: T, line: &Line) -> u32 {
        if T::COMMON {
            t.early_ones(line, &self.field)
        } else {
            self.words(line).map(|(bits, mask)| (bits & mask).count_ones()).sum()
        }
    }

    /// Number of ones before a list's first bit.
    #[inline(always)]
    pub(crate) fn ones_before<T: Target>(&self, t: T, line: &Line, list: u32) -> u32 {
        if T::COMMON {
            return t.early_ones_before(line, list);
        }
        let before = Before::new(list);
        let words = self.words(line).enumerate();
        words.map(|(word, (bits, mask))| (bits & mask & before.of_word(word)).count_ones()).sum()
    }

    /// The zeros from a list's first bit on, moved up by `shift` behind ones, and the place of the list's own
    /// among them. There are at least 57 bits, of which `shift` may move some out.
    #[inline(always)]
    pub(crate) fn zeros_of<T: Target>(
        &self,
        t: T,
        line: &Line,
        list: u32,
        shift: u32,
    ) -> (u64, u32) {
        if T::COMMON {
            return t.early_zeros(line, list, shift);
        }
        // The code has as many zeros before the list's first bit as lists that end there; the list's own comes
        // as many later as there are ones.
        let zeros = !t.window(line, list).wrapping_shl(shift);
        let rank = shift + self.ones_before(t, line, list);
        (zeros, t.select(zeros, rank % u64::BITS))
    }

    /// The positions of the ones from bit `from` of the code on, in order.
    #[inline(always)]
    pub(crate) fn ones_from<'a>(&'a self, line: &'a Line, from: u32) -> Ones<'a> {
        let word = (from / 64) as usize;
        let left = self.word(line, word) & (u64::MAX << (from % 64));
        Ones { code: self, line, word, left }
    }

    /// The code's bits of a word; none after its end.
    #[inline(always)]
    fn word(&self, line: &Line, word: usize) -> u64 {
        line.get(word).map_or(0, |bits| bits & self.field.mask[word])
    }

    /// The one with `rank` ones before it.
    #[inline(always)]
    pub(crate) fn one<T: Target>(&self, t: T, line: &Line, rank: u32) -> Option<u32> {
        self.select::<T, false>(t, line, rank)
    }

    /// The zero with `rank` zeros before it.
    #[inline(always)]
    pub(crate) fn zero<T: Target>(&self, t: T, line: &Line, rank: u32) -> Option<u32> {
        self.select::<T, true>(t, line, rank)
    }

    #[inline(always)]
    fn select<T: Target, const ZEROS: bool>(&self, t: T, line: &Line, rank: u32) -> Option<u32> {
        let own = |bits: u64, mask| if ZEROS { !bits & mask } else { bits & mask };
        if T::COMMON {
            let mask = &self.field.mask;
            let (low, high) = (own(line[0], mask[0]), own(line[1], mask[1]));
            // Branchless selection of the word.
            let in_low = low.count_ones();
            let is_low = rank < in_low;
            let (bits, rank) = if is_low { (low, rank) } else { (high, rank - in_low) };
            return (rank < bits.count_ones())
                .then(|| 64 * u32::from(!is_low) + t.select(bits, rank));
        }
        let mut rank = rank;
        for ((bits, mask), word) in self.words(line).zip(0..) {
            let bits = own(bits, mask);
            let count = bits.count_ones();
            if rank < count {
                return Some(64 * word + t.select(bits, rank));
            }
            rank -= count;
        }
        None
    }

    /// Number of successive ones that end before bit `at` of the code, at most 64.
    #[inline(always)]
    pub(crate) fn run_before<T: Target>(&self, _t: T, line: &Line, at: u32) -> u32 {
        let before = if T::COMMON {
            // Branchless: `at` is below 128.
            let both = u128::from(line[1]) << 64 | u128::from(line[0]);
            ((both << 1 << (127 - at % 128)) >> 64) as u64
        } else if at >= 64 {
            window(line, at - 64)
        } else {
            line[0] << (63 - at) << 1
        };
        before.leading_ones().min(at)
    }

    /// Inserts a one at bit `at`: higher bits move up, the last is lost.
    #[inline(always)]
    pub(crate) fn insert_one<T: Target>(&self, t: T, line: &mut Line, at: u32) {
        if T::COMMON {
            t.insert_early_one(line, &self.field, at);
        } else {
            t.insert_bits(line, &self.field, at, 1, 1);
        }
    }

    /// Removes bit `at`: higher bits move down, the last becomes zero.
    #[inline(always)]
    pub(crate) fn remove_bit<T: Target>(&self, t: T, line: &mut Line, at: u32) {
        if T::COMMON {
            t.remove_early_bit(line, &self.field, at);
        } else {
            t.remove_bits(line, &self.field, at, 1);
        }
    }
}

/// The positions of ones, from [`UnaryCode::ones_from`].
pub(crate) struct Ones<'a> {
    code: &'a UnaryCode,
    line: &'a Line,
    word: usize,
    /// The word's ones that are still to come.
    left: u64,
}

impl Iterator for Ones<'_> {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        while self.left == 0 {
            self.word += 1;
            if self.word >= self.code.words {
                return None;
            }
            self.left = self.code.word(self.line, self.word);
        }
        let one = 64 * self.word as u32 + self.left.trailing_zeros();
        self.left &= self.left - 1;
        Some(one)
    }
}
