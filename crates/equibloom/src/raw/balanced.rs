//! Every blocked filter: blocks × candidates × rule × overflow list.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::absorb::Absorb;
use super::batch::{ContainsBatch, InsertBatch};
use super::budget::AccessBudget;
use super::contents::Contents;
use super::design::Designed;
use super::{Insertion, RawFilter};
use crate::block::simd::{Best, Machine, OnBlocks, Operation, Portable};
use crate::block::{BlockArray, BlockIndex, BloomBlocks, Holds, On};
use crate::error::{BuildError, FullError, RemoveError};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::overflow::OverflowList;
use crate::parameters::{Parameters, WhenFull};
use crate::placement::{Candidates, Placement, Rule, Stop, least_loaded};
use crate::statistics::{LevelSurvey, Memory, Statistics, expectation_of_a_miss};

/// Blocks, the candidates of each key among them, the rule that picks one, and the overflow list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balanced<R, B: BlockArray = BloomBlocks> {
    pub(super) blocks: B,
    pub(super) candidates: Candidates<B::Lead>,
    pub(super) rule: R,
    pub(super) overflow: OverflowList,
    pub(super) when_full: WhenFull,
    pub(super) budget: AccessBudget,
    // These two may come from a hostile file and be anything: sums saturate.
    pub(super) elements: u64,
    pub(super) saturated: u64,
    /// Whose instructions run all this.
    pub(super) machine: Best,
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

    /// Makes sure that lookups of the key go on from its first candidates.
    fn mark(&mut self, key: KeyHash, candidates: u32) {
        for stop in self.candidates.walk(key).take(candidates as usize) {
            self.blocks.mark(stop);
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
                let view = On { blocks: &self.blocks, machine: Portable };
                let block = least_loaded(&view, &self.candidates, key);
                self.blocks.add(Portable, block, key);
            }
        }
        self.saturated = self.saturated.saturating_add(1);
        Ok(())
    }

    /// Inserts keys in order; how many were new.
    pub(super) fn insert_one_by_one(&mut self, keys: &[KeyHash]) -> Result<u64, FullError> {
        self.machine.run_on_blocks(InsertBatch { filter: self, keys })
    }

    /// The error of a filter that has no room.
    pub(super) fn full(&self) -> FullError {
        FullError { capacity: self.overflow.capacity(), stored: self.elements }
    }

    /// Inserts a key by a machine's instructions. Most keys are new and belong into their first block;
    /// what the others need stands out of line.
    #[inline(always)]
    pub(super) fn insert_at_first<M: Machine, O: Observer>(
        &mut self,
        machine: M,
        key: &KeyHash,
        mut observer: O,
    ) -> Result<Insertion, FullError> {
        let seen = self.blocks.seen(*key);
        let block = self.candidates.first_block(seen);
        let view = On { blocks: &self.blocks, machine };
        // A rule that turns nobody away has to see all candidates.
        let is_the_one = if R::REJECTS {
            !self.rule.looks_further(&view, seen, 0, block)
        } else {
            self.candidates.are_one()
        };
        let is_new = |view: On<'_, B, M>| {
            self.rule.places_repeats()
                || view.blocks.second_glance(machine, block, seen) == Holds::No
        };
        if !(is_the_one && self.budget.affords(1) && is_new(view)) {
            return machine.apart(Place { filter: self, key, observer });
        }
        observer.block_read();
        self.blocks.add(machine, block, seen);
        self.budget.spend(1);
        self.elements = self.elements.saturating_add(1);
        Ok(Insertion::New)
    }

    /// Inserts a key, wherever it belongs.
    #[inline(always)]
    pub(super) fn insert_on<M: Machine, O: Observer>(
        &mut self,
        machine: M,
        key: KeyHash,
        observer: &mut O,
    ) -> Result<Insertion, FullError> {
        let key = self.blocks.seen(key);
        let view = On { blocks: &self.blocks, machine };
        let (admitting, reads, turned_away, led_on) =
            match self.rule.place(&view, &self.candidates, key, observer) {
                Placement::Present => return Ok(Insertion::AlreadyPresent),
                Placement::Admitted { block, reads } => (Some(block), reads, reads - 1, false),
                Placement::Rejected { reads, led_on } => (None, reads, reads, led_on),
            };
        match admitting {
            // Such a key cannot stand in the overflow list: it would have gone there because all
            // its candidates were full, and they still are, or because the budget was spent, and
            // then it affords nothing any more. (Where keys can be removed, it may stand there once
            // more.)
            Some(block) if self.budget.affords(reads) => self.blocks.add(machine, block, key),
            _ => {
                let may_be_there = led_on || self.budget.is_spent();
                if !self.rule.places_repeats() && may_be_there && self.is_in_overflow(key, observer)
                {
                    return Ok(Insertion::AlreadyPresent);
                }
                self.overflow(key, admitting)?;
            }
        }
        if turned_away > 0 {
            self.mark(key, turned_away);
        }
        self.budget.spend(reads);
        self.elements = self.elements.saturating_add(1);
        Ok(Insertion::New)
    }

    /// Looks a key up by a machine's instructions. Most lookups end at a glance at the first block; what
    /// the others need stands out of line: the shorter the way of the many, the more of them the processor
    /// has under way at once.
    #[inline(always)]
    pub(super) fn contains_on<M: Machine, O: Observer>(
        &self,
        machine: M,
        key: &KeyHash,
        mut observer: O,
    ) -> bool {
        let seen = self.blocks.seen(*key);
        let block = self.candidates.first_block(seen);
        match self.blocks.second_glance(machine, block, seen) {
            Holds::Yes => {
                observer.block_read();
                true
            }
            Holds::Perhaps => machine.apart(Settle { filter: self, key, observer }),
            Holds::No if self.goes_on_from(machine, 0, seen, block) => {
                machine.apart(LookFurther { filter: self, key, observer })
            }
            Holds::No => {
                observer.block_read();
                self.overflowed_all_the_same(machine, key, observer)
            }
        }
    }

    /// The rest of a lookup whose first block may hold the key.
    #[inline(always)]
    fn contains_once_settled<M: Machine, O: Observer>(
        &self,
        machine: M,
        key: &KeyHash,
        mut observer: O,
    ) -> bool {
        let seen = self.blocks.seen(*key);
        if self.blocks.settle(machine, self.candidates.first_block(seen), seen) {
            observer.block_read();
            true
        } else {
            machine.apart(LookFurther { filter: self, key, observer })
        }
    }

    /// The rest of a lookup whose first block does not hold the key: as at the first block, most end at a
    /// glance.
    #[inline(always)]
    fn contains_further_on<M: Machine, O: Observer>(
        &self,
        machine: M,
        key: &KeyHash,
        mut observer: O,
    ) -> bool {
        let seen = self.blocks.seen(*key);
        let first = self.candidates.first_block(seen);
        if !self.goes_on_from(machine, 0, seen, first) {
            observer.block_read();
            return self.overflowed_all_the_same(machine, key, observer);
        }
        if self.candidates.choices(seen) > 1 {
            let word = self.candidates.stop_at(0, seen, first).onward;
            let block = self.candidates.level(1).block_of(word);
            let holds = self.blocks.second_glance(machine, block, seen);
            if holds == Holds::No && !self.goes_on_from(machine, 1, seen, block) {
                observer.block_read();
                observer.block_read();
                return self.overflowed_all_the_same(machine, key, observer);
            }
        }
        machine.apart(Walk { filter: self, key, observer })
    }

    /// Looks a key up, block by block.
    #[inline(always)]
    fn contains_at_a_walk<M: Machine, O: Observer>(
        &self,
        machine: M,
        key: KeyHash,
        observer: &mut O,
    ) -> bool {
        let key = self.blocks.seen(key);
        for (probe, Stop { block, .. }) in self.candidates.walk(key).enumerate() {
            observer.block_read();
            if self.blocks.test(machine, block, key) {
                return true;
            }
            if !self.goes_on_from(machine, probe, key, block) {
                return R::REJECTS && self.budget.is_spent() && self.is_in_overflow(key, observer);
            }
        }
        self.is_in_overflow(key, observer)
    }

    /// Whether a key is in the overflow list although a block says that it was not turned away: once the
    /// budget is spent, keys overflow although their blocks have room.
    #[inline(always)]
    fn overflowed_all_the_same<M: Machine, O: Observer>(
        &self,
        machine: M,
        key: &KeyHash,
        observer: O,
    ) -> bool {
        R::REJECTS
            && self.budget.is_spent()
            && machine.apart(AskOverflow { filter: self, key, observer })
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

    /// One survey for each distinct level, and for each probe the survey of its level: candidates
    /// that may lie anywhere share one.
    fn survey_levels(&self) -> (Vec<LevelSurvey>, Vec<usize>) {
        let mut surveys: Vec<LevelSurvey> = Vec::new();
        let mut of_probe = Vec::new();
        for level in self.candidates.levels() {
            let known = surveys.iter().position(|survey| survey.level() == *level);
            of_probe.push(known.unwrap_or(surveys.len()));
            if known.is_none() {
                surveys.push(LevelSurvey::take(&self.blocks, *level, &self.rule));
            }
        }
        (surveys, of_probe)
    }
}

