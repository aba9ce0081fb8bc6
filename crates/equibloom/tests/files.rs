//! Filters in files: what was saved comes back, from wherever and however it is read.

#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod schemes;
mod scratch;

use equibloom::{AnyFilter, Parameters, file};
use proptest::prelude::*;
use schemes::{cases, fingerprint_scheme, keys, parameters};
use scratch::Scratch;

/// Filters that take a key once, and filters that store every insert.
fn all_parameters() -> impl Strategy<Value = Parameters> {
    let multiset = (fingerprint_scheme(true), 0_u64..200).prop_map(|(scheme, keys)| Parameters {
        keys,
        seed: 8,
        scheme,
    });
    prop_oneof![4 => parameters(), 1 => multiset]
}

fn filled(parameters: &Parameters, keys: &[u16]) -> (AnyFilter, Vec<u16>) {
    let mut filter = AnyFilter::new(parameters).unwrap();
    let taken = keys.iter().copied().filter(|key| filter.insert(key).is_ok()).collect();
    (filter, taken)
}

fn bytes_of(filter: &AnyFilter) -> Vec<u8> {
    let mut bytes = Vec::new();
    filter.write_to(&mut bytes).unwrap();
    bytes
}

proptest! {
    #![proptest_config(cases(700))]

    #[test]
    fn a_filter_comes_back_as_it_was_and_goes_on_as_before(
        parameters in all_parameters(), keys in keys(), later in keys(),
    ) {
        let scratch = Scratch::new("round-trip");
        let path = scratch.path("filter.eqb");
        let (mut filter, taken) = filled(&parameters, &keys);
        filter.save(&path).unwrap();
        let bytes = bytes_of(&filter);
        prop_assert!(std::fs::read(&path).unwrap() == bytes);

        let loaded = AnyFilter::load(&path).unwrap();
        let opened = AnyFilter::open(&path).unwrap();
        let read = AnyFilter::read_from(&bytes[..]).unwrap();
        prop_assert!(opened.is_mapped() && !loaded.is_mapped() && !read.is_mapped());
        for copy in [&loaded, &opened, &read] {
            prop_assert!(*copy == filter);
            prop_assert_eq!(copy.statistics(), filter.statistics());
            prop_assert!(taken.iter().all(|key| copy.contains(key)));
            prop_assert!(bytes_of(copy) == bytes);
        }
        let header = file::inspect(&path).unwrap();
        prop_assert_eq!(&header.parameters, &parameters);
        prop_assert_eq!(header.elements, filter.statistics().elements);
        prop_assert_eq!(header.overflow_entries, filter.statistics().overflowed);
        prop_assert_eq!(header.file_length, bytes.len() as u64);
        let report = file::verify(&path).unwrap();
        prop_assert_eq!((&report.header, report.bytes), (&header, bytes.len() as u64));
        prop_assert_eq!(file::verify_from(&bytes[..]).unwrap(), report);

        // Each goes on like the one that never saw a file.
        let mut copies = [loaded, opened, read];
        for key in &later {
            let inserted = filter.insert(key);
            for copy in &mut copies {
                prop_assert_eq!(copy.insert(key), inserted);
            }
        }
        for key in keys.iter().take(40) {
            let removed = filter.remove(key);
            for copy in &mut copies {
                prop_assert_eq!(copy.remove(key), removed);
            }
        }
        for copy in &copies {
            prop_assert!(*copy == filter);
        }
        // The file never saw any of it.
        prop_assert!(std::fs::read(&path).unwrap() == bytes);
    }
}
