//! Several filters as one: what filters of different plans become when they are merged, and a planned filter when it
//! grows.
//!
//! A key is in it if it is in one of the parts. A new key goes to the part that grows, or to the planned part with the
//! most room. Rates and accesses of a miss add up. Keys cannot be removed: a part that does not hold the key may have
//! one like it.

use alloc::vec::Vec;

use super::held::Held;
use super::{Any, Insertion};
use crate::error::{FullError, MergeError};
use crate::growing::Growth;
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::statistics::Statistics;
use crate::storage::Words;
use equibloom_layout::Design;

/// Keys of a batch that are looked up at once.
const BATCH: usize = 512;

/// A filter of parts.
pub(crate) struct Parts<S: Held = Words> {
    /// Planned ones, at least one.
    pub(crate) parts: Vec<Part<S>>,
    /// The part that grows. Shared filters have it [elsewhere](crate::growing::SharedGrowth).
    pub(crate) growth: Option<Growth>,
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
        self.filters().any(|filter| filter.contains(key)) || self.growth_contains(key)
    }

    fn growth_contains(&self, key: KeyHash) -> bool {
        self.growth.as_ref().is_some_and(|growth| growth.contains(key))
    }

    /// Whether new keys go to the part that grows.
    pub(super) fn has_grown(&self) -> bool {
        self.growth.is_some() && self.parts.first().is_some_and(Part::grows)
    }

    pub(super) fn elements(&self) -> u64 {
        let growth = self.growth.as_ref().map_or(0, Growth::elements);
        self.filters().map(Any::elements).fold(growth, u64::saturating_add)
    }

    pub(super) fn prefetch_first(&self, key: KeyHash) {
        self.filters().for_each(|filter| filter.prefetch_first(key));
        self.growth.iter().for_each(|growth| growth.prefetch(key));
    }

    /// The number of the part with the most room.
    pub(super) fn roomiest(&self) -> usize {
        let room = |(_, part): &(usize, &Part<S>)| part.keys.saturating_sub(part.filter.elements());
        self.parts.iter().enumerate().rev().max_by_key(room).map_or(0, |(index, _)| index)
    }

    /// Whether a part other than this one holds the key.
    pub(super) fn holds_beside(&self, part: usize, key: KeyHash) -> bool {
        let mut others = self.filters().enumerate().filter(|&(index, _)| index != part);
        others.any(|(_, filter)| filter.contains(key)) || self.growth_contains(key)
    }
}

impl<S: Held> Part<S> {
    /// Whether keys beyond its plan go to another part.
    fn grows(&self) -> bool {
        self.design.overflow().when_full.grows()
    }
}

impl Parts {
    pub(super) fn contains_observed(&self, key: KeyHash, observer: &mut dyn Observer) -> bool {
        self.filters().any(|filter| filter.contains_observed(key, &mut *observer))
            || self.growth.as_ref().is_some_and(|growth| growth.contains_observed(key, observer))
    }

    pub(super) fn insert_observed(
        &mut self,
        key: KeyHash,
        observer: &mut dyn Observer,
    ) -> Result<Insertion, FullError> {
        if self.has_grown() {
            if self.filters().any(|filter| filter.contains_observed(key, &mut *observer)) {
                return Ok(Insertion::AlreadyPresent);
            }
            observer.block_read();
            let full = self.full();
            let inserted = self.growth.as_mut().map(|growth| growth.insert(key).ok());
            return inserted.flatten().ok_or(full);
        }
        let open = self.roomiest();
        if self.holds_beside(open, key) {
            return Ok(Insertion::AlreadyPresent);
        }
        self.parts[open].filter.insert_observed(key, observer)
    }

