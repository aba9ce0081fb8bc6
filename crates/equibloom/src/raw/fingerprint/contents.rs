//! Removal, merging, and statistics of what a filter holds.

use alloc::vec::Vec;

use super::Fingerprints;
use super::insert::{Visit, place};
use crate::block::ANY;
use crate::block::fingerprint::watermark;
use crate::error::{FullError, RemoveError};
use crate::hashing::KeyHash;
use crate::overflow::ListFull;
use crate::statistics::{LevelSurvey, Memory, Statistics, expectation_of_a_miss};
use equibloom_layout::WhenFull;

impl Fingerprints {
    /// Removes one copy of a key from a multiset.
    ///
    /// Equal copies are exchangeable: the rest of their way depends only on the block and the entry. The first
    /// one found goes, of those at a block the counted ones in the list first, so that the block holds the
    /// entry as long as copies of it are counted there. Watermarks stay: what was sent on is still further on.
    pub(in crate::raw) fn remove(&mut self, key: KeyHash) -> Result<(), RemoveError> {
        let Self { plan, words, list, elements, .. } = self;
        let mut key = key;
        for (number, _) in plan.levels().iter().enumerate() {
            let Some(Visit { block, entry, .. }) = Visit::of(ANY, plan, number, key) else { break };
            key = entry.onward(block);
            let line = words.line_mut(block as usize);
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
        // Whether the list has room is known only at the end.
        if self.plan.when_full == WhenFull::Refuse {
            let mut merged = self.clone();
            merged.merge_entries(other).map_err(|ListFull| self.full())?;
            *self = merged;
            return Ok(());
        }
        self.merge_entries(other).map_err(|ListFull| self.full())
    }

    fn merge_entries(&mut self, other: &Self) -> Result<(), ListFull> {
        let Self { plan, words, list, elements, .. } = self;
        let mut added = 0_u64;
        for (level, blocks) in plan.levels().iter().enumerate() {
            for block in blocks.offset..blocks.offset + blocks.size {
                let theirs = other.words.line(block as usize);
                let byte = watermark(theirs);
                plan.shape.raise_watermark(words.line_mut(block as usize), byte);
                for entry in plan.shape.entries(theirs) {
                    let visit = Visit { level, block, entry };
                    let (words, list) = (&mut *words, &mut *list);
                    let placed = place(ANY, plan, &mut { words }, &mut { list }, visit, &mut ())?;
                    added += u64::from(placed.added);
                }
            }
        }
        for (entry, copies) in other.list.entries() {
            if plan.multiset {
                list.push_copies(entry, copies, plan.when_full)?;
                added += copies;
            } else if !list.contains(entry) {
                list.push(entry, plan.when_full)?;
                added += 1;
            }
        }
        *elements = elements.saturating_add(added);
        Ok(())
    }

    pub(in crate::raw) fn statistics(&self) -> Statistics {
        let Self { plan, words, list, .. } = self;
        let (entries, bytes) = (plan.shape.entries_in_all(), plan.shape.byte_values());
        let mut surveys: Vec<LevelSurvey> = Vec::new();
        for &level in plan.levels() {
            let lines = (level.offset..level.offset + level.size).map(|at| words.line(at as usize));
            surveys.push(LevelSurvey::of_blocks(level, lines.map(|line| {
                let load = plan.shape.load(ANY, line);
                let sent_on = plan.multiset || plan.shape.is_full(ANY, line);
                let passing = f64::from(u32::from(watermark(line)) + 1).min(bytes) / bytes;
                let passing = if sent_on { passing } else { 0.0 };
                (load, None, f64::from(load) / entries, passing)
            })));
        }
        // An absent key also matches an entry that its block has sent on: the key follows it.
        let mut sent_on = list.copies();
        for survey in surveys.iter_mut().rev() {
            survey.add_matching(sent_on as f64 / survey.level().size as f64 / entries);
            sent_on += survey.stored();
        }
        let miss = expectation_of_a_miss(surveys.iter(), 1.0);
        Statistics {
            elements: self.elements,
            overflowed: list.copies(),
            saturated: list.copies().saturating_sub(self.plan.list_capacity),
            budget_spent: false,
            levels: surveys.into_iter().map(LevelSurvey::into_statistics).collect(),
            memory: Memory {
                blocks: words.bytes(),
                overflow: list.bytes(),
                header: size_of::<Self>() as u64,
            },
            expected_rate: miss.rate,
            expected_accesses_per_miss: miss.accesses,
        }
    }
}
