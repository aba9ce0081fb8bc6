//! The contents of a filter: two arrays of words and six counters.

use crate::storage::Words;

/// What a filter counts, as its file records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(not(feature = "file"), expect(unreachable_pub, reason = "a part of files"))]
pub struct Counters {
    /// Keys in the filter, as [`Statistics::elements`](crate::Statistics::elements) counts them.
    pub elements: u64,
    /// Keys inserted while the overflow list was full; 0 for fingerprint blocks, whose list grows.
    pub saturated: u64,
    /// Block accesses spent on placing the keys.
    pub budget_used: u64,
    /// Whether the access budget is spent, so that new keys go to the overflow list.
    pub budget_spent: bool,
    /// Entries in the overflow list.
    pub overflow_entries: u64,
    /// Capacity of the overflow list: as planned, or more if it has grown.
    pub overflow_capacity: u64,
}

/// A filter's words and counters; everything else follows from its design.
#[derive(Debug)]
pub(crate) struct Parts<W = Words> {
    pub(crate) blocks: W,
    pub(crate) overflow: W,
    pub(crate) counters: Counters,
}
