//! Damaged, forged or foreign files: an error that names the problem, and nothing worse.

#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod forge;
mod samples;
mod scratch;

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use equibloom::file::{self, FileError, FileErrorKind};
use equibloom::{HashFilter, KeyHash, KeyHasher, Stable};
use forge::{exercise, put, seal, section};
use samples::{Sample, samples};
use scratch::{Scratch, open};

fn sample(name: &str) -> Sample {
    samples().into_iter().find(|sample| sample.name == name).unwrap()
}

fn load(bytes: &[u8]) -> Result<HashFilter, FileError> {
    HashFilter::read_from(bytes)
}

/// The error text for a file, the same from `load` and `verify`.
fn refusal(bytes: &[u8]) -> String {
    let text = load(bytes).unwrap_err().to_string();
    assert_eq!(text, file::verify_from(bytes).unwrap_err().to_string());
    text
}

/// The same from a file, where `open` must only notice errors of the header and the length.
fn refusal_of_all(path: &Path, bytes: &[u8]) -> String {
    std::fs::write(path, bytes).unwrap();
    let text = HashFilter::load(path).unwrap_err().to_string();
    assert_eq!(text, file::verify(path).unwrap_err().to_string());
    assert_eq!(text, open(path).unwrap_err().to_string());
    assert_eq!(text, file::inspect(path).unwrap_err().to_string());
    text
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    for name in ["classical", "multi-level", "fingerprint-multiset-grown"] {
        let mut bytes = sample(name).bytes();
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(load(&bytes).is_err(), "{name}: load accepts bit {bit}");
            assert!(file::verify_from(&bytes[..]).is_err(), "{name}: verify accepts bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(load(&bytes).is_ok());
    }
}

/// The same through files, where a mapped one may have flipped bits behind its header.
#[test]
#[cfg_attr(target_endian = "big", ignore = "big-endian machines do not map files")]
fn a_flipped_bit_in_a_file_is_found_by_load_and_harmless_when_mapped() {
    let scratch = Scratch::new("flipped");
    let path = scratch.path("filter.eqb");
    let sample = sample("multi-level-hints");
    let bytes = sample.bytes();
    let header_length = file::verify_from(&bytes[..]).unwrap().header_length as usize;
    std::fs::write(&path, &bytes).unwrap();
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    let mut set = |at: usize, byte: u8| {
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(&[byte]).unwrap();
    };
    for (at, &byte) in bytes.iter().enumerate() {
        set(at, byte ^ (1 << (at % 8)));
        assert!(HashFilter::load(&path).is_err(), "load accepts byte {at}");
        assert!(file::verify(&path).is_err(), "verify accepts byte {at}");
        match open(&path) {
            Ok(filter) => {
                assert!(at >= header_length, "open accepts byte {at}");
                exercise(&filter);
            }
            Err(_) => assert!(at < header_length, "open refuses byte {at}"),
        }
        set(at, byte);
    }
    assert!(sample.holds_its_keys(&HashFilter::load(&path).unwrap()));
}

#[test]
fn a_file_cut_or_extended_at_any_length_says_so() {
    let scratch = Scratch::new("cut");
    let path = scratch.path("filter.eqb");
    let bytes = sample("single").bytes();
    for length in 0..bytes.len() {
        let text = refusal(&bytes[..length]);
        let expected = if length < 8 { "not a filter file" } else { "should have" };
        assert!(text.contains(expected), "{length}: {text}");
    }
    for length in (0..bytes.len()).step_by(61) {
        let text = refusal_of_all(&path, &bytes[..length]);
        assert!(length < 40 || text.contains(&format!("has {length} bytes")), "{text}");
    }
    for more in [1, 7, 4096] {
        let text = refusal_of_all(&path, &[&bytes[..], &vec![0; more]].concat());
        let lengths = format!("has {} bytes and should have {}", bytes.len() + more, bytes.len());
        assert!(text.contains(&lengths), "{text}");
    }
}

/// A generator of its own, so that the cases never change (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        u128::from(KeyHash::from_u64(self.0)) as u64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// A number that is often near a limit.
    fn number(&mut self) -> u64 {
        match self.below(6) {
            0 => self.next(),
            1 => self.next() % 100,
            2 => u64::MAX - self.next() % 3,
            3 => 1 << self.below(64),
            4 => (1_u64 << self.below(64)).wrapping_sub(1),
            _ => 4096 * (self.next() % 8),
        }
    }
}

