//! Filters of fingerprint blocks.
//!
//! A key arrives at a block of the first subtable. A full block keeps its largest entries; what it sends on
//! arrives at a block of the next subtable, which depends only on the block and the entry, and at last in
//! the overflow list. So the blocks, the list and the number of entries depend only on the set of keys, in
//! whatever order they are inserted, by however many threads, or merged.
//!
//! The same functions run over plain and over shared words. An entry that is sent on is stored further on
//! before its block changes, so that a lookup at any time finds it in one place or the other; and if the
//! list refuses it, nothing has changed.

mod batch;
mod contents;
mod insert;
mod lookup;
#[cfg(all(test, loom))]
mod models;
mod overload;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod shared;
#[cfg(test)]
mod tests;

pub(super) use insert::OwnFingerprintInserts;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub(super) use shared::SharedFingerprintInserts;

use super::held::Held;
use super::ledger::{Ledger, OwnLedger};
use crate::block::FingerprintShape;
use crate::block::isa::{DetectedIsa, KernelTable, Nearness};
use crate::hashing::KeyHash;
use crate::storage::Words;
use equibloom_layout::placement::Level;
use equibloom_layout::{Blocks, Candidates, Layout, MAX_FINGERPRINT_SUBTABLES, WhenFull};
use lookup::Lookups;

/// What does not change: shape, subtables, policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plan {
    levels: [Level; MAX_FINGERPRINT_SUBTABLES as usize],
    count: usize,
    shape: FingerprintShape,
    multiset: bool,
    /// What the list does when it is full: that of a multiset may grow.
    when_full: WhenFull,
    /// Whether full blocks are [shortened](overload) when the list refuses an entry. Otherwise the key is refused.
    shortens: bool,
}

impl Plan {
    /// The plan of a checked layout; `None` if it is of another kind.
    fn new(layout: &Layout) -> Option<Self> {
        let Blocks::Fingerprint { slots, lists, remainder_bits } = layout.blocks else {
            return None;
        };
        let Candidates::Subtables { sizes } = &layout.candidates else { return None };
        let mut levels = [Level { offset: 0, size: 0 }; MAX_FINGERPRINT_SUBTABLES as usize];
        let mut offset = 0;
        for (level, &size) in levels.iter_mut().zip(sizes.iter()) {
            *level = Level { offset, size };
            offset += size;
        }
        Some(Self {
            levels,
            count: sizes.len().min(levels.len()),
            shape: FingerprintShape::new(slots, lists, remainder_bits),
            multiset: layout.multiset,
            when_full: if layout.multiset { layout.overflow.when_full } else { WhenFull::Refuse },
            shortens: layout.overflow.when_full == WhenFull::Saturate && !layout.multiset,
        })
    }

    fn levels(&self) -> &[Level] {
        &self.levels[..self.count]
    }
}

/// A filter of fingerprint blocks. Over [`SharedWords`](crate::storage::SharedWords) it is shared by
/// threads.
#[derive(Clone)]
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "shared filters need the ISA again"))]
pub(crate) struct Fingerprints<S: Held = Words> {
    pub(super) words: S,
    plan: Plan,
    pub(super) ledger: S::Ledger,
    isa: DetectedIsa,
    lookups: Lookups<S>,
    inserts: S::FingerprintInserts,
}

impl<S: Held> Fingerprints<S> {
    fn new(plan: Plan, words: S, ledger: S::Ledger, isa: DetectedIsa) -> Self {
        let is_common = plan.shape.is_common();
        let lookups = Lookups::new(isa, is_common);
        let inserts = KernelTable::new(isa, is_common);
        let mut filter = Self { words, plan, ledger, isa, lookups, inserts };
        filter.choose_lookups();
        filter
    }

    /// Lookups cope with shortened blocks if there may be any.
    fn choose_lookups(&mut self) {
        self.lookups = Lookups::new(self.isa, self.plan.shape.is_common());
        if self.ledger.is_overloaded() {
            self.lookups = self.lookups.overloaded();
        }
    }

    #[inline]
    pub(super) fn contains(&self, key: KeyHash) -> bool {
        self.lookups.contains(self, key)
    }

    /// Prefetches the key's first block.
    #[inline(always)]
    pub(super) fn prefetch_first(&self, key: KeyHash) {
        let block = self.plan.levels[0].first_block_of(key.candidate(0));
        self.words.prefetch(block.0 as usize, Nearness::First);
    }
}

impl Fingerprints {
    /// The filter of a checked layout; `None` if that is of another kind.
    pub(super) fn over(layout: &Layout, words: Words, ledger: OwnLedger) -> Option<Self> {
        let mut filter = Self::new(Plan::new(layout)?, words, ledger, DetectedIsa::detect());
        filter.choose_kernels();
        Some(filter)
    }
}
