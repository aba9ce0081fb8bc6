//! Storage that a filter can be over, and what goes with it.

use super::fingerprint::OwnFingerprintInserts;
use super::insert::OwnInserts;
use super::ledger::{Ledger, OwnLedger};
use crate::block::isa::DetectedIsa;
use crate::placement::Choose;
use crate::storage::{Storage, Words};

/// Storage of a filter: [`Words`] if it has one owner,
/// [`SharedWords`](crate::storage::SharedWords) if threads share it.
pub(crate) trait Held: Storage + Sized {
    /// What the filter counts and lists.
    type Ledger: Ledger;

    /// The entry points of inserts: into `&mut` or `&` the filter.
    type Inserts<R: Choose>: Copy;

    /// These entry points for an ISA, which the CPU has.
    fn inserts<R: Choose>(isa: DetectedIsa, is_common: bool) -> Self::Inserts<R>;

    /// The same for filters of fingerprint blocks.
    type FingerprintInserts: Copy;

    /// The same for filters of fingerprint blocks.
    fn fingerprint_inserts(isa: DetectedIsa, is_common: bool) -> Self::FingerprintInserts;
}

impl Held for Words {
    type Ledger = OwnLedger;
    type Inserts<R: Choose> = OwnInserts<R>;

    fn inserts<R: Choose>(isa: DetectedIsa, is_common: bool) -> OwnInserts<R> {
        OwnInserts::new(isa, is_common)
    }

    type FingerprintInserts = OwnFingerprintInserts;

    fn fingerprint_inserts(isa: DetectedIsa, is_common: bool) -> OwnFingerprintInserts {
        OwnFingerprintInserts::new(isa, is_common)
    }
}