/// One insert.
struct Insert<'a, F, O> {
    filter: &'a mut F,
    key: &'a KeyHash,
    observer: O,
}

impl<R: Rule, B: BlockArray, O: Observer> Operation for Insert<'_, Balanced<R, B>, O> {
    type Output = Result<Insertion, FullError>;

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) -> Self::Output {
        self.filter.insert_at_first(machine, self.key, self.observer)
    }
}

/// One insert, wherever the key belongs.
struct Place<'a, F, O> {
    filter: &'a mut F,
    key: &'a KeyHash,
    observer: O,
}

impl<R: Rule, B: BlockArray, O: Observer> Operation for Place<'_, Balanced<R, B>, O> {
    type Output = Result<Insertion, FullError>;

    #[inline(always)]
    fn run<M: Machine>(mut self, machine: M) -> Self::Output {
        self.filter.insert_on(machine, *self.key, &mut self.observer)
    }
}

impl<R: Rule, B: BlockArray, O: Observer> OnBlocks for Insert<'_, Balanced<R, B>, O> {
    #[inline(always)]
    fn are_usual(&self) -> bool {
        self.filter.blocks.is_usual()
    }
}

/// One lookup. (Two words, so that they are handed over in registers.)
struct Contains<'a, F, O> {
    filter: &'a F,
    key: &'a KeyHash,
    observer: O,
}

