//! Validation of designs.

use crate::blocks::{Blocks, FINGERPRINT_BLOCK_BITS};
use crate::candidates::Candidates;
use crate::design::{Design, Layout};
use crate::error::{Accepted, LayoutError, Number};
use crate::overflow::{MAX_GROWTH_BITS, Overflow, WhenFull};
use crate::rule::Rule;
use crate::share::Share;

/// Smallest Bloom block in bits.
pub const MIN_BLOCK_BITS: u32 = 4;
/// Largest Bloom block in bits: a page of 4 KiB.
pub const MAX_BLOCK_BITS: u32 = 32_768;
/// Maximum number of bits set per key. A rate of 2⁻⁶⁴ is below the resolution of any hash here.
pub const MAX_HASHES: u32 = 64;
/// Most candidate blocks of one key.
pub const MAX_CHOICES: u32 = 16;
/// Most hint bits of a block.
pub const MAX_HINTS: u32 = 64;
/// Highest threshold: the load counter stays within 16 bits.
pub const MAX_THRESHOLD: u32 = u16::MAX as u32 - 1;
/// Most subtables of fingerprint blocks.
pub const MAX_FINGERPRINT_SUBTABLES: u32 = 4;
/// Most slots of a fingerprint block.
pub const MAX_SLOTS: u32 = 64;
/// Most lists of a fingerprint block.
pub const MAX_LISTS: u32 = 256;
/// Fewest bits of a remainder.
pub const MIN_REMAINDER_BITS: u32 = 5;
/// Most bits of a remainder.
pub const MAX_REMAINDER_BITS: u32 = 56;
/// Most entries of an overflow list: its size in bits fits into 64 bits.
pub const MAX_OVERFLOW: u64 = u64::MAX / 128;

impl Design {
    /// Rejects invalid designs without allocating anything. Of several reasons the first is returned.
    pub fn check(&self) -> Result<(), LayoutError> {
        match self {
            Self::Classical { bits, hashes } => {
                check_whole("bits", *bits, 1, u64::MAX)?;
                check_range("hashes per key", *hashes, 1, MAX_HASHES)
            }
            Self::Blocked(layout) => layout.check(),
            Self::List { overflow, multiset } => {
                check_whole("capacity of the list", overflow.capacity, 1, MAX_OVERFLOW)?;
                overflow.check_policy(*multiset)
            }
        }
    }
}

impl Layout {
    /// [`Design::check`] for a blocked filter.
    pub fn check(&self) -> Result<(), LayoutError> {
        self.check_ranges()?;
        self.check_room_in_a_block()?;
        self.check_combination()?;
        let (count, bits) = (self.candidates.blocks(), self.blocks.stride_bits());
        let size = count.checked_mul(bits);
        size.map(|_| ()).ok_or(LayoutError::TooLarge { count, bits })
    }

    fn check_ranges(&self) -> Result<(), LayoutError> {
        match self.blocks {
            Blocks::Bloom { bits, hashes, .. } => {
                check_range("block bits", bits, MIN_BLOCK_BITS, MAX_BLOCK_BITS)?;
                check_range("hashes per key", hashes, 1, MAX_HASHES)?;
            }
            Blocks::Fingerprint { slots, lists, remainder_bits, .. } => {
                check_range("slots of a block", slots, 1, MAX_SLOTS)?;
                check_range("lists of a block", lists, 1, MAX_LISTS)?;
                check_range(
                    "bits of a remainder",
                    remainder_bits,
                    MIN_REMAINDER_BITS,
                    MAX_REMAINDER_BITS,
                )?;
            }
        }
        check_range("hints of a block", self.blocks.hints(), 0, MAX_HINTS)?;
        match &self.candidates {
            Candidates::Anywhere { blocks, choices, .. } => {
                check_whole("block count", *blocks, 1, u64::MAX)?;
                check_range("choices", *choices, 1, MAX_CHOICES)?;
            }
            Candidates::Subtables { sizes } => {
                check_whole("number of subtables", sizes.len() as u64, 1, MAX_CHOICES.into())?;
                sizes
                    .iter()
                    .try_for_each(|&size| check_whole("blocks of a subtable", size, 1, u64::MAX))?;
            }
        }
        if let Rule::FirstWithRoom { below, coin } = self.rule {
            check_range("threshold", below, 0, MAX_THRESHOLD)?;
            if below == 0 && coin == Share::NONE {
                return conflict(
                    "threshold 0 without a coin admits no key to any block",
                    "raise the threshold to 1 or the coin above 0",
                );
            }
        }
        check_whole("overflow capacity", self.overflow.capacity, 0, MAX_OVERFLOW)?;
        self.overflow.check_policy(self.multiset)
    }

    fn check_room_in_a_block(&self) -> Result<(), LayoutError> {
        match self.blocks {
            Blocks::Bloom { bits, hashes, hints } => {
                let reserved = self.rule.counter_bits() + hints;
                // At least two bits remain for keys.
                check_range("counter and hints of a block in bits", reserved, 0, bits - 2)?;
                check_range("hashes per key", hashes, 1, self.max_hashes())
            }
            Blocks::Fingerprint { .. } => {
                let used = self.blocks.used_bits();
                let most = FINGERPRINT_BLOCK_BITS.into();
                check_whole("watermark, lists and slots of a block in bits", used, 1, most)
            }
        }
    }

