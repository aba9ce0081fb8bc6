//! The walk of a lookup, step by step: where it stops, what it reads, and that it finds every key.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom::{
    AccessStatistics, Blocks, Filter, FullError, Layout, Overflow, Parameters, Rule, Share,
    WhenFull,
};

const REFUSE: WhenFull = WhenFull::Refuse;

/// Keys with three candidates each, in blocks below a load.
fn sequential(count: u64, below: u32, budget: Option<u64>, overflow: Overflow) -> Filter<u32> {
    let layout = Layout::sequential(Blocks::bloom(512, 12), count, 3, Rule::below(below))
        .with_overflow(overflow)
        .with_budget(budget);
    Filter::new(&Parameters { keys: 50, seed: 11, design: layout.into() }).unwrap()
}

fn contains_counted(filter: &Filter<u32>, key: u32, accesses: &mut AccessStatistics) -> bool {
    filter.as_hash_filter().contains_counted(filter.hash(&key), accesses)
}

fn insert_counted(filter: &mut Filter<u32>, key: u32, accesses: &mut AccessStatistics) {
    let hash = filter.hash(&key);
    filter.as_hash_filter_mut().insert_counted(hash, accesses).unwrap();
}

#[test]
fn a_block_below_its_threshold_ends_the_lookup() {
    let mut filter = sequential(100, 5, None, Overflow { capacity: 10, when_full: REFUSE });
    filter.try_extend(0..10_u32).unwrap();
    let mut accesses = AccessStatistics::default();
    for key in 1_000..2_000_u32 {
        assert!(!contains_counted(&filter, key, &mut accesses));
    }
    assert_eq!(accesses.misses.mean_blocks(), 1.0);
    assert_eq!(accesses.misses.mean_overflow_probes(), 0.0);
}

#[test]
fn full_blocks_send_a_lookup_through_all_candidates_to_the_overflow_list() {
    let mut filter = sequential(4, 2, None, Overflow { capacity: 100, when_full: REFUSE });
    filter.try_extend(0..40_u32).unwrap();
    let statistics = filter.statistics();
    assert_eq!(statistics.loads(), [0, 0, 4]);
    assert_eq!(statistics.overflowed, 32);
    let mut accesses = AccessStatistics::default();
    for key in 1_000..2_000_u32 {
        contains_counted(&filter, key, &mut accesses);
    }
    assert_eq!(accesses.misses.mean_blocks(), 3.0);
    assert_eq!(accesses.misses.mean_overflow_probes(), 1.0);
}

/// Erratum 7: with the budget spent, keys overflow although their blocks have room. Stopping at a block below
/// the threshold would lose them.
#[test]
fn keys_that_came_after_the_budget_was_spent_are_found() {
    let mut filter = sequential(1_000, 8, Some(50), Overflow { capacity: 100, when_full: REFUSE });
    filter.try_extend(0..120_u32).unwrap();
    let statistics = filter.statistics();
    assert!(statistics.budget_spent);
    assert_eq!(statistics.overflowed, 70, "one access each for the first 50");
    assert!((0..120_u32).all(|key| filter.contains(&key)));
}

/// Blocks as small as the papers draw them: 6 bits, 2 of them the counter.
#[test]
fn the_papers_smallest_blocks_are_filters_like_any_other() {
    for coin in [Share::NONE, Share::clamped(0.5), Share::ALL] {
        let rule = Rule::FirstWithRoom { below: 2, coin };
        let layout = Layout::multi_level(Blocks::bloom(6, 1), &[40, 20, 10], rule).unwrap();
        let layout = layout.with_overflow(Overflow { capacity: 300, when_full: REFUSE });
        let parameters = Parameters { keys: 300, seed: 5, design: layout.into() };
        let mut filter = Filter::<u32>::new(&parameters).unwrap();
        for key in 0..300 {
            filter.insert(&key).unwrap();
            assert!((0..=key).all(|key| filter.contains(&key)), "{key}");
        }
        let mut batched = Filter::<u32>::new(&parameters).unwrap();
        batched.insert_batch(&(0..300).collect::<Vec<u32>>()).unwrap();
        assert!(filter.as_hash_filter().words().eq(batched.as_hash_filter().words()));
        let statistics = filter.statistics();
        assert!(statistics.loads().len() <= 4 && statistics.elements > 100, "{statistics:?}");
    }
}

