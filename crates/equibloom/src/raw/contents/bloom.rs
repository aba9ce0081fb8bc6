//! Merging of Bloom blocks: bits are united, and neighbours folded.

use super::{Contents, join_overflow};
use crate::block::{BlockArray, BlockIndex, BloomBlocks};
use crate::error::FullError;
use crate::placement::Choose;
use crate::raw::Balanced;

impl Contents for BloomBlocks {
    /// Block `i` of a level becomes the union of `factor` blocks of the larger level from `i × factor` on:
    /// the blocks of keys whose word scales to `i` in the smaller level.
    fn merge<R: Choose>(
        filter: &mut Balanced<R, Self>,
        other: &Balanced<R, Self>,
        factor: u64,
    ) -> Result<(), FullError> {
        join_overflow(filter, &other.overflow, |list, entry| !list.contains(entry))?;
        // Levels are consecutive, and each is `factor` times as large in the other filter.
        for block in 0..other.blocks.count() {
            filter.blocks.merge_block(BlockIndex(block / factor), &other.blocks, BlockIndex(block));
        }
        Ok(())
    }
}
