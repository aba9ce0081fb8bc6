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
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod shared;
#[cfg(test)]
mod tests;

#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub(crate) use shared::SharedFingerprints;

use alloc::boxed::Box;

use crate::block::FingerprintShape;
use crate::block::isa::DetectedIsa;
use crate::error::FullError;
#[cfg(feature = "file")]
use crate::error::BuildError;
use crate::overflow::OverflowList;
#[cfg(feature = "file")]
use crate::raw::parts::Counters;
use crate::raw::parts::Parts;
use crate::storage::{Storage, Words};
use batch::BatchKernels;
use equibloom_layout::placement::Level;
use equibloom_layout::{Blocks, Candidates, Layout, MAX_FINGERPRINT_SUBTABLES, WhenFull};
use insert::InsertKernels;
use lookup::LookupKernels;

/// What does not change: shape, subtables, policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plan {
    levels: [Level; MAX_FINGERPRINT_SUBTABLES as usize],
    count: usize,
    shape: FingerprintShape,
    multiset: bool,
    when_full: WhenFull,
    /// Planned capacity of the list.
    list_capacity: u64,
}

impl Plan {
    /// The plan of a checked layout; `None` if it is of another kind.
    fn new(layout: &Layout) -> Option<Self> {
        let Blocks::Fingerprint { slots, lists, remainder_bits } = layout.blocks else { return None };
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
            when_full: layout.overflow.when_full,
            list_capacity: layout.overflow.capacity,
        })
    }

    fn levels(&self) -> &[Level] {
        &self.levels[..self.count]
    }
}

/// A filter of fingerprint blocks over plain words, or over words and a list that threads share.
#[derive(Debug, Clone)]
pub(crate) struct Fingerprints<S: Storage = Words, L = OverflowList> {
    words: S,
    plan: Plan,
    list: L,
    /// Entries in blocks and list. May have any value in a hostile file: sums saturate.
    pub(super) elements: u64,
    lookup: LookupKernels<S, L>,
    insert: InsertKernels,
    batch: BatchKernels,
}

impl Fingerprints {
    /// The filter of a checked layout with these parts; `None` if they do not fit.
    pub(super) fn over(layout: &Layout, parts: Parts) -> Option<Self> {
        let Parts { blocks, overflow, counters } = parts;
        let plan = Plan::new(layout)?;
        let (isa, common) = (DetectedIsa::detect(), plan.shape.is_common());
        let list = OverflowList::over(
            overflow,
            counters.overflow_capacity,
            counters.overflow_entries,
            layout.multiset,
        )?;
        Some(Self {
            words: blocks,
            plan,
            list,
            elements: counters.elements,
            lookup: LookupKernels::new(isa, common),
            insert: InsertKernels::new(isa, common),
            batch: BatchKernels::new(isa, common),
        })
    }

    /// The same filter by another ISA.
    #[cfg(test)]
    pub(super) fn with_isa(mut self, isa: DetectedIsa) -> Self {
        let common = self.plan.shape.is_common();
        self.lookup = LookupKernels::new(isa, common);
        self.insert = InsertKernels::new(isa, common);
        self.batch = BatchKernels::new(isa, common);
        self
    }

    pub(super) fn clear(&mut self) {
        self.words.fill_with_zeros();
        self.list.clear();
        self.elements = 0;
    }

    fn full(&self) -> FullError {
        FullError { capacity: self.list.capacity(), stored: self.elements }
    }

    pub(super) fn words(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        Box::new(self.words.iter().chain(self.list.words()))
    }

    #[cfg(feature = "file")]
    pub(super) fn parts(&self) -> Parts<&Words> {
        Parts {
            blocks: &self.words,
            overflow: self.list.storage(),
            counters: Counters {
                elements: self.elements,
                overflow_entries: self.list.len(),
                overflow_capacity: self.list.capacity(),
                ..Counters::default()
            },
        }
    }

    #[cfg(feature = "file")]
    pub(super) fn detach(&mut self) -> Result<(), BuildError> {
        self.words.detach()?;
        self.list.detach()
    }
}

/// Filters are equal if they hold the same entries.
impl PartialEq for Fingerprints {
    fn eq(&self, other: &Self) -> bool {
        let Self { words, plan, list, elements, lookup: _, insert: _, batch: _ } = self;
        (words, plan, list, elements) == (&other.words, &other.plan, &other.list, &other.elements)
    }
}

impl Eq for Fingerprints {}
