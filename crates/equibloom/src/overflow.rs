//! The overflow list: an exact multiset of 64-bit entries in one flat table.
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
use crate::storage::Words;
use equibloom_layout::{MAX_OVERFLOW, Overflow, WhenFull};

/// Marks a free slot; see [`OverflowList::stored_form`].
const FREE: u64 = 0;

/// A bounded multiset of 64-bit entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OverflowList {
    slots: Words,
    slot_count: u64,
    capacity: u64,
    len: u64,
}

/// The list has no room for a new entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ListFull;

/// Slots of a list of `capacity` entries.
const fn slot_count(capacity: u64) -> u64 {
    Overflow { capacity, when_full: WhenFull::Refuse }.slots()
}

impl OverflowList {
    /// An empty list of `capacity` entries, at most [`MAX_OVERFLOW`].
    pub(crate) fn new(capacity: u64) -> Result<Self, BuildError> {
        let slot_count = slot_count(capacity);
        Ok(Self { slots: Words::zeroed(slot_count)?, slot_count, capacity, len: 0 })
    }

    /// A list without capacity or memory.
    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub(crate) const fn none() -> Self {
        Self { slots: Words::none(), slot_count: 0, capacity: 0, len: 0 }
    }

    /// A list over the words of a file; `None` if their number does not match. Their contents are not
    /// checked: see [`find`](Self::find) and [`detach`](Self::detach).
    pub(crate) fn over(slots: Words, capacity: u64, len: u64) -> Option<Self> {
        let slot_count = slot_count(capacity);
        let fits = slots.bytes() == crate::storage::bytes_for(slot_count) && len <= capacity;
        fits.then_some(Self { slots, slot_count, capacity, len })
    }

    /// The slots.
    #[cfg(feature = "file")]
    pub(crate) fn storage(&self) -> &Words {
        &self.slots
    }

    /// Copies a mapped list into memory, where it can be changed. The mapped words are unverified, so the
    /// entries are inserted one by one: the result is a valid list in any case, and the same words if they
    /// were one.
    #[cfg(feature = "file")]
    pub(crate) fn detach(&mut self) -> Result<(), BuildError> {
        if self.slots.is_mapped() {
            let entries = self.entries().count() as u64;
            let mut copy = Self::new(self.capacity.max(entries))?;
            for entry in self.entries() {
                copy.place(entry);
            }
            *self = copy;
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.slots.bytes()
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.slots.iter()
    }

    pub(crate) fn contains(&self, entry: u64) -> bool {
        self.find(entry).is_some()
    }

    /// All entries in their stored form.
    pub(crate) fn entries(&self) -> impl Iterator<Item = u64> {
        self.slots.iter().filter(|&slot| slot != FREE)
    }

    /// The slot of an entry. Terminates for any words: an entry's distance from its home is below the
    /// number of slots, so that after as many steps every entry sorts after the searched one.
    fn find(&self, entry: u64) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let entry = Self::stored_form(entry);
        let mut probe = Probe::home_of(entry, self.slot_count);
        loop {
            let found = self.slots.get(probe.slot);
            if found == entry {
                return Some(probe.slot);
            }
            if self.sorts_after(found, entry, &probe) {
                return None;
            }
            probe.advance(self.slot_count);
        }
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
        if when_full == WhenFull::Refuse || capacity > MAX_OVERFLOW {
            return Err(ListFull);
        }
        let mut larger = Self::new(capacity).map_err(|_| ListFull)?;
        for entry in self.entries() {
            larger.place(entry);
        }
        *self = larger;
        Ok(())
    }

    /// Adds an entry, also if an equal one exists, to a list with room or one that may grow.
    pub(crate) fn push(&mut self, entry: u64, when_full: WhenFull) -> Result<(), ListFull> {
        self.make_room(1, when_full)?;
        self.place(entry);
        Ok(())
    }

    /// Removes one copy of an entry; returns whether there was one.
    pub(crate) fn remove(&mut self, entry: u64) -> bool {
        #[cfg(feature = "file")]
        if self.detach().is_err() {
            // The entry stays in the list.
            return false;
        }
        let Some(mut free) = self.find(entry) else { return false };
        // Entries after it move up until one is in its home slot.
        loop {
            let next = if free as u64 + 1 == self.slot_count { 0 } else { free + 1 };
            let found = self.slots.get(next);
            if found == FREE || self.distance(found, next) == 0 {
                break;
            }
            *self.slots.get_mut(free) = found;
            free = next;
        }
        *self.slots.get_mut(free) = FREE;
        self.len -= 1;
        true
    }

