//! Growing filters come back from their files as they were, and damage is found.
#![cfg(all(feature = "planner", feature = "file"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom::file::FileErrorKind;
use equibloom::{Filter, GrowingFilter};
use xxhash_rust::xxh3::xxh3_64;

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
            assert!(back == filter);
            assert_eq!(bytes_of(&back), bytes);
            let (ours, theirs) = (filter.statistics(), back.statistics());
            assert_eq!((ours.levels, ours.expected_rate), (theirs.levels, theirs.expected_rate));
            moving += u32::from(bytes[304..312] != [0; 8]);
            // What is read grows on.
            if random.between(0, 3) == 0 {
                filter = back;
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
    assert!(Filter::<str>::load(&path).is_err());
    Filter::<str>::builder().keys(10).rate(0.01).build().unwrap().save(&path).unwrap();
    let error = GrowingFilter::<str>::load(&path).unwrap_err().to_string();
    assert!(error.contains("not as a growing filter"), "{error}");
    assert!(GrowingFilter::<str>::load(directory.path("missing")).is_err());
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
    }
    assert!(read(&bytes).is_ok());
}

/// Files with the right checksum, but other words: refused, or a filter that can be used, never a panic.
#[test]
fn forged_files_do_no_harm() {
    let mut filter = Filter::builder().rate(0.01).removable().build_growing().unwrap();
    let mut random = Random(2);
    let mut used = 0;
    for round in 0..3_000 {
        if round % 300 == 0 {
            filter.try_extend(round * 10..round * 10 + 1_500).unwrap();
            (0..50).for_each(|_| drop(filter.insert(&7)));
        }
        let mut bytes = bytes_of(&filter);
        let words = bytes.len() / 8;
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
        let end = bytes.len() - 8;
        let checksum = xxh3_64(&bytes[..end]);
        bytes[end..].copy_from_slice(&checksum.to_le_bytes());
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
    assert!(used > 100, "{used}");
}
