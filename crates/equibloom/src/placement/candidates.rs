//! The blocks a key may live in, as a short list of ranges.

use super::Coin;
use crate::block::BlockIndex;
use crate::hashing::{KeyHash, scale};
use crate::parameters::MAX_CHOICES;

/// A range of blocks, one of which is a candidate of each key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// First block.
    pub offset: u64,
    /// Number of blocks.
    pub size: u64,
}

/// The candidates of every key: one block in each level, tried in order. Levels may be the same
/// range (candidates anywhere) or disjoint (subtables). A share of the keys can be confined to the
/// first level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidates {
    // Inline and not a vector: the hot path reads it on every probe.
    levels: [Level; MAX_CHOICES as usize],
    count: usize,
    beyond_the_first: Coin,
}

impl Candidates {
    /// `choices` candidates anywhere among `blocks`; at most [`MAX_CHOICES`].
    pub(crate) fn anywhere(blocks: u64, choices: u32) -> Self {
        let level = Level { offset: 0, size: blocks };
        Self::from_levels((0..choices).map(|_| level), 1.0)
    }

    /// One candidate anywhere among `blocks`, and a second one for a share `alpha` of the keys.
    pub(crate) fn one_or_two(blocks: u64, alpha: f64) -> Self {
        let level = Level { offset: 0, size: blocks };
        Self::from_levels([level, level], alpha)
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
        Self { levels: list, count, beyond_the_first: Coin::new(beyond_the_first) }
    }

    /// The levels in the order they are tried.
    pub fn levels(&self) -> &[Level] {
        &self.levels[..self.count]
    }

    /// Share of keys that have more than one candidate.
    pub(crate) fn share_beyond_the_first(&self) -> f64 {
        self.beyond_the_first.probability()
    }

    /// How many candidates the key has.
    #[inline]
    pub fn choices(&self, key: KeyHash) -> usize {
        if self.beyond_the_first.always_says_yes()
            || self.beyond_the_first.says_yes(key.second_choice())
        {
            self.count
        } else {
            1
        }
    }

    /// The key's candidate at `probe`, counted from 0.
    #[inline]
    pub fn block(&self, key: KeyHash, probe: usize) -> BlockIndex {
        let level = self.levels[probe];
        BlockIndex(level.offset + scale(key.candidate(probe), level.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_stay_inside_their_subtables() {
        let candidates = Candidates::in_subtables(&[5, 3, 1]);
        for key in (0..1_000).map(KeyHash::from_u64) {
            assert_eq!(candidates.choices(key), 3);
            assert!((0..5).contains(&candidates.block(key, 0).0));
            assert!((5..8).contains(&candidates.block(key, 1).0));
            assert_eq!(candidates.block(key, 2).0, 8);
        }
    }

    /// Ten thousand keys over 10¹² blocks: computed, not allocated. If indices were cut to 32 bits
    /// they would all lie in the first half per cent.
    #[test]
    fn block_indices_spread_beyond_2_to_the_32() {
        let blocks = 1_000_000_000_000_u64;
        let candidates = Candidates::anywhere(blocks, 3);
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
        let candidates = Candidates::one_or_two(100, 0.3);
        let keys = 100_000;
        let two =
            (0..keys).filter(|&key| candidates.choices(KeyHash::from_u64(key)) == 2).count() as f64;
        assert!((two / keys as f64 - 0.3).abs() < 4.0 * (0.3 * 0.7 / keys as f64).sqrt());
    }
}
