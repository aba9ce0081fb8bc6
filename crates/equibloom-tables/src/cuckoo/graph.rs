//! The cuckoo graph: buckets are nodes, entries are edges.

use super::{Cuckoo, RawTable, TwoFunctions};

impl<T, const SLOTS: usize, F: TwoFunctions> Cuckoo<T, SLOTS, F> {
    /// Buckets of each table: the graph has twice as many nodes.
    pub fn buckets_per_table(&self) -> u64 {
        self.size
    }

    /// The edges: for each entry, the stash's included, its bucket in the first and in the second table.
    pub fn edges(&self, hash_of: impl Fn(&T) -> u64) -> impl Iterator<Item = [u64; 2]> {
        self.storage().iter().map(move |entry| self.functions.buckets(hash_of(entry), self.size))
    }
}
