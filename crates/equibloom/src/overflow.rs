//! The overflow list: an exact set of 64-bit entries in one flat table, or, in filters whose keys can be
//! removed, of entries with the number of their copies.
//!
//! Linear probing over `capacity × 5/4` slots: a full list costs at most 80 bits per entry. Entries are
//! ordered by home slot (ordered linear probing): within a run, the entry further from its home comes
//! first, and of two at equal distance, the smaller. The table therefore depends only on its entries, not
//! on the order of inserts and removals, and a lookup ends at the first entry that sorts after the searched
//! one.
//!
//! Rejected: `HashSet` (its layout depends on history and cannot be mapped from a file), a sorted array (an
//! insert moves half of it on average).

use crate::error::BuildError;
use crate::hashing::scale;
use crate::storage::{WORDS_PER_LINE, Words, bytes_for};
use equibloom_layout::{MAX_OVERFLOW, Overflow, WhenFull};

/// Marks a free slot; see [`OverflowList::stored_form`].
const FREE: u64 = 0;

/// A bounded set of 64-bit entries, perhaps with the numbers of their copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OverflowList {
    /// The entry of each slot; behind them, if copies are counted, the copies of each entry but one.
    pub(crate) slots: Words,
    slot_count: u64,
    capacity: u64,
    len: u64,
    is_counted: bool,
}

/// The list has no room for a new entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ListFull;

/// Slots and words of a list of `capacity` entries.
const fn sizes(capacity: u64, is_counted: bool) -> (u64, u64) {
    let slots = Overflow { capacity, when_full: WhenFull::Refuse }.slots();
    (slots, slots.saturating_mul(1 + is_counted as u64))
}

impl OverflowList {
    /// An empty list of `capacity` entries, at most [`MAX_OVERFLOW`].
    pub(crate) fn new(capacity: u64, is_counted: bool) -> Result<Self, BuildError> {
        let (slot_count, words) = sizes(capacity, is_counted);
        Ok(Self { slots: Words::zeroed(words)?, slot_count, capacity, len: 0, is_counted })
    }

    /// A list without room, and without memory.
    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub(crate) const fn none() -> Self {
        let slots = Words::none();
        Self { slots, slot_count: 0, capacity: 0, len: 0, is_counted: false }
    }

    /// A list over the words of a file; `None` if their number does not match. Their contents are not
    /// checked: see [`find`](Self::find) and [`detach`](Self::detach).
    pub(crate) fn over(slots: Words, capacity: u64, len: u64, is_counted: bool) -> Option<Self> {
        let (slot_count, words) = sizes(capacity, is_counted);
        let fits = slots.bytes() == bytes_for(words) && len <= capacity;
        fits.then_some(Self { slots, slot_count, capacity, len, is_counted })
    }

    /// Copies a mapped list into memory, where it can be changed. The mapped words are unverified, so the
    /// entries are inserted one by one: the result is a valid list in any case, and the same words if they
    /// were one.
    #[cfg(feature = "file")]
    pub(crate) fn detach(&mut self) -> Result<(), BuildError> {
        if self.slots.is_mapped() {
            let entries = self.entries().count() as u64;
            *self = self.resized(self.capacity.max(entries))?;
        }
        Ok(())
    }

    /// Gives the list another capacity, which must suffice.
    pub(crate) fn resize(&mut self, capacity: u64) -> Result<(), BuildError> {
        if capacity != self.capacity {
            *self = self.resized(capacity)?;
        }
        Ok(())
    }

    /// Number of entries that can be added without allocating memory.
    pub(crate) fn room(&self) -> u64 {
        if self.slots.is_mapped() { 0 } else { self.capacity.saturating_sub(self.len) }
    }

    /// The same entries in a list of another capacity, which must suffice.
    fn resized(&self, capacity: u64) -> Result<Self, BuildError> {
        let mut copy = Self::new(capacity, self.is_counted)?;
        for (entry, copies) in self.entries() {
            // A damaged table may have an entry twice.
            copy.add(entry, copies);
        }
        Ok(copy)
    }

    /// Number of different entries.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Whether it counts the copies of an entry.
    pub(crate) const fn is_counted(&self) -> bool {
        self.is_counted
    }

    /// Whether one more entry can be added without allocating memory.
    pub(crate) fn has_room(&self) -> bool {
        self.len < self.capacity && !self.slots.is_mapped()
    }

    pub(crate) fn contains(&self, entry: u64) -> bool {
        self.find(entry).is_some()
    }

