//! Growing filters that threads share: as good as those of one thread, and no key is lost while they grow and are
//! copied.
#![cfg(all(feature = "planner", target_has_atomic = "64"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use equibloom::{
    Filter, FilterBuilder, GrowingFilter, MergeError, RemoveError, SharedGrowingFilter,
    WithBuildHasher,
};

mod random;
use random::Random;

fn builder(rate: f64, removable: bool) -> FilterBuilder<u64> {
    let builder = Filter::<u64>::builder().rate(rate).seed(5);
    if removable { builder.removable() } else { builder }
}

/// From here on come keys that are never inserted.
const ABSENT: u64 = 1 << 40;

/// What holds for every copy of a filter with these keys.
fn check_copy(copy: &GrowingFilter<u64>, keys: u64, rate: f64) {
    assert!((0..keys).all(|key| copy.contains(&key)), "of {keys}");
    let statistics = copy.statistics();
    assert!(statistics.expected_rate <= rate, "{keys}: {}", statistics.expected_rate);
    let absent = 50_000;
    let found = (ABSENT..ABSENT + absent).filter(|key| copy.contains(key)).count() as f64;
    let expected = statistics.expected_rate * absent as f64;
    assert!((found - expected).abs() < 4.5 * expected.sqrt() + 1.0, "{found} {expected}");
}

/// At many moments of growth: a shared filter, its copy, the way back and forth, and a growing filter with the same
/// keys.
#[test]
fn a_shared_filter_is_as_good_as_one_of_a_single_thread() {
    for (rate, removable) in [(0.01, false), (0.01, true), (0.1, false), (1e-6, true)] {
        let mut own = builder(rate, removable).build_growing().unwrap();
        let mut shared = builder(rate, removable).build_shared_growing().unwrap();
        let mut random = Random(7);
        let mut keys = 0;
        while keys < 150_000 {
            let more = random.between(0, 200 + keys / 10);
            own.try_extend(keys..keys + more).unwrap();
            shared.try_extend(keys..keys + more).unwrap();
            keys += more;
            let copy = shared.snapshot().unwrap();
            check_copy(&copy, keys, rate);
            assert_eq!(copy.len(), shared.len());
            assert_eq!(shared.statistics().unwrap().memory.total(), shared.bytes());
            if removable {
                assert_eq!(shared.len(), own.len());
            }
            assert!(shared.len().abs_diff(own.len()) as f64 <= 2.0 * rate * keys as f64);
            // What is converted grows on.
            match random.between(0, 5) {
                0 => own = copy,
                1 => shared = shared.into_growing().unwrap().into_shared().unwrap(),
                2 => {
                    (own, shared) = (shared.into_growing().unwrap(), own.into_shared().unwrap());
                }
                _ => {}
            }
            let list = (0..keys).step_by(97).chain(ABSENT..ABSENT + 100).collect::<Vec<_>>();
            let (mut found, mut words) = (Vec::new(), Vec::new());
            shared.contains_batch(&list, &mut found);
            shared.contains_batch_bitmap(&list, &mut words);
            for (number, key) in list.iter().enumerate() {
                assert_eq!(found[number], shared.contains(key));
                assert_eq!(words[number / 64] >> (number % 64) & 1 == 1, found[number]);
            }
        }
        check_copy(&own, keys, rate);
        let (ours, theirs) = (shared.bytes(), own.bytes());
        assert!(ours < theirs * 3 / 2 + (64 << 10), "{ours} {theirs}");
        let longest = shared.longest_insert();
        assert!(longest.blocks <= 32 && longest.bytes <= 64 << 10, "{longest:?}");
        shared.clear();
        assert!(shared.is_empty() && !(0..keys).any(|key| shared.contains(&key)));
    }
}

#[test]
fn an_empty_filter_is_small() {
    for rate in [0.1, 0.01, 1e-6] {
        let filter = builder(rate, false).build_shared_growing().unwrap();
        assert!(filter.bytes() <= 64 << 10, "{}", filter.bytes());
    }
    // Memory for so many keys at first.
    let filter = builder(0.01, false).keys(1_000_000).build_shared_growing().unwrap();
    assert!(filter.bytes() > 1_200_000);
    filter.try_extend(0..900_000).unwrap();
    assert_eq!(filter.longest_insert().blocks, 0);
}

/// The memory, sampled whenever the keys have grown by 0.5 %, is at most 2.5 times that of a filter planned for a million
/// keys.
fn check_memory(rate: f64, most_keys: u64, mean_limit: f64) {
    let planned = Filter::<u64>::builder().keys(1_000_000).rate(rate).plan().unwrap();
    let planned = planned.bits_per_key();
    let filter = builder(rate, false).build_shared_growing().unwrap();
    filter.try_extend(0..100_000).unwrap();
    let (mut keys, mut sum, mut samples) = (100_000, 0.0, 0.0);
    while keys < most_keys {
        let ratio = 8.0 * filter.bytes() as f64 / keys as f64 / planned;
        assert!(ratio <= 2.5, "{keys}: {ratio}");
        (sum, samples) = (sum + ratio, samples + 1.0);
        filter.try_extend(keys..keys + keys / 200).unwrap();
        keys += keys / 200;
    }
    assert!(sum / samples <= mean_limit, "{}", sum / samples);
}

/// One table takes 1.84 times as much on average. Of 32, the parts of segments that are not in use count 32 times, and what
/// they take without their blocks, 30 KiB, counts at the beginning.
#[test]
fn memory_stays_within_limits_while_all_tables_grow() {
    check_memory(0.01, 2_000_000, 1.96);
    check_memory(1e-3, 2_000_000, 1.9);
}

