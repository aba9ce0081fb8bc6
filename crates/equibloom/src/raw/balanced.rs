//! Blocked filters: blocks × candidates × rule × overflow list.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Insertion;
use super::batch::ContainsBatch;
use super::budget::AccessBudget;
use super::contents::Contents;
use super::insert::Insert;
#[cfg(feature = "file")]
use super::parts::Counters;
use super::parts::Parts;
use crate::block::isa::{DetectedIsa, Engine};
use crate::block::{BlockArray, BloomBlocks};
#[cfg(feature = "file")]
use crate::error::BuildError;
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::overflow::OverflowList;
use crate::placement::{Choose, Levels};
use crate::statistics::{LevelSurvey, Memory, Statistics, expectation_of_a_miss};
#[cfg(feature = "file")]
use crate::storage::Words;
use equibloom_layout::{Layout, WhenFull};

/// Blocks, the candidates of each key among them, the rule that picks one, and the overflow list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Balanced<R, B: BlockArray = BloomBlocks> {
    pub(super) blocks: B,
    pub(super) candidates: Levels<B::Routing>,
    pub(super) rule: R,
    pub(super) overflow: OverflowList,
    pub(super) when_full: WhenFull,
    pub(super) budget: AccessBudget,
    // Both may have any value in a hostile file: sums saturate.
    pub(super) elements: u64,
    pub(super) saturated: u64,
    /// The ISA that operations run on.
    pub(super) engine: Engine<Self>,
}

impl<R: Choose, B: BlockArray> Balanced<R, B> {
    /// The engine for a filter with these blocks and this budget.
    pub(super) fn engine_for(isa: DetectedIsa, blocks: &B, budget: &AccessBudget) -> Engine<Self> {
        Engine::new(isa, blocks.is_common() && budget.is_unlimited())
    }

    /// One survey for each distinct level, and for each probe the index of its survey: candidates anywhere
    /// share one.
    fn survey_levels(&self) -> (Vec<LevelSurvey>, Vec<usize>) {
        let mut surveys: Vec<LevelSurvey> = Vec::new();
        let mut of_probe = Vec::new();
        for level in self.candidates.as_slice() {
            let known = surveys.iter().position(|survey| survey.level() == *level);
            of_probe.push(known.unwrap_or(surveys.len()));
            if known.is_none() {
                surveys.push(LevelSurvey::take(&self.blocks, *level, &self.rule));
            }
        }
        (surveys, of_probe)
    }
}

impl<R: Choose, B: Contents> Balanced<R, B> {
    /// The filter of a checked layout with these parts; `None` if the overflow list does not fit.
    pub(super) fn over(layout: &Layout, shape: &B::Shape, rule: R, parts: Parts) -> Option<Self> {
        let Parts { blocks, overflow, counters } = parts;
        let blocks = B::over(shape, layout.candidates.blocks(), blocks);
        let budget =
            AccessBudget::new(layout.budget).restored(counters.budget_used, counters.budget_spent);
        Some(Self {
            engine: Self::engine_for(DetectedIsa::detect(), &blocks, &budget),
            blocks,
            candidates: Levels::new(&layout.candidates),
            rule,
            overflow: OverflowList::over(
                overflow,
                counters.overflow_capacity,
                counters.overflow_entries,
            )?,
            when_full: layout.overflow.when_full,
            budget,
            elements: counters.elements,
            saturated: counters.saturated,
        })
    }

    #[inline]
    pub(super) fn insert(&mut self, key: KeyHash) -> Result<Insertion, FullError> {
        self.engine.run(Insert { filter: self, key: &key })
    }

    #[inline]
    pub(super) fn contains(&self, key: KeyHash) -> bool {
        self.engine.lookup(self, key)
    }

    pub(super) fn insert_batch(
        &mut self,
        keys: &[KeyHash],
        threads: usize,
    ) -> Result<u64, FullError> {
        #[cfg(feature = "std")]
        return self.insert_by_threads(keys, threads);
        #[cfg(not(feature = "std"))]
        {
            let _ = threads;
            self.insert_one_by_one(keys)
        }
    }

    pub(super) fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        let batch = ContainsBatch { filter: self, keys, found };
        if let Err(batch) = self.engine.run_if_worthwhile(batch) {
            batch.one_by_one();
        }
    }

    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.overflow.clear();
        self.budget.reset();
        self.elements = 0;
        self.saturated = 0;
    }

    pub(super) fn statistics(&self) -> Statistics {
        let (mut surveys, of_probe) = self.survey_levels();
        B::add_matches_sent_on(self, &mut surveys);
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

    pub(super) fn words(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        Box::new(self.blocks.words().chain(self.overflow.words()))
    }

    #[cfg(feature = "file")]
    pub(super) fn parts(&self) -> Parts<&Words> {
        Parts {
            blocks: self.blocks.storage(),
            overflow: self.overflow.storage(),
            counters: Counters {
                elements: self.elements,
                saturated: self.saturated,
                budget_used: self.budget.used(),
                budget_spent: self.budget.is_spent(),
                overflow_entries: self.overflow.len(),
                overflow_capacity: self.overflow.capacity(),
            },
        }
    }

    #[cfg(feature = "file")]
    pub(super) fn detach(&mut self) -> Result<(), BuildError> {
        self.blocks.storage_mut().detach()?;
        self.overflow.detach()
    }

    /// Adds all keys of a filter of the same layout whose tables are `factor` times as large.
    pub(super) fn merge(&mut self, other: &Self, factor: u64) -> Result<(), FullError> {
        B::merge(self, other, factor)?;
        self.budget.merge(&other.budget);
        self.elements = self.elements.saturating_add(other.elements);
        self.saturated = self.saturated.saturating_add(other.saturated);
        Ok(())
    }
}
