//! The overflow list, for keys that no block admits.

use crate::design::bytes_of_bits;

/// The overflow list's capacity, and what happens when it is full.
///
/// ```
/// use equibloom_layout::{Overflow, WhenFull};
///
/// let overflow = Overflow { capacity: 500, when_full: WhenFull::Refuse };
/// assert_eq!(overflow.slots(), 626);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Overflow {
    /// Maximum number of entries.
    pub capacity: u64,
    /// What happens to keys beyond the plan.
    pub when_full: WhenFull,
}

/// What happens to keys beyond the plan.
///
/// ```
/// use equibloom_layout::WhenFull;
///
/// assert!(WhenFull::Refuse.refuses() && !WhenFull::Saturate.refuses());
/// assert!(WhenFull::Grow { rate_bits: 11 }.growth_rate() < 0.0005);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum WhenFull {
    /// An insert fails and changes nothing if no block admits the key and the overflow list is full.
    Refuse,
    /// Such a key is stored all the same, in the same memory, and the rate rises about as that of a Bloom filter
    /// does: in a candidate block past its threshold, or in a full fingerprint block whose remainders lose
    /// some bits (the filter is *overloaded*). In removable filters nothing can be shortened, nor in a filter that is a
    /// list alone: there the list grows. Asked for it by name, the planner gives it to neither.
    Saturate,
    /// The filter keeps its rate: when it has as many elements as it is planned for keys, or would refuse one, new
    /// keys go to a second part, a table that grows with them.
    Grow {
        /// The table has a false-positive rate of at most 2⁻ᵇ for these bits `b`, whatever the number of keys; the
        /// filter's rate is the sum of both parts' rates. At most [`MAX_GROWTH_BITS`].
        rate_bits: u8,
    },
}

/// Most bits of a growing part's rate.
pub const MAX_GROWTH_BITS: u8 = 39;

impl WhenFull {
    /// The policy of a filter that grows and keeps this rate: the largest power of two that is at most a sixteenth of
    /// it is the growing part's. `None` below about 2⁻³⁵.
    ///
    /// ```
    /// use equibloom_layout::WhenFull;
    ///
    /// assert_eq!(WhenFull::grow(0.01), Some(WhenFull::Grow { rate_bits: 11 }));
    /// assert_eq!(WhenFull::grow(1e-12), None);
    /// ```
    pub fn grow(rate: f64) -> Option<Self> {
        let share = rate / 16.0;
        let rate_bits = (1..=MAX_GROWTH_BITS).find(|&bits| growth_rate(bits) <= share)?;
        Some(Self::Grow { rate_bits })
    }

    /// The rate of the growing part; 0 if there is none.
    pub fn growth_rate(self) -> f64 {
        match self {
            Self::Refuse | Self::Saturate => 0.0,
            Self::Grow { rate_bits } => growth_rate(rate_bits),
        }
    }

    /// Whether the planned part keeps its size and refuses what has no room there.
    pub const fn refuses(self) -> bool {
        matches!(self, Self::Refuse | Self::Grow { .. })
    }

    /// Whether keys beyond the plan go to a part that grows.
    pub const fn grows(self) -> bool {
        matches!(self, Self::Grow { .. })
    }
}

/// 2⁻ᵇ, for at most 64 bits.
fn growth_rate(bits: u8) -> f64 {
    1.0 / (1_u128 << bits.min(64)) as f64
}

impl Overflow {
    /// No list.
    pub const NONE: Self = Self { capacity: 0, when_full: WhenFull::Refuse };

    /// 64-bit slots of the list: a quarter more than entries, and at least one free.
    pub const fn slots(&self) -> u64 {
        match self.capacity {
            0 => 0,
            capacity => capacity.saturating_add(capacity / 4 + 1),
        }
    }

    /// Bytes of the list: about 80 bits per entry, in whole cache lines.
    pub const fn bytes(&self) -> u64 {
        bytes_of_bits(self.slots().saturating_mul(64))
    }
}