    /// Adds an entry to a list that has room.
    fn place(&mut self, entry: u64) {
        debug_assert!(self.len < self.capacity);
        self.len += 1;
        let mut carried = Self::stored_form(entry);
        let mut probe = Probe::home_of(carried, self.slot_count);
        loop {
            let found = self.slots.get(probe.slot);
            if self.sorts_after(found, carried, &probe) {
                *self.slots.get_mut(probe.slot) = carried;
                if found == FREE {
                    return;
                }
                // Continue with the displaced entry, at its own distance from home.
                probe.distance = self.distance(found, probe.slot);
                carried = found;
            }
            probe.advance(self.slot_count);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.slots.fill_with_zeros();
        self.len = 0;
    }

    /// Zero marks a free slot, so the entry 0 is stored as 1: one more indistinguishable pair among 2⁶⁴
    /// entries.
    fn stored_form(entry: u64) -> u64 {
        entry.max(1)
    }

    /// Whether `found`, at the probe's slot, sorts after `entry`.
    fn sorts_after(&self, found: u64, entry: u64, probe: &Probe) -> bool {
        if found == FREE {
            return true;
        }
        let distance = self.distance(found, probe.slot);
        distance < probe.distance || (distance == probe.distance && found > entry)
    }

    /// Distance of `slot` from the home slot of `entry`.
    fn distance(&self, entry: u64, slot: usize) -> u64 {
        let home = scale(entry, self.slot_count);
        let slot = slot as u64;
        if slot >= home { slot - home } else { slot + self.slot_count - home }
    }
}

/// A position in the probe sequence of an entry.
struct Probe {
    slot: usize,
    distance: u64,
}

impl Probe {
    fn home_of(entry: u64, slot_count: u64) -> Self {
        Self { slot: scale(entry, slot_count) as usize, distance: 0 }
    }

    fn advance(&mut self, slot_count: u64) {
        self.slot = if self.slot as u64 + 1 == slot_count { 0 } else { self.slot + 1 };
        self.distance += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn list_of(capacity: u64, entries: impl IntoIterator<Item = u64>) -> OverflowList {
        let mut list = OverflowList::new(capacity).unwrap();
        for entry in entries {
            list.push(entry, WhenFull::Refuse).unwrap();
        }
        list
    }

    /// Entries that collide often: few distinct high bits, hence few home slots.
    fn clustered_entries() -> impl Strategy<Value = BTreeSet<u64>> {
        prop::collection::btree_set(
            (0_u64..4, 1_u64..50).prop_map(|(high, low)| (high << 62) | low),
            0..60,
        )
    }

    proptest! {
        #[test]
        fn removals_leave_the_table_of_the_rest(
            entries in clustered_entries().prop_map(Vec::from_iter).prop_shuffle(),
            repeats in 0..3_usize,
            kept in 0..60_usize,
        ) {
            let all: Vec<u64> = entries.iter().flat_map(|&entry| vec![entry; 1 + repeats]).collect();
            let (kept, removed) = all.split_at(kept.min(all.len()));
            let capacity = all.len() as u64;
            let mut list = list_of(capacity, all.iter().copied());
            for &entry in removed {
                prop_assert!(list.remove(entry));
            }
            prop_assert_eq!(&list, &list_of(capacity, kept.iter().copied()));
            for &entry in removed {
                prop_assert_eq!(list.remove(entry), kept.contains(&entry));
                if kept.contains(&entry) {
                    list.push(entry, WhenFull::Refuse).unwrap();
                }
            }
        }

        #[test]
        fn a_list_that_grows_keeps_its_entries(entries in clustered_entries(), more in 1..100_u64) {
            let mut list = list_of(entries.len() as u64, entries.iter().copied());
            list.make_room(more, WhenFull::Saturate).unwrap();
            prop_assert!(list.capacity() >= entries.len() as u64 + more);
            prop_assert!(list.entries().collect::<BTreeSet<_>>() == entries);
            prop_assert!(entries.iter().all(|&entry| list.contains(entry)));
        }

        #[test]
        fn a_list_holds_exactly_what_was_inserted(entries in clustered_entries(), others in clustered_entries()) {
            let list = list_of(entries.len() as u64, entries.iter().copied());
            for entry in entries.union(&others) {
                prop_assert_eq!(list.contains(*entry), entries.contains(entry));
            }
            prop_assert_eq!(list.len(), entries.len() as u64);
        }

        #[test]
        fn the_table_depends_on_the_set_and_not_on_the_order(
            entries in clustered_entries().prop_map(Vec::from_iter).prop_shuffle(),
        ) {
            let capacity = entries.len() as u64;
            let mut sorted = entries.clone();
            sorted.sort_unstable();
            prop_assert_eq!(list_of(capacity, entries), list_of(capacity, sorted));
        }
    }

    #[test]
    fn a_full_list_refuses_and_stays_as_it_is() {
        let mut list = list_of(2, [5, u64::MAX]);
        let before = list.clone();
        assert_eq!(list.push(7, WhenFull::Refuse), Err(ListFull));
        assert_eq!(list, before);
        assert!(list.contains(5) && list.contains(u64::MAX) && !list.contains(7));
    }

    #[test]
    fn a_list_without_room_is_empty_and_answers() {
        let mut list = OverflowList::new(0).unwrap();
        assert!(!list.contains(1));
        assert_eq!(list.push(1, WhenFull::Refuse), Err(ListFull));
        assert_eq!(list.bytes(), 0);
    }

    #[test]
    fn the_entry_zero_is_an_entry_like_others() {
        assert!(list_of(3, [0]).contains(0));
        assert!(!list_of(3, [9]).contains(0));
    }

    #[test]
    fn a_full_list_costs_at_most_80_bits_an_entry_and_a_line() {
        for capacity in [1, 10, 1_000, 123_456] {
            let bits = 8 * OverflowList::new(capacity).unwrap().bytes();
            assert!(bits <= 80 * capacity + 64 + 512, "{capacity}: {bits}");
        }
    }
}
