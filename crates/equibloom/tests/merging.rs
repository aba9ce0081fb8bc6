//! Merged and folded filters: no key is lost, and the order does not matter.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod designs;

use std::cell::Cell;
use std::collections::HashSet;

use designs::{cases, enlarged, fingerprints, keys, parameters};
use equibloom::{
    BlockKind, Blocks, Filter, Layout, MergeError, Overflow, Parameters, Rule, Share, ShrinkError,
    WhenFull,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// A filter with the keys that it accepted.
fn filled(parameters: &Parameters, keys: &[u16]) -> (Filter<u16>, HashSet<u16>) {
    let mut filter = Filter::new(parameters).unwrap();
    let taken = keys.iter().copied().filter(|key| filter.insert(key).is_ok()).collect();
    (filter, taken)
}

/// Filters that store a key once, and filters that store every insert.
fn all_parameters() -> impl Strategy<Value = Parameters> {
    let multiset = (fingerprints(true), 0_u64..200).prop_map(|(layout, keys)| Parameters {
        keys,
        seed: 8,
        design: layout.into(),
    });
    prop_oneof![4 => parameters(), 1 => multiset]
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn a_merged_filter_holds_both_sets(
        parameters in all_parameters(), ours in keys(), theirs in keys(), later in keys(),
    ) {
        let (mut merged, mut taken) = filled(&parameters, &ours);
        let (other, others) = filled(&parameters, &theirs);
        let before = merged.clone();
        match merged.merge(&other) {
            Ok(()) => taken.extend(others),
            Err(error) => {
                prop_assert!(matches!(error, MergeError::Full(_)), "{}", error);
                prop_assert!(merged == before);
            }
        }
        prop_assert!(taken.iter().all(|key| merged.contains(key)));
        // It still accepts keys.
        for key in later {
            if merged.insert(&key).is_ok() {
                taken.insert(key);
            }
        }
        prop_assert!(taken.iter().all(|key| merged.contains(key)));
    }

    #[test]
    fn a_folded_filter_holds_the_same_keys(
        parameters in parameters(), keys in keys(), later in keys(), factor in 1_u64..5,
    ) {
        let parameters = enlarged(parameters, factor);
        let (filter, mut taken) = filled(&parameters, &keys);
        let mut small = match filter.folded(factor) {
            Ok(small) => small,
            Err(error) => {
                prop_assert_eq!(error, ShrinkError::Fingerprints);
                prop_assert_eq!(parameters.design.hashes(), 0);
                return Ok(());
            }
        };
        prop_assert!(taken.iter().all(|key| small.contains(key)));
        prop_assert!(small.statistics().memory.blocks <= filter.statistics().memory.blocks);
        for key in later {
            if small.insert(&key).is_ok() {
                taken.insert(key);
            }
        }
        prop_assert!(taken.iter().all(|key| small.contains(key)));
    }
}

/// The answers for all keys, absent ones too, do not depend on the order of merges.
#[test]
fn merging_is_commutative_and_associative_in_the_answers() {
    let compared = Cell::new(0);
    let inputs = (all_parameters(), keys(), keys(), keys());
    let outcome = TestRunner::new(cases(2_000)).run(&inputs, |(parameters, a, b, c)| {
        let [a, b, c] = [a, b, c].map(|keys| filled(&parameters, &keys).0);
        let merge = |x: &Filter<u16>, y: &Filter<u16>| {
            let mut merged = x.clone();
            merged.merge(y).map(|()| merged)
        };
        let merged = [
            merge(&a, &b).and_then(|ab| merge(&ab, &c)),
            merge(&b, &c).and_then(|bc| merge(&a, &bc)),
            merge(&c, &b).and_then(|cb| merge(&cb, &a)),
        ];
        // A filter that refuses keys may have no room for both.
        let [Ok(one), Ok(two), Ok(three)] = &merged else {
            let mut errors = merged.iter().filter_map(|merged| merged.as_ref().err());
            prop_assert!(errors.all(|error| matches!(error, MergeError::Full(_))));
            return Ok(());
        };
        // Blocks that are shortened in another order hold other keys besides.
        let fingerprints = parameters.design.block_kind() == Some(BlockKind::Fingerprint);
        let is_overloaded = |filter: &&Filter<u16>| filter.statistics().saturated > 0;
        if fingerprints && [one, two, three].iter().any(is_overloaded) {
            return Ok(());
        }
        compared.set(compared.get() + 1);
        for key in 0..2_000_u16 {
            prop_assert_eq!(one.contains(&key), two.contains(&key), "{}", key);
            prop_assert_eq!(one.contains(&key), three.contains(&key), "{}", key);
        }
        Ok(())
    });
    outcome.unwrap();
    let all = cases(2_000).cases;
    assert!(compared.get() >= all / 4 * 3, "only {} of {all} merges had room", compared.get());
}

const BLOCKS: Blocks = Blocks::bloom(512, 8);

fn blocked(count: u64, seed: u64) -> Filter<u64> {
    let design = Layout::blocked(BLOCKS, count).into();
    Filter::new(&Parameters { keys: 30_000, seed, design }).unwrap()
}

#[test]
fn other_seeds_are_refused_and_both_are_named() {
    let refusal = blocked(1_000, 1).merge(&blocked(1_000, 2)).unwrap_err();
    assert_eq!(refusal, MergeError::OtherSeed { ours: 1, theirs: 2 });
    assert!(refusal.to_string().contains("different seeds, 1 and 2"), "{refusal}");
}

#[test]
fn removable_filters_of_other_plans_are_refused_and_both_are_named() {
    let build = |keys, removable| {
        let blocks = Blocks::Fingerprint { slots: 37, lists: 48, remainder_bits: 9 };
        let layout = Layout::fingerprints(blocks, &[keys / 30, 10]).unwrap();
        let layout = if removable { layout.with_removal() } else { layout };
        Filter::<u64>::new(&Parameters { keys, seed: 1, design: layout.into() }).unwrap()
    };
    for (ours, theirs) in [(true, true), (true, false), (false, true)] {
        let mut filter = build(30_000, ours);
        filter.insert(&1).unwrap();
        let before = filter.clone();
        let refusal = filter.merge(&build(60_000, theirs)).unwrap_err().to_string();
        for named in ["30000 keys", "60000 keys"] {
            assert!(refusal.contains(named), "{refusal}");
        }
        assert!(filter == before);
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    /// Filters of any plans: no key is lost, the parts are as many as there are plans, answers are those of the
    /// filters, and inserts, batches, threads and files do the same with the parts.
    #[test]
    fn filters_of_any_plans_are_merged(
        filters in prop::collection::vec((parameters(), keys()), 1..5), later in keys(),
    ) {
        let filters: Vec<_> = filters
            .iter()
            .map(|(parameters, keys)| filled(&Parameters { seed: 3, ..*parameters }, keys))
            .collect();
        let (mut merged, mut taken) = filters[0].clone();
        let mut plans = vec![*merged.parameters()];
        let mut members = vec![merged.clone()];
        for (other, keys) in &filters[1..] {
            let before = merged.clone();
            if let Err(error) = merged.merge(other) {
                prop_assert!(matches!(error, MergeError::Full(_)), "{}", error);
                prop_assert!(merged == before);
                continue;
            }
            taken.extend(keys);
            if !plans.contains(other.parameters()) {
                plans.push(*other.parameters());
            }
            members.push(other.clone());
        }
        prop_assert_eq!(merged.as_hash_filter().part_count(), plans.len());
        prop_assert_eq!(merged.parameters().keys, plans.iter().map(|plan| plan.keys).sum::<u64>());
        prop_assert!(taken.iter().all(|key| merged.contains(key)));
        let asked: Vec<u16> = (0..1_000).collect();
        let mut found = Vec::new();
        merged.contains_batch(&asked, &mut found);
        for (key, found) in asked.iter().zip(found) {
            prop_assert_eq!(found, merged.contains(key));
            // Merging in place adds keys' bits, so the answer may become yes, but not no.
            prop_assert!(found || !members.iter().any(|member| member.contains(key)));
        }
        let statistics = merged.statistics();
        let bytes: u64 = plans.iter().map(|plan| plan.design.block_bytes()).sum();
        prop_assert_eq!(statistics.memory.blocks, bytes);

        #[cfg(feature = "file")]
        {
            let mut bytes = Vec::new();
            merged.write_to(&mut bytes).unwrap();
            prop_assert!(Filter::<u16>::read_from(&bytes[..]).unwrap() == merged);
            equibloom::file::verify_from(&bytes[..]).unwrap();
            prop_assert!(Filter::<u16>::from_owner(bytes).unwrap() == merged);
        }
        let shared = merged.clone().into_shared().unwrap();
        prop_assert!(shared.snapshot().unwrap() == merged);
        for key in later {
            let inserted = merged.insert(&key);
            prop_assert_eq!(shared.insert(&key), inserted);
            if inserted.is_ok() {
                taken.insert(key);
            }
        }
        prop_assert!(taken.iter().all(|key| merged.contains(key)));
        prop_assert!(shared.into_filter() == merged);
        merged.clear();
        prop_assert_eq!(merged.len(), 0);
        prop_assert!(!merged.contains(&5));
    }
}

/// Filters of every kind, with their keys: sets, then removable ones.
#[cfg(feature = "planner")]
fn of_every_kind(first: u64) -> Vec<(&'static str, Filter<u64>, std::ops::Range<u64>)> {
    use equibloom::{Design, Placement};
    let builder = Filter::<u64>::builder().seed(5);
    let planned = |placement, block| {
        let builder = builder.clone().keys(1_000).rate(0.01).accesses_miss(3.0);
        builder.placement(placement).block(block).build().unwrap()
    };
    let refuses = Overflow { capacity: 400, when_full: WhenFull::Refuse };
    let list = |multiset| {
        let design = Design::List { overflow: refuses, multiset };
        Filter::new(&Parameters { keys: 400, seed: 5, design }).unwrap()
    };
    let classical = builder.clone().keys(1_000).rate(0.01).placement(Placement::Classical);
    let removable = builder.clone().keys(1_000).rate(0.01).removable();
    let filters = [
        ("classical", classical.build().unwrap(), 300),
        ("blocked", planned(Placement::Blocked, BlockKind::Bloom), 300),
        ("sequential", planned(Placement::Sequential, BlockKind::Bloom), 300),
        ("two-choice", planned(Placement::TwoChoice, BlockKind::Bloom), 300),
        ("fingerprints", planned(Placement::MultiLevel, BlockKind::Fingerprint), 300),
        ("list", list(false), 150),
        ("grown", planned(Placement::MultiLevel, BlockKind::Fingerprint), 1_500),
        ("removable", removable.build().unwrap(), 300),
        ("removable list", list(true), 150),
    ];
    let filled = filters.into_iter().map(|(name, mut filter, count)| {
        filter.try_extend(first..first + count).unwrap();
        (name, filter, first..first + count)
    });
    filled.collect()
}

/// What each kind becomes when it is merged with each other: one filter, or parts, or it is refused by name.
#[cfg(feature = "planner")]
#[test]
fn filters_of_all_kinds_are_merged_with_each_other() {
    for (our_name, ours, our_keys) in of_every_kind(0) {
        for (their_name, theirs, their_keys) in of_every_kind(1 << 20) {
            let mut merged = ours.clone();
            let result = merged.merge(&theirs);
            let case = format!("{our_name} and {their_name}: {result:?}");
            let removable = [our_name, their_name].map(|name| name.starts_with("removable"));
            if removable.contains(&true) && our_name != their_name {
                assert!(matches!(result, Err(MergeError::OtherRemovable { .. })), "{case}");
                assert!(merged == ours, "{case}");
                continue;
            }
            assert!(result.is_ok(), "{case}");
            let are_one_plan = ours.parameters() == theirs.parameters();
            let has_grown = [our_name, their_name].contains(&"grown");
            // A full part and another one, and a single part that grows.
            let parts = if has_grown { 3 } else { 1 + usize::from(!are_one_plan) };
            assert_eq!(merged.as_hash_filter().part_count(), parts, "{case}");
            assert!(our_keys.clone().chain(their_keys).all(|key| merged.contains(&key)), "{case}");
            let rates = [&ours, &theirs].map(|filter| filter.statistics().expected_rate);
            let most = if parts == 1 { 0.01 } else { rates[0] + rates[1] };
            assert!(merged.statistics().expected_rate <= 1.05 * most, "{case}");
            // It takes keys; a removable one gives them back.
            merged.insert(&(1 << 40)).unwrap();
            assert!(merged.contains(&(1 << 40)), "{case}");
            assert_eq!(merged.remove(&(1 << 40)).is_ok(), removable[0], "{case}");
        }
    }
}

#[test]
fn tables_that_cannot_be_folded_say_so() {
    let refusal = blocked(1_000, 1).folded(3).unwrap_err();
    assert_eq!(refusal, ShrinkError::NotDivisible { size: 1_000, factor: 3 });
    assert!(refusal.to_string().contains("1000 blocks cannot be folded 3 to 1"));
    assert!(blocked(1_000, 1).folded(0).unwrap_err().to_string().contains("factor is 0"));
}

/// Half of the keys each: the union has the rate of one filter with all of them.
#[test]
fn the_rate_of_a_merged_filter_is_that_of_one_with_all_keys() {
    let fingerprints = Blocks::Fingerprint { slots: 37, lists: 48, remainder_bits: 9 };
    let rule = Rule::FirstWithRoom { below: 33, coin: Share::new(0.5).unwrap() };
    let cases =
        [(fingerprints, Rule::KeepLargest, 1.0 + f64::EPSILON), (BLOCKS.with_hints(16), rule, 3.0)];
    for (blocks, rule, most) in cases {
        let layout = Layout::multi_level(blocks, &[830, 142, 28], rule)
            .unwrap()
            .with_overflow(Overflow { capacity: 1_000, when_full: WhenFull::Refuse });
        let parameters = Parameters { keys: 30_000, seed: 4, design: layout.into() };
        let build = |keys: std::ops::Range<u64>| {
            let mut filter = Filter::<u64>::new(&parameters).unwrap();
            filter.try_extend(keys).unwrap();
            filter
        };
        let mut merged = build(0..15_000);
        merged.merge(&build(15_000..30_000)).unwrap();
        let whole = build(0..30_000);
        // Fingerprint blocks hold the same; Bloom blocks must leave a key where it is.
        assert_eq!(merged == whole, rule == Rule::KeepLargest);
        let (merged, whole) = (merged.statistics(), whole.statistics());
        assert!((merged.elements as f64 / whole.elements as f64 - 1.0).abs() < 0.01);
        let ratio = merged.expected_rate / whole.expected_rate;
        assert!((0.98..most).contains(&ratio), "{} {ratio}", parameters.design.name());
    }
}

/// Each part's header has the checksum of all parts after it.
#[cfg(feature = "file")]
#[test]
fn a_filter_of_many_parts_is_written_in_a_moment() {
    let part = |number: u64| -> Filter<u64> {
        let design = equibloom::Design::Classical { bits: 1_000 + number, hashes: 7 };
        let mut filter = Filter::new(&Parameters { keys: 100, seed: 0, design }).unwrap();
        filter.insert(&number).unwrap();
        filter
    };
    let mut filter = part(0);
    (1..40).for_each(|number| filter.merge(&part(number)).unwrap());
    let read = Filter::<u64>::from_bytes(&filter.to_bytes().unwrap()).unwrap();
    assert!((0..40).all(|key| read.contains(&key)) && read == filter);
}
