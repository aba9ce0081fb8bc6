//! Filters in files: what was saved comes back, from wherever and however it is read.

#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod forge;
mod samples;
mod schemes;
mod scratch;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use equibloom::{
    AnyFilter, BlockTable, KeyHasher, KeyKind, MergeError, Parameters, Scheme, Stable, StableKey,
    file,
};
use proptest::prelude::*;
use samples::samples;
use schemes::{cases, fingerprint_scheme, keys, parameters};
use scratch::{Scratch, open};

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
        let opened = open(&path).unwrap();
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

/// Gives one byte at a time, and is interrupted before each.
struct Slow<'a> {
    bytes: &'a [u8],
    interrupted: bool,
}

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.bytes.read(&mut buffer[..1])
    }
}

#[test]
fn a_stream_may_be_slow_and_hold_more_than_one_filter() {
    let samples = samples();
    let (one, two) = (samples[3].bytes(), samples[9].bytes());
    let slow = AnyFilter::read_from(Slow { bytes: &one, interrupted: false }).unwrap();
    assert!(slow == samples[3].build());
    let both = [one, two, b"and something else".to_vec()].concat();
    let mut rest = &both[..];
    assert!(AnyFilter::read_from(&mut rest).unwrap() == samples[3].build());
    assert!(AnyFilter::read_from(&mut rest).unwrap() == samples[9].build());
    assert_eq!(rest, b"and something else");
}

/// Larger than the pieces in which files are read, and than what a stream begins with.
#[test]
fn large_filters_come_back_from_files_and_streams() {
    let scratch = Scratch::new("large");
    let path = scratch.path("filter.eqb");
    let blocks = BlockTable { count: 50_001, bits: 500, hashes: 7 };
    let parameters = Parameters { keys: 100_000, seed: 1, scheme: Scheme::TwoChoice { blocks } };
    let mut filter = AnyFilter::new(&parameters).unwrap();
    filter.try_extend(0..100_000_u64).unwrap();
    filter.save(&path).unwrap();
    assert!(AnyFilter::load(&path).unwrap() == filter);
    assert!(AnyFilter::read_from(File::open(&path).unwrap()).unwrap() == filter);
    let opened = open(&path).unwrap();
    assert!((0..100_000_u64).all(|key| opened.contains(&key)));
}

#[test]
fn the_seed_of_the_hash_is_kept_even_if_it_is_not_the_parameters() {
    let parameters = &samples()[0].parameters;
    let mut filter = AnyFilter::with_hasher(parameters, Stable::with_seed(99)).unwrap();
    filter.insert("alice").unwrap();
    let mut bytes = Vec::new();
    filter.write_to(&mut bytes).unwrap();
    let read = AnyFilter::read_from(&bytes[..]).unwrap();
    assert!(read == filter && read.contains("alice"));
    assert_eq!(read.hash("alice"), Stable::with_seed(99).hash_key("alice"));
    assert_eq!(file::verify_from(&bytes[..]).unwrap().header.hash_seed, 99);
}

#[test]
fn an_open_filter_is_copied_by_the_first_change_and_not_before() {
    let scratch = Scratch::new("open");
    for sample in samples() {
        let path = scratch.path(sample.name);
        sample.build().save(&path).unwrap();
        let opened = open(&path).unwrap();
        let mut copy = opened.clone();
        let mut merged = AnyFilter::new(&sample.parameters).unwrap();
        merged.merge(&opened).unwrap();
        assert!(opened.is_mapped() && copy.is_mapped() && !merged.is_mapped());
        assert!(sample.holds_its_keys(&merged));
        copy.detach().unwrap();
        assert!(!copy.is_mapped() && copy == opened && opened.is_mapped(), "{}", sample.name);
        let mut cleared = opened.clone();
        cleared.clear();
        assert_eq!(cleared.statistics().elements, 0);
        assert!(!cleared.is_mapped() && sample.holds_its_keys(&opened));
    }
}

/// Threads share a mapped filter as any other.
#[test]
fn an_open_filter_can_be_asked_by_many_threads() {
    let scratch = Scratch::new("threads");
    let path = scratch.path("filter.eqb");
    let sample = &samples()[1];
    sample.build().save(&path).unwrap();
    let opened = open(&path).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(sample.holds_its_keys(&opened.clone())));
        }
    });
}

