//! Eight tags at a time, compared in one word.

/// Tags that are compared at once.
pub(crate) const WORD: usize = 8;

/// The first halves of two words, one behind the other.
#[inline]
pub(crate) const fn first_halves(first: [u8; WORD], second: [u8; WORD]) -> [u8; WORD] {
    let first = u64::from_le_bytes(first) as u32 as u64;
    (first | u64::from_le_bytes(second) << (4 * WORD)).to_le_bytes()
}

/// The highest bit of each byte.
const HIGHEST: u64 = 0x8080_8080_8080_8080;
/// One in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Positions of a word, one bit for each: the highest of its byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Positions(u64);

impl Positions {
    /// The first `count` positions, at most all of them.
    pub(crate) const fn first(count: usize) -> Self {
        if count >= WORD { Self(HIGHEST) } else { Self(HIGHEST & ((1 << (8 * count)) - 1)) }
    }

    /// The positions of the first half of a word, in both halves.
    #[inline]
    pub(crate) const fn in_both_halves(self) -> Self {
        Self(self.0 | self.0 << (4 * WORD))
    }

    /// Where `tag` stands in `word`, looking at these positions only. Exact: no carry leaves its byte.
    #[inline]
    pub(crate) const fn with_tag(self, word: [u8; WORD], tag: u8) -> Self {
        let difference = u64::from_le_bytes(word) ^ (tag as u64 * ONES);
        Self(!(((difference & !HIGHEST) + !HIGHEST) | difference) & self.0)
    }

    #[inline]
    pub(crate) const fn count(self) -> u32 {
        // The sum of all bytes, in the highest one. (`count_ones` is longer without its instruction.)
        ((self.0 >> 7).wrapping_mul(ONES) >> 56) as u32
    }
}

impl Iterator for Positions {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let position = self.0.trailing_zeros() as usize / 8;
        self.0 &= self.0 - 1;
        Some(position)
    }
}

#[cfg(test)]
mod tests;