/// Changes a file in one to four ways.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    // Most of a small file is padding; the header and the sections matter more.
    let position = |bytes: &[u8], random: &mut Random| match random.below(3) {
        0 => random.below(bytes.len()),
        1 => random.below(bytes.len().min(360)),
        _ => bytes.len() - 1 - random.below(bytes.len().min(1_000)),
    };
    for _ in 0..1 + random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = position(bytes, random);
        match random.below(8) {
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = random.next() as u8,
            3 => bytes.truncate(at),
            4 => bytes.extend((0..random.below(5_000)).map(|_| 0)),
            5 => {
                let from = position(other, random);
                let length = random.below(64).min(other.len() - from).min(bytes.len() - at);
                bytes[at..at + length].copy_from_slice(&other[from..from + length]);
            }
            6 => put(bytes, at & !3, &(random.number() as u32).to_le_bytes()),
            _ => put(bytes, 8 * random.below(45), &random.number().to_le_bytes()),
        }
    }
}

/// Half of the files keep their damage; the other half get correct checksums afterwards, so that the checks
/// behind those are reached.
#[test]
fn a_hundred_thousand_mutations_do_no_harm() {
    let samples: Vec<(Sample, Vec<u8>)> = samples()
        .into_iter()
        .map(|sample| {
            let bytes = sample.bytes();
            (sample, bytes)
        })
        .collect();
    let mut random = Random(8);
    let (mut accepted, mut forged) = (0, 0);
    for case in 0..100_000 {
        let (sample, original) = &samples[random.below(samples.len())];
        let (_, other) = &samples[random.below(samples.len())];
        let mut bytes = original.clone();
        mutate(&mut bytes, other, &mut random);
        let sealed = case % 2 == 1;
        if sealed {
            seal(&mut bytes);
        }
        let verified = file::verify_from(&bytes[..]);
        match load(&bytes) {
            Ok(filter) => {
                assert!(verified.is_ok(), "{case}");
                if sealed {
                    forged += 1;
                    exercise(&filter);
                } else {
                    accepted += 1;
                    assert!(sample.holds_its_keys(&filter), "{case}: {}", sample.name);
                }
            }
            Err(error) => {
                assert!(!error.to_string().is_empty() && verified.is_err(), "{case}");
            }
        }
    }
    // The test covers both: unchanged files, and filters with arbitrary contents.
    assert!(accepted > 1_000 && forged > 5_000, "{accepted} accepted, {forged} forged");
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "big-endian machines do not map files")]
fn mutated_files_can_be_mapped_and_queried() {
    let scratch = Scratch::new("mapped");
    let path = scratch.path("filter.eqb");
    let mut random = Random(9);
    let samples = samples();
    let mut opened = 0;
    for _ in 0..3_000 {
        let mut bytes = samples[random.below(samples.len())].bytes();
        let other = samples[random.below(samples.len())].bytes();
        mutate(&mut bytes, &other, &mut random);
        if random.below(2) == 0 {
            seal(&mut bytes);
        }
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(filter) = open(&path) {
            opened += 1;
            exercise(&filter);
        }
    }
    assert!(opened > 500, "{opened}");
}

/// Every bit set, padding included, or random bits, with correct checksums.
#[test]
fn blocks_may_have_any_contents() {
    let scratch = Scratch::new("blocks");
    let path = scratch.path("filter.eqb");
    let mut random = Random(10);
    let has_blocks = |sample: &Sample| sample.parameters.design.block_bytes() > 0;
    for sample in samples().into_iter().filter(has_blocks) {
        for case in 0..20 {
            let mut bytes = sample.bytes();
            let range = section(&bytes, 0).unwrap();
            bytes[range].fill_with(|| if case == 0 { 0xff } else { random.next() as u8 });
            seal(&mut bytes);
            std::fs::write(&path, &bytes).unwrap();
            exercise(&load(&bytes).unwrap());
            exercise(&open(&path).unwrap());
        }
    }
}

/// No slot of the list is free and no entry is in order: lookups and inserts still end.
#[test]
#[cfg_attr(target_endian = "big", ignore = "big-endian machines do not map files")]
fn a_mapped_overflow_list_may_have_any_contents() {
    let scratch = Scratch::new("overflow");
    let path = scratch.path("filter.eqb");
    for name in ["single", "multi-level-hints", "sequential", "fingerprint-multiset-grown", "list"]
    {
        let original = sample(name).bytes();
        let range = section(&original, usize::from(name != "list")).unwrap();
        for fill in [1_u8, 0x80, 0xff] {
            let mut bytes = original.clone();
            for (at, byte) in bytes[range.clone()].iter_mut().enumerate() {
                *byte = fill.wrapping_mul(1 + (at / 8) as u8 % 3);
            }
            std::fs::write(&path, &bytes).unwrap();
            let mut filter = open(&path).unwrap();
            exercise(&filter);
            for key in 0..500_u32 {
                let hash = Stable::default().hash_key(&key);
                if filter.insert(hash).is_ok() {
                    assert!(filter.contains(hash), "{name}: {key}");
                }
            }
        }
    }
}

