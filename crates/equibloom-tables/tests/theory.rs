//! The maps measure what the theory says.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod hashers;

use std::hash::BuildHasher;

use equibloom_layout::Share;
use equibloom_tables::{BalancedMap, BucketPlan, CuckooMap, TableStatistics};
use equibloom_theory::lower_bound::{LowerBound, costs, lower_bound};
use equibloom_theory::{cuckoo, optimum};
use hashers::Few;

fn filled(plan: BucketPlan, buckets: usize, seed: u64) -> TableStatistics {
    let entries = (buckets as f64 * plan.load).round() as usize;
    let hasher = Few { values: 0, seed };
    let mut map = BalancedMap::with_plan_and_hasher(entries, plan, hasher).unwrap();
    map.extend((0..entries as u64).map(|key| (key, ())));
    let statistics = map.statistics();
    assert!(statistics.buckets.abs_diff(buckets) <= 1, "no growth: {} buckets", statistics.buckets);
    statistics
}

/// Variance of the bound, and the standard deviation of a variance measured on so many buckets.
fn variance_and_deviation(bound: &LowerBound, buckets: usize) -> (f64, f64) {
    let mean = bound.mean_load();
    let variance = bound.cost(costs::variance(mean)).unwrap();
    let fourth: f64 = bound
        .distribution
        .iter()
        .zip(0..)
        .map(|(mass, i)| mass * (f64::from(i) - mean).powi(4))
        .sum();
    (variance, ((fourth - variance * variance) / buckets as f64).sqrt())
}

/// Section VIII of the energy paper: with the cost i² the bucket sizes have the least variance.
#[test]
fn bucket_sizes_have_the_variance_of_the_lower_bound() {
    let buckets = 60_000;
    for (load, accesses, choices, seed) in
        [(2.0, 1.2, 3, 1), (3.5, 1.1, 3, 2), (6.0, 1.2, 3, 3), (8.0, 1.05, 2, 4), (20.0, 1.4, 4, 5)]
    {
        let multi_level = optimum::multi_level(load, accesses, choices, None).unwrap().overflow;
        let sequential = optimum::sequential(load, accesses, choices, None).unwrap().overflow;
        for (plan, accesses, overflow) in [
            (BucketPlan::optimal_single(load, multi_level).unwrap(), 1.0, multi_level),
            (
                BucketPlan::optimal_sequential(load, accesses, choices).unwrap(),
                accesses,
                sequential,
            ),
            (
                BucketPlan::optimal_multi_level(load, accesses, choices).unwrap(),
                accesses,
                multi_level,
            ),
        ] {
            let bound = lower_bound(load, accesses, overflow).unwrap();
            let (expected, deviation) = variance_and_deviation(&bound, buckets);
            let statistics = filled(plan, buckets, seed);
            let measured = statistics.variance();
            assert!(
                (measured - expected).abs() <= 4.0 * deviation + 0.01 * expected,
                "{plan:?}: {measured}, not {expected}"
            );
            let most = plan.choices() as usize;
            for lookups in [statistics.hits, statistics.misses] {
                assert!(lookups.buckets.max <= most && lookups.buckets.p99 <= lookups.buckets.max);
                assert!(lookups.lines.mean >= lookups.buckets.mean);
            }
            // A hit reads as many buckets as its insert did.
            let share = statistics.stashed as f64 / statistics.entries as f64;
            assert!((share - overflow).abs() < 0.1 * overflow + 0.001, "{share}, not {overflow}");
            assert!((statistics.hits.buckets.mean - accesses).abs() < 0.02 * accesses);
        }
    }
}

/// Above the least overflow placing stops when its accesses are spent; removed entries give theirs back.
#[test]
fn a_budget_gives_the_lower_bound_and_loses_no_entry() {
    let buckets = 60_000;
    for (load, accesses, choices, overflow) in [(7.0, 1.17, 3, 0.031), (12.0, 1.33, 4, 0.044)] {
        for scheme in [optimum::sequential, optimum::multi_level] {
            let Ok(best) = scheme(load, accesses, choices, Some(overflow)) else { continue };
            let plan = BucketPlan::optimal(load, &best).unwrap();
            let bound = lower_bound(load, accesses, overflow).unwrap();
            let (expected, deviation) = variance_and_deviation(&bound, buckets);
            let statistics = filled(plan, buckets, 6);
            let measured = statistics.variance();
            assert!(
                (measured - expected).abs() <= 4.0 * deviation + 0.01 * expected,
                "{plan:?}: {measured}, not {expected}"
            );
            let entries = statistics.entries as f64;
            let share = statistics.stashed as f64 / entries;
            let sigma = (accesses * (accesses - 1.0) / entries).sqrt();
            assert!((share - overflow).abs() <= 4.0 * sigma + 0.01 * overflow, "{share}");
        }
    }
    let plan = BucketPlan { budget: Some(1.0), ..BucketPlan::default() };
    let mut map = BalancedMap::with_plan(6_000, plan).unwrap();
    for round in 0..20_u64 {
        map.extend((0..6_000).map(|key| (key, round)));
        assert!((0..6_000).all(|key| map.get(&key) == Some(&round)), "round {round}");
        (0..6_000)
            .filter(|key| key % 20 != round)
            .for_each(|key| assert!(map.remove(&key).is_some()));
    }
    for budget in [0.9, f64::NAN, 99.0] {
        let plan = BucketPlan { budget: Some(budget), ..BucketPlan::default() };
        let error = plan.check().unwrap_err().to_string();
        assert!(error.contains("bucket accesses per entry"), "{error}");
    }
}

