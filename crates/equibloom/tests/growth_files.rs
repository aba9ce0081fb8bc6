//! Growing filters come back from their files as they were, and damage is found.
#![cfg(all(feature = "planner", feature = "file"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]
#![allow(unsafe_code, reason = "the tests only replace their files")]

use equibloom::file::{FileErrorKind, Mapped};
use equibloom::{Filter, GrowingFilter, KeyKind, SharedGrowingFilter, StableKey};
use xxhash_rust::xxh3::xxh3_64;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

mod random;
use random::Random;
mod scratch;

fn bytes_of(filter: &GrowingFilter<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    filter.write_to(&mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<GrowingFilter<u64>, FileErrorKind> {
    GrowingFilter::read_from(bytes).map_err(|error| {
        assert!(!error.to_string().is_empty());
        match error.kind() {
            FileErrorKind::Checksum { part, stored, computed } => {
                FileErrorKind::Checksum { part: part.clone(), stored: *stored, computed: *computed }
            }
            _ => FileErrorKind::NotReplaceable,
        }
    })
}

/// Bytes that begin at a multiple of 64, or behind one.
struct Owner(Vec<u8>, usize);

impl Owner {
    fn new(bytes: &[u8], distance: usize) -> Self {
        let mut buffer: Vec<u8> = Vec::with_capacity(bytes.len() + 128);
        let start = buffer.as_ptr().align_offset(64) + distance;
        buffer.resize(start, 0);
        buffer.extend_from_slice(bytes);
        Self(buffer, start)
    }
}

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0[self.1..]
    }
}

/// A filter in the bytes of its file.
fn borrowed(bytes: &[u8]) -> Option<GrowingFilter<u64>> {
    GrowingFilter::from_owner(Owner::new(bytes, 0)).ok()
}

/// Where the checksum of the header stands, and where the lines begin.
fn header_end(bytes: &[u8]) -> (usize, usize) {
    let listed = u64::from_le_bytes(bytes[328..336].try_into().unwrap()) as usize;
    let end = 344 + 24 * listed;
    (end, (end + 8).next_multiple_of(64))
}

/// At many moments of growth, also in the middle of steps, a filter is saved and read, and grows on as the other.
#[test]
fn a_filter_comes_back_as_it_was_at_any_moment() {
    for removable in [false, true] {
        let builder = Filter::<u64>::builder().rate(0.01).seed(3);
        let builder = if removable { builder.removable() } else { builder };
        let mut filter = builder.build_growing().unwrap();
        let mut random = Random(1);
        let (mut inserted, mut moving) = (0, 0);
        while inserted < 60_000 {
            let more = random.between(0, 200 + inserted / 20);
            filter.try_extend(inserted..inserted + more).unwrap();
            inserted += more;
            if removable {
                (0..20).for_each(|_| drop(filter.insert(&5)));
            }
            let bytes = bytes_of(&filter);
            let back = read(&bytes).unwrap();
            assert!(back == filter && GrowingFilter::from_bytes(&bytes).unwrap() == filter);
            assert!(filter.to_bytes().unwrap() == bytes);
            assert_eq!(bytes_of(&back), bytes);
            let (ours, theirs) = (filter.statistics(), back.statistics());
            assert_eq!((ours.levels, ours.expected_rate), (theirs.levels, theirs.expected_rate));
            moving += u32::from(bytes[304..312] != [0; 8]);
            // In place, too.
            let mut mapped = borrowed(&bytes).unwrap();
            assert!(mapped == filter && bytes_of(&mapped) == bytes);
            assert_eq!(mapped.is_mapped(), cfg!(target_endian = "little") && filter.bytes() > 0);
            let copied = GrowingFilter::<u64>::from_owner(Owner::new(&bytes, 8)).unwrap();
            assert!(copied == filter && !copied.is_mapped());
            // What is read grows on, in place or not.
            match random.between(0, 7) {
                0 => filter = back,
                1 => filter = mapped,
                2 => {
                    mapped.detach().unwrap();
                    assert!(!mapped.is_mapped() && mapped == filter);
                    filter = mapped;
                }
                _ => {}
            }
        }
        assert!(moving > 3, "{moving}");
        assert!((0..inserted).all(|key| filter.contains(&key)));
    }
}