#[test]
fn errors_name_the_problem_and_its_position() {
    let scratch = Scratch::new("errors");
    let path = scratch.path("filter.eqb");
    let original = sample("multi-level").bytes();
    let case = |at: usize, field: &[u8], sealed: bool| {
        let mut bytes = original.clone();
        put(&mut bytes, at, field);
        if sealed {
            seal(&mut bytes);
        }
        refusal_of_all(&path, &bytes)
    };
    let says = |text: String, parts: &[&str]| {
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
    };
    says(case(0, b"PK\x03\x04", true), &["not a filter file", "[50, 4b, 03, 04", "89, 45, 51"]);
    says(case(8, &7_u32.to_le_bytes(), false), &["version 7", "version 3", "update equibloom"]);
    says(case(8, &1_u32.to_le_bytes(), true), &["version 1", "version 3", "from its keys"]);
    says(case(8, &2_u32.to_le_bytes(), true), &["version 2", "version 3", "from its keys"]);
    says(
        case(12, &u32::MAX.to_le_bytes(), true),
        &["the header's length at byte 12 is 4294967295"],
    );
    says(case(12, &127_u32.to_le_bytes(), true), &["the header's length at byte 12 is 127"]);
    says(case(forge::FLAGS, &6_u64.to_le_bytes(), true), &["flags at byte 16 are 0x6", "update"]);
    says(case(forge::HASH, b"md5\0\0\0\0\0", true), &["hashed by \"md5\"", "xxh3-128"]);
    says(case(forge::SEED, &[1], false), &["the header is damaged", "copy the file again"]);
    says(
        case(forge::SPENT, &2_u32.to_le_bytes(), true),
        &["accesses are spent at byte 96 is 2", "up to 1"],
    );
    says(
        case(forge::SECTION_COUNT, &1_000_000_u32.to_le_bytes(), true),
        &["number of sections at byte 100 is 1000000"],
    );
    says(case(forge::SECTION_COUNT, &1_u32.to_le_bytes(), true), &["byte"]);
    says(
        case(forge::OVERFLOW_ENTRIES, &61_u64.to_le_bytes(), true),
        &["overflow entries at byte 104 is 61", "at most 60"],
    );
    says(
        case(forge::OVERFLOW_CAPACITY, &61_u64.to_le_bytes(), true),
        &["capacity at byte 112 is 61", "60, as planned"],
    );
    says(
        case(forge::KEY_KIND, &5_u64.to_le_bytes(), true),
        &["the kind of the keys at byte 120 is 5", "below 5"],
    );
    says(case(forge::SECTIONS, b"blobs\0\0", true), &["\"blobs\" is necessary and unknown"]);
    says(case(forge::SECTIONS + 16, &[9], true), &["flags at byte 144 are 0x9", "0x1"]);
    says(
        case(forge::SECTIONS + 24, &4097_u64.to_le_bytes(), true),
        &["offset of a section at byte 152 is 4097", "multiple of 4096"],
    );
    says(
        case(forge::SECTIONS + 32, &u64::MAX.to_le_bytes(), true),
        &["end of a section at byte 152 is 18446744073709551615"],
    );
    says(
        case(forge::SECTIONS + 32, &64_u64.to_le_bytes(), true),
        &["section \"blocks\" has 64 bytes", "needs 640"],
    );
    // The design follows two sections.
    let design = forge::SECTIONS + 2 * forge::SECTION_BYTES;
    let number = |at: usize, value: u32, parts: &[&str]| {
        says(case(design + at, &value.to_le_bytes(), true), parts)
    };
    number(0, 99, &["the design at byte 224 is 99", "1 to 3"]);
    number(4, 0, &["the kind of blocks at byte 228 is 0", "1 to 2"]);
    number(8, 3, &["parameters at byte 224", "block bits is 3"]);
    number(20, 3, &["the candidates at byte 244 is 3", "1 to 2"]);
    number(24, 17, &["number of subtables at byte 248 is 17", "up to 16"]);
    number(24, 0, &["parameters at byte 248", "number of subtables is 0"]);
    number(52, 4, &["the rule at byte 276 is 4", "1 to 3"]);
    number(60, 1, &["the coin at byte 284 is 2305843009213693953", "53 significant bits"]);
    number(64, 0x8000_0001, &["the coin at byte 284 is", "at most 9223372036854775808"]);
    number(68, 2, &["access budget at byte 292 is 2", "up to 1"]);
    number(72, 7, &["the access budget at byte 296 is 7", "0: the file says that there is none"]);
    number(88, 2, &["when the list is full at byte 312 is 2", "up to 1"]);
    number(92, 2, &["multiset at byte 316 is 2", "up to 1"]);
    number(92, 1, &["parameters at byte 224", "cannot be removed from Bloom blocks"]);
    says(case(forge::FILE_LENGTH, &9_000_u64.to_le_bytes(), true), &["should have 9000"]);
}

