//! Filters that many threads insert into and query at once.
//!
//! # No false negative
//! Let an insert have returned before a lookup begins. Its entry is then in a block of its way, or in the
//! list. A lookup reads the blocks in the order of the subtables, each as it was at one moment
//! ([`Storage::snapshot`](crate::storage::Storage::snapshot)). An entry leaves a block in one write, which
//! also raises the watermark, and after it was stored further on. So a lookup that does not find it at a
//! block reads a watermark that sends it on, and then finds it there, or reads a watermark that sends it
//! further.

use super::insert::{Overflow, Visit, place};
use super::lookup::{Entries, LookupKernels};
use super::{Fingerprints, Plan};
use crate::block::isa::{DetectedIsa, Nearness, Target, entry_points, kernels};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::overflow::ListFull;
use crate::raw::Insertion;
use crate::raw::shared::overflow::{Pushed, SharedOverflow};
use crate::raw::shared::tally::Tally;
use crate::storage::{SharedWords, Storage};

impl Entries for SharedOverflow {
    fn contains(&self, entry: u64) -> bool {
        SharedOverflow::contains(self, entry)
    }

    fn is_empty(&self) -> bool {
        false
    }
}

impl Overflow for &SharedOverflow {
    fn add(&mut self, entry: u64, plan: &Plan) -> Result<bool, ListFull> {
        let pushed = self.push(entry, !plan.multiset, plan.when_full, || ())?;
        Ok(pushed == Pushed::New)
    }
}

/// A filter of fingerprint blocks that threads share.
pub(crate) struct SharedFingerprints {
    /// With the number of entries that it had before.
    filter: Fingerprints<SharedWords, SharedOverflow>,
    tally: Tally,
    insert: InsertKernel,
}

/// The function of a filter's ISA and shape.
#[derive(Clone, Copy)]
struct InsertKernel {
    insert: unsafe fn(&SharedFingerprints, KeyHash) -> Result<Insertion, FullError>,
}

impl InsertKernel {
    fn new(isa: DetectedIsa, common: bool) -> Self {
        kernels!(isa, common, { insert: insert })
    }
}

impl SharedFingerprints {
    pub(in crate::raw) fn new(filter: Fingerprints) -> Self {
        let Fingerprints { words, plan, list, elements, lookup: _, insert, batch } = filter;
        let (isa, common) = (DetectedIsa::detect(), plan.shape.is_common());
        Self {
            filter: Fingerprints {
                words: SharedWords::new(words, plan.count),
                plan,
                list: SharedOverflow::new(list),
                elements,
                lookup: LookupKernels::new(isa, common),
                insert,
                batch,
            },
            tally: Tally::new(),
            insert: InsertKernel::new(isa, common),
        }
    }

    pub(in crate::raw) fn into_filter(self) -> Fingerprints {
        let elements = self.elements();
        let Fingerprints { words, plan, list, insert, batch, .. } = self.filter;
        let (isa, common) = (DetectedIsa::detect(), plan.shape.is_common());
        Fingerprints {
            words: words.into_words(),
            plan,
            list: list.into_list(),
            elements,
            lookup: LookupKernels::new(isa, common),
            insert,
            batch,
        }
    }

    #[inline]
    pub(in crate::raw) fn insert(&self, key: KeyHash) -> Result<Insertion, FullError> {
        // SAFETY: chosen for this CPU.
        unsafe { (self.insert.insert)(self, key) }
    }

    #[inline]
    pub(in crate::raw) fn contains(&self, key: KeyHash) -> bool {
        self.filter.contains(key)
    }

    pub(in crate::raw) fn prefetch(&self, key: KeyHash) {
        let block = self.filter.plan.levels[0].first_block_of(key.candidate(0));
        self.filter.words.prefetch(block.0 as usize, Nearness::First);
    }

    pub(in crate::raw) fn elements(&self) -> u64 {
        self.filter.elements.saturating_add(self.tally.elements())
    }
}

entry_points! {
    fn insert[][](filter: &SharedFingerprints, key: KeyHash) -> Result<Insertion, FullError>;
}

#[inline(always)]
fn insert<T: Target>(
    t: T,
    filter: &SharedFingerprints,
    key: KeyHash,
) -> Result<Insertion, FullError> {
    let Fingerprints { words, plan, list, .. } = &filter.filter;
    let first = Visit::first(t, plan, key);
    let placed = place(t, plan, &mut { words }, &mut { list }, first, &mut ());
    let placed = placed.map_err(|ListFull| FullError {
        capacity: list.capacity(),
        stored: filter.elements(),
    })?;
    if placed.added {
        filter.tally.count(0);
    }
    Ok(placed.insertion)
}
