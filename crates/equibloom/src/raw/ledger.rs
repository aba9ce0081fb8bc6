//! What a filter counts and lists beside its blocks: elements, spent accesses, the overflow list.
//!
//! There are two forms, one for a filter with one owner ([`OwnLedger`]) and one for a shared filter
//! (`SharedLedger`). Lookups and inserts are written over the traits.

use core::ops::Deref;

use super::Insertion;
use super::budget::AccessBudget;
use crate::error::FullError;
use crate::overflow::{ListFull, OverflowList};
use crate::storage::Words;
use equibloom_layout::{Design, WhenFull};

/// What a lookup asks.
pub(crate) trait Ledger {
    /// Whether the budget is spent, so that keys may be in the overflow list although their blocks have room.
    fn is_spent(&self) -> bool;

    /// Whether blocks may be shortened, because the list of a set that saturates was full.
    fn is_overloaded(&self) -> bool;

    /// Whether the overflow list was full when an element needed it.
    fn was_full(&self) -> bool;

    /// Whether the overflow list has any entries.
    fn lists_any(&self) -> bool;

    /// Whether the overflow list has this entry.
    fn lists(&self, entry: u64) -> bool;

    /// The error of a full filter.
    fn full(&self) -> FullError;

    /// Number of stored elements.
    fn elements(&self) -> u64;
}

/// What an insert changes: for `&mut OwnLedger`, and for `&SharedLedger`.
pub(super) trait Record: Deref<Target: Ledger> {
    /// Spends the accesses of a key that a block admits, if the budget affords them.
    fn try_spend(&mut self, reads: u32) -> bool;

    /// Gives back what was spent for a place that another key took.
    fn refund(&mut self, reads: u32);

    /// Counts the accesses of a key that no block holds. If the budget does not afford them, it is spent.
    fn spend(&mut self, reads: u32);

    /// Adds an entry to the overflow list, if there is room or it may grow. If the entry should be there once
    /// only, and is, it is not added. `announce_spent`: the budget is spent, and lookups know it before the
    /// entry is there.
    fn list(
        &mut self,
        entry: u64,
        once: bool,
        when_full: WhenFull,
        announce_spent: bool,
    ) -> Result<Insertion, ListFull>;

    /// Counts an element, for which `reads` blocks were read.
    fn count(&mut self, reads: u32);

    /// Counts an element that was stored although the overflow list was full.
    fn count_saturated(&mut self);
}

/// What a filter counts, as its file records it.
///
/// ```
/// use equibloom::{Filter, file};
///
/// let mut filter = Filter::<u64>::builder().keys(1_000).rate(0.001).build()?;
/// filter.insert_batch(&[1, 2, 3])?;
/// let counters = file::verify_from(&filter.to_bytes()?[..])?.counters;
/// assert_eq!((counters.elements, counters.overflow_entries), (3, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(not(feature = "file"), expect(unreachable_pub, reason = "a part of files"))]
#[non_exhaustive]
pub struct Counters {
    /// Keys in the filter, as [`Statistics::elements`](crate::Statistics::elements) counts them.
    pub elements: u64,
    /// Keys inserted while the overflow list was full.
    pub saturated: u64,
    /// Whether fingerprint blocks may be shortened, because the overflow list was full.
    pub overloaded: bool,
    /// Block accesses spent on placing the keys.
    pub budget_used: u64,
    /// Whether the access budget is spent, so that new keys go to the overflow list.
    pub budget_spent: bool,
    /// Entries in the overflow list.
    pub overflow_entries: u64,
    /// Capacity of the overflow list: as planned, or more if it has grown.
    pub overflow_capacity: u64,
}

/// The ledger of a filter with one owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnLedger {
    pub(crate) overflow: OverflowList,
    pub(super) budget: AccessBudget,
    // Both may have any value in a hostile file: sums saturate.
    pub(super) elements: u64,
    pub(super) saturated: u64,
    /// Then the list has no room.
    pub(super) overloaded: bool,
}

