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

use alloc::vec::Vec;

use super::fingerprint::SharedFingerprintInserts;
use super::held::Held;
use super::ledger::OwnLedger;
use super::list::List;
use super::{Any, Balanced, Classical, Insertion, Part, Parts};
use crate::block::isa::{Target, kernel_table};
use crate::error::{BuildError, FullError};
use crate::hashing::KeyHash;
use crate::placement::Choose;
use crate::storage::sync::Ordering::Relaxed;
use crate::storage::{SharedWords, Storage, Words};
use equibloom_layout::Design;
use ledger::SharedLedger;

/// How many keys ahead first blocks are prefetched.
const AHEAD: usize = 16;

/// Converts words and ledger; see [`Any::converted`].
type Convert<S, T> = fn(S, <S as Held>::Ledger, usize) -> (T, <T as Held>::Ledger);

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

/// Empties words and ledger.
fn clear(words: &mut SharedWords, ledger: &mut SharedLedger) {
    words.atomics().iter().for_each(|word| word.store(0, Relaxed));
    ledger.clear();
}

impl<R: Choose, S: Held> Balanced<R, S> {
    fn converted<T: Held>(self, convert: Convert<S, T>) -> Balanced<R, T> {
        let (words, ledger) = convert(self.words, self.ledger, 0);
        Balanced::new(self.plan, words, ledger, self.isa, self.is_common)
    }
}

impl<S: Held> Any<S> {
    /// The same filter over other storage. `convert` takes the words, the ledger, and the number of levels whose
    /// blocks are locked.
    fn converted<T: Held>(self, convert: Convert<S, T>) -> Any<T> {
        match self {
            Self::Parts(Parts { parts, growth }) => {
                let convert = |Part { keys, design, filter }| Part {
                    keys,
                    design,
                    filter: Any::converted(filter, convert),
                };
                Any::Parts(Parts { parts: parts.into_iter().map(convert).collect(), growth })
            }
            Self::Classical(Classical { plan, words, ledger }) => {
                let (words, ledger) = convert(words, ledger, 0);
                Any::Classical(Classical { plan, words, ledger })
            }
            Self::List(List { plan, words, ledger }) => {
                let (words, ledger) = convert(words, ledger, 0);
                Any::List(List { plan, words, ledger })
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

    /// A copy for one owner, of a filter of this design, while other threads go on. It has every key whose
    /// insert has returned before: blocks are copied in the order of lookups, and the list after them, because
    /// keys only move that way.
    pub(crate) fn snapshot(&self, design: &Design) -> Result<Any, BuildError> {
        if let Self::Parts(Parts { parts, .. }) = self {
            let copy = |&Part { keys, design, ref filter }| {
                filter.snapshot(&design).map(|filter| Part { keys, design, filter })
            };
            let parts: Result<Vec<Part>, _> = parts.iter().map(copy).collect();
            return parts.map(|parts| Any::Parts(Parts { parts, growth: None }));
        }
        let (words, ledger) = self.contents()[0];
        let mut copy = Words::zeroed(words.atomics().len() as u64)?;
        match self {
            Self::Fingerprint(filter) => filter.copy_blocks(&mut copy),
            _ => copy.iter_mut().enumerate().for_each(|(line, copy)| *copy = *words.load(line)),
        }
        // The words were allocated for this design.
        let refused = BuildError::OutOfMemory { bytes: design.bytes() };
        Any::with_ledger(design, copy, ledger.snapshot()).ok_or(refused)
    }

    /// Removes all keys and keeps the memory.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Parts(Parts { parts, .. }) => {
                parts.iter_mut().for_each(|part| part.filter.clear())
            }
            Self::Classical(filter) => clear(&mut filter.words, &mut filter.ledger),
            Self::List(filter) => clear(&mut filter.words, &mut filter.ledger),
            Self::FirstWithRoom(filter) => clear(&mut filter.words, &mut filter.ledger),
            Self::LeastLoaded(filter) => clear(&mut filter.words, &mut filter.ledger),
            Self::Fingerprint(filter) => clear(&mut filter.words, &mut filter.ledger),
        }
    }

    /// Inserts a key unless it is (apparently) present.
    #[inline]
    pub(crate) fn insert(&self, key: KeyHash) -> Result<Insertion, FullError> {
        match self {
            Self::Fingerprint(filter) => filter.insert(key),
            Self::FirstWithRoom(filter) => filter.inserts.insert(filter, key),
            Self::LeastLoaded(filter) => filter.inserts.insert(filter, key),
            Self::Classical(_) | Self::List(_) | Self::Parts(_) => self.insert_without_blocks(key),
        }
    }

    /// The same for kinds without blocks of their own, out of line as for filters with one owner.
    #[inline(never)]
    fn insert_without_blocks(&self, key: KeyHash) -> Result<Insertion, FullError> {
        match self {
            Self::Classical(Classical { plan, words, ledger }) => {
                Ok(plan.insert(words, ledger, key, ()))
            }
            Self::List(List { plan, ledger, .. }) => plan.insert(ledger, key, ()),
            Self::Parts(parts) => {
                let open = parts.roomiest();
                if parts.holds_beside(open, key) {
                    return Ok(Insertion::AlreadyPresent);
                }
                parts.parts[open].filter.insert(key)
            }
            _ => self.insert(key),
        }
    }

    /// The answers in order.
    pub(crate) fn contains_batch<'a>(&'a self, keys: &'a [KeyHash]) -> impl Iterator<Item = bool> {
        self.prefetched(keys).map(|key| self.contains(key))
    }

    /// The keys in order, while the first blocks of later ones are prefetched.
    pub(crate) fn prefetched<'a>(
        &'a self,
        keys: &'a [KeyHash],
    ) -> impl Iterator<Item = KeyHash> + 'a {
        keys.iter().take(AHEAD).for_each(|&key| self.prefetch_first(key));
        keys.iter().enumerate().map(move |(index, &key)| {
            if let Some(&later) = keys.get(index + AHEAD) {
                self.prefetch_first(later);
            }
            key
        })
    }
}
