//! Filters whose keys can be removed, against an exact multiset.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod designs;

use std::collections::HashMap;

use designs::{cases, fingerprints, parameters};
use equibloom::{Blocks, Filter, Layout, Overflow, Parameters, RemoveError, WhenFull};
use proptest::prelude::*;

/// Inserts and removals of few distinct keys: a key, and whether it is removed.
fn operations() -> impl Strategy<Value = Vec<(u16, bool)>> {
    prop::collection::vec((0_u16..120, prop::bool::weighted(0.45)), 0..800)
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn a_key_is_present_while_it_was_inserted_more_often_than_removed(
        layout in fingerprints(true),
        operations in operations(),
        planned in 0_u64..300,
    ) {
        let parameters = Parameters { keys: planned, seed: 3, design: layout.into() };
        let mut filter = Filter::new(&parameters).unwrap();
        let mut model: HashMap<u16, u32> = HashMap::new();
        let mut elements = 0;
        for (key, removal) in operations {
            let count = model.entry(key).or_default();
            if !removal {
                if filter.insert(&key).is_ok() {
                    *count += 1;
                    elements += 1;
                }
            } else if *count > 0 {
                prop_assert_eq!(filter.remove(&key), Ok(()));
                *count -= 1;
                elements -= 1;
            } else if !filter.contains(&key) {
                prop_assert_eq!(filter.remove(&key), Err(RemoveError::NotPresent));
            }
            prop_assert_eq!(filter.statistics().elements, elements);
            prop_assert!(model[&key] == 0 || filter.contains(&key));
        }
        for (key, count) in model {
            prop_assert!(count == 0 || filter.contains(&key), "{} was lost", key);
            for _ in 0..count {
                prop_assert_eq!(filter.remove(&key), Ok(()));
            }
        }
        prop_assert_eq!(filter.statistics().overflowed, 0);
        prop_assert_eq!(filter.statistics().loads().iter().skip(1).sum::<u64>(), 0);
    }

    #[test]
    fn a_filter_that_takes_a_key_once_gives_none_back(parameters in parameters()) {
        let mut filter = Filter::new(&parameters).unwrap();
        let taken = filter.insert("key").is_ok();
        let refused = filter.remove("key");
        prop_assert!(matches!(refused, Err(RemoveError::NotRemovable(_))), "{:?}", refused);
        prop_assert_eq!(filter.contains("key"), taken);
    }
}

/// A generator without a crate: the cases must not depend on a crate's version.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0 ^ self.0 >> 29) * u128::from(bound)) >> 64) as u64
    }
}

fn removable(sizes: &[u64], slots: u32, lists: u32, overflow: Overflow) -> Filter<u64> {
    let blocks = Blocks::Fingerprint { slots, lists, remainder_bits: 7 };
    let layout = Layout::fingerprints(blocks, sizes).unwrap().with_overflow(overflow);
    let design = layout.with_removal().into();
    Filter::new(&Parameters { keys: 20_000, seed: 1, design }).unwrap()
}

/// One key a million times costs one entry of the list, whichever way it was inserted.
#[test]
fn repeated_keys_are_counted() {
    let overflow = Overflow { capacity: 3, when_full: WhenFull::Refuse };
    let copies = 1_000_000;
    let empty = removable(&[20, 3], 50, 104, overflow);
    let mut one_by_one = empty.clone();
    for _ in 0..copies {
        assert!(one_by_one.insert(&7).unwrap().is_new());
    }
    let mut batch = empty.clone();
    assert_eq!(batch.insert_batch(&vec![7_u64; copies as usize]), Ok(copies));
    let mut merged = empty.clone();
    merged.insert_batch(&vec![7_u64; copies as usize / 2]).unwrap();
    let half = merged.clone();
    merged.merge(&half).unwrap();
    for mut filter in [one_by_one, batch, merged] {
        // Three entries fit; two more keys with as many copies, and no fourth.
        let statistics = filter.statistics();
        assert_eq!((statistics.elements, statistics.saturated), (copies, 0));
        assert_eq!(statistics.memory, empty.statistics().memory);
        // One of twenty blocks has a fingerprint, and one is in the list.
        let fingerprints = 104.0 * 128.0;
        assert!(statistics.expected_rate <= 2.1 / 20.0 / fingerprints);
        for key in [8, 9] {
            assert_eq!(filter.insert_batch(&[key; 20]), Ok(20));
        }
        assert!((0..20).any(|_| filter.insert(&10).is_err()));
        for _ in 0..copies {
            assert!(filter.contains(&7));
            assert_eq!(filter.remove(&7), Ok(()));
        }
        assert_eq!(filter.remove(&7), Err(RemoveError::NotPresent));
        assert!(filter.contains(&8) && filter.contains(&9));
    }
}

