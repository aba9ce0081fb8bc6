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

#[cfg(test)]
mod tests;

use super::code::UnaryCode;
use super::fields::{Field, LINE_BYTES, ones, window};
use super::isa::{ANY, Isa, Target};
use crate::hashing::{KeyHash, scale};
use crate::storage::Line;

/// The byte of the line that is the watermark: the last one, at the same place in all shapes.
const WATERMARK_BYTE: u32 = LINE_BYTES - 1;
const WATERMARK_WORD: usize = 7;

/// Equal entries that a block of a multiset holds; more are counted in the overflow list. There one takes as
/// much memory as about ten entries here, however often it is counted.
const MAX_COPIES: u32 = 4;

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
    /// The byte of the line that is slot 0's; 0 without bytes.
    first_byte: u32,
    /// The slots' bytes, one bit for each byte of the line.
    byte_mask: u64,
}

/// Where an entry belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The zero of its list, which its one precedes.
    zero: u32,
    /// The byte of its slot; without bytes, its slot.
    byte: u32,
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

/// What happens to an entry that arrives at a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It is there already.
    Present,
    /// It gets a free slot.
    Room(Place),
    /// The block is full, and the entry is smaller than all of its own: it goes on.
    GoesOn,
    /// The block is full, and its smallest entry goes on.
    Displaces(Smallest),
    /// In multisets: as many equal ones are there as a block holds.
    Repeats,
}

