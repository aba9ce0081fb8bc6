//! Any sequence of operations on any map gives the answers of `std::collections::HashMap`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod hashers;

use std::collections::HashMap;

use equibloom_layout::{Rule, Share};
use equibloom_tables::{Balanced, BucketPlan, Cuckoo, Entry, Map, RawTable};
use hashers::Few;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[derive(Debug, Clone)]
enum Operation {
    Insert(u16, u32),
    Remove(u16),
    Get(u16),
    Change(u16, u32),
    EntryAdd(u16, u32),
    EntryRemove(u16),
    Retain(u16),
    Reserve(u8),
    ShrinkToFit,
    Clear,
    Drain(u8),
    Rebuild,
    IncrementAll,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    use Operation::*;
    // Few keys, so that most operations meet an entry; sometimes many, so that the map grows.
    let key = prop_oneof![0_u16..60, 0_u16..600];
    let operation = prop_oneof![
        30 => (key.clone(), any::<u32>()).prop_map(|(key, value)| Insert(key, value)),
        12 => key.clone().prop_map(Remove),
        10 => key.clone().prop_map(Get),
        5 => (key.clone(), any::<u32>()).prop_map(|(key, value)| Change(key, value)),
        8 => (key.clone(), any::<u32>()).prop_map(|(key, value)| EntryAdd(key, value)),
        5 => key.prop_map(EntryRemove),
        1 => (1_u16..5).prop_map(Retain),
        1 => any::<u8>().prop_map(Reserve),
        1 => Just(ShrinkToFit),
        1 => Just(Clear),
        1 => any::<u8>().prop_map(Drain),
        1 => Just(Rebuild),
        1 => Just(IncrementAll),
    ];
    prop::collection::vec(operation, 0..400)
}

fn share() -> impl Strategy<Value = Share> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..1.0].prop_map(Share::clamped)
}

fn rule() -> impl Strategy<Value = Rule> {
    (1_u32..10, share()).prop_map(|(below, coin)| Rule::FirstWithRoom { below, coin })
}

fn plan() -> impl Strategy<Value = BucketPlan> {
    let plan = prop_oneof![
        rule().prop_map(|rule| BucketPlan::single(1.0, rule)),
        (1_u32..=5, rule()).prop_map(|(choices, rule)| BucketPlan::sequential(1.0, choices, rule)),
        (1_usize..=4, rule()).prop_map(|(levels, rule)| {
            BucketPlan::multi_level(1.0, &vec![1.0 / levels as f64; levels], rule).unwrap()
        }),
        (1_u32..12).prop_map(|slots| BucketPlan::two_choice(1.0, slots)),
        (1_u32..12, share())
            .prop_map(|(slots, alpha)| BucketPlan::one_plus_alpha(1.0, slots, alpha)),
    ];
    prop_oneof![
        1 => Just(BucketPlan::default()),
        9 => (plan, 0.05..=1.0).prop_map(|(plan, share)| {
            BucketPlan { load: share * f64::from(plan.slots), ..plan }
        }),
    ]
}

/// A hasher that tells all keys apart, one that collides often, one that collides always.
fn hasher() -> impl Strategy<Value = Few> {
    (prop_oneof![3 => Just(0), 1 => Just(1), 2 => 2_u64..40], any::<u64>())
        .prop_map(|(values, seed)| Few { values, seed })
}

type Sorted = Vec<(u16, u32)>;

fn sorted(entries: impl IntoIterator<Item = (u16, u32)>) -> Sorted {
    let mut entries: Sorted = entries.into_iter().collect();
    entries.sort_unstable();
    entries
}

