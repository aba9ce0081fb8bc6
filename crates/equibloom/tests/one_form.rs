//! What a fingerprint filter holds depends on its keys only: blocks, list and number of elements are equal for
//! any order of keys, any number of threads and any way of merging.

#![cfg(all(feature = "std", target_has_atomic = "64"))]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod designs;
mod random;

use std::thread;

use designs::{cases, fingerprints, keys};
use equibloom::{Blocks, Filter, KeyHash, Layout, Overflow, Parameters, WhenFull};
use proptest::prelude::*;
use random::Random;

fn empty(layout: Layout) -> Filter<u64> {
    // Room for all. (Past capacity, the form depends on the order.)
    let overflow = Overflow { capacity: 40_000, when_full: WhenFull::Refuse };
    let design = layout.with_overflow(overflow).into();
    Filter::new(&Parameters { keys: 100, seed: 9, design }).unwrap()
}

fn filled(layout: Layout, keys: &[u64]) -> Filter<u64> {
    let mut filter = empty(layout);
    filter.insert_batch(keys).unwrap();
    filter
}

fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.between(0, last as u64) as usize);
    }
}

/// Cuts into up to six runs.
fn runs(random: &mut Random, keys: &[u64]) -> Vec<Vec<u64>> {
    let cuts = random.between(0, 5);
    let mut cuts: Vec<usize> =
        (0..cuts).map(|_| random.between(0, keys.len() as u64) as usize).collect();
    cuts.extend([0, keys.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|cut| keys[cut[0]..cut[1]].to_vec()).collect()
}

/// Builds the filter of the keys in many ways. `repeats` keys are inserted again.
fn check(layout: Layout, keys: &[u64], repeats: usize, seed: u64) -> Result<(), TestCaseError> {
    let random = &mut Random(seed);
    let mut one_by_one = empty(layout);
    for key in keys {
        one_by_one.insert(key).unwrap();
    }
    let same = |filter: &Filter<u64>, way: &str| {
        prop_assert!(*filter == one_by_one, "{}", way);
        prop_assert!(keys.iter().all(|key| filter.contains(key)), "{}", way);
        prop_assert_eq!(filter.len(), one_by_one.len());
        prop_assert!(
            filter.as_hash_filter().words().eq(one_by_one.as_hash_filter().words()),
            "{}",
            way
        );
        Ok(())
    };
    let mut shuffled: Vec<u64> = keys.iter().chain(&keys[..repeats]).copied().collect();
    shuffle(random, &mut shuffled);
    same(&filled(layout, &shuffled), "in another order")?;

    let threads = random.between(2, 6) as usize;
    let hashes: Vec<KeyHash> = shuffled.iter().map(|key| one_by_one.hash(key)).collect();
    let mut parallel = empty(layout);
    let gained = parallel.as_hash_filter_mut().insert_parallel(&hashes, threads).unwrap();
    prop_assert_eq!(gained, one_by_one.len());
    same(&parallel, "by threads")?;

    let shared = empty(layout).into_shared().unwrap();
    thread::scope(|scope| {
        for run in runs(random, &shuffled) {
            let shared = &shared;
            scope.spawn(move || shared.insert_batch(&run).unwrap());
        }
    });
    same(&shared.into_filter(), "shared by threads")?;

    let mut parts: Vec<Filter<u64>> =
        runs(random, &shuffled).iter().map(|run| filled(layout, run)).collect();
    // Any two of them, until one is left.
    while parts.len() > 1 {
        shuffle(random, &mut parts);
        let part = parts.pop().unwrap();
        parts[0].merge(&part).unwrap();
    }
    same(&parts[0], "merged")
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn a_set_has_one_form(
        layout in fingerprints(false), keys in keys(), repeats in 0_usize..600, seed: u64,
    ) {
        let keys: Vec<u64> = keys.into_iter().map(u64::from).collect();
        check(layout, &keys, repeats.min(keys.len()), seed)?;
    }

    /// Keys that are inserted up to four times are all in their blocks, or all sent on alike.
    #[test]
    fn a_multiset_of_few_copies_has_one_form(
        sizes in prop::collection::vec(1_u64..8, 1..=4),
        slots in 1_u32..=9,
        keys in prop::collection::btree_map(any::<u64>(), 1_usize..=4, 0..120),
        seed: u64,
    ) {
        let blocks = Blocks::Fingerprint { slots, lists: 40, remainder_bits: 48 };
        let layout = Layout::fingerprints(blocks, &sizes).unwrap();
        let copies = |(&key, &copies)| vec![key; copies];
        let keys: Vec<u64> = keys.iter().flat_map(copies).collect();
        check(layout.with_removal(), &keys, 0, seed)?;
    }
}

/// Enough keys for several threads, and blocks that send some on at every level.
#[test]
fn large_sets_have_one_form() {
    for (seed, (slots, lists, remainder_bits)) in
        [(48, 72, 8), (45, 54, 9), (58, 98, 6), (22, 42, 20), (8, 40, 56)].into_iter().enumerate()
    {
        let blocks = Blocks::Fingerprint { slots, lists, remainder_bits };
        let count = 40_000 / u64::from(slots);
        let sizes = [count - count / 8 - count / 64 - 1, count / 8, count / 64, 1];
        let layout = Layout::fingerprints(blocks, &sizes).unwrap();
        let keys: Vec<u64> = (0..40_000).collect();
        check(layout, &keys, 9_000, seed as u64).unwrap();
    }
}
