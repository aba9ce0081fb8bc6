//! A growing filter keeps its rate.
#![cfg(feature = "planner")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom::{
    AccessStatistics, DEFAULT_ACCESSES_MISS, Filter, GrowingFilter, Insertion, KeyHasher,
};

/// A lookup that counts its accesses, each stage as a separate lookup.
fn contains_counted(
    filter: &GrowingFilter<u64>,
    key: u64,
    accesses: &mut AccessStatistics,
) -> bool {
    let hash = filter.hasher().hash_key(&key);
    filter.stages().iter().rev().any(|stage| stage.contains_counted(hash, accesses))
}

/// From a thousand keys to two hundred times as many: the rate is checked at every doubling, computed from the
/// stages and measured on absent keys (4σ).
#[test]
fn the_rate_stays_below_the_promise_while_the_filter_grows() {
    let promise = 0.01;
    let mut filter = Filter::builder().keys(1_000).rate(promise).build_growing().unwrap();
    let absent = 100_000;
    let mut check = 1_000;
    let mut stored = 0;
    for key in 0..200_000_u64 {
        stored += u64::from(filter.insert(&key).unwrap().is_new());
        if key + 1 == check || key + 1 == 200_000 {
            check *= 2;
            assert!(filter.expected_rate() <= promise, "{} keys", key + 1);
            let mut accesses = AccessStatistics::default();
            let first = 1_u64 << 40;
            let taken = (first..first + absent)
                .filter(|&key| contains_counted(&filter, key, &mut accesses))
                .count() as f64;
            let expected = filter.expected_rate() * absent as f64;
            assert!((taken - expected).abs() < 4.0 * expected.sqrt() + 1.0, "{taken} {expected}");
            let lookups = accesses.misses.operations as f64 / absent as f64;
            let measured = accesses.misses.mean_blocks() * lookups;
            let expected = filter.expected_accesses_per_miss();
            assert!((measured / expected - 1.0).abs() < 0.03, "{measured} {expected}");
            assert!(expected < DEFAULT_ACCESSES_MISS * filter.stages().len() as f64);
        }
    }
    assert!((0..200_000_u64).all(|key| filter.contains(&key)));
    // A new key may displace an entry that meets its equal further on: no entry more, then.
    let elements = filter.elements() as f64;
    assert!(elements <= stored as f64 && elements > stored as f64 * (1.0 - promise));
    assert!(stored as f64 > 200_000.0 * (1.0 - promise));
    assert_eq!(filter.stages().len(), 8);
    let bits_per_key = 8.0 * filter.bytes() as f64 / stored as f64;
    assert!(bits_per_key < 25.0, "{bits_per_key}");
}

#[test]
fn repeated_keys_do_not_grow_the_filter() {
    let mut filter = Filter::builder().keys(100).rate(0.001).build_growing().unwrap();
    for _ in 0..50 {
        for key in 0..90_u32 {
            filter.insert(&key).unwrap();
        }
    }
    assert_eq!(filter.stages().len(), 1);
    assert_eq!(filter.insert(&5_u32).unwrap(), Insertion::AlreadyPresent);
}

#[test]
fn requirements_that_a_growing_filter_cannot_keep_are_refused() {
    let builder = || Filter::<u64>::builder().keys(100);
    for (builder, words) in [
        (builder(), "set rate"),
        (builder().bits_per_key(10.0), "set rate"),
        (builder().rate(0.01).memory(1_000), "drop memory"),
        (builder().rate(0.01).removable(), "cannot be removed"),
    ] {
        let refused = builder.build_growing().unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}
