//! Snapshots of shared filters: what they hold, and files that are saved while threads insert.
#![cfg(all(feature = "file", feature = "planner", target_has_atomic = "64"))]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(unsafe_code, reason = "the tests only replace their files")]

mod designs;
mod scratch;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use designs::{cases, keys, parameters};
use equibloom::file::Mapped;
use equibloom::{Filter, SharedFilter};
use proptest::prelude::*;
use scratch::Scratch;

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn a_snapshot_equals_the_filter(parameters in parameters(), keys in keys()) {
        let mut plain: Filter<u16> = Filter::new(&parameters).unwrap();
        let mut shared = Filter::<u16>::new(&parameters).unwrap().into_shared().unwrap();
        for key in &keys {
            prop_assert_eq!(shared.insert(key), plain.insert(key));
        }
        prop_assert!(shared.snapshot().unwrap() == plain);
        prop_assert_eq!(shared.statistics().unwrap(), plain.statistics());
        let (mut of_shared, mut of_plain) = (Vec::new(), Vec::new());
        shared.write_to(&mut of_shared).unwrap();
        plain.write_to(&mut of_plain).unwrap();
        prop_assert_eq!(of_shared, of_plain);
        let (mut of_shared, mut of_plain) = (Vec::new(), Vec::new());
        shared.contains_batch_bitmap(&keys, &mut of_shared);
        plain.contains_batch_bitmap(&keys, &mut of_plain);
        prop_assert_eq!(of_shared, of_plain);

        plain.clear();
        shared.clear();
        prop_assert_eq!(shared.len(), 0);
        prop_assert!(shared.into_filter() == plain);
    }
}

const WRITERS: u64 = 3;

/// Three threads insert a full filter's keys and publish their progress; `save` runs beside them with what
/// was published when it was called, until all keys are there.
fn insert_while(
    filter: &SharedFilter<u64>,
    keys: u64,
    mut save: impl FnMut(&dyn Fn() -> Vec<u64>),
) {
    let published: Vec<AtomicU64> = (0..WRITERS).map(|_| AtomicU64::new(0)).collect();
    let known = || {
        let progress = (0..).zip(&published);
        let of_writer = |(writer, published): (u64, &AtomicU64)| {
            (0..published.load(Ordering::Acquire)).map(move |index| index * WRITERS + writer)
        };
        progress.flat_map(of_writer).collect::<Vec<u64>>()
    };
    thread::scope(|scope| {
        for (writer, published) in (0..).zip(&published) {
            scope.spawn(move || {
                for index in 0..keys / WRITERS {
                    filter.insert(&(index * WRITERS + writer)).unwrap();
                    published.store(index + 1, Ordering::Release);
                }
            });
        }
        while (known().len() as u64) < keys / WRITERS * WRITERS {
            save(&known);
        }
        save(&known);
    });
}

/// Plans for fingerprint and for Bloom blocks, just full.
fn plans(keys: u64) -> Vec<SharedFilter<u64>> {
    let builder = || Filter::builder().keys(keys);
    let filters = [
        builder().bits_per_key(11.55),
        builder().bits_per_key(24.0),
        builder().bits_per_key(16.0).block(equibloom::BlockKind::Bloom),
        builder().bits_per_key(12.0).removable(),
    ];
    filters.map(|builder| builder.build().unwrap().into_shared().unwrap()).into()
}

#[test]
fn a_snapshot_has_every_key_whose_insert_had_returned() {
    let keys = 60_000;
    for filter in plans(keys) {
        let mut checks = 0;
        insert_while(&filter, keys, |known| {
            let known = known();
            let copy = filter.snapshot().unwrap();
            assert!(known.iter().all(|key| copy.contains(key)), "{:?}", filter.parameters());
            checks += known.len();
        });
        assert!(checks as u64 >= keys / WRITERS * WRITERS);
    }
}

#[test]
fn a_saved_file_has_every_key_whose_insert_had_returned() {
    let scratch = Scratch::new("saved-while-in-use");
    let path = scratch.path("seen.eqb");
    let keys = 30_000;
    for filter in plans(keys) {
        filter.save(&path).unwrap();
        // SAFETY: the file is only ever replaced.
        let mut reader: Mapped<Filter<u64>> = unsafe { Mapped::open(&path) }.unwrap();
        insert_while(&filter, keys, |known| {
            let known = known();
            filter.save(&path).unwrap();
            assert!(reader.reload_if_changed().unwrap());
            assert!(known.iter().all(|key| reader.contains(key)), "{:?}", filter.parameters());
        });
        assert!(!reader.reload_if_changed().unwrap(), "nothing was saved since");
    }
}

#[test]
fn a_reader_keeps_its_filter_if_the_file_is_gone() {
    let scratch = Scratch::new("gone");
    let path = scratch.path("seen.eqb");
    let mut filter = Filter::builder().keys(1_000).rate(0.01).build().unwrap();
    filter.insert(&5_u64).unwrap();
    filter.save(&path).unwrap();
    // SAFETY: the file is only ever replaced or removed.
    let mut reader: Mapped<Filter<u64>> = unsafe { Mapped::open(&path) }.unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = reader.reload_if_changed().unwrap_err().to_string();
    assert!(error.contains("seen.eqb: could not examine it"), "{error}");
    assert!(reader.contains(&5));
    // A file of other keys does not take its place.
    let mut other: Filter<str> = Filter::builder().keys(1_000).rate(0.01).build().unwrap();
    other.insert("5").unwrap();
    other.save(&path).unwrap();
    assert!(reader.reload_if_changed().is_err());
    assert!(reader.contains(&5));
}
