//! Lookups.
//!
//! Most lookups of absent keys end after one comparison of bytes and one with the watermark of the first
//! block: the fewer instructions they take, the more of them a CPU overlaps while it waits for memory.
//! Everything else is an entry point of its own.

use super::{Fingerprints, Plan};
use crate::block::fingerprint::{Glance, is_shortened, old_watermark};
use crate::block::isa::{ANY, Target, kernel_table};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::raw::held::Held;
use crate::raw::ledger::Ledger;
use crate::storage::Storage;

kernel_table! {
    /// The steps of a lookup.
    pub(super) struct Lookups[S: Held,] [S] {
        fn contains(filter: &Fingerprints<S>, key: KeyHash) -> bool;
        fn look_further(filter: &Fingerprints<S>, key: KeyHash) -> bool;
        #[any]
        fn look_closely(filter: &Fingerprints<S>, key: KeyHash, level: usize) -> bool;
        #[any]
        fn contains_overloaded(filter: &Fingerprints<S>, key: KeyHash) -> bool;
    }
}

impl<S: Held> Lookups<S> {
    /// The same for a filter with shortened blocks.
    pub(super) fn overloaded(self) -> Self {
        Self { contains: self.contains_overloaded, ..self }
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
        // Another thread may have shortened the block, whose bits mean something else then.
        Glance::Holds if S::IS_SHARED && is_shortened(&line) => {
            filter.lookups.contains_overloaded(filter, key)
        }
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

/// The whole lookup, in filters with shortened blocks.
#[inline(always)]
fn contains_overloaded<T: Target, S: Held>(t: T, filter: &Fingerprints<S>, key: KeyHash) -> bool {
    let Fingerprints { plan, words, ledger, .. } = filter;
    walk::<T, S, _, _, true>(t, plan, words, ledger, 0, key, &mut ())
}

/// Tests the second block, if the first has sent on what the key stands for.
#[inline(always)]
fn look_further<T: Target, S: Held>(t: T, filter: &Fingerprints<S>, key: KeyHash) -> bool {
    let Plan { levels, shape, multiset, .. } = &filter.plan;
    let first = levels[0].first_block_of(key.candidate(0));
    let line = filter.words.snapshot(0, first.0 as usize);
    let entry = shape.entry_of(t, key);
    if S::IS_SHARED && is_shortened(&line) {
        return filter.lookups.contains_overloaded(filter, key);
    }
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
        if self.ledger.is_overloaded() {
            let Self { plan, words, ledger, .. } = self;
            return walk::<_, S, _, _, true>(ANY, plan, words, ledger, 0, key, &mut observer);
        }
        self.walk(ANY, 0, key, &mut observer)
    }

    /// Looks for a key in the level numbered `from` and further on.
    #[inline(always)]
    fn walk<T: Target, O: Observer>(
        &self,
        t: T,
        from: usize,
        key: KeyHash,
        observer: &mut O,
    ) -> bool {
        let Self { plan, words, ledger, .. } = self;
        // Another thread may have shortened blocks.
        if S::IS_SHARED {
            walk::<T, S, _, O, true>(t, plan, words, ledger, from, key, observer)
        } else {
            walk::<T, S, _, O, false>(t, plan, words, ledger, from, key, observer)
        }
    }
}

/// Looks for a key in the level numbered `from` and further on. `SHORTENED`: blocks may be.
#[inline(always)]
pub(super) fn walk<
    T: Target,
    S: Storage,
    L: Ledger + ?Sized,
    O: Observer,
    const SHORTENED: bool,
>(
    t: T,
    plan: &Plan,
    words: &S,
    ledger: &L,
    from: usize,
    mut key: KeyHash,
    observer: &mut O,
) -> bool {
    let Plan { shape, multiset, .. } = plan;
    for (number, level) in plan.levels().iter().enumerate().skip(from) {
        observer.block_read();
        let block = level.block_of(key.candidate(0));
        let line = words.snapshot(number, block.0 as usize);
        let entry = shape.entry_of(t, key);
        if SHORTENED && plan.shortens && is_shortened(&line) {
            if shape.holds_shortened(t, &line, entry) {
                return true;
            }
            if entry.byte() > old_watermark(&line) {
                return false;
            }
        } else {
            if shape.holds(t, &line, entry) {
                return true;
            }
            if !shape.sends_on(t, &line, entry.byte(), *multiset) {
                return false;
            }
        }
        key = entry.onward(block.0);
    }
    if !ledger.lists_any() {
        return false;
    }
    observer.overflow_probed();
    ledger.lists(key.candidate(0))
}