impl OwnLedger {
    /// The ledger of a design with these words of the list; `None` if they do not fit.
    pub(super) fn over(design: &Design, list: Words, counters: Counters) -> Option<Self> {
        let Counters { elements, saturated, overloaded, budget_used, budget_spent, .. } = counters;
        let (capacity, entries) = (counters.overflow_capacity, counters.overflow_entries);
        let budget = design.layout().and_then(|layout| layout.budget);
        let budget = AccessBudget::new(budget).restored(budget_used, budget_spent);
        let overflow = OverflowList::over(list, capacity, entries, design.is_multiset())?;
        Some(Self { overflow, budget, elements, saturated, overloaded })
    }

    /// Whether the list is borrowed.
    #[cfg(feature = "file")]
    pub(crate) const fn is_mapped(&self) -> bool {
        self.overflow.slots.is_mapped()
    }

    #[cfg(feature = "file")]
    pub(crate) fn counters(&self) -> Counters {
        Counters {
            elements: self.elements,
            saturated: self.saturated,
            overloaded: self.overloaded,
            budget_used: self.budget.used,
            budget_spent: self.budget.spent,
            overflow_entries: self.overflow.len(),
            overflow_capacity: self.overflow.capacity(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.overflow.clear();
        self.budget.reset();
        (self.elements, self.saturated, self.overloaded) = (0, 0, false);
    }

    /// Adds all that another filter has counted and listed. Entries of both lists are there once, or counted.
    pub(super) fn merge(&mut self, other: &Self, when_full: WhenFull) -> Result<(), FullError> {
        let full = self.full();
        let list = &mut self.overflow;
        let missing = other.overflow.entries().filter(|&(entry, _)| !list.contains(entry)).count();
        list.make_room(missing as u64, when_full).map_err(|_| full)?;
        for (entry, copies) in other.overflow.entries() {
            if list.is_counted() || !list.contains(entry) {
                list.push(entry, copies, when_full).map_err(|_| full)?;
            }
        }
        self.budget.merge(&other.budget);
        self.elements = self.elements.saturating_add(other.elements);
        self.saturated = self.saturated.saturating_add(other.saturated);
        Ok(())
    }
}

impl Ledger for OwnLedger {
    #[inline(always)]
    fn is_spent(&self) -> bool {
        self.budget.spent
    }

    #[inline(always)]
    fn is_overloaded(&self) -> bool {
        self.overloaded
    }

    fn was_full(&self) -> bool {
        self.overloaded || self.saturated > 0
    }

    #[inline(always)]
    fn lists_any(&self) -> bool {
        !self.overflow.is_empty()
    }

    #[inline]
    fn lists(&self, entry: u64) -> bool {
        self.overflow.contains(entry)
    }

    fn full(&self) -> FullError {
        FullError { capacity: self.overflow.capacity(), stored: self.elements }
    }

    fn elements(&self) -> u64 {
        self.elements
    }
}

impl Record for &mut OwnLedger {
    #[inline(always)]
    fn try_spend(&mut self, reads: u32) -> bool {
        let affords = self.budget.affords(reads);
        if affords {
            self.budget.spend(reads);
        }
        affords
    }

    #[inline(always)]
    fn refund(&mut self, reads: u32) {
        self.budget.refund(reads);
    }

    #[inline(always)]
    fn spend(&mut self, reads: u32) {
        self.budget.spend(reads);
    }

    fn list(
        &mut self,
        entry: u64,
        once: bool,
        when_full: WhenFull,
        announce_spent: bool,
    ) -> Result<Insertion, ListFull> {
        if once && self.overflow.contains(entry) {
            return Ok(Insertion::AlreadyPresent);
        }
        self.overflow.push(entry, 1, when_full)?;
        if announce_spent {
            self.budget.spent = true;
        }
        Ok(Insertion::New)
    }

    #[inline(always)]
    fn count(&mut self, _reads: u32) {
        self.elements = self.elements.saturating_add(1);
    }

    #[inline(always)]
    fn count_saturated(&mut self) {
        self.saturated = self.saturated.saturating_add(1);
    }
}
