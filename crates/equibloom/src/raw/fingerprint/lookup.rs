//! Lookups.
//!
//! Most lookups of absent keys end after one comparison of bytes and one with the watermark of the first
//! block: the fewer instructions they take, the more of them a CPU overlaps while it waits for memory.
//! Everything else is a function of its own.

use super::{Fingerprints, Plan};
use crate::block::isa::{DetectedIsa, Target, entry_points, kernels};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::overflow::OverflowList;
use crate::storage::Storage;

/// An overflow list that lookups search.
pub(super) trait Entries {
    fn contains(&self, entry: u64) -> bool;
    fn is_empty(&self) -> bool;
}

impl Entries for OverflowList {
    fn contains(&self, entry: u64) -> bool {
        OverflowList::contains(self, entry)
    }

    fn is_empty(&self) -> bool {
        OverflowList::is_empty(self)
    }
}

/// The functions of a filter's ISA and shape.
#[derive(Debug)]
pub(super) struct LookupKernels<S: Storage, L> {
    contains: unsafe fn(&Fingerprints<S, L>, KeyHash) -> bool,
    walk: unsafe fn(&Fingerprints<S, L>, KeyHash) -> bool,
}

impl<S: Storage, L> Clone for LookupKernels<S, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Storage, L> Copy for LookupKernels<S, L> {}

impl<S: Storage, L: Entries> LookupKernels<S, L> {
    pub(super) fn new(isa: DetectedIsa, common: bool) -> Self {
        kernels!(isa, common, { contains: contains::<S, L>, walk: walk::<S, L> })
    }
}

impl<S: Storage, L: Entries> Fingerprints<S, L> {
    #[inline]
    pub(crate) fn contains(&self, key: KeyHash) -> bool {
        // SAFETY: chosen for this CPU.
        unsafe { (self.lookup.contains)(self, key) }
    }

    /// A lookup that reports its accesses, for statistics. Uses the portable ISA.
    pub(crate) fn contains_observed<O: Observer>(&self, key: KeyHash, mut observer: O) -> bool {
        search(crate::block::ANY, self, key, &mut observer)
    }
}

entry_points! {
    fn contains[S: Storage, L: Entries,][S, L](filter: &Fingerprints<S, L>, key: KeyHash) -> bool;
    fn walk[S: Storage, L: Entries,][S, L](filter: &Fingerprints<S, L>, key: KeyHash) -> bool;
}

/// Whether the filter holds the key: mostly decided by the first block.
#[inline(always)]
fn contains<T: Target, S: Storage, L: Entries>(
    t: T,
    filter: &Fingerprints<S, L>,
    key: KeyHash,
) -> bool {
    let Plan { levels, shape, .. } = &filter.plan;
    let block = levels[0].first_block_of(key.candidate(0));
    let line = filter.words.snapshot(0, block.0 as usize);
    let byte = shape.byte_of::<T>(key);
    if !shape.may_hold(t, &line, byte) && !shape.may_have_sent_on(t, &line, byte) {
        return false;
    }
    // SAFETY: chosen for this CPU.
    unsafe { (filter.lookup.walk)(filter, key) }
}

/// The whole lookup.
#[inline(always)]
fn walk<T: Target, S: Storage, L: Entries>(t: T, filter: &Fingerprints<S, L>, key: KeyHash) -> bool {
    search(t, filter, key, &mut ())
}

#[inline(always)]
fn search<T: Target, S: Storage, L: Entries, O: Observer>(
    t: T,
    filter: &Fingerprints<S, L>,
    mut key: KeyHash,
    observer: &mut O,
) -> bool {
    let Plan { shape, multiset, .. } = &filter.plan;
    for (number, level) in filter.plan.levels().iter().enumerate() {
        observer.block_read();
        let block = level.block_of(key.candidate(0));
        let line = filter.words.snapshot(number, block.0 as usize);
        let entry = shape.entry_of(t, key);
        if shape.holds(t, &line, entry) {
            return true;
        }
        if !shape.sends_on(t, &line, entry.byte(), *multiset) {
            return false;
        }
        key = entry.onward(block.0);
    }
    if filter.list.is_empty() {
        return false;
    }
    observer.overflow_probed();
    filter.list.contains(key.candidate(0))
}
