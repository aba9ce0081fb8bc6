//! The names of the placements, and where one of them is read from its name.

use core::fmt;
use core::str::FromStr;

/// How keys find their blocks; the papers' schemes by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlacementName {
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
    /// The less loaded of two blocks.
    TwoChoice,
    /// The less loaded of two blocks for a share of the keys, one block for the rest.
    OnePlusAlpha,
}

impl PlacementName {
    /// All of them, from the simplest blocked filter on; the classical one, which is no blocked filter, last.
    pub const ALL: [Self; 7] = [
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
        }
    }
}

impl fmt::Display for PlacementName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A name that is none of the placements'.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPlacement(String);

impl fmt::Display for UnknownPlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no placement: give classical, blocked, single, sequential, multi-level, two-choice or \
             one-plus-alpha",
            self.0
        )
    }
}

impl core::error::Error for UnknownPlacement {}

impl FromStr for PlacementName {
    type Err = UnknownPlacement;

    fn from_str(name: &str) -> Result<Self, UnknownPlacement> {
        let found = Self::ALL.into_iter().find(|placement| placement.as_str() == name);
        found.ok_or_else(|| UnknownPlacement(name.to_owned()))
    }
}
