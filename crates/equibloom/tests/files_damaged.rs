//! Damaged, forged or foreign files: an error that names the problem, and nothing worse.

#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod forge;
mod samples;
mod scratch;

use std::fs::OpenOptions;
use std::path::Path;

use equibloom::file::{self, FileError, FileErrorKind};
use equibloom::{HashFilter, KeyHash, KeyHasher, Stable};
use forge::{Forged, exercise, put, seal, section};
use samples::{Sample, samples, samples_of};
use scratch::{Scratch, in_place, open};

fn sample(name: &str) -> Sample {
    samples().into_iter().find(|sample| sample.name == name).unwrap()
}

/// A sample whose sections are large enough to be used in place.
fn large_sample(name: &str) -> Sample {
    samples_of(300).into_iter().find(|sample| sample.name == name).unwrap()
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

/// The same from a file, and in place, where only errors of the header and the length must be noticed.
fn refusal_of_all(path: &Path, bytes: &[u8]) -> String {
    std::fs::write(path, bytes).unwrap();
    let text = HashFilter::load(path).unwrap_err().to_string();
    assert_eq!(text, file::verify(path).unwrap_err().to_string());
    assert_eq!(text, open(path).unwrap_err().to_string());
    assert!(text.ends_with(&in_place(bytes).unwrap_err().to_string()), "{text}");
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

/// The same in place, where bits behind the header and small sections may be flipped. Here the blocks are large and
/// the list is small.
#[test]
#[cfg_attr(target_endian = "big", ignore = "big-endian machines use no bytes in place")]
fn a_flipped_bit_in_place_is_found_or_harmless() {
    let mut bytes = sample("single-hints-large").bytes();
    let blocks = section(&bytes, 0).unwrap();
    let header_length = file::verify_from(&bytes[..]).unwrap().header_length as usize;
    for at in 0..bytes.len() {
        bytes[at] ^= 1 << (at % 8);
        assert!(load(&bytes).is_err(), "load accepts byte {at}");
        let is_checked = at < header_length || at >= blocks.end;
        match in_place(&bytes) {
            Ok(filter) if at % 16 == 0 => exercise(&filter),
            result => assert_eq!(result.is_err(), is_checked, "byte {at}"),
        }
        bytes[at] ^= 1 << (at % 8);
    }
}

/// A file that is read when it is opened is verified, and may change or shrink afterwards.
#[test]
fn a_small_file_is_verified_when_it_is_opened_and_not_needed_afterwards() {
    let scratch = Scratch::new("small");
    let path = scratch.path("filter.eqb");
    let sample = large_sample("fingerprint");
    let mut bytes = sample.bytes();
    std::fs::write(&path, &bytes).unwrap();
    let filter = open(&path).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    assert!(sample.holds_its_keys(&filter) && !filter.is_mapped());
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    assert!(open(&path).unwrap_err().to_string().contains("is damaged"));
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
        assert!(length < forge::PREFIX || text.contains(&format!("has {length} bytes")), "{text}");
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
    let position = |bytes: &[u8], random: &mut Random| match random.below(3) {
        0 => random.below(bytes.len()),
        1 => random.below(bytes.len().min(100)),
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
            6 => put(bytes, at, &random.number().to_le_bytes()),
            _ => {
                let Some(mut forged) = Forged::parse(bytes) else { continue };
                let number = random.below(forged.numbers.len());
                forged.numbers[number] = random.number();
                // The checksum stays that of the original.
                let checksum = bytes[forge::CHECKSUM..forge::PREFIX].to_vec();
                *bytes = forged.file();
                put(bytes, forge::CHECKSUM, &checksum);
            }
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
        let is_refused = verified.is_err();
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
                let is_other_hash = verified.is_ok_and(|header| header.hash != "xxh3-128");
                assert!(!error.to_string().is_empty(), "{case}");
                assert!(is_refused || is_other_hash, "{case}");
            }
        }
    }
    // The test covers both: unchanged files, and filters with arbitrary contents.
    assert!(accepted > 1_000 && forged > 5_000, "{accepted} accepted, {forged} forged");
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "big-endian machines use no bytes in place")]
fn mutated_files_can_be_queried_in_place() {
    let mut random = Random(9);
    let samples: Vec<_> = samples_of(300).iter().map(Sample::bytes).collect();
    let mut opened = 0;
    for _ in 0..1_000 {
        let mut bytes = samples[random.below(samples.len())].clone();
        let other = &samples[random.below(samples.len())];
        mutate(&mut bytes, other, &mut random);
        if random.below(2) == 0 {
            seal(&mut bytes);
        }
        if let Ok(filter) = in_place(&bytes) {
            opened += 1;
            exercise(&filter);
        }
    }
    assert!(opened > 200, "{opened}");
}

