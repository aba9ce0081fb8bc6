//! One lookup.
//!
//! Most lookups end at a glance at the first block. So a lookup is cut into steps, each a function of its
//! own, and the first is as short as can be: the fewer instructions a lookup has, the more lookups a
//! processor has under way at once while it waits for their blocks.
//!
//! ```text
//! glance at the first block ── perhaps ──▶ look closely ── perhaps ──▶ settle it
//!   │no                                           │no                      │no
//!   ├── but others like it went on ──▶┐◀──────────┴────────────────────────┘
//!   ▼                                 ▼
//! absent (unless the access     glance at the second block ── not over ──▶ walk
//! budget was spent: ask the
//! overflow list)
//! ```
//!
//! Steps hand nothing on but the filter, the key and a block: few enough words to stay in registers.

use super::Balanced;
use crate::block::simd::{Asked, Machine, Portable, Step};
use crate::block::{BlockArray, BlockIndex, Clue, Holds, On};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::placement::{Choose, Probe};

impl<R: Choose, B: BlockArray> Asked for Balanced<R, B> {
    // Bloom blocks across lines are tested bit by bit on every machine.
    const UNUSUAL_BY_SPECIAL_INSTRUCTIONS: bool = B::HAS_SLOTS;

    #[inline(always)]
    fn answer<M: Machine>(&self, machine: M, key: KeyHash) -> bool {
        let key = self.blocks.seen(key);
        let block = self.candidates.first_block(key);
        At { filter: self, step: Glance }.take(machine, key, block)
    }
}

/// A lookup at one of its steps.
struct At<'a, F, S> {
    filter: &'a F,
    step: S,
}

impl<R: Choose, B: BlockArray, S: LookupStep> Step for At<'_, Balanced<R, B>, S> {
    type Output = bool;

    #[inline(always)]
    fn take<M: Machine>(self, machine: M, key: KeyHash, block: BlockIndex) -> bool {
        S::take(self, machine, key, block)
    }
}

impl<R: Choose, B: BlockArray, S> At<'_, Balanced<R, B>, S> {
    /// Goes on with another step.
    #[inline(always)]
    fn then<M: Machine, T: LookupStep>(
        self,
        machine: M,
        step: T,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        machine.apart_at(At { filter: self.filter, step }, key, block)
    }

    /// Goes on from the first block, which does not hold the key, or ends there.
    #[inline(always)]
    fn leave_the_first<M: Machine>(self, machine: M, key: KeyHash, block: BlockIndex) -> bool {
        if self.filter.goes_on_from(machine, 0, key, block) {
            self.then(machine, LookFurther, key, block)
        } else {
            self.end(machine, key, block)
        }
    }

    /// Ends after a block that says that the key was not turned away. Once the budget is spent, keys
    /// overflow all the same.
    #[inline(always)]
    fn end<M: Machine>(self, machine: M, key: KeyHash, last: BlockIndex) -> bool {
        self.filter.may_be_spent(machine) && self.then(machine, AskOverflow, key, last)
    }
}

