//! Merging and removal of fingerprints.

use alloc::vec::Vec;

use super::{Contents, join_overflow};
use crate::block::isa::Portable;
use crate::block::{BlockArray, BlockIndex, FingerprintBlocks};
use crate::error::{FullError, RemoveError};
use crate::hashing::KeyHash;
use crate::placement::{Choose, Probe};
use crate::raw::Balanced;
use crate::statistics::LevelSurvey;

impl Contents for FingerprintBlocks {
    /// Hints are united. Then, level by level, every block collects its own keys, the other's and those
    /// moved to it, keeps as many as it has slots for, and moves the rest on. It keeps the smallest
    /// fingerprints, so that the result does not depend on the order of merges.
    fn merge<R: Choose>(
        filter: &mut Balanced<R, Self>,
        other: &Balanced<R, Self>,
        _factor: u64,
    ) -> Result<(), FullError> {
        // Whether the overflow list has room is known only after all keys have been placed.
        let mut merged = filter.clone();
        merged.merge_keys(other)?;
        *filter = merged;
        Ok(())
    }

    /// An absent key matches every key that ever reached its block with the same fingerprint, stored there
    /// or moved on: keys stored in later levels count here too. Where all candidates share one table, each
    /// block access of a stored key counts. Keys rejected by their last candidate do not: the walk of the
    /// absent key ends elsewhere.
    fn add_matches_sent_on<R: Choose>(filter: &Balanced<R, Self>, surveys: &mut [LevelSurvey]) {
        let Balanced { budget, overflow, candidates, .. } = filter;
        let mut sent_on = match surveys {
            [one] if candidates.as_slice().len() > 1 => {
                // Once the budget is spent, most entries of the list come from a first candidate.
                let astray = if budget.is_spent() { 0 } else { overflow.len() };
                budget.used().saturating_sub(one.stored() + astray)
            }
            _ => overflow.len(),
        };
        for survey in surveys.iter_mut().rev() {
            let per_block = sent_on as f64 / survey.level().size as f64;
            survey.add_matching(per_block * filter.blocks.match_probability());
            sent_on += survey.stored();
        }
    }
}

/// A key moved to a block.
type Sent = (BlockIndex, KeyHash);

impl<R: Choose> Balanced<R, FingerprintBlocks> {
    /// Removes one copy of a key from the blocks or the overflow list.
    pub(in crate::raw) fn remove(&mut self, key: KeyHash) -> Result<(), RemoveError> {
        let key = self.blocks.reduce(key);
        let (mut removed, mut reachable, mut reads) = (false, true, 0);
        for probe in self.candidates.walk(key) {
            reads += 1;
            removed = self.blocks.remove(probe.block, key);
            reachable = self.blocks.hint_is_set(Portable, probe).unwrap_or(true);
            if removed || !reachable {
                break;
            }
        }
        let may_overflow = !removed && (reachable || self.budget.is_spent());
        if may_overflow && self.is_in_overflow(key, &mut ()) {
            removed = self.overflow.remove(self.candidates.overflow_entry(key));
        }
        if !removed {
            return Err(RemoveError::NotPresent);
        }
        self.budget.refund(reads);
        self.elements = self.elements.saturating_sub(1);
        Ok(())
    }

    fn merge_keys(&mut self, other: &Self) -> Result<(), FullError> {
        let repeats = self.rule.stores_repeats();
        join_overflow(self, &other.overflow, |list, entry| repeats || !list.contains(entry))?;
        let levels = self.candidates.as_slice().to_vec();
        let shared = levels.len() > 1 && levels[0] == levels[1];
        let distinct = if shared { &levels[..1] } else { &levels[..] };
        let mut arriving: Vec<Sent> = Vec::new();
        for (number, level) in distinct.iter().enumerate() {
            arriving.sort_unstable_by_key(|&(block, _)| block);
            let mut arrivals = core::mem::take(&mut arriving).into_iter().peekable();
            for block in (level.offset..level.offset + level.size).map(BlockIndex) {
                self.blocks.merge_hints(block, &other.blocks);
                let mut keys: Vec<KeyHash> = other.blocks.keys(block).collect();
                while let Some((_, key)) = arrivals.next_if(|&(here, _)| here == block) {
                    keys.push(key);
                }
                for key in self.keep_smallest(block, keys) {
                    if shared {
                        self.send_to_every_end(levels.len(), block, key)?;
                    } else if let Some(next) = self.send_on(number, block, key)? {
                        arriving.push((next, key));
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds keys to a block and returns those without a slot.
    fn keep_smallest(&mut self, block: BlockIndex, new: Vec<KeyHash>) -> Vec<KeyHash> {
        if new.is_empty() {
            return new;
        }
        let mut keys = new;
        keys.extend(self.blocks.take_all(block));
        keys.sort_unstable_by_key(|key| key.pattern_word(0));
        if !self.rule.stores_repeats() {
            keys.dedup_by_key(|key| key.pattern_word(0));
        }
        let kept = keys.len().min(self.blocks.slots() as usize);
        let rest = keys.split_off(kept);
        for key in keys {
            self.blocks.add(Portable, block, key);
        }
        rest
    }

    /// Moves a key from its candidate numbered `number` to the next one, or to the overflow list.
    fn send_on(
        &mut self,
        number: usize,
        block: BlockIndex,
        key: KeyHash,
    ) -> Result<Option<BlockIndex>, FullError> {
        let mut walk = self.candidates.walk_from(number, block, key);
        let (here, next) = (walk.next(), walk.next());
        drop(walk);
        if let Some(here) = here {
            self.blocks.set_hint(here);
            if next.is_none() {
                self.add_to_overflow(here.onward)?;
            }
        }
        Ok(next.map(|probe| probe.block))
    }

    /// Candidates anywhere share one table, so that the probe number of a stored key is unknown. The key
    /// gets an overflow entry for every possible end of its walk, and hints along the way. Without hints a
    /// lookup ends at the first block with room, so the key is stored there.
    fn send_to_every_end(
        &mut self,
        choices: usize,
        block: BlockIndex,
        key: KeyHash,
    ) -> Result<(), FullError> {
        let walk: Vec<Probe> = self.candidates.walk_from(0, block, key).take(choices).collect();
        for probe in walk {
            if !self.blocks.has_hints()
                && self.blocks.load(Portable, probe.block) < self.blocks.slots()
            {
                if !self.blocks.test(Portable, probe.block, key) {
                    self.blocks.add(Portable, probe.block, key);
                }
                break;
            }
            self.blocks.set_hint(probe);
            self.add_to_overflow(probe.onward)?;
        }
        Ok(())
    }

    fn add_to_overflow(&mut self, entry: u64) -> Result<(), FullError> {
        if !self.rule.stores_repeats() && self.overflow.contains(entry) {
            return Ok(());
        }
        self.overflow.push(entry, self.when_full).map_err(|_| self.full())
    }
}
