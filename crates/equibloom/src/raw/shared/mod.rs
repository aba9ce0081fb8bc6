//! Filters that many threads insert into and query at once.
//!
//! The mechanism, the hashes and the words are those of the other filters: a filter becomes a shared one
//! and back by looking at its memory in another way, and one thread writes the same words here as there.
//! What differs is how a block is read and changed:
//!
//! - **Bloom blocks** (`bloom.rs`) are lock-free. A key reserves its place by counting itself in (one
//!   compare-and-swap, which fails if the block has become full), then sets its bits.
//! - **Fingerprint blocks** (`fingerprint.rs`) move what they store to make room. A writer locks the block
//!   by a bit in it; readers lock nothing, and retry if the block was written meanwhile.
//! - The **overflow list** (`overflow.rs`) is small and rarely used: it is behind a lock.
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
//!   that only go up. A key that a block admits and that cannot pay sets the second one before it is in the list.
//!
//! There is no removal: it would undo a step.
//!
//! Two threads that insert one key at the same time may both store it. That costs a place and nothing
//! else.

mod balanced;
mod bloom;
mod classical;
mod fingerprint;
#[cfg(all(test, loom))]
mod models;
mod overflow;
mod tally;

use balanced::SharedBalanced;
use classical::SharedClassical;

use super::{Any, Insertion};
use crate::block::isa::Isa;
use crate::block::{BlockArray, BlockIndex, BloomBlocks, FingerprintBlocks};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::placement::{FirstWithRoom, LeastLoaded, Probe};
use crate::storage::SharedWords;

/// How many keys ahead first blocks are prefetched.
const AHEAD: usize = 16;

/// Blocks that threads read and change at once, with the words separate from the array that interprets
/// them.
pub(crate) trait SharedBlocks: BlockArray {
    /// How full a block is: no more than when the reading ends, no less than when it began.
    fn shared_load(&self, words: &SharedWords, block: BlockIndex) -> u32;

    /// Whether the block may hold the key.
    fn shared_test<I: Isa>(
        &self,
        isa: I,
        words: &SharedWords,
        block: BlockIndex,
        key: KeyHash,
    ) -> bool;

    /// Whether the hint of this probe is set; `None` if the blocks have no hints.
    fn shared_hint_is_set(&self, words: &SharedWords, probe: Probe) -> Option<bool>;

    /// Puts the key into the block if its load is still one that admits the key; whether it was.
    fn add_if<I: Isa>(
        &self,
        isa: I,
        words: &SharedWords,
        block: BlockIndex,
        key: KeyHash,
        admits: impl Fn(u32) -> bool,
    ) -> bool;

    /// Sets the hint of this probe, after its block rejected a key.
    fn shared_set_hint(&self, words: &SharedWords, probe: Probe);
}

/// What all shared filters can do, over hashes.
pub(crate) trait SharedRaw {
    /// Inserts a key unless it is (apparently) present.
    fn insert(&self, key: KeyHash) -> Result<Insertion, FullError>;

    /// Whether the key may have been inserted.
    fn contains(&self, key: KeyHash) -> bool;

    /// Inserts keys in order; how many were new.
    fn insert_batch(&self, keys: &[KeyHash]) -> Result<u64, FullError>;

    /// Gives each answer in order.
    fn contains_batch(&self, keys: &[KeyHash], answer: &mut dyn FnMut(bool));

    /// Elements stored.
    fn elements(&self) -> u64;
}

/// One of the shared filters.
// The largest variant is a few hundred bytes, once per filter: a box would cost an access per key.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Shared {
    Classical(SharedClassical),
    FirstWithRoom(SharedBalanced<FirstWithRoom, BloomBlocks>),
    LeastLoaded(SharedBalanced<LeastLoaded, BloomBlocks>),
    Fingerprint(SharedBalanced<FirstWithRoom, FingerprintBlocks>),
}

/// Runs the same expression on whichever filter it is.
macro_rules! delegate {
    ($shared:expr, $filter:ident => $operation:expr) => {
        match $shared {
            Shared::Classical($filter) => $operation,
            Shared::FirstWithRoom($filter) => $operation,
            Shared::LeastLoaded($filter) => $operation,
            Shared::Fingerprint($filter) => $operation,
        }
    };
}

impl Shared {
    /// Makes sure that a filter from anywhere, a damaged file too, can be shared: no block is locked.
    pub(crate) fn prepare(filter: &mut Any) {
        if let Any::Fingerprint(filter) = filter {
            filter.blocks.unlock_all();
        }
    }

    /// Shares a filter that was made here, or prepared.
    pub(crate) fn new(filter: Any) -> Self {
        match filter {
            Any::Classical(filter) => Self::Classical(SharedClassical::new(filter)),
            Any::FirstWithRoom(filter) => Self::FirstWithRoom(SharedBalanced::new(filter)),
            Any::LeastLoaded(filter) => Self::LeastLoaded(SharedBalanced::new(filter)),
            Any::Fingerprint(filter) => Self::Fingerprint(SharedBalanced::new(filter)),
        }
    }

    /// Converts back into a filter for one thread.
    pub(crate) fn into_any(self) -> Any {
        match self {
            Self::Classical(filter) => Any::Classical(filter.into_filter()),
            Self::FirstWithRoom(filter) => Any::FirstWithRoom(filter.into_filter()),
            Self::LeastLoaded(filter) => Any::LeastLoaded(filter.into_filter()),
            Self::Fingerprint(filter) => Any::Fingerprint(filter.into_filter()),
        }
    }
}

impl SharedRaw for Shared {
    #[inline]
    fn insert(&self, key: KeyHash) -> Result<Insertion, FullError> {
        delegate!(self, filter => filter.insert(key))
    }

    #[inline]
    fn contains(&self, key: KeyHash) -> bool {
        delegate!(self, filter => filter.contains(key))
    }

    fn insert_batch(&self, keys: &[KeyHash]) -> Result<u64, FullError> {
        delegate!(self, filter => filter.insert_batch(keys))
    }

    fn contains_batch(&self, keys: &[KeyHash], answer: &mut dyn FnMut(bool)) {
        delegate!(self, filter => filter.contains_batch(keys, answer));
    }

    fn elements(&self) -> u64 {
        delegate!(self, filter => filter.elements())
    }
}
