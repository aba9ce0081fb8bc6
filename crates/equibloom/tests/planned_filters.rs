//! Filters built from plans have the planned properties: |measured − promised| ≤ 4σ + 1 %.
#![cfg(feature = "planner")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom::{
    AccessStatistics, Filter, FilterBuilder, KeyHasher, Lookup, Placement, Plan, PlanError,
    Statistics, WhenFull,
};
use proptest::prelude::*;

mod random;

use random::Random;

const KEYS: u64 = 300_000;

/// Budgets from 5 to 40 bits per key, blocks from 64 bits to a page, rates from 10 % to 1e-6, every placement.
fn requirements() -> Vec<FilterBuilder<u64>> {
    let keys = || Filter::builder().keys(KEYS);
    vec![
        keys().rate(0.1),
        keys().rate(0.01).block_bits(256),
        keys().rate(1e-3).seed(5),
        keys().rate(1e-6),
        keys().bits_per_key(24.0).accesses_miss(1.0),
        keys().bits_per_key(40.0),
        keys().bits_per_key(24.0).accesses_miss(1.5),
        keys().bits_per_key(12.0).block_bits(64),
        keys().bits_per_key(20.0).block_bits(100),
        keys().bits_per_key(16.0).accesses_miss(2.1),
        keys().bits_per_key(10.0).block_bits(32_768),
        keys().bits_per_key(30.0).placement(Placement::MultiLevel).choices(3),
        keys().bits_per_key(30.0).placement(Placement::MultiLevel).accesses_miss(2.5),
        keys().bits_per_key(30.0).placement(Placement::Sequential),
        keys().bits_per_key(16.0).placement(Placement::Single).block_bits(128),
        keys().bits_per_key(20.0).placement(Placement::TwoChoice).accesses_miss(2.0),
        Filter::builder().memory(500_000).rate(1e-4),
        Filter::builder().memory(600_000).bits_per_key(14.0).accesses_insert(1.05),
    ]
}

fn check(what: &str, measured: f64, promised: f64, sigma: f64, plan: &Plan) {
    let allowed = 4.0 * sigma + 0.01 * promised;
    assert!(
        (measured - promised).abs() <= allowed,
        "{what}: measured {measured:e}, promised {promised:e} ± {allowed:e}; {plan:?}"
    );
}

fn fill(filter: Filter<u64>, keys: u64) -> (Statistics, AccessStatistics) {
    let mut accesses = AccessStatistics::default();
    let hasher = *filter.hasher();
    let mut filter = filter.into_hash_filter();
    for key in 0..keys {
        filter.insert_counted(hasher.hash_key(&key), &mut accesses).unwrap();
    }
    for key in 0..keys {
        let found = filter.contains_counted(hasher.hash_key(&key), &mut accesses);
        assert!(found, "{key} was lost");
    }
    (filter.statistics(), accesses)
}

#[test]
fn planned_filters_measure_the_promised_values() {
    for requirements in requirements() {
        // A list that is too small would refuse a key and fail the test. Filters without thresholds have none.
        let refusing = requirements.clone().when_full(WhenFull::Refuse);
        measure(if refusing.plan().is_ok() { &refusing } else { &requirements });
    }
}

/// Random requirements that have a plan: 50, or as many as `EQUIBLOOM_WISHES` says.
#[test]
fn random_requirements_measure_the_promised_values() {
    let wishes = std::env::var("EQUIBLOOM_WISHES").map_or(50, |number| number.parse().unwrap());
    let mut random = Random(18);
    let mut planned = 0;
    while planned < wishes {
        let mut unit = || random.word() as f64 / u64::MAX as f64;
        let mut log = |from: f64, to: f64| from * (to / from).powf(unit());
        let (keys, bits, rate) = (log(300.0, 30_000.0) as u64, log(6.0, 50.0), log(1e-5, 0.2));
        let (accesses, headroom) = (log(1.0, 2.2), log(0.01, 0.5));
        let mut maybe = |share: f64| unit() < share;
        let mut builder = Filter::builder().seed(planned);
        builder = match (maybe(0.5), maybe(0.2)) {
            (true, false) => builder.keys(keys).bits_per_key(bits),
            (true, true) => builder.memory(keys * bits as u64 / 8 + 1_200).rate(rate),
            (false, _) => builder.keys(keys).rate(rate),
        };
        if maybe(0.3) {
            builder = builder.accesses_miss(accesses);
        }
        if maybe(0.2) {
            builder = builder.headroom(headroom);
        }
        if maybe(0.2) {
            builder = builder.prefer(Lookup::OneByOne);
        }
        if maybe(0.2) {
            builder = builder.removable();
        }
        if builder.plan().is_ok_and(|plan| plan.keys <= 100_000) {
            measure(&builder);
            planned += 1;
        }
    }
}