impl<R: Rule, B: BlockArray, O: Observer> Operation for Contains<'_, Balanced<R, B>, O> {
    type Output = bool;

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) -> bool {
        self.filter.contains_on(machine, self.key, self.observer)
    }
}

impl<R: Rule, B: BlockArray, O: Observer> OnBlocks for Contains<'_, Balanced<R, B>, O> {
    #[inline(always)]
    fn are_usual(&self) -> bool {
        self.filter.blocks.is_usual()
    }
}

/// The rest of a lookup whose first block may hold the key.
struct Settle<'a, F, O> {
    filter: &'a F,
    key: &'a KeyHash,
    observer: O,
}

impl<R: Rule, B: BlockArray, O: Observer> Operation for Settle<'_, Balanced<R, B>, O> {
    type Output = bool;

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) -> bool {
        self.filter.contains_once_settled(machine, self.key, self.observer)
    }
}

/// The rest of a lookup whose first block does not hold the key.
struct LookFurther<'a, F, O> {
    filter: &'a F,
    key: &'a KeyHash,
    observer: O,
}

impl<R: Rule, B: BlockArray, O: Observer> Operation for LookFurther<'_, Balanced<R, B>, O> {
    type Output = bool;

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) -> bool {
        self.filter.contains_further_on(machine, self.key, self.observer)
    }
}

/// The rest of a lookup whose key is in no block.
struct AskOverflow<'a, F, O> {
    filter: &'a F,
    key: &'a KeyHash,
    observer: O,
}

impl<R: Rule, B: BlockArray, O: Observer> Operation for AskOverflow<'_, Balanced<R, B>, O> {
    type Output = bool;

    #[inline(always)]
    fn run<M: Machine>(mut self, _machine: M) -> bool {
        let key = self.filter.blocks.seen(*self.key);
        self.filter.is_in_overflow(key, &mut self.observer)
    }
}

