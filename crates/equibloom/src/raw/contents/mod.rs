//! Merging and removal, which depend on what a block knows of its keys.
//!
//! Bloom blocks know bits: blocks can be united, and neighbours folded into one. Fingerprint blocks know
//! each key well enough to remove it or to move it to its next block.

mod bloom;
mod fingerprint;

use super::Balanced;
use crate::block::BlockArray;
use crate::error::FullError;
use crate::overflow::OverflowList;
use crate::placement::Choose;
use crate::statistics::LevelSurvey;

/// Operations on the stored keys of a kind of blocks.
pub(crate) trait Contents: BlockArray {
    /// Adds the blocks and the overflow list of a filter of the same shape with tables `factor` times as
    /// large.
    fn merge<R: Choose>(
        filter: &mut Balanced<R, Self>,
        other: &Balanced<R, Self>,
        factor: u64,
    ) -> Result<(), FullError>;

    /// Adds the matches with keys that passed through a level and are stored further on.
    fn add_matches_sent_on<R: Choose>(_filter: &Balanced<R, Self>, _surveys: &mut [LevelSurvey]) {}
}

/// Adds the other list's entries for which `wanted` holds.
fn join_overflow<R: Choose, B: BlockArray>(
    filter: &mut Balanced<R, B>,
    other: &OverflowList,
    wanted: impl Fn(&OverflowList, u64) -> bool,
) -> Result<(), FullError> {
    let missing = other.entries().filter(|&entry| wanted(&filter.overflow, entry)).count() as u64;
    filter.overflow.make_room(missing, filter.when_full).map_err(|_| filter.full())?;
    for entry in other.entries() {
        if wanted(&filter.overflow, entry) {
            filter.overflow.push(entry, filter.when_full).map_err(|_| filter.full())?;
        }
    }
    Ok(())
}
