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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// Byte by byte.
    fn oracle(word: [u8; WORD], tag: u8, among: usize) -> Vec<usize> {
        (0..among.min(WORD)).filter(|&at| word[at] == tag).collect()
    }

    /// Words whose bytes are often equal, or differ in one bit, or are neighbours of a carry.
    fn words() -> impl Strategy<Value = [u8; WORD]> {
        let byte = prop_oneof![
            any::<u8>(),
            prop::sample::select(vec![0, 1, 2, 3, 126, 127, 128, 129, 254, 255])
        ];
        prop::array::uniform8(byte)
    }

    proptest! {
        #[test]
        fn tags_are_found_where_they_stand_and_nowhere_else(
            first in words(),
            second in words(),
            any_tag in any::<u8>(),
            from_word in 0_usize..=WORD,
            among in 0_usize..=12,
        ) {
            let tag = first.get(from_word).copied().unwrap_or(any_tag);
            let find = |word| Positions::first(among).with_tag(word, tag);
            let in_first = oracle(first, tag, among);
            prop_assert_eq!(find(first).count() as usize, in_first.len());
            prop_assert_eq!(find(first).collect::<Vec<_>>(), in_first);

            let few = among.min(WORD / 2);
            let both = Positions::first(few).in_both_halves();
            let found: Vec<_> = both.with_tag(first_halves(first, second), tag).collect();
            let in_second = oracle(second, tag, few).into_iter().map(|at| at + WORD / 2);
            let expected = oracle(first, tag, few).into_iter().chain(in_second);
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_tag_is_found_among_its_neighbours() {
        for tag in 0..=255_u8 {
            let word = [tag, 1, tag, 0, 128, 255, tag, 127];
            let found = Positions::first(WORD).with_tag(word, tag).collect::<Vec<_>>();
            assert_eq!(found, oracle(word, tag, WORD));
        }
    }
}