fn follow<T>(
    mut map: Map<u16, u32, T, Few>,
    operations: Vec<Operation>,
) -> Result<(), TestCaseError>
where
    T: RawTable<Entry = (u16, u32)> + Clone,
{
    use Operation::*;
    let mut model = HashMap::new();
    for operation in operations {
        match operation {
            Insert(key, value) => prop_assert_eq!(map.insert(key, value), model.insert(key, value)),
            Remove(key) => prop_assert_eq!(map.remove(&key), model.remove(&key)),
            Get(key) => {
                prop_assert_eq!(map.get(&key), model.get(&key));
                prop_assert_eq!(map.contains_key(&key), model.contains_key(&key));
                prop_assert_eq!(map.get_key_value(&key), model.get_key_value(&key));
            }
            Change(key, value) => {
                let old = |found: Option<&mut u32>| found.map(|v| std::mem::replace(v, value));
                prop_assert_eq!(old(map.get_mut(&key)), old(model.get_mut(&key)));
            }
            EntryAdd(key, value) => {
                let mine = map.entry(key).and_modify(|v| *v = v.wrapping_add(value)).or_insert(7);
                let theirs =
                    model.entry(key).and_modify(|v| *v = v.wrapping_add(value)).or_insert(7);
                prop_assert_eq!(mine, theirs);
            }
            EntryRemove(key) => {
                let removed = match map.entry(key) {
                    Entry::Occupied(entry) => {
                        prop_assert_eq!(*entry.key(), key);
                        Some(entry.remove())
                    }
                    Entry::Vacant(entry) => {
                        prop_assert_eq!(entry.into_key(), key);
                        None
                    }
                };
                prop_assert_eq!(removed, model.remove(&key));
            }
            Retain(modulus) => {
                map.retain(|key, value| {
                    *value ^= 1;
                    key % modulus == 0
                });
                model.retain(|key, value| {
                    *value ^= 1;
                    key % modulus == 0
                });
            }
            Reserve(additional) => {
                map.try_reserve(additional.into()).unwrap();
                prop_assert!(map.capacity() >= map.len() + usize::from(additional));
            }
            ShrinkToFit => map.shrink_to_fit(),
            Clear => {
                map.clear();
                model.clear();
            }
            Drain(some) => {
                // Not to the end: what is left is dropped.
                let mut drained = sorted(map.drain().take(some.into()));
                drained.retain(|(key, value)| model.get(key) != Some(value));
                prop_assert_eq!(drained, vec![]);
                model.clear();
            }
            Rebuild => {
                let copy = map.clone();
                prop_assert!(copy == map);
                map.clear();
                map.extend(copy);
            }
            IncrementAll => {
                map.values_mut().for_each(|value| *value = value.wrapping_add(1));
                model.values_mut().for_each(|value| *value = value.wrapping_add(1));
            }
        }
        prop_assert_eq!(map.len(), model.len());
        prop_assert_eq!(map.is_empty(), model.is_empty());
    }
    let expected = sorted(model);
    prop_assert_eq!(sorted(map.iter().map(|(&key, &value)| (key, value))), expected.clone());
    prop_assert_eq!(sorted(map.keys().copied().zip(map.values().copied())), expected.clone());
    prop_assert_eq!(map.iter().len(), expected.len());
    for (key, value) in &expected {
        prop_assert_eq!(map.get(key), Some(value));
    }
    let statistics = map.statistics();
    prop_assert_eq!(statistics.entries, expected.len());
    let in_buckets: u64 =
        statistics.sizes.iter().zip(0..).map(|(buckets, size)| buckets * size).sum();
    prop_assert_eq!(in_buckets as usize + statistics.stashed, expected.len());
    prop_assert_eq!(sorted(map), expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        rng_seed: RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_balanced_map_answers_like_std(
        plan in plan(),
        capacity in prop_oneof![Just(0), 0_usize..300],
        hasher in hasher(),
        operations in operations(),
    ) {
        follow(Map::from_table(Balanced::new(capacity, plan).unwrap(), hasher), operations)?;
    }

    #[test]
    fn a_cuckoo_map_answers_like_std(
        slots in 1..=4,
        share in 0.2_f64..=1.0,
        capacity in prop_oneof![Just(0), 0_usize..300],
        hasher in hasher(),
        operations in operations(),
    ) {
        fn run<const SLOTS: usize>(
            capacity: usize,
            share: f64,
            hasher: Few,
            operations: Vec<Operation>,
        ) -> Result<(), TestCaseError> {
            let load = share * Cuckoo::<(u16, u32), SLOTS>::MAX_LOAD;
            let table = Cuckoo::<(u16, u32), SLOTS>::new(capacity, load).unwrap();
            follow(Map::from_table(table, hasher), operations)
        }
        match slots {
            1 => run::<1>(capacity, share, hasher, operations)?,
            2 => run::<2>(capacity, share, hasher, operations)?,
            3 => run::<3>(capacity, share, hasher, operations)?,
            _ => run::<4>(capacity, share, hasher, operations)?,
        }
    }
}

/// A counter ends at 15: more entries than that pass these buckets by, and none is forgotten.
#[test]
fn counters_that_have_run_full_lose_nothing() {
    let hasher = Few { values: 1, seed: 0 };
    let plan = BucketPlan::sequential(1.0, 2, Rule::below(1));
    let mut map = Map::from_table(Balanced::new(1_000, plan).unwrap(), hasher);
    for key in 0..700_u32 {
        map.insert(key, key);
    }
    for key in 0..690 {
        assert_eq!(map.remove(&key), Some(key));
    }
    assert_eq!(map.len(), 10);
    assert!((690..700).all(|key| map.get(&key) == Some(&key)));
}

/// No endless rehash: a rebuild is tried again only when the stash has doubled.
#[test]
fn equal_hashes_go_to_the_stash_after_a_bounded_number_of_tries() {
    let mut map: equibloom_tables::CuckooMap<u32, u32, Few> =
        Map::from_table(Cuckoo::new(2_000, 0.9).unwrap(), Few { values: 1, seed: 0 });
    map.extend((0..2_000).map(|key| (key, key)));
    let history = map.history();
    assert!(history.rehashes <= 10, "{history:?}");
    assert_eq!(map.statistics().stashed, 2_000 - 2 * 4);
    assert!((0..2_000).all(|key| map.get(&key) == Some(&key)));
}
