//! When a block turns a key away, and where such keys go.

use crate::error::{BuildError, check_share, check_whole};

/// When a block turns a key away.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Threshold {
    /// A block below this load (the papers' `h`) takes every key.
    pub load: u32,
    /// A block at exactly that load takes a key with this probability (the papers' `p`); above it,
    /// none.
    pub probability: f64,
}

impl Threshold {
    /// Highest load a threshold can have: the counter beside it stays within 16 bits.
    pub const MAX_LOAD: u32 = u16::MAX as u32 - 1;

    /// Width of the counter that tells every load up to one above the threshold: ⌈log2(h + 2)⌉.
    ///
    /// ```
    /// use equibloom::Threshold;
    ///
    /// assert_eq!(Threshold { load: 2, probability: 0.5 }.counter_bits(), 2);
    /// assert_eq!(Threshold { load: 3, probability: 0.5 }.counter_bits(), 3);
    /// ```
    pub const fn counter_bits(&self) -> u32 {
        u32::BITS - self.load.saturating_add(1).leading_zeros()
    }

    pub(super) fn check(&self) -> Result<(), BuildError> {
        check_whole("threshold load", self.load.into(), 0, Self::MAX_LOAD.into())?;
        check_share("threshold probability", self.probability)?;
        if self.load == 0 && self.probability == 0.0 {
            return Err(BuildError::NothingAdmitted);
        }
        Ok(())
    }
}

/// The overflow list's size, and what happens when that is not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Overflow {
    /// Most entries it can hold.
    pub capacity: u64,
    /// What happens to a key that finds it full.
    pub when_full: WhenFull,
}

/// What happens to a key that no block admits when the overflow list is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum WhenFull {
    /// The insert fails with [`FullError`](crate::FullError) and changes nothing.
    Refuse,
    /// The key goes into a candidate block past its threshold, and the rate rises; where a block has
    /// only so many slots, the overflow list grows instead, and the memory.
    /// [`Statistics::saturated`](crate::Statistics::saturated) counts such keys.
    Saturate,
}

impl Overflow {
    /// Room for a mean share `fraction` of `keys`, and for chance: six times the square root more. (Full
    /// blocks turn keys away in clumps, so that this is three to four standard deviations.)
    ///
    /// ```
    /// use equibloom::{Overflow, WhenFull};
    ///
    /// let overflow = Overflow::for_fraction(0.005, 1_000_000, WhenFull::Refuse)?;
    /// assert_eq!(overflow.capacity, 5_000 + 6 * 71);
    /// assert!(Overflow::for_fraction(f64::NAN, 10, WhenFull::Refuse).is_err());
    /// # Ok::<(), equibloom::BuildError>(())
    /// ```
    pub fn for_fraction(fraction: f64, keys: u64, when_full: WhenFull) -> Result<Self, BuildError> {
        check_share("overflow fraction", fraction)?;
        let mean = (fraction * keys as f64) as u64;
        let slack = 6 * (mean.isqrt() + 1);
        let capacity = if fraction > 0.0 { mean.saturating_add(slack) } else { 0 };
        Ok(Self { capacity, when_full })
    }

    /// Bytes of the list: at most 80 bits per entry, and a line.
    pub const fn bytes(&self) -> u64 {
        crate::memory::bytes_for(crate::overflow::slot_count(self.capacity))
    }
}
