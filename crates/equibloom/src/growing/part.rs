//! A growing table as a part of a planned filter: it has the keys beyond the plan.

use alloc::boxed::Box;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
use std::sync::OnceLock;

use super::prefix::Prefix;
use super::schedule::Schedule;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
use super::sharded::Sharded;
use super::table::Table;
use crate::block::isa::Nearness;
use crate::error::BuildError;
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::raw::Insertion;
use crate::statistics::Statistics;

/// The part of a filter that grows.
#[derive(Clone, PartialEq)]
pub(crate) struct Growth {
    pub(super) table: Box<Table>,
    pub(super) rate: f64,
}

impl Growth {
    /// An empty table for a rate from 10⁻¹² to ½; `None` for another one, or if memory is short.
    pub(crate) fn new(rate: f64) -> Option<Self> {
        let table = Table::new(Schedule::new(rate, 0)?, false).ok()?;
        Some(Self { table: Box::new(table), rate })
    }

    /// Inserts a key unless it is (apparently) present. If memory is short, nothing has been stored.
    pub(crate) fn insert(&mut self, key: KeyHash) -> Result<Insertion, BuildError> {
        self.table.insert(Prefix::of_key(key))
    }

    /// Inserts keys in order; those before one for which memory is short are in the table.
    pub(crate) fn insert_batch(&mut self, keys: &[KeyHash]) -> Result<(), BuildError> {
        self.table.insert_batch(keys)
    }

    pub(crate) fn contains(&self, key: KeyHash) -> bool {
        self.table.contains(Prefix::of_key(key))
    }

    pub(crate) fn contains_observed(&self, key: KeyHash, mut observer: impl Observer) -> bool {
        self.table.contains_observed(Prefix::of_key(key), &mut observer)
    }

    /// Sets the bit in `found` of each key that is present.
    pub(crate) fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        let mut words = found.iter_mut();
        self.table.contains_batch(keys, |answers, _| {
            words.next().into_iter().for_each(|word| *word |= answers);
        });
    }

    pub(crate) fn prefetch(&self, key: KeyHash) {
        self.table.prefetch(Prefix::of_key(key), Nearness::First);
    }

    /// Adds all keys of another table. If memory is short, some of them.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), BuildError> {
        self.table.merge(&other.table)
    }

    pub(crate) const fn elements(&self) -> u64 {
        self.table.elements
    }

    /// Scans the table.
    pub(crate) fn statistics(&self) -> Statistics {
        self.table.statistics()
    }

    /// The words of all blocks that hold strings, and the listed strings.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let lines = self.table.parts().flat_map(|(levels, lists)| levels.lines(lists));
        let listed = self.table.listed.iter().flat_map(|(string, copies)| {
            let bits = string.to_bits();
            [(bits >> 64) as u64, bits as u64, copies]
        });
        lines.flatten().flatten().copied().chain(listed)
    }
}

/// Out of line: mostly there is no table.
#[cfg(all(feature = "std", target_has_atomic = "64"))]
#[inline(never)]
fn contains(table: &Sharded, key: KeyHash) -> bool {
    table.contains(key)
}

/// The same for many threads: a table that is made when it is first needed.
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub(crate) struct SharedGrowth {
    rate: f64,
    table: OnceLock<Sharded>,
}

#[cfg(all(feature = "std", target_has_atomic = "64"))]
impl SharedGrowth {
    /// Shares a table, or makes one for a rate when it is needed.
    pub(crate) fn new(growth: Option<&Growth>, rate: f64) -> Result<Self, BuildError> {
        let Some(Growth { table, rate }) = growth else {
            return Ok(Self { rate, table: OnceLock::new() });
        };
        Ok(Self { rate: *rate, table: Sharded::from_table(table)?.into() })
    }

    /// Whether there is a table.
    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.table.get().is_some()
    }

    /// Makes the table unless there is one; `None` if memory is short.
    pub(crate) fn begin(&self) -> Option<()> {
        if !self.has_begun() {
            // Another thread may be first: its table stays.
            let _ = self.table.set(Sharded::new(self.rate, 0, false)?.ok()?);
        }
        Some(())
    }

    /// Inserts a key unless it is (apparently) present; `None` if memory is short.
    pub(crate) fn insert(&self, key: KeyHash) -> Option<Insertion> {
        self.begin()?;
        self.table.get()?.insert(key).ok()
    }

    /// Whether the key may have been inserted.
    #[inline]
    pub(crate) fn contains(&self, key: KeyHash) -> bool {
        self.table.get().is_some_and(|table| contains(table, key))
    }

    pub(crate) fn elements(&self) -> u64 {
        self.table.get().map_or(0, Sharded::elements)
    }

    /// A copy for one owner, while threads go on using this one.
    pub(crate) fn snapshot(&self) -> Result<Option<Growth>, BuildError> {
        let Some(table) = self.table.get() else { return Ok(None) };
        Ok(Some(Growth { table: Box::new(table.snapshot()?), rate: self.rate }))
    }

    /// Converts back into a table for one owner. Its strings are copied; if memory is short, that aborts the program.
    pub(crate) fn into_own(self) -> Option<Growth> {
        let Ok(growth) = self.snapshot() else {
            alloc::alloc::handle_alloc_error(core::alloc::Layout::new::<Table>())
        };
        growth
    }

    /// Removes the table.
    pub(crate) fn clear(&mut self) {
        self.table = OnceLock::new();
    }
}
