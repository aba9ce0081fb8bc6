//! Blocks of fingerprints that keep the largest.
//!
//! A block is one cache line:
//!
//! ```text
//!  bit 0 …                                  byte 63 − slots …          63
//! ┌───────────────────────────┬─────────────┬────────────────────────┬───────────┐
//! │ unary code: lists + slots │ high parts  │ one byte for each slot │ watermark │
//! └───────────────────────────┴─────────────┴────────────────────────┴───────────┘
//! ```
//!
//! An [`Entry`] is the number of a list and a remainder. The unary code has, for each list in turn, a one
//! for each of its entries, and a zero. So the one of slot `s` in list `l` is bit `l + s` of the code, with
//! `s` ones before it, and the zero of list `l` has `l` zeros before it. Slots have the order of list, byte
//! and high part, so that a block depends only on its entries.
//!
//! The low byte of every remainder is a byte of the line; the bits above it are in a field of their own. A
//! lookup compares all bytes at once and looks closer only if one is equal: for an absent key, mostly none
//! is. Remainders of less than eight bits have no bytes; there the lookup scans its list.
//!
//! A full block sends its smallest entry on, by byte, then list, then high part. The *watermark* is the
//! largest byte that it has sent on; a lookup above it ends.
//!
//! Any 512 bits can be read: a code with too few zeros or too many ones gives lists that are empty or end
//! early.

mod arrival;
mod shortened;
#[cfg(test)]
mod tests;

pub(crate) use arrival::{Arrival, Smallest};
pub(crate) use shortened::{is_shortened, old_watermark};

use super::code::UnaryCode;
use super::fields::{Field, LINE_BYTES, ones, window};
use super::isa::{ANY, Isa, Target};
use crate::hashing::{KeyHash, scale};
use crate::storage::Line;

/// The byte of the line that is the watermark: the last one, at the same place in all shapes.
const WATERMARK_BYTE: u32 = LINE_BYTES - 1;
const WATERMARK_WORD: usize = 7;

/// A fingerprint. Smaller entries are sent on first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    byte: u8,
    list: u32,
    high: u64,
}

impl Entry {
    /// The low byte of the remainder, or all of a shorter one.
    #[inline(always)]
    pub(crate) const fn byte(self) -> u8 {
        self.byte
    }

    /// The key that stands for the entry after `block` has sent it on.
    #[inline(always)]
    pub(crate) const fn onward(self, block: u64) -> KeyHash {
        KeyHash::onward(block, (self.list as u64) << 56 | self.high << 8 | self.byte as u64)
    }
}

/// Positions of the parts of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FingerprintShape {
    slots: u32,
    lists: u32,
    code: UnaryCode,
    /// The remainders' bits above the byte; all bits of remainders without bytes.
    high_parts: Field,
    high_bits: u32,
    /// Where the high part of byte 0 would begin, if it were a slot's; modulo 2³².
    high_origin: u32,
    /// The byte of the line that is slot 0's; 0 without bytes.
    first_byte: u32,
    /// The slots' bytes, one bit for each byte of the line.
    byte_mask: u64,
}

/// What one look at the first block tells of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glance {
    /// The block holds it.
    Holds,
    /// The block does not hold it and has not sent it on.
    Lacks,
    /// The block does not hold it, but may have sent it on.
    SentOn,
    /// There are several similar entries.
    Unclear,
}

impl FingerprintShape {
    /// The shape of checked blocks.
    pub(crate) const fn new(slots: u32, lists: u32, remainder_bits: u32) -> Self {
        let has_bytes = remainder_bits >= u8::BITS;
        let high_bits = if has_bytes { remainder_bits - u8::BITS } else { remainder_bits };
        let code = UnaryCode::new(lists + slots);
        let first_byte = if has_bytes { WATERMARK_BYTE - slots } else { 0 };
        Self {
            slots,
            lists,
            code,
            high_parts: Field::new(code.end(), code.end() + slots * high_bits),
            high_bits,
            high_origin: code.end().wrapping_sub(first_byte * high_bits),
            first_byte,
            byte_mask: if has_bytes { ones(WATERMARK_BYTE) & !ones(first_byte) } else { 0 },
        }
    }

    /// Whether the shape has specialised code: at least eight bytes, and a code within two words.
    pub(crate) const fn is_common(&self) -> bool {
        self.slots >= 8 && self.byte_mask != 0 && self.code.is_short()
    }

    #[inline(always)]
    const fn has_bytes<T: Target>(&self) -> bool {
        T::COMMON || self.byte_mask != 0
    }

    pub(crate) const fn slots(&self) -> u32 {
        self.slots
    }

    /// Number of different entries.
    pub(crate) fn entries_in_all(&self) -> f64 {
        f64::from(self.lists) * self.byte_values() * self.high_values()
    }

