//! One lookup.
//!
//! Most lookups end at a glance at the first block. So a lookup is cut into steps, each a function of its
//! own, and the first is as short as can be: the fewer instructions a lookup has, the more lookups a
//! processor has under way at once while it waits for their blocks.
//!
//! ```text
//! glance at the first block ── perhaps ──▶ settle it ── no ─▶┐
//!   │no                                                      ▼
//!   ├── but others like it went on ───────────────▶ glance at the second block ── not over ──▶ walk
//!   ▼
//! absent (unless the access budget was spent: ask the overflow list)
//! ```
//!
//! A step knows nothing but the filter and the key, two words that stay in registers, and finds out the
//! rest again: that is done sooner than handed over in memory.

use core::marker::PhantomData;

use super::Balanced;
use crate::block::simd::{Asked, Machine, Operation};
use crate::block::{BlockArray, BlockIndex, Holds, On};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::placement::{Rule, Stop};

/// A lookup, or what is left of it.
pub(super) struct Lookup<'a, F, O, S> {
    filter: &'a F,
    key: &'a KeyHash,
    observer: O,
    step: PhantomData<S>,
}

impl<'a, F, O> Lookup<'a, F, O, Glance> {
    /// The whole of it.
    #[inline(always)]
    pub(super) fn new(filter: &'a F, key: &'a KeyHash, observer: O) -> Self {
        Self { filter, key, observer, step: PhantomData }
    }
}

impl<'a, R: Rule, B: BlockArray, O: Observer, S> Lookup<'a, Balanced<R, B>, O, S> {
    /// The key, as blocks see it, and its first block.
    #[inline(always)]
    fn first(&self) -> (KeyHash, BlockIndex) {
        let key = self.filter.blocks.seen(*self.key);
        (key, self.filter.candidates.first_block(key))
    }

    /// Goes on with another step.
    #[inline(always)]
    fn then<M: Machine, T: Step>(self, machine: M, _step: T) -> bool {
        let Self { filter, key, observer, .. } = self;
        machine.apart(Lookup { filter, key, observer, step: PhantomData::<T> })
    }

    /// Goes on from the first block, which does not hold the key, or ends there.
    #[inline(always)]
    fn leave_the_first<M: Machine>(self, machine: M, key: KeyHash, block: BlockIndex) -> bool {
        if self.filter.goes_on_from(machine, 0, key, block) {
            self.then(machine, LookFurther)
        } else {
            self.end(machine, 1)
        }
    }

    /// Ends after so many blocks, of which the last says that the key was not turned away. Once the budget
    /// is spent, keys overflow all the same.
    #[inline(always)]
    fn end<M: Machine>(mut self, machine: M, blocks_read: u32) -> bool {
        for _ in 0..blocks_read {
            self.observer.block_read();
        }
        let may_be_spent = R::REJECTS && !M::USUAL;
        may_be_spent && self.filter.budget.is_spent() && self.then(machine, AskOverflow)
    }
}

impl<R: Rule, B: BlockArray, O: Observer, S: Step> Operation for Lookup<'_, Balanced<R, B>, O, S> {
    type Output = bool;

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) -> bool {
        S::take(self, machine)
    }
}

impl<R: Rule, B: BlockArray> Asked for Balanced<R, B> {
    #[inline(always)]
    fn answer<M: Machine>(&self, machine: M, key: &KeyHash) -> bool {
        Lookup::new(self, key, ()).run(machine)
    }
}

/// A step of a lookup.
pub(super) trait Step: Sized {
    /// Whether the key is present.
    fn take<R: Rule, B: BlockArray, O: Observer, M: Machine>(
        lookup: Lookup<'_, Balanced<R, B>, O, Self>,
        machine: M,
    ) -> bool;
}

/// Glances at the first block.
pub(super) struct Glance;

impl Step for Glance {
    #[inline(always)]
    fn take<R: Rule, B: BlockArray, O: Observer, M: Machine>(
        mut lookup: Lookup<'_, Balanced<R, B>, O, Self>,
        machine: M,
    ) -> bool {
        let filter = lookup.filter;
        let (key, block) = lookup.first();
        match filter.blocks.second_glance(machine, block, key) {
            Holds::Yes => {
                lookup.observer.block_read();
                true
            }
            Holds::Perhaps => lookup.then(machine, Settle),
            Holds::No => lookup.leave_the_first(machine, key, block),
        }
    }
}

/// Settles whether the first block holds the key.
struct Settle;

impl Step for Settle {
    #[inline(always)]
    fn take<R: Rule, B: BlockArray, O: Observer, M: Machine>(
        mut lookup: Lookup<'_, Balanced<R, B>, O, Self>,
        machine: M,
    ) -> bool {
        let (key, block) = lookup.first();
        if lookup.filter.blocks.settle(machine, block, key) {
            lookup.observer.block_read();
            return true;
        }
        lookup.leave_the_first(machine, key, block)
    }
}

/// Glances at the second block; the first does not hold the key and has sent others like it on.
struct LookFurther;

impl Step for LookFurther {
    #[inline(always)]
    fn take<R: Rule, B: BlockArray, O: Observer, M: Machine>(
        lookup: Lookup<'_, Balanced<R, B>, O, Self>,
        machine: M,
    ) -> bool {
        let filter = lookup.filter;
        let (key, first) = lookup.first();
        if filter.candidates.choices(key) > 1 {
            let word = filter.candidates.stop_at(0, key, first).onward;
            let second = filter.candidates.level(1).block_of(word);
            let holds = filter.blocks.second_glance(machine, second, key);
            if holds == Holds::No && !filter.goes_on_from(machine, 1, key, second) {
                return lookup.end(machine, 2);
            }
        }
        lookup.then(machine, Walk)
    }
}

/// Looks at block after block from the first on, whatever was seen there already.
struct Walk;

impl Step for Walk {
    #[inline(always)]
    fn take<R: Rule, B: BlockArray, O: Observer, M: Machine>(
        mut lookup: Lookup<'_, Balanced<R, B>, O, Self>,
        machine: M,
    ) -> bool {
        let filter = lookup.filter;
        let (key, _) = lookup.first();
        for (probe, Stop { block, .. }) in filter.candidates.walk(key).enumerate() {
            lookup.observer.block_read();
            if filter.blocks.test(machine, block, key) {
                return true;
            }
            if !filter.goes_on_from(machine, probe, key, block) {
                return lookup.end(machine, 0);
            }
        }
        filter.is_in_overflow(key, &mut lookup.observer)
    }
}

/// Asks the overflow list.
struct AskOverflow;

impl Step for AskOverflow {
    #[inline(always)]
    fn take<R: Rule, B: BlockArray, O: Observer, M: Machine>(
        mut lookup: Lookup<'_, Balanced<R, B>, O, Self>,
        _machine: M,
    ) -> bool {
        let (key, _) = lookup.first();
        lookup.filter.is_in_overflow(key, &mut lookup.observer)
    }
}

impl<R: Rule, B: BlockArray> Balanced<R, B> {
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
        let step = PhantomData::<Walk>;
        let lookup = Lookup { filter: self, key: &key, observer: (), step };
        lookup.run(crate::block::simd::Portable)
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
        // A key with one block that turns nobody away is nowhere else.
        let has_more = R::REJECTS || !self.candidates.are_one();
        let view = On { blocks: &self.blocks, machine };
        has_more && self.rule.goes_on(&view, key, probe, self.candidates.stop_at(probe, key, block))
    }
}
