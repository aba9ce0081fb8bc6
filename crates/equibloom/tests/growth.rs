//! A growing filter keeps its rate, its memory and its lookups' cost while it grows, and pauses for nothing.
#![cfg(feature = "planner")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;

use equibloom::{
    AccessStatistics, Filter, GrowingFilter, Insertion, MergeError, RemoveError, WithBuildHasher,
};

mod random;
use random::Random;

fn growing(rate: f64) -> GrowingFilter<u64> {
    Filter::builder().rate(rate).build_growing().unwrap()
}

/// From here on come keys that are never inserted.
const ABSENT: u64 = 1 << 40;

/// Inserts `0..keys` one by one and checks what is promised on the way: the rate at every doubling, computed from
/// the contents and measured on absent keys (4σ), the blocks per miss, and, with a planned filter of 1 M keys beside,
/// the memory at 0.5 % intervals.
fn grow(rate: f64, keys: u64, ratio_limit: f64, mean_limit: f64) {
    let planned = Filter::<u64>::builder().keys(1_000_000).rate(rate).plan().unwrap();
    let planned = planned.bits_per_key();
    let mut filter = growing(rate);
    let (mut next_check, mut next_sample) = (1_000, 100.0);
    let (mut sum, mut samples) = (0.0, 0_u32);
    let mut elements = 0;
    for key in 0..keys {
        elements += u64::from(filter.insert(&key).unwrap().is_new());
        let inserted = (key + 1) as f64;
        if inserted >= next_sample {
            next_sample *= 1.005;
            let ratio = 8.0 * filter.bytes() as f64 / inserted / planned;
            assert!(
                ratio <= ratio_limit || filter.bytes() <= 64 << 10,
                "{} bytes at {inserted} keys: {ratio}",
                filter.bytes(),
            );
            if key >= 100_000 {
                (sum, samples) = (sum + ratio, samples + 1);
            }
        }
        if key + 1 == next_check || key + 1 == keys {
            next_check *= 2;
            let statistics = filter.statistics();
            assert_eq!(statistics.elements, elements);
            assert_eq!(statistics.memory.total(), filter.bytes());
            assert!(statistics.expected_rate <= rate, "{key}: {}", statistics.expected_rate);
            let absent = 400_000;
            let mut accesses = AccessStatistics::default();
            let found = (ABSENT..ABSENT + absent)
                .filter(|key| filter.contains_counted(key, &mut accesses))
                .count() as f64;
            let expected = statistics.expected_rate * absent as f64;
            assert!((found - expected).abs() < 4.0 * expected.sqrt() + 1.0, "{found} {expected}");
            let blocks = accesses.misses.mean_blocks();
            let expected = statistics.expected_accesses_per_miss;
            // At most two blocks more, for a share of the misses: σ is below 2 / √400,000.
            assert!((blocks - expected).abs() < 4.0 * 0.0032 + rate, "{blocks} {expected}");
            assert!(blocks <= 2.5, "{blocks}");
        }
    }
    assert!((0..keys).all(|key| filter.contains(&key)));
    let mean = sum / f64::from(samples.max(1));
    assert!(mean <= mean_limit, "{mean}");
    let longest = filter.longest_insert();
    assert!(longest.blocks > 0 && longest.blocks <= 32, "{longest:?}");
    assert!(longest.bytes > 0 && longest.bytes <= 64 << 10, "{longest:?}");
}

#[test]
fn at_one_percent_memory_rate_and_lookups_stay_within_limits() {
    grow(0.01, 3_000_000, 2.5, 1.9);
}

#[test]
fn at_lower_rates_too() {
    grow(1e-3, 1_000_000, 2.5, 1.9);
    grow(1e-6, 300_000, 2.5, 1.9);
}

/// The price of growth is some bits per key, whatever the rate: at 10 % it is more than the planned filter's.
#[test]
fn at_ten_percent_growth_costs_more() {
    grow(0.1, 1_000_000, 3.5, 2.7);
}

