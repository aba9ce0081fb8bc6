//! Every blocked filter: blocks × candidates × rule × overflow list.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::absorb::Absorb;
use super::batch::ContainsBatch;
use super::budget::AccessBudget;
use super::contents::Contents;
use super::design::Designed;
use super::insert::Insert;
use super::lookup::Lookup;
use super::{Insertion, RawFilter};
use crate::block::simd::{Best, Engine};
use crate::block::{BlockArray, BloomBlocks};
use crate::error::{BuildError, FullError, MergeError, RemoveError};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::overflow::OverflowList;
use crate::parameters::{Parameters, WhenFull};
use crate::placement::{Candidates, Rule};
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
    pub(super) engine: Engine<Self>,
}

impl<R: Rule, B: BlockArray> Balanced<R, B> {
    /// What runs a filter with these blocks and this budget by a machine's instructions.
    pub(super) fn engine_for(machine: Best, blocks: &B, budget: &AccessBudget) -> Engine<Self> {
        Engine::new(machine, blocks.is_usual() && budget.is_unlimited())
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

impl<R: Designed<B>, B: Contents> RawFilter for Balanced<R, B> {
    fn new(parameters: &Parameters) -> Result<Self, BuildError> {
        parameters.check()?;
        let found = parameters.scheme.name();
        let other_scheme = BuildError::OtherScheme { expected: R::SERVES, found };
        let design = R::design(parameters).ok_or(other_scheme)?;
        let blocks = B::allocate(&design.blocks)?;
        Ok(Self {
            engine: Self::engine_for(Best::detect(), &blocks, &design.budget),
            blocks,
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
    fn insert<O: Observer>(&mut self, key: KeyHash, observer: O) -> Result<Insertion, FullError> {
        self.engine.run(Insert { filter: self, key: &key, observer })
    }

    #[inline]
    fn contains(&self, key: KeyHash) -> bool {
        self.engine.ask(self, key)
    }

    fn contains_observed<O: Observer>(&self, key: KeyHash, observer: O) -> bool {
        self.engine.run(Lookup { filter: self, key, observer })
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
        self.engine.run(ContainsBatch { filter: self, keys, found });
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
    fn absorb(&mut self, other: &Self, factor: u64) -> Result<(), MergeError> {
        B::absorb(self, other, factor)?;
        self.budget.absorb(&other.budget);
        self.elements = self.elements.saturating_add(other.elements);
        self.saturated = self.saturated.saturating_add(other.saturated);
        Ok(())
    }
}
