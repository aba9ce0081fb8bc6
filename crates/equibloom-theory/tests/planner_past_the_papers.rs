//! The planner with hints and fingerprint blocks: the promised rates, no gaps, and the reasons.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy.toml allows them in tests, but does not see that helpers of tests are tests"
)]

use equibloom_layout::{BlockKind, Blocks, Layout, Placement};
use equibloom_theory::Error;
use equibloom_theory::planner::{Requirements, plan};

const KEYS: u64 = 10_000_000;

fn requirements(bits_per_key: f64) -> Requirements {
    Requirements { keys: Some(KEYS), bits_per_key: Some(bits_per_key), ..Requirements::default() }
}

/// Bits per key at most, rate at most, with at most 1.25 blocks per miss and 1.2 per insert.
const FINGERPRINTS: [(f64, f64); 6] =
    [(10.0, 9.0e-3), (12.0, 2.4e-3), (16.0, 1.9e-4), (20.0, 1.5e-5), (24.0, 1.6e-6), (32.0, 9e-9)];

#[test]
fn fingerprints_reach_the_promised_rates_also_where_keys_can_be_removed() {
    for (bits, rate) in FINGERPRINTS {
        for multiset in [false, true] {
            let requirements = Requirements {
                accesses_miss: Some(1.25),
                accesses_insert: Some(1.2),
                block: Some(BlockKind::Fingerprint),
                multiset,
                ..requirements(bits)
            };
            let plan = plan(&requirements).unwrap();
            let found = plan.rate();
            assert!(found <= rate, "{bits} bits, multiset: {multiset}: {found:e}");
            assert!(plan.bits_per_key() <= bits);
            assert!(plan.expected.accesses_miss <= 1.25 && plan.expected.accesses_insert <= 1.2);
            assert_eq!(plan.design.bytes(), plan.bytes());
            assert_eq!(plan.design.placement(), Placement::MultiLevel);
            let Some(Layout { blocks: Blocks::Fingerprint { .. }, .. }) = plan.design.layout()
            else {
                panic!("{:?}", plan.design);
            };
            plan.design.check().unwrap();
        }
    }
}

/// The default limit on misses suffices. Inserts have no default limit: at 24 bits they read 1.204 blocks.
#[test]
fn the_default_limit_on_misses_reaches_the_promised_rates() {
    for (bits, rate) in FINGERPRINTS {
        for accesses_insert in [None, Some(1.2)] {
            let plan = plan(&Requirements { accesses_insert, ..requirements(bits) }).unwrap();
            assert!(plan.rate() <= rate, "{bits} bits, {accesses_insert:?}: {:e}", plan.rate());
            assert!(plan.bits_per_key() <= bits);
            let (miss, insert) = (plan.expected.accesses_miss, plan.expected.accesses_insert);
            assert!(miss <= 1.25, "{bits} bits: {miss}");
            assert!(insert <= accesses_insert.unwrap_or(1.21), "{bits} bits: {insert}");
        }
    }
}

#[test]
fn hinted_bloom_blocks_reach_the_promised_rates() {
    for (bits, rate) in [(24.0, 2.9e-5), (32.0, 9.5e-7), (40.0, 3.4e-8)] {
        let requirements = Requirements {
            accesses_miss: Some(1.2),
            block: Some(BlockKind::Bloom),
            block_bits: Some(512),
            ..requirements(bits)
        };
        let plan = plan(&requirements).unwrap();
        assert!(plan.rate() <= rate, "{bits} bits: {:e}", plan.rate());
        assert!(plan.expected.accesses_miss <= 1.2 && plan.design.hints() > 0);
        assert_eq!(plan.design.block_kind(), Some(BlockKind::Bloom));
    }
}