    /// Number of different bytes.
    pub(crate) fn byte_values(&self) -> f64 {
        let bits = if self.byte_mask != 0 { u8::BITS } else { self.high_bits };
        (1_u64 << bits) as f64
    }

    fn high_values(&self) -> f64 {
        if self.byte_mask != 0 { (1_u64 << self.high_bits) as f64 } else { 1.0 }
    }

    /// The byte of a key.
    #[inline(always)]
    pub(crate) const fn byte_of<T: Target>(&self, key: KeyHash) -> u8 {
        let byte = key.candidate(0) as u8;
        if self.has_bytes::<T>() { byte } else { byte & ones(self.high_bits) as u8 }
    }

    /// The entry of a key.
    #[inline(always)]
    pub(crate) fn entry_of<T: Target>(&self, t: T, key: KeyHash) -> Entry {
        let pattern = key.pattern_word(0);
        let high = if self.has_bytes::<T>() { t.lowest(pattern, self.high_bits) } else { 0 };
        Entry { byte: self.byte_of::<T>(key), list: self.list_of(key), high }
    }

    #[inline(always)]
    const fn list_of(&self, key: KeyHash) -> u32 {
        scale(key.pattern_word(0), self.lists as u64) as u32
    }

    /// What a slot stores of the entry in the field of high parts.
    #[inline(always)]
    const fn high_part<T: Target>(&self, entry: Entry) -> u64 {
        if self.has_bytes::<T>() { entry.high } else { entry.byte as u64 }
    }

    /// What one look at the block tells of a key.
    #[inline(always)]
    pub(crate) fn glance<T: Target>(&self, t: T, line: &Line, key: KeyHash) -> Glance {
        let byte = self.byte_of::<T>(key);
        let equal = self.equal_bytes(t, line, byte);
        if !self.has_bytes::<T>() {
            if self.holds(t, line, self.entry_of(t, key)) {
                return Glance::Holds;
            }
        } else if equal != 0 {
            let (list, high) = (self.list_of(key), key.pattern_word(0));
            let code = self.code_window(t, line, list);
            let similar = self.slots_of(equal) & code;
            if similar != 0 {
                if self.first_holds(t, line, similar, code, list, high) {
                    return Glance::Holds;
                }
                if similar & (similar - 1) != 0 {
                    return Glance::Unclear;
                }
            }
        }
        if self.may_have_sent_on(t, line, byte) { Glance::SentOn } else { Glance::Lacks }
    }

    /// Whether a block may hold entries with this byte, which a comparison of all bytes tells.
    #[inline(always)]
    pub(crate) fn may_hold<T: Target>(&self, t: T, line: &Line, byte: u8) -> bool {
        !self.has_bytes::<T>() || self.equal_bytes(t, line, byte) != 0
    }

    /// Whether an entry that the block does not hold may have been sent on, as far as its byte tells.
    #[inline(always)]
    pub(crate) fn may_have_sent_on<T: Target>(&self, t: T, line: &Line, byte: u8) -> bool {
        byte <= t.byte(line, WATERMARK_BYTE)
    }

    /// Whether an entry that the block does not hold may have been sent on.
    #[inline(always)]
    pub(crate) fn sends_on<T: Target>(&self, t: T, line: &Line, byte: u8, multiset: bool) -> bool {
        // A watermark of 0 says that byte 0 was sent on, or nothing; then a set's block is not full.
        byte <= t.byte(line, WATERMARK_BYTE) && (byte != 0 || multiset || self.is_full(t, line))
    }

    /// Number of entries.
    #[inline(always)]
    pub(crate) fn load<T: Target>(&self, t: T, line: &Line) -> u32 {
        self.code.ones(t, line).min(self.slots)
    }

    #[inline(always)]
    pub(crate) fn is_full<T: Target>(&self, t: T, line: &Line) -> bool {
        self.code.ones(t, line) >= self.slots
    }

    /// Whether the block holds the entry.
    #[inline(always)]
    pub(crate) fn holds<T: Target>(&self, t: T, line: &Line, entry: Entry) -> bool {
        if !self.has_bytes::<T>() {
            return self.scan(t, line, entry).is_some_and(|(_, is_there)| is_there);
        }
        // Slot `s` of list `l` has its one at bit `l + s` of the code, which excludes half of the slots. (Slots
        // with bytes number at most 56, which fit into one window.)
        let code = self.code_window(t, line, entry.list);
        let similar = self.slots_of(self.equal_bytes(t, line, entry.byte)) & code;
        if similar == 0 {
            return false;
        }
        // Mostly there is one.
        let others = similar & (similar - 1);
        self.first_holds(t, line, similar, code, entry.list, entry.high)
            || (others != 0 && self.any_holds(line, others, code, entry))
    }