    /// Inserts keys in order: into the part that grows, in batches, or one by one. Returns how many more elements
    /// there are.
    pub(super) fn insert_batch(&mut self, keys: &[KeyHash]) -> Result<u64, FullError> {
        if !self.has_grown() {
            let mut insert = |&key| Ok(u64::from(self.insert_observed(key, &mut ())?.is_new()));
            return keys.iter().try_fold(0, |new, key| Ok(new + insert(key)?));
        }
        let before = self.elements();
        let mut absent = Vec::with_capacity(keys.len().min(BATCH));
        for keys in keys.chunks(BATCH) {
            let mut found = [0; BATCH / u64::BITS as usize];
            self.planned_contain_batch(keys, &mut found);
            let is_absent = |index: usize| found[index / 64] >> (index % 64) & 1 == 0;
            absent.clear();
            absent.extend((0..keys.len()).filter(|&key| is_absent(key)).map(|key| keys[key]));
            let full = self.full();
            let growth = self.growth.as_mut();
            growth.map_or(Ok(()), |growth| growth.insert_batch(&absent)).map_err(|_| full)?;
        }
        Ok(self.elements() - before)
    }

    pub(super) fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        self.planned_contain_batch(keys, found);
        self.growth.iter().for_each(|growth| growth.contains_batch(keys, found));
    }

    fn planned_contain_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        found.fill(0);
        let mut of_part = alloc::vec![0; found.len()];
        for filter in self.filters() {
            filter.contains_batch(keys, &mut of_part);
            found.iter_mut().zip(&of_part).for_each(|(found, of_part)| *found |= of_part);
        }
    }

    /// The error of a filter for which memory is short.
    fn full(&self) -> FullError {
        let capacity = self.parts.first().map_or(0, |part| part.design.overflow().capacity);
        FullError { capacity, stored: self.elements() }
    }

    pub(super) fn statistics(&self) -> Statistics {
        let mut all = Statistics::default();
        let growth = self.growth.iter().map(Growth::statistics);
        for part in self.filters().map(Any::statistics).chain(growth) {
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

    /// Adds other parts: each to a part of the same plan, or beside them. A part that keeps its rate takes only what
    /// it is planned for.
    ///
    /// # Errors
    /// A part refuses keys, or memory is short. Nothing has changed.
    pub(crate) fn merge<'a>(
        &mut self,
        others: impl IntoIterator<Item = (u64, &'a Design, &'a Any)>,
        other_growth: Option<&Growth>,
    ) -> Result<(), MergeError> {
        let mut changed: Vec<(usize, Part)> = Vec::new();
        'others: for (keys, &design, other) in others {
            for (_, part) in &mut changed {
                if let Some(merged) = part.merged(keys, &design, other)? {
                    *part = merged;
                    continue 'others;
                }
            }
            for (index, part) in self.parts.iter().enumerate() {
                let is_unchanged = changed.iter().all(|&(other, _)| other != index);
                if is_unchanged && let Some(merged) = part.merged(keys, &design, other)? {
                    changed.push((index, merged));
                    continue 'others;
                }
            }
            changed.push((usize::MAX, Part { keys, design, filter: other.clone() }));
        }
        let growth = match (self.growth.clone(), other_growth) {
            (Some(mut ours), Some(theirs)) => {
                ours.merge(theirs)?;
                Some(ours)
            }
            (ours, theirs) => ours.or_else(|| theirs.cloned()),
        };
        self.growth = growth;
        for (index, part) in changed {
            match self.parts.get_mut(index) {
                Some(old) => *old = part,
                None => self.parts.push(part),
            }
        }
        Ok(())
    }
}

impl Part {
    /// This part with another one; `None` if their plans differ, or it would have more than it is planned for and
    /// keeps its rate.
    fn merged(&self, keys: u64, design: &Design, other: &Any) -> Result<Option<Self>, MergeError> {
        if (self.keys, &self.design) != (keys, design) {
            return Ok(None);
        }
        let mut filter = self.filter.clone();
        match filter.merge(other, 1) {
            Err(MergeError::Full(_)) if self.grows() => return Ok(None),
            merged => merged?,
        }
        let fits = !self.grows() || filter.elements() <= keys;
        Ok(fits.then_some(Self { keys, design: *design, filter }))
    }
}

impl Clone for Parts {
    fn clone(&self) -> Self {
        let copy = |&Part { keys, design, ref filter }: &Part| Part {
            keys,
            design,
            filter: filter.clone(),
        };
        Self { parts: self.parts.iter().map(copy).collect(), growth: self.growth.clone() }
    }
}