/// Builds and fills a planned filter, and compares.
fn measure(requirements: &FilterBuilder<u64>) {
    let plan = requirements.plan().unwrap();
    let filter = requirements.build().unwrap();
    let (statistics, accesses) = fill(filter, plan.keys);
    let expected = &plan.expected;
    check("rate", statistics.expected_rate, plan.rate(), expected.rate_deviation, &plan);

    // One operation reads a few blocks more than another; a full block sends all its keys on.
    let keys = plan.keys as f64;
    let blocks = plan.design.layout().map_or(keys, |layout| layout.candidates.blocks() as f64);
    let (of_keys, of_blocks) = (1.0 / keys.sqrt(), 1.0 / blocks.sqrt());
    let inserts = accesses.inserts.mean_blocks();
    let sigma = of_keys + 0.1 * of_blocks;
    check("insert", inserts, expected.accesses_insert, sigma, &plan);
    check("hit", accesses.hits.mean_blocks(), expected.accesses_hit, sigma, &plan);
    let misses = statistics.expected_accesses_per_miss;
    check("miss", misses, expected.accesses_miss, of_keys + of_blocks, &plan);
    let overflow = statistics.overflowed as f64 / keys;
    // A list of one key more or less is no surprise.
    let sigma = expected.overflow_deviation + 0.5 / keys;
    check("overflow", overflow, expected.overflow_fraction, sigma, &plan);

    let bytes = statistics.memory.total();
    assert!(bytes <= plan.bytes() && bytes + 600 > plan.bytes(), "{bytes} {}", plan.bytes());
}

/// The size of the overflow list follows from the model's deviation; here it is measured.
#[test]
fn the_overflow_varies_as_in_the_model() {
    let keys = 40_000;
    // Few choices, so that some keys overflow.
    let base = Filter::builder().keys(keys).bits_per_key(30.0).accesses_miss(2.0).choices(2);
    for placement in [Placement::Single, Placement::MultiLevel, Placement::Sequential] {
        let requirements = base.clone().placement(placement);
        let expected = requirements.plan().unwrap().expected;
        let overflows: Vec<f64> = (0..60)
            .map(|seed| {
                let mut filter = requirements.clone().seed(seed).build().unwrap();
                filter.try_extend(0..keys).unwrap();
                filter.statistics().overflowed as f64
            })
            .collect();
        let mean = overflows.iter().sum::<f64>() / 60.0;
        let variance = overflows.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 59.0;
        let ratio = variance.sqrt() / (expected.overflow_deviation * keys as f64);
        println!("{placement}: mean {mean}, deviation {}, of the model {ratio}", variance.sqrt());
        // With 60 filters a sample deviation is within 30 % of the true one (99.9 %).
        assert!((0.5..1.35).contains(&ratio), "{placement}: {ratio}");
    }
}

#[test]
fn a_planned_filter_takes_keys_beyond_its_plan() {
    let mut filter = Filter::builder().keys(10_000).bits_per_key(40.0).build().unwrap();
    filter.try_extend(0..20_000_u64).unwrap();
    assert!((0..20_000_u64).all(|key| filter.contains(&key)));
}

#[test]
fn errors_distinguish_requirements_from_building() {
    let error = Filter::<u64>::builder().keys(10).build().unwrap_err();
    assert!(matches!(error, PlanError::Requirements(_)));
    assert!(error.to_string().contains("keys alone"), "{error}");
    let huge = Filter::<u64>::builder().keys(1 << 45).bits_per_key(16.0).build().unwrap_err();
    assert!(matches!(huge, PlanError::Build(_)), "{huge}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For all requirements, a plan passes the checks of the core library and needs no more memory than it
    /// says.
    #[test]
    fn plans_are_always_buildable(
        keys in 1_u64..200_000,
        bits in 0.3_f64..100.0,
        block_bits in prop::option::of(64_u32..1_000),
        accesses in 1.0_f64..3.0,
        choices in prop::option::of(1_u32..17),
        placement in prop::option::of(prop::sample::select(Placement::ALL.to_vec())),
    ) {
        let mut requirements = Filter::<u64>::builder().keys(keys).bits_per_key(bits).accesses_miss(accesses);
        if let Some(bits) = block_bits {
            requirements = requirements.block_bits(bits);
        }
        if let Some(choices) = choices {
            requirements = requirements.choices(choices);
        }
        if let Some(placement) = placement {
            requirements = requirements.placement(placement);
        }
        if let Ok(plan) = requirements.plan() {
            let parameters = requirements.parameters().unwrap();
            prop_assert_eq!(parameters.check(), Ok(()));
            let mut filter = Filter::new(&parameters).unwrap();
            filter.try_extend(0..keys.min(1_000)).unwrap();
            prop_assert!((0..keys.min(1_000)).all(|key| filter.contains(&key)));
            prop_assert!(filter.statistics().memory.total() <= plan.bytes());
        }
    }
}