    /// Whether the first of these slots, with an equal byte and a one at its place in the code from the list's
    /// first bit on, holds the entry of this list with the lowest bits of `high`.
    #[inline(always)]
    fn first_holds<T: Target>(
        &self,
        t: T,
        line: &Line,
        slots: u64,
        code: u64,
        list: u32,
        high: u64,
    ) -> bool {
        // Slot `s` of the list is preceded by `s` ones. Without those before the list's first bit, it is preceded by
        // as many fewer, so that as many zeros are among the `s` bits from there on.
        let up_to_first = slots ^ (slots - 1);
        let zeros = (!code & up_to_first).count_ones();
        zeros == self.code.ones_before(t, line, list)
            && (self.high_bits == 0 || self.has_high_part(t, line, slots.trailing_zeros(), high))
    }

    /// Whether one of these slots does.
    #[cold]
    #[inline(never)]
    fn any_holds(&self, line: &Line, mut slots: u64, code: u64, entry: Entry) -> bool {
        while slots != 0 {
            if self.first_holds(ANY, line, slots, code, entry.list, entry.high) {
                return true;
            }
            slots &= slots - 1;
        }
        false
    }

    /// Every entry of the block in order.
    pub(crate) fn entries<'a>(&'a self, line: &'a Line) -> impl Iterator<Item = Entry> + 'a {
        let code = (0..self.code.end()).map(|at| window(line, at) & 1 == 1);
        let mut list = 0;
        let lists = code.filter_map(move |is_entry| {
            list += u32::from(!is_entry);
            is_entry.then_some(list)
        });
        let slots = (0..self.slots).zip(lists).filter(|&(_, list)| list < self.lists);
        slots.map(|(slot, list)| self.entry_at(ANY, line, slot, list))
    }

    /// Number of different entries: equal ones are neighbours.
    pub(crate) fn different(&self, line: &Line) -> u32 {
        let mut last = None;
        self.entries(line).filter(|&entry| last.replace(entry) != Some(entry)).count() as u32
    }

    /// Number of copies of an entry.
    pub(crate) fn count(&self, line: &Line, entry: Entry) -> u32 {
        let Some((_, end, run)) = self.end_of_list(ANY, line, entry.list) else { return 0 };
        let equal = |&slot: &u32| self.entry_at(ANY, line, slot, entry.list) == entry;
        (end - run..end).filter(equal).count() as u32
    }

    /// The entry in a slot of a list.
    #[inline(always)]
    fn entry_at<T: Target>(&self, t: T, line: &Line, slot: u32, list: u32) -> Entry {
        let high = self.high_part_at(t, line, slot);
        if !self.has_bytes::<T>() {
            return Entry { byte: high as u8, list, high: 0 };
        }
        Entry { byte: t.byte(line, self.first_byte + slot), list, high }
    }

    /// The slots' bytes that are equal, one bit for each byte of the line.
    #[inline(always)]
    fn equal_bytes<T: Target>(&self, t: T, line: &Line, byte: u8) -> u64 {
        t.equal_bytes(line, byte) & self.byte_mask
    }

    /// The slots of these bytes.
    #[inline(always)]
    const fn slots_of(&self, bytes: u64) -> u64 {
        bytes >> (self.first_byte % u64::BITS)
    }

    #[inline(always)]
    fn high_part_at<T: Target>(&self, t: T, line: &Line, slot: u32) -> u64 {
        let at = self.high_parts.start + slot * self.high_bits;
        t.lowest(self.inner_window(t, line, at), self.high_bits)
    }

    /// Whether the high part of a slot has the lowest bits of this one.
    #[inline(always)]
    fn has_high_part<T: Target>(&self, t: T, line: &Line, slot: u32, high: u64) -> bool {
        let at = self.high_parts.start + slot * self.high_bits;
        t.lowest(self.inner_window(t, line, at) ^ high, self.high_bits) == 0
    }

    /// The code from the first bit of a list on, at least 57 bits.
    #[inline(always)]
    fn code_window<T: Target>(&self, t: T, line: &Line, list: u32) -> u64 {
        // The mask removes a check.
        if T::COMMON { t.inner_window(line, list % 128) } else { t.window(line, list) }
    }

    /// The bits from `start` on, at least 57 of them or all to the end of the line. In common shapes they lie
    /// before at least eight bytes.
    #[inline(always)]
    fn inner_window<T: Target>(&self, t: T, line: &Line, start: u32) -> u64 {
        if T::COMMON { t.inner_window(line, start) } else { t.window(line, start) }
    }
}

/// The largest byte that the block has sent on.
#[inline(always)]
pub(crate) const fn watermark(line: &Line) -> u8 {
    line[WATERMARK_WORD].to_le_bytes()[7]
}
