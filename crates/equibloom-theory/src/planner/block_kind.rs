//! The kinds of blocks by name.

use core::fmt;
use core::str::FromStr;

/// What a block keeps of its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// A few set bits for each key.
    Bloom,
    /// A fingerprint of each key.
    Fingerprint,
}

impl BlockKind {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Bloom, Self::Fingerprint];

    /// The name as users write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bloom => "bloom",
            Self::Fingerprint => "fingerprint",
        }
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A name that is no kind of block's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownBlockKind(String);

impl fmt::Display for UnknownBlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no kind of block: give bloom or fingerprint", self.0)
    }
}

impl core::error::Error for UnknownBlockKind {}

impl FromStr for BlockKind {
    type Err = UnknownBlockKind;

    fn from_str(name: &str) -> Result<Self, UnknownBlockKind> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == name);
        found.ok_or_else(|| UnknownBlockKind(name.to_owned()))
    }
}
