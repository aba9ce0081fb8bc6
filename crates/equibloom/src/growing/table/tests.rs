//! Growing tables against exact multisets of keys, on schedules that are much narrower than real ones, so that
//! strings lose all of their remainder within some hundred keys.

use super::*;
use alloc::collections::BTreeMap;
use core::convert::Infallible;
use proptest::prelude::*;

fn key(number: u64) -> Prefix {
    Prefix::of_key(KeyHash::from_u64(number))
}

fn table(width: u8, lists: u32, removable: bool) -> Table {
    Table::new(Schedule::for_tests(width, lists), removable).unwrap()
}

/// All strings, each as often as it is stored.
fn strings(table: &Table) -> BTreeMap<Prefix, u64> {
    let mut strings = BTreeMap::new();
    let _: ControlFlow<Infallible> = table.for_each(|string, copies| {
        *strings.entry(string).or_default() += copies;
        ControlFlow::Continue(())
    });
    strings
}

/// What holds for every table, whatever was done to it.
fn check(table: &Table, keys: &BTreeMap<u64, u64>) {
    let inserted = keys.iter().filter(|&(_, &copies)| copies > 0).map(|(&number, _)| number);
    for number in inserted {
        assert!(table.contains(key(number)), "{number} is lost");
        assert!(table.contains_observed(key(number), &mut ()));
    }
    let all = strings(table);
    let listed: u64 = table.listed.iter().map(|(_, copies)| copies).sum();
    assert_eq!(all.values().sum::<u64>(), table.strings + listed);
    // Every string, whether found by a scan or by a lookup, gives the same answers.
    for number in 0..200 {
        let absent = key(1 << 40 | number);
        let lengths = 0..=table.levels_of(absent).lengths().end;
        let expected = lengths.clone().any(|length| all.contains_key(&absent.truncated(length)));
        assert_eq!(table.contains(absent), expected);
    }
}

#[derive(Debug, Clone)]
enum Change {
    Insert(u64),
    /// So many keys from this on.
    InsertMany(u64, u64),
    Repeat(u64, u64),
    Remove(u64),
    RemoveMany(u64, u64),
    Merge(u64, u64),
    Clear,
}

fn changes() -> impl Strategy<Value = alloc::vec::Vec<Change>> {
    let number = || 0..1_000_u64;
    let change = prop_oneof![
        8 => number().prop_map(Change::Insert),
        8 => (number(), 1..300_u64).prop_map(|(first, count)| Change::InsertMany(first, count)),
        2 => (number(), 1..50_u64).prop_map(|(number, count)| Change::Repeat(number, count)),
        6 => number().prop_map(Change::Remove),
        4 => (number(), 1..200_u64).prop_map(|(first, count)| Change::RemoveMany(first, count)),
        2 => (number(), 1..500_u64).prop_map(|(first, count)| Change::Merge(first, count)),
        1 => Just(Change::Clear),
    ];
    prop::collection::vec(change, 1..40)
}

/// Applies changes to a table and to a multiset, and checks the one against the other.
fn apply(changes: &[Change], width: u8, lists: u32, removable: bool) {
    let mut table = table(width, 2 * lists, removable);
    let mut keys = BTreeMap::<u64, u64>::new();
    let mut elements = 0;
    let insert = |table: &mut Table, keys: &mut BTreeMap<u64, u64>, number| {
        let is_new = table.insert(key(number)).unwrap().is_new();
        assert!(is_new || !removable);
        *keys.entry(number).or_default() += 1;
        u64::from(is_new)
    };
    for change in changes {
        match *change {
            Change::Insert(number) => elements += insert(&mut table, &mut keys, number),
            Change::InsertMany(first, count) => {
                for number in first..first + count {
                    elements += insert(&mut table, &mut keys, number);
                }
            }
            Change::Repeat(number, count) => {
                for _ in 0..count {
                    elements += insert(&mut table, &mut keys, number);
                }
            }
            Change::Remove(number) if removable => {
                if let Some(copies @ 1..) = keys.get_mut(&number) {
                    assert!(table.remove(key(number)));
                    *copies -= 1;
                    elements -= 1;
                }
            }
            Change::RemoveMany(first, count) if removable => {
                for (&number, copies) in keys.range_mut(first..first + count) {
                    while *copies > 0 {
                        assert!(table.remove(key(number)));
                        *copies -= 1;
                        elements -= 1;
                    }
                }
            }
            Change::Merge(first, count) => {
                // Of another width and another number of lists.
                let mut other = self::table(14 - width, 40 - 2 * lists + 2, removable);
                let mut others = BTreeMap::new();
                for number in first..first + count {
                    insert(&mut other, &mut others, number);
                }
                table.merge(&other).unwrap();
                elements += other.elements;
                for (number, copies) in others {
                    *keys.entry(number).or_default() += copies;
                }
            }
            Change::Clear => {
                table.clear();
                keys.clear();
                elements = 0;
            }
            _ => {}
        }
        assert_eq!(table.elements, elements);
    }
    check(&table, &keys);
    check(&table.clone(), &keys);
}

