//! Files of every supported version of the format remain readable.

#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod samples;
mod scratch;

use equibloom::{Filter, KeyKind, file};
use samples::{key, samples};
use scratch::open_typed;

/// Every supported version.
const VERSIONS: [u32; 1] = [4];

#[test]
fn files_of_every_version_are_read_and_hold_their_keys() {
    for version in VERSIONS {
        for sample in samples() {
            let path = sample.path(version);
            let header = file::inspect(&path).unwrap();
            assert_eq!((header.version, header.hash.as_str()), (version, "xxh3-128"));
            assert_eq!(header.parameters, sample.parameters, "{}", sample.name);
            assert_eq!(header.key_kind, KeyKind::Bytes, "{}", sample.name);
            file::verify(&path).unwrap();
            for filter in [Filter::<str>::load(&path).unwrap(), open_typed(&path).unwrap()] {
                assert!(sample.holds_its_keys(filter.as_hash_filter()), "{}", sample.name);
                // Few absent keys are found: the bits keep their meaning.
                let absent = sample.keys..sample.keys + 10_000;
                let mistaken =
                    absent.filter(|&number| filter.contains(&key(number))).count() as f64;
                let expected = 10_000.0 * filter.statistics().expected_rate;
                let allowed = 4.0 * expected.sqrt() + 0.01 * expected + 4.0;
                assert!(
                    (mistaken - expected).abs() < allowed,
                    "{}: {mistaken}, {expected}",
                    sample.name
                );
            }
        }
    }
}

#[test]
fn the_same_bytes_are_written_today() {
    for sample in samples() {
        let kept = std::fs::read(sample.path(file::VERSION)).unwrap();
        assert!(sample.bytes() == kept, "{}", sample.name);
    }
}

#[test]
fn samples_cover_all_parts_of_a_file() {
    let header = |name: &str| {
        let sample = samples().into_iter().find(|sample| sample.name == name).unwrap();
        file::inspect(sample.path(file::VERSION)).unwrap()
    };
    assert!(header("sequential").counters.budget_spent);
    let grown = header("fingerprint-multiset-grown");
    assert!(grown.counters.overflow_capacity > 3 && grown.counters.elements > 100);
    assert!(header("fingerprint").counters.overflow_entries > 0);
    assert!(header("fingerprint-short").counters.overflow_entries > 0);
    assert!(header("single-hints").counters.saturated > 0);
    assert!(header("multi-level").counters.overflow_entries > 0);
    assert_eq!(header("classical").sections.len(), 1);
    assert_eq!(header("multi-level").sections.len(), 2);
    assert_eq!(header("merged").sections[2].name, "next");
    if cfg!(feature = "planner") {
        assert_eq!(header("grown").sections[2].name, "next");
    }
    let large = header("single-hints-large");
    assert!(large.sections[0].offset > large.header_length && large.sections[0].length > 4096);
}

/// Writes the files of the current version. Existing files are kept: to change an unpublished version, remove
/// its files by hand.
///
///     cargo test -p equibloom --features file --test files_samples -- --ignored
#[test]
#[ignore = "writes into the source tree"]
fn write_the_samples_of_this_version() {
    for sample in samples() {
        let path = sample.path(file::VERSION);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if !path.exists() {
            sample.build().save(&path).unwrap();
        }
    }
}
