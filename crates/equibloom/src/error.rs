//! What can go wrong: parameters that cannot work, memory that cannot be had, a filter that is full.
//!
//! Every message names the value, what would be accepted, and thereby the cure.

use alloc::boxed::Box;
use core::fmt;

use crate::parameters::Parameters;

/// Why a filter could not be made from its [`Parameters`](crate::Parameters).
///
/// Nothing has been allocated when one of these is returned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A number lies outside the range that makes sense.
    #[error("{name} is {value}: give {accepted}")]
    OutOfRange {
        /// The parameter's name.
        name: &'static str,
        /// The value that was given.
        value: Number,
        /// What would be accepted.
        accepted: Accepted,
    },
    /// The subtables of a multi-level table do not cover its blocks exactly.
    #[error(
        "the subtables hold {sum} blocks together, the table has {blocks}: \
         change the subtables or the block count until they agree"
    )]
    SubtablesDoNotAddUp {
        /// Sum of the subtable sizes.
        sum: u128,
        /// Blocks in the table.
        blocks: u64,
    },
    /// Threshold 0 with probability 0 admits nothing anywhere.
    #[error(
        "threshold 0 with probability 0 lets no key into any block: \
         raise the threshold to 1 or the probability above 0"
    )]
    NothingAdmitted,
    /// Removals make loads go down, so that only hints can tell a lookup to go on.
    #[error(
        "a filter whose keys can be removed needs hints, and was given none: \
         give each block at least 1 hint bit"
    )]
    RemovalWithoutHints,
    /// Two keys that look alike in a block have the same way on only if it is the same level for both.
    #[error(
        "keys cannot be removed from a table in which each has {choices} candidates anywhere: \
         give the table subtables (`Route::MultiLevel`) or each key 1 candidate"
    )]
    RemovalFromSharedTable {
        /// Candidates of each key.
        choices: u32,
    },
    /// One block does not fit into the memory that was offered.
    #[error(
        "a block of {block_bits} bits is larger than the memory of {memory_bits} bits: \
         give at least {block_bits} bits of memory or smaller blocks"
    )]
    BlockLargerThanMemory {
        /// Bits that one block occupies, padding included.
        block_bits: u64,
        /// Bits of memory there are.
        memory_bits: u64,
    },
    /// The size in bits is not a number this machine can address.
    #[error(
        "{count} × {bits} bits is more than this machine can address: give fewer or smaller parts"
    )]
    TooLarge {
        /// How many parts were asked for.
        count: u64,
        /// Bits of each part.
        bits: u64,
    },
    /// The operating system refused the memory.
    #[error("{bytes} bytes of memory could not be had: ask for less or free some")]
    OutOfMemory {
        /// Bytes that were asked for.
        bytes: u64,
    },
    /// A filter type that serves one kind of scheme was given another.
    #[error(
        "{expected} was expected, the parameters describe {found}: use `AnyFilter`, which takes every scheme"
    )]
    OtherScheme {
        /// What the filter type serves.
        expected: &'static str,
        /// What the parameters describe.
        found: &'static str,
    },
}

/// The overflow list has no room for a key that no block admits, and the filter was told to
/// [refuse](crate::WhenFull::Refuse) such keys. The filter has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the overflow list holds {capacity} entries and is full, with {stored} keys in the filter: \
     plan for more keys, give the list more room, or choose `WhenFull::Saturate`"
)]
#[non_exhaustive]
pub struct FullError {
    /// Entries the overflow list can hold.
    pub capacity: u64,
    /// Keys stored in the filter as a whole.
    pub stored: u64,
}

/// Why a key was not removed. The filter has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveError {
    /// The filter does not store every insert, so that one stored key may stand for several.
    #[error(
        "keys cannot be removed from {0}: make a removable filter \
         (fingerprint blocks with `multiset: true`, or `removable()` on the builder)"
    )]
    NotRemovable(&'static str),
    /// The key was certainly never inserted, or was removed already.
    #[error("the key is not in the filter: remove only keys that were inserted")]
    NotPresent,
}

/// Why two filters were not merged. Neither has changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// They were made from different parameters.
    #[error(
        "the filters differ in shape or seed: one is {ours:?}, the other {theirs:?}; \
         build both from the same parameters"
    )]
    OtherShape {
        /// This filter's parameters.
        ours: Box<Parameters>,
        /// The other's.
        theirs: Box<Parameters>,
    },
    /// They have the same parameters and different hash functions.
    #[error("the filters hash their keys differently: build both with the same hasher and seed")]
    OtherHash,
    /// They are different kinds of filter.
    #[error("the filters are of different kinds: build both from the same parameters")]
    OtherKind,
    /// Together they are too many for the overflow list, and the filter was told to refuse.
    #[error(transparent)]
    Full(#[from] FullError),
}

/// Why a filter was not made smaller. It has not changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShrinkError {
    /// A fingerprint's next block depends on the number of its block, which folding would change.
    #[error("fingerprint blocks cannot be folded: plan the filter again and insert its keys")]
    Fingerprints,
    /// The blocks cannot be divided into groups of this size.
    #[error(
        "{size} blocks cannot be folded {factor} to 1: fold by a divisor of {size}, \
         or plan tables whose sizes are multiples of the factor"
    )]
    NotDivisible {
        /// Blocks of the table or subtable, or bits of a classical filter.
        size: u64,
        /// How many should become one.
        factor: u64,
    },
    /// The smaller table could not be made.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The smaller filter could not take in the keys: an overflow list had grown past its plan, in a filter
    /// that refuses more than planned.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// A rejected value as it was given, whole or real.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A count.
    Whole(u64),
    /// A share, probability or mean.
    Real(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => value.fmt(f),
            Self::Real(value) => value.fmt(f),
        }
    }
}

/// The range a value must come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Accepted {
    /// A whole number from the first to the second, both included.
    Whole(u64, u64),
    /// A real number from the first to the second, both included.
    Real(f64, f64),
    /// A finite number above zero.
    Positive,
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(low, u64::MAX) => write!(f, "at least {low}"),
            Self::Whole(low, high) => write!(f, "a whole number from {low} to {high}"),
            Self::Real(low, high) => write!(f, "a number from {low} to {high}"),
            Self::Positive => f.write_str("a finite number above 0"),
        }
    }
}

/// Refuses a whole number outside `low..=high`.
pub(crate) fn check_whole(
    name: &'static str,
    value: u64,
    low: u64,
    high: u64,
) -> Result<(), BuildError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(BuildError::OutOfRange {
        name,
        value: Number::Whole(value),
        accepted: Accepted::Whole(low, high),
    })
}

/// Refuses a share outside `0..=1`; NaN is outside.
pub(crate) fn check_share(name: &'static str, value: f64) -> Result<(), BuildError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(BuildError::OutOfRange {
        name,
        value: Number::Real(value),
        accepted: Accepted::Real(0.0, 1.0),
    })
}

/// Refuses zero, negative and infinite numbers and NaN.
pub(crate) fn check_positive(name: &'static str, value: f64) -> Result<(), BuildError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(BuildError::OutOfRange { name, value: Number::Real(value), accepted: Accepted::Positive })
}
