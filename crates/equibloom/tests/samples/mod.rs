//! Small filters of every kind, whose files are kept in the repository for every version of the format.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use std::path::PathBuf;

use equibloom::{
    Blocks, Design, Filter, HashFilter, KeyHasher, Layout, Overflow, Parameters, Rule, Share,
    Stable, WhenFull,
};

/// A filter whose file is kept.
pub struct Sample {
    pub name: &'static str,
    pub parameters: Parameters,
    /// It holds `key-0`, `key-1` and so on.
    pub keys: u32,
    /// Plans of other parts, each for a third of the keys.
    pub merged: Vec<Design>,
}

pub fn key(number: u32) -> String {
    format!("key-{number}")
}

impl Sample {
    pub fn build(&self) -> HashFilter {
        let mut filter: Filter<str> = Filter::new(&self.parameters).unwrap();
        let in_first = self.keys - self.merged.len() as u32 * (self.keys / 3);
        for number in 0..in_first {
            filter.insert(&key(number)).unwrap();
        }
        for (&design, part) in self.merged.iter().zip(0..) {
            let parameters = Parameters { design, ..self.parameters };
            let mut other: Filter<str> = Filter::new(&parameters).unwrap();
            let first = in_first + part * (self.keys / 3);
            for number in first..first + self.keys / 3 {
                other.insert(&key(number)).unwrap();
            }
            filter.merge(&other).unwrap();
        }
        // More than a block holds: the list counts them.
        if self.parameters.design.is_multiset() {
            for number in 0..90 {
                filter.insert(&key(number % 9)).unwrap();
            }
        }
        filter.into_hash_filter()
    }

    /// Whether it is one filter of the plan, without parts of other plans or one that grows.
    pub fn is_one_part(&self) -> bool {
        self.merged.is_empty() && !self.parameters.design.overflow().when_full.grows()
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.build().write_to(&mut bytes).unwrap();
        bytes
    }

    /// Path of the sample's file of a version.
    pub fn path(&self, version: u32) -> PathBuf {
        let directory = format!("{}/tests/samples/v{version}", env!("CARGO_MANIFEST_DIR"));
        PathBuf::from(directory).join(format!("{}.eqb", self.name))
    }

    pub fn holds_its_keys(&self, filter: &HashFilter) -> bool {
        let hasher = Stable::with_seed(self.parameters.seed);
        (0..self.keys).all(|number| filter.contains(hasher.hash_key(&key(number))))
    }
}

/// One of each kind, covering all parts of a file: hints, watermarks, a list that is full, one that has grown,
/// one that counts, a spent budget, odd block sizes, shortened blocks, several parts. And one whose blocks are large
/// enough to be used in place.
pub fn samples() -> Vec<Sample> {
    let mut samples = samples_of(1);
    let large = samples_of(20).into_iter().find(|sample| sample.name == "single-hints");
    samples.extend(large.map(|sample| Sample { name: "single-hints-large", ..sample }));
    samples
}

/// The same, so many times as large. From 300 on, all sections are large enough to be used in place.
pub fn samples_of(scale: u32) -> Vec<Sample> {
    let (blocks, odd) = (Blocks::bloom(512, 7), Blocks::bloom(200, 5));
    let rule = Rule::FirstWithRoom { below: 6, coin: Share::clamped(0.25) };
    let times = |count: u64| count * u64::from(scale);
    let saturate = |capacity| Overflow { capacity: times(capacity), when_full: WhenFull::Saturate };
    let refuse = Overflow { capacity: times(60), when_full: WhenFull::Refuse };
    // Remainders of a byte and more, and of less than one.
    let fingerprints = Blocks::Fingerprint { slots: 8, lists: 12, remainder_bits: 9 };
    let short = Blocks::Fingerprint { slots: 13, lists: 20, remainder_bits: 6 };
    let wide = Blocks::Fingerprint { slots: 8, lists: 12, remainder_bits: 56 };
    let sized = |sizes: &[u64]| sizes.iter().map(|&size| times(size)).collect::<Vec<_>>();
    let in_subtables = |blocks, sizes: &[u64]| Layout::fingerprints(blocks, &sized(sizes)).unwrap();
    let multi_level =
        |blocks, sizes: &[u64], rule| Layout::multi_level(blocks, &sized(sizes), rule).unwrap();
    let layouts = [
        ("blocked", Layout::blocked(blocks, times(10)), 300),
        ("blocked-page", Layout::blocked(Blocks::bloom(4_096, 7), times(1)), 300),
        ("two-choice", Layout::two_choice(odd, times(23)), 200),
        ("one-plus-alpha", Layout::one_plus_alpha(blocks, times(10), Share::clamped(0.3)), 300),
        ("single", Layout::single(blocks, times(10), rule).with_overflow(refuse), 80),
        (
            "single-hints",
            Layout::single(odd.with_hints(9), times(23), rule).with_overflow(saturate(5)),
            200,
        ),
        (
            "sequential",
            Layout::sequential(blocks, times(10), 3, rule)
                .with_overflow(saturate(20))
                .with_budget(Some(times(99))),
            90,
        ),
        ("multi-level", multi_level(blocks, &[7, 2, 1], rule).with_overflow(refuse), 80),
        (
            "multi-level-hints",
            multi_level(blocks.with_hints(12), &[6, 4], rule).with_overflow(saturate(9)),
            80,
        ),
        ("fingerprint-one-table", in_subtables(wide, &[8]).with_overflow(saturate(30)), 60),
        ("fingerprint-short", in_subtables(short, &[4, 2]).with_overflow(saturate(9)), 80),
        ("fingerprint", in_subtables(fingerprints, &[5, 2, 1, 1]).with_overflow(refuse), 90),
        (
            "fingerprint-overloaded",
            in_subtables(fingerprints, &[3, 1]).with_overflow(saturate(4)),
            120,
        ),
        (
            "fingerprint-short-overloaded",
            in_subtables(short, &[2, 1]).with_overflow(saturate(2)),
            120,
        ),
        (
            "fingerprint-multiset-grown",
            in_subtables(fingerprints, &[5, 2, 1]).with_overflow(saturate(3)).with_removal(),
            100,
        ),
    ];
    let classical = ("classical", Design::Classical { bits: times(1_001), hashes: 7 }, 80);
    let list = ("list", Design::List { overflow: refuse, multiset: false }, 60);
    let counted = Design::List { overflow: saturate(9), multiset: true };
    let blocked = layouts.map(|(name, layout, keys)| (name, layout.into(), keys));
    let sample = |(name, design, keys): (_, _, u32)| {
        let keys = keys * scale;
        let seed = u64::from(keys) << 40 | 7;
        let parameters = Parameters { keys: keys.into(), seed, design };
        Sample { name, parameters, keys, merged: Vec::new() }
    };
    let others = [classical, list, ("list-multiset-grown", counted, 30)];
    let mut samples: Vec<Sample> = others.into_iter().chain(blocked).map(sample).collect();
    let first = in_subtables(fingerprints, &[4, 1]).with_overflow(saturate(9)).into();
    let merged = vec![Layout::blocked(blocks, times(2)).into(), list.1];
    samples.push(Sample { merged, ..sample(("merged", first, 90)) });
    if cfg!(feature = "planner") {
        let overflow = Overflow { capacity: times(9), when_full: WhenFull::Grow { rate_bits: 10 } };
        let layout = in_subtables(fingerprints, &[5, 1]).with_overflow(overflow);
        let mut grown = sample(("grown", layout.into(), 90));
        grown.parameters.keys = times(50);
        samples.push(grown);
    }
    samples
}
