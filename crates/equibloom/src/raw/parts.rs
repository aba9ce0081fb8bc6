//! What a filter consists of beside its parameters: two arrays of words and six numbers.

use equibloom_layout::Overflow;

use crate::memory::Words;

/// The numbers that a filter keeps beside its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counters {
    pub(crate) elements: u64,
    pub(crate) saturated: u64,
    pub(crate) budget_used: u64,
    pub(crate) budget_spent: bool,
    /// Entries in the overflow list.
    pub(crate) overflow_entries: u64,
    /// Entries that the overflow list has room for, which may be more than planned.
    pub(crate) overflow_capacity: u64,
}

/// A filter's words and numbers; everything else follows from its design.
#[derive(Debug)]
pub(crate) struct Parts<W = Words> {
    pub(crate) blocks: W,
    pub(crate) overflow: W,
    pub(crate) counters: Counters,
}

impl Counters {
    /// Those of an empty filter.
    pub(crate) fn empty(overflow: Overflow) -> Self {
        Self { overflow_capacity: overflow.capacity, ..Self::default() }
    }
}