/// As above, to the size that the limits are stated for. Takes a minute.
#[test]
#[ignore = "long: cargo test --release -p equibloom --test growth -- --ignored"]
fn up_to_a_hundred_million_keys() {
    grow(0.01, 100_000_000, 2.5, 1.9);
}

#[test]
fn a_first_size_saves_growing_and_keeps_the_rate() {
    let builder = Filter::builder().keys(200_000).rate(0.001);
    let mut filter = builder.build_growing().unwrap();
    let bytes = filter.bytes();
    assert_eq!(builder.growing_bytes().unwrap(), bytes);
    filter.try_extend(0..190_000_u64).unwrap();
    assert_eq!(filter.bytes(), bytes);
    assert_eq!(filter.longest_insert().blocks, 0);
    filter.try_extend(190_000..1_000_000_u64).unwrap();
    assert!(filter.bytes() > 2 * bytes && filter.statistics().expected_rate < 0.001);
    assert!((0..1_000_000).all(|key| filter.contains(&key)));

    let small = growing(0.001);
    assert!(small.bytes() < 2_048, "{}", small.bytes());
}

#[test]
fn repeated_keys_do_not_grow_the_filter() {
    let mut filter = growing(0.001);
    for _ in 0..50 {
        for key in 0..90 {
            filter.insert(&key).unwrap();
        }
    }
    assert!(filter.len() <= 90 && filter.bytes() < 4_096);
    assert_eq!(filter.insert(&5).unwrap(), Insertion::AlreadyPresent);
}

/// One key a million times takes the memory of one, whichever way it was inserted.
#[test]
fn copies_of_a_key_are_counted() {
    const COPIES: u64 = 1_000_000;
    let builder = Filter::<u64>::builder().rate(0.001).removable();
    let mut one_by_one = builder.build_growing().unwrap();
    let mut batch = one_by_one.clone();
    let shared = builder.build_shared_growing().unwrap();
    for _ in 0..COPIES {
        assert!(one_by_one.insert(&7).unwrap().is_new());
        assert!(shared.insert(&7).unwrap().is_new());
    }
    assert_eq!(batch.insert_batch(&vec![7_u64; COPIES as usize]), Ok(COPIES));
    for mut filter in [one_by_one, batch, shared.into_growing().unwrap()] {
        assert_eq!(filter.len(), COPIES);
        assert!(filter.bytes() < 8_192, "{}", filter.bytes());
        for _ in 0..COPIES {
            assert_eq!(filter.remove(&7), Ok(()));
        }
        assert_eq!(filter.remove(&7), Err(RemoveError::NotPresent));
        assert!(filter.is_empty() && !filter.contains(&7));
    }
}

#[test]
fn batches_are_inserts_and_lookups_one_by_one() {
    let keys: Vec<u64> = (0..100_000).map(|key| key % 70_000).collect();
    let (mut one_by_one, mut batched) = (growing(0.01), growing(0.01));
    let new = keys.iter().filter(|key| one_by_one.insert(key).unwrap().is_new()).count();
    assert_eq!(batched.insert_batch(&keys).unwrap(), new as u64);
    assert!(one_by_one == batched);
    assert!(one_by_one.clone() == batched);

    let asked: Vec<u64> = (0..10_007).map(|key| key * 13).collect();
    let (mut found, mut bitmap) = (Vec::new(), Vec::new());
    batched.contains_batch(&asked, &mut found);
    batched.contains_batch_bitmap(&asked, &mut bitmap);
    let expected: Vec<bool> = asked.iter().map(|key| one_by_one.contains(key)).collect();
    assert_eq!(found, expected);
    assert_eq!(bitmap.len(), asked.len().div_ceil(64));
    assert!((0..asked.len()).all(|i| (bitmap[i / 64] >> (i % 64) & 1 == 1) == expected[i]));
    batched.contains_batch::<u64>(&[], &mut found);
    assert!(found.is_empty());
}