#[test]
#[ignore = "long: cargo test --release -p equibloom --test shared_growth -- --ignored"]
fn up_to_a_hundred_million_keys_as_well() {
    check_memory(0.01, 100_000_000, 1.95);
}

/// A removable filter against an exact multiset.
#[test]
fn removed_keys_are_gone() {
    let filter = builder(1e-9, true).build_shared_growing().unwrap();
    let mut copies = vec![0_u32; 3_000];
    let mut random = Random(3);
    for round in 0..60_000 {
        let key = random.between(0, 2_999);
        if random.between(0, 2) < 2 {
            filter.insert(&key).unwrap();
            copies[key as usize] += 1;
        } else {
            let expected =
                if copies[key as usize] > 0 { Ok(()) } else { Err(RemoveError::NotPresent) };
            assert_eq!(filter.remove(&key), expected);
            copies[key as usize] = copies[key as usize].saturating_sub(1);
        }
        if round % 10_000 == 0 {
            let copy = filter.snapshot().unwrap().into_shared().unwrap();
            assert_eq!(copy.len(), copies.iter().map(|&copies| u64::from(copies)).sum::<u64>());
            for (key, &copies) in (0..).zip(&copies) {
                for _ in 0..copies {
                    assert_eq!(copy.remove(&key), Ok(()));
                }
                assert!(!copy.contains(&key));
            }
            assert!(copy.is_empty());
        }
    }
    let fixed = builder(0.01, false).build_shared_growing().unwrap();
    assert!(matches!(fixed.remove(&1), Err(RemoveError::NotRemovable(_))));
}

#[test]
fn filters_are_merged_into_a_shared_one() {
    for removable in [false, true] {
        let shared = builder(0.001, removable).build_shared_growing().unwrap();
        shared.try_extend(0..5_000).unwrap();
        let mut other = builder(0.0001, true).build_growing().unwrap();
        other.try_extend(4_000..30_000).unwrap();
        (0..10).for_each(|_| assert!(other.insert(&4_000).unwrap().is_new()));
        shared.merge(&other).unwrap();
        assert!((0..30_000).all(|key| shared.contains(&key)));
        let expected = shared.statistics().unwrap().expected_rate;
        assert!(expected < 0.0011, "{expected}");
        assert!(shared.len() <= 31_010 && shared.len() > 30_900);
        if removable {
            (0..12).for_each(|_| shared.remove(&4_000).unwrap());
            let fixed = builder(0.01, false).build_growing().unwrap();
            assert!(matches!(shared.merge(&fixed), Err(MergeError::OtherKind)));
        }
    }
    let shared = builder(0.01, false).build_shared_growing().unwrap();
    let other = builder(0.01, false).seed(6).build_growing().unwrap();
    assert!(matches!(shared.merge(&other), Err(MergeError::OtherHash)));
}

#[test]
fn any_hash_function_will_do() {
    let hasher =
        WithBuildHasher::new(std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default());
    let builder = Filter::<(u32, &str)>::builder().rate(0.001);
    let filter = builder.build_shared_growing_with_hasher(hasher).unwrap();
    assert!(filter.insert(&(1, "a")).unwrap().is_new());
    assert!(filter.contains(&(1, "a")) && !filter.contains(&(2, "a")));
    assert!(filter.contains_hash(filter.hash(&(1, "a"))));
    assert!(!filter.insert_hash(filter.hash(&(1, "a"))).unwrap().is_new());
    assert!(Filter::<u64>::builder().build_shared_growing().is_err());
    assert!(Filter::<u64>::builder().rate(0.9).build_shared_growing().is_err());
    assert!(format!("{filter:?}").contains("rate: 0.001"));
}

const THREADS: u64 = 4;

/// Threads insert, remove some keys, look up and publish their progress; beside them, copies are made, and each has
/// every key that was published before.
#[test]
fn a_copy_has_every_key_whose_insert_had_returned() {
    for removable in [false, true] {
        let filter: SharedGrowingFilter<u64> =
            builder(0.01, removable).build_shared_growing().unwrap();
        let published: Vec<AtomicU64> = (0..THREADS).map(|_| AtomicU64::new(0)).collect();
        let keys = if cfg!(miri) { 100 } else { 60_000 };
        let mut copies = 0;
        thread::scope(|scope| {
            for (thread, published) in (0..).zip(&published) {
                let filter = &filter;
                scope.spawn(move || {
                    let mut random = Random(thread);
                    let mut own = HashSet::new();
                    for number in 0..keys {
                        let key = number * THREADS + thread;
                        filter.insert(&key).unwrap();
                        own.insert(key);
                        published.store(number + 1, Ordering::Release);
                        let asked = random.between(0, number) * THREADS + thread;
                        assert!(own.contains(&asked) && filter.contains(&asked));
                        if removable {
                            filter.insert(&(ABSENT + key)).unwrap();
                            filter.remove(&(ABSENT + key)).unwrap();
                        }
                    }
                });
            }
            loop {
                let known = published.iter().map(|published| published.load(Ordering::Acquire));
                let known = known.collect::<Vec<_>>();
                let copy = filter.snapshot().unwrap();
                for (thread, &known) in (0..).zip(&known) {
                    for number in 0..known {
                        assert!(copy.contains(&(number * THREADS + thread)), "{known:?}");
                    }
                }
                copies += 1;
                if known.iter().all(|&known| known == keys) {
                    break;
                }
            }
        });
        assert!(copies > 3, "{copies}");
        assert!(filter.len() >= keys * THREADS * 98 / 100);
        let own = filter.into_growing().unwrap();
        assert!((0..keys * THREADS).all(|key| own.contains(&key)));
    }
}
