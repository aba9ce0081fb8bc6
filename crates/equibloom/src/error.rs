//! What can go wrong: parameters that cannot work, memory that cannot be had, a filter that is full.
//!
//! Every message names the value, what would be accepted, and thereby the cure.

use alloc::boxed::Box;
use core::fmt;

use crate::parameters::Parameters;

/// `From` for the variants that hold another error. Such a variant shows that error's message as its own; it has
/// no `source`, which would print the message twice.
macro_rules! wraps {
    ($error:ident { $($variant:ident($inner:ty)),+ }) => {
        $(impl From<$inner> for $error {
            fn from(error: $inner) -> Self {
                Self::$variant(error)
            }
        })+
    };
}
#[cfg(feature = "planner")]
pub(crate) use wraps;

/// Why a filter could not be made from its [`Parameters`](crate::Parameters).
///
/// Nothing has been allocated when one of these is returned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// A number lies outside the range that makes sense.
    OutOfRange {
        /// The parameter's name.
        name: &'static str,
        /// The value that was given.
        value: Number,
        /// What would be accepted.
        accepted: Accepted,
    },
    /// The subtables of a multi-level table do not cover its blocks exactly.
    SubtablesDoNotAddUp {
        /// Sum of the subtable sizes.
        sum: u128,
        /// Blocks in the table.
        blocks: u64,
    },
    /// Threshold 0 with probability 0 admits nothing anywhere.
    NothingAdmitted,
    /// Removals make loads go down, so that only hints can tell a lookup to go on.
    RemovalWithoutHints,
    /// Two keys that look alike in a block have the same way on only if it is the same level for both.
    RemovalFromSharedTable {
        /// Candidates of each key.
        choices: u32,
    },
    /// One block does not fit into the memory that was offered.
    BlockLargerThanMemory {
        /// Bits that one block occupies, padding included.
        block_bits: u64,
        /// Bits of memory there are.
        memory_bits: u64,
    },
    /// The size in bits is not a number this machine can address.
    TooLarge {
        /// How many parts were asked for.
        count: u64,
        /// Bits of each part.
        bits: u64,
    },
    /// The operating system refused the memory.
    OutOfMemory {
        /// Bytes that were asked for.
        bytes: u64,
    },
    /// A filter type that serves one kind of scheme was given another.
    OtherScheme {
        /// What the filter type serves.
        expected: &'static str,
        /// What the parameters describe.
        found: &'static str,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { name, value, accepted } => {
                write!(f, "{name} is {value}: give {accepted}")
            }
            Self::SubtablesDoNotAddUp { sum, blocks } => write!(
                f,
                "the subtables hold {sum} blocks together, the table has {blocks}: \
                 change the subtables or the block count until they agree"
            ),
            Self::NothingAdmitted => f.write_str(
                "threshold 0 with probability 0 lets no key into any block: \
                 raise the threshold to 1 or the probability above 0",
            ),
            Self::RemovalWithoutHints => f.write_str(
                "a filter whose keys can be removed needs hints, and was given none: \
                 give each block at least 1 hint bit",
            ),
            Self::RemovalFromSharedTable { choices } => write!(
                f,
                "keys cannot be removed from a table in which each has {choices} candidates anywhere: \
                 give the table subtables (`Route::MultiLevel`) or each key 1 candidate"
            ),
            Self::BlockLargerThanMemory { block_bits, memory_bits } => write!(
                f,
                "a block of {block_bits} bits is larger than the memory of {memory_bits} bits: \
                 give at least {block_bits} bits of memory or smaller blocks"
            ),
            Self::TooLarge { count, bits } => write!(
                f,
                "{count} × {bits} bits is more than this machine can address: give fewer or smaller parts"
            ),
            Self::OutOfMemory { bytes } => {
                write!(f, "{bytes} bytes of memory could not be had: ask for less or free some")
            }
            Self::OtherScheme { expected, found } => write!(
                f,
                "{expected} was expected, the parameters describe {found}: \
                 use `AnyFilter`, which takes every scheme"
            ),
        }
    }
}

impl core::error::Error for BuildError {}

/// The overflow list has no room for a key that no block admits, and the filter was told to
/// [refuse](crate::WhenFull::Refuse) such keys. The filter has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FullError {
    /// Entries the overflow list can hold.
    pub capacity: u64,
    /// Keys stored in the filter as a whole.
    pub stored: u64,
}

impl fmt::Display for FullError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { capacity, stored } = self;
        write!(
            f,
            "the overflow list holds {capacity} entries and is full, with {stored} keys in the filter: \
             plan for more keys, give the list more room, or choose `WhenFull::Saturate`"
        )
    }
}

impl core::error::Error for FullError {}

/// Why a key was not removed. The filter has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoveError {
    /// The filter does not store every insert, so that one stored key may stand for several.
    NotRemovable(&'static str),
    /// The key was certainly never inserted, or was removed already.
    NotPresent,
}

impl fmt::Display for RemoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRemovable(filter) => write!(
                f,
                "keys cannot be removed from {filter}: make a removable filter \
                 (fingerprint blocks with `multiset: true`, or `removable()` on the builder)"
            ),
            Self::NotPresent => {
                f.write_str("the key is not in the filter: remove only keys that were inserted")
            }
        }
    }
}

impl core::error::Error for RemoveError {}

/// Why two filters were not merged. Neither has changed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum MergeError {
    /// They were made from different parameters.
    OtherShape {
        /// This filter's parameters.
        ours: Box<Parameters>,
        /// The other's.
        theirs: Box<Parameters>,
    },
    /// They have the same parameters and different hash functions.
    OtherHash,
    /// Together they are too many for the overflow list, and the filter was told to refuse.
    Full(FullError),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherShape { ours, theirs } => write!(
                f,
                "the filters differ in shape or seed: one is {ours:?}, the other {theirs:?}; \
                 build both from the same parameters"
            ),
            Self::OtherHash => f.write_str(
                "the filters hash their keys differently: build both with the same hasher and seed",
            ),
            Self::Full(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for MergeError {}

wraps!(MergeError { Full(FullError) });

/// Why a filter was not made smaller. It has not changed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ShrinkError {
    /// A fingerprint's next block depends on the number of its block, which folding would change.
    Fingerprints,
    /// The blocks cannot be divided into groups of this size.
    NotDivisible {
        /// Blocks of the table or subtable, or bits of a classical filter.
        size: u64,
        /// How many should become one.
        factor: u64,
    },
    /// The smaller table could not be made.
    Build(BuildError),
    /// An overflow list that had grown past its plan, in a filter that refuses more than planned.
    Full(FullError),
}

impl fmt::Display for ShrinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fingerprints => f.write_str(
                "fingerprint blocks cannot be folded: plan the filter again and insert its keys",
            ),
            Self::NotDivisible { size, factor } => write!(
                f,
                "{size} blocks cannot be folded {factor} to 1: fold by a divisor of {size}, \
                 or plan tables whose sizes are multiples of the factor"
            ),
            Self::Build(error) => error.fmt(f),
            Self::Full(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ShrinkError {}

wraps!(ShrinkError { Build(BuildError), Full(FullError) });

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
