//! The two hash functions of a cuckoo table.

use core::num::NonZeroU8;

use crate::tag::{DEFAULT_MULTIPLIER, spread, tag_of};
use equibloom_layout::{KeyHash, scale};

/// A pair of hash functions, one for each table, that can be exchanged for another pair.
pub trait TwoFunctions: Clone {
    /// The entry's bucket in each of the two tables, of `size` buckets each.
    fn buckets(&self, hash: u64, size: u64) -> [u64; 2];

    /// The byte that is kept beside the entry.
    fn tag(&self, hash: u64) -> NonZeroU8;

    /// Other functions, for a rehash.
    #[must_use]
    fn renewed(&self) -> Self;
}

/// Functions drawn by a multiplier, which a rehash exchanges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seeded {
    multiplier: u64,
}

impl Default for Seeded {
    fn default() -> Self {
        Self { multiplier: DEFAULT_MULTIPLIER }
    }
}

impl Seeded {
    #[inline]
    fn key(self, hash: u64) -> KeyHash {
        spread(hash, self.multiplier)
    }
}

impl TwoFunctions for Seeded {
    /// The two halves of one word: the first bucket comes from its upper bits, the second from its lower
    /// ones, the tag from what is left below both.
    #[inline]
    fn buckets(&self, hash: u64, size: u64) -> [u64; 2] {
        let word = self.key(hash).candidate(0);
        [scale(word, size), scale(word.rotate_left(32), size)]
    }

    #[inline]
    fn tag(&self, hash: u64) -> NonZeroU8 {
        tag_of(self.key(hash))
    }

    fn renewed(&self) -> Self {
        // Odd numbers lose nothing.
        Self { multiplier: KeyHash::from_u64(self.multiplier).candidate(1) | 1 }
    }
}

/// The functions of the lecture: h1(k) = k mod m, h2(k) = ⌊k/m⌋ mod m, of which a rehash makes
/// h(k) = (a·k + b mod 2⁶¹ − 1) mod m with other a and b each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lecture {
    rehashes: u64,
}

impl Lecture {
    /// How often the functions were exchanged.
    pub const fn rehashes(&self) -> u64 {
        self.rehashes
    }
}

impl TwoFunctions for Lecture {
    fn buckets(&self, hash: u64, size: u64) -> [u64; 2] {
        if self.rehashes == 0 {
            return [hash % size, hash / size % size];
        }
        let draws = KeyHash::from_u64(self.rehashes);
        [0, 2].map(|first| {
            const PRIME: u128 = (1 << 61) - 1;
            let (a, b) = (draws.pattern_word(first), draws.pattern_word(first + 1));
            let value = (u128::from(a) * u128::from(hash) + u128::from(b)) % PRIME;
            (value % u128::from(size)) as u64
        })
    }

    fn tag(&self, hash: u64) -> NonZeroU8 {
        tag_of(KeyHash::from_u64(hash))
    }

    fn renewed(&self) -> Self {
        Self { rehashes: self.rehashes + 1 }
    }
}
