//! Batches give the same answers and the same bytes as single keys.
//!
//! Where multisets store keys more than four times, the bytes depend on the order, which batches change.
//!
//! With threads too, if the feature `std` is enabled.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod designs;

use designs::{cases, fingerprints, keys, parameters};
use equibloom::{BlockKind, Blocks, Filter, HashFilter, KeyHash, Layout, Parameters};
use proptest::prelude::*;

fn check(parameters: &Parameters, keys: &[u16], cut: usize) -> Result<(), TestCaseError> {
    let mut one_by_one = Filter::<u16>::new(parameters).unwrap();
    let mut together = one_by_one.clone();
    let mut from_iterator = one_by_one.clone();

    let mut new = 0;
    let mut refused = None;
    for key in keys {
        match one_by_one.insert(key) {
            Ok(insertion) => new += u64::from(insertion.is_new()),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    let (first, second) = keys.split_at(cut.min(keys.len()));
    let batch = together.insert_batch(first).and_then(|new| {
        let hashes: Vec<KeyHash> = second.iter().map(|key| together.hash(key)).collect();
        Ok(new + together.as_hash_filter_mut().insert_batch(&hashes)?)
    });
    let iterated = from_iterator.try_extend(keys.iter().copied());
    let is_multiset = parameters.design.is_multiset();
    let fingerprints = parameters.design.block_kind() == Some(BlockKind::Fingerprint);
    if fingerprints && is_multiset {
        for (filter, stored) in [(&together, &batch), (&from_iterator, &iterated)] {
            prop_assert!(stored.is_err() || keys.iter().all(|key| filter.contains(key)));
            prop_assert!(stored.is_err() || *stored == Ok(keys.len() as u64));
            let capacity = parameters.design.overflow().capacity;
            prop_assert!(stored.is_ok() || filter.statistics().overflowed >= capacity);
        }
    } else {
        // A batch counts the elements that it adds.
        let gained = if fingerprints { one_by_one.len() } else { new };
        prop_assert!(gained <= new);
        prop_assert_eq!(&batch, &refused.map_or(Ok(gained), Err));
        prop_assert_eq!(&iterated, &batch);
        prop_assert!(one_by_one == together);
        prop_assert!(one_by_one == from_iterator);
    }

    let asked: Vec<u16> = keys.iter().copied().chain((0..700).map(|key| key * 37)).collect();
    let hashes: Vec<KeyHash> = asked.iter().map(|key| together.hash(key)).collect();
    let expected: Vec<bool> = asked.iter().map(|key| together.contains(key)).collect();
    let mut found = vec![true; 3];
    together.contains_batch(&asked, &mut found);
    prop_assert_eq!(&found, &expected);
    together.as_hash_filter().contains_batch(&hashes, &mut found);
    prop_assert_eq!(&found, &expected);
    let (mut bits, mut bits_by_keys) = (vec![u64::MAX; 3], vec![u64::MAX; 3]);
    together.as_hash_filter().contains_batch_bitmap(&hashes, &mut bits);
    together.contains_batch_bitmap(&asked, &mut bits_by_keys);
    prop_assert_eq!(&bits, &bits_by_keys);
    prop_assert_eq!(bits.len(), asked.len().div_ceil(64));
    let answer = |index: usize| bits[index / 64] >> (index % 64) & 1 == 1;
    prop_assert!(
        (0..64 * bits.len()).all(|i| answer(i) == expected.get(i).copied().unwrap_or(false))
    );
    Ok(())
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn a_batch_does_what_its_keys_do_one_by_one(
        parameters in parameters(), keys in keys(), cut in 0..700_usize,
    ) {
        check(&parameters, &keys, cut)?;
    }

    #[test]
    fn a_batch_into_a_filter_that_stores_every_insert(
        layout in fingerprints(true), keys in keys(), cut in 0..700_usize,
    ) {
        check(&Parameters { keys: 100, seed: 5, design: layout.into() }, &keys, cut)?;
    }
}

#[cfg(feature = "std")]
mod by_threads {
    use std::cell::Cell;

    use equibloom::{Candidates, Design, KeyHasher, Overflow, Rule, Share, Stable, WhenFull};
    use proptest::test_runner::TestRunner;

    use super::*;

    /// Several times the minimum number of keys per worker (some 2,000): with fewer, one thread inserts and
    /// there is nothing to compare.
    const KEYS: u64 = 20_000;
    const CASES: u32 = 160;

    /// Whether the blocks of such a filter are divided among threads: no budget, and no block in two levels.
    fn is_divided(design: &Design) -> bool {
        design.layout().is_some_and(|layout| {
            let is_subtables = matches!(layout.candidates, Candidates::Subtables { .. });
            layout.budget.is_none() && (is_subtables || layout.candidates.choices() == 1)
        })
    }

    /// Inserts the keys in two batches, by one thread and by several.
    fn check(
        parameters: &Parameters,
        keys: impl Iterator<Item = u64>,
        cut: usize,
    ) -> Result<(), TestCaseError> {
        let empty = HashFilter::new(parameters).unwrap();
        let hasher = Stable::with_seed(parameters.seed);
        let hashes: Vec<KeyHash> = keys.map(|key| hasher.hash_key(&key)).collect();
        let (first, second) = hashes.split_at(cut);
        let mut one = empty.clone();
        let expected = [one.insert_batch(first), one.insert_batch(second)];
        for threads in [1, 2, 3, 8] {
            let mut many = empty.clone();
            let new = [first, second].map(|part| many.insert_parallel(part, threads));
            prop_assert_eq!(new, expected, "{} threads", threads);
            prop_assert!(many == one, "{} threads", threads);
        }
        Ok(())
    }

    #[test]
    fn threads_build_the_random_filter_that_one_thread_builds() {
        let divided = Cell::new(0);
        // Some keys are inserted twice or many times.
        let inputs = (parameters(), 1_u64..100, 500_u64..60_000, 0..KEYS as usize);
        let outcome =
            TestRunner::new(cases(CASES)).run(&inputs, |(small, factor, distinct, cut)| {
                let parameters = designs::enlarged(small, factor);
                divided.set(divided.get() + u32::from(is_divided(&parameters.design)));
                check(&parameters, (0..KEYS).map(|index| index * 7_919 % distinct), cut)
            });
        outcome.unwrap();
        assert!(
            divided.get() >= cases(CASES).cases / 4,
            "only {} filters were divided",
            divided.get()
        );
    }

    /// Filters with more keys than room, all but a few of those in their blocks.
    #[test]
    fn threads_build_the_full_filter_that_one_thread_builds() {
        let bloom = Blocks::bloom(512, 8).with_hints(16);
        let rule = Rule::FirstWithRoom { below: 40, coin: Share::new(0.5).unwrap() };
        let fingerprints = Blocks::Fingerprint { slots: 40, lists: 64, remainder_bits: 9 };
        for when_full in [WhenFull::Refuse, WhenFull::Saturate] {
            for (blocks, rule) in [(bloom, rule), (fingerprints, Rule::KeepLargest)] {
                let layout = Layout::multi_level(blocks, &[600, 100], rule)
                    .unwrap()
                    .with_overflow(Overflow { capacity: 500, when_full });
                let parameters = Parameters { keys: 28_000, seed: 0, design: layout.into() };
                check(&parameters, 0..40_000, 10_000).unwrap();
            }
        }
    }
}

#[test]
fn an_empty_batch_is_nothing() {
    let design = Layout::blocked(Blocks::bloom(512, 8), 10).into();
    let mut filter = Filter::<u64>::new(&Parameters { keys: 100, seed: 0, design }).unwrap();
    assert_eq!(filter.insert_batch::<u64>(&[]), Ok(0));
    let mut found = vec![true];
    filter.contains_batch::<u64>(&[], &mut found);
    assert!(found.is_empty());
}
