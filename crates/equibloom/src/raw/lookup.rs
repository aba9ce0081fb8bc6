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
use crate::block::simd::{Asked, Machine, Operation, Step};
use crate::block::{BlockArray, BlockIndex, Clue, Holds, On};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::placement::{Choose, Probe};

/// A lookup.
pub(super) struct Lookup<'a, F, O> {
    pub(super) filter: &'a F,
    pub(super) key: KeyHash,
    pub(super) observer: O,
}

impl<R: Choose, B: BlockArray, O: Observer> Operation for Lookup<'_, Balanced<R, B>, O> {
    type Output = bool;

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) -> bool {
        let Self { filter, key, observer } = self;
        let key = filter.blocks.seen(key);
        let block = filter.candidates.first_block(key);
        At { filter, observer, step: Glance }.take(machine, key, block)
    }
}

impl<R: Choose, B: BlockArray> Asked for Balanced<R, B> {
    #[inline(always)]
    fn answer<M: Machine>(&self, machine: M, key: KeyHash) -> bool {
        Lookup { filter: self, key, observer: () }.run(machine)
    }
}

/// A lookup at one of its steps.
struct At<'a, F, O, S> {
    filter: &'a F,
    observer: O,
    step: S,
}

impl<R: Choose, B: BlockArray, O: Observer, S: LookupStep> Step for At<'_, Balanced<R, B>, O, S> {
    type Output = bool;

    #[inline(always)]
    fn take<M: Machine>(self, machine: M, key: KeyHash, block: BlockIndex) -> bool {
        S::take(self, machine, key, block)
    }
}

impl<R: Choose, B: BlockArray, O: Observer, S> At<'_, Balanced<R, B>, O, S> {
    /// Goes on with another step.
    #[inline(always)]
    fn then<M: Machine, T: LookupStep>(
        self,
        machine: M,
        step: T,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        let Self { filter, observer, .. } = self;
        machine.apart_at(At { filter, observer, step }, key, block)
    }

    /// The key was found in the first block.
    #[inline(always)]
    fn found(mut self) -> bool {
        self.observer.block_read();
        true
    }

    /// Goes on from the first block, which does not hold the key, or ends there.
    #[inline(always)]
    fn leave_the_first<M: Machine>(self, machine: M, key: KeyHash, block: BlockIndex) -> bool {
        if self.filter.goes_on_from(machine, 0, key, block) {
            self.then(machine, LookFurther, key, block)
        } else {
            self.end(machine, key, block, 1)
        }
    }

    /// Ends after so many blocks, of which the last says that the key was not turned away. Once the budget
    /// is spent, keys overflow all the same.
    #[inline(always)]
    fn end<M: Machine>(
        mut self,
        machine: M,
        key: KeyHash,
        last: BlockIndex,
        blocks_read: u32,
    ) -> bool {
        for _ in 0..blocks_read {
            self.observer.block_read();
        }
        let may_be_spent = R::REJECTS && !M::USUAL;
        may_be_spent && self.filter.budget.is_spent() && self.then(machine, AskOverflow, key, last)
    }
}

/// A step of a lookup.
trait LookupStep: Sized {
    /// Whether the key is present, which has come to the block.
    fn take<R: Choose, B: BlockArray, O: Observer, M: Machine>(
        at: At<'_, Balanced<R, B>, O, Self>,
        machine: M,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool;
}

/// Glances at the first block.
struct Glance;

impl LookupStep for Glance {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, O: Observer, M: Machine>(
        at: At<'_, Balanced<R, B>, O, Self>,
        machine: M,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        match at.filter.blocks.glance(machine, block, key) {
            Holds::Yes => at.found(),
            Holds::Perhaps(clue) => at.then(machine, LookClosely(clue), key, block),
            Holds::No => at.leave_the_first(machine, key, block),
        }
    }
}

/// Looks at the first block more closely.
struct LookClosely(Clue);

impl LookupStep for LookClosely {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, O: Observer, M: Machine>(
        at: At<'_, Balanced<R, B>, O, Self>,
        machine: M,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        let LookClosely(clue) = at.step;
        match at.filter.blocks.look_closely(machine, block, key, clue) {
            Holds::Yes => at.found(),
            Holds::Perhaps(_) => at.then(machine, Settle, key, block),
            Holds::No => at.leave_the_first(machine, key, block),
        }
    }
}

/// Settles whether the first block holds the key.
struct Settle;

impl LookupStep for Settle {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, O: Observer, M: Machine>(
        at: At<'_, Balanced<R, B>, O, Self>,
        machine: M,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        if at.filter.blocks.settle(machine, block, key) {
            at.found()
        } else {
            at.leave_the_first(machine, key, block)
        }
    }
}

/// Glances at the second block; the first does not hold the key and has sent others like it on.
struct LookFurther;

impl LookupStep for LookFurther {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, O: Observer, M: Machine>(
        at: At<'_, Balanced<R, B>, O, Self>,
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
                return at.end(machine, key, second, 2);
            }
        }
        at.then(machine, Walk, key, first)
    }
}

/// Looks at block after block from the first on, whatever was seen there already.
struct Walk;

impl LookupStep for Walk {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, O: Observer, M: Machine>(
        mut at: At<'_, Balanced<R, B>, O, Self>,
        machine: M,
        key: KeyHash,
        _first: BlockIndex,
    ) -> bool {
        let filter = at.filter;
        for (probe, Probe { block, .. }) in filter.candidates.walk(key).enumerate() {
            at.observer.block_read();
            if filter.blocks.test(machine, block, key) {
                return true;
            }
            if !filter.goes_on_from(machine, probe, key, block) {
                return at.end(machine, key, block, 0);
            }
        }
        filter.is_in_overflow(key, &mut at.observer)
    }
}

/// Asks the overflow list.
struct AskOverflow;

impl LookupStep for AskOverflow {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, O: Observer, M: Machine>(
        mut at: At<'_, Balanced<R, B>, O, Self>,
        _machine: M,
        key: KeyHash,
        _last: BlockIndex,
    ) -> bool {
        at.filter.is_in_overflow(key, &mut at.observer)
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

    /// Looks a key up block by block, without a glance and by no special instructions.
    #[cfg(test)]
    pub(super) fn contains_plainly(&self, key: KeyHash) -> bool {
        let key = self.blocks.seen(key);
        let walk = At { filter: self, observer: (), step: Walk };
        walk.take(crate::block::simd::Portable, key, self.candidates.first_block(key))
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