/// Every bit set, padding included, or random bits, with correct checksums.
#[test]
fn blocks_may_have_any_contents() {
    let mut random = Random(10);
    let has_blocks = |sample: &Sample| sample.parameters.design.block_bytes() > 0;
    let all = [(samples(), 20), (samples_of(300), 2)];
    let samples = all
        .into_iter()
        .flat_map(|(samples, cases)| samples.into_iter().map(move |sample| (sample, cases)));
    for (sample, cases) in samples.filter(|(sample, _)| has_blocks(sample)) {
        for case in 0..cases {
            let mut bytes = sample.bytes();
            let range = section(&bytes, 0).unwrap();
            bytes[range].fill_with(|| if case == 0 { 0xff } else { random.next() as u8 });
            seal(&mut bytes);
            exercise(&load(&bytes).unwrap());
            exercise(&in_place(&bytes).unwrap());
        }
    }
}

/// No slot of the list is free and no entry is in order: lookups and inserts still end.
#[test]
#[cfg_attr(target_endian = "big", ignore = "big-endian machines use no bytes in place")]
fn an_overflow_list_in_place_may_have_any_contents() {
    for name in ["single", "multi-level-hints", "sequential", "fingerprint-multiset-grown", "list"]
    {
        let original = large_sample(name).bytes();
        let range = section(&original, usize::from(name != "list")).unwrap();
        for fill in [1_u8, 0x80, 0xff] {
            let mut bytes = original.clone();
            for (at, byte) in bytes[range.clone()].iter_mut().enumerate() {
                *byte = fill.wrapping_mul(1 + (at / 8) as u8 % 3);
            }
            let mut filter = in_place(&bytes).unwrap();
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
    let bytes = sample("multi-level").bytes();
    let original = Forged::parse(&bytes).unwrap();
    assert!(original.file() == bytes);
    let says = |bytes: &[u8], parts: &[&str]| {
        let text = refusal_of_all(&path, bytes);
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
    };
    let bytes_at = |at: usize, field: &[u8], parts: &[&str]| {
        let mut bytes = bytes.clone();
        put(&mut bytes, at, field);
        says(&bytes, parts);
    };
    bytes_at(0, b"PK\x03\x04", &["not a filter file", "[50, 4b, 03, 04", "89, 45, 51"]);
    bytes_at(8, &7_u16.to_le_bytes(), &["version 7", "version 4", "update equibloom"]);
    for version in 1..4_u32 {
        let named = format!("version {version}");
        bytes_at(8, &version.to_le_bytes(), &[&named, "version 4", "from its keys"]);
    }
    bytes_at(10, &19_u16.to_le_bytes(), &["the header's length at byte 10 is 19", "at least 20"]);
    bytes_at(
        original.position(forge::SEED),
        &[1],
        &["the header is damaged", "copy the file again"],
    );

    let forged = |change: &dyn Fn(&mut Forged), parts: &[&str]| {
        let mut forged = original.clone();
        change(&mut forged);
        says(&forged.file(), parts);
    };
    // A number by its index, and what is said of it: {} stands for its position and value.
    let number = |index: usize, value: u64, name: &str, parts: &[&str]| {
        let mut forged = original.clone();
        forged.numbers[index] = value;
        let place = format!("{name} at byte {} is {value}:", original.position(index));
        says(&forged.file(), &[&[&*place], parts].concat());
    };
    forged(&|file| file.numbers[0] = 12, &["the flags at byte 20 are 0xc", "0x3", "update"]);
    number(forge::FLAGS, 1, "bit 0 of the flags", &["0, because"]);
    number(forge::KEY_KIND, 5, "the kind of the keys", &["below 5"]);
    let counters = original.numbers.len();
    number(counters - forge::CAPACITY, 61, "the overflow list's capacity", &["60, as planned"]);
    number(counters - forge::ENTRIES, 61, "the number of overflow entries", &["at most 60"]);

    // Blocks 2 1 bits hashes hints, candidates 2 3 sizes, rule 2 below coin, no budget, list, multiset.
    let design = |index: usize, value, name: &str, parts: &[&str]| {
        number(forge::DESIGN + index, value, name, parts);
    };
    let parameters = |index: usize, value, at: usize, reason: &str| {
        let place = format!("parameters at byte {}", original.position(forge::DESIGN + at));
        forged(&|file| file.numbers[forge::DESIGN + index] = value, &[&place, reason]);
    };
    design(0, 99, "the design", &["1 to 3"]);
    design(1, 0, "the kind of blocks", &["1 to 2"]);
    parameters(2, 3, 0, "block bits is 3");
    design(3, 1 << 32, "hashes", &["up to 4294967295"]);
    design(5, 3, "the candidates", &["1 to 2"]);
    design(6, 17, "number of subtables", &["up to 16"]);
    design(10, 4, "the rule", &["1 to 3"]);
    design(12, (1 << 61) + 1, "the coin", &["53 significant bits"]);
    design(12, (1 << 63) + (1 << 40), "the coin", &["at most 9223372036854775808"]);
    design(13, 2, "whether there is an access budget", &["up to 1"]);
    design(15, 41, "what happens to keys beyond the plan", &["up to 40"]);
    design(16, 2, "whether it is a multiset", &["up to 1"]);
    parameters(16, 1, 0, "cannot be removed from Bloom blocks");
    let mut none = original.clone();
    none.numbers[forge::DESIGN + 6] = 0;
    none.numbers.drain(forge::DESIGN + 7..forge::DESIGN + 10);
    says(&none.file(), &["number of subtables is 0"]);

    let at = original.position(counters);
    let many = format!("the number of sections at byte {at} is 1000000: a whole number up to 64");
    forged(&|file| file.count = 1_000_000, &[&many]);
    forged(&|file| file.count = 1, &["what is left of the header"]);
    forged(&|file| file.count = 3, &["what is left of the header", "is 0", "section's name"]);
    forged(
        &|file| file.sections[0].name = b"blobs".into(),
        &["\"blobs\" is necessary and unknown"],
    );
    forged(&|file| file.sections[0].flags = 9, &["a section's flags at byte", "are 0x9", "0x1"]);
    let at = original.position_of_section(1);
    let twice = format!("sections of one name at byte {at} is 2");
    forged(&|file| file.sections[1].name = b"blocks".into(), &[&twice]);
    let at = original.position_of_section(0) + 1;
    let text = format!("a section's name at byte {} is 255: UTF-8", at + 2);
    forged(&|file| file.sections[0].name = b"bl\xffocks".into(), &[&text]);
    forged(&|file| file.sections[0].name = vec![b'x'; 33], &["a section's name", "up to 32"]);
    forged(&|file| file.sections[0].length = 64, &["section \"blocks\" has 64 bytes", "needs 640"]);
    // An unknown section that is longer than a file can be.
    let more = |length: u64| {
        let mut forged = original.clone();
        let mut section = forge::Section::new("x", 0, b"");
        section.length = length;
        forged.sections.push(section);
        forged.count = 3;
        forged.file()
    };
    says(&more(u64::MAX), &["it has 18446744073709551615 bytes"]);
    says(&more(9_000), &["should have "]);
}

/// A number has one form, so that a header has one, too.
#[test]
fn numbers_are_in_their_shortest_form() {
    let original = sample("classical").bytes();
    let header = &original[forge::PREFIX..section(&original, 0).unwrap().start];
    // The flags, 0, in other forms.
    let long: &[u8] = &[0x80; 9];
    let cases: [(&[&[u8]], &str); 5] = [
        (&[&[0x80, 0]], "is 0: a number of 64 bits in its shortest form"),
        (&[&[0x81, 0x80, 0]], "is 1: a number"),
        (&[long, &[2]], "a number of 64 bits"),
        (&[long, &[0x81, 0]], "a number of 64 bits"),
        (&[&[0xff; 9], &[1]], "are 0xffffffffffffffff"),
    ];
    for (flags, says) in cases {
        let bytes = forge::whole(4, &[&flags.concat(), &header[1..]].concat());
        let text = refusal(&bytes);
        assert!(text.contains("the flags at byte 20") && text.contains(says), "{text}");
    }
    // A header that ends within a number.
    let text = refusal(&forge::whole(4, &[0x80]));
    assert!(
        text.contains("left of the header at byte 21 is 0: more bytes for the flags"),
        "{text}"
    );
}

/// Another hash is no damage: the file is whole, and only its keys cannot be asked for.
#[test]
fn a_file_of_another_hash_is_refused_by_both_names() {
    let mut forged = Forged::parse(&sample("multi-level").bytes()).unwrap();
    forged.hash = b"md5".into();
    let bytes = forged.file();
    assert_eq!(file::verify_from(&bytes[..]).unwrap().hash, "md5");
    for refused in [load(&bytes), in_place(&bytes), HashFilter::from_bytes(&bytes)] {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("by \"md5\", and \"xxh3-128\" was asked for"), "{text}");
    }
}

#[test]
fn errors_behind_the_header_name_the_section_and_the_byte() {
    let original = sample("single-hints-large").bytes();
    let (blocks, overflow) = (section(&original, 0).unwrap(), section(&original, 1).unwrap());
    let header_length = file::verify_from(&original[..]).unwrap().header_length as usize;
    let changed = |at: usize, value: u8, sealed: bool| {
        let mut bytes = original.clone();
        bytes[at] ^= value;
        if sealed {
            seal(&mut bytes);
        }
        refusal(&bytes)
    };
    let text = changed(blocks.start + 5, 1, false);
    let place = format!("section \"blocks\" (bytes {} to {}) is damaged", blocks.start, blocks.end);
    assert!(text.contains(&place), "{text}");

    assert!(header_length < blocks.start, "there is a gap");
    let text = changed(header_length, 7, true);
    let place = format!("byte {header_length} belongs to no section and is 0x07");
    assert!(text.contains(&place), "{text}");

    let free = (overflow.start..overflow.end).step_by(8).find(|&at| original[at..at + 8] == [0; 8]);
    let text = changed(free.unwrap(), 1, true);
    assert!(
        text.contains("section \"overflow\" has") && text.contains("the header says"),
        "{text}"
    );
}

#[test]
fn unknown_sections_are_skipped_unless_they_are_necessary() {
    let sample = sample("classical");
    let with_section = |flags: u64, contents: &[u8], at: usize| {
        let mut forged = Forged::parse(&sample.bytes()).unwrap();
        forged.sections.insert(at, forge::Section::new("comment", flags, contents));
        forged.count += 1;
        forged.file()
    };
    let scratch = Scratch::new("sections");
    let path = scratch.path("filter.eqb");
    // Small ones, large ones, before and behind the blocks.
    for (contents, at) in [(&b"hello world"[..], 1), (b"hello", 0), (&[b'x'; 5_000], 0)] {
        let mut bytes = with_section(0, contents, at);
        std::fs::write(&path, &bytes).unwrap();
        for filter in [load(&bytes).unwrap(), open(&path).unwrap(), in_place(&bytes).unwrap()] {
            assert!(sample.holds_its_keys(&filter));
        }
        let sections = file::verify(&path).unwrap().sections;
        assert_eq!((&*sections[at].name, &*sections[1 - at].name), ("comment", "blocks"));
        // Their checksums count nevertheless.
        bytes[sections[at].offset as usize] ^= 1;
        assert!(refusal(&bytes).contains("section \"comment\""));
    }
    let necessary = with_section(1, b"hello", 1);
    assert!(refusal(&necessary).contains("\"comment\" is necessary and unknown"));
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
