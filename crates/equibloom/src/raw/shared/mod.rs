//! Filters that many threads insert into and query at once.
//!
//! A shared filter is the same filter over [`SharedWords`]: the same code, the same hashes, the same words.
//! What differs is how a word is read and changed, and the ledger ([`ledger`]):
//!
//! - **Bloom blocks** are lock-free. A key reserves its place by counting itself in (one compare-and-swap,
//!   which fails if the block has become full), then sets its bits.
//! - The **overflow list** is small and rarely used: it is behind a lock.
//! - What every insert counts ([`tally`]) is kept so that threads do not wait for each other.
//!
//! # No false negative
//! Let an insert have returned before a lookup begins (by whatever the program's threads agree on: a join,
//! a channel, a lock, a flag that is released and acquired). Then the lookup finds the key, because no step
//! towards it is ever undone:
//!
//! - Bits, hints and counters only go up, so that a lookup sees at least what the insert saw or wrote
//!   of each word. This holds for a key that the insert found there already, too.
//! - A block that rejected the insert was full, or the insert set its hint. It still is full, and the hint
//!   is still set: the lookup continues.
//! - The overflow list is behind a lock; that it is not empty, and that the budget is spent, are flags
//!   that only go up. A key that a block admits and that cannot pay sets the second one before it is in the
//!   list.
//!
//! There is no removal: it would undo a step.
//!
//! Two threads that insert one key at the same time may both store it. That costs a place and nothing
//! else.

pub(super) mod ledger;
#[cfg(all(test, loom))]
mod models;
pub(super) mod tally;

use super::fingerprint::SharedFingerprintInserts;
use super::held::Held;
use super::ledger::OwnLedger;
use super::{Any, Balanced, Classical, Insertion};
use crate::block::isa::{Target, kernel_table};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::placement::Choose;
use crate::storage::{SharedWords, Words};
use ledger::SharedLedger;

/// How many keys ahead first blocks are prefetched.
const AHEAD: usize = 16;

/// A shared filter of any design.
pub(crate) type Shared = Any<SharedWords>;

impl Held for SharedWords {
    const IS_SHARED: bool = true;
    type Ledger = SharedLedger;
    type Inserts<R: Choose> = SharedInserts<R>;
    type FingerprintInserts = SharedFingerprintInserts;
}

kernel_table! {
    /// Inserts into a shared filter.
    pub(crate) struct SharedInserts[R: Choose,] [R] {
        fn insert(
            filter: &Balanced<R, SharedWords>, key: KeyHash,
        ) -> Result<Insertion, FullError>;
        #[any]
        fn place(
            filter: &Balanced<R, SharedWords>, key: KeyHash,
        ) -> Result<Insertion, FullError>;
    }
}

#[inline(always)]
fn insert<T: Target, R: Choose>(
    target: T,
    filter: &Balanced<R, SharedWords>,
    key: KeyHash,
) -> Result<Insertion, FullError> {
    let Balanced { plan, words, ledger, .. } = filter;
    if plan.insert_at_first(target, words, ledger, key) {
        return Ok(Insertion::New);
    }
    filter.inserts.place(filter, key)
}

#[inline(always)]
fn place<T: Target, R: Choose>(
    target: T,
    filter: &Balanced<R, SharedWords>,
    key: KeyHash,
) -> Result<Insertion, FullError> {
    let Balanced { plan, words, ledger, .. } = filter;
    plan.place(target, words, ledger, key, &mut ())
}

/// Words and ledger for threads to share, with versions for some levels.
pub(super) fn share(words: Words, ledger: OwnLedger, locked: usize) -> (SharedWords, SharedLedger) {
    (SharedWords::new(words, locked), SharedLedger::new(ledger))
}

/// Words and ledger for one owner.
pub(super) fn own(words: SharedWords, ledger: SharedLedger, _: usize) -> (Words, OwnLedger) {
    (words.into_words(), ledger.into_own())
}

impl<R: Choose, S: Held> Balanced<R, S> {
    fn converted<T: Held>(
        self,
        convert: impl FnOnce(S, S::Ledger, usize) -> (T, T::Ledger),
    ) -> Balanced<R, T> {
        let (words, ledger) = convert(self.words, self.ledger, 0);
        Balanced::new(self.plan, words, ledger, self.isa, self.is_common)
    }
}

impl<S: Held> Any<S> {
    /// The same filter over other storage. `convert` takes the words, the ledger, and the number of levels whose
    /// blocks are locked.
    fn converted<T: Held>(
        self,
        convert: impl FnOnce(S, S::Ledger, usize) -> (T, T::Ledger),
    ) -> Any<T> {
        match self {
            Self::Classical(Classical { plan, words, ledger }) => {
                let (words, ledger) = convert(words, ledger, 0);
                Any::Classical(Classical { plan, words, ledger })
            }
            Self::FirstWithRoom(filter) => Any::FirstWithRoom(filter.converted(convert)),
            Self::LeastLoaded(filter) => Any::LeastLoaded(filter.converted(convert)),
            Self::Fingerprint(filter) => Any::Fingerprint(filter.converted(convert)),
        }
    }
}

// Not generic: the entry points of shared filters are compiled here, not in every crate that shares a filter.
impl Shared {
    /// Shares a filter.
    pub(crate) fn share(filter: Any) -> Self {
        filter.converted(share)
    }

    /// Converts back into a filter for one thread.
    pub(crate) fn into_own(self) -> Any {
        self.converted(own)
    }

    /// Inserts a key unless it is (apparently) present.
    #[inline]
    pub(crate) fn insert(&self, key: KeyHash) -> Result<Insertion, FullError> {
        match self {
            Self::Classical(Classical { plan, words, ledger }) => {
                Ok(plan.insert(words, ledger, key, ()))
            }
            Self::FirstWithRoom(filter) => filter.inserts.insert(filter, key),
            Self::LeastLoaded(filter) => filter.inserts.insert(filter, key),
            Self::Fingerprint(filter) => filter.insert(key),
        }
    }

    /// Inserts keys in order; returns how many were new.
    pub(crate) fn insert_batch(&self, keys: &[KeyHash]) -> Result<u64, FullError> {
        let mut new = 0;
        for key in self.prefetched(keys) {
            new += u64::from(self.insert(key)?.is_new());
        }
        Ok(new)
    }

    /// The answers in order.
    pub(crate) fn contains_batch<'a>(&'a self, keys: &'a [KeyHash]) -> impl Iterator<Item = bool> {
        self.prefetched(keys).map(|key| self.contains(key))
    }

    /// The keys in order, while the first blocks of later ones are prefetched.
    fn prefetched<'a>(&'a self, keys: &'a [KeyHash]) -> impl Iterator<Item = KeyHash> + 'a {
        (0..AHEAD).for_each(|index| self.prefetch_first(keys, index));
        keys.iter().enumerate().map(move |(index, &key)| {
            self.prefetch_first(keys, index + AHEAD);
            key
        })
    }

    /// Prefetches the first block of the key with this index.
    #[inline(always)]
    fn prefetch_first(&self, keys: &[KeyHash], index: usize) {
        let Some(&key) = keys.get(index) else { return };
        match self {
            // A key's bits lie anywhere.
            Self::Classical(_) => {}
            Self::FirstWithRoom(filter) => filter.prefetch_first(key),
            Self::LeastLoaded(filter) => filter.prefetch_first(key),
            Self::Fingerprint(filter) => filter.prefetch_first(key),
        }
    }
}
