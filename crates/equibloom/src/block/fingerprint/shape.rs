//! How the 512 bits of a block are divided.

use super::FingerprintShape;
use crate::block::fields::{Field, LINE_BYTES, ones};
use crate::block::hints::Hints;
use crate::block::isa::Isa;
use crate::hashing::{KeyHash, scale, scale_in_halves};

/// Where the list's number stands in a fingerprint; the remainder is below it.
const LIST_SHIFT: u32 = equibloom_layout::MAX_REMAINDER_BITS;

/// The parts of every block, in the order they stand in it: hints, unary code, high bits, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) hints: Hints,
    pub(super) slots: u32,
    pub(super) lists: u32,
    pub(super) remainder_bits: u32,
    /// Ones in as many bits.
    remainder_mask: u64,
    /// The first of the bytes, which are the last ones of the line.
    pub(super) first_byte: u32,
    /// A one for each byte of the line that is one of them.
    pub(super) byte_mask: u64,
    /// The unary code.
    pub(super) code: Field,
    /// The bits of all remainders that are not in bytes.
    pub(super) high_parts: Field,
    /// Whether it has hints, an early code, and bytes, eight of them at least.
    pub(super) is_common: bool,
}

/// Numbers of equal width, less than eight bits, side by side in as many bits of a word as every
/// [window](Isa::window) has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lanes {
    /// How many there are.
    pub(super) count: u32,
    pub(super) lowest_bits: u64,
    pub(super) highest_bits: u64,
}

impl Lanes {
    const WINDOW_BITS: u32 = 57;

    /// For each width. (Not in the shape: every filter would be larger by it.)
    const ALL: [Self; u8::BITS as usize] = {
        let mut all = [Self { count: 0, lowest_bits: 0, highest_bits: 0 }; u8::BITS as usize];
        let mut width = 1;
        while width < u8::BITS {
            all[width as usize] = Self::new(width);
            width += 1;
        }
        all
    };

    const fn new(width: u32) -> Self {
        let count = Self::WINDOW_BITS / width;
        let (mut lowest_bits, mut lane) = (0, 0);
        while lane < count {
            lowest_bits |= 1 << (lane * width);
            lane += 1;
        }
        Self { count, lowest_bits, highest_bits: lowest_bits << (width - 1) }
    }

    #[inline(always)]
    pub(super) const fn of(width: u32) -> &'static Self {
        &Self::ALL[width as usize % Self::ALL.len()]
    }
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
        // Turned and not shifted, which is the same: the compiler makes three instructions of a shift.
        (self.list as u64).rotate_left(LIST_SHIFT) | self.remainder
    }

    #[inline(always)]
    pub(super) const fn of(key: KeyHash) -> Self {
        let pattern = key.pattern_word(0);
        Self { list: (pattern >> LIST_SHIFT) as u32, remainder: pattern & ones(LIST_SHIFT) }
    }
}

impl Shape {
    pub(super) fn new(shape: &FingerprintShape) -> Self {
        let &FingerprintShape { slots, lists, remainder_bits, hints } = shape;
        let hints = Hints::new(0, hints);
        let code = Field::new(hints.end(), hints.end() + lists + slots);
        let has_bytes = remainder_bits >= u8::BITS;
        let high_bits = if has_bytes { remainder_bits - u8::BITS } else { remainder_bits };
        Self {
            hints,
            slots,
            lists,
            remainder_bits,
            remainder_mask: ones(remainder_bits),
            first_byte: LINE_BYTES - slots,
            byte_mask: !ones(LINE_BYTES - slots),
            code,
            high_parts: Field::new(code.end, code.end + slots * high_bits),
            is_common: hints.count() > 0 && code.is_early() && has_bytes && slots >= 8,
        }
    }

    /// The fingerprint of a key: the list from the high bits of its pattern, the remainder from the
    /// low ones. At least 16 bits are left for at most 256 lists.
    #[inline(always)]
    pub(super) const fn fingerprint(&self, key: KeyHash) -> Fingerprint {
        self.in_list(key, scale(key.pattern_word(0), self.lists as u64))
    }

    /// The same, which the compiler makes of several keys at once.
    #[inline(always)]
    pub(super) const fn fingerprint_in_halves(&self, key: KeyHash) -> Fingerprint {
        self.in_list(key, scale_in_halves(key.pattern_word(0), self.lists))
    }

    /// The fingerprint of a key whose list is known.
    #[inline(always)]
    const fn in_list(&self, key: KeyHash, list: u64) -> Fingerprint {
        Fingerprint { list: list as u32, remainder: key.pattern_word(0) & self.remainder_mask }
    }

    /// Whether the lowest eight bits of every remainder are a byte of their own.
    #[inline(always)]
    pub(super) fn has_bytes<I: Isa>(&self, _isa: I) -> bool {
        I::COMMON || self.remainder_bits >= u8::BITS
    }

    /// How many bits of a remainder are not in a byte: those above it, or all.
    #[inline(always)]
    pub(super) fn high_bits<I: Isa>(&self, isa: I) -> u32 {
        if self.has_bytes(isa) { self.remainder_bits - u8::BITS } else { self.remainder_bits }
    }

    /// Those bits of a remainder.
    #[inline(always)]
    pub(super) fn high_part<I: Isa>(&self, isa: I, remainder: u64) -> u64 {
        if self.has_bytes(isa) { remainder >> u8::BITS } else { remainder }
    }

    /// All bytes, as bits.
    #[inline(always)]
    pub(super) const fn bytes(&self) -> Field {
        Field::new(u8::BITS * self.first_byte, u8::BITS * LINE_BYTES)
    }

    /// Number of different fingerprints.
    pub(super) fn fingerprints(&self) -> f64 {
        f64::from(self.lists) * (1_u64 << self.remainder_bits) as f64
    }
}
