//! What can go wrong: parameters that cannot work, memory that cannot be had, a filter that is full.
//!
//! Every message names the value, what would be accepted, and thereby the cure.

use alloc::boxed::Box;
use core::fmt;

use equibloom_layout::LayoutError;

use crate::hashing::KeyKind;
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

/// Why a filter could not be made from its [`Parameters`].
///
/// Nothing has been allocated when one of these is returned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// No such filter can be made.
    Layout(LayoutError),
    /// The operating system refused the memory.
    OutOfMemory {
        /// Bytes that were asked for.
        bytes: u64,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(error) => error.fmt(f),
            Self::OutOfMemory { bytes } => {
                write!(f, "{bytes} bytes of memory could not be had: ask for less or free some")
            }
        }
    }
}

impl core::error::Error for BuildError {}

wraps!(BuildError { Layout(LayoutError) });

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
    /// They hold keys of different kinds.
    OtherKeys {
        /// This filter's keys.
        ours: KeyKind,
        /// The other's.
        theirs: KeyKind,
    },
    /// They are different kinds of filter.
    OtherKind,
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
            Self::OtherKeys { ours, theirs } => write!(
                f,
                "one filter holds {ours}, the other {theirs}: build both from the same kind of keys"
            ),
            Self::OtherKind => f.write_str(
                "the filters are of different kinds: build both from the same parameters",
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
    /// The smaller filter could not take in the keys: an overflow list had grown past its plan, in a filter
    /// that refuses more than planned.
    Merge(MergeError),
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
            Self::Merge(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ShrinkError {}

wraps!(ShrinkError { Build(BuildError), Merge(MergeError) });

impl From<LayoutError> for ShrinkError {
    fn from(error: LayoutError) -> Self {
        Self::Build(error.into())
    }
}
