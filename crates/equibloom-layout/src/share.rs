//! A number from 0 to 1 that can be compared, hashed and stored exactly.

use crate::check::check_real;
use crate::error::LayoutError;

/// A share or probability in units of 2⁻⁶³, so that 1 is exact.
///
/// Every `Share` converts to an `f64` and back exactly: code, files and JSON agree.
///
/// ```
/// use equibloom_layout::Share;
///
/// let third = Share::new(1.0 / 3.0)?;
/// assert_eq!(third.get(), 1.0 / 3.0);
/// assert_eq!(Share::from_units(third.units()), Some(third));
/// assert!(Share::new(1.5).is_err());
/// # Ok::<(), equibloom_layout::LayoutError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "f64", try_from = "f64")
)]
pub struct Share {
    units: u64,
}

impl Share {
    const CERTAIN: u64 = 1 << 63;

    /// Nothing; never.
    pub const NONE: Self = Self { units: 0 };
    /// Everything; always.
    pub const ALL: Self = Self { units: Self::CERTAIN };

    /// The largest share not above `value`, which must be from 0 to 1.
    pub fn new(value: f64) -> Result<Self, LayoutError> {
        check_real("share", value, 0.0, 1.0)?;
        Ok(Self::clamped(value))
    }

    /// [`new`](Self::new) for computed values: clamps to 0 and 1; NaN becomes 0.
    pub const fn clamped(value: f64) -> Self {
        let value = if value > 1.0 { 1.0 } else { value };
        // The cast converts negative numbers and NaN to 0.
        Self { units: (value * Self::CERTAIN as f64) as u64 }
    }

    /// The share as a number from 0 to 1.
    pub const fn get(self) -> f64 {
        self.units as f64 / Self::CERTAIN as f64
    }

    /// The share in units of 2⁻⁶³.
    pub const fn units(self) -> u64 {
        self.units
    }

    /// The share of `units` × 2⁻⁶³, if it is at most 1 and exact as an `f64`.
    pub fn from_units(units: u64) -> Option<Self> {
        let share = Self { units };
        (units <= Self::CERTAIN && Self::new(share.get()) == Ok(share)).then_some(share)
    }

    /// Whether a coin with this probability comes up for a uniform word.
    #[inline(always)]
    pub const fn takes(self, word: u64) -> bool {
        word >> 1 < self.units
    }

    /// Whether the share is 1.
    #[inline(always)]
    pub const fn is_all(self) -> bool {
        self.units == Self::CERTAIN
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> Self {
        share.get()
    }
}

impl TryFrom<f64> for Share {
    type Error = LayoutError;

    fn try_from(value: f64) -> Result<Self, LayoutError> {
        Self::new(value)
    }
}

#[cfg(test)]
mod tests;
