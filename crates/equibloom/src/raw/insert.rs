//! One insert.
//!
//! Most keys are new and belong into their first block. As with [lookups](super::lookup), what they need is
//! a function of its own, and the rest another.

use super::{Balanced, Insertion};
use crate::block::isa::{Isa, Operation, Portable};
use crate::block::{BlockArray, BlockIndex, Holds, On};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::placement::{Choice, Choose, least_loaded};
use equibloom_layout::WhenFull;

/// One insert.
pub(super) struct Insert<'a, F> {
    pub(super) filter: &'a mut F,
    pub(super) key: &'a KeyHash,
}

impl<R: Choose, B: BlockArray> Operation for Insert<'_, Balanced<R, B>> {
    type Output = Result<Insertion, FullError>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        self.filter.insert_at_first(isa, self.key)
    }
}

/// One insert, wherever the key belongs.
pub(super) struct Place<'a, F> {
    pub(super) filter: &'a mut F,
    pub(super) key: &'a KeyHash,
}

impl<R: Choose, B: BlockArray> Operation for Place<'_, Balanced<R, B>> {
    type Output = Result<Insertion, FullError>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        self.filter.insert_on(isa, *self.key, &mut ())
    }
}

impl<R: Choose, B: BlockArray> Balanced<R, B> {
    /// An insert that tells what it reads: for statistics, and so by no special instructions.
    pub(super) fn insert_observed<O: Observer>(
        &mut self,
        key: KeyHash,
        mut observer: O,
    ) -> Result<Insertion, FullError> {
        self.insert_on(Portable, key, &mut observer)
    }

    /// Inserts a key into its first block, if it is new and belongs there.
    #[inline(always)]
    fn insert_at_first<I: Isa>(&mut self, isa: I, key: &KeyHash) -> Result<Insertion, FullError> {
        let reduce = self.blocks.reduce(*key);
        let block = self.candidates.first_block(reduce);
        let view = On { blocks: &self.blocks, isa };
        // A rule that turns nobody away has to see all candidates.
        let is_the_one = if R::REJECTS {
            !self.rule.insert_continues(&view, reduce, 0, block)
        } else {
            self.candidates.are_one()
        };
        let belongs_there = is_the_one && self.budget.affords(1);
        if !belongs_there
            || !self.rule.stores_repeats() && self.blocks.look_at(isa, block, reduce) != Holds::No
        {
            return isa.outlined(Place { filter: self, key });
        }
        self.blocks.add(isa, block, reduce);
        self.budget.spend(1);
        self.elements = self.elements.saturating_add(1);
        Ok(Insertion::New)
    }

    /// Inserts a key, wherever it belongs.
    #[inline(always)]
    pub(super) fn insert_on<I: Isa, O: Observer>(
        &mut self,
        isa: I,
        key: KeyHash,
        observer: &mut O,
    ) -> Result<Insertion, FullError> {
        let key = self.blocks.reduce(key);
        let view = On { blocks: &self.blocks, isa };
        let (admitting, reads, turned_away, reachable) =
            match self.rule.choose(&view, &self.candidates, key, observer) {
                Choice::Present => return Ok(Insertion::AlreadyPresent),
                Choice::Admitted { block, reads } => (Some(block), reads, reads - 1, false),
                Choice::Rejected { reads, reachable } => (None, reads, reads, reachable),
            };
        match admitting {
            // Such a key cannot stand in the overflow list: it would have gone there because all
            // its candidates were full, and they still are, or because the budget was spent, and
            // then it affords nothing any more. (Where keys can be removed, it may stand there once
            // more.)
            Some(block) if self.budget.affords(reads) => self.blocks.add(isa, block, key),
            _ => {
                let may_be_there = reachable || self.budget.is_spent();
                if !self.rule.stores_repeats() && may_be_there && self.is_in_overflow(key, observer)
                {
                    return Ok(Insertion::AlreadyPresent);
                }
                self.overflow(key, admitting)?;
            }
        }
        if turned_away > 0 {
            self.set_hint(key, turned_away);
        }
        self.budget.spend(reads);
        self.elements = self.elements.saturating_add(1);
        Ok(Insertion::New)
    }

    /// Makes sure that lookups of the key go on from its first candidates.
    fn set_hint(&mut self, key: KeyHash, candidates: u32) {
        for probe in self.candidates.walk(key).take(candidates as usize) {
            self.blocks.set_hint(probe);
        }
    }

    /// Stores a key that no block may take, or that the budget does not allow into the one that may.
    #[cold]
    pub(super) fn overflow(
        &mut self,
        key: KeyHash,
        admitting: Option<BlockIndex>,
    ) -> Result<(), FullError> {
        let entry = self.candidates.overflow_entry(key);
        if self.overflow.push(entry, WhenFull::Refuse).is_ok() {
            return Ok(());
        }
        if self.when_full == WhenFull::Refuse {
            return Err(self.full());
        }
        match admitting {
            Some(block) => self.blocks.add(Portable, block, key),
            None if B::HAS_SLOTS => {
                self.overflow.push(entry, self.when_full).map_err(|_| self.full())?;
            }
            // Its candidates turned it away and always will, so that a lookup reads them all and
            // finds it in any.
            None => {
                let view = On { blocks: &self.blocks, isa: Portable };
                let block = least_loaded(&view, &self.candidates, key);
                self.blocks.add(Portable, block, key);
            }
        }
        self.saturated = self.saturated.saturating_add(1);
        Ok(())
    }

    /// The error of a filter that has no room.
    pub(super) fn full(&self) -> FullError {
        FullError { capacity: self.overflow.capacity(), stored: self.elements }
    }
}
