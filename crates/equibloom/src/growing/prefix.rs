//! Strings of hash bits.

use core::ops::Range;

use crate::hashing::KeyHash;

/// The longest string in bits.
const MAX_LENGTH: u32 = u128::BITS - 1;

/// A string of bits: a key's hash, or as much of its beginning as is stored. The bits from the highest on, then
/// a one, then zeros: the position of the lowest one is the length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Prefix(u128);

impl Prefix {
    /// All that is known of a key.
    #[inline(always)]
    pub(super) fn of_key(key: KeyHash) -> Self {
        Self(u128::from(key) | 1)
    }

    /// The string that stands in list number `list` of `2^list_bits`, in a field of `width` bits: its remainder,
    /// a one, and zeros.
    pub(super) fn from_field(list: u64, list_bits: u32, field: u64, width: u32) -> Self {
        let list = u128::from(list) << 1 << (MAX_LENGTH - list_bits);
        Self(list | u128::from(field) << (u128::BITS - width) >> list_bits)
    }

    /// The coded string; `None` if it has no end.
    #[cfg(feature = "file")]
    pub(super) const fn from_bits(bits: u128) -> Option<Self> {
        if bits == 0 { None } else { Some(Self(bits)) }
    }

    /// The coded string.
    pub(super) const fn to_bits(self) -> u128 {
        self.0
    }

    /// All strings of some lists, of which there are `2^list_bits`.
    pub(super) fn range(list_bits: u32, lists: &Range<u64>) -> Range<Self> {
        // Only the string of no bits begins at or after the last list's end.
        let bound = |list: u64| u128::from(list).checked_shl(u128::BITS - list_bits);
        let end = lists.end >> list_bits == 0;
        let end = if end { bound(lists.end) } else { None };
        Self(bound(lists.start).unwrap_or(0))..Self(end.unwrap_or(u128::MAX))
    }

    /// Number of bits.
    #[inline(always)]
    pub(super) const fn length(self) -> u32 {
        MAX_LENGTH - self.0.trailing_zeros()
    }

    /// The first 64 bits, padded with the code of the end.
    #[inline(always)]
    pub(super) const fn high(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// Its list among `2^list_bits` (below 2⁶³). The string has at least so many bits.
    #[inline(always)]
    pub(super) const fn list(self, list_bits: u32) -> u64 {
        self.high() >> 1 >> (63 - list_bits)
    }

    /// The `width` bits after the first `list_bits`.
    #[inline(always)]
    pub(super) const fn window(self, list_bits: u32, width: u32) -> u64 {
        let after = self.high() << list_bits | self.0 as u64 >> 1 >> (63 - list_bits);
        after >> (64 - width)
    }

    /// The field of `width` bits for this string's remainder, cut off if it does not fit.
    #[inline(always)]
    pub(super) const fn field(self, list_bits: u32, width: u32) -> u64 {
        let is_cut = self.0 << (list_bits + width) != 0;
        self.window(list_bits, width) | is_cut as u64
    }

    /// The beginning of this length, if it is shorter.
    pub(super) const fn truncated(self, length: u32) -> Self {
        if length >= self.length() {
            return self;
        }
        let end = 1 << (MAX_LENGTH - length);
        Self(self.0 & !(end - 1) | end)
    }

    /// The string without its first `bits` bits. It has more than these.
    pub(super) const fn after(self, bits: u32) -> Self {
        Self(self.0 << bits)
    }

    /// This string and a zero, this string and a one. It has fewer bits than [`MAX_LENGTH`].
    pub(super) const fn children(self) -> [Self; 2] {
        let end = self.0 & self.0.wrapping_neg();
        [Self(self.0 ^ end | end >> 1), Self(self.0 | end >> 1)]
    }

    /// Calls `visit` for the string, or, if it is shorter than `length`, for all continuations of that length.
    /// Together they stand for the same keys.
    pub(super) fn extended(self, length: u32, visit: &mut impl FnMut(Self)) {
        if self.length() >= length {
            visit(self);
        } else {
            self.children().into_iter().for_each(|child| child.extended(length, visit));
        }
    }
}

/// Whether the string in a field is a beginning of the bits of `window`.
#[inline(always)]
pub(super) const fn field_matches(field: u64, window: u64) -> bool {
    // The field's lowest one and the zeros below it are no part of the string.
    let end = field ^ field.wrapping_sub(1);
    (field ^ window) & !end == 0
}

#[cfg(test)]
mod tests;
