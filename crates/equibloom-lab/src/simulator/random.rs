//! Random numbers of the simulator.

use core::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The seed of one repetition of one experiment: distinct for all, and independent of the thread.
pub fn seed_of(seed: u64, what: &str, repetition: u64) -> u64 {
    // FNV-1a over the name, then the finaliser of SplitMix64.
    let start = seed ^ 0xcbf2_9ce4_8422_2325;
    let named = what
        .bytes()
        .fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mut mixed = named.wrapping_add((repetition + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Random words: the hashes of keys.
pub fn words(seed: u64) -> impl Iterator<Item = u64> {
    let mut random = Random::new(seed);
    std::iter::repeat_with(move || random.0.next_u64())
}

pub(super) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A whole number below `end`, uniform up to `end / 2⁶⁴`.
    #[inline]
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(end)) >> 64) as u64
    }

    /// A bucket of the range.
    #[inline]
    pub(super) fn within(&mut self, range: &Range<u64>) -> usize {
        (range.start + self.below(range.end - range.start)) as usize
    }

    /// True with this probability. Certain answers draw nothing.
    #[inline]
    pub(super) fn coin(&mut self, probability: f64) -> bool {
        probability >= 1.0 || (probability > 0.0 && self.unit() < probability)
    }

    /// A number in [0, 1).
    #[inline]
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}
