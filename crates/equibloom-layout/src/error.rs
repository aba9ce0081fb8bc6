//! Errors of invalid designs: the value, the limit and the cure.

use core::fmt;

/// Why a design is invalid.
///
/// ```
/// use equibloom_layout::{Accepted, Design, LayoutError, Number};
///
/// let error = Design::Classical { bits: 1_000, hashes: 0 }.check().unwrap_err();
/// let (value, accepted) = (Number::Whole(0), Accepted::Whole(1, 64));
/// assert_eq!(error, LayoutError::OutOfRange { name: "hashes per key", value, accepted });
/// assert_eq!(error.to_string(), "hashes per key is 0: give a whole number from 1 to 64");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum LayoutError {
    /// A number is out of range.
    OutOfRange {
        /// The name of the number.
        name: &'static str,
        /// The given value.
        value: Number,
        /// The accepted range.
        accepted: Accepted,
    },
    /// Two parts of the design conflict.
    Conflict {
        /// Which parts, and why.
        reason: &'static str,
        /// What to change.
        cure: &'static str,
    },
    /// The size in bits exceeds 64 bits.
    TooLarge {
        /// Number of parts.
        count: u64,
        /// Bits of each part.
        bits: u64,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { name, value, accepted } => {
                write!(f, "{name} is {value}: give {accepted}")
            }
            Self::Conflict { reason, cure } => write!(f, "{reason}: {cure}"),
            Self::TooLarge { count, bits } => {
                write!(f, "{count} × {bits} bits cannot be addressed: give fewer or smaller blocks")
            }
        }
    }
}

impl core::error::Error for LayoutError {}

/// A rejected value, whole or real.
///
/// ```
/// use equibloom_layout::Number;
///
/// assert_eq!((Number::Whole(17).to_string(), Number::Real(1.5).to_string()), ("17".into(), "1.5".into()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
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

/// The accepted range of a value.
///
/// ```
/// use equibloom_layout::Accepted;
///
/// assert_eq!(Accepted::Whole(1, 64).to_string(), "a whole number from 1 to 64");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
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