/// The smallest entry of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Smallest {
    slot: u32,
    pub(crate) entry: Entry,
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

    #[cfg(test)]
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
            let similar = self.slots_of(equal) & self.code_window(t, line, list);
            if similar != 0 {
                if self.slot_holds(t, line, similar.trailing_zeros(), list, high) {
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
        self.slot_holds(t, line, similar.trailing_zeros(), entry.list, entry.high)
            || (others != 0 && self.any_holds(line, others, entry))
    }

    /// Whether a slot with an equal byte, and a one at its place in the code, holds the entry of this list with
    /// the lowest bits of `high`.
    #[inline(always)]
    fn slot_holds<T: Target>(&self, t: T, line: &Line, slot: u32, list: u32, high: u64) -> bool {
        self.code.ones_before(t, line, list + slot) == slot
            && (self.high_bits == 0 || self.has_high_part(t, line, slot, high))
    }

    /// Whether one of these slots does.
    #[cold]
    #[inline(never)]
    fn any_holds(&self, line: &Line, slots: u64, entry: Entry) -> bool {
        let slots = (0..u64::BITS).filter(|slot| slots >> slot & 1 == 1);
        slots.into_iter().any(|slot| self.slot_holds(ANY, line, slot, entry.list, entry.high))
    }

    /// What happens to an entry that arrives at this block.
    #[inline(always)]
    pub(crate) fn arrival<T: Target>(
        &self,
        t: T,
        line: &Line,
        entry: Entry,
        multiset: bool,
    ) -> Arrival {
        if multiset {
            if self.count(line, entry) >= MAX_COPIES {
                return Arrival::Repeats;
            }
        } else if self.holds(t, line, entry) {
            return Arrival::Present;
        }
        if !self.is_full(t, line) {
            // A damaged code may lack the zero.
            return self.place(t, line, entry).map_or(Arrival::Present, Arrival::Room);
        }
        match self.smallest(t, line) {
            Some(smallest) if smallest.entry < entry => Arrival::Displaces(smallest),
            _ => Arrival::GoesOn,
        }
    }

    /// The place of a new entry, if the block has room and no entry of its list has its byte: the usual case,
    /// in few instructions that wait for the block.
    #[inline(always)]
    pub(crate) fn usual_place<T: Target>(&self, t: T, line: &Line, entry: Entry) -> Option<Place> {
        if self.is_full(t, line) { None } else { self.quick_place(t, line, entry) }
    }

    /// Where an entry belongs, if no entry of its list has its byte. The code must have at most as many ones as
    /// there are slots: then the zero of every list is at most as many bits behind the list's number.
    #[inline(always)]
    fn quick_place<T: Target>(&self, t: T, line: &Line, entry: Entry) -> Option<Place> {
        if !self.has_bytes::<T>() {
            let (place, is_there) = self.scan(t, line, entry)?;
            return (!is_there).then_some(place);
        }
        // Slot `s` of the list has its one at bit `list + s` of the code: shifted, at the number of its byte.
        let first_byte = self.first_byte;
        let zeros = !self.code_window(t, line, entry.list).wrapping_shl(first_byte);
        // The code has as many zeros before its bit `list` as lists that end there; the list's own zero comes
        // as many later as there are ones.
        let rank = first_byte + self.code.ones_before_list(t, line, entry.list);
        let end = t.select(zeros, rank % u64::BITS);
        // The entry comes after the last slot of the list that is not greater, or else after the list before.
        let others = zeros | !t.greater_bytes(line, entry.byte);
        let byte = u64::BITS - t.lowest(others, end).leading_zeros();
        // Only this slot can have the same byte. (Seldom it is another list's, or another field.)
        if t.byte(line, byte - 1) == entry.byte {
            return None;
        }
        Some(Place { zero: entry.list + (end - first_byte), byte })
    }

    /// Where an entry belongs.
    #[inline(always)]
    fn place<T: Target>(&self, t: T, line: &Line, entry: Entry) -> Option<Place> {
        let is_sound = self.code.ones(t, line) <= self.slots;
        let place = if is_sound { self.quick_place(t, line, entry) } else { None };
        place.or_else(|| self.place_among_equal(line, entry))
    }

    /// The same for an entry with neighbours that have its byte, or in a damaged block.
    #[inline(never)]
    fn place_among_equal(&self, line: &Line, entry: Entry) -> Option<Place> {
        self.scan(ANY, line, entry).map(|(place, _)| place)
    }

    /// Where an entry belongs, behind all that are not greater, and whether the block holds it: found by scanning
    /// its list.
    #[inline(always)]
    fn scan<T: Target>(&self, t: T, line: &Line, entry: Entry) -> Option<(Place, bool)> {
        let (zero, end, run) = self.end_of_list(t, line, entry.list)?;
        let (mut slot, mut is_there) = (end, false);
        while slot > end - run {
            let other = self.entry_at(t, line, slot - 1, entry.list);
            if other <= entry {
                is_there = other == entry;
                break;
            }
            slot -= 1;
        }
        Some((Place { zero, byte: self.first_byte + slot }, is_there))
    }

    /// The zero of a list, the slot after its last one, and the number of its slots.
    #[inline(always)]
    fn end_of_list<T: Target>(&self, t: T, line: &Line, list: u32) -> Option<(u32, u32, u32)> {
        let zero = self.code.zero(t, line, list)?;
        let end = zero - list;
        let run = self.code.run_before(t, line, zero).min(end);
        (end <= self.slots).then_some((zero, end, run))
    }

    /// Inserts an entry into a block with room.
    // First what changes the whole line: a CPU forwards a wide store to narrow loads, not narrow stores to a
    // wide load.
    #[inline(always)]
    pub(crate) fn insert<T: Target>(&self, t: T, line: &mut Line, place: Place, entry: Entry) {
        self.insert_slot(t, line, place.byte, entry);
        self.code.insert_one(t, line, place.zero);
    }

    /// At a full block, sends on the smaller of its smallest entry and this one, and returns it. `None` if the
    /// block is not full, or if equal bytes make it less simple: then nothing has changed.
    #[inline(always)]
    pub(crate) fn quick_exchange<T: Target>(
        &self,
        t: T,
        line: &mut Line,
        entry: Entry,
    ) -> Option<Entry> {
        // A damaged code may have more ones.
        if self.code.ones(t, line) != self.slots {
            return None;
        }
        let smallest = self.smallest(t, line)?;
        let mut sent_on = entry;
        if smallest.entry.byte < entry.byte {
            let place = self.quick_place(t, line, entry)?;
            self.exchange(t, line, smallest, place, entry);
            sent_on = smallest.entry;
        } else if smallest.entry.byte == entry.byte {
            return None;
        }
        self.raise_watermark(line, sent_on.byte);
        Some(sent_on)
    }

    /// Replaces the smallest entry of a full block.
    #[inline(always)]
    pub(crate) fn replace<T: Target>(&self, t: T, line: &mut Line, old: Smallest, entry: Entry) {
        if let Some(place) = self.place(t, line, entry) {
            self.exchange(t, line, old, place, entry);
        }
    }

    /// Removes an entry and inserts another at its place.
    #[inline(always)]
    fn exchange<T: Target>(
        &self,
        t: T,
        line: &mut Line,
        old: Smallest,
        Place { zero, byte }: Place,
        entry: Entry,
    ) {
        self.remove_slot(t, line, old.slot);
        self.insert_slot(t, line, byte - u32::from(self.first_byte + old.slot < byte), entry);
        let one = old.entry.list + old.slot;
        self.code.remove_bit(t, line, one);
        self.code.insert_one(t, line, zero - u32::from(one < zero));
    }

    /// Inserts byte and high part at the slot of a byte.
    #[inline(always)]
    fn insert_slot<T: Target>(&self, t: T, line: &mut Line, byte: u32, entry: Entry) {
        if self.has_bytes::<T>() {
            t.insert_byte(line, byte, entry.byte);
        }
        let width = self.high_bits;
        if width > 0 {
            let at = self.high_parts.start + (byte - self.first_byte) * width;
            t.insert_bits(line, &self.high_parts, at, width, self.high_part::<T>(entry));
        }
    }

    /// Records that the block has sent an entry on.
    pub(crate) fn raise_watermark(&self, line: &mut Line, byte: u8) {
        let mut bytes = line[WATERMARK_WORD].to_le_bytes();
        bytes[7] = bytes[7].max(byte);
        line[WATERMARK_WORD] = u64::from_le_bytes(bytes);
    }

    /// Removes one copy of an entry; returns whether there was one.
    pub(crate) fn remove(&self, line: &mut Line, entry: Entry) -> bool {
        let Some((Place { byte, .. }, true)) = self.scan(ANY, line, entry) else { return false };
        let slot = byte - 1 - self.first_byte;
        self.remove_slot(ANY, line, slot);
        self.code.remove_bit(ANY, line, entry.list + slot);
        true
    }

    /// Removes byte and high part of a slot.
    #[inline(always)]
    fn remove_slot<T: Target>(&self, t: T, line: &mut Line, slot: u32) {
        if self.has_bytes::<T>() {
            t.remove_byte(line, self.first_byte + slot);
        }
        let width = self.high_bits;
        if width > 0 {
            t.remove_bits(line, &self.high_parts, self.high_parts.start + slot * width, width);
        }
    }

    /// The smallest entry.
    #[inline(always)]
    fn smallest<T: Target>(&self, t: T, line: &Line) -> Option<Smallest> {
        let remainders;
        let line_of_bytes = if self.has_bytes::<T>() {
            line
        } else {
            remainders = self.remainders(t, line);
            &remainders
        };
        let end = self.first_byte + self.slots;
        let byte = t.least_byte(line_of_bytes, self.first_byte, end);
        // The slots have the order of lists: of several with this byte the first is the smallest.
        let equal = t.equal_bytes(line_of_bytes, byte) & ones(end);
        let slot = self.slots_of(equal).trailing_zeros();
        let list = self.code.one(t, line, slot)?.checked_sub(slot)?;
        Some(Smallest { slot, entry: self.entry_at(t, line, slot, list) })
    }

    /// The remainders of a block without bytes, as bytes.
    #[inline(always)]
    fn remainders<T: Target>(&self, t: T, line: &Line) -> Line {
        // Eight remainders have as many bytes as one has bits.
        let start = |word: usize| self.high_parts.start + word as u32 * u8::BITS * self.high_bits;
        core::array::from_fn(|word| t.spread(window(line, start(word)), self.high_bits))
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
