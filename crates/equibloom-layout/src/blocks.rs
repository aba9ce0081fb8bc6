//! Block formats.

/// Bits of a fingerprint block: a cache line.
pub const FINGERPRINT_BLOCK_BITS: u32 = 512;

/// Bits of a fingerprint block's watermark.
pub const WATERMARK_BITS: u32 = 8;

/// The format of all blocks of a filter. Their number is part of the [candidates](crate::Candidates).
///
/// ```
/// use equibloom_layout::Blocks;
///
/// let bits = Blocks::bloom(500, 11).with_hints(16);
/// assert_eq!((bits.bits(), bits.stride_bits(), bits.hashes()), (500, 512, 11));
/// let fingerprints = Blocks::Fingerprint { slots: 36, lists: 64, remainder_bits: 11 };
/// assert_eq!((fingerprints.bits(), fingerprints.hashes()), (512, 0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "kebab-case")
)]
pub enum Blocks {
    /// A small Bloom filter: a key sets a few bits.
    Bloom {
        /// Bits of a block, load counter and hints included: any number from 4 to 32,768. In memory a
        /// block takes the next multiple of 64.
        bits: u32,
        /// Distinct bits set per key.
        hashes: u32,
        /// Hint bits of a block. A key that the block rejects sets one of them, and a lookup continues only
        /// if its own hint is set. 0 is the papers' rule, by the load.
        hints: u32,
    },
    /// A cache line of fingerprints: each is one of `lists` × 2^`remainder_bits` numbers. An absent key
    /// matches one of the `n` in its block with probability n / (`lists` × 2^`remainder_bits`). The last
    /// byte is the block's watermark: see [`Rule::KeepLargest`](crate::Rule::KeepLargest).
    Fingerprint {
        /// Maximum number of fingerprints in a block.
        slots: u32,
        /// Number of lists that the fingerprints are divided into.
        lists: u32,
        /// Bits stored per key, besides its list.
        remainder_bits: u32,
    },
}

impl Blocks {
    /// Bloom blocks without hints.
    pub const fn bloom(bits: u32, hashes: u32) -> Self {
        Self::Bloom { bits, hashes, hints: 0 }
    }

    /// Bits of a block.
    pub const fn bits(&self) -> u32 {
        match self {
            Self::Bloom { bits, .. } => *bits,
            Self::Fingerprint { .. } => FINGERPRINT_BLOCK_BITS,
        }
    }

    /// Bits that a block occupies in memory: the next multiple of 64.
    pub const fn stride_bits(&self) -> u64 {
        (self.bits() as u64).next_multiple_of(64)
    }

    /// Bits set per key; 0 for fingerprint blocks.
    pub const fn hashes(&self) -> u32 {
        match self {
            Self::Bloom { hashes, .. } => *hashes,
            Self::Fingerprint { .. } => 0,
        }
    }

    /// Hint bits of a block; 0 for fingerprint blocks.
    pub const fn hints(&self) -> u32 {
        match self {
            Self::Bloom { hints, .. } => *hints,
            Self::Fingerprint { .. } => 0,
        }
    }

    /// The same blocks with another number of hint bits; no effect on fingerprint blocks.
    #[must_use]
    pub const fn with_hints(mut self, number: u32) -> Self {
        if let Self::Bloom { hints, .. } = &mut self {
            *hints = number;
        }
        self
    }

    /// The same blocks with another number of bits set per key; no effect on fingerprint blocks.
    #[must_use]
    pub const fn with_hashes(mut self, number: u32) -> Self {
        if let Self::Bloom { hashes, .. } = &mut self {
            *hashes = number;
        }
        self
    }

    /// Bits of a fingerprint block in use: watermark, lists and slots; of a Bloom block all.
    ///
    /// ```
    /// use equibloom_layout::Blocks;
    ///
    /// let blocks = Blocks::Fingerprint { slots: 48, lists: 72, remainder_bits: 8 };
    /// assert_eq!(blocks.used_bits(), 512);
    /// ```
    pub const fn used_bits(&self) -> u64 {
        match *self {
            Self::Bloom { bits, .. } => bits as u64,
            Self::Fingerprint { slots, lists, remainder_bits } => {
                let slots = slots as u64 * (remainder_bits as u64 + 1);
                slots.saturating_add(WATERMARK_BITS as u64 + lists as u64)
            }
        }
    }
}
