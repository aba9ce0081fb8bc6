//! A list of hashes, for very few keys: the overflow list alone.

use alloc::vec::Vec;

use super::Insertion;
use super::classical::contains_one_by_one;
use super::held::Held;
use super::ledger::{Ledger, OwnLedger, Record};
use crate::error::{FullError, RemoveError};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::overflow::ListFull;
use crate::statistics::Survey;
use crate::storage::Words;
use equibloom_layout::Overflow;

/// Exact up to equal 64-bit hashes. An operation counts as one access.
#[derive(Clone)]
pub(crate) struct List<S: Held = Words> {
    pub(super) plan: Plan,
    /// None: the ledger has the list.
    pub(super) words: S,
    pub(super) ledger: S::Ledger,
}

/// The list as planned, and whether it stores every insert.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) overflow: Overflow,
    pub(super) multiset: bool,
}

/// What the list stores for a key: as Bloom blocks do for a key that overflows.
fn entry(key: KeyHash) -> u64 {
    key.pattern_word(0)
}

impl Plan {
    pub(super) fn insert<L: Record, O: Observer>(
        self,
        mut ledger: L,
        key: KeyHash,
        mut observer: O,
    ) -> Result<Insertion, FullError> {
        observer.block_read();
        let listed = ledger.list(entry(key), !self.multiset, self.overflow.when_full, false);
        let insertion = listed.map_err(|ListFull| ledger.full())?;
        if insertion.is_new() {
            ledger.count(0);
        }
        Ok(insertion)
    }
}

impl<S: Held> List<S> {
    #[inline(never)]
    pub(super) fn contains_observed<O: Observer>(&self, key: KeyHash, mut observer: O) -> bool {
        observer.block_read();
        self.ledger.lists(entry(key))
    }

    pub(super) fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        contains_one_by_one(keys, found, |key| self.contains_observed(key, ()));
    }
}

impl List {
    pub(super) fn insert_observed<O: Observer>(
        &mut self,
        key: KeyHash,
        observer: O,
    ) -> Result<Insertion, FullError> {
        self.plan.insert(&mut self.ledger, key, observer)
    }

    pub(super) fn remove(&mut self, key: KeyHash) -> Result<(), RemoveError> {
        let OwnLedger { overflow, elements, .. } = &mut self.ledger;
        if !overflow.remove(entry(key)) {
            return Err(RemoveError::NotPresent);
        }
        *elements = elements.saturating_sub(1);
        Ok(())
    }

    pub(super) fn merge(&mut self, other: &Self) -> Result<(), FullError> {
        self.ledger.merge(&other.ledger, self.plan.overflow.when_full)?;
        self.ledger.elements = self.ledger.overflow.copies();
        Ok(())
    }

    /// Entries in the list beyond its planned capacity.
    pub(super) fn listed_beyond_plan(&self) -> u64 {
        self.ledger.overflow.len().saturating_sub(self.plan.overflow.capacity)
    }

    pub(super) fn survey(&self) -> Survey {
        let rate = self.ledger.overflow.len() as f64 / (1_u128 << 64) as f64;
        Survey { levels: Vec::new(), rate, accesses: 1.0 }
    }
}
