//! What a shared filter counts and lists.

use super::overflow::SharedOverflow;
use super::tally::{SharedBudget, Tally};
use crate::error::FullError;
use crate::overflow::ListFull;
use crate::raw::ledger::{Ledger, OwnLedger, Pushed, Record};
use crate::storage::sync::AtomicU64;
use crate::storage::sync::Ordering::Relaxed;
use equibloom_layout::WhenFull;

/// The ledger of a shared filter.
pub(crate) struct SharedLedger {
    overflow: SharedOverflow,
    budget: SharedBudget,
    /// Elements before the filter was shared.
    before: u64,
    tally: Tally,
    saturated: AtomicU64,
}

impl SharedLedger {
    pub(in crate::raw) fn new(ledger: OwnLedger) -> Self {
        Self {
            overflow: SharedOverflow::new(ledger.overflow),
            budget: SharedBudget::new(ledger.budget),
            before: ledger.elements,
            tally: Tally::new(),
            saturated: AtomicU64::new(ledger.saturated),
        }
    }

    pub(in crate::raw) fn into_own(self) -> OwnLedger {
        OwnLedger {
            elements: self.elements(),
            saturated: self.saturated.load(Relaxed),
            budget: self.budget.into_budget(self.tally.reads()),
            overflow: self.overflow.into_list(),
        }
    }

    pub(in crate::raw) fn elements(&self) -> u64 {
        self.before.saturating_add(self.tally.elements())
    }
}

impl Ledger for SharedLedger {
    #[inline(always)]
    fn is_spent(&self) -> bool {
        self.budget.is_spent()
    }

    #[inline(always)]
    fn lists_any(&self) -> bool {
        self.overflow.is_used()
    }

    #[inline]
    fn lists(&self, entry: u64) -> bool {
        self.overflow.contains(entry)
    }
}

impl Record for &SharedLedger {
    type Ledger = SharedLedger;

    #[inline(always)]
    fn ledger(&self) -> &SharedLedger {
        self
    }

    #[inline(always)]
    fn try_spend(&mut self, reads: u32) -> bool {
        self.budget.try_spend(reads)
    }

    fn refund(&mut self, reads: u32) {
        self.budget.refund(reads);
    }

    fn spend(&mut self, reads: u32) {
        self.budget.spend(reads);
    }

    fn list(
        &mut self,
        entry: u64,
        once: bool,
        when_full: WhenFull,
        announce_spent: bool,
    ) -> Result<Pushed, ListFull> {
        // A refund may make the key affordable again by now: the budget is spent all the same.
        let announce = || {
            if announce_spent {
                self.budget.set_spent();
            }
        };
        self.overflow.push(entry, once, when_full, announce)
    }

    #[inline(always)]
    fn count(&mut self, reads: u32) {
        self.tally.count(self.budget.tallied(reads));
    }

    fn count_saturated(&mut self) {
        self.saturated.fetch_add(1, Relaxed);
    }

    fn full(&self) -> FullError {
        FullError { capacity: self.overflow.capacity(), stored: self.elements() }
    }
}
