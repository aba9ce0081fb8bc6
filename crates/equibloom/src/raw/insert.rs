//! Inserts.
//!
//! Most keys are new and go into their first block. As with [lookups](super::lookup), this case has a short
//! entry point of its own.

use super::Insertion;
use super::balanced::{Balanced, Plan};
use super::batch::{Answers, Columns, fill, look_at_first};
use super::ledger::{Ledger, Record};
use super::level_by_level::{PendingKeys, Scratch, pass};
use super::threads::Part;
use crate::block::isa::{ANY, Target, kernel_table};
use crate::block::{BlockIndex, Holds};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::overflow::ListFull;
use crate::placement::{Choice, Choose, least_loaded};
use crate::storage::Update;
use equibloom_layout::WhenFull;

kernel_table! {
    /// Inserts into a filter with one owner, and steps of batches.
    pub(crate) struct OwnInserts[R: Choose,] [R] {
        fn insert(filter: &mut Balanced<R>, key: KeyHash) -> Result<Insertion, FullError>;
        #[any]
        fn place(filter: &mut Balanced<R>, key: KeyHash) -> Result<Insertion, FullError>;
        #[any]
        fn pass(
            plan: &Plan<R>, number: usize, keys: &[KeyHash], pending: &PendingKeys, part: Part<'_>,
            scratch: &mut Scratch,
        ) -> u64;
        #[any]
        fn fill(filter: &Balanced<R>, keys: &[KeyHash], columns: &mut Columns) -> ();
        fn look_at_first(
            filter: &Balanced<R>, keys: &[KeyHash], here: &Columns, later: &[BlockIndex],
        ) -> Answers;
    }
}

/// Inserts a key, mostly into its first block.
#[inline(always)]
fn insert<T: Target, R: Choose>(
    target: T,
    filter: &mut Balanced<R>,
    key: KeyHash,
) -> Result<Insertion, FullError> {
    let Balanced { plan, words, ledger, .. } = &mut *filter;
    if plan.insert_at_first(target, words, ledger, key) {
        return Ok(Insertion::New);
    }
    filter.inserts.place(filter, key)
}

/// Inserts a key into any candidate or the overflow list.
#[inline(always)]
fn place<T: Target, R: Choose>(
    target: T,
    filter: &mut Balanced<R>,
    key: KeyHash,
) -> Result<Insertion, FullError> {
    let Balanced { plan, words, ledger, .. } = &mut *filter;
    plan.place(target, words, ledger, key, &mut ())
}

impl<R: Choose> Balanced<R> {
    /// An insert that reports its accesses, for statistics. Uses the portable ISA.
    pub(super) fn insert_observed<O: Observer>(
        &mut self,
        key: KeyHash,
        mut observer: O,
    ) -> Result<Insertion, FullError> {
        let Self { plan, words, ledger, .. } = self;
        plan.place(ANY, words, ledger, key, &mut observer)
    }
}

impl<R: Choose> Plan<R> {
    /// Inserts a key into its first block, if the key is new and belongs there; returns whether it did.
    #[inline(always)]
    pub(super) fn insert_at_first<T: Target, U: Update, L: Record>(
        &self,
        target: T,
        mut to: U,
        mut ledger: L,
        key: KeyHash,
    ) -> bool {
        let Self { shape, levels, rule, .. } = self;
        let block = levels.first_block(key);
        // A rule that rejects no key compares all candidates.
        let is_the_one = if R::REJECTS {
            rule.admits(shape.load(&*to, block), key, 0)
        } else {
            levels.are_one()
        };
        if !is_the_one || shape.glance(target, &*to, block, key) != Holds::No {
            return false;
        }
        if !ledger.try_spend(1) {
            return false;
        }
        if !shape.try_add(target, &mut to, block, key, |load| rule.admits(load, key, 0)) {
            ledger.refund(1);
            return false;
        }
        ledger.count(1);
        true
    }

    /// Inserts a key into any candidate or the overflow list.
    #[inline(always)]
    pub(super) fn place<T: Target, U: Update, L: Record, O: Observer>(
        &self,
        target: T,
        mut to: U,
        mut ledger: L,
        key: KeyHash,
        observer: &mut O,
    ) -> Result<Insertion, FullError> {
        // Another turn if another thread's key has taken the place: the block has filled up, so turns end.
        loop {
            let view = self.shape.view(target, &*to);
            let (admitting, reads, rejections, reachable) =
                match self.rule.choose(&view, &self.levels, key, observer) {
                    Choice::Present => return Ok(Insertion::AlreadyPresent),
                    Choice::Admitted { block, reads } => (Some(block), reads, reads - 1, false),
                    Choice::Rejected { reads, reachable } => (None, reads, reads, reachable),
                };
            // The number of an admitting candidate, where the rule rejects keys.
            let number = reads as usize - 1;
            match admitting {
                // An admitted key is not in the overflow list: it would be there because all its candidates
                // were full, and they still are, or because the budget was spent, and then it affords nothing.
                Some(block) if ledger.try_spend(reads) => {
                    let admits = |load| self.rule.admits(load, key, number);
                    if !self.shape.try_add(target, &mut to, block, key, admits) {
                        ledger.refund(reads);
                        continue;
                    }
                }
                _ => {
                    let may_be_listed = reachable || ledger.is_spent();
                    if may_be_listed && ledger.lists_any() {
                        observer.overflow_probed();
                    }
                    // A block with room for the key ends a lookup, unless the budget is known to be spent.
                    let is_spent = admitting.is_some();
                    let entry = key.overflow_entry();
                    match ledger.list(entry, may_be_listed, WhenFull::Refuse, is_spent) {
                        Ok(Insertion::New) => {}
                        Ok(present) => return Ok(present),
                        Err(ListFull) if self.when_full.refuses() => {
                            return Err(ledger.full());
                        }
                        Err(ListFull) if !self.saturate(&mut to, admitting, number, key) => {
                            continue;
                        }
                        Err(ListFull) => ledger.count_saturated(),
                    }
                    ledger.spend(reads);
                }
            }
            // A lookup that knows of this insert must come as far as it came.
            if rejections > 0 && self.shape.has_hints() {
                for probe in self.levels.walk(key).take(rejections as usize) {
                    self.shape.set_hint(&mut to, probe);
                }
            }
            ledger.count(reads);
            return Ok(Insertion::New);
        }
    }

    /// Stores a key in a block although the overflow list is full; returns whether there is still room, if a
    /// block admitted it.
    #[cold]
    fn saturate<U: Update>(
        &self,
        to: &mut U,
        admitting: Option<BlockIndex>,
        number: usize,
        key: KeyHash,
    ) -> bool {
        let Self { shape, levels, rule, .. } = self;
        // If all candidates rejected the key, they always will: a lookup reads them all and finds it in any.
        let block = admitting.unwrap_or_else(|| least_loaded(&shape.view(ANY, &**to), levels, key));
        let admits = |load| admitting.is_none() || rule.admits(load, key, number);
        shape.try_add(ANY, to, block, key, admits)
    }
}
