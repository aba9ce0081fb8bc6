//! Random filters of every kind, and keys for them.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use equibloom::{Blocks, Candidates, Design, Layout, Overflow, Parameters, Rule, Share, WhenFull};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
// The core includes this file in a test and has no std prelude.
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

/// Blocks without hints, and their number from one upwards, small enough to be overfull most of the time.
fn table() -> impl Strategy<Value = (Blocks, u64)> {
    (prop_oneof![1_u64..=3, 1_u64..40], block_bits(), 1_u32..=24)
        .prop_map(|(count, bits, hashes)| (Blocks::bloom(bits, hashes), count))
}

fn threshold() -> impl Strategy<Value = Rule> {
    let coin = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    prop_oneof![
        (1_u32..12, coin)
            .prop_map(|(below, coin)| Rule::FirstWithRoom { below, coin: Share::clamped(coin) }),
        Just(Rule::FirstWithRoom { below: 0, coin: Share::clamped(0.5) }),
    ]
}

fn overflow() -> impl Strategy<Value = Overflow> {
    let when_full = prop_oneof![Just(WhenFull::Refuse), Just(WhenFull::Saturate)];
    (prop_oneof![Just(0), 0_u64..300], when_full)
        .prop_map(|(capacity, when_full)| Overflow { capacity, when_full })
}

/// Divides a table into up to four subtables, each of at least one block.
fn divide(blocks: u64, cuts: [u64; 3]) -> Candidates {
    let mut ends: Vec<u64> = cuts.iter().map(|cut| 1 + cut % blocks).chain([blocks]).collect();
    ends.sort_unstable();
    ends.dedup();
    let starts = [0].into_iter().chain(ends.iter().copied());
    let sizes: Vec<u64> = ends.iter().zip(starts).map(|(end, start)| end - start).collect();
    Candidates::subtables(&sizes).unwrap()
}

/// Candidates among this many blocks, with or without an access budget.
fn candidates(blocks: u64) -> impl Strategy<Value = (Candidates, Option<u64>)> {
    let budget = prop_oneof![2 => Just(None), 1 => (0_u64..800).prop_map(Some)];
    let candidates = prop_oneof![
        Just(Candidates::anywhere(blocks, 1)),
        (1_u32..=5).prop_map(move |choices| Candidates::anywhere(blocks, choices)),
        any::<[u64; 3]>().prop_map(move |cuts| divide(blocks, cuts)),
    ];
    (candidates, budget)
}

/// Bloom blocks with a threshold, with and without hints.
pub fn bloom_with_threshold() -> impl Strategy<Value = Layout> {
    let hints = prop_oneof![Just(0), 1_u32..8, Just(37)];
    let parts = (table(), threshold(), hints, overflow());
    parts.prop_flat_map(|((blocks, count), rule, hints, overflow)| {
        // A block of 64 bits has no room for many hints beside the keys' bits.
        let hints = hints.min(blocks.bits() - 60);
        let hashes = blocks.hashes().min((blocks.bits() - hints - 4) / 2);
        let blocks = blocks.with_hashes(hashes).with_hints(hints);
        candidates(count).prop_map(move |(candidates, budget)| {
            Layout::new(blocks, candidates, rule).with_overflow(overflow).with_budget(budget)
        })
    })
}

/// Fingerprint blocks of any shape: few slots, so that they overflow, and few fingerprints, so that they
/// collide.
pub fn fingerprints(multiset: bool) -> impl Strategy<Value = Layout> {
    let shape = (1_u32..=12, prop_oneof![1_u32..4, 1_u32..=64], prop_oneof![5_u32..9, 5_u32..=20]);
    let cuts = any::<[u64; 3]>();
    (1_u64..30, shape, cuts, overflow()).prop_map(move |(count, shape, cuts, overflow)| {
        let (slots, lists, remainder_bits) = shape;
        let blocks = Blocks::Fingerprint { slots, lists, remainder_bits };
        let layout = Layout::new(blocks, divide(count, cuts), Rule::KeepLargest);
        Layout { multiset, ..layout.with_overflow(overflow) }
    })
}

/// The least loaded of one to four blocks, for all keys or a share of them.
fn least_loaded() -> impl Strategy<Value = Layout> {
    let share = prop_oneof![Just(1.0), 0.0..=1.0];
    (table(), 1_u32..=4, share).prop_map(|((blocks, count), choices, share)| {
        let share = Share::clamped(share);
        let candidates = Candidates::Anywhere { blocks: count, choices, share };
        Layout::new(blocks, candidates, Rule::LeastLoaded)
    })
}

/// Lists, mostly too short.
pub fn list(multiset: bool) -> impl Strategy<Value = Design> {
    let overflow = overflow().prop_filter("a list", |overflow| overflow.capacity > 0);
    overflow.prop_map(move |overflow| Design::List { overflow, multiset })
}

/// Filters of every kind that store a key once.
fn design() -> impl Strategy<Value = Design> {
    prop_oneof![
        6 => bloom_with_threshold().prop_map(Design::Blocked),
        3 => least_loaded().prop_map(Design::Blocked),
        4 => fingerprints(false).prop_map(Design::Blocked),
        1 => (1_u64..5_000, 1_u32..=24).prop_map(|(bits, hashes)| Design::Classical { bits, hashes }),
        1 => list(false),
    ]
}

pub fn parameters() -> impl Strategy<Value = Parameters> {
    (design(), 0_u64..200, any::<u64>()).prop_map(|(design, keys, seed)| Parameters {
        keys,
        seed,
        design,
    })
}

/// The same filter with this many times the blocks, in every subtable.
pub fn enlarged(mut parameters: Parameters, factor: u64) -> Parameters {
    parameters.design.sizes_mut().iter_mut().for_each(|size| *size *= factor);
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

/// This many cases, always the same ones; fewer where `PROPTEST_CASES` says so.
pub fn cases(cases: u32) -> ProptestConfig {
    let most = std::env::var("PROPTEST_CASES").ok().and_then(|most| most.parse().ok());
    ProptestConfig {
        cases: most.map_or(cases, |most| cases.min(most)),
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
