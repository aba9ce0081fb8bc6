//! The planner with hints and with fingerprint blocks: the promised rates, no gaps, and the reasons.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy.toml allows them in tests, but does not see that helpers of tests are tests"
)]

use equibloom_layout::{BlockKind, Blocks, Layout, Placement};
use equibloom_theory::Error;
use equibloom_theory::planner::{Lookup, Plan, Requirements, plan};

const KEYS: u64 = 10_000_000;

fn requirements(bits_per_key: f64) -> Requirements {
    Requirements { keys: Some(KEYS), bits_per_key: Some(bits_per_key), ..Requirements::default() }
}

/// Bits per key with all memory counted, and the lowest rates known of sets with at most 1.2 blocks per miss.
const FINGERPRINTS: [(f64, f64); 12] = [
    (9.0, 1.081e-2),
    (10.0, 5.73e-3),
    (11.0, 3.02e-3),
    (11.55, 2.12e-3),
    (12.0, 1.58e-3),
    (14.0, 4.31e-4),
    (16.0, 1.19e-4),
    (20.0, 1.06e-5),
    (24.0, 6.81e-7),
    (28.0, 5.27e-8),
    (32.0, 5.58e-9),
    (40.0, 6.73e-11),
];

/// Keys in the overflow list at most.
const MOST_OVERFLOW: f64 = 1e-4;

#[test]
fn fingerprints_reach_the_promised_rates() {
    for (bits, rate) in FINGERPRINTS {
        let plan = plan(&requirements(bits)).unwrap();
        assert!(plan.rate() <= 1.01 * rate, "{bits} bits: {:e}", plan.rate());
        assert!(plan.bits_per_key() <= bits && plan.expected.accesses_miss <= 1.2);
        assert_eq!(plan.design.bytes(), plan.bytes());
        assert_eq!(plan.design.placement(), Placement::MultiLevel);
        let Some(Layout { blocks: Blocks::Fingerprint { .. }, overflow, .. }) =
            plan.design.layout()
        else {
            panic!("{:?}", plan.design);
        };
        assert!(plan.expected.overflow_fraction <= MOST_OVERFLOW);
        assert!(overflow.capacity as f64 <= 3.0 * MOST_OVERFLOW * KEYS as f64, "{overflow:?}");
        plan.design.check().unwrap();
    }
}

/// After removals keys find less room, so that a removable filter has more slots and longer later subtables.
#[test]
fn removable_filters_cost_a_half_to_eight_times_the_rate() {
    for (bits, rate) in FINGERPRINTS {
        let plan = plan(&Requirements { multiset: true, ..requirements(bits) }).unwrap();
        let times = plan.rate() / rate;
        assert!((1.2..8.0).contains(&times), "{bits} bits: {:e}", plan.rate());
        assert!(plan.bits_per_key() <= bits && plan.expected.accesses_miss <= 1.2);
        assert!(plan.expected.overflow_fraction < 1e-9);
        assert!(plan.design.overflow().capacity as f64 >= 0.5 * MOST_OVERFLOW * KEYS as f64);
        assert!(plan.design.layout().unwrap().multiset);
    }
}

/// The layout for single lookups: a remainder of a byte, and few misses that go on.
#[test]
fn fewer_accesses_per_miss_cost_little() {
    let fast = Requirements { accesses_miss: Some(1.05), ..requirements(11.55) };
    let plan_of_fast = plan(&fast).unwrap();
    let required = Blocks::Fingerprint { slots: 48, lists: 72, remainder_bits: 8 };
    assert_eq!(plan_of_fast.design.layout().unwrap().blocks, required);
    assert!(plan_of_fast.rate() <= 2.65e-3 && plan_of_fast.expected.accesses_miss <= 1.05);
    let inserts = Requirements { accesses_insert: Some(1.1), ..requirements(14.0) };
    let plan_of_inserts = plan(&inserts).unwrap();
    assert!(plan_of_inserts.expected.accesses_insert <= 1.1);
    assert!(plan_of_inserts.rate() <= 5.5e-4, "{}", plan_of_inserts.rate());
}

#[test]
fn small_sets_have_sensible_plans() {
    for (keys, bits, rate) in [
        (10_000, 10.0, 1.2e-2),
        (10_000, 12.0, 3.3e-3),
        (10_000, 16.0, 2.5e-4),
        (10_000, 24.0, 1.5e-6),
        (1_000, 24.0, 4.5e-4),
        (1_000, 40.0, 2e-8),
    ] {
        let sizes = Requirements { keys: Some(keys), ..requirements(bits) };
        let plan = plan(&sizes).unwrap();
        assert_eq!(plan.design.block_kind(), Some(BlockKind::Fingerprint), "{keys}, {bits}");
        assert!(plan.rate() <= rate, "{keys} keys, {bits} bits: {:e}", plan.rate());
        assert!(plan.bits_per_key() <= bits && plan.expected.accesses_miss <= 1.2);
    }
    let few = plan(&Requirements { keys: Some(1_000), ..requirements(12.0) }).unwrap();
    assert_eq!(few.design.block_kind(), Some(BlockKind::Bloom));
}

