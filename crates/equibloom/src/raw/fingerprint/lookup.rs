//! Lookups.
//!
//! Most lookups of absent keys end after one comparison of bytes and one with the watermark of the first
//! block: the fewer instructions they take, the more of them a CPU overlaps while it waits for memory.
//! Everything else is an entry point of its own.

use super::{Fingerprints, Plan};
use crate::block::fingerprint::Glance;
use crate::block::isa::{ANY, Target, kernel_table};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::raw::held::Held;
use crate::raw::ledger::Ledger;

kernel_table! {
    /// The steps of a lookup.
    pub(super) struct Lookups[S: Held,] [S] {
        fn contains(filter: &Fingerprints<S>, key: KeyHash) -> bool;
        fn look_further(filter: &Fingerprints<S>, key: KeyHash) -> bool;
        #[any]
        fn look_closely(filter: &Fingerprints<S>, key: KeyHash, level: usize) -> bool;
    }
}

/// Whether the filter holds the key: mostly decided by the first block. All calls are tail calls, so that
/// no registers are saved.
#[inline(always)]
fn contains<T: Target, S: Held>(t: T, filter: &Fingerprints<S>, key: KeyHash) -> bool {
    let Plan { levels, shape, .. } = &filter.plan;
    let block = levels[0].first_block_of(key.candidate(0));
    let line = filter.words.snapshot(0, block.0 as usize);
    match shape.glance(t, &line, key) {
        Glance::Holds => true,
        Glance::Lacks => false,
        Glance::SentOn => filter.lookups.look_further(filter, key),
        Glance::Unclear => filter.lookups.look_closely(filter, key, 0),
    }
}

/// The lookup from a level on, for blocks that a glance does not decide.
#[inline(always)]
fn look_closely<T: Target, S: Held>(
    t: T,
    filter: &Fingerprints<S>,
    key: KeyHash,
    level: usize,
) -> bool {
    filter.walk(t, level, key, &mut ())
}

/// Tests the second block, if the first has sent on what the key stands for.
#[inline(always)]
fn look_further<T: Target, S: Held>(t: T, filter: &Fingerprints<S>, key: KeyHash) -> bool {
    let Plan { levels, shape, multiset, .. } = &filter.plan;
    let first = levels[0].first_block_of(key.candidate(0));
    let line = filter.words.snapshot(0, first.0 as usize);
    let entry = shape.entry_of(t, key);
    // Another thread may have sent it on after the first block was tested: it is further on then, too.
    if !shape.sends_on(t, &line, entry.byte(), *multiset) {
        return false;
    }
    let onward = entry.onward(first.0);
    // A single subtable is followed by an empty one.
    if levels[1].size > 0 {
        let second = levels[1].block_of(onward.candidate(0));
        let line = filter.words.snapshot(1, second.0 as usize);
        match shape.glance(t, &line, onward) {
            Glance::Holds => return true,
            Glance::Lacks => return false,
            Glance::SentOn | Glance::Unclear => {}
        }
    }
    filter.lookups.look_closely(filter, onward, 1)
}

impl<S: Held> Fingerprints<S> {
    /// A lookup that reports its accesses, for statistics. Uses the portable ISA.
    pub(in crate::raw) fn contains_observed<O: Observer>(
        &self,
        key: KeyHash,
        mut observer: O,
    ) -> bool {
        self.walk(ANY, 0, key, &mut observer)
    }

    /// Looks for a key in the level numbered `from` and further on.
    #[inline(always)]
    fn walk<T: Target, O: Observer>(
        &self,
        t: T,
        from: usize,
        mut key: KeyHash,
        observer: &mut O,
    ) -> bool {
        let Plan { shape, multiset, .. } = &self.plan;
        for (number, level) in self.plan.levels().iter().enumerate().skip(from) {
            observer.block_read();
            let block = level.block_of(key.candidate(0));
            let line = self.words.snapshot(number, block.0 as usize);
            let entry = shape.entry_of(t, key);
            if shape.holds(t, &line, entry) {
                return true;
            }
            if !shape.sends_on(t, &line, entry.byte(), *multiset) {
                return false;
            }
            key = entry.onward(block.0);
        }
        if !self.ledger.lists_any() {
            return false;
        }
        observer.overflow_probed();
        self.ledger.lists(key.candidate(0))
    }
}
