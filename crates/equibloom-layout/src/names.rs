//! Names of placements and blocks, as users write them.

use core::fmt;
use core::str::FromStr;

/// The papers' names for combinations of candidates and rule. A label for users; code reads the parts.
///
/// ```
/// use equibloom_layout::Placement;
///
/// assert_eq!("multi-level".parse(), Ok(Placement::MultiLevel));
/// assert_eq!(Placement::TwoChoice.to_string(), "two-choice");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Placement {
    /// Bloom's filter: bits anywhere in one array.
    Classical,
    /// One block per key.
    Blocked,
    /// One block per key, with a threshold and an overflow list.
    Single,
    /// The first of several blocks, anywhere, that has room.
    Sequential,
    /// The first of several blocks, one in each subtable, that has room.
    MultiLevel,
    /// The least loaded of two or more blocks.
    TwoChoice,
    /// The least loaded of several blocks for a share of the keys, one block for the rest.
    OnePlusAlpha,
    /// No blocks: a list of hashes.
    List,
}

impl Placement {
    /// The papers' placements: the blocked filters from the simplest on, then the classical one.
    pub const ALL: &[Self] = &[
        Self::Blocked,
        Self::Single,
        Self::OnePlusAlpha,
        Self::TwoChoice,
        Self::MultiLevel,
        Self::Sequential,
        Self::Classical,
    ];

    /// The name as users write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Classical => "classical",
            Self::Blocked => "blocked",
            Self::Single => "single",
            Self::Sequential => "sequential",
            Self::MultiLevel => "multi-level",
            Self::TwoChoice => "two-choice",
            Self::OnePlusAlpha => "one-plus-alpha",
            Self::List => "list",
        }
    }
}

/// What a block stores for its keys.
///
/// ```
/// use equibloom_layout::BlockKind;
///
/// assert_eq!("fingerprint".parse(), Ok(BlockKind::Fingerprint));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockKind {
    /// A few set bits per key.
    Bloom,
    /// A fingerprint per key.
    Fingerprint,
}

impl BlockKind {
    /// All kinds.
    pub const ALL: &[Self] = &[Self::Bloom, Self::Fingerprint];

    /// The name as users write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bloom => "bloom",
            Self::Fingerprint => "fingerprint",
        }
    }
}

/// An unknown name; the message lists the known ones.
///
/// ```
/// use equibloom_layout::BlockKind;
///
/// let error = "cuckoo".parse::<BlockKind>().unwrap_err();
/// assert_eq!(error.to_string(), "no such kind of block: give bloom or fingerprint");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownName(&'static str);

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for UnknownName {}

macro_rules! by_name {
    ($($type:ident: $unknown:literal)*) => {$(
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                let found = Self::ALL.iter().copied().find(|known| known.as_str() == name);
                found.ok_or(UnknownName($unknown))
            }
        }
    )*};
}

by_name! {
    Placement: "no such placement: give classical, blocked, single, sequential, multi-level, two-choice or \
                one-plus-alpha"
    BlockKind: "no such kind of block: give bloom or fingerprint"
}