/// Instructions of a miss by the counts in `benchmarks/instructions.txt`, a cache line as 100.
fn cost(plan: &Plan) -> f64 {
    let Some(Blocks::Fingerprint { slots, lists, remainder_bits }) =
        plan.design.layout().map(|layout| layout.blocks)
    else {
        return 80.0 + 100.0 * plan.expected.accesses_miss;
    };
    let first = match (remainder_bits, slots, lists + slots) {
        (..8, ..) => 300.0,
        (_, 8.., ..=128) => 25.0,
        _ => 50.0,
    };
    let goes_on = plan.expected.accesses_miss - 1.0;
    first + 100.0 + 400.0 * goes_on
}

#[test]
fn lookups_one_by_one_get_faster_or_stay_as_they_are() {
    let mut faster = 0;
    for bits in [9.0, 10.0, 11.0, 11.55, 12.0, 14.0, 16.0, 20.0, 24.0, 28.0, 32.0, 40.0] {
        let best = plan(&requirements(bits)).unwrap();
        let asked = Requirements { prefer: Some(Lookup::OneByOne), ..requirements(bits) };
        let fast = plan(&asked).unwrap();
        // 0.5 % are equal.
        assert!(fast.rate() <= 1.255 * best.rate(), "{bits}: {} {}", fast.rate(), best.rate());
        let (of_fast, of_best) = (cost(&fast), cost(&best));
        assert!(
            fast.design == best.design || of_fast <= 0.9 * of_best,
            "{bits}: {of_fast} {of_best}"
        );
        faster += u32::from(of_fast < of_best);
        // A rate that the fast filter misses is kept by the best.
        let rate = Some(1.001 * best.rate());
        let kept = plan(&Requirements { rate, ..asked }).unwrap();
        assert!(kept.rate() <= 1.001 * best.rate());
    }
    assert!(faster >= 4, "{faster}");
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
fn fingerprints_serve_9_to_60_bits_per_key_without_gaps() {
    let mut last = 1.0;
    for half_bits in 18..=120 {
        let bits = f64::from(half_bits) / 2.0;
        let requirements =
            Requirements { block: Some(BlockKind::Fingerprint), ..requirements(bits) };
        let rate = plan(&requirements).unwrap().rate();
        // A classical filter's rate falls by a fifth with half a bit more. Slots are whole numbers: between two of
        // them only the load falls, and then the rate falls by up to a factor of twenty.
        assert!(rate < 0.985 * last, "{bits} bits: {rate:e} after {last:e}");
        last = rate;
    }
}

#[test]
fn fingerprints_win_from_9_bits_per_key_on_and_the_reasons_say_why_not_below() {
    for bits in [9.0, 14.0, 24.0, 40.0] {
        let plan = plan(&requirements(bits)).unwrap();
        assert_eq!(plan.design.block_kind(), Some(BlockKind::Fingerprint), "{bits}");
        assert!(plan.reasons.iter().any(|reason| reason.contains("watermark")), "{bits}");
    }
    let few = plan(&requirements(7.0)).unwrap();
    assert_eq!(few.design.block_kind(), Some(BlockKind::Bloom));
    let reasons = few.alternatives().join("\n");
    assert!(reasons.contains("Not multi-level with fingerprint blocks"), "{reasons}");
    assert!(reasons.contains("64 slots") && reasons.contains("9 bits per key"), "{reasons}");
    let small = plan(&Requirements { block_bits: Some(256), ..requirements(24.0) }).unwrap();
    let reasons = small.reasons.join("\n");
    assert!(reasons.contains("of fingerprints they always have 512"), "{reasons}");
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
        choices: Some(2),
        ..requirements(24.0)
    };
    let design = plan_of(&fingerprint).design;
    assert_eq!((design.placement(), design.max_accesses()), (Placement::MultiLevel, 2));
    let required = Blocks::Fingerprint { slots: 30, lists: 20, remainder_bits: 13 };
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
        (Requirements { multiset: true, hints: Some(4), ..base.clone() }, "4 hints"),
        (Requirements { lists: Some(9), hints: Some(4), ..base.clone() }, "4 hints"),
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
    for by_rate in [false, true] {
        let bits_per_key = small.bits_per_key.filter(|_| !by_rate);
        let asked = Requirements { bits_per_key, rate: by_rate.then_some(0.01), ..small.clone() };
        let error = plan(&asked).unwrap_err().to_string();
        assert!(error.contains("set block_bits to 512"), "{error}");
    }
    let few = Requirements { multiset: true, bits_per_key: Some(6.0), ..base };
    assert!(plan(&few).unwrap_err().to_string().contains("memory"));
}
