//! Filters in files: a saved filter is read back unchanged, by every way of reading.

#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod designs;
mod forge;
mod samples;
mod scratch;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use designs::{cases, fingerprints, keys, parameters};
#[cfg(feature = "serde")]
use equibloom::SharedFilter;
use equibloom::file::FileErrorKind;
use equibloom::{
    Blocks, Design, Filter, HashFilter, KeyHash, KeyHasher, KeyKind, Layout, MergeError,
    NamedHasher, Overflow, Parameters, Stable, StableKey, WhenFull, file,
};
#[cfg(all(feature = "serde", feature = "planner"))]
use equibloom::{GrowingFilter, SharedGrowingFilter};
use forge::Forged;
use proptest::prelude::*;
use samples::{samples, samples_of};
use scratch::{Scratch, in_place, open, open_typed};

/// Filters that store a key once, and filters that store every insert.
fn all_parameters() -> impl Strategy<Value = Parameters> {
    let multiset = (fingerprints(true), 0_u64..200).prop_map(|(layout, keys)| Parameters {
        keys,
        seed: 8,
        design: layout.into(),
    });
    prop_oneof![4 => parameters(), 1 => multiset]
}

fn filled(parameters: &Parameters, keys: &[u16]) -> (Filter<u16>, Vec<u16>) {
    let mut filter = Filter::new(parameters).unwrap();
    let taken = keys.iter().copied().filter(|key| filter.insert(key).is_ok()).collect();
    (filter, taken)
}

fn bytes_of<K: StableKey + ?Sized>(filter: &Filter<K>) -> Vec<u8> {
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

        let loaded = Filter::load(&path).unwrap();
        let opened = open_typed(&path).unwrap();
        let read = Filter::read_from(&bytes[..]).unwrap();
        let from_bytes = Filter::from_bytes(&bytes).unwrap();
        let placed = Filter::from_hash_filter(in_place(&bytes).unwrap(), *filter.hasher());
        for copy in [&loaded, &opened, &read, &from_bytes, &placed] {
            prop_assert!(*copy == filter);
            prop_assert_eq!(copy.statistics(), filter.statistics());
            prop_assert!(taken.iter().all(|key| copy.contains(key)));
            prop_assert!(bytes_of(copy) == bytes);
        }
        let header = file::inspect(&path).unwrap();
        prop_assert_eq!(&header.parameters, &parameters);
        prop_assert_eq!(header.counters.elements, filter.statistics().elements);
        // The list of a multiset counts copies; in a list of hashes nothing overflows.
        let is_list = matches!(parameters.design, Design::List { .. });
        let statistics = filter.statistics();
        let listed = if is_list { statistics.elements } else { statistics.overflowed };
        let counts = parameters.design.is_multiset();
        prop_assert!(header.counters.overflow_entries == listed || counts && header.counters.overflow_entries < listed);
        prop_assert_eq!(header.file_length, bytes.len() as u64);
        // Large sections are used in place, but small files are read.
        let is_large = header.sections.iter().any(|section| section.length >= 4096);
        let is_mapped = |filter: &Filter<u16>| filter.as_hash_filter().is_mapped();
        prop_assert_eq!(is_mapped(&placed), is_large && cfg!(target_endian = "little"));
        prop_assert!(![&loaded, &opened, &read].into_iter().any(is_mapped));
        let report = file::verify(&path).unwrap();
        prop_assert_eq!(&report, &header);
        prop_assert_eq!(file::verify_from(&bytes[..]).unwrap(), report);

        // Each continues like the filter that was never saved.
        let mut copies = [loaded, opened, read, from_bytes, placed];
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
        // The file is unchanged.
        prop_assert!(std::fs::read(&path).unwrap() == bytes);
    }
}

