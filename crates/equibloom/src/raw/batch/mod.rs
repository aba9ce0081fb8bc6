//! Many keys at once.
//!
//! A key waits for its block longer than for anything else, so a batch asks for the blocks of later keys
//! while it works on those that have arrived.

mod columns;
mod inserts;
mod lookups;

pub(super) use lookups::ContainsBatch;
