//! What can be done with the stored keys as a whole: it depends on how much a block knows of them.
//!
//! Bloom blocks know bits: they can be joined, and neighbours be folded into one. Fingerprint blocks
//! know each key well enough to take it out again or to send it on.

mod bloom;
mod fingerprint;

use super::Balanced;
use crate::block::BlockArray;
use crate::error::FullError;
use crate::overflow::OverflowList;
use crate::placement::Choose;
use crate::statistics::LevelSurvey;

/// Operations on the keys that blocks of a kind store.
pub(crate) trait Contents: BlockArray {
    /// Takes in the blocks and the overflow list of a filter of the same shape with tables `factor`
    /// times as large.
    fn merge<R: Choose>(
        filter: &mut Balanced<R, Self>,
        other: &Balanced<R, Self>,
        factor: u64,
    ) -> Result<(), FullError>;

    /// Adds the matches with keys that passed through a level and are stored further on.
    fn add_matches_sent_on<R: Choose>(_filter: &Balanced<R, Self>, _surveys: &mut [LevelSurvey]) {}
}

/// Adds those of the other list's entries that `wanted` says.
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
