//! Batches of keys.
//!
//! Most time is spent waiting for memory, so a batch prefetches the blocks of later keys while it works on
//! those already cached.

mod columns;
mod inserts;
mod lookups;
