//! Storage that a filter can be over, and what goes with it.

use super::fingerprint::OwnFingerprintInserts;
use super::insert::OwnInserts;
use super::ledger::{Ledger, OwnLedger};
use crate::block::isa::KernelTable;
use crate::placement::Choose;
use crate::storage::{Storage, Words};

/// Storage of a filter: [`Words`] if it has one owner,
/// [`SharedWords`](crate::storage::SharedWords) if threads share it.
pub(crate) trait Held: Storage + Sized {
    /// Whether other threads may change the filter meanwhile.
    const IS_SHARED: bool;

    /// What the filter counts and lists.
    type Ledger: Ledger;

    /// The entry points of inserts: into `&mut` or `&` the filter.
    type Inserts<R: Choose>: KernelTable;

    /// The same for filters of fingerprint blocks.
    type FingerprintInserts: KernelTable;
}

impl Held for Words {
    const IS_SHARED: bool = false;
    type Ledger = OwnLedger;
    type Inserts<R: Choose> = OwnInserts<R>;
    type FingerprintInserts = OwnFingerprintInserts;
}
