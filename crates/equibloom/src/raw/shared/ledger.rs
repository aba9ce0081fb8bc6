//! What a shared filter counts and lists.

use std::sync::PoisonError;

use super::tally::Tally;
use crate::error::FullError;
use crate::overflow::{ListFull, OverflowList};
use crate::raw::Insertion;
use crate::raw::budget::AccessBudget;
use crate::raw::ledger::{Ledger, OwnLedger, Record};
use crate::storage::sync::Ordering::{Acquire, Relaxed, Release};
use crate::storage::sync::{AtomicBool, AtomicU64, RwLock};
use equibloom_layout::WhenFull;

/// The ledger of a shared filter.
pub(crate) struct SharedLedger {
    /// Lookups skip the lock while the list is empty.
    list: RwLock<OverflowList>,
    /// Whether anything was ever listed. Visible to every thread that knows of an entry.
    lists_any: AtomicBool,
    /// The budget before the filter was shared. Most filters have no limit and only count, by the tally; a limit
    /// is one number for all threads.
    budget: AccessBudget,
    used: AtomicU64,
    /// From now on no key can pay, and blocks with room prove nothing to lookups.
    spent: AtomicBool,
    /// Elements before the filter was shared.
    before: u64,
    tally: Tally,
    saturated: AtomicU64,
    overloaded: AtomicBool,
}

impl SharedLedger {
    pub(in crate::raw) fn new(ledger: OwnLedger) -> Self {
        let OwnLedger { overflow, budget, elements, saturated, overloaded } = ledger;
        Self {
            lists_any: AtomicBool::new(!overflow.is_empty()),
            list: RwLock::new(overflow),
            budget,
            used: AtomicU64::new(budget.used),
            spent: AtomicBool::new(budget.spent),
            before: elements,
            tally: Tally::new(),
            saturated: AtomicU64::new(saturated),
            overloaded: AtomicBool::new(overloaded),
        }
    }

    /// From now on blocks may be shortened.
    pub(in crate::raw) fn set_overloaded(&self) {
        if !self.is_overloaded() {
            self.overloaded.store(true, Release);
        }
    }

    pub(in crate::raw) fn into_own(self) -> OwnLedger {
        let counted = self.counted();
        let overflow = self.list.into_inner().unwrap_or_else(PoisonError::into_inner);
        OwnLedger { overflow, ..counted }
    }

    /// A copy. Inserts that need the list wait while it is copied.
    pub(in crate::raw) fn snapshot(&self) -> OwnLedger {
        // First, so that the list of an overloaded filter is full.
        let overloaded = self.overloaded.load(Acquire);
        let overflow = self.list.read().unwrap_or_else(PoisonError::into_inner).clone();
        OwnLedger { overflow, overloaded, ..self.counted() }
    }

    pub(in crate::raw) fn clear(&mut self) {
        let mut ledger = self.snapshot();
        ledger.clear();
        *self = Self::new(ledger);
    }

    /// What is counted, with an empty list.
    fn counted(&self) -> OwnLedger {
        let used = self.used.load(Relaxed).saturating_add(self.tally.reads());
        OwnLedger {
            elements: self.elements(),
            saturated: self.saturated.load(Relaxed),
            overloaded: self.overloaded.load(Relaxed),
            budget: self.budget.restored(used, self.spent.load(Relaxed)),
            overflow: OverflowList::none(),
        }
    }
}

impl Ledger for SharedLedger {
    #[inline(always)]
    fn is_spent(&self) -> bool {
        self.spent.load(Relaxed)
    }

    #[inline(always)]
    fn is_overloaded(&self) -> bool {
        self.overloaded.load(Relaxed)
    }

    fn was_full(&self) -> bool {
        self.is_overloaded() || self.saturated.load(Relaxed) > 0
    }

    #[inline(always)]
    fn lists_any(&self) -> bool {
        self.lists_any.load(Relaxed)
    }

    #[inline]
    fn lists(&self, entry: u64) -> bool {
        #[cold]
        fn find(list: &RwLock<OverflowList>, entry: u64) -> bool {
            list.read().unwrap_or_else(PoisonError::into_inner).contains(entry)
        }
        self.lists_any() && find(&self.list, entry)
    }

    fn full(&self) -> FullError {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        FullError { capacity: list.capacity(), stored: self.elements() }
    }

    fn elements(&self) -> u64 {
        self.before.saturating_add(self.tally.elements())
    }
}

impl Record for &SharedLedger {
    #[inline(always)]
    fn try_spend(&mut self, reads: u32) -> bool {
        let (total, reads) = (self.budget.total, u64::from(reads));
        let spend = |used: u64| (total.saturating_sub(used) >= reads).then(|| used + reads);
        self.budget.is_unlimited()
            || (!self.is_spent() && self.used.fetch_update(Relaxed, Relaxed, spend).is_ok())
    }

    fn refund(&mut self, reads: u32) {
        if !self.budget.is_unlimited() {
            self.used.fetch_sub(reads.into(), Relaxed);
        }
    }

    fn spend(&mut self, reads: u32) {
        if !self.try_spend(reads) {
            self.spent.store(true, Relaxed);
            let add = |used: u64| Some(used.saturating_add(reads.into()));
            let _ = self.used.fetch_update(Relaxed, Relaxed, add);
        }
    }

    fn list(
        &mut self,
        entry: u64,
        once: bool,
        when_full: WhenFull,
        announce_spent: bool,
    ) -> Result<Insertion, ListFull> {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        if once && list.contains(entry) {
            return Ok(Insertion::AlreadyPresent);
        }
        list.push(entry, 1, when_full)?;
        // Before the lock is released, when the entry can be found. A refund may make the key affordable again by
        // now: the budget is spent all the same.
        if announce_spent {
            self.spent.store(true, Relaxed);
        }
        self.lists_any.store(true, Relaxed);
        Ok(Insertion::New)
    }

    #[inline(always)]
    fn count(&mut self, reads: u32) {
        self.tally.count(if self.budget.is_unlimited() { reads } else { 0 });
    }

    fn count_saturated(&mut self) {
        self.saturated.fetch_add(1, Relaxed);
    }
}