#[test]
fn files_are_saved_and_loaded() {
    let directory = scratch::Scratch::new("growth");
    let path = directory.path("visitors.eqg");
    let mut filter = Filter::<str>::builder().rate(0.001).build_growing().unwrap();
    filter.insert("alice@example.com").unwrap();
    filter.save(&path).unwrap();
    let loaded = GrowingFilter::<str>::load(&path).unwrap();
    assert!(loaded.contains("alice@example.com") && loaded == filter);
    // Of another kind of keys, another kind of filter, or not there.
    let error = GrowingFilter::<u64>::load(&path).unwrap_err();
    assert!(matches!(error.kind(), FileErrorKind::Keys { .. }), "{error}");
    let error = Filter::<str>::load(&path).unwrap_err().to_string();
    assert!(error.contains("it holds a growing filter: load it as a `GrowingFilter`"), "{error}");
    Filter::<str>::builder().keys(10).rate(0.01).build().unwrap().save(&path).unwrap();
    let error = GrowingFilter::<str>::load(&path).unwrap_err().to_string();
    assert!(error.contains("not as a growing filter"), "{error}");
    assert!(GrowingFilter::<str>::load(directory.path("missing")).is_err());
}

#[test]
fn a_filter_of_unspecified_keys_keeps_the_kind_of_its_file() {
    struct AnyKey;
    impl StableKey for AnyKey {
        const KIND: KeyKind = KeyKind::Unspecified;
        fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
            then(&[])
        }
    }

    let mut integers = Filter::<u64>::builder().rate(0.001).build_growing().unwrap();
    integers.try_extend(0..100).unwrap();
    let mut read = GrowingFilter::<AnyKey>::from_bytes(&integers.to_bytes().unwrap()).unwrap();
    assert_eq!(read.key_kind(), KeyKind::Integer);
    assert_eq!(read.to_bytes().unwrap(), integers.to_bytes().unwrap());
    assert_eq!(
        read.clone().into_shared().unwrap().snapshot().unwrap().key_kind(),
        KeyKind::Integer
    );
    assert!((0..100).all(|key| read.contains_hash(integers.hash(&key))));
    read.set_key_kind(KeyKind::Bytes);
    assert!(GrowingFilter::<str>::from_bytes(&read.to_bytes().unwrap()).is_ok());
    assert!(GrowingFilter::<u64>::from_bytes(&read.to_bytes().unwrap()).is_err());
}

#[test]
fn every_changed_byte_is_found() {
    let mut filter = Filter::builder().rate(0.01).build_growing().unwrap();
    filter.try_extend(0..100_u64).unwrap();
    let bytes = bytes_of(&filter);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(read(&damaged).is_err(), "byte {at}");
        assert!(read(&bytes[..at]).is_err(), "{at} bytes");
        assert!(borrowed(&bytes[..at]).is_none(), "{at} bytes");
        // In place, only the header is checked.
        let (header, lines) = header_end(&bytes);
        if let Some(mapped) = borrowed(&damaged) {
            assert!(at >= header + 8, "byte {at}");
            exercise(mapped);
        } else {
            assert!(at < lines, "byte {at}");
        }
    }
    assert!(read(&bytes).is_ok());
}

/// Runs all operations on a filter with arbitrary contents: answers may be wrong, but every call returns.
fn exercise(mut filter: GrowingFilter<u64>) {
    filter.statistics();
    let mut other = Filter::builder().rate(0.01).removable().build_growing().unwrap();
    let _ = other.merge(&filter);
    if let Ok(shared) = filter.clone().into_shared() {
        let _ = (shared.insert(&5), shared.contains(&5), shared.snapshot());
    }
    for key in 0..300 {
        let _ = (filter.insert(&key), filter.contains(&key));
        let _ = filter.remove(&(key * 7));
    }
    filter.statistics();
    bytes_of(&filter);
}

