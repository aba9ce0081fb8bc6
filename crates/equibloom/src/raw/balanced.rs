//! Every blocked filter of the papers: blocks × candidates × rule × overflow list.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::budget::AccessBudget;
use super::design::Designed;
use super::{Insertion, RawFilter};
use crate::block::{BlockArray, BloomBlocks};
use crate::error::{BuildError, FullError};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::overflow::OverflowList;
use crate::parameters::{Parameters, WhenFull};
use crate::placement::{Candidates, Placement, Rule, Search, least_loaded};
use crate::statistics::{LevelSurvey, Memory, Statistics, expectation_of_a_miss};

/// Blocks, the candidates of each key among them, the rule that picks one, and the overflow list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balanced<R> {
    blocks: BloomBlocks,
    candidates: Candidates,
    rule: R,
    overflow: OverflowList,
    when_full: WhenFull,
    budget: AccessBudget,
    elements: u64,
    saturated: u64,
}

impl<R: Rule> Balanced<R> {
    /// Whether the key is in the overflow list.
    #[inline]
    fn is_in_overflow<O: Observer>(&self, key: KeyHash, observer: &mut O) -> bool {
        if self.overflow.is_empty() {
            return false;
        }
        observer.overflow_probed();
        self.overflow.contains(key.overflow_entry())
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

impl<R: Designed> RawFilter for Balanced<R> {
    fn new(parameters: &Parameters) -> Result<Self, BuildError> {
        parameters.check()?;
        let found = parameters.scheme.name();
        let other_scheme = BuildError::OtherScheme { expected: R::SERVES, found };
        let design = R::design(parameters).ok_or(other_scheme)?;
        Ok(Self {
            blocks: BloomBlocks::new(&design.table, design.counter_bits)?,
            candidates: design.candidates,
            rule: design.rule,
            overflow: OverflowList::new(design.overflow.capacity)?,
            when_full: design.overflow.when_full,
            budget: design.budget,
            elements: 0,
            saturated: 0,
        })
    }

    #[inline]
    fn insert<O: Observer>(
        &mut self,
        key: KeyHash,
        observer: &mut O,
    ) -> Result<Insertion, FullError> {
        let (admitting, reads) =
            match self.rule.place(&self.blocks, &self.candidates, key, observer) {
                Placement::Present => return Ok(Insertion::AlreadyPresent),
                Placement::Admitted { block, reads } => (Some(block), reads),
                Placement::Rejected { reads } => (None, reads),
            };
        match admitting {
            // Such a key cannot stand in the overflow list: it would have gone there because all
            // its candidates were full, and they still are, or because the budget was spent, and
            // then it affords nothing any more.
            Some(block) if self.budget.affords(reads) => self.blocks.add(block, key),
            _ => {
                if self.is_in_overflow(key, observer) {
                    return Ok(Insertion::AlreadyPresent);
                }
                if self.overflow.insert(key.overflow_entry()).is_err() {
                    if self.when_full == WhenFull::Refuse {
                        return Err(FullError {
                            capacity: self.overflow.capacity(),
                            stored: self.elements,
                        });
                    }
                    // Its candidates turned it away and always will, so that a lookup reads them
                    // all and finds it in any.
                    let block = admitting
                        .unwrap_or_else(|| least_loaded(&self.blocks, &self.candidates, key));
                    self.blocks.add(block, key);
                    self.saturated += 1;
                }
            }
        }
        self.budget.spend(reads);
        self.elements += 1;
        Ok(Insertion::New)
    }

    #[inline(always)]
    fn contains<O: Observer>(&self, key: KeyHash, observer: &mut O) -> bool {
        match self.rule.search(&self.blocks, &self.candidates, key, observer) {
            Search::Present => true,
            // Once the budget is spent, keys overflow although their blocks have room.
            Search::Absent => {
                R::REJECTS && self.budget.is_spent() && self.is_in_overflow(key, observer)
            }
            Search::Exhausted => self.is_in_overflow(key, observer),
        }
    }

    fn clear(&mut self) {
        self.blocks.clear();
        self.overflow.clear();
        self.budget.reset();
        self.elements = 0;
        self.saturated = 0;
    }

    fn statistics(&self) -> Statistics {
        let (surveys, of_probe) = self.survey_levels();
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
