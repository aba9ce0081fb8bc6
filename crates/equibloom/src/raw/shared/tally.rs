//! Numbers that every insert changes, kept so that threads do not wait for each other.

use core::sync::atomic::AtomicUsize;

use crate::raw::budget::AccessBudget;
use crate::storage::sync::Ordering::Relaxed;
use crate::storage::sync::{AtomicBool, AtomicU64};

/// Places to count at. More threads than that share them.
#[cfg(not(all(test, loom)))]
const STRIPES: usize = 16;
#[cfg(all(test, loom))]
const STRIPES: usize = 1;

std::thread_local! {
    /// Where this thread counts.
    static STRIPE: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, core::sync::atomic::Ordering::Relaxed) % STRIPES
    };
}

/// A few threads' counts, two lines apart from those of others: processors fetch lines in pairs.
#[repr(align(128))]
struct Stripe {
    elements: AtomicU64,
    reads: AtomicU64,
}

/// Elements, and the blocks that placing them has read.
pub(in crate::raw) struct Tally {
    stripes: [Stripe; STRIPES],
}

impl Tally {
    pub(in crate::raw) fn new() -> Self {
        let stripe = |_| Stripe { elements: AtomicU64::new(0), reads: AtomicU64::new(0) };
        Self { stripes: core::array::from_fn(stripe) }
    }

    /// Counts an element, and the blocks read for it.
    #[inline]
    pub(in crate::raw) fn count(&self, reads: u32) {
        // A thread that is ending has no slot any more.
        let stripe = &self.stripes[STRIPE.try_with(|&stripe| stripe).unwrap_or(0) % STRIPES];
        stripe.elements.fetch_add(1, Relaxed);
        if reads > 0 {
            stripe.reads.fetch_add(u64::from(reads), Relaxed);
        }
    }

    pub(in crate::raw) fn elements(&self) -> u64 {
        self.stripes.iter().map(|stripe| stripe.elements.load(Relaxed)).sum()
    }

    pub(in crate::raw) fn reads(&self) -> u64 {
        self.stripes.iter().map(|stripe| stripe.reads.load(Relaxed)).sum()
    }
}

/// The block accesses that placing keys may cost in all. Most filters have no limit and only count; a
/// limit is one number for all threads.
pub(in crate::raw) struct SharedBudget {
    start: AccessBudget,
    /// Whether there is no limit; then the tally counts.
    is_unlimited: bool,
    used: AtomicU64,
    spent: AtomicBool,
}

impl SharedBudget {
    pub(in crate::raw) fn new(start: AccessBudget) -> Self {
        let is_unlimited = start.is_unlimited();
        let (used, spent) = (AtomicU64::new(start.used()), AtomicBool::new(start.is_spent()));
        Self { start, is_unlimited, used, spent }
    }

    /// The budget after `reads` more accesses, counted by the tally only.
    pub(in crate::raw) fn into_budget(self, reads: u64) -> AccessBudget {
        let used = self.used.load(Relaxed).saturating_add(reads);
        self.start.restored(used, self.spent.load(Relaxed))
    }

    /// How many of these reads are for the tally to count.
    pub(in crate::raw) fn tallied(&self, reads: u32) -> u32 {
        if self.is_unlimited { reads } else { 0 }
    }

    pub(in crate::raw) fn is_spent(&self) -> bool {
        self.spent.load(Relaxed)
    }

    /// From now on no key can pay, and blocks with room prove nothing to lookups.
    pub(in crate::raw) fn set_spent(&self) {
        self.spent.store(true, Relaxed);
    }

    /// Spends what placing a key costs, if that is affordable.
    pub(in crate::raw) fn try_spend(&self, reads: u32) -> bool {
        let reads = u64::from(reads);
        let spend =
            |used: u64| (self.start.total().saturating_sub(used) >= reads).then(|| used + reads);
        self.is_unlimited
            || (!self.is_spent() && self.used.fetch_update(Relaxed, Relaxed, spend).is_ok())
    }

    /// Gives back what was spent for a place that another key took.
    pub(in crate::raw) fn refund(&self, reads: u32) {
        if !self.is_unlimited {
            self.used.fetch_sub(reads.into(), Relaxed);
        }
    }

    /// Counts what placing a key in the overflow list costs. If that is not affordable, the budget is spent.
    pub(in crate::raw) fn spend(&self, reads: u32) {
        if !self.try_spend(reads) {
            self.set_spent();
            let add = |used: u64| Some(used.saturating_add(reads.into()));
            let _ = self.used.fetch_update(Relaxed, Relaxed, add);
        }
    }
}
