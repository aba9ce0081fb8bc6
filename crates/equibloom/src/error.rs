//! Errors: invalid parameters, insufficient memory, a full filter.
//!
//! Every message names the value, the limit and the cure.

use alloc::boxed::Box;
use core::fmt;

use equibloom_layout::LayoutError;

use crate::hashing::KeyKind;
use crate::parameters::Parameters;

/// `From` for variants that wrap another error. They display the inner message and have no `source`, which
/// would print it twice.
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

/// Why a filter could not be built from its [`Parameters`].
///
/// Nothing has been allocated when one of these is returned.
///
/// ```
/// use equibloom::{Blocks, BuildError, Filter, Layout, Parameters};
///
/// let design = Layout::blocked(Blocks::bloom(512, 0), 100).into();
/// let error = Filter::<str>::new(&Parameters { keys: 100, seed: 0, design }).unwrap_err();
/// assert!(matches!(error, BuildError::Layout(_)));
/// assert_eq!(error.to_string(), "hashes per key is 0: give a whole number from 1 to 64");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// The design is invalid.
    Layout(LayoutError),
    /// The operating system refused the memory.
    OutOfMemory {
        /// Bytes requested.
        bytes: u64,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(error) => error.fmt(f),
            Self::OutOfMemory { bytes } => {
                write!(f, "could not allocate {bytes} bytes: ask for less or free some memory")
            }
        }
    }
}

impl core::error::Error for BuildError {}

wraps!(BuildError { Layout(LayoutError) });

/// The overflow list is full, no block admits the key, and the filter [refuses](crate::WhenFull::Refuse)
/// such keys, or it must [grow](crate::WhenFull::Grow) and memory is short. The filter is unchanged.
///
/// ```
/// use equibloom::{Filter, WhenFull};
///
/// let builder = Filter::builder().keys(1_000).rate(0.001).when_full(WhenFull::Refuse);
/// let mut filter: Filter<u64> = builder.build()?;
/// let error = filter.try_extend(0..5_000).unwrap_err();
/// assert!(error.stored > 1_000);
/// assert!((0..1_000).all(|key| filter.contains(&key)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FullError {
    /// Capacity of the overflow list in entries.
    pub capacity: u64,
    /// Keys in the whole filter.
    pub stored: u64,
}

impl fmt::Display for FullError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { capacity, stored } = self;
        write!(
            f,
            "the overflow list holds {capacity} entries and is full, with {stored} keys in the filter: \
             plan for more keys, give the list more room, choose `WhenFull::Saturate`, or free memory if it grows"
        )
    }
}

impl core::error::Error for FullError {}

/// Why a key was not removed. The filter is unchanged.
///
/// ```
/// use equibloom::{Filter, RemoveError};
///
/// let builder = Filter::builder().keys(1_000).rate(0.001);
/// let mut filter = builder.build()?;
/// filter.insert("alice@example.com")?;
/// assert!(matches!(filter.remove("alice@example.com"), Err(RemoveError::NotRemovable(_))));
/// let mut filter = builder.removable().build()?;
/// assert_eq!(filter.remove("alice@example.com"), Err(RemoveError::NotPresent));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoveError {
    /// The filter does not store every insert: one stored key may represent several.
    NotRemovable(&'static str),
    /// The key is certainly absent: never inserted, or already removed.
    NotPresent,
}

impl fmt::Display for RemoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRemovable(filter) => write!(
                f,
                "keys cannot be removed from this filter ({filter}): make a removable one \
                 (fingerprint blocks with `multiset: true`, or `removable()` on the builder)"
            ),
            Self::NotPresent => {
                f.write_str("the key is not in the filter: remove only keys that were inserted")
            }
        }
    }
}

impl core::error::Error for RemoveError {}

/// Why two filters were not merged. Neither has changed, unless memory is short.
///
/// ```
/// use equibloom::{Filter, MergeError};
///
/// let builder = Filter::<str>::builder().keys(1_000).rate(0.001);
/// let (mut one, other) = (builder.clone().seed(1).build()?, builder.seed(2).build()?);
/// assert_eq!(one.merge(&other), Err(MergeError::OtherSeed { ours: 1, theirs: 2 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum MergeError {
    /// They hash their keys with different seeds.
    OtherSeed {
        /// This filter's seed.
        ours: u64,
        /// The other's.
        theirs: u64,
    },
    /// Keys can be removed from one of them, and they were built from different parameters.
    OtherRemovable {
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
    /// The keys of both overflow the list, and the filter refuses such keys.
    Full(FullError),
    /// Memory is short for a growing filter, which holds some of the other's keys.
    Build(BuildError),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherSeed { ours, theirs } => write!(
                f,
                "the filters hash their keys with different seeds, {ours} and {theirs}: \
                 build both with the same seed"
            ),
            Self::OtherRemovable { ours, theirs } => {
                let removable = |parameters: &Parameters| {
                    if parameters.design.is_multiset() { "removable" } else { "not removable" }
                };
                write!(
                    f,
                    "removable filters are merged only if their plans are equal: one is {} for {} keys in {} \
                     bytes, the other {} for {} keys in {} bytes; build both from the same parameters",
                    removable(ours),
                    ours.keys,
                    ours.design.bytes(),
                    removable(theirs),
                    theirs.keys,
                    theirs.design.bytes()
                )
            }
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
            Self::Build(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for MergeError {}

wraps!(MergeError { Full(FullError), Build(BuildError) });

/// Why a filter was not folded. It is unchanged.
///
/// ```
/// use equibloom::{Blocks, Filter, Layout, Parameters, ShrinkError};
///
/// let design = Layout::blocked(Blocks::bloom(512, 8), 1_000).into();
/// let filter: Filter<str> = Filter::new(&Parameters { keys: 32_000, seed: 0, design })?;
/// let error = filter.folded(3).unwrap_err();
/// assert_eq!(error, ShrinkError::NotDivisible { size: 1_000, factor: 3 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ShrinkError {
    /// The filter stores fingerprints: their next block depends on the block index, which folding changes, and a list has
    /// no blocks.
    Fingerprints,
    /// The filter has several parts, from a merge or because it has grown.
    Parts,
    /// The size is not a multiple of the factor.
    NotDivisible {
        /// Blocks of the table or subtable, or bits of a classical filter.
        size: u64,
        /// Blocks, or bits, to be folded into one.
        factor: u64,
    },
    /// The smaller table could not be built.
    Build(BuildError),
    /// The overflow list had grown beyond its planned capacity, and the smaller filter refuses more.
    Merge(MergeError),
}

impl fmt::Display for ShrinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fingerprints => f.write_str(
                "stored fingerprints cannot be folded: plan the filter again and insert its keys",
            ),
            Self::Parts => f.write_str(
                "a filter of several parts cannot be folded: fold the filters before they are merged or grow",
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
