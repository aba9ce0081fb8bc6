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
use crate::block::isa::{Dispatch, Isa, Portable, Step};
use crate::block::{BlockArray, BlockIndex, ByteMatches, Holds, On};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::placement::{Choose, Probe};

impl<R: Choose, B: BlockArray> Dispatch for Balanced<R, B> {
    // Bloom blocks across lines are tested bit by bit on every machine.
    const UNUSUAL_BY_SPECIAL_INSTRUCTIONS: bool = B::HAS_SLOTS;

    #[inline(always)]
    fn answer<I: Isa>(&self, isa: I, key: KeyHash) -> bool {
        let key = self.blocks.reduce(key);
        let block = self.candidates.first_block(key);
        At { filter: self, step: Glance }.take(isa, key, block)
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
    fn take<I: Isa>(self, isa: I, key: KeyHash, block: BlockIndex) -> bool {
        S::take(self, isa, key, block)
    }
}

impl<R: Choose, B: BlockArray, S> At<'_, Balanced<R, B>, S> {
    /// Goes on with another step.
    #[inline(always)]
    fn then<I: Isa, T: LookupStep>(self, isa: I, step: T, key: KeyHash, block: BlockIndex) -> bool {
        isa.outlined_at(At { filter: self.filter, step }, key, block)
    }

    /// Goes on from the first block, which does not hold the key, or ends there.
    #[inline(always)]
    fn leave_the_first<I: Isa>(self, isa: I, key: KeyHash, block: BlockIndex) -> bool {
        if self.filter.goes_on_from(isa, 0, key, block) {
            self.then(isa, LookFurther, key, block)
        } else {
            self.end(isa, key, block)
        }
    }

    /// Ends after a block that says that the key was not turned away. Once the budget is spent, keys
    /// overflow all the same.
    #[inline(always)]
    fn end<I: Isa>(self, isa: I, key: KeyHash, last: BlockIndex) -> bool {
        self.filter.may_be_spent(isa) && self.then(isa, AskOverflow, key, last)
    }
}

/// A step of a lookup.
trait LookupStep: Sized {
    /// Whether the key is present, which has come to the block.
    fn take<R: Choose, B: BlockArray, I: Isa>(
        at: At<'_, Balanced<R, B>, Self>,
        isa: I,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool;
}

/// Glances at the first block.
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

/// Looks at the first block more closely.
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

/// Settles whether the first block holds the key.
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

/// Glances at the second block; the first does not hold the key and has sent others like it on.
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
            if holds == Holds::No && !filter.goes_on_from(isa, 1, key, second) {
                return at.end(isa, key, second);
            }
        }
        at.then(isa, Walk, key, first)
    }
}

/// Looks at block after block from the first on, whatever was seen there already.
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

/// Asks the overflow list.
struct AskOverflow;

impl LookupStep for AskOverflow {
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

    /// Looks a key up block by block, without a glance.
    #[inline(always)]
    fn walk<I: Isa, O: Observer>(&self, isa: I, key: KeyHash, observer: &mut O) -> bool {
        for (number, Probe { block, .. }) in self.candidates.walk(key).enumerate() {
            observer.block_read();
            if self.blocks.test(isa, block, key) {
                return true;
            }
            if !self.goes_on_from(isa, number, key, block) {
                if !self.may_be_spent(isa) {
                    return false;
                }
                break;
            }
        }
        self.is_in_overflow(key, observer)
    }

    /// A lookup that tells what it reads: for statistics, and so by no special instructions.
    pub(super) fn contains_observed<O: Observer>(&self, key: KeyHash, mut observer: O) -> bool {
        self.walk(Portable, self.blocks.reduce(key), &mut observer)
    }

    /// Whether a lookup goes on from a block that does not hold its key.
    #[inline(always)]
    pub(super) fn goes_on_from<I: Isa>(
        &self,
        isa: I,
        number: usize,
        key: KeyHash,
        block: BlockIndex,
    ) -> bool {
        self.goes_on_at(isa, number, key, self.candidates.probe_at(number, key, block))
    }

    /// The same, of a stop that is known.
    #[inline(always)]
    pub(super) fn goes_on_at<I: Isa>(
        &self,
        isa: I,
        number: usize,
        key: KeyHash,
        probe: Probe,
    ) -> bool {
        // A key with one block that turns nobody away is nowhere else.
        let has_more = R::REJECTS || !self.candidates.are_one();
        let view = On { blocks: &self.blocks, isa };
        has_more && self.rule.lookup_continues(&view, key, number, probe)
    }
}