/// A batch that is refused leaves a full list of the planned size.
#[test]
fn a_refused_batch_is_saved_with_its_list() {
    let blocks = Blocks::Fingerprint { slots: 8, lists: 12, remainder_bits: 9 };
    let overflow = Overflow { capacity: 5, when_full: WhenFull::Refuse };
    for multiset in [false, true] {
        let layout = Layout::fingerprints(blocks, &[5, 2]).unwrap().with_overflow(overflow);
        let design = Layout { multiset, ..layout }.into();
        let mut filter = Filter::<u16>::new(&Parameters { keys: 50, seed: 2, design }).unwrap();
        let keys: Vec<u16> = (0..100).collect();
        let refused = filter.insert_batch(&keys).unwrap_err();
        assert_eq!((refused.capacity, refused.stored), (5, filter.len()));
        let bytes = bytes_of(&filter);
        let header = file::verify_from(&bytes[..]).unwrap();
        assert_eq!((header.counters.overflow_entries, header.counters.overflow_capacity), (5, 5));
        let read = Filter::<u16>::read_from(&bytes[..]).unwrap();
        assert!(read == filter);
        assert!(keys.iter().all(|key| read.contains(key) == filter.contains(key)));
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
    let slow = HashFilter::read_from(Slow { bytes: &one, interrupted: false }).unwrap();
    assert!(slow == samples[3].build());
    let both = [one, two, b"and something else".to_vec()].concat();
    let mut rest = &both[..];
    assert!(HashFilter::read_from(&mut rest).unwrap() == samples[3].build());
    assert!(HashFilter::read_from(&mut rest).unwrap() == samples[9].build());
    assert_eq!(rest, b"and something else");
}

/// Larger than the read buffer, and than the initial buffer of a stream.
#[test]
fn large_filters_come_back_from_files_and_streams() {
    let scratch = Scratch::new("large");
    let path = scratch.path("filter.eqb");
    let design = Layout::two_choice(Blocks::bloom(500, 7), 50_001).into();
    let mut filter = Filter::new(&Parameters { keys: 100_000, seed: 1, design }).unwrap();
    filter.try_extend(0..100_000_u64).unwrap();
    filter.save(&path).unwrap();
    assert!(Filter::load(&path).unwrap() == filter);
    assert!(Filter::read_from(File::open(&path).unwrap()).unwrap() == filter);
    let opened = open_typed(&path).unwrap();
    assert!((0..100_000_u64).all(|key| opened.contains(&key)));
}

/// A file has one seed, that of the hash; a filter's parameters may have another.
#[test]
fn the_seed_of_the_hash_is_kept_even_if_it_is_not_the_parameters() {
    let parameters = samples()[0].parameters;
    let mut filter: Filter<str> = Filter::with_hasher(&parameters, Stable::with_seed(99)).unwrap();
    filter.insert("alice").unwrap();
    let bytes = bytes_of(&filter);
    let read = Filter::<str>::read_from(&bytes[..]).unwrap();
    assert!(read.contains("alice") && read.hasher() == filter.hasher());
    assert_eq!(read.parameters(), &Parameters { seed: 99, ..parameters });
    assert!(read.as_hash_filter().words().eq(filter.as_hash_filter().words()));
    assert_eq!(Forged::parse(&bytes).unwrap().numbers[forge::SEED], 99);
    // A filter over hashes knows the seed of its parameters only.
    let bytes = filter.as_hash_filter().to_bytes().unwrap();
    assert_eq!(Forged::parse(&bytes).unwrap().numbers[forge::SEED], parameters.seed);
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "big-endian machines do not map files")]
fn an_open_filter_is_copied_by_the_first_change_and_not_before() {
    for sample in samples_of(300) {
        let opened = in_place(&sample.bytes()).unwrap();
        let mut copy = opened.clone();
        let mut merged = HashFilter::new(&sample.parameters).unwrap();
        merged.merge(&opened).unwrap();
        // A part of another plan, or one that grows, stays where it is.
        assert_eq!(merged.is_mapped(), !sample.is_one_part());
        assert!(opened.is_mapped() && copy.is_mapped());
        assert!(sample.holds_its_keys(&merged));
        copy.detach().unwrap();
        assert!(!copy.is_mapped() && copy == opened && opened.is_mapped(), "{}", sample.name);
        let mut cleared = opened.clone();
        cleared.clear();
        assert_eq!(cleared.statistics().elements, 0);
        assert!(!cleared.is_mapped() && sample.holds_its_keys(&opened));
    }
}

