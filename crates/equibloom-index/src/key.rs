//! Keys, and the range that a file's keys lie in.

use equibloom::{KeyHash, KeyHasher, KeyKind, Stable};
use serde::{Deserialize, Serialize};

/// A key: bytes or text, or an integer (`docs/keys.md` says what dates and timestamps are).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key<'a> {
    /// Text or bytes.
    Bytes(&'a [u8]),
    /// An integer from −2⁶³ to 2⁶⁴ − 1. No other is a key.
    Integer(i128),
}

impl Key<'_> {
    /// The kind of the key.
    pub const fn kind(&self) -> KeyKind {
        match self {
            Self::Bytes(_) => KeyKind::Bytes,
            Self::Integer(_) => KeyKind::Integer,
        }
    }

    /// The hash; `None` for an integer beyond 64 bits.
    pub(crate) fn hash(&self, hasher: Stable) -> Option<KeyHash> {
        match self {
            Self::Bytes(bytes) => Some(hasher.hash_key(*bytes)),
            Self::Integer(value) => bits_of(*value).map(|bits| hasher.hash_key(&bits)),
        }
    }
}

/// The 64 bits that stand for an integer.
fn bits_of(value: i128) -> Option<u64> {
    let signed = i64::try_from(value).ok().map(i64::cast_unsigned);
    signed.or_else(|| u64::try_from(value).ok())
}

impl<'a> From<&'a str> for Key<'a> {
    fn from(text: &'a str) -> Self {
        Self::Bytes(text.as_bytes())
    }
}

impl<'a> From<&'a [u8]> for Key<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Key<'_> {
            fn from(value: $integer) -> Self {
                Self::Integer(value.into())
            }
        }
    )*};
}

integers!(i32 u32 i64 u64);

/// Longest bound of bytes that is stored. A longer one is cut, which keeps the range wide enough: keys are cut before they are compared.
pub(crate) const BOUND_BYTES: usize = 64;

/// The smallest and the largest of some keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Range {
    /// Integers by value.
    Integers {
        /// The smallest.
        least: i128,
        /// The largest.
        most: i128,
    },
    /// Bytes in lexicographic order, cut to 64 bytes.
    Bytes {
        /// The smallest.
        least: Vec<u8>,
        /// The largest.
        most: Vec<u8>,
    },
}

impl Range {
    /// The range of one key.
    pub fn of(key: Key<'_>) -> Self {
        match key {
            Key::Integer(value) => Self::Integers { least: value, most: value },
            Key::Bytes(bytes) => {
                let bound = cut(bytes).to_vec();
                Self::Bytes { least: bound.clone(), most: bound }
            }
        }
    }

    /// Widens the range to a key; `false` if it is of another kind.
    pub fn extend(&mut self, key: Key<'_>) -> bool {
        match (self, key) {
            (Self::Integers { least, most }, Key::Integer(value)) => {
                *least = value.min(*least);
                *most = value.max(*most);
                true
            }
            (Self::Bytes { least, most }, Key::Bytes(bytes)) => {
                let bound = cut(bytes);
                if bound < least.as_slice() {
                    *least = bound.to_vec();
                }
                if bound > most.as_slice() {
                    *most = bound.to_vec();
                }
                true
            }
            _ => false,
        }
    }

    /// The kind of the keys.
    pub const fn kind(&self) -> KeyKind {
        match self {
            Self::Bytes { .. } => KeyKind::Bytes,
            Self::Integers { .. } => KeyKind::Integer,
        }
    }

    /// Whether the key may be one of them. Keys of another kind may: only their values are unknown here.
    ///
    /// An integer stands for its 64 bits, so that −1 and 2⁶⁴ − 1 are one key.
    pub fn may_hold(&self, key: Key<'_>) -> bool {
        match (self, key) {
            (Self::Integers { least, most }, Key::Integer(value)) => match bits_of(value) {
                Some(bits) => [i128::from(bits), bits.cast_signed().into()]
                    .iter()
                    .any(|value| (least..=most).contains(&value)),
                // No file holds such a key, but a program that asks for it may know better.
                None => true,
            },
            (Self::Bytes { least, most }, Key::Bytes(bytes)) => {
                let bound = cut(bytes);
                least.as_slice() <= bound && bound <= most.as_slice()
            }
            _ => true,
        }
    }

    /// The share of the integers between the bounds that are not among `keys` different ones; 1 for bytes, whose number is not known.
    pub fn gaps(&self, keys: u64) -> f64 {
        match self {
            Self::Integers { least, most } => {
                let width = most.saturating_sub(*least).saturating_add(1);
                1.0 - (keys as f64 / width as f64).min(1.0)
            }
            Self::Bytes { .. } => 1.0,
        }
    }
}

fn cut(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(BOUND_BYTES)]
}

#[cfg(test)]
mod tests;