proptest! {
    #![proptest_config(crate::raw::designs::cases(300))]

    #[test]
    fn no_key_is_lost(
        changes in changes(), width in 2..12_u8, lists in 3..20_u32, removable: bool,
    ) {
        apply(&changes, width, lists, removable);
    }

    /// While it moves, too: between any two inserts.
    #[test]
    fn every_key_is_found_at_every_moment_of_a_step(width in 6..14_u8, lists in 3..20_u32) {
        let mut table = table(width, 2 * lists, false);
        let (mut keys, mut steps) = (BTreeMap::new(), 0);
        for number in 0..3_000 {
            let geometry = table.current.geometry;
            table.insert(key(number)).unwrap();
            keys.insert(number, 1);
            steps += u32::from(geometry != table.current.geometry);
            if table.previous.is_some() && number % 5 == 0 {
                check(&table, &keys);
            }
        }
        check(&table, &keys);
        prop_assert!(steps >= 5, "{} steps", steps);
    }
}

/// A list of more than 64 strings was once not read to its end.
#[test]
fn no_key_of_a_long_list_is_lost() {
    use Change::{Insert, InsertMany, Merge, Repeat};
    let changes = [
        InsertMany(409, 256),
        Merge(0, 274),
        Repeat(0, 1),
        InsertMany(0, 188),
        InsertMany(0, 4),
        InsertMany(216, 172),
        Merge(481, 417),
        Insert(35),
        Insert(0),
        InsertMany(0, 200),
        InsertMany(768, 136),
    ];
    apply(&changes, 4, 15, false);
}

#[test]
fn what_was_inserted_and_removed_leaves_nothing() {
    // Wide fields: all strings differ, and keep a remainder.
    let mut table = table(40, 20, true);
    for number in 0..20_000 {
        table.insert(key(number)).unwrap();
    }
    for number in (0..20_000).rev() {
        assert!(table.remove(key(number)));
    }
    assert_eq!((table.elements, table.strings), (0, 0));
    assert!(strings(&table).is_empty());
    assert!(!table.remove(key(5)));
}

#[test]
fn repeated_keys_are_counted_and_do_not_make_the_table_grow() {
    let mut table = table(12, 20, true);
    for number in 0..100 {
        table.insert(key(number)).unwrap();
    }
    for _ in 0..100_000 {
        table.insert(key(7)).unwrap();
    }
    assert!(table.strings <= 104);
    assert_eq!(table.elements, 100_100);
    for _ in 0..100_000 {
        assert!(table.remove(key(7)));
    }
    assert!(table.contains(key(7)));
}

/// A table without memory of its own is slow, and right.
#[test]
fn a_table_without_its_lines_lists_everything() {
    let schedule = Schedule::for_tests(12, 20);
    let mut table = Table::over(schedule, true, Levels::new(schedule.first()));
    for number in 0..50 {
        table.insert(key(number)).unwrap();
    }
    assert!((0..50).all(|number| table.contains(key(number))));
    assert!(table.remove(key(3)) && !table.contains(key(3)));
}
