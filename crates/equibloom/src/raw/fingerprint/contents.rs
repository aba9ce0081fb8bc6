//! Removal, merging, and statistics of what a filter holds.

use alloc::vec::Vec;

use super::Fingerprints;
use super::insert::Visit;
use crate::block::BlockStats;
use crate::block::fingerprint::{is_shortened, old_watermark, watermark};
use crate::block::isa::ANY;
use crate::error::{FullError, RemoveError};
use crate::hashing::KeyHash;
use crate::overflow::ListFull;
use crate::raw::ledger::{Ledger, OwnLedger};
use crate::statistics::{LevelSurvey, Survey};
use equibloom_layout::WhenFull;

impl Fingerprints {
    /// Removes one copy of a key from a multiset.
    ///
    /// Equal copies are exchangeable: the rest of their way depends only on the block and the entry. The first
    /// one found goes, of those at a block the counted ones in the list first, so that the block holds the
    /// entry as long as copies of it are counted there. Watermarks stay: what was sent on is still further on.
    pub(in crate::raw) fn remove(&mut self, key: KeyHash) -> Result<(), RemoveError> {
        let Self { plan, words, ledger, .. } = self;
        let (list, elements) = (&mut ledger.overflow, &mut ledger.elements);
        let mut key = key;
        for (number, _) in plan.levels().iter().enumerate() {
            let Some(Visit { block, entry, .. }) = Visit::of(ANY, plan, number, key) else { break };
            key = entry.onward(block);
            let line = &mut words[block as usize];
            if list.remove(key.candidate(0)) || plan.shape.remove(line, entry) {
                *elements = elements.saturating_sub(1);
                return Ok(());
            }
            if !plan.shape.sends_on(ANY, line, entry.byte(), true) {
                break;
            }
        }
        Err(RemoveError::NotPresent)
    }

    /// Adds all entries of a filter of the same layout.
    pub(in crate::raw) fn merge(&mut self, other: &Self) -> Result<(), FullError> {
        if self.plan.shortens {
            return self.merge_saturating(other);
        }
        // Whether the list has room is known only at the end.
        if self.plan.when_full == WhenFull::Refuse {
            let mut merged = self.clone();
            merged.merge_entries(other).map_err(|ListFull| merged.ledger.full())?;
            *self = merged;
            return Ok(());
        }
        self.merge_entries(other).map_err(|ListFull| self.ledger.full())
    }

    fn merge_entries(&mut self, other: &Self) -> Result<(), ListFull> {
        for (level, blocks) in other.plan.levels().iter().enumerate() {
            for block in blocks.offset..blocks.offset + blocks.size {
                let (ours, theirs) =
                    (&mut self.words[block as usize], &other.words[block as usize]);
                self.plan.shape.raise_watermark(ours, watermark(theirs));
                for entry in other.plan.shape.entries(theirs) {
                    self.place(Visit { level, block, entry }, &mut ())?;
                }
            }
        }
        let Self { plan, ledger, .. } = self;
        let OwnLedger { overflow, elements, .. } = ledger;
        for (entry, copies) in other.ledger.overflow.entries() {
            if plan.multiset || !overflow.contains(entry) {
                overflow.push(entry, copies, plan.when_full)?;
                *elements = elements.saturating_add(copies);
            }
        }
        Ok(())
    }

    /// The levels, and what a miss costs.
    pub(in crate::raw) fn survey(&self) -> Survey {
        let Self { plan, words, ledger, .. } = self;
        let (entries, bytes) = (plan.shape.entries_in_all(), plan.shape.byte_values());
        let mut surveys: Vec<(LevelSurvey, f64)> = Vec::new();
        for &level in plan.levels() {
            let mut stored = 0.0;
            let lines = &words[level.offset as usize..][..level.size as usize];
            let survey = LevelSurvey::take(
                level,
                lines.iter().map(|line| {
                    if plan.shortens && is_shortened(line) {
                        let (load, matching) = plan.shape.survey_shortened(line);
                        stored += f64::from(load);
                        let continuing = (f64::from(old_watermark(line)) + 1.0).min(bytes) / bytes;
                        return BlockStats { load, set_bits: None, matching, continuing };
                    }
                    let load = plan.shape.load(ANY, line);
                    let different = if plan.multiset { plan.shape.different(line) } else { load };
                    stored += f64::from(different);
                    let sends_on = plan.multiset || plan.shape.is_full(ANY, line);
                    let passing = f64::from(u32::from(watermark(line)) + 1).min(bytes) / bytes;
                    BlockStats {
                        load,
                        set_bits: None,
                        matching: f64::from(different) / entries,
                        continuing: if sends_on { passing } else { 0.0 },
                    }
                }),
            );
            surveys.push((survey, stored));
        }
        // An absent key also matches an entry that its block has sent on: the key follows it.
        let mut sent_on = ledger.overflow.len() as f64;
        for (survey, stored) in surveys.iter_mut().rev() {
            let blocks = survey.statistics.blocks as f64;
            survey.matching += (1.0 - survey.matching) * (sent_on / blocks / entries).min(1.0);
            sent_on += *stored;
        }
        Survey::of(surveys.into_iter().map(|(survey, _)| survey).collect(), plan.count, 1.0)
    }
}
