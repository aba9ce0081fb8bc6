//! Blocked filters of Bloom blocks: shape × candidates × rule × overflow list, over any storage.

use super::held::Held;
use super::ledger::OwnLedger;
use super::lookup::Lookups;
use crate::block::isa::{DetectedIsa, KernelTable, Nearness};
use crate::block::{BlockIndex, BloomShape};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::placement::{Choose, Level, Levels};
use crate::statistics::{LevelSurvey, Survey};
use crate::storage::Words;
use equibloom_layout::{Layout, WhenFull};

/// What a filter is, apart from its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan<R> {
    pub(super) shape: BloomShape,
    /// The candidates of each key.
    pub(super) levels: Levels,
    /// The rule that picks one of them.
    pub(super) rule: R,
    pub(super) when_full: WhenFull,
}

/// A filter: its plan, the words of its blocks, and what it counts and lists. Over
/// [`SharedWords`](crate::storage::SharedWords) it is shared by threads.
#[derive(Clone)]
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "shared filters need the ISA again"))]
pub(crate) struct Balanced<R: Choose, S: Held = Words> {
    pub(super) plan: Plan<R>,
    pub(super) words: S,
    pub(super) ledger: S::Ledger,
    /// The ISA that operations run on, and whether the filter is a [common](crate::block::isa::Target::COMMON) one.
    pub(super) isa: DetectedIsa,
    pub(super) is_common: bool,
    pub(super) lookups: Lookups<R, S>,
    pub(super) inserts: S::Inserts<R>,
}

impl<R: Choose, S: Held> Balanced<R, S> {
    pub(super) fn new(
        plan: Plan<R>,
        words: S,
        ledger: S::Ledger,
        isa: DetectedIsa,
        is_common: bool,
    ) -> Self {
        let (lookups, inserts) = (Lookups::new(isa, is_common), KernelTable::new(isa, is_common));
        Self { plan, words, ledger, isa, is_common, lookups, inserts }
    }

    /// Prefetches the key's first candidate, to change it.
    #[inline(always)]
    pub(super) fn prefetch_first(&self, key: KeyHash) {
        let Plan { shape, levels, .. } = &self.plan;
        shape.prefetch(&self.words, levels.first_block(key), Nearness::First);
    }
}

impl<R: Choose> Balanced<R> {
    /// The filter of a checked layout with this rule, these words, and what they count and list.
    pub(super) fn over(
        layout: &Layout,
        shape: BloomShape,
        rule: R,
        words: Words,
        ledger: OwnLedger,
    ) -> Self {
        let is_common = shape.is_common() && ledger.budget.is_unlimited();
        let levels = Levels::new(&layout.candidates);
        let plan = Plan { shape, levels, rule, when_full: layout.overflow.when_full };
        Self::new(plan, words, ledger, DetectedIsa::detect(), is_common)
    }

    /// The levels, and what a miss costs. Candidates anywhere share one level.
    pub(super) fn survey(&self) -> Survey {
        let Plan { shape, levels, rule, .. } = &self.plan;
        let mut distinct = levels.as_slice().to_vec();
        distinct.dedup();
        let take =
            |&level: &Level| LevelSurvey::take(level, shape.block_stats(&self.words, level, rule));
        let surveys = distinct.iter().map(take).collect();
        Survey::of(surveys, levels.as_slice().len(), levels.share_beyond_the_first())
    }

    /// Adds all keys of a filter of the same layout whose tables are `factor` times as large. Block `i` of a
    /// level becomes the union of `factor` blocks of the larger level from `i × factor` on: the blocks of keys
    /// whose word scales to `i` in the smaller level.
    pub(super) fn merge(&mut self, other: &Self, factor: u64) -> Result<(), FullError> {
        let Self { plan, words, ledger, .. } = self;
        ledger.merge(&other.ledger, plan.when_full)?;
        // Levels are consecutive, and each is `factor` times as large in the other filter.
        let levels = other.plan.levels.as_slice().iter();
        let count = levels.map(|level| level.offset + level.size).max().unwrap_or(0);
        for block in 0..count {
            let into = BlockIndex(block / factor);
            plan.shape.merge_block(words, into, &other.words, BlockIndex(block));
        }
        Ok(())
    }
}
