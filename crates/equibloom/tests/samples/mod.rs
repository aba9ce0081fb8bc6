//! Small filters of every kind, whose files are kept in the repository for every version of the format.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use std::path::PathBuf;

use equibloom::{
    AnyFilter, BlockTable, FingerprintTable, Overflow, Parameters, Route, Scheme, StableKey,
    Threshold, WhenFull,
};

/// A filter of which a file is kept.
pub struct Sample {
    pub name: &'static str,
    pub parameters: Parameters,
    /// It holds `key-0`, `key-1` and so on.
    pub keys: u32,
}

pub fn key(number: u32) -> String {
    format!("key-{number}")
}

impl Sample {
    pub fn build(&self) -> AnyFilter {
        let mut filter = AnyFilter::new(&self.parameters).unwrap();
        for number in 0..self.keys {
            filter.insert(&key(number)).unwrap();
        }
        filter.with_key_kind(String::KIND)
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.build().write_to(&mut bytes).unwrap();
        bytes
    }

    /// Where the sample's file of a version is kept.
    pub fn path(&self, version: u32) -> PathBuf {
        let directory = format!("{}/tests/samples/v{version}", env!("CARGO_MANIFEST_DIR"));
        PathBuf::from(directory).join(format!("{}.eqb", self.name))
    }

    pub fn holds_its_keys(&self, filter: &AnyFilter) -> bool {
        (0..self.keys).all(|number| filter.contains(&key(number)))
    }
}

/// One of each kind, with whatever makes files differ: hints, a list that is full, one that has grown, a
/// budget that is spent, block sizes that are no multiples of anything.
pub fn samples() -> Vec<Sample> {
    let blocks = BlockTable { count: 10, bits: 512, hashes: 7 };
    let odd = BlockTable { count: 23, bits: 200, hashes: 5 };
    let threshold = Threshold { load: 6, probability: 0.25 };
    let overflow = |capacity| Overflow { capacity, when_full: WhenFull::Saturate };
    let refuse = Overflow { capacity: 60, when_full: WhenFull::Refuse };
    let fingerprints =
        FingerprintTable { count: 8, slots: 8, lists: 12, remainder_bits: 9, hints: 16 };
    let sequential = Route::Sequential { choices: 3, accesses: 1.5 };
    let multi_level = Route::MultiLevel { subtables: vec![5, 2, 1] };
    let fingerprint = |route, overflow, multiset| Scheme::Fingerprint {
        blocks: fingerprints,
        route,
        overflow,
        multiset,
    };
    let schemes = [
        ("classical", Scheme::Classical { bits: 1_001, hashes: 7 }, 80),
        ("blocked", Scheme::Blocked { blocks }, 300),
        (
            "blocked-page",
            Scheme::Blocked { blocks: BlockTable { bits: 4_096, count: 1, ..blocks } },
            300,
        ),
        ("two-choice", Scheme::TwoChoice { blocks: odd }, 200),
        ("one-plus-alpha", Scheme::OnePlusAlpha { blocks, alpha: 0.3 }, 300),
        ("single", Scheme::Single { blocks, threshold, hints: 0, overflow: refuse }, 80),
        (
            "single-hints",
            Scheme::Single { blocks: odd, threshold, hints: 9, overflow: overflow(5) },
            200,
        ),
        (
            "sequential",
            Scheme::Sequential {
                blocks,
                threshold,
                hints: 0,
                overflow: overflow(20),
                choices: 3,
                accesses: 1.1,
            },
            90,
        ),
        (
            "multi-level",
            Scheme::MultiLevel {
                blocks,
                threshold,
                hints: 0,
                overflow: refuse,
                subtables: vec![7, 2, 1],
            },
            80,
        ),
        (
            "multi-level-hints",
            Scheme::MultiLevel {
                blocks,
                threshold,
                hints: 12,
                overflow: overflow(9),
                subtables: vec![6, 4],
            },
            80,
        ),
        ("fingerprint-single", fingerprint(Route::Single, overflow(30), false), 60),
        ("fingerprint-sequential", fingerprint(sequential, overflow(40), false), 80),
        ("fingerprint-multi-level", fingerprint(multi_level.clone(), refuse, false), 70),
        ("fingerprint-multiset-grown", fingerprint(multi_level, overflow(3), true), 100),
    ];
    let sample = |(name, scheme, keys): (_, _, u32)| {
        let parameters =
            Parameters { keys: u64::from(keys), seed: u64::from(keys) << 40 | 7, scheme };
        Sample { name, parameters, keys }
    };
    schemes.map(sample).into()
}
