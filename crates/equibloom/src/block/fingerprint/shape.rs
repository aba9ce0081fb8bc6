//! The division of a block's 512 bits.

use super::FingerprintShape;
use crate::block::fields::{Field, LINE_BYTES, ones};
use crate::block::hints::Hints;
use crate::block::isa::Isa;
use crate::hashing::{KeyHash, scale, scale_in_halves};

/// Position of the list's number in a fingerprint; the remainder is below it.
const LIST_SHIFT: u32 = equibloom_layout::MAX_REMAINDER_BITS;

/// The parts of a block, in order: hints, unary code, high bits, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) hints: Hints,
    pub(super) slots: u32,
    pub(super) lists: u32,
    pub(super) remainder_bits: u32,
    /// Mask of a remainder.
    remainder_mask: u64,
    /// Index of the first byte that belongs to a slot; they extend to the end of the line.
    pub(super) first_byte: u32,
    /// Bit i is set if byte i of the line holds a slot's low byte.
    pub(super) byte_mask: u64,
    /// The unary code.
    pub(super) code: Field,
    /// The bits of all remainders above their bytes.
    pub(super) high_parts: Field,
    /// Whether the shape is the common one: hints, an [early](Field::is_early) code, and at least eight
    /// bytes.
    pub(super) is_common: bool,
}

/// Numbers of equal width, less than eight bits, side by side in the bits that a [window](Isa::window)
/// guarantees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lanes {
    /// Number of lanes.
    pub(super) count: u32,
    pub(super) lowest_bits: u64,
    pub(super) highest_bits: u64,
}

impl Lanes {
    const WINDOW_BITS: u32 = 57;

    /// One for each width. (A static table, so that filters stay small.)
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

/// The stored part of a key: a list, and a remainder within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) list: u32,
    pub(super) remainder: u64,
}

impl Fingerprint {
    /// A fingerprint as the pattern of a reduced key.
    #[inline(always)]
    pub(super) const fn to_pattern(self) -> u64 {
        // A rotation, equal to a shift here: the compiler needs three instructions for a shift.
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

    /// The fingerprint of a key: the list from the high bits of its pattern, the remainder from the low
    /// ones. At least 16 bits remain for at most 256 lists.
    #[inline(always)]
    pub(super) const fn fingerprint(&self, key: KeyHash) -> Fingerprint {
        self.in_list(key, scale(key.pattern_word(0), self.lists as u64))
    }

    /// The same, in a form that the compiler vectorises.
    #[inline(always)]
    pub(super) const fn fingerprint_in_halves(&self, key: KeyHash) -> Fingerprint {
        self.in_list(key, scale_in_halves(key.pattern_word(0), self.lists))
    }

    /// The fingerprint of a key whose list is known.
    #[inline(always)]
    const fn in_list(&self, key: KeyHash, list: u64) -> Fingerprint {
        Fingerprint { list: list as u32, remainder: key.pattern_word(0) & self.remainder_mask }
    }

    /// Whether remainders have a low byte of their own.
    #[inline(always)]
    pub(super) fn has_bytes<I: Isa>(&self, _isa: I) -> bool {
        I::COMMON || self.remainder_bits >= u8::BITS
    }

    /// Number of bits of a remainder above its byte, or all.
    #[inline(always)]
    pub(super) fn high_bits<I: Isa>(&self, isa: I) -> u32 {
        if self.has_bytes(isa) { self.remainder_bits - u8::BITS } else { self.remainder_bits }
    }

    /// The bits of a remainder above its byte, or all.
    #[inline(always)]
    pub(super) fn high_part<I: Isa>(&self, isa: I, remainder: u64) -> u64 {
        if self.has_bytes(isa) { remainder >> u8::BITS } else { remainder }
    }

    /// The field of all bytes.
    #[inline(always)]
    pub(super) const fn bytes(&self) -> Field {
        Field::new(u8::BITS * self.first_byte, u8::BITS * LINE_BYTES)
    }

    /// Number of different fingerprints.
    pub(super) fn fingerprints(&self) -> f64 {
        f64::from(self.lists) * (1_u64 << self.remainder_bits) as f64
    }
}