#[test]
fn duplicates_spend_no_budget() {
    let mut filter = sequential(1_000, 8, Some(50), Overflow { capacity: 0, when_full: REFUSE });
    for _ in 0..100 {
        filter.try_extend(0..50_u32).unwrap();
    }
    assert!(!filter.statistics().budget_spent);
    assert!(filter.insert(&50_u32).is_err(), "now it is spent");
}

/// Placing stops at the first key that the budget does not suffice for, even if a cheaper one follows.
#[test]
fn the_budget_is_never_overdrawn_and_ends_once() {
    for budget in (700..720).map(|keys| keys * 12 / 10) {
        let overflow = Overflow { capacity: 10_000, when_full: REFUSE };
        let mut filter = sequential(130, 6, Some(budget), overflow);
        let (mut spent, mut at_the_end) = (0, None);
        for key in 0..1_500_u32 {
            let mut accesses = AccessStatistics::default();
            insert_counted(&mut filter, key, &mut accesses);
            let statistics = filter.statistics();
            if statistics.budget_spent {
                at_the_end.get_or_insert((statistics.elements, statistics.overflowed));
            } else {
                spent += accesses.inserts.accesses.blocks;
            }
        }
        assert!((budget - 2..=budget).contains(&spent), "{spent} of {budget}");
        let (elements, overflowed) = at_the_end.unwrap();
        let statistics = filter.statistics();
        assert_eq!(statistics.elements - elements, statistics.overflowed - overflowed);
    }
}

#[test]
fn a_full_overflow_list_refuses_with_an_error_that_names_it() {
    let mut filter = sequential(2, 1, None, Overflow { capacity: 3, when_full: REFUSE });
    let refused: FullError = filter.try_extend(0..10_u32).unwrap_err();
    assert_eq!((refused.capacity, refused.stored), (3, 5));
    assert!(refused.to_string().contains("holds 3 entries and is full, with 5 keys"));
    assert!((0..5_u32).all(|key| filter.contains(&key)));
}

#[test]
fn a_saturating_filter_accepts_every_key_and_reports_it() {
    let overflow = Overflow { capacity: 3, when_full: WhenFull::Saturate };
    let mut filter = sequential(2, 1, None, overflow);
    filter.try_extend(0..50_u32).unwrap();
    let statistics = filter.statistics();
    assert_eq!(statistics.overflowed, 3);
    assert_eq!(statistics.saturated, statistics.elements - 2 - 3);
    assert!((0..50_u32).all(|key| filter.contains(&key)));
}

/// Erratum 8: the coin is a function of the key and the probe, so that a block at exactly the threshold ends
/// the lookup of the keys that it would have admitted.
#[test]
fn at_the_threshold_the_coin_of_key_and_probe_decides_again() {
    let rule = Rule::FirstWithRoom { below: 0, coin: Share::new(0.3).unwrap() };
    let layout = Layout::single(Blocks::bloom(512, 12), 1, rule)
        .with_overflow(Overflow { capacity: 100, when_full: REFUSE });
    let parameters = Parameters { keys: 10, seed: 1, design: layout.into() };
    let mut filter = Filter::new(&parameters).unwrap();
    // The first key that the coin rejects is in the list; the block is still empty.
    let rejected = (0..).find(|key: &u32| {
        filter.insert(key).unwrap();
        let overflowed = filter.statistics().overflowed == 1;
        if !overflowed {
            filter.clear();
        }
        overflowed
    });
    assert!(filter.contains(&rejected.unwrap()));
    let mut accesses = AccessStatistics::default();
    let lookups = 100_000;
    for key in 1_000_000..1_000_000 + lookups {
        contains_counted(&filter, key, &mut accesses);
    }
    let sigma = (0.3 * 0.7 / f64::from(lookups)).sqrt();
    assert!((accesses.misses.mean_overflow_probes() - 0.7).abs() < 4.0 * sigma);
}

#[test]
fn two_choices_read_both_blocks_and_fill_the_emptier() {
    let design = Layout::two_choice(Blocks::bloom(512, 4), 2).into();
    let mut filter = Filter::new(&Parameters { keys: 40, seed: 3, design }).unwrap();
    let mut accesses = AccessStatistics::default();
    for key in 0..40_u32 {
        insert_counted(&mut filter, key, &mut accesses);
    }
    assert_eq!(accesses.inserts.mean_blocks(), 2.0);
    let bits: Vec<usize> = filter.statistics().levels[0]
        .set_bits
        .iter()
        .enumerate()
        .flat_map(|(bits, &blocks)| vec![bits; blocks as usize])
        .collect();
    // Half of the keys have both choices in one block; the others keep the two level.
    assert!(bits[1] - bits[0] <= 12, "{bits:?}");
}
