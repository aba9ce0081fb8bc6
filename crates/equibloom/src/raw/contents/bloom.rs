//! Bits can be joined, and neighbours folded into one.

use super::{Contents, join_overflow};
use crate::block::{BlockArray, BlockIndex, BloomBlocks};
use crate::error::{FullError, RemoveError};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::placement::Choose;
use crate::raw::Balanced;

impl Contents for BloomBlocks {
    fn take_out<R: Choose, O: Observer>(
        _filter: &mut Balanced<R, Self>,
        _key: KeyHash,
        _observer: &mut O,
    ) -> Result<(), RemoveError> {
        Err(RemoveError::NotRemovable("Bloom blocks"))
    }

    /// Block `i` of a level takes in the blocks from `i × factor` on: to those a key goes whose word,
    /// scaled to the smaller level, gives `i`.
    fn absorb<R: Choose>(
        filter: &mut Balanced<R, Self>,
        other: &Balanced<R, Self>,
        factor: u64,
    ) -> Result<(), FullError> {
        join_overflow(filter, &other.overflow, |list, entry| !list.contains(entry))?;
        // Levels are consecutive, and each of them is `factor` times as large in the other.
        for block in 0..other.blocks.count() {
            filter.blocks.absorb(BlockIndex(block / factor), &other.blocks, BlockIndex(block));
        }
        Ok(())
    }
}