#[test]
fn fingerprints_serve_9_to_40_bits_per_key_without_gaps() {
    let mut last = 1.0;
    for half_bits in 18..=80 {
        let bits = f64::from(half_bits) / 2.0;
        let requirements =
            Requirements { block: Some(BlockKind::Fingerprint), ..requirements(bits) };
        let rate = plan(&requirements).unwrap().rate();
        // A classical filter's rate falls by a fifth with half a bit more; fingerprints' in steps of at least a
        // twentieth.
        assert!(rate < 0.95 * last, "{bits} bits: {rate:e} after {last:e}");
        last = rate;
    }
}

#[test]
fn fingerprints_win_from_10_bits_per_key_on_and_the_reasons_say_why_not_below() {
    for bits in [10.0, 14.0, 24.0, 40.0] {
        let plan = plan(&requirements(bits)).unwrap();
        assert_eq!(plan.design.block_kind(), Some(BlockKind::Fingerprint), "{bits}");
        assert!(plan.reasons.iter().any(|reason| reason.contains("hint bits")), "{bits}");
    }
    let few = plan(&requirements(7.0)).unwrap();
    assert_eq!(few.design.block_kind(), Some(BlockKind::Bloom));
    let reasons = few.reasons.join("\n");
    assert!(reasons.contains("Not multi-level with fingerprint blocks"), "{reasons}");
    assert!(reasons.contains("64 slots") && reasons.contains("10 bits per key"), "{reasons}");
    let small = plan(&Requirements { block_bits: Some(256), ..requirements(24.0) }).unwrap();
    let reasons = small.reasons.join("\n");
    assert!(reasons.contains("cache lines of 512 bits, not of 256"), "{reasons}");
}

#[test]
fn requirements_for_blocks_are_met() {
    let hinted = Requirements {
        placement: Some(Placement::Sequential),
        block: Some(BlockKind::Bloom),
        hints: Some(20),
        ..requirements(24.0)
    };
    let plan_of = |requirements: &Requirements| plan(requirements).unwrap();
    let design = plan_of(&hinted).design;
    assert_eq!((design.placement(), design.hints()), (Placement::Sequential, 20));
    let papers = Requirements { hints: Some(0), accesses_miss: Some(2.5), ..hinted };
    let design = plan_of(&papers).design;
    assert_eq!((design.placement(), design.hints()), (Placement::Sequential, 0));
    let fingerprint = Requirements {
        slots: Some(30),
        lists: Some(20),
        remainder_bits: Some(13),
        hints: Some(7),
        placement: Some(Placement::Single),
        ..requirements(24.0)
    };
    let design = plan_of(&fingerprint).design;
    assert_eq!(design.placement(), Placement::Single);
    let required = Blocks::Fingerprint { slots: 30, lists: 20, remainder_bits: 13, hints: 7 };
    assert_eq!(design.layout().unwrap().blocks, required);
}

#[test]
fn incompatible_requirements_are_named() {
    let base = requirements(16.0);
    let blocked = Some(Placement::Blocked);
    for (requirements, words) in [
        (
            Requirements {
                placement: blocked,
                block: Some(BlockKind::Fingerprint),
                ..base.clone()
            },
            "blocked",
        ),
        (Requirements { placement: blocked, hints: Some(4), ..base.clone() }, "4 hints"),
        (Requirements { multiset: true, block: Some(BlockKind::Bloom), ..base.clone() }, "removal"),
        (Requirements { multiset: true, hints: Some(0), ..base.clone() }, "0 hints"),
        (Requirements { block: Some(BlockKind::Bloom), slots: Some(4), ..base.clone() }, "4 slots"),
    ] {
        let Err(Error::Contradiction { conflict, remedies }) = plan(&requirements) else {
            panic!("{requirements:?}");
        };
        assert!(conflict.contains(words), "{conflict}");
        assert!(!remedies.is_empty());
    }
    // In blocks of another size, or with too few bits, keys cannot be removed.
    let small = Requirements { multiset: true, block_bits: Some(256), ..base.clone() };
    assert!(plan(&small).unwrap_err().to_string().contains("512"));
    let few = Requirements { multiset: true, bits_per_key: Some(6.0), ..base };
    assert!(plan(&few).unwrap_err().to_string().contains("memory"));
}