#[test]
fn files_record_the_kind_of_keys() {
    let kinds = [KeyKind::Unspecified, str::KIND, u32::KIND, u128::KIND, <(u64, &str)>::KIND];
    let scratch = Scratch::new("kinds");
    let path = scratch.path("filter.eqb");
    let filter = |kind| samples()[1].build().with_key_kind(kind);
    for (kind, number) in kinds.into_iter().zip(0_u64..) {
        filter(kind).save(&path).unwrap();
        assert_eq!(file::inspect(&path).unwrap().key_kind, kind);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(forge::u64_at(&bytes, forge::KEY_KIND), Some(number));
        for read in [AnyFilter::load(&path).unwrap(), AnyFilter::open(&path).unwrap()] {
            assert_eq!(read.key_kind(), kind);
            assert_eq!(read.into_shared().unwrap().into_filter().key_kind(), kind);
        }
        for other in kinds {
            let mut merged = filter(kind);
            let result = merged.merge(&filter(other));
            let stated = kind != KeyKind::Unspecified && other != KeyKind::Unspecified;
            if kind != other && stated {
                assert_eq!(result, Err(MergeError::OtherKeys { ours: kind, theirs: other }));
                assert!(merged == filter(kind));
            } else {
                result.unwrap();
                assert_eq!(merged.key_kind(), if stated { kind } else { KeyKind::Unspecified });
            }
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn headers_can_be_serialised() {
    let report = file::verify_from(&samples()[8].bytes()[..]).unwrap();
    let json = serde_json::to_string(&report).unwrap();
    assert!(json.contains("\"hash\":\"xxh3-128\"") && json.contains("\"kind\":\"multi-level\""));
    assert_eq!(serde_json::from_str::<file::Report>(&json).unwrap(), report);
}

#[cfg(unix)]
#[test]
fn what_cannot_be_mapped_is_read() {
    use std::os::fd::AsRawFd;
    let (reader, mut writer) = io::pipe().unwrap();
    let sample = &samples()[8];
    let bytes = sample.bytes();
    std::thread::scope(|scope| {
        scope.spawn(move || writer.write_all(&bytes).unwrap());
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        if !std::path::Path::new(&path).exists() {
            println!("skipped: no {path} here");
            return;
        }
        let filter = open(&path).unwrap();
        assert!(!filter.is_mapped() && sample.holds_its_keys(&filter));
    });
}

/// A tebibyte, of which the disk holds two pages: the header, and the block of one key.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn a_file_larger_than_memory_is_opened_and_asked_at_once() {
    let scratch = Scratch::new("tebibyte");
    let path = scratch.path("filter.eqb");
    let count = 1_u64 << 34;
    let blocks = BlockTable { count: 10, bits: 512, hashes: 7 };
    let parameters = Parameters { keys: 100, seed: 1, scheme: Scheme::Blocked { blocks } };
    let mut bytes = Vec::new();
    AnyFilter::new(&parameters).unwrap().write_to(&mut bytes).unwrap();
    bytes.truncate(4096);
    let length = 64 * count;
    forge::put(&mut bytes, forge::FILE_LENGTH, &(4096 + length).to_le_bytes());
    forge::put(&mut bytes, forge::SECTIONS + 32, &length.to_le_bytes());
    forge::put(&mut bytes, forge::SECTIONS + forge::SECTION_BYTES + 4, &count.to_le_bytes());
    forge::seal(&mut bytes);
    let mut file = File::create(&path).unwrap();
    file.write_all(&bytes).unwrap();
    if let Err(error) = file.set_len(4096 + length) {
        println!("skipped: this file system has no files of a tebibyte ({error})");
        return;
    }
    let hash = u128::from(Stable::with_seed(1).hash_key("alice"));
    let block = ((hash >> 64) * u128::from(count)) >> 64;
    file.seek(SeekFrom::Start(4096 + 64 * block as u64)).unwrap();
    file.write_all(&[0xff; 64]).unwrap();

    let filter = open(&path).unwrap();
    assert!(filter.contains("alice"));
    assert!((0..1_000_u64).all(|key| !filter.contains(&key)));
}
