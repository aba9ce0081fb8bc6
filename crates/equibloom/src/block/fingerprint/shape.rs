//! How the 512 bits of a block are divided.

use super::fields::{LINE_BYTES, ones};
use crate::block::hints::Hints;
use crate::hashing::{KeyHash, scale};
use crate::parameters::FingerprintTable;

/// Where the list's number stands in a fingerprint; the remainder is below it.
const LIST_SHIFT: u32 = FingerprintTable::MAX_REMAINDER_BITS;

/// The parts of every block, in the order they stand in it: hints, unary code, bit planes, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) hints: Hints,
    pub(super) slots: u32,
    pub(super) lists: u32,
    pub(super) remainder_bits: u32,
}

/// What a block keeps of a key: one of its lists, and a remainder to be found there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) list: u32,
    pub(super) remainder: u64,
}

impl Fingerprint {
    /// A fingerprint as the pattern of a reduced key.
    #[inline(always)]
    pub(super) const fn to_pattern(self) -> u64 {
        (self.list as u64) << LIST_SHIFT | self.remainder
    }

    #[inline(always)]
    pub(super) const fn of(key: KeyHash) -> Self {
        let pattern = key.pattern_word(0);
        Self { list: (pattern >> LIST_SHIFT) as u32, remainder: pattern & ones(LIST_SHIFT) }
    }
}

impl Shape {
    pub(super) const fn new(table: &FingerprintTable) -> Self {
        Self {
            hints: Hints::new(0, table.hints),
            slots: table.slots,
            lists: table.lists,
            remainder_bits: table.remainder_bits,
        }
    }

    /// The fingerprint of a key: the list from the high bits of its pattern, the remainder from the
    /// low ones. At least 16 bits are left for at most 256 lists.
    #[inline(always)]
    pub(super) const fn fingerprint(&self, key: KeyHash) -> Fingerprint {
        let pattern = key.pattern_word(0);
        Fingerprint {
            list: scale(pattern, self.lists as u64) as u32,
            remainder: pattern & ones(self.remainder_bits),
        }
    }

    /// First bit of the unary code.
    #[inline(always)]
    pub(super) const fn code_start(&self) -> u32 {
        self.hints.end()
    }

    /// First bit behind the unary code, where the planes begin.
    #[inline(always)]
    pub(super) const fn code_end(&self) -> u32 {
        self.code_start() + self.lists + self.slots
    }

    /// Whether the lowest eight bits of every remainder are a byte of their own.
    #[inline(always)]
    pub(super) const fn has_bytes(&self) -> bool {
        self.remainder_bits >= u8::BITS
    }

    /// The bits of a remainder that are in planes: those above the byte, or all.
    #[inline(always)]
    pub(super) const fn in_planes(&self, remainder: u64) -> u64 {
        if self.has_bytes() { remainder >> u8::BITS } else { remainder }
    }

    /// How many planes there are.
    #[inline(always)]
    pub(super) const fn planes(&self) -> u32 {
        if self.has_bytes() { self.remainder_bits - u8::BITS } else { self.remainder_bits }
    }

    /// First bit of a plane.
    #[inline(always)]
    pub(super) const fn plane(&self, plane: u32) -> u32 {
        self.code_end() + plane * self.slots
    }

    /// The first of the bytes, which are the last ones of the line.
    #[inline(always)]
    pub(super) const fn first_byte(&self) -> u32 {
        LINE_BYTES - self.slots
    }

    /// Number of different fingerprints.
    pub(super) fn fingerprints(&self) -> f64 {
        f64::from(self.lists) * (1_u64 << self.remainder_bits) as f64
    }
}