/// Twenty times as many replacements as keys: watermarks only rise, and still few keys come to the list.
#[test]
fn a_filter_with_room_outlives_many_replacements() {
    let keys = 20_000_u64;
    let overflow = Overflow { capacity: 200, when_full: WhenFull::Refuse };
    // 11.6 bits per key.
    let mut filter = removable(&[370, 72, 9], 50, 104, overflow);
    filter.try_extend(0..keys).unwrap();
    for key in 0..20 * keys {
        filter.insert(&(key + keys)).unwrap();
        filter.remove(&key).unwrap();
        if key % 50_000 == 0 {
            assert!((key + 1..=key + keys).all(|key| filter.contains(&key)));
        }
    }
    assert!((20 * keys..21 * keys).all(|key| filter.contains(&key)));
    let statistics = filter.statistics();
    assert_eq!(statistics.elements, keys);
    println!("{} in the list, rate {:e}", statistics.overflowed, statistics.expected_rate);
    assert!(statistics.expected_rate < 6e-3, "{:e}", statistics.expected_rate);
}

/// A million operations, the occupancy rising and falling between empty and overfull.
#[test]
fn a_million_inserts_and_removals_at_every_occupancy() {
    let blocks = Blocks::Fingerprint { slots: 37, lists: 48, remainder_bits: 9 };
    let layout = Layout::fingerprints(blocks, &[580, 100, 20])
        .unwrap()
        .with_overflow(Overflow { capacity: 300, when_full: WhenFull::Saturate })
        .with_removal();
    let slots = 700 * 37;
    let parameters = Parameters { keys: slots, seed: 1, design: layout.into() };
    let mut filter = Filter::new(&parameters).unwrap();

    let mut numbers = Numbers(7);
    let mut present: Vec<u64> = Vec::new();
    let mut fullest = 0;
    for step in 0..1_000_000_u64 {
        // From empty to 5 % more keys than slots and back, five times.
        let phase = (step % 200_000) as f64 / 200_000.0;
        let target = 1.05 * slots as f64 * (1.0 - (2.0 * phase - 1.0).abs());
        let removal = !present.is_empty()
            && (numbers.below(100) < if present.len() as f64 > target { 80 } else { 20 });
        if removal {
            let key = present.swap_remove(numbers.below(present.len() as u64) as usize);
            assert_eq!(filter.remove(&key), Ok(()), "step {step}");
        } else {
            // Half of the keys from a small range, so that some occur many times.
            let key = numbers.below(if step % 2 == 0 { 5_000 } else { u64::MAX });
            assert!(filter.insert(&key).unwrap().is_new());
            present.push(key);
        }
        if step % 20_000 == 0 {
            assert!(present.iter().all(|key| filter.contains(key)), "step {step}");
            assert_eq!(filter.statistics().elements, present.len() as u64);
        }
        fullest = fullest.max(present.len());
    }
    assert!(fullest as u64 > slots, "{fullest}");
    for key in present {
        assert!(filter.contains(&key));
        assert_eq!(filter.remove(&key), Ok(()));
    }
    assert_eq!(filter.statistics().elements, 0);
}