    /// All entries in their stored form, with their copies.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u64, u64)> {
        let cells = (0..self.slot_count as usize).map(|slot| self.cell(slot));
        cells
            .filter(|cell| cell.entry != FREE)
            .map(|cell| (cell.entry, cell.more.saturating_add(1)))
    }

    /// Number of all copies.
    pub(crate) fn copies(&self) -> u64 {
        if !self.is_counted {
            return self.len;
        }
        self.entries().fold(0, |sum: u64, (_, copies)| sum.saturating_add(copies))
    }

    fn cell(&self, slot: usize) -> Cell {
        let words = self.slots.as_flattened();
        let more = if self.is_counted { words[slot + self.slot_count as usize] } else { 0 };
        Cell { entry: words[slot], more }
    }

    fn set_cell(&mut self, slot: usize, cell: Cell) {
        let words = self.slots.as_flattened_mut();
        words[slot] = cell.entry;
        if self.is_counted {
            words[slot + self.slot_count as usize] = cell.more;
        }
    }

    /// All slots, from this one on.
    fn slots_from(&self, slot: usize) -> impl Iterator<Item = usize> + use<> {
        (slot..self.slot_count as usize).chain(0..slot)
    }

    /// The slot of an entry. Terminates for any words: each slot is probed once at most.
    fn find(&self, entry: u64) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let entry = Self::stored_form(entry);
        for (slot, distance) in self.slots_from(self.home_of(entry)).zip(0..) {
            let found = self.slots.as_flattened()[slot];
            if found == entry {
                return Some(slot);
            }
            if self.sorts_after(found, slot, entry, distance) {
                return None;
            }
        }
        None
    }

    /// Makes room for `more` entries: grows the list if necessary, unless it refuses.
    pub(crate) fn make_room(&mut self, more: u64, when_full: WhenFull) -> Result<(), ListFull> {
        #[cfg(feature = "file")]
        self.detach().map_err(|_| ListFull)?;
        let needed = self.len.saturating_add(more);
        if needed <= self.capacity {
            return Ok(());
        }
        // Grows by at least half, so that many small steps stay cheap.
        let capacity = needed.max(self.capacity.saturating_add(self.capacity / 2));
        if when_full.refuses() || capacity > MAX_OVERFLOW {
            return Err(ListFull);
        }
        *self = self.resized(capacity).map_err(|_| ListFull)?;
        Ok(())
    }

    /// Adds copies of an entry, at least one, to a list with room or one that may grow. A list that counts adds
    /// them to those that are there; another one, which must not have the entry yet, keeps one.
    pub(crate) fn push(
        &mut self,
        entry: u64,
        copies: u64,
        when_full: WhenFull,
    ) -> Result<(), ListFull> {
        let is_there = self.is_counted && self.contains(entry);
        self.make_room(u64::from(!is_there), when_full)?;
        self.add(entry, copies);
        Ok(())
    }

    /// Adds copies of an entry to a list that has room.
    fn add(&mut self, entry: u64, copies: u64) {
        let more = copies.saturating_sub(1);
        let found = if self.is_counted { self.find(entry) } else { None };
        let Some(slot) = found else {
            return self.place(Cell { entry: Self::stored_form(entry), more });
        };
        let Cell { entry, more } = self.cell(slot);
        self.set_cell(slot, Cell { entry, more: more.saturating_add(copies) });
    }

    /// Removes an entry, or one of its copies; returns whether it was there.
    pub(crate) fn remove(&mut self, entry: u64) -> bool {
        #[cfg(feature = "file")]
        if self.detach().is_err() {
            // The entry stays in the list.
            return false;
        }
        let Some(mut free) = self.find(entry) else { return false };
        let Cell { entry, more } = self.cell(free);
        if let Some(more) = more.checked_sub(1) {
            self.set_cell(free, Cell { entry, more });
            return true;
        }
        // Entries after it move up until one is in its home slot.
        for next in self.slots_from(free).skip(1) {
            let found = self.cell(next);
            if found.entry == FREE || self.distance(found.entry, next) == 0 {
                break;
            }
            self.set_cell(free, found);
            free = next;
        }
        self.set_cell(free, Cell { entry: FREE, more: 0 });
        self.len -= 1;
        true
    }

    /// Adds an entry that is not there to a list that has room.
    fn place(&mut self, mut carried: Cell) {
        debug_assert!(self.len < self.capacity);
        self.len += 1;
        for slot in self.slots_from(self.home_of(carried.entry)) {
            let found = self.cell(slot);
            let distance = self.distance(carried.entry, slot);
            if self.sorts_after(found.entry, slot, carried.entry, distance) {
                self.set_cell(slot, carried);
                if found.entry == FREE {
                    return;
                }
                // Continue with the displaced entry.
                carried = found;
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.slots.fill([0; WORDS_PER_LINE]);
        self.len = 0;
    }

    /// Zero marks a free slot, so the entry 0 is stored as 1: one more indistinguishable pair among 2⁶⁴
    /// entries.
    fn stored_form(entry: u64) -> u64 {
        entry.max(1)
    }

    /// Whether `found`, at a slot, sorts after an entry that is there at this distance from its home slot.
    fn sorts_after(&self, found: u64, slot: usize, entry: u64, distance: usize) -> bool {
        if found == FREE {
            return true;
        }
        let found_distance = self.distance(found, slot);
        found_distance < distance || (found_distance == distance && found > entry)
    }

    fn home_of(&self, entry: u64) -> usize {
        scale(entry, self.slot_count) as usize
    }

    /// Distance of `slot` from the home slot of `entry`.
    fn distance(&self, entry: u64, slot: usize) -> usize {
        let home = self.home_of(entry);
        if slot >= home { slot - home } else { slot + self.slot_count as usize - home }
    }
}

/// What a slot holds.
#[derive(Clone, Copy)]
struct Cell {
    entry: u64,
    /// Copies but the first.
    more: u64,
}

#[cfg(test)]
mod tests;
