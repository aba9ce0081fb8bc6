//! The module's section of INFO: `equibloom_filters`.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::ffi::{InfoSection, allocated};

/// Something that is counted since the server started.
pub(crate) struct Counter(AtomicU64);

impl Counter {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn subtract(&self, count: usize) {
        self.0.fetch_sub(count as u64, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Keys that hold a filter.
pub(crate) static FILTERS: Counter = Counter::new();
/// Items that were asked for, and those of them that were found.
pub(crate) static LOOKUPS: Counter = Counter::new();
pub(crate) static HITS: Counter = Counter::new();
/// Items that were new.
pub(crate) static ADDED: Counter = Counter::new();

pub(crate) fn write(section: &InfoSection) {
    section.field(c"filters", FILTERS.get());
    section.field(c"memory_bytes", allocated() as u64);
    section.field(c"items_added", ADDED.get());
    section.field(c"items_asked", LOOKUPS.get());
    section.field(c"items_found", HITS.get());
}
