//! Where a key may live, and which of those places it gets.
//!
//! Six of the papers' schemes are two [`Rule`]s over one description of the [`Candidates`]:
//!
//! | scheme | candidates | rule |
//! |---|---|---|
//! | blocked | 1, anywhere | [`LeastLoaded`] (of one) |
//! | one-plus-alpha | 1, or 2 for a share α of the keys | [`LeastLoaded`] |
//! | two-choice | 2, anywhere | [`LeastLoaded`] |
//! | single | 1, anywhere | [`FirstWithRoom`] |
//! | sequential | d, anywhere | [`FirstWithRoom`] |
//! | multi-level | 1 in each of d subtables | [`FirstWithRoom`] |
//!
//! An insert and a lookup walk the same way, over the same blocks in the same order. What would admit
//! a key on an insert proves its absence on a lookup, because loads never go down.
//!
//! Blocks can do better than that and remember whom they turned away: a *hint* is one of a few bits,
//! chosen by the key, and a lookup whose hint is unset ends there. With hints a lookup needs no load,
//! so that keys can also be removed.

mod candidates;
mod first_with_room;
mod least_loaded;

pub use candidates::{ByFingerprint, ByHash, Candidates, Lead, Level, Stop};
pub use first_with_room::FirstWithRoom;
pub use least_loaded::LeastLoaded;

use crate::block::{BlockIndex, BlockView};
use crate::hashing::KeyHash;
use crate::observer::Observer;

/// How an insert's walk over the candidates ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// A block says that it already holds the key.
    Present,
    /// The key belongs into this block.
    Admitted {
        /// The block.
        block: BlockIndex,
        /// Blocks read to find it.
        reads: u32,
    },
    /// Every candidate turned the key away.
    Rejected {
        /// Blocks read.
        reads: u32,
        /// Whether a lookup would come this far, so that the key may be in the overflow list.
        led_on: bool,
    },
}

/// Which of its candidates a key gets. Only the rules of this crate implement it.
pub trait Rule: Copy + Send + Sync + sealed::Sealed {
    /// Whether keys can be turned away by all their candidates.
    const REJECTS: bool;

    /// Whether every insert is placed, that of a key that is there already too.
    fn places_repeats(&self) -> bool {
        false
    }

    /// Walks over the candidates to place a key that may be new.
    fn place<B: BlockView, L: Lead, O: Observer>(
        &self,
        blocks: &B,
        candidates: &Candidates<L>,
        key: KeyHash,
        observer: &mut O,
    ) -> Placement;

    /// Whether a lookup goes on from a stop that does not hold its key.
    fn goes_on<B: BlockView>(&self, blocks: &B, key: KeyHash, probe: usize, stop: Stop) -> bool;

    /// Whether an insert goes on from a block that does not hold its key.
    fn looks_further<B: BlockView>(
        &self,
        blocks: &B,
        key: KeyHash,
        probe: usize,
        block: BlockIndex,
    ) -> bool;

    /// Probability that a lookup goes on after a block of this load that does not hold its key and
    /// keeps no hints.
    fn passing_probability(&self, load: u32) -> f64;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::FirstWithRoom {}
    impl Sealed for super::LeastLoaded {}
}

/// The candidate with the smallest load, the first of them if several have it.
#[inline(always)]
pub(crate) fn least_loaded<B: BlockView, L: Lead>(
    blocks: &B,
    candidates: &Candidates<L>,
    key: KeyHash,
) -> BlockIndex {
    let mut best = candidates.block(key, 0);
    let mut best_load = blocks.load(best);
    for probe in 1..candidates.choices(key) {
        let block = candidates.block(key, probe);
        let load = blocks.load(block);
        if load < best_load {
            (best, best_load) = (block, load);
        }
    }
    best
}

/// A biased coin, thrown by comparing a uniform word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Coin {
    /// The probability times 2⁶³, so that certainty has a value of its own.
    scaled: u64,
}

impl Coin {
    const CERTAIN: u64 = 1 << 63;

    /// The coin that never says yes.
    pub(crate) const NEVER: Self = Self { scaled: 0 };

    /// A coin that says yes with `probability`, which is from 0 to 1.
    pub(crate) fn new(probability: f64) -> Self {
        Self { scaled: (probability * Self::CERTAIN as f64) as u64 }
    }

    #[inline]
    pub(crate) const fn says_yes(self, word: u64) -> bool {
        word >> 1 < self.scaled
    }

    #[inline]
    pub(crate) const fn always_says_yes(self) -> bool {
        self.scaled == Self::CERTAIN
    }

    pub(crate) fn probability(self) -> f64 {
        self.scaled as f64 / Self::CERTAIN as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Coin;

    #[test]
    fn a_coin_is_certain_at_both_ends_and_fair_between() {
        assert!(!Coin::new(0.0).says_yes(0));
        assert!(Coin::new(1.0).says_yes(u64::MAX) && Coin::new(1.0).always_says_yes());
        assert!(Coin::new(0.25).says_yes((1 << 62) - 1));
        assert!(!Coin::new(0.25).says_yes(1 << 62));
        assert_eq!(Coin::new(0.3).probability(), 0.3);
    }
}
