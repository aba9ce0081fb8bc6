//! Random filters of every kind, and keys for them.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use equibloom::{
    BlockTable, FingerprintTable, Overflow, Parameters, Route, Scheme, Threshold, WhenFull,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
// The core, which includes this file in a test of its own, has no prelude with it.
use std::vec::Vec;

fn block_bits() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(64),
        Just(65),
        Just(100),
        Just(256),
        Just(500),
        Just(512),
        Just(4_096),
        Just(32_768),
        64_u32..=32_768,
    ]
}

/// Tables from one block upwards, small enough to be overfull most of the time.
fn table() -> impl Strategy<Value = BlockTable> {
    (prop_oneof![1_u64..=3, 1_u64..40], block_bits(), 1_u32..=24)
        .prop_map(|(count, bits, hashes)| BlockTable { count, bits, hashes })
}

fn threshold() -> impl Strategy<Value = Threshold> {
    let probability = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    prop_oneof![
        (1_u32..12, probability).prop_map(|(load, probability)| Threshold { load, probability }),
        Just(Threshold { load: 0, probability: 0.5 }),
    ]
}

fn overflow() -> impl Strategy<Value = Overflow> {
    let when_full = prop_oneof![Just(WhenFull::Refuse), Just(WhenFull::Saturate)];
    (prop_oneof![Just(0), 0_u64..300], when_full)
        .prop_map(|(capacity, when_full)| Overflow { capacity, when_full })
}

/// Divides a table into up to four subtables, each of at least one block.
fn divide(blocks: u64, cuts: [u64; 3]) -> Vec<u64> {
    let mut ends: Vec<u64> = cuts.iter().map(|cut| 1 + cut % blocks).chain([blocks]).collect();
    ends.sort_unstable();
    ends.dedup();
    let starts = [0].into_iter().chain(ends.iter().copied());
    ends.iter().zip(starts).map(|(end, start)| end - start).collect()
}

fn route(blocks: u64) -> impl Strategy<Value = Route> {
    prop_oneof![
        Just(Route::Single),
        (1_u32..=5, 0.1..4.0)
            .prop_map(|(choices, accesses)| Route::Sequential { choices, accesses }),
        any::<[u64; 3]>()
            .prop_map(move |cuts| Route::MultiLevel { subtables: divide(blocks, cuts) }),
    ]
}

/// Bloom blocks with a threshold, with and without hints.
pub fn balanced_scheme() -> impl Strategy<Value = Scheme> {
    let hints = prop_oneof![Just(0), 1_u32..8, Just(37)];
    let parts = (table(), threshold(), hints, overflow());
    parts.prop_flat_map(|(blocks, threshold, hints, overflow)| {
        // A block of 64 bits has no room for many hints beside the keys' bits.
        let hints = hints.min(blocks.bits - 60);
        let blocks =
            BlockTable { hashes: blocks.hashes.min((blocks.bits - hints - 4) / 2), ..blocks };
        route(blocks.count).prop_map(move |route| match route {
            Route::Single => Scheme::Single { blocks, threshold, hints, overflow },
            Route::Sequential { choices, accesses } => {
                Scheme::Sequential { blocks, threshold, hints, overflow, choices, accesses }
            }
            Route::MultiLevel { subtables } => {
                Scheme::MultiLevel { blocks, threshold, hints, overflow, subtables }
            }
        })
    })
}

/// Fingerprint blocks of any shape: few slots, so that they overflow, and few fingerprints, so that
/// they are mistaken for each other.
pub fn fingerprint_scheme(multiset: bool) -> impl Strategy<Value = Scheme> {
    let sizes = (1_u32..=12, prop_oneof![1_u32..4, 1_u32..=64], prop_oneof![1_u32..4, 1_u32..=20]);
    let hints = if multiset { 1_u32..20 } else { 0..20 };
    (1_u64..30, sizes, hints, overflow()).prop_flat_map(
        move |(count, (slots, lists, remainder_bits), hints, overflow)| {
            let blocks = FingerprintTable { count, slots, lists, remainder_bits, hints };
            route(count).prop_map(move |route| {
                let route = match route {
                    Route::Sequential { accesses, .. } if multiset => {
                        Route::Sequential { choices: 1, accesses }
                    }
                    other => other,
                };
                Scheme::Fingerprint { blocks, route, overflow, multiset }
            })
        },
    )
}

/// Filters of every kind that take a key once.
fn scheme() -> impl Strategy<Value = Scheme> {
    prop_oneof![
        6 => balanced_scheme(),
        3 => fingerprint_scheme(false),
        1 => table().prop_map(|blocks| Scheme::Blocked { blocks }),
        1 => table().prop_map(|blocks| Scheme::TwoChoice { blocks }),
        1 => (table(), 0.0..=1.0).prop_map(|(blocks, alpha)| Scheme::OnePlusAlpha { blocks, alpha }),
        1 => (1_u64..5_000, 1_u32..=24).prop_map(|(bits, hashes)| Scheme::Classical { bits, hashes }),
    ]
}

pub fn parameters() -> impl Strategy<Value = Parameters> {
    (scheme(), 0_u64..200, any::<u64>()).prop_map(|(scheme, keys, seed)| Parameters {
        keys,
        seed,
        scheme,
    })
}

/// The same filter with so many times the blocks, in every subtable.
pub fn enlarged(mut parameters: Parameters, factor: u64) -> Parameters {
    let enlarge = |counts: &mut [u64]| counts.iter_mut().for_each(|count| *count *= factor);
    match &mut parameters.scheme {
        Scheme::Classical { bits, .. } => *bits *= factor,
        Scheme::Blocked { blocks }
        | Scheme::TwoChoice { blocks }
        | Scheme::OnePlusAlpha { blocks, .. }
        | Scheme::Single { blocks, .. }
        | Scheme::Sequential { blocks, .. } => blocks.count *= factor,
        Scheme::MultiLevel { blocks, subtables, .. } => {
            blocks.count *= factor;
            enlarge(subtables);
        }
        Scheme::Fingerprint { blocks, route, .. } => {
            blocks.count *= factor;
            if let Route::MultiLevel { subtables } = route {
                enlarge(subtables);
            }
        }
    }
    parameters
}

/// Keys with many duplicates; sometimes none, sometimes one.
pub fn keys() -> impl Strategy<Value = Vec<u16>> {
    prop_oneof![
        Just(vec![]),
        any::<u16>().prop_map(|key| vec![key]),
        prop::collection::vec(0_u16..300, 0..600),
        prop::collection::vec(any::<u16>(), 0..400),
    ]
}

/// So many cases, the same ones every time.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
