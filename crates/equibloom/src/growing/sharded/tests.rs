//! Copies from one table to many and back, on schedules that are much narrower than real ones, so that strings
//! lose all of their remainder within some hundred keys, and with shards of very different sizes.

use super::*;
use proptest::prelude::*;

/// Keys that fall into the first of the shards only, or into all of them.
fn key(number: u64, narrow: bool) -> KeyHash {
    let hash = u128::from(KeyHash::from_u64(number));
    KeyHash::from(if narrow { hash >> (SHARD_BITS + 1) } else { hash })
}

/// Absent keys near the others, and everywhere.
fn absent() -> impl Iterator<Item = KeyHash> {
    (1 << 40..(1 << 40) + 400).flat_map(|number| [true, false].map(|narrow| key(number, narrow)))
}

/// A copy gives the same answers, for all keys: strings keep their bits.
fn check(shared: &Sharded, copy: &Table, inserted: &[KeyHash]) {
    for &key in inserted {
        assert!(shared.contains(key) && copy.contains(Prefix::of_key(key)), "{key:?}");
    }
    for key in absent() {
        assert_eq!(shared.contains(key), copy.contains(Prefix::of_key(key)), "{key:?}");
    }
    assert_eq!(shared.elements(), copy.elements);
}

proptest! {
    #[test]
    fn a_copy_gives_the_same_answers(
        width in 2..10_u8,
        lists in 3..14_u32,
        removable: bool,
        changes in prop::collection::vec((0..1_000_u64, 0..400_u64, 0..3_u8), 1..12),
    ) {
        let mut shared = Sharded::of_schedule(Schedule::for_tests(width, 2 * lists), removable).unwrap();
        let mut inserted = Vec::new();
        for (first, count, kind) in changes {
            for number in first..first + count {
                let key = key(number, kind > 0);
                // Some of them often.
                for _ in 0..if removable && number % 100 == 0 { 9 } else { 1 } {
                    shared.insert(key).unwrap();
                    inserted.push(key);
                }
            }
            let copy = shared.snapshot().unwrap();
            check(&shared, &copy, &inserted);
            let back = Sharded::from_table(&copy).unwrap();
            check(&back, &copy, &inserted);
            if kind == 2 {
                shared = back;
            }
            if removable && kind == 1 {
                let removed = inserted.split_off(inserted.len() / 2);
                removed.iter().for_each(|&key| assert!(shared.remove(key)));
            }
        }
    }

    /// A table in the middle of a step, too.
    #[test]
    fn a_table_is_shared(width in 2..10_u8, lists in 3..14_u32, keys in 0..5_000_u64, narrow: bool) {
        let mut table = Table::new(Schedule::for_tests(width, 2 * lists), false).unwrap();
        let keys: Vec<_> = (0..keys).map(|number| key(number, narrow)).collect();
        for &key in &keys {
            table.insert(Prefix::of_key(key)).unwrap();
        }
        let shared = Sharded::from_table(&table).unwrap();
        check(&shared, &table, &keys);
        check(&shared, &shared.snapshot().unwrap(), &keys);
    }
}

/// Shards that grow while they are copied may become too large: the copy is begun again, with more room.
#[test]
fn a_copy_that_is_too_small_is_refused() {
    let shared = Sharded::of_schedule(Schedule::for_tests(8, 24), false).unwrap();
    let copies = || {
        let first = shared.schedule.geometry_at(u64::from(SHARD_BITS * STEPS)).unwrap();
        let mut copy = Table::over(shared.schedule.clone(), false, Levels::new(first));
        copy.current.allocate().unwrap();
        shared.copy_to(&mut copy)
    };
    assert!(copies());
    for number in 0..20_000 {
        shared.insert(key(number, false)).unwrap();
    }
    assert!(!copies());
}