/// One lookup, block by block.
struct Walk<'a, F, O> {
    filter: &'a F,
    key: &'a KeyHash,
    observer: O,
}

impl<R: Rule, B: BlockArray, O: Observer> Operation for Walk<'_, Balanced<R, B>, O> {
    type Output = bool;

    #[inline(always)]
    fn run<M: Machine>(mut self, machine: M) -> bool {
        self.filter.contains_at_a_walk(machine, *self.key, &mut self.observer)
    }
}

impl<R: Designed<B>, B: Contents> RawFilter for Balanced<R, B> {
    fn new(parameters: &Parameters) -> Result<Self, BuildError> {
        parameters.check()?;
        let found = parameters.scheme.name();
        let other_scheme = BuildError::OtherScheme { expected: R::SERVES, found };
        let design = R::design(parameters).ok_or(other_scheme)?;
        Ok(Self {
            blocks: B::allocate(&design.blocks)?,
            candidates: design.candidates,
            rule: design.rule,
            overflow: OverflowList::new(design.overflow.capacity)?,
            when_full: design.overflow.when_full,
            budget: design.budget,
            elements: 0,
            saturated: 0,
            machine: Best::detect(),
        })
    }

    #[inline]
    fn insert<O: Observer>(&mut self, key: KeyHash, observer: O) -> Result<Insertion, FullError> {
        self.machine.run_on_blocks(Insert { filter: self, key: &key, observer })
    }

    #[inline]
    fn contains<O: Observer>(&self, key: KeyHash, observer: O) -> bool {
        self.machine.run_on_blocks(Contains { filter: self, key: &key, observer })
    }

    fn insert_batch(&mut self, keys: &[KeyHash]) -> Result<u64, FullError> {
        #[cfg(feature = "std")]
        return self.insert_by_threads(keys, 1);
        #[cfg(not(feature = "std"))]
        self.insert_one_by_one(keys)
    }

    #[cfg(feature = "std")]
    fn insert_parallel(&mut self, keys: &[KeyHash], threads: usize) -> Result<u64, FullError> {
        self.insert_by_threads(keys, threads)
    }

    fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        self.machine.run_on_blocks(ContainsBatch { filter: self, keys, found });
    }

    fn remove<O: Observer>(&mut self, key: KeyHash, mut observer: O) -> Result<(), RemoveError> {
        if !self.rule.places_repeats() {
            return Err(RemoveError::NotRemovable(R::SERVES));
        }
        let key = self.blocks.seen(key);
        B::take_out(self, key, &mut observer)?;
        self.elements = self.elements.saturating_sub(1);
        Ok(())
    }

    fn elements(&self) -> u64 {
        self.elements
    }

    fn clear(&mut self) {
        self.blocks.clear();
        self.overflow.clear();
        self.budget.reset();
        self.elements = 0;
        self.saturated = 0;
    }

    fn statistics(&self) -> Statistics {
        let (mut surveys, of_probe) = self.survey_levels();
        B::correct(self, &mut surveys);
        let miss = expectation_of_a_miss(
            of_probe.iter().map(|&index| &surveys[index]),
            self.candidates.share_beyond_the_first(),
        );
        Statistics {
            elements: self.elements,
            overflowed: self.overflow.len(),
            saturated: self.saturated,
            budget_spent: self.budget.is_spent(),
            levels: surveys.into_iter().map(LevelSurvey::into_statistics).collect(),
            memory: Memory {
                blocks: self.blocks.bytes(),
                overflow: self.overflow.bytes(),
                header: size_of::<Self>() as u64,
            },
            expected_rate: miss.rate,
            expected_accesses_per_miss: miss.accesses,
        }
    }

    fn words(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        Box::new(self.blocks.words().chain(self.overflow.words()))
    }
}

impl<R: Rule, B: Contents> Absorb for Balanced<R, B> {
    fn absorb(&mut self, other: &Self, factor: u64) -> Result<(), FullError> {
        B::absorb(self, other, factor)?;
        self.budget.absorb(&other.budget);
        self.elements = self.elements.saturating_add(other.elements);
        self.saturated = self.saturated.saturating_add(other.saturated);
        Ok(())
    }
}
