//! Lists against sets.

use super::*;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use proptest::prelude::*;

fn list_of(capacity: u64, entries: impl IntoIterator<Item = u64>) -> OverflowList {
    filled(OverflowList::new(capacity, false).unwrap(), entries)
}

fn filled(mut list: OverflowList, entries: impl IntoIterator<Item = u64>) -> OverflowList {
    for entry in entries {
        list.push(entry, 1, WhenFull::Refuse).unwrap();
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
        let empty = OverflowList::new(entries.len() as u64, true).unwrap();
        let mut list = filled(empty.clone(), all.iter().copied());
        prop_assert_eq!(list.copies(), all.len() as u64);
        prop_assert_eq!(list.len(), entries.len() as u64);
        for &entry in removed {
            prop_assert!(list.remove(entry));
        }
        prop_assert_eq!(list.copies(), kept.len() as u64);
        prop_assert_eq!(&list, &filled(empty, kept.iter().copied()));
        for &entry in removed {
            prop_assert_eq!(list.remove(entry), kept.contains(&entry));
            if kept.contains(&entry) {
                list.push(entry, 1, WhenFull::Refuse).unwrap();
            }
        }
    }

    #[test]
    fn copies_are_counted_one_by_one_or_at_once(counts in prop::collection::vec(1..9_u64, 1..20)) {
        let counted = |at_once: bool| {
            let mut list = OverflowList::new(counts.len() as u64, true).unwrap();
            for (entry, &count) in (1..).zip(&counts) {
                let steps = if at_once { vec![count] } else { vec![1; count as usize] };
                for copies in steps {
                    list.push(entry, copies, WhenFull::Refuse).unwrap();
                }
            }
            list
        };
        prop_assert_eq!(counted(true), counted(false));
        let mut found: Vec<(u64, u64)> = counted(true).entries().collect();
        found.sort_unstable();
        prop_assert!(found.into_iter().eq((1..).zip(counts.iter().copied())));
    }

    #[test]
    fn a_list_that_grows_keeps_its_entries(entries in clustered_entries(), more in 1..100_u64) {
        let mut list = list_of(entries.len() as u64, entries.iter().copied());
        list.make_room(more, WhenFull::Saturate).unwrap();
        prop_assert!(list.capacity() >= entries.len() as u64 + more);
        prop_assert!(list.entries().map(|(entry, _)| entry).collect::<BTreeSet<_>>() == entries);
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
    assert_eq!(list.push(7, 1, WhenFull::Refuse), Err(ListFull));
    assert_eq!(list, before);
    assert!(list.contains(5) && list.contains(u64::MAX) && !list.contains(7));
}

#[test]
fn a_list_without_room_is_empty_and_answers() {
    let mut list = OverflowList::new(0, false).unwrap();
    assert!(!list.contains(1));
    assert_eq!(list.push(1, 1, WhenFull::Refuse), Err(ListFull));
    assert_eq!(list.slots.bytes(), 0);
}

#[test]
fn the_entry_zero_is_an_entry_like_others() {
    assert!(list_of(3, [0]).contains(0));
    assert!(!list_of(3, [9]).contains(0));
}

#[test]
fn a_full_list_costs_at_most_80_bits_an_entry_and_a_line() {
    for capacity in [1, 10, 1_000, 123_456] {
        let bits = 8 * OverflowList::new(capacity, false).unwrap().slots.bytes();
        assert!(bits <= 80 * capacity + 64 + 512, "{capacity}: {bits}");
    }
}
