//! Single lookups.
//!
//! Most lookups end after a quick test of the first block. A lookup is therefore divided into steps, each a
//! separate function, and the first is as short as possible: the fewer instructions, the more lookups the
//! CPU overlaps while it waits for memory.
//!
//! ```text
//! glance at the first block ── perhaps ──▶ look closely ── perhaps ──▶ settle it
//!   │no                                           │no                      │no
//!   ├── and the lookup continues ────▶┐◀──────────┴────────────────────────┘
//!   ▼                                 ▼
//! absent (if the access         glance at the second block ── undecided ──▶ walk
//! budget is spent: check the
//! overflow list)
//! ```
//!
//! Steps pass on only the filter, the key and a block: few enough words to stay in registers.

use super::Balanced;
use crate::block::isa::{Dispatch, Isa, Portable, Step};
use crate::block::{BlockArray, BlockIndex, ByteMatches, Holds, On};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::placement::{Choose, Probe};

impl<R: Choose, B: BlockArray> Dispatch for Balanced<R, B> {
    // Bloom blocks across lines are tested bit by bit on every ISA.
    const SPECIALISE_UNCOMMON: bool = B::HAS_SLOTS;

    #[inline(always)]
    fn answer<I: Isa>(&self, isa: I, key: KeyHash) -> bool {
        let key = self.blocks.reduce(key);
        let block = self.candidates.first_block(key);
        At { filter: self, step: Glance }.take(isa, key, block)
    }
}

/// A lookup at one step.
struct At<'a, F, S> {
    filter: &'a F,
    step: S,
}

impl<R: Choose, B: BlockArray, S: LookupStep> Step for At<'_, Balanced<R, B>, S> {
    type Output = bool;

    #[inline(always)]
    fn take<I: Isa>(self, isa: I, key: KeyHash, block: BlockIndex) -> bool {
        S::take(self, isa, key, block)
    }
}

impl<R: Choose, B: BlockArray, S> At<'_, Balanced<R, B>, S> {
    /// Continues with another step.
    #[inline(always)]
    fn then<I: Isa, T: LookupStep>(self, isa: I, step: T, key: KeyHash, block: BlockIndex) -> bool {
        isa.outlined_at(At { filter: self.filter, step }, key, block)
    }

    /// Continues after the first block, which does not hold the key, or ends.
    #[inline(always)]
    fn leave_the_first<I: Isa>(self, isa: I, key: KeyHash, block: BlockIndex) -> bool {
        if self.filter.continues_after(isa, 0, key, block) {
            self.then(isa, LookFurther, key, block)
        } else {
            self.end(isa, key, block)
        }
    }

    /// Ends at a block that did not reject the key. Once the budget is spent, such keys may be in the
    /// overflow list.
    #[inline(always)]
    fn end<I: Isa>(self, isa: I, key: KeyHash, last: BlockIndex) -> bool {
        self.filter.may_be_spent(isa) && self.then(isa, CheckOverflow, key, last)
    }
}

/// A step of a lookup.
trait LookupStep: Sized {
    /// Whether the key, which has reached `block`, is present.
    fn take<R: Choose, B: BlockArray, I: Isa>(
        at: At<'_, Balanced<R, B>, Self>,
        isa: I,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool;
}

/// Quick test of the first block.
struct Glance;

impl LookupStep for Glance {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, I: Isa>(
        at: At<'_, Balanced<R, B>, Self>,
        isa: I,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        match at.filter.blocks.glance(isa, block, key) {
            Holds::Yes => true,
            Holds::Perhaps(matches) => at.then(isa, LookClosely(matches), key, block),
            Holds::No => at.leave_the_first(isa, key, block),
        }
    }
}

/// Slower test of the first block.
struct LookClosely(ByteMatches);

impl LookupStep for LookClosely {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, I: Isa>(
        at: At<'_, Balanced<R, B>, Self>,
        isa: I,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        let LookClosely(matches) = at.step;
        match at.filter.blocks.look_closely(isa, block, key, matches) {
            Holds::Yes => true,
            Holds::Perhaps(_) => at.then(isa, Settle, key, block),
            Holds::No => at.leave_the_first(isa, key, block),
        }
    }
}

/// Final test of the first block.
struct Settle;

impl LookupStep for Settle {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, I: Isa>(
        at: At<'_, Balanced<R, B>, Self>,
        isa: I,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        if at.filter.blocks.settle(isa, block, key) {
            true
        } else {
            at.leave_the_first(isa, key, block)
        }
    }
}

/// Tests the second block. The first does not hold the key, and the lookup continues after it.
struct LookFurther;

impl LookupStep for LookFurther {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, I: Isa>(
        at: At<'_, Balanced<R, B>, Self>,
        isa: I,
        key: KeyHash,
        first: BlockIndex,
    ) -> bool {
        let filter = at.filter;
        if filter.candidates.choices(key) > 1 {
            let word = filter.candidates.probe_at(0, key, first).onward;
            let second = filter.candidates.level(1).block_of(word);
            let holds = filter.blocks.look_at(isa, second, key);
            if holds == Holds::No && !filter.continues_after(isa, 1, key, second) {
                return at.end(isa, key, second);
            }
        }
        at.then(isa, Walk, key, first)
    }
}

/// Tests block after block from the first on, including those tested before.
struct Walk;

impl LookupStep for Walk {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, I: Isa>(
        at: At<'_, Balanced<R, B>, Self>,
        isa: I,
        key: KeyHash,
        _first: BlockIndex,
    ) -> bool {
        at.filter.walk(isa, key, &mut ())
    }
}

/// Checks the overflow list.
struct CheckOverflow;

impl LookupStep for CheckOverflow {
    #[inline(always)]
    fn take<R: Choose, B: BlockArray, I: Isa>(
        at: At<'_, Balanced<R, B>, Self>,
        _isa: I,
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
    fn may_be_spent<I: Isa>(&self, _isa: I) -> bool {
        R::REJECTS && !I::COMMON && self.budget.is_spent()
    }

    /// Looks up a key block by block, without quick tests.
    #[inline(always)]
    fn walk<I: Isa, O: Observer>(&self, isa: I, key: KeyHash, observer: &mut O) -> bool {
        for (number, Probe { block, .. }) in self.candidates.walk(key).enumerate() {
            observer.block_read();
            if self.blocks.test(isa, block, key) {
                return true;
            }
            if !self.continues_after(isa, number, key, block) {
                if !self.may_be_spent(isa) {
                    return false;
                }
                break;
            }
        }
        self.is_in_overflow(key, observer)
    }

    /// A lookup that reports its accesses, for statistics. Uses the portable ISA.
    pub(super) fn contains_observed<O: Observer>(&self, key: KeyHash, mut observer: O) -> bool {
        self.walk(Portable, self.blocks.reduce(key), &mut observer)
    }

    /// Whether a lookup continues after a block that does not hold its key.
    #[inline(always)]
    pub(super) fn continues_after<I: Isa>(
        &self,
        isa: I,
        number: usize,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        self.continues_at(isa, number, key, self.candidates.probe_at(number, key, block))
    }

    /// The same for a known probe.
    #[inline(always)]
    pub(super) fn continues_at<I: Isa>(
        &self,
        isa: I,
        number: usize,
        key: KeyHash,
        probe: Probe,
    ) -> bool {
        // A rule that rejects no key stores it in its only block.
        let has_more = R::REJECTS || !self.candidates.are_one();
        let view = On { blocks: &self.blocks, isa };
        has_more && self.rule.lookup_continues(&view, key, number, probe)
    }
}
