//! The contents of a filter: two arrays of words and six counters.

use crate::storage::Words;

/// The counters of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counters {
    pub(crate) elements: u64,
    pub(crate) saturated: u64,
    pub(crate) budget_used: u64,
    pub(crate) budget_spent: bool,
    /// Entries in the overflow list.
    pub(crate) overflow_entries: u64,
    /// Capacity of the overflow list, which may exceed the planned one.
    pub(crate) overflow_capacity: u64,
}

/// A filter's words and counters; everything else follows from its design.
#[derive(Debug)]
pub(crate) struct Parts<W = Words> {
    pub(crate) blocks: W,
    pub(crate) overflow: W,
    pub(crate) counters: Counters,
}
