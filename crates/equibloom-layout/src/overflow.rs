//! The overflow list, for keys that no block admits.

use crate::design::bytes_of_bits;

/// The overflow list's capacity, and what happens when it is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Overflow {
    /// Maximum number of entries.
    pub capacity: u64,
    /// What happens to further keys when the list is full.
    pub when_full: WhenFull,
}

/// What happens to a key that no block admits when the overflow list is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum WhenFull {
    /// The insert fails and changes nothing.
    Refuse,
    /// The key is stored all the same, in the same memory, and the rate rises about as that of a Bloom filter
    /// does: in a candidate block past its threshold, or in a full fingerprint block whose remainders lose
    /// some bits (the filter is *overloaded*). In removable filters nothing can be shortened: there the
    /// list grows.
    Saturate,
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
