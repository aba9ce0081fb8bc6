//! The planner with hints and fingerprint blocks: the rates that were promised, no gaps, and why (not).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy.toml allows them in tests, but does not see that helpers of tests are tests"
)]

use equibloom_theory::Error;
use equibloom_theory::planner::{BlockKind, Layout, PlacementName, Route, Wishes, plan};

const KEYS: u64 = 10_000_000;

fn wishes(bits_per_key: f64) -> Wishes {
    Wishes { keys: Some(KEYS), bits_per_key: Some(bits_per_key), ..Wishes::default() }
}

/// Bits per key at most, rate at most, with at most 1.25 blocks per miss and 1.2 per insert.
const FINGERPRINTS: [(f64, f64); 6] =
    [(10.0, 9.0e-3), (12.0, 2.4e-3), (16.0, 1.9e-4), (20.0, 1.5e-5), (24.0, 1.6e-6), (32.0, 9e-9)];

#[test]
fn fingerprints_reach_the_promised_rates_also_where_keys_can_be_removed() {
    for (bits, rate) in FINGERPRINTS {
        for multiset in [false, true] {
            let wishes = Wishes {
                accesses_miss: Some(1.25),
                accesses_insert: Some(1.2),
                block: Some(BlockKind::Fingerprint),
                multiset,
                ..wishes(bits)
            };
            let plan = plan(&wishes).unwrap();
            let found = plan.rate();
            assert!(found <= rate, "{bits} bits, multiset: {multiset}: {found:e}");
            assert!(plan.bits_per_key() <= bits);
            assert!(plan.expected.accesses_miss <= 1.25 && plan.expected.accesses_insert <= 1.2);
            assert_eq!(plan.layout.bytes(), plan.bytes());
            let Layout::Fingerprint { blocks, route: Route::MultiLevel { .. }, .. } = plan.layout
            else {
                panic!("{:?}", plan.layout);
            };
            let used = blocks.hints + blocks.lists + blocks.slots * (1 + blocks.remainder_bits);
            assert!(used <= 512, "{blocks:?}");
        }
    }
}

/// Nobody has to limit misses for them. Inserts have no limit if nothing is said: at 24 bits they read 1.204 blocks.
#[test]
fn the_default_limit_on_misses_reaches_the_promised_rates() {
    for (bits, rate) in FINGERPRINTS {
        for accesses_insert in [None, Some(1.2)] {
            let plan = plan(&Wishes { accesses_insert, ..wishes(bits) }).unwrap();
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
        let wishes = Wishes {
            accesses_miss: Some(1.2),
            block: Some(BlockKind::Bloom),
            block_bits: Some(512),
            ..wishes(bits)
        };
        let plan = plan(&wishes).unwrap();
        assert!(plan.rate() <= rate, "{bits} bits: {:e}", plan.rate());
        assert!(plan.expected.accesses_miss <= 1.2 && plan.layout.hints() > 0);
        assert_eq!(plan.layout.block_kind(), Some(BlockKind::Bloom));
    }
}

#[test]
fn fingerprints_serve_9_to_40_bits_per_key_without_gaps() {
    let mut last = 1.0;
    for half_bits in 18..=80 {
        let bits = f64::from(half_bits) / 2.0;
        let wishes = Wishes { block: Some(BlockKind::Fingerprint), ..wishes(bits) };
        let rate = plan(&wishes).unwrap().rate();
        // A classical filter's rate falls by a fifth with half a bit more; ours in steps, of a twentieth at least.
        assert!(rate < 0.95 * last, "{bits} bits: {rate:e} after {last:e}");
        last = rate;
    }
}

#[test]
fn fingerprints_win_from_10_bits_per_key_on_and_the_reasons_say_why_not_below() {
    for bits in [10.0, 14.0, 24.0, 40.0] {
        let plan = plan(&wishes(bits)).unwrap();
        assert_eq!(plan.layout.block_kind(), Some(BlockKind::Fingerprint), "{bits}");
        assert!(plan.reasons.iter().any(|reason| reason.contains("hint bits")), "{bits}");
    }
    let few = plan(&wishes(7.0)).unwrap();
    assert_eq!(few.layout.block_kind(), Some(BlockKind::Bloom));
    let reasons = few.reasons.join("\n");
    assert!(reasons.contains("Not multi-level with fingerprint blocks"), "{reasons}");
    assert!(reasons.contains("64 slots") && reasons.contains("10 bits per key"), "{reasons}");
    let small = plan(&Wishes { block_bits: Some(256), ..wishes(24.0) }).unwrap();
    let reasons = small.reasons.join("\n");
    assert!(reasons.contains("cache lines of 512 bits, not of 256"), "{reasons}");
}

#[test]
fn wishes_for_blocks_are_followed() {
    let hinted = Wishes {
        placement: Some(PlacementName::Sequential),
        block: Some(BlockKind::Bloom),
        hints: Some(20),
        ..wishes(24.0)
    };
    let plan_of = |wishes: &Wishes| plan(wishes).unwrap();
    assert!(matches!(plan_of(&hinted).layout, Layout::Sequential { hints: 20, .. }));
    let papers = Wishes { hints: Some(0), accesses_miss: Some(2.5), ..hinted };
    assert!(matches!(plan_of(&papers).layout, Layout::Sequential { hints: 0, .. }));
    let fingerprint = Wishes {
        slots: Some(30),
        lists: Some(20),
        remainder_bits: Some(13),
        hints: Some(7),
        placement: Some(PlacementName::Single),
        ..wishes(24.0)
    };
    let Layout::Fingerprint { blocks, route: Route::Single, .. } = plan_of(&fingerprint).layout
    else {
        panic!("fingerprints were asked for");
    };
    let asked = (blocks.slots, blocks.lists, blocks.remainder_bits, blocks.hints);
    assert_eq!(asked, (30, 20, 13, 7));
}

#[test]
fn blocks_that_cannot_be_had_together_are_named() {
    let base = wishes(16.0);
    let blocked = Some(PlacementName::Blocked);
    for (asked, words) in [
        (
            Wishes { placement: blocked, block: Some(BlockKind::Fingerprint), ..base.clone() },
            "blocked",
        ),
        (Wishes { placement: blocked, hints: Some(4), ..base.clone() }, "4 hints"),
        (Wishes { multiset: true, block: Some(BlockKind::Bloom), ..base.clone() }, "removal"),
        (Wishes { multiset: true, hints: Some(0), ..base.clone() }, "0 hints"),
        (Wishes { block: Some(BlockKind::Bloom), slots: Some(4), ..base.clone() }, "4 slots"),
    ] {
        let Err(Error::Contradiction { conflict, remedies }) = plan(&asked) else {
            panic!("{asked:?}");
        };
        assert!(conflict.contains(words), "{conflict}");
        assert!(!remedies.is_empty());
    }
    // In blocks of another size, or with too few bits, nothing can be removed.
    let small = Wishes { multiset: true, block_bits: Some(256), ..base.clone() };
    assert!(plan(&small).unwrap_err().to_string().contains("512"));
    let few = Wishes { multiset: true, bits_per_key: Some(6.0), ..base };
    assert!(plan(&few).unwrap_err().to_string().contains("memory"));
}
