//! Files of growing filters of every version remain readable.

#![cfg(all(feature = "planner", feature = "file"))]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::PathBuf;

use equibloom::{Filter, GrowingFilter, KeyHasher, Stable};

#[path = "files_format/growing.rs"]
#[allow(dead_code, reason = "each test uses a part of it")]
mod growing;

/// Every supported version.
const VERSIONS: [u64; 1] = [2];
const CURRENT: u64 = 2;
/// High, so that there are false positives.
const RATE: f64 = 0.5;
const SEED: u64 = 0x0123_4567_89ab_cdef;

/// A filter whose file is kept. It holds `key-0`, `key-1` and so on.
struct Sample {
    name: &'static str,
    keys: u32,
    removable: bool,
}

/// One between two steps of growth, one within a step, and one that counts copies.
const SAMPLES: [Sample; 3] = [
    Sample { name: "set", keys: 1_500, removable: false },
    Sample { name: "moving", keys: 301, removable: false },
    Sample { name: "removable", keys: 300, removable: true },
];

fn key(number: u32) -> String {
    format!("key-{number}")
}

impl Sample {
    fn build(&self) -> GrowingFilter<str> {
        let builder = Filter::builder().rate(RATE).seed(SEED);
        let builder = if self.removable { builder.removable() } else { builder };
        let mut filter = builder.build_growing().unwrap();
        filter.try_extend((0..self.keys).map(key)).unwrap();
        if self.removable {
            filter.try_extend((0..90).map(|number| key(number % 3))).unwrap();
        }
        filter
    }

    fn path(&self, version: u64) -> PathBuf {
        let directory = format!("{}/tests/samples/growing-v{version}", env!("CARGO_MANIFEST_DIR"));
        PathBuf::from(directory).join(format!("{}.eqg", self.name))
    }
}

#[test]
fn files_of_every_version_are_read_and_hold_their_keys() {
    let mut mistaken = 0;
    for version in VERSIONS {
        for sample in SAMPLES {
            let bytes = std::fs::read(sample.path(version)).unwrap();
            assert_eq!(bytes[8..16], version.to_le_bytes());
            let kind = u64::from_le_bytes(bytes[32..40].try_into().unwrap());
            let reader = growing::Grown::new(&bytes, SEED, kind);
            let loaded = GrowingFilter::<str>::load(sample.path(version)).unwrap();
            assert!(loaded == GrowingFilter::from_owner(bytes).unwrap(), "{}", sample.name);
            assert!(GrowingFilter::<u64>::load(sample.path(version)).is_err());
            assert_eq!(loaded.is_removable(), sample.removable);
            assert_eq!(loaded.rate(), RATE);
            for number in 0..30_000 {
                let found = loaded.contains(&key(number));
                let hash = Stable::with_seed(SEED).hash_key(&*key(number));
                assert_eq!(found, reader.contains(hash.into()), "{}: {number}", sample.name);
                assert!(found || number >= sample.keys, "{}: {number}", sample.name);
                mistaken += u32::from(found && number >= sample.keys);
            }
        }
    }
    // Some of them are false positives.
    assert!(mistaken > 5, "{mistaken}");
}

#[test]
fn the_same_bytes_are_written_today() {
    for sample in SAMPLES {
        let kept = std::fs::read(sample.path(CURRENT)).unwrap();
        assert!(sample.build().to_bytes().unwrap() == kept, "{}", sample.name);
    }
}

#[test]
fn samples_cover_all_parts_of_a_file() {
    let word = |name: &str, at: usize| {
        let sample = SAMPLES.iter().find(|sample| sample.name == name).unwrap();
        let bytes = std::fs::read(sample.path(CURRENT)).unwrap();
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
    };
    assert_eq!((word("set", 304), word("set", 48) & 1), (0, 0));
    assert!(word("moving", 304) > 0 && word("moving", 312) > 0);
    assert!(word("removable", 48) & 1 == 1 && word("removable", 328) >= 3);
}

/// Writes the files of the current version. Existing files are kept.
///
///     cargo test -p equibloom --test growth_samples -- --ignored
#[test]
#[ignore = "writes into the source tree"]
fn write_the_samples_of_this_version() {
    for sample in SAMPLES {
        let path = sample.path(CURRENT);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if !path.exists() {
            sample.build().save(&path).unwrap();
        }
    }
}
