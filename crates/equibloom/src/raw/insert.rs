//! A single insert.
//!
//! Most keys are new and go into their first block. As with [lookups](super::lookup), this case has a short
//! separate function.

use super::{Balanced, Insertion};
use crate::block::isa::{Isa, Operation, Portable};
use crate::block::{BlockArray, BlockIndex, Holds, On};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::placement::{Choice, Choose, least_loaded};
use equibloom_layout::WhenFull;

/// A single insert.
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

/// An insert into any candidate or the overflow list.
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
    /// An insert that reports its accesses, for statistics. Uses the portable ISA.
    pub(super) fn insert_observed<O: Observer>(
        &mut self,
        key: KeyHash,
        mut observer: O,
    ) -> Result<Insertion, FullError> {
        self.insert_on(Portable, key, &mut observer)
    }

    /// Inserts a key into its first block if it is new and admitted there; otherwise runs [`Place`].
    #[inline(always)]
    fn insert_at_first<I: Isa>(&mut self, isa: I, key: &KeyHash) -> Result<Insertion, FullError> {
        let reduced = self.blocks.reduce(*key);
        let block = self.candidates.first_block(reduced);
        let view = On { blocks: &self.blocks, isa };
        // A rule that rejects no key compares all candidates.
        let is_the_one = if R::REJECTS {
            !self.rule.insert_continues(&view, reduced, 0, block)
        } else {
            self.candidates.are_one()
        };
        let belongs_there = is_the_one && self.budget.affords(1);
        if !belongs_there
            || !self.rule.stores_repeats() && self.blocks.look_at(isa, block, reduced) != Holds::No
        {
            return isa.outlined(Place { filter: self, key });
        }
        self.blocks.add(isa, block, reduced);
        self.budget.spend(1);
        self.elements = self.elements.saturating_add(1);
        Ok(Insertion::New)
    }

    /// Inserts a key into any candidate or the overflow list.
    #[inline(always)]
    pub(super) fn insert_on<I: Isa, O: Observer>(
        &mut self,
        isa: I,
        key: KeyHash,
        observer: &mut O,
    ) -> Result<Insertion, FullError> {
        let key = self.blocks.reduce(key);
        let view = On { blocks: &self.blocks, isa };
        let (admitting, reads, rejections, reachable) =
            match self.rule.choose(&view, &self.candidates, key, observer) {
                Choice::Present => return Ok(Insertion::AlreadyPresent),
                Choice::Admitted { block, reads } => (Some(block), reads, reads - 1, false),
                Choice::Rejected { reads, reachable } => (None, reads, reads, reachable),
            };
        match admitting {
            // An admitted key is not in the overflow list: it would be there because all its candidates
            // were full, and they still are, or because the budget was spent, and then it affords nothing.
            // (Where keys can be removed, the list may hold another copy.)
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
        if rejections > 0 {
            self.set_hints(key, rejections);
        }
        self.budget.spend(reads);
        self.elements = self.elements.saturating_add(1);
        Ok(Insertion::New)
    }

    /// Sets the key's hint in its first `candidates` blocks.
    fn set_hints(&mut self, key: KeyHash, candidates: u32) {
        for probe in self.candidates.walk(key).take(candidates as usize) {
            self.blocks.set_hint(probe);
        }
    }

    /// Stores a key that no block admits, or that the budget does not afford, in the overflow list.
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
            // All candidates rejected the key and always will: a lookup reads them all and finds it in any.
            None => {
                let view = On { blocks: &self.blocks, isa: Portable };
                let block = least_loaded(&view, &self.candidates, key);
                self.blocks.add(Portable, block, key);
            }
        }
        self.saturated = self.saturated.saturating_add(1);
        Ok(())
    }

    /// The error of a full filter.
    pub(super) fn full(&self) -> FullError {
        FullError { capacity: self.overflow.capacity(), stored: self.elements }
    }
}
