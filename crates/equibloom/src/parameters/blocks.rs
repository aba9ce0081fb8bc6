//! Tables of blocks.

use super::{MAX_BLOCK_BITS, MAX_HASHES, MAX_HINTS, MIN_BLOCK_BITS};
use crate::error::{BuildError, check_whole};

/// A table of equal Bloom blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BlockTable {
    /// Number of blocks; any number.
    pub count: u64,
    /// Bits of a block, its load counter included: 64 to 32,768, any number. In memory a block
    /// takes the next multiple of 64.
    pub bits: u32,
    /// Bits one key sets in its block, all distinct.
    pub hashes: u32,
}

impl BlockTable {
    /// Bytes of the whole table, padding included; the largest number if they have none.
    pub const fn bytes(&self) -> u64 {
        let words = self.count.saturating_mul(Self::stride_bits(self.bits) / 64);
        crate::memory::bytes_for(words)
    }

    /// Bits that one block of `bits` occupies in memory: the next multiple of 64.
    pub const fn stride_bits(bits: u32) -> u64 {
        (bits as u64).next_multiple_of(64)
    }

    /// As many blocks of `bits` as fit into `memory_bits`, padding counted.
    ///
    /// ```
    /// use equibloom::BlockTable;
    ///
    /// assert_eq!(BlockTable::filling(10_240, 500, 8)?.count, 20);
    /// assert!(BlockTable::filling(400, 500, 8).is_err());
    /// # Ok::<(), equibloom::BuildError>(())
    /// ```
    pub fn filling(memory_bits: u64, bits: u32, hashes: u32) -> Result<Self, BuildError> {
        check_block_bits(bits)?;
        let block_bits = Self::stride_bits(bits);
        match memory_bits / block_bits {
            0 => Err(BuildError::BlockLargerThanMemory { block_bits, memory_bits }),
            count => Ok(Self { count, bits, hashes }),
        }
    }

    /// Checks size, count and number of hashes; `reserved` bits of each block are not for keys.
    pub(super) fn check(&self, reserved: u32) -> Result<(), BuildError> {
        check_block_bits(self.bits)?;
        check_count(self.count, Self::stride_bits(self.bits))?;
        // Room for two bits at least.
        let most = u64::from(self.bits - 2);
        check_whole("counter and hints of a block in bits", reserved.into(), 0, most)?;
        // More would fill half of the block with one key.
        let most = u64::from(MAX_HASHES.min((self.bits - reserved) / 2));
        check_whole("hashes per key", self.hashes.into(), 1, most)
    }
}

/// A table of blocks of 512 bits, each with slots for fingerprints of keys.
///
/// A fingerprint is one of `lists` × 2^`remainder_bits` numbers; a key that is absent is mistaken for
/// one of the `n` in its block with probability n / (`lists` × 2^`remainder_bits`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FingerprintTable {
    /// Number of blocks; any number.
    pub count: u64,
    /// Keys that a block has room for: 1 to 64.
    pub slots: u32,
    /// Lists that they are divided into: 1 to 256.
    pub lists: u32,
    /// Bits stored of each key beside the list it is in: 1 to 48.
    pub remainder_bits: u32,
    /// Bits of a block that remember whom it turned away: 0 to 64.
    pub hints: u32,
}

impl FingerprintTable {
    /// Bits of every block.
    pub const BLOCK_BITS: u32 = 512;
    /// Most slots of a block.
    pub const MAX_SLOTS: u32 = 64;
    /// Most lists of a block.
    pub const MAX_LISTS: u32 = 256;
    /// Most bits of a remainder.
    pub const MAX_REMAINDER_BITS: u32 = 48;

    /// Bits of a block that are used: hints, lists, slots.
    ///
    /// ```
    /// use equibloom::FingerprintTable;
    ///
    /// let table =
    ///     FingerprintTable { count: 1, slots: 48, lists: 64, remainder_bits: 8, hints: 16 };
    /// assert_eq!(table.used_bits(), 512);
    /// ```
    pub const fn used_bits(&self) -> u64 {
        let slot = self.remainder_bits as u64 + 1;
        self.hints as u64 + self.lists as u64 + self.slots as u64 * slot
    }

    /// Bytes of the whole table.
    pub const fn bytes(&self) -> u64 {
        self.count.saturating_mul(Self::BLOCK_BITS as u64 / 8)
    }

    pub(super) fn check(&self) -> Result<(), BuildError> {
        check_whole("slots of a block", self.slots.into(), 1, Self::MAX_SLOTS.into())?;
        check_whole("lists of a block", self.lists.into(), 1, Self::MAX_LISTS.into())?;
        let most = Self::MAX_REMAINDER_BITS.into();
        check_whole("bits of a remainder", self.remainder_bits.into(), 1, most)?;
        check_hints(self.hints)?;
        let most = Self::BLOCK_BITS.into();
        check_whole("hints, lists and slots of a block in bits", self.used_bits(), 1, most)?;
        check_count(self.count, most)
    }
}

pub(super) fn check_block_bits(bits: u32) -> Result<(), BuildError> {
    check_whole("block bits", bits.into(), MIN_BLOCK_BITS.into(), MAX_BLOCK_BITS.into())
}

fn check_count(count: u64, bits: u64) -> Result<(), BuildError> {
    check_whole("block count", count, 1, u64::MAX)?;
    if count.checked_mul(bits).is_none() {
        return Err(BuildError::TooLarge { count, bits });
    }
    Ok(())
}

pub(super) fn check_hints(hints: u32) -> Result<(), BuildError> {
    check_whole("hints of a block", hints.into(), 0, MAX_HINTS.into())
}
