//! Candidates and rules as functions of a key's hash.
//!
//! Six of the papers' placements are two rules over one description of the candidates:
//!
//! | placement | candidates | rule |
//! |---|---|---|
//! | blocked | 1, anywhere | [`LeastLoaded`] (of one) |
//! | one-plus-alpha | 1, or 2 for a share α of the keys | [`LeastLoaded`] |
//! | two-choice | 2, anywhere | [`LeastLoaded`] |
//! | single | 1, anywhere | [`FirstWithRoom`] |
//! | sequential | d, anywhere | [`FirstWithRoom`] |
//! | multi-level | 1 in each of d subtables | [`FirstWithRoom`] |
//!
//! An insert and a lookup probe the same blocks in the same order ([`Levels::walk`]). A block that would
//! admit a key on an insert proves its absence on a lookup, because loads never decrease. Where blocks have
//! *hints* (a key sets one of a few bits in a block that rejects it), a lookup ends at a block whose hint
//! is unset, and needs no load.
//!
//! Fingerprint blocks have a rule of their own, [`Rule::KeepLargest`](crate::Rule::KeepLargest), which
//! moves stored keys: the library has it.

mod first_with_room;
mod least_loaded;
mod levels;

pub use first_with_room::FirstWithRoom;
pub use least_loaded::LeastLoaded;
pub use levels::{Level, Levels, Probe};

use crate::hash::KeyHash;

/// Index of a block in its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockIndex(pub u64);

/// The view of blocks that a rule uses: load, membership and hints.
pub trait BlockView {
    /// The load of a block, in a unit chosen by the array.
    fn load(&self, block: BlockIndex) -> u32;

    /// Whether the block may hold the key.
    fn test(&self, block: BlockIndex, key: KeyHash) -> bool;

    /// Whether the hint of this probe is set; `None` if the blocks have no hints.
    #[inline(always)]
    fn hint_is_set(&self, _probe: Probe) -> Option<bool> {
        None
    }
}

/// Receives every memory access of an operation.
///
/// The unit type `()` ignores all accesses and compiles to nothing.
pub trait Observer {
    /// A block was read (in the classical filter: a bit position).
    fn block_read(&mut self);
    /// The overflow list was probed. The papers do not count these accesses.
    fn overflow_probed(&mut self);
}

impl Observer for () {
    #[inline(always)]
    fn block_read(&mut self) {}
    #[inline(always)]
    fn overflow_probed(&mut self) {}
}

impl<O: Observer + ?Sized> Observer for &mut O {
    #[inline(always)]
    fn block_read(&mut self) {
        O::block_read(self);
    }
    #[inline(always)]
    fn overflow_probed(&mut self) {
        O::overflow_probed(self);
    }
}

/// The outcome of a rule for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// A block already holds the key.
    Present,
    /// This block admits the key.
    Admitted {
        /// The block.
        block: BlockIndex,
        /// Blocks read to find it.
        reads: u32,
    },
    /// Every candidate rejected the key.
    Rejected {
        /// Blocks read.
        reads: u32,
        /// Whether a lookup would reach the overflow list, so that the key may be in it.
        reachable: bool,
    },
}

/// Chooses one of a key's candidates: [`FirstWithRoom`] or [`LeastLoaded`].
pub trait Choose: Copy + Send + Sync {
    /// Whether a key can be rejected by all its candidates.
    const REJECTS: bool;

    /// Chooses the block for a key that may be new.
    fn choose<B: BlockView, O: Observer>(
        &self,
        blocks: &B,
        levels: &Levels,
        key: KeyHash,
        observer: &mut O,
    ) -> Choice;

    /// Whether a lookup continues after a block that does not hold its key, at the probe numbered `number`.
    fn lookup_continues<B: BlockView>(
        &self,
        blocks: &B,
        key: KeyHash,
        number: usize,
        probe: Probe,
    ) -> bool;

    /// Whether a block of this load admits the key at the probe numbered `number`, if the rule chooses it.
    fn admits(&self, load: u32, key: KeyHash, number: usize) -> bool;

    /// Probability that a lookup continues after a block of this load that does not hold its key and has no
    /// hints.
    fn continuing_probability(&self, load: u32) -> f64;
}

/// The candidate with the smallest load, the first of equals.
#[inline(always)]
pub fn least_loaded<B: BlockView>(blocks: &B, levels: &Levels, key: KeyHash) -> BlockIndex {
    let mut best = levels.block(key, 0);
    let mut best_load = blocks.load(best);
    for number in 1..levels.choices(key) {
        let block = levels.block(key, number);
        let load = blocks.load(block);
        if load < best_load {
            (best, best_load) = (block, load);
        }
    }
    best
}
