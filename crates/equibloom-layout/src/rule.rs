//! The rule that chooses among a key's candidates.

use crate::share::Share;

/// Which candidate block stores a key.
///
/// ```
/// use equibloom_layout::{Rule, Share};
///
/// let half = Rule::FirstWithRoom { below: 27, coin: Share::new(0.5)? };
/// assert_eq!((half.capacity(), Rule::below(27).capacity()), (Some(28), Some(27)));
/// # Ok::<(), equibloom_layout::LayoutError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "kebab-case")
)]
pub enum Rule {
    /// The one with the smallest load, the first of equals. No key is rejected.
    LeastLoaded,
    /// The first that has room. A key that all its candidates reject goes to the overflow list.
    FirstWithRoom {
        /// A block below this load (the papers' `h`) admits every key.
        below: u32,
        /// A block at exactly that load admits this share of the keys (the papers' `p`); above it, none.
        coin: Share,
    },
    /// The first, in which a full block of fingerprints keeps the largest and sends the smallest on to the
    /// next subtable, at last to the overflow list. The block's watermark is the largest byte that it has
    /// sent on: a lookup above it ends. What a filter holds depends on its keys alone, not on their order.
    KeepLargest,
}

impl Rule {
    /// The first block below this load.
    pub const fn below(below: u32) -> Self {
        Self::FirstWithRoom { below, coin: Share::NONE }
    }

    /// Maximum number of keys in a block, if the rule limits it.
    pub const fn capacity(&self) -> Option<u32> {
        match *self {
            Self::LeastLoaded | Self::KeepLargest => None,
            // Saturating: a threshold that `check` rejects must not overflow here.
            Self::FirstWithRoom { below, coin } => {
                Some(below.saturating_add((coin.units() > 0) as u32))
            }
        }
    }

    /// Width of the load counter in a Bloom block: ⌈log2(h + 2)⌉ bits count up to h + 1. The least-loaded
    /// rule counts set bits instead; fingerprint blocks count their slots.
    ///
    /// ```
    /// use equibloom_layout::Rule;
    ///
    /// let bits = [0, 1, 2, 6, 7, 14, 15].map(|below| Rule::below(below).counter_bits());
    /// assert_eq!(bits, [1, 2, 2, 3, 4, 4, 5]);
    /// assert_eq!(Rule::LeastLoaded.counter_bits(), 0);
    /// ```
    pub const fn counter_bits(&self) -> u32 {
        match self {
            Self::LeastLoaded | Self::KeepLargest => 0,
            Self::FirstWithRoom { below, .. } => {
                u32::BITS - below.saturating_add(1).leading_zeros()
            }
        }
    }
}
