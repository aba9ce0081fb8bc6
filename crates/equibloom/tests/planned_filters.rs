//! Filters built from plans have the planned properties: |measured − promised| ≤ 4σ + 1 %.
#![cfg(feature = "planner")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;

use equibloom::{
    AccessStatistics, Candidates, Design, Filter, FilterBuilder, HashFilter, KeyHasher, Lookup,
    Parameters, Placement, Plan, PlanError, Prediction, Stable, WhenFull,
};
use equibloom_layout::HEADER_BYTES;
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

/// What was measured and was not promised.
fn surprise(what: &str, measured: f64, promised: f64, sigma: f64) -> Option<String> {
    let allowed = 4.0 * sigma + 0.01 * promised;
    let kept = (measured - promised).abs() <= allowed;
    (!kept).then(|| format!("{what}: measured {measured:e}, promised {promised:e} ± {allowed:e}"))
}

/// Fills the filter with keys from 0 on; if filters are to be merged, each half of them in a filter of its own.
fn fill(parameters: &Parameters, merged: bool, accesses: &mut AccessStatistics) -> HashFilter {
    let hasher = Stable::with_seed(parameters.seed);
    let mut filter = HashFilter::new(parameters).unwrap();
    let mut second = filter.clone();
    for key in 0..parameters.keys {
        let filter = if merged && key % 2 == 0 { &mut second } else { &mut filter };
        filter.insert_counted(hasher.hash_key(&key), accesses).unwrap();
    }
    filter.merge(&second).unwrap();
    for key in 0..parameters.keys {
        let found = filter.contains_counted(hasher.hash_key(&key), accesses);
        assert!(found, "{key} was lost");
    }
    filter
}

#[test]
fn planned_filters_measure_the_promised_values() {
    for requirements in requirements() {
        // A list that is too small would refuse a key and fail the test. Filters without thresholds have none.
        let refusing = requirements.clone().when_full(WhenFull::Refuse);
        let surprises =
            measure(if refusing.plan().is_ok() { &refusing } else { &requirements }, false);
        assert!(surprises.is_empty(), "{surprises:#?}");
    }
}

/// Random requirements that have a plan: 50, or as many as `EQUIBLOOM_WISHES` says.
#[test]
fn random_requirements_measure_the_promised_values() {
    let wishes = std::env::var("EQUIBLOOM_WISHES").map_or(50, |number| number.parse().unwrap());
    let mut random = Random(18);
    let (mut planned, mut kinds, mut surprises) = (0, BTreeMap::<&str, u32>::new(), Vec::new());
    while planned < wishes {
        let (builder, merged) = random_requirements(&mut random, planned);
        let Ok(plan) = builder.plan() else { continue };
        if plan.keys <= 100_000 {
            surprises.extend(measure(&builder, merged));
            *kinds.entry(plan.design.name()).or_default() += 1;
            planned += 1;
        }
    }
    println!("{kinds:?}");
    assert!(surprises.is_empty(), "{surprises:#?}");
    assert!(kinds.len() >= 5, "{kinds:?}");
}

/// Two of keys, memory and rate, and some of everything else; and whether filters are to be merged.
fn random_requirements(random: &mut Random, seed: u64) -> (FilterBuilder<u64>, bool) {
    let mut unit = || random.word() as f64 / u64::MAX as f64;
    let mut log = |from: f64, to: f64| from * (to / from).powf(unit());
    let (keys, bits, rate) = (log(1.0, 30_000.0), log(3.0, 60.0), log(1e-12, 0.5));
    let (accesses, headroom, block_bits) = (log(1.0, 2.2), log(0.01, 2.0), log(64.0, 2_000.0));
    let (overflow, choices) = (log(1e-4, 0.1), log(1.0, 8.0));
    let placement = Placement::ALL[log(1.0, 7.99) as usize - 1];
    let memory = (keys * bits / 8.0) as u64 + HEADER_BYTES + 64;
    let mut maybe = |share: f64| unit() < share;
    let builder = Filter::builder().seed(seed);
    let builder = match (maybe(0.5), maybe(0.5), maybe(0.3)) {
        (true, _, false) => builder.keys(keys as u64).rate(rate),
        (true, ..) => builder.memory(memory).rate(rate),
        (_, true, _) => builder.keys(keys as u64).memory(memory),
        (_, _, true) => builder.memory(memory).bits_per_key(bits),
        _ => builder.keys(keys as u64).bits_per_key(bits),
    };
    let mut and =
        |share: f64, builder: FilterBuilder<u64>, with: &dyn Fn(FilterBuilder<u64>) -> _| {
            if maybe(share) { with(builder) } else { builder }
        };
    let builder = and(0.2, builder, &|builder| builder.accesses_miss(accesses));
    let builder = and(0.1, builder, &|builder| builder.accesses_insert(accesses));
    let builder = and(0.1, builder, &|builder| builder.lines_miss(accesses));
    let builder = and(0.1, builder, &|builder| builder.lines_insert(accesses));
    let builder = and(0.2, builder, &|builder| builder.headroom(headroom));
    let builder = and(0.2, builder, &|builder| builder.prefer(Lookup::OneByOne));
    let builder = and(0.15, builder, &|builder| builder.removable());
    let builder = and(0.1, builder, &|builder| builder.block_bits(block_bits as u32));
    let builder = and(0.1, builder, &|builder| builder.choices(choices as u32));
    let builder = and(0.1, builder, &|builder| builder.overflow(overflow));
    let builder = and(0.2, builder, &|builder| builder.placement(placement));
    let builder = and(0.2, builder, &|builder| builder.when_full(WhenFull::Refuse));
    let builder = and(0.1, builder, &|builder| builder.when_full(WhenFull::Saturate));
    let merged = maybe(0.15);
    (if merged { builder.mergeable() } else { builder }, merged)
}