    fn check_combination(&self) -> Result<(), LayoutError> {
        match (self.blocks, self.rule) {
            (Blocks::Fingerprint { .. }, Rule::LeastLoaded | Rule::FirstWithRoom { .. }) => {
                conflict(
                    "a full fingerprint block makes room by itself",
                    "give the rule `KeepLargest`, or Bloom blocks",
                )
            }
            (Blocks::Bloom { .. }, Rule::KeepLargest) => conflict(
                "a Bloom block cannot send a key on that it has stored",
                "give the rule `FirstWithRoom` or `LeastLoaded`, or fingerprint blocks",
            ),
            (Blocks::Fingerprint { .. }, _)
                if matches!(self.candidates, Candidates::Anywhere { .. })
                    || self.candidates.choices() > MAX_FINGERPRINT_SUBTABLES =>
            {
                conflict(
                    "the way of a fingerprint leads through one to four subtables",
                    "give 1 to 4 subtables, or Bloom blocks",
                )
            }
            (Blocks::Fingerprint { .. }, _) if self.budget.is_some() => conflict(
                "a fingerprint block decides by itself what it sends on, whatever that costs",
                "give no budget, or Bloom blocks and the rule `FirstWithRoom`",
            ),
            (_, Rule::FirstWithRoom { .. }) if !self.candidates.proportions().share().is_all() => {
                conflict(
                    "only the least-loaded rule gives a share of the keys a single candidate",
                    "give the share 1, or the rule `LeastLoaded`",
                )
            }
            (_, Rule::LeastLoaded) if matches!(self.candidates, Candidates::Subtables { .. }) => {
                conflict(
                    "the least-loaded rule compares blocks of one table",
                    "give candidates `Anywhere`, or the rule `FirstWithRoom`",
                )
            }
            (_, Rule::LeastLoaded) if self.blocks.hints() > 0 => conflict(
                "the least-loaded rule rejects no key, and hints tell of rejected keys",
                "give 0 hints, or the rule `FirstWithRoom`",
            ),
            (_, Rule::LeastLoaded)
                if self.overflow.capacity > 0 || self.overflow.when_full == WhenFull::Saturate =>
            {
                conflict(
                    "the least-loaded rule rejects no key, so that nothing overflows",
                    "give `Overflow::NONE`, or the rule `FirstWithRoom`",
                )
            }
            (_, Rule::LeastLoaded) if self.budget.is_some() => conflict(
                "the least-loaded rule has no overflow list for keys beyond an access budget",
                "give no budget, or the rule `FirstWithRoom`",
            ),
            (Blocks::Bloom { .. }, _) if self.multiset => conflict(
                "keys cannot be removed from Bloom blocks, whose bits belong to several keys",
                "give fingerprint blocks, or `multiset: false`",
            ),
            _ => Ok(()),
        }
    }
}

impl Overflow {
    fn check_policy(&self, multiset: bool) -> Result<(), LayoutError> {
        match self.when_full {
            WhenFull::Grow { .. } if multiset => conflict(
                "keys cannot be removed from a filter of two parts, where another key may look like the one in the other \
                 part",
                "let a removable filter refuse keys, or build one that grows from the start",
            ),
            WhenFull::Grow { rate_bits } => check_range(
                "bits of a growing part's rate",
                rate_bits.into(),
                1,
                MAX_GROWTH_BITS.into(),
            ),
            WhenFull::Refuse | WhenFull::Saturate => Ok(()),
        }
    }
}

const fn conflict(reason: &'static str, cure: &'static str) -> Result<(), LayoutError> {
    Err(LayoutError::Conflict { reason, cure })
}

/// Rejects a whole number outside `low..=high`.
pub const fn check_whole(
    name: &'static str,
    value: u64,
    low: u64,
    high: u64,
) -> Result<(), LayoutError> {
    if low <= value && value <= high {
        return Ok(());
    }
    let accepted = Accepted::Whole(low, high);
    Err(LayoutError::OutOfRange { name, value: Number::Whole(value), accepted })
}

fn check_range(name: &'static str, value: u32, low: u32, high: u32) -> Result<(), LayoutError> {
    check_whole(name, value.into(), low.into(), high.into())
}

/// Rejects a real number outside `low..=high`, and NaN.
pub fn check_real(name: &'static str, value: f64, low: f64, high: f64) -> Result<(), LayoutError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let accepted = Accepted::Real(low, high);
    Err(LayoutError::OutOfRange { name, value: Number::Real(value), accepted })
}

/// Rejects zero, negative and infinite numbers and NaN.
pub const fn check_positive(name: &'static str, value: f64) -> Result<(), LayoutError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(LayoutError::OutOfRange { name, value: Number::Real(value), accepted: Accepted::Positive })
}
