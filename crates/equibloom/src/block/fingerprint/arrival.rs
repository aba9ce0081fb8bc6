//! What happens to an entry that arrives at a block, and how the block changes.

use super::{Entry, FingerprintShape, WATERMARK_WORD};
use crate::block::fields::{LINE_BYTES, ones, window};
use crate::block::isa::{ANY, Isa, Target};
use crate::storage::Line;

/// Equal entries that a block of a multiset holds; more are counted in the overflow list. There one takes as
/// much memory as about ten entries here, however often it is counted.
pub(super) const MAX_COPIES: u32 = 4;

/// Where an entry belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The zero of its list, which its one precedes.
    zero: u32,
    /// The byte of its slot; without bytes, its slot.
    byte: u32,
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
        // Slot `s` of the list has its one at bit `list + s` of the code: moved up, at the number of its byte.
        let (zeros, end) = self.code.zeros_of(t, line, entry.list, self.first_byte);
        // The entry comes after the last slot of the list that is not greater, or else after the list before.
        let others = zeros | !t.greater_bytes(line, entry.byte);
        let behind = t.lowest(others, end).leading_zeros();
        // Only the slot before can have the same byte. (Seldom it is another list's, or another field.)
        if t.equals_from_end(line, behind, entry.byte) {
            return None;
        }
        Some(Place {
            zero: entry.list.wrapping_sub(self.first_byte).wrapping_add(end),
            byte: LINE_BYTES - behind,
        })
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
    pub(super) fn scan<T: Target>(&self, t: T, line: &Line, entry: Entry) -> Option<(Place, bool)> {
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
    pub(super) fn end_of_list<T: Target>(
        &self,
        t: T,
        line: &Line,
        list: u32,
    ) -> Option<(u32, u32, u32)> {
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
            let at = self.high_origin.wrapping_add(byte * width);
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
}
