//! Bits can be joined, and neighbours folded into one.

use super::{Contents, join_overflow};
use crate::block::{BlockArray, BlockIndex, BloomBlocks};
use crate::error::FullError;
use crate::placement::Choose;
use crate::raw::Balanced;

impl Contents for BloomBlocks {
    /// Block `i` of a level takes in the blocks from `i × factor` on: to those a key goes whose word,
    /// scaled to the smaller level, gives `i`.
    fn merge<R: Choose>(
        filter: &mut Balanced<R, Self>,
        other: &Balanced<R, Self>,
        factor: u64,
    ) -> Result<(), FullError> {
        join_overflow(filter, &other.overflow, |list, entry| !list.contains(entry))?;
        // Levels are consecutive, and each of them is `factor` times as large in the other.
        for block in 0..other.blocks.count() {
            filter.blocks.merge_block(BlockIndex(block / factor), &other.blocks, BlockIndex(block));
        }
        Ok(())
    }
}