/// Threads share a mapped filter like any other, and keep it when another file takes its place.
#[test]
fn a_mapped_filter_can_be_queried_by_many_threads_and_its_file_replaced() {
    let scratch = Scratch::new("threads");
    let path = scratch.path("filter.eqb");
    let sample = &samples_of(3_000)[4];
    sample.build().save(&path).unwrap();
    let opened = open(&path).unwrap();
    assert_eq!(opened.is_mapped(), cfg!(target_endian = "little"));
    samples()[1].build().save(&path).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(sample.holds_its_keys(&opened.clone())));
        }
    });
}

/// Every kind, in the order of their numbers.
const KINDS: [KeyKind; 5] =
    [KeyKind::Unspecified, str::KIND, u32::KIND, u128::KIND, <(u64, &str)>::KIND];

#[test]
fn files_record_the_kind_of_keys() {
    let scratch = Scratch::new("kinds");
    let path = scratch.path("filter.eqb");
    let filter = |kind| samples()[1].build().with_key_kind(kind);
    for (kind, number) in KINDS.into_iter().zip(0_u64..) {
        filter(kind).save(&path).unwrap();
        assert_eq!(file::inspect(&path).unwrap().key_kind, kind);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(Forged::parse(&bytes).unwrap().numbers[forge::KEY_KIND], number);
        for read in [HashFilter::load(&path).unwrap(), open(&path).unwrap()] {
            assert_eq!(read.key_kind(), kind);
            let read: Filter<str> = Filter::from_hash_filter(read, Stable::default());
            let shared = read.into_shared().unwrap();
            assert_eq!(shared.into_filter().as_hash_filter().key_kind(), kind);
        }
        for other in KINDS {
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

/// A type reads files of its kind, whatever width, and files without a kind. Others are refused by name.
#[test]
fn files_are_read_as_the_type_of_their_keys() {
    fn read<K: StableKey + ?Sized>(path: &Path, kind: KeyKind) {
        let bytes = std::fs::read(path).unwrap();
        let results = [Filter::<K>::load(path), open_typed(path), Filter::read_from(&bytes[..])];
        for (result, named) in results.into_iter().zip([true, true, false]) {
            if [K::KIND, KeyKind::Unspecified].contains(&kind) {
                assert_eq!(result.unwrap().as_hash_filter().key_kind(), kind);
                continue;
            }
            let error = result.unwrap_err();
            assert!(matches!(
                *error.kind(),
                FileErrorKind::Keys { found, expected } if found == kind && expected == K::KIND
            ));
            let text = error.to_string();
            assert!(text.contains(&format!("holds {kind}, and was asked for {}", K::KIND)));
            assert_eq!(text.starts_with(&*path.to_string_lossy()), named, "{text}");
        }
    }
    let scratch = Scratch::new("types");
    let path = scratch.path("filter.eqb");
    let parameters = samples()[1].parameters;

    let mut filter: Filter<i16> = Filter::new(&parameters).unwrap();
    filter.insert(&-5).unwrap();
    filter.save(&path).unwrap();
    assert!(Filter::<i64>::load(&path).unwrap().contains(&-5));
    let mut filter: Filter<str> = Filter::new(&parameters).unwrap();
    filter.insert("alice").unwrap();
    filter.save(&path).unwrap();
    assert!(Filter::<[u8]>::load(&path).unwrap().contains(b"alice"));
    let error = Filter::<u64>::load(&path).unwrap_err().to_string();
    assert!(error.contains("text or bytes") && error.contains("integers"), "{error}");

    for kind in KINDS {
        filter.into_hash_filter().with_key_kind(kind).save(&path).unwrap();
        filter = Filter::new(&parameters).unwrap();
        read::<u64>(&path, kind);
        read::<i8>(&path, kind);
        read::<usize>(&path, kind);
        read::<str>(&path, kind);
        read::<String>(&path, kind);
        read::<[u8]>(&path, kind);
        read::<u128>(&path, kind);
        read::<(u32, String)>(&path, kind);
    }
}

/// The header is compact, and small sections follow it without a gap.
#[cfg(feature = "planner")]
#[test]
fn files_of_few_keys_are_small() {
    let bytes = |keys: u64, rate: f64| {
        let mut filter = Filter::<u64>::builder().keys(keys).rate(rate).build().unwrap();
        filter.try_extend(0..keys).unwrap();
        let bytes = filter.to_bytes().unwrap();
        assert!(Filter::from_bytes(&bytes).unwrap() == filter);
        bytes.len()
    };
    assert!(bytes(3, 0.01) <= 150, "{}", bytes(3, 0.01));
    assert!(bytes(1_000, 0.01) <= 1_400, "{}", bytes(1_000, 0.01));
}

/// Another hash with a name: its files are read by it alone.
#[test]
fn a_filter_is_saved_by_the_name_of_its_hasher() {
    #[derive(Debug)]
    struct Folded(u64);

    impl KeyHasher<u64> for Folded {
        fn hash_key(&self, key: &u64) -> KeyHash {
            KeyHash::from_u64(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ self.0)
        }
    }

    impl NamedHasher<u64> for Folded {
        const NAME: &str = "folded";

        fn seed(&self) -> u64 {
            self.0
        }

        fn with_seed(seed: u64) -> Self {
            Self(seed)
        }
    }

    let scratch = Scratch::new("named");
    let path = scratch.path("filter.eqb");
    for sample in samples() {
        let mut filter = Filter::with_hasher(&sample.parameters, Folded(99)).unwrap();
        let taken: Vec<u64> = (0..50).filter(|key| filter.insert(key).is_ok()).collect();
        filter.save(&path).unwrap();
        let header = file::verify(&path).unwrap();
        assert_eq!((&*header.hash, header.parameters.seed), ("folded", 99));
        assert_eq!(header.key_kind, KeyKind::Unspecified);
        let loaded = Filter::<u64, Folded>::load_named(&path).unwrap();
        let read = Filter::<u64, Folded>::read_named(&filter.to_bytes().unwrap()[..]).unwrap();
        for copy in [loaded, read] {
            assert!(copy.hasher().0 == 99 && taken.iter().all(|key| copy.contains(key)));
        }
        let errors = [
            Filter::<u64>::load(&path).unwrap_err(),
            open_typed::<u64>(&path).unwrap_err(),
            HashFilter::load(&path).unwrap_err(),
        ];
        for error in errors.map(|error| error.to_string()) {
            assert!(error.contains("by \"folded\", and \"xxh3-128\" was asked for"), "{error}");
        }
        std::fs::write(&path, sample.bytes()).unwrap();
        let error = Filter::<u64, Folded>::load_named(&path).unwrap_err().to_string();
        assert!(error.contains("by \"xxh3-128\", and \"folded\" was asked for"), "{error}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn whole_filters_can_be_serialised() {
    for sample in samples() {
        let hashes = sample.build();
        let json = serde_json::to_string(&hashes).unwrap();
        assert!(serde_json::from_str::<HashFilter>(&json).unwrap() == hashes, "{}", sample.name);
        let filter: Filter<str> = Filter::from_hash_filter(hashes, Stable::with_seed(5));
        let json = serde_json::to_string(&filter).unwrap();
        let read: Filter<str> = serde_json::from_str(&json).unwrap();
        assert!(read.hasher() == filter.hasher() && bytes_of(&read) == bytes_of(&filter));
        let refused = serde_json::from_str::<Filter<u64>>(&json).unwrap_err().to_string();
        assert!(refused.contains("holds text or bytes"), "{refused}");
        let damaged = json.replacen("137", "138", 1);
        let refused = serde_json::from_str::<Filter<str>>(&damaged).unwrap_err().to_string();
        assert!(refused.contains("not a filter file"), "{refused}");
        // The part that grows is larger where threads share it.
        if sample.is_one_part() {
            let shared = filter.into_shared().unwrap();
            assert_eq!(serde_json::to_string(&shared).unwrap(), json);
            let read: SharedFilter<str> = serde_json::from_str(&json).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), json);
        }
    }
}

#[cfg(all(feature = "serde", feature = "planner"))]
#[test]
fn growing_filters_can_be_serialised() {
    let mut filter = Filter::<u64>::builder().rate(0.01).seed(5).build_growing().unwrap();
    filter.try_extend(0..1_000).unwrap();
    let json = serde_json::to_string(&filter).unwrap();
    assert!(serde_json::from_str::<GrowingFilter<u64>>(&json).unwrap() == filter);
    let refused = serde_json::from_str::<GrowingFilter<str>>(&json).unwrap_err().to_string();
    assert!(refused.contains("holds integers"), "{refused}");
    let damaged = json.replacen("137", "138", 1);
    assert!(serde_json::from_str::<GrowingFilter<u64>>(&damaged).is_err());
    let shared = filter.into_shared().unwrap();
    let json = serde_json::to_string(&shared).unwrap();
    let read: SharedGrowingFilter<u64> = serde_json::from_str(&json).unwrap();
    assert!((0..1_000).all(|key| read.contains(&key)) && read.len() == 1_000);
}

#[cfg(feature = "serde")]
#[test]
fn headers_can_be_serialised() {
    let report = file::verify_from(&samples()[8].bytes()[..]).unwrap();
    let json = serde_json::to_string(&report).unwrap();
    assert!(
        json.contains("\"hash\":\"xxh3-128\"")
            && json.contains("\"rule\":{\"kind\":\"first-with-room\"")
    );
    assert_eq!(serde_json::from_str::<file::Header>(&json).unwrap(), report);
}

#[cfg(unix)]
#[test]
fn files_that_cannot_be_mapped_are_read() {
    use std::os::fd::AsRawFd;
    let (reader, mut writer) = io::pipe().unwrap();
    let sample = &samples()[8];
    let bytes = sample.bytes();
    std::thread::scope(|scope| {
        scope.spawn(move || writer.write_all(&bytes).unwrap());
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        if !Path::new(&path).exists() {
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
fn a_file_larger_than_memory_is_opened_and_queried_at_once() {
    let scratch = Scratch::new("tebibyte");
    let path = scratch.path("filter.eqb");
    let count = 1_u64 << 34;
    let design = Layout::blocked(Blocks::bloom(512, 7), 10).into();
    let filter = HashFilter::new(&Parameters { keys: 100, seed: 1, design }).unwrap();
    let (bytes, start) = forge::with_block_count(&filter.to_bytes().unwrap(), count);
    let mut file = File::create(&path).unwrap();
    file.write_all(&bytes[..start as usize]).unwrap();
    if let Err(error) = file.set_len(start + 64 * count) {
        println!("skipped: this file system has no files of a tebibyte ({error})");
        return;
    }
    let hash = u128::from(Stable::with_seed(1).hash_key("alice"));
    let block = ((hash >> 64) * u128::from(count)) >> 64;
    file.seek(SeekFrom::Start(start + 64 * block as u64)).unwrap();
    file.write_all(&[0xff; 64]).unwrap();

    // The kind of its keys is not stated.
    assert!(open_typed::<str>(&path).unwrap().contains("alice"));
    let filter = open_typed::<u64>(&path).unwrap();
    assert!((0..1_000).all(|key| !filter.contains(&key)));
}
