//! Lookups.
//!
//! Most lookups end after a quick test of the first block. A lookup is therefore divided into steps, each an
//! entry point, and the first is as short as possible: the fewer instructions, the more lookups the CPU
//! overlaps while it waits for memory.
//!
//! ```text
//! glance at the first block ── perhaps ──▶ settle it
//!   │no                                      │no
//!   ├── and the lookup continues ────▶┐◀─────┘
//!   ▼                                 ▼
//! absent (if the access         glance at the second block ── perhaps, or continues ──▶ walk
//! budget is spent: check the
//! overflow list)
//! ```
//!
//! Steps pass on only the filter, the key and a block: few enough words to stay in registers.

use super::balanced::{Balanced, Plan};
use super::held::Held;
use super::ledger::Ledger;
use crate::block::isa::{ANY, Target, kernel_table};
use crate::block::{BlockIndex, Holds};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::placement::{Choose, Probe};

kernel_table! {
    /// The steps of a lookup.
    pub(super) struct Lookups[R: Choose, S: Held,] [R, S] {
        fn contains(filter: &Balanced<R, S>, key: KeyHash) -> bool;
        #[any]
        fn settle(filter: &Balanced<R, S>, key: KeyHash, first: BlockIndex) -> bool;
        fn look_further(filter: &Balanced<R, S>, key: KeyHash, first: BlockIndex) -> bool;
        #[any]
        fn walk(filter: &Balanced<R, S>, key: KeyHash, from: usize) -> bool;
    }
}

/// Quick test of the first block.
#[inline(always)]
fn contains<T: Target, R: Choose, S: Held>(
    target: T,
    filter: &Balanced<R, S>,
    key: KeyHash,
) -> bool {
    let first = filter.plan.levels.first_block(key);
    match filter.plan.shape.glance(target, &filter.words, first, key) {
        Holds::Yes => true,
        Holds::Perhaps => filter.lookups.settle(filter, key, first),
        Holds::No => filter.leave_first(target, key, first),
    }
}

/// Final test of the first block.
#[inline(always)]
fn settle<T: Target, R: Choose, S: Held>(
    target: T,
    filter: &Balanced<R, S>,
    key: KeyHash,
    first: BlockIndex,
) -> bool {
    filter.plan.shape.settle(&filter.words, first, key) || filter.leave_first(target, key, first)
}

/// Tests the second block. The first does not hold the key, and the lookup continues after it.
#[inline(always)]
fn look_further<T: Target, R: Choose, S: Held>(
    target: T,
    filter: &Balanced<R, S>,
    key: KeyHash,
    first: BlockIndex,
) -> bool {
    let Plan { levels, shape, .. } = &filter.plan;
    let choices = levels.choices(key);
    if choices > 1 {
        let second = levels.level(1).block_of(Probe::at(0, key, first).onward);
        match shape.glance(target, &filter.words, second, key) {
            Holds::Yes => return true,
            Holds::Perhaps => return filter.lookups.walk(filter, key, 1),
            Holds::No => {}
        }
        if !filter.continues_at(target, 1, key, Probe::at(1, key, second)) {
            return filter.end(target, key);
        }
        if choices > 2 {
            return filter.lookups.walk(filter, key, 2);
        }
    }
    filter.ledger.lists_any() && filter.is_listed(key)
}

/// Tests block after block, beginning with the candidate numbered `from`.
#[inline(always)]
fn walk<T: Target, R: Choose, S: Held>(
    target: T,
    filter: &Balanced<R, S>,
    key: KeyHash,
    from: usize,
) -> bool {
    filter.walk(target, key, from, &mut ())
}

impl<R: Choose, S: Held> Balanced<R, S> {
    /// Continues after the first block, which does not hold the key, or ends.
    #[inline(always)]
    fn leave_first<T: Target>(&self, target: T, key: KeyHash, first: BlockIndex) -> bool {
        if self.continues_at(target, 0, key, Probe::at(0, key, first)) {
            self.lookups.look_further(self, key, first)
        } else {
            self.end(target, key)
        }
    }

    /// Ends at a block that did not reject the key. Once the budget is spent, such keys may be in the
    /// overflow list.
    #[inline(always)]
    fn end<T: Target>(&self, _target: T, key: KeyHash) -> bool {
        R::REJECTS && !T::COMMON && self.ledger.is_spent() && self.is_listed(key)
    }

    /// Whether a lookup continues after a block that does not hold its key.
    #[inline(always)]
    pub(super) fn continues_at<T: Target>(
        &self,
        target: T,
        number: usize,
        key: KeyHash,
        probe: Probe,
    ) -> bool {
        let Plan { levels, shape, rule, .. } = &self.plan;
        // A rule that rejects no key stores it in its only block.
        (R::REJECTS || !levels.are_one())
            && rule.lookup_continues(&shape.view(target, &self.words), key, number, probe)
    }

    /// Whether the key is in the overflow list.
    #[cold]
    #[inline(never)]
    pub(super) fn is_listed(&self, key: KeyHash) -> bool {
        self.ledger.lists(key.overflow_entry())
    }

    /// Looks up a key block by block, without quick tests.
    #[inline(always)]
    fn walk<T: Target, O: Observer>(
        &self,
        target: T,
        key: KeyHash,
        from: usize,
        observer: &mut O,
    ) -> bool {
        for (number, probe) in self.plan.levels.walk(key).enumerate().skip(from) {
            observer.block_read();
            if self.plan.shape.test(target, &self.words, probe.block, key) {
                return true;
            }
            if !self.continues_at(target, number, key, probe) {
                if T::COMMON || !R::REJECTS || !self.ledger.is_spent() {
                    return false;
                }
                break;
            }
        }
        if !self.ledger.lists_any() {
            return false;
        }
        observer.overflow_probed();
        self.is_listed(key)
    }

    /// A lookup that reports its accesses, for statistics. Uses the portable ISA.
    pub(super) fn contains_observed<O: Observer>(&self, key: KeyHash, mut observer: O) -> bool {
        self.walk(ANY, key, 0, &mut observer)
    }
}
