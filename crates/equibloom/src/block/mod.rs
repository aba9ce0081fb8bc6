//! What one memory access sees: an array of blocks, each a small set of its own.
//!
//! Placements work on any [`BlockView`]; they ask for a block's load and know nothing of what a block
//! looks like inside. (The buckets of a [`table`](crate::table) are such blocks too.) A [`BlockArray`]
//! takes keys as well.

mod bloom;
pub(crate) mod occupancy;
mod pattern;

pub use bloom::BloomBlocks;
pub(crate) use occupancy::Occupancy;

use crate::hashing::KeyHash;

/// Position of a block in its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockIndex(pub u64);

/// What a placement rule sees of blocks: how full they are, and whether they hold its key.
pub trait BlockView {
    /// How full a block is, in a unit of the array's own: more is fuller.
    fn load(&self, block: BlockIndex) -> u32;

    /// Whether the block may hold the key.
    fn test(&self, block: BlockIndex, key: KeyHash) -> bool;
}

/// An array of equal blocks, each of which stores keys and may answer "present" by mistake, never
/// "absent".
pub trait BlockArray: BlockView {
    /// Number of blocks.
    fn count(&self) -> u64;

    /// Puts the key into the block and counts it.
    fn add(&mut self, block: BlockIndex, key: KeyHash);

    /// Empties every block.
    fn clear(&mut self);
}
