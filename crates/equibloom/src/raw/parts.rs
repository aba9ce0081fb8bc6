//! Several filters as one: what filters of different plans become when they are merged.
//!
//! A key is in it if it is in one of the parts. A new key goes to the part with the most room. Rates and
//! accesses of a miss add up. Keys cannot be removed: a part that does not hold the key may have one like it.

use alloc::vec::Vec;

use super::held::Held;
use super::{Any, Insertion};
use crate::error::{FullError, MergeError};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::statistics::Statistics;
use crate::storage::Words;
use equibloom_layout::Design;

/// A filter of parts.
pub(crate) struct Parts<S: Held = Words> {
    pub(crate) parts: Vec<Part<S>>,
}

/// One of them.
pub(crate) struct Part<S: Held = Words> {
    /// Number of keys that it is planned for.
    pub(crate) keys: u64,
    pub(crate) design: Design,
    pub(crate) filter: Any<S>,
}

impl<S: Held> Parts<S> {
    /// The filters, in order.
    pub(super) fn filters(&self) -> impl Iterator<Item = &Any<S>> {
        self.parts.iter().map(|part| &part.filter)
    }

    // Not inlined, so that no register is saved for it: lookups in other filters are tail calls.
    #[inline(never)]
    pub(super) fn contains(&self, key: KeyHash) -> bool {
        self.filters().any(|filter| filter.contains(key))
    }

    /// The number of the part with the most room.
    pub(super) fn roomiest(&self) -> usize {
        let room = |(_, part): &(usize, &Part<S>)| part.keys.saturating_sub(part.filter.elements());
        self.parts.iter().enumerate().rev().max_by_key(room).map_or(0, |(index, _)| index)
    }

    /// Whether a part other than this one holds the key.
    pub(super) fn holds_beside(&self, part: usize, key: KeyHash) -> bool {
        let mut others = self.filters().enumerate().filter(|&(index, _)| index != part);
        others.any(|(_, filter)| filter.contains(key))
    }
}

impl Parts {
    pub(super) fn contains_observed(&self, key: KeyHash, observer: &mut dyn Observer) -> bool {
        self.filters().any(|filter| filter.contains_observed(key, &mut *observer))
    }

    pub(super) fn insert_observed(
        &mut self,
        key: KeyHash,
        observer: &mut dyn Observer,
    ) -> Result<Insertion, FullError> {
        let open = self.roomiest();
        if self.holds_beside(open, key) {
            return Ok(Insertion::AlreadyPresent);
        }
        self.parts[open].filter.insert_observed(key, observer)
    }

    pub(super) fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        found.fill(0);
        let mut of_part = alloc::vec![0; found.len()];
        for filter in self.filters() {
            filter.contains_batch(keys, &mut of_part);
            found.iter_mut().zip(&of_part).for_each(|(found, of_part)| *found |= of_part);
        }
    }

    pub(super) fn statistics(&self) -> Statistics {
        let mut all = Statistics::default();
        for part in self.filters().map(Any::statistics) {
            all.elements = all.elements.saturating_add(part.elements);
            all.overflowed = all.overflowed.saturating_add(part.overflowed);
            all.saturated = all.saturated.saturating_add(part.saturated);
            all.budget_spent |= part.budget_spent;
            all.levels.extend(part.levels);
            all.memory.blocks += part.memory.blocks;
            all.memory.overflow += part.memory.overflow;
            all.expected_rate += (1.0 - all.expected_rate) * part.expected_rate;
            all.expected_accesses_per_miss += part.expected_accesses_per_miss;
        }
        all
    }

    /// Adds other parts: each to a part of the same plan, or beside them.
    ///
    /// # Errors
    /// A part refuses keys. Nothing has changed.
    pub(crate) fn merge<'a>(
        &mut self,
        others: impl IntoIterator<Item = (u64, &'a Design, &'a Any)>,
    ) -> Result<(), MergeError> {
        let mut changed = Vec::new();
        for (keys, &design, other) in others {
            let is_like = |part: &Part| (part.keys, part.design) == (keys, design);
            let index = self.parts.iter().position(is_like).unwrap_or(usize::MAX);
            let filter = match self.parts.get(index) {
                Some(part) => {
                    let mut filter = part.filter.clone();
                    filter.merge(other, 1)?;
                    filter
                }
                None => other.clone(),
            };
            changed.push((index, Part { keys, design, filter }));
        }
        for (index, part) in changed {
            match self.parts.get_mut(index) {
                Some(old) => *old = part,
                None => self.parts.push(part),
            }
        }
        Ok(())
    }
}

impl Clone for Parts {
    fn clone(&self) -> Self {
        let copy = |&Part { keys, design, ref filter }: &Part| Part {
            keys,
            design,
            filter: filter.clone(),
        };
        Self { parts: self.parts.iter().map(copy).collect() }
    }
}
