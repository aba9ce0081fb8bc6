//! Filters that many threads insert into and query at once.
//!
//! # No false negative
//! Let an insert have returned before a lookup begins. Its entry is then in a block of its way, or in the
//! list. A lookup reads the blocks in the order of the subtables, each as it was at one moment
//! ([`Storage::snapshot`](crate::storage::Storage::snapshot)). An entry leaves a block in one write, which
//! also raises the watermark, and after it was stored further on. So a lookup that does not find it at a
//! block reads a watermark that sends it on, and then finds it there, or reads a watermark that sends it
//! further.

use super::Fingerprints;
use super::insert::{Visit, place};
use super::overload::place_overloaded;
use crate::block::isa::{Target, kernel_table};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::overflow::ListFull;
use crate::raw::Insertion;
use crate::raw::held::Held;
use crate::raw::ledger::Ledger;
use crate::storage::{Line, SharedWords, Storage};

kernel_table! {
    /// Inserts into a shared filter.
    pub(crate) struct SharedFingerprintInserts[] [] {
        fn insert(
            filter: &Fingerprints<SharedWords>, key: KeyHash,
        ) -> Result<Insertion, ListFull>;
        #[any]
        fn insert_overloaded(filter: &Fingerprints<SharedWords>, key: KeyHash) -> Insertion;
    }
}

#[inline(always)]
fn insert<T: Target>(
    t: T,
    filter: &Fingerprints<SharedWords>,
    key: KeyHash,
) -> Result<Insertion, ListFull> {
    let Fingerprints { words, plan, ledger, .. } = filter;
    let first = Visit::first(t, plan, key);
    match place(t, plan, &mut { words }, &mut { ledger }, first, &mut ()) {
        Err(ListFull) if plan.shortens => Ok(filter.inserts.insert_overloaded(filter, key)),
        inserted => inserted,
    }
}

#[inline(always)]
fn insert_overloaded<T: Target>(
    t: T,
    filter: &Fingerprints<SharedWords>,
    key: KeyHash,
) -> Insertion {
    let Fingerprints { words, plan, ledger, .. } = filter;
    // Before the first block is shortened: a thread that locks that one knows it.
    ledger.set_overloaded();
    let first = Visit::first(t, plan, key);
    place_overloaded(t, plan, &mut { words }, &mut { ledger }, first, &mut ())
}

impl<S: Held> Fingerprints<S> {
    /// The same filter over other storage; see [`Any::converted`](crate::raw::Any::converted).
    pub(in crate::raw) fn converted<T: Held>(
        self,
        convert: impl FnOnce(S, S::Ledger, usize) -> (T, T::Ledger),
    ) -> Fingerprints<T> {
        let (words, ledger) = convert(self.words, self.ledger, self.plan.count);
        Fingerprints::new(self.plan, words, ledger, self.isa)
    }
}

impl Fingerprints<SharedWords> {
    #[inline]
    pub(in crate::raw) fn insert(&self, key: KeyHash) -> Result<Insertion, FullError> {
        self.inserts.insert(self, key).map_err(|ListFull| self.ledger.full())
    }

    /// Copies the blocks, each as it was at one moment, in the order of the subtables.
    pub(in crate::raw) fn copy_blocks(&self, to: &mut [Line]) {
        for (number, level) in self.plan.levels().iter().enumerate() {
            let first = level.offset as usize;
            for (line, copy) in (first..).zip(&mut to[first..][..level.size as usize]) {
                *copy = *self.words.snapshot(number, line);
            }
        }
    }
}
