//! Many keys at once: the same answers and the same bytes as one by one.

mod schemes;

use equibloom::{AnyFilter, BlockKind, KeyHash, Parameters, WhenFull};
use proptest::prelude::*;
use schemes::{cases, fingerprint_scheme, keys, parameters};

fn check(parameters: &Parameters, keys: &[u16], cut: usize) -> Result<(), TestCaseError> {
    let Ok(mut one_by_one) = AnyFilter::new(parameters) else { return Ok(()) };
    let mut together = one_by_one.clone();
    let mut from_iterator = one_by_one.clone();
    let empty = one_by_one.clone();

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
        Ok(new + together.insert_hashes(&hashes)?)
    });
    prop_assert_eq!(&batch, &refused.map_or(Ok(new), Err));
    prop_assert_eq!(&from_iterator.try_extend(keys.iter().copied()), &batch);
    prop_assert!(one_by_one == together);
    for threads in 1..=4 {
        let mut parallel = empty.clone();
        let hashes: Vec<KeyHash> = keys.iter().map(|key| parallel.hash(key)).collect();
        let (first, second) = hashes.split_at(cut.min(keys.len()));
        let new = parallel
            .insert_hashes_parallel(first, threads)
            .and_then(|new| Ok(new + parallel.insert_hashes_parallel(second, threads)?));
        prop_assert_eq!(&new, &batch);
        prop_assert!(one_by_one == parallel, "{} threads", threads);
    }
    prop_assert!(one_by_one == from_iterator);

    let asked: Vec<u16> = keys.iter().copied().chain((0..700).map(|key| key * 37)).collect();
    let hashes: Vec<KeyHash> = asked.iter().map(|key| together.hash(key)).collect();
    let expected: Vec<bool> = asked.iter().map(|key| one_by_one.contains(key)).collect();
    let mut found = vec![true; 3];
    together.contains_batch(&asked, &mut found);
    prop_assert_eq!(&found, &expected);
    together.contains_hashes(&hashes, &mut found);
    prop_assert_eq!(&found, &expected);
    let (mut bits, mut bits_by_keys) = (vec![u64::MAX; 3], vec![u64::MAX; 3]);
    together.contains_hashes_bitmap(&hashes, &mut bits);
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
        scheme in fingerprint_scheme(true), keys in keys(), cut in 0..700_usize,
    ) {
        check(&Parameters { keys: 100, seed: 5, scheme }, &keys, cut)?;
    }
}

/// More keys than some threads are started for, and more than are planned.
#[test]
fn threads_build_the_filter_that_one_thread_builds() {
    for when_full in [WhenFull::Refuse, WhenFull::Saturate] {
        for kind in [BlockKind::Bloom, BlockKind::Fingerprint] {
            let wishes = AnyFilter::builder().keys(30_000).bits_per_key(12.0);
            let empty = wishes.block(kind).when_full(when_full).build().unwrap();
            let hashes: Vec<KeyHash> = (0..40_000_u64).map(|key| empty.hash(&key)).collect();
            let mut one = empty.clone();
            let expected = one.insert_hashes(&hashes);
            for threads in [2, 3, 8] {
                let mut many = empty.clone();
                assert_eq!(many.insert_hashes_parallel(&hashes, threads), expected);
                assert!(many == one, "{kind:?}, {when_full:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn an_empty_batch_is_nothing() {
    let mut filter = AnyFilter::builder().keys(100).rate(0.01).build().unwrap();
    assert_eq!(filter.insert_batch::<u64>(&[]), Ok(0));
    let mut found = vec![true];
    filter.contains_batch::<u64>(&[], &mut found);
    assert!(found.is_empty());
}
