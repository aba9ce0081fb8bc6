//! One filter takes in what another holds.

use crate::error::MergeError;

/// Merging and shrinking, behind [`Filter`](crate::Filter), which has compared the shapes.
pub trait Absorb {
    /// Takes in all keys of a filter of the same shape, whose tables are `factor` times as large.
    ///
    /// # Errors
    /// The overflow list is full and the filter was told to refuse, or the filters are of different kinds;
    /// then it is as it was.
    fn absorb(&mut self, other: &Self, factor: u64) -> Result<(), MergeError>;
}
