//! Numbers that every insert changes, kept so that threads do not wait for each other.

use core::sync::atomic::AtomicUsize;

use crate::storage::sync::AtomicU64;
use crate::storage::sync::Ordering::Relaxed;

/// Places to count at. More threads than that share them.
const STRIPES: usize = if cfg!(all(test, loom)) { 1 } else { 16 };

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