#[test]
fn two_choices_are_more_even_than_one_and_one_plus_alpha_lies_between() {
    let variance = |alpha: f64| {
        let plan = BucketPlan::one_plus_alpha(5.0, 20, Share::clamped(alpha));
        filled(plan, 20_000, 9).variance()
    };
    let (two, some, one) = (variance(1.0), variance(0.5), variance(0.0));
    assert!(
        two < 1.5 && two < some && some < one && (4.7..5.3).contains(&one),
        "{two} {some} {one}"
    );
}

/// Exactly the elements that the graph has too many stand in the stash, no more and no fewer.
#[test]
fn a_cuckoo_map_stashes_exactly_the_excess_of_its_graph() {
    for seed in 0..40 {
        let hasher = Few { values: 0, seed };
        let mut map = CuckooMap::<u64, (), _, 1>::with_load_and_hasher(100, 0.49, hasher).unwrap();
        // Below the number of stashed elements that would cause a rehash.
        while map.len() < map.capacity() && map.statistics().stashed < 4 {
            map.insert(map.len() as u64, ());
        }
        let edges = map.table().edges(|entry| hasher.hash_one(entry.0));
        let graph = cuckoo::components(edges, map.table().buckets_per_table()).unwrap();
        let excess: u64 = graph.iter().map(cuckoo::Component::excess).sum();
        assert_eq!(map.statistics().stashed as u64, excess, "seed {seed}");
        assert_eq!(map.history().rehashes, 0);
    }
}

/// How often not all elements of a one-slot map find a bucket, and what an insertion costs, by the load.
#[test]
fn a_cuckoo_map_fails_and_displaces_as_the_model_says() {
    for load in [0.3, 0.4, 0.45] {
        let (maps, capacity) = (6_000, 180);
        let (mut failed, mut displaced, mut buckets, mut entries) = (0, 0, 0, 0);
        for seed in 0..maps {
            let hasher = Few { values: 0, seed };
            let mut map =
                CuckooMap::<u64, (), _, 1>::with_load_and_hasher(capacity, load, hasher).unwrap();
            map.extend((0..map.capacity() as u64).map(|key| (key, ())));
            failed += u64::from(map.history().failed_walks > 0);
            displaced += map.history().displacements * u64::from(map.history().failed_walks == 0);
            (buckets, entries) = (map.table().buckets_per_table(), map.len());
        }
        let exact_load = entries as f64 / (2 * buckets) as f64;
        let expected = cuckoo::rehash_probability(exact_load, buckets).unwrap();
        let measured = failed as f64 / maps as f64;
        let deviation = (expected * (1.0 - expected) / maps as f64).sqrt();
        assert!(
            (measured - expected).abs() <= 4.0 * deviation + 0.01 * expected,
            "{load}: {measured}, not {expected}"
        );
        let cost = 1.0 + displaced as f64 / (entries as u64 * (maps - failed)) as f64;
        let bound = cuckoo::mean_insertion_cost_bound(exact_load).unwrap();
        assert!(1.0 < cost && cost <= bound, "{load}: {cost}, at most {bound}");
    }
}

/// Loads up to 95 % with four slots: no rehash, next to nothing in the stash, two buckets at most.
#[test]
fn four_slots_hold_95_percent() {
    let hasher = Few { values: 0, seed: 1 };
    let mut map = CuckooMap::<u64, u64, _>::with_load_and_hasher(200_000, 0.95, hasher).unwrap();
    map.extend((0..200_000).map(|key| (key, key)));
    let statistics = map.statistics();
    assert!(statistics.occupancy() > 0.949, "{}", statistics.occupancy());
    assert!(statistics.stashed <= 4 && map.history().rehashes == 0, "{:?}", map.history());
    assert_eq!((statistics.hits.buckets.max, statistics.misses.buckets.max), (2, 2));
    assert!(statistics.bytes_per_entry() < 18.0);
}