#[test]
fn errors_behind_the_header_name_the_section_and_the_byte() {
    let original = sample("multi-level").bytes();
    let blocks = section(&original, 0).unwrap();
    let overflow = section(&original, 1).unwrap();

    let mut bytes = original.clone();
    bytes[blocks.start + 5] ^= 1;
    let text = refusal(&bytes);
    assert!(text.contains("section \"blocks\" (bytes 4096 to 4736) is damaged"), "{text}");

    let mut bytes = original.clone();
    bytes[blocks.end + 100] = 7;
    let text = refusal(&bytes);
    assert!(
        text.contains(&format!("byte {} belongs to no section and is 0x07", blocks.end + 100)),
        "{text}"
    );

    let mut bytes = original.clone();
    let free = (overflow.start..overflow.end).step_by(8).find(|&at| bytes[at..at + 8] == [0; 8]);
    bytes[free.unwrap()] = 1;
    seal(&mut bytes);
    let text = refusal(&bytes);
    assert!(
        text.contains("section \"overflow\" has") && text.contains("the header says"),
        "{text}"
    );
}

#[test]
fn unknown_sections_are_skipped_unless_they_are_necessary() {
    let sample = sample("classical");
    let header = file::verify_from(&sample.bytes()[..]).unwrap();
    let with_section = |flags: u64| {
        let mut bytes = sample.bytes();
        // A new entry follows the first section's; the design moves on.
        let offset = (bytes.len() as u64).next_multiple_of(4096);
        let mut entry = b"comment\0\0\0\0\0\0\0\0\0".to_vec();
        for number in [flags, offset, 11, 0] {
            entry.extend(number.to_le_bytes());
        }
        let at = forge::SECTIONS + forge::SECTION_BYTES;
        let length = header.header_length as usize;
        let design = bytes[at..length].to_vec();
        put(&mut bytes, at, &[entry, design].concat());
        bytes.resize(offset as usize, 0);
        bytes.extend(b"hello world");
        let file_length = bytes.len() as u64;
        put(&mut bytes, forge::SECTION_COUNT, &2_u32.to_le_bytes());
        put(
            &mut bytes,
            forge::HEADER_LENGTH,
            &((length + forge::SECTION_BYTES) as u32).to_le_bytes(),
        );
        put(&mut bytes, forge::FILE_LENGTH, &file_length.to_le_bytes());
        seal(&mut bytes);
        bytes
    };
    let mut bytes = with_section(0);
    let scratch = Scratch::new("sections");
    let path = scratch.path("filter.eqb");
    std::fs::write(&path, &bytes).unwrap();
    for filter in [load(&bytes).unwrap(), open(&path).unwrap()] {
        assert!(sample.holds_its_keys(&filter));
    }
    let names: Vec<_> = file::verify(&path).unwrap().sections.into_iter().map(|s| s.name).collect();
    assert_eq!(names, ["blocks", "comment"]);
    // Their checksums count nevertheless.
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    assert!(refusal(&bytes).contains("section \"comment\""));
    assert!(refusal(&with_section(1)).contains("\"comment\" is necessary and unknown"));
}

#[test]
fn foreign_files_are_recognised() {
    let scratch = Scratch::new("foreign");
    for foreign in
        [&b""[..], b"x", b"\x89EQB", b"{\"keys\": 3}", &[0; 5_000], b"\x89PNG\r\n\x1a\n and so on"]
    {
        let text = refusal_of_all(&scratch.path("foreign"), foreign);
        assert!(text.contains("not a filter file"), "{text}");
    }
    let missing = open(scratch.path("missing")).unwrap_err();
    assert!(matches!(missing.kind(), FileErrorKind::Io { .. }));
    assert!(missing.to_string().contains("could not open it"), "{missing}");
    for error in
        [HashFilter::load(scratch.directory()).unwrap_err(), open(scratch.directory()).unwrap_err()]
    {
        assert!(error.to_string().contains("could not read it"), "{error}");
        assert_eq!(error.path(), Some(scratch.directory()));
    }
}