/// Random inserts and removals, while the filter grows to 300,000 keys, against an exact multiset.
#[test]
fn a_removable_filter_is_a_multiset() {
    let mut filter = Filter::<u64>::builder().rate(0.01).removable().build_growing().unwrap();
    let mut random = Random(7);
    let mut oracle = BTreeMap::<u64, u64>::new();
    let mut elements = 0;
    for _ in 0..800_000 {
        let key = random.between(0, 400_000);
        let copies = oracle.entry(key).or_default();
        if random.between(0, 9) < 7 || *copies == 0 {
            assert!(filter.insert(&key).unwrap().is_new());
            *copies += 1;
            elements += 1;
        } else {
            filter.remove(&key).unwrap();
            *copies -= 1;
            elements -= 1;
        }
    }
    assert_eq!(filter.len(), elements);
    assert!(oracle.iter().all(|(key, &copies)| copies == 0 || filter.contains(key)));
    let rate = filter.statistics().expected_rate;
    assert!(rate < 0.01, "{rate}");
    for (key, copies) in oracle {
        (0..copies).for_each(|_| filter.remove(&key).unwrap());
    }
    assert!(filter.is_empty());
    // Strings without remainder, of which there are none yet, would leave copies behind.
    assert_eq!(filter.statistics().expected_rate, 0.0);
    assert_eq!(filter.remove(&5), Err(RemoveError::NotPresent));
    assert!(matches!(growing(0.01).remove(&5), Err(RemoveError::NotRemovable(_))));
}

#[test]
fn merging_adds_all_keys_of_any_size_and_rate() {
    for (ours, theirs) in [(0, 50_000), (1_000, 200_000), (200_000, 1_000), (150_000, 150_000)] {
        let (mut filter, mut other) = (growing(0.01), growing(0.001));
        filter.try_extend(0..ours).unwrap();
        other.try_extend(ABSENT..ABSENT + theirs).unwrap();
        filter.merge(&other).unwrap();
        assert!((0..ours).all(|key| filter.contains(&key)));
        assert!((ABSENT..ABSENT + theirs).all(|key| filter.contains(&key)));
        let statistics = filter.statistics();
        assert!(statistics.expected_rate < 0.011, "{}", statistics.expected_rate);
        let bits = 8.0 * filter.bytes() as f64 / (ours + theirs) as f64;
        assert!(bits < 24.0, "{ours} and {theirs}: {bits}");
        filter.clear();
        assert!(filter.is_empty() && !filter.contains(&5) && filter.bytes() < 2_048);
    }
}

#[test]
fn filters_that_cannot_be_merged_are_refused() {
    let builder = || Filter::<u64>::builder().rate(0.01);
    let mut filter = builder().removable().build_growing().unwrap();
    let other_seed = builder().removable().seed(5).build_growing().unwrap();
    assert_eq!(filter.merge(&other_seed), Err(MergeError::OtherHash));
    assert_eq!(filter.merge(&growing(0.01)), Err(MergeError::OtherKind));
    growing(0.01).merge(&filter).unwrap();
}

#[test]
fn other_hash_functions_serve_as_well() {
    let hasher = WithBuildHasher::new(std::hash::RandomState::new());
    let builder = Filter::<(u32, char)>::builder().rate(0.01);
    let mut filter = builder.build_growing_with_hasher(hasher).unwrap();
    for number in 0..50_000 {
        filter.insert(&(number, 'x')).unwrap();
    }
    assert!((0..50_000).all(|number| filter.contains(&(number, 'x'))));
    assert!(filter.statistics().expected_rate < 0.01);
}

#[test]
fn requirements_that_a_growing_filter_cannot_keep_are_refused() {
    let builder = || Filter::<u64>::builder().keys(100);
    for (builder, words) in [
        (builder(), "set rate"),
        (builder().bits_per_key(10.0), "set rate"),
        (builder().rate(0.01).memory(1_000), "drop memory"),
        (builder().rate(1e-15), "set rate to 1e-12"),
        (builder().rate(0.7), "set rate to 1e-12"),
    ] {
        let refused = builder.build_growing().unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}