/// Absent keys that are looked up, and how many of them must be found for their share to be a rate.
const ABSENT: u64 = 200_000;
const ENOUGH: f64 = 100.0;

/// Small filters are built with many seeds: the rates of one or two blocks differ by orders of magnitude.
const KEYS_IN_ALL: u64 = 20_000;
const MOST_FILTERS: u64 = 400;

/// The overflow of fewer keys has a long tail.
const MANY_LISTED: f64 = 20.0;

/// Builds and fills a planned filter, and compares.
fn measure(requirements: &FilterBuilder<u64>, merged: bool) -> Vec<String> {
    let plan = requirements.plan().unwrap();
    let parameters = requirements.parameters().unwrap();
    let (keys, expected) = (plan.keys as f64, &plan.expected);
    let filters = (KEYS_IN_ALL / plan.keys).clamp(1, MOST_FILTERS);
    let mean = 1.0 / filters as f64;
    let mut accesses = AccessStatistics::default();
    let (mut rate, mut miss, mut overflow, mut found) = (0.0, 0.0, 0.0, 0);
    for seed in 0..filters {
        let parameters = Parameters { seed: parameters.seed + (seed << 32), ..parameters };
        let filter = fill(&parameters, merged, &mut accesses);
        let statistics = filter.statistics();
        rate += mean * statistics.expected_rate;
        miss += mean * statistics.expected_accesses_per_miss;
        overflow += mean * statistics.overflowed as f64 / keys;
        let hasher = Stable::with_seed(parameters.seed);
        let absent = (0..ABSENT / filters).map(|key| hasher.hash_key(&(u64::MAX - key)));
        found += absent.filter(|&hash| filter.contains(hash)).count();
        let (bytes, planned) = (statistics.memory.total(), plan.bytes());
        assert!(bytes <= planned && bytes + 64 > planned, "{bytes} {planned} {requirements:?}");
    }

    // Candidates anywhere share a table: their model is for many keys, and holds for few within what one filter shows.
    let is_anywhere = plan.design.layout().is_some_and(|layout| {
        matches!(layout.candidates, Candidates::Anywhere { choices: 2.., .. })
    });
    let of_mean = if is_anywhere { 1.0 } else { mean.sqrt() };
    let mut surprises = Vec::new();
    let mut check = |what, measured, promised, sigma: f64| {
        surprises.extend(surprise(what, measured, promised, sigma * of_mean));
    };
    check("rate", rate, expected.rate, expected.rate_deviation);
    let absent = (filters * (ABSENT / filters)) as f64;
    if plan.rate() * absent >= ENOUGH {
        let of_lookups = (plan.rate() / absent / mean).sqrt();
        let sigma = expected.rate_deviation.hypot(of_lookups);
        check("lookups", found as f64 / absent, plan.rate(), sigma);
    }
    // A share m − 1 of the operations goes on; those of one block together.
    let independent = match plan.design.layout() {
        Some(layout) => keys.min(layout.candidates.blocks() as f64),
        None => keys,
    };
    let most = f64::from(plan.design.max_accesses() - 1);
    let sigma = |mean: f64| match plan.design {
        // By the share of set bits, whose deviation is that of the rate.
        Design::Classical { hashes, .. } => {
            mean * mean * expected.rate_deviation / (f64::from(hashes) * expected.rate)
        }
        _ => ((mean - 1.0) * most / independent).sqrt(),
    };
    let Prediction { accesses_insert, accesses_hit, accesses_miss, .. } = *expected;
    if !merged {
        let inserts = accesses.inserts.mean_blocks();
        check("insert", inserts, accesses_insert, sigma(accesses_insert));
    }
    check("hit", accesses.hits.mean_blocks(), accesses_hit, sigma(accesses_hit));
    check("miss", miss, accesses_miss, sigma(accesses_miss));
    if expected.overflow_fraction * keys > MANY_LISTED {
        check("overflow", overflow, expected.overflow_fraction, expected.overflow_deviation);
    }
    let Plan { design, .. } = &plan;
    surprises
        .iter()
        .map(|what| format!("{what}; {requirements:?}, {keys} keys, {design:?}"))
        .collect()
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