/// Threads insert into a filter that grows and is saved; a reader maps every file, and finds each key whose insert had
/// returned before the save.
#[test]
fn a_reader_finds_what_was_inserted_before_the_save() {
    let directory = scratch::Scratch::new("growing-mapped");
    let path = directory.path("seen.eqg");
    let filter: SharedGrowingFilter<u64> =
        Filter::builder().rate(0.001).build_shared_growing().unwrap();
    filter.save(&path).unwrap();
    // SAFETY: the file is only ever replaced.
    let mut reader: Mapped<GrowingFilter<u64>> = unsafe { Mapped::open(&path) }.unwrap();
    let (keys, inserted) = (1_000_000, AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            for key in 0..keys {
                filter.insert(&key).unwrap();
                inserted.store(key + 1, Ordering::Release);
            }
        });
        loop {
            let known = inserted.load(Ordering::Acquire);
            filter.save(&path).unwrap();
            assert!(reader.reload_if_changed().unwrap());
            assert!((0..known).all(|key| reader.contains(&key)));
            if known == keys {
                break;
            }
        }
    });
    // Small files are read.
    assert_eq!(reader.is_mapped(), cfg!(target_endian = "little"));
    assert!(!reader.reload_if_changed().unwrap());
    // What is not a growing filter of such keys does not take its place.
    Filter::<u64>::builder().keys(10).rate(0.01).build().unwrap().save(&path).unwrap();
    assert!(reader.reload_if_changed().is_err() && reader.contains(&5));
    // SAFETY: as above.
    let error = unsafe { GrowingFilter::<u64>::open(directory.path("missing")) }.unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
}

/// Files with the right checksum, but other words: refused, or a filter that can be used, never a panic.
#[test]
fn forged_files_do_no_harm() {
    let mut filter = Filter::builder().rate(0.01).removable().build_growing().unwrap();
    let mut random = Random(2);
    let (mut used, mut in_place) = (0, 0);
    for round in 0..3_000 {
        if round % 300 == 0 {
            filter.try_extend(round * 10..round * 10 + 1_500).unwrap();
            (0..50).for_each(|_| drop(filter.insert(&7)));
        }
        let mut bytes = bytes_of(&filter);
        let words = bytes.len() / 8;
        let (header, _) = header_end(&bytes);
        for _ in 0..random.between(1, 3) {
            // Mostly in the header.
            let word = match random.between(0, 3) {
                0 => random.between(0, words as u64 - 2),
                _ => random.between(2, 43),
            } as usize;
            let value = match random.between(0, 2) {
                0 => random.word(),
                1 => random.between(0, 70),
                _ => {
                    let old = u64::from_le_bytes(bytes[8 * word..8 * word + 8].try_into().unwrap());
                    old.wrapping_add(random.between(0, 4)).wrapping_sub(2)
                }
            };
            bytes[8 * word..8 * word + 8].copy_from_slice(&value.to_le_bytes());
        }
        let mut checksum_at = |end: usize| {
            let checksum = xxh3_64(&bytes[..end]).to_le_bytes();
            bytes[end..end + 8].copy_from_slice(&checksum);
        };
        checksum_at(header.min(words * 8 - 8));
        checksum_at(words * 8 - 8);
        if round % 4 == 0
            && let Some(mapped) = borrowed(&bytes)
        {
            in_place += 1;
            exercise(mapped);
        }
        let Ok(mut forged) = read(&bytes) else { continue };
        used += 1;
        for key in 0..300 {
            forged.insert(&key).unwrap();
            let _ = forged.remove(&(key * 7));
        }
        assert!(forged.contains(&299) || forged.is_removable());
        forged.statistics();
        let mut other = Filter::builder().rate(0.01).build_growing().unwrap();
        let _ = other.merge(&forged);
    }
    assert!(used > 100 && in_place > 50, "{used} {in_place}");
}