/// A step of a lookup.
trait LookupStep: Sized {
    /// Whether the key is present, which has come to the block.
    fn take<R: Choose, B: BlockArray, M: Machine>(
        at: At<'_, Balanced<R, B>, Self>,
        machine: M,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool;
}

/// Glances at the first block.
struct Glance;

impl LookupStep for Glance {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, M: Machine>(
        at: At<'_, Balanced<R, B>, Self>,
        machine: M,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        match at.filter.blocks.glance(machine, block, key) {
            Holds::Yes => true,
            Holds::Perhaps(clue) => at.then(machine, LookClosely(clue), key, block),
            Holds::No => at.leave_the_first(machine, key, block),
        }
    }
}

/// Looks at the first block more closely.
struct LookClosely(Clue);

impl LookupStep for LookClosely {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, M: Machine>(
        at: At<'_, Balanced<R, B>, Self>,
        machine: M,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        let LookClosely(clue) = at.step;
        match at.filter.blocks.look_closely(machine, block, key, clue) {
            Holds::Yes => true,
            Holds::Perhaps(_) => at.then(machine, Settle, key, block),
            Holds::No => at.leave_the_first(machine, key, block),
        }
    }
}

/// Settles whether the first block holds the key.
struct Settle;

impl LookupStep for Settle {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, M: Machine>(
        at: At<'_, Balanced<R, B>, Self>,
        machine: M,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        if at.filter.blocks.settle(machine, block, key) {
            true
        } else {
            at.leave_the_first(machine, key, block)
        }
    }
}

/// Glances at the second block; the first does not hold the key and has sent others like it on.
struct LookFurther;

impl LookupStep for LookFurther {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, M: Machine>(
        at: At<'_, Balanced<R, B>, Self>,
        machine: M,
        key: KeyHash,
        first: BlockIndex,
    ) -> bool {
        let filter = at.filter;
        if filter.candidates.choices(key) > 1 {
            let word = filter.candidates.probe_at(0, key, first).onward;
            let second = filter.candidates.level(1).block_of(word);
            let holds = filter.blocks.look_at(machine, second, key);
            if holds == Holds::No && !filter.goes_on_from(machine, 1, key, second) {
                return at.end(machine, key, second);
            }
        }
        at.then(machine, Walk, key, first)
    }
}

/// Looks at block after block from the first on, whatever was seen there already.
struct Walk;

impl LookupStep for Walk {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, M: Machine>(
        at: At<'_, Balanced<R, B>, Self>,
        machine: M,
        key: KeyHash,
        _first: BlockIndex,
    ) -> bool {
        at.filter.walk(machine, key, &mut ())
    }
}

/// Asks the overflow list.
struct AskOverflow;

impl LookupStep for AskOverflow {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, M: Machine>(
        at: At<'_, Balanced<R, B>, Self>,
        _machine: M,
        key: KeyHash,
        _last: BlockIndex,
    ) -> bool {
        at.filter.is_in_overflow(key, &mut ())
    }
}

impl<R: Choose, B: BlockArray> Balanced<R, B> {
    /// Whether the key is in the overflow list.
    #[inline]
    pub(super) fn is_in_overflow<O: Observer>(&self, key: KeyHash, observer: &mut O) -> bool {
        if self.overflow.is_empty() {
            return false;
        }
        observer.overflow_probed();
        self.overflow.contains(self.candidates.overflow_entry(key))
    }

    /// Whether keys may be in the overflow list although their blocks have room.
    #[inline(always)]
    fn may_be_spent<M: Machine>(&self, _machine: M) -> bool {
        R::REJECTS && !M::USUAL && self.budget.is_spent()
    }

    /// Looks a key up block by block, without a glance.
    #[inline(always)]
    fn walk<M: Machine, O: Observer>(&self, machine: M, key: KeyHash, observer: &mut O) -> bool {
        for (probe, Probe { block, .. }) in self.candidates.walk(key).enumerate() {
            observer.block_read();
            if self.blocks.test(machine, block, key) {
                return true;
            }
            if !self.goes_on_from(machine, probe, key, block) {
                if !self.may_be_spent(machine) {
                    return false;
                }
                break;
            }
        }
        self.is_in_overflow(key, observer)
    }

    /// A lookup that tells what it reads: for statistics, and so by no special instructions.
    pub(super) fn contains_observed<O: Observer>(&self, key: KeyHash, mut observer: O) -> bool {
        self.walk(Portable, self.blocks.seen(key), &mut observer)
    }

    /// Whether a lookup goes on from a block that does not hold its key.
    #[inline(always)]
    pub(super) fn goes_on_from<M: Machine>(
        &self,
        machine: M,
        probe: usize,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        self.goes_on_at(machine, probe, key, self.candidates.probe_at(probe, key, block))
    }

    /// The same, of a stop that is known.
    #[inline(always)]
    pub(super) fn goes_on_at<M: Machine>(
        &self,
        machine: M,
        probe: usize,
        key: KeyHash,
        stop: Probe,
    ) -> bool {
        // A key with one block that turns nobody away is nowhere else.
        let has_more = R::REJECTS || !self.candidates.are_one();
        let view = On { blocks: &self.blocks, machine };
        has_more && self.rule.lookup_continues(&view, key, probe, stop)
    }
}
