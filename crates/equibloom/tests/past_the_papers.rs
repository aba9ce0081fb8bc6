//! The promised rates of hints and fingerprint blocks, measured on real filters with all memory counted.
//!
//! The promised rates are planned, and measured within 4σ + 1 % of the plan: counted on absent keys, and
//! computed from the filter's contents, which also covers rates too low to be counted. By default on 300,000
//! keys and up to three million absent ones, for two sizes of fingerprint filters until 10,000 were found. At
//! full length, ten million keys and up to 400 million absent ones each:
//! `cargo test --release -p equibloom --test past_the_papers -- --ignored --nocapture`.
#![cfg(feature = "planner")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::ops::Range;

use equibloom::{AccessStatistics, BlockKind, Filter, FilterBuilder, Placement};

/// Maximum bits per key, and the rate of ten million keys there at 1.2 blocks per miss.
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
/// The same for Bloom blocks of 512 bits with hints, at 1.2 blocks per miss.
const HINTED: [(f64, f64); 3] = [(24.0, 2.9e-5), (32.0, 9.5e-7), (40.0, 3.4e-8)];

struct Promise {
    requirements: FilterBuilder<u64>,
    bits_per_key: f64,
    rate: f64,
    blocks_per_miss: f64,
    blocks_per_insert: f64,
}

fn promises(keys: u64) -> Vec<Promise> {
    let requirements = |kind, bits_per_key, blocks_per_miss| {
        Filter::builder()
            .keys(keys)
            .bits_per_key(bits_per_key)
            .placement(Placement::MultiLevel)
            .block(kind)
            .accesses_miss(blocks_per_miss)
    };
    // Few keys need slack for chance.
    let slack = if keys < 1_000_000 { 1.1 } else { 1.05 };
    let fingerprints = FINGERPRINTS.iter().map(|&(bits_per_key, rate)| Promise {
        requirements: requirements(BlockKind::Fingerprint, bits_per_key, 1.2),
        bits_per_key,
        rate: rate * slack,
        blocks_per_miss: 1.2,
        blocks_per_insert: 1.22,
    });
    let hinted = HINTED.iter().map(|&(bits_per_key, rate)| Promise {
        requirements: requirements(BlockKind::Bloom, bits_per_key, 1.2),
        bits_per_key,
        rate,
        blocks_per_miss: 1.2,
        blocks_per_insert: f64::INFINITY,
    });
    fingerprints.chain(hinted).collect()
}

/// The number of these keys that the filter finds.
fn found(filter: &Filter<u64>, keys: Range<u64>) -> u64 {
    let (mut batch, mut answers, mut found) = (Vec::new(), Vec::new(), 0);
    for start in keys.clone().step_by(10_000) {
        batch.clear();
        batch.extend(start..keys.end.min(start + 10_000));
        filter.contains_batch(&batch, &mut answers);
        found += answers.iter().filter(|&&answer| answer).count() as u64;
    }
    found
}

/// Fills a filter and looks up absent keys until so many were found, or there are no more.
fn keeps(promise: &Promise, keys: u64, wanted: u64, max_absent: u64) {
    let Promise { requirements, bits_per_key, rate, blocks_per_miss, blocks_per_insert } = promise;
    let plan = requirements.plan().unwrap();
    let mut filter = requirements.build().unwrap();
    let mut accesses = AccessStatistics::default();
    for key in 0..keys {
        let hash = filter.hash(&key);
        filter.as_hash_filter_mut().insert_counted(hash, &mut accesses).unwrap();
    }
    assert_eq!(found(&filter, 0..keys), keys);
    let (mut absent, mut taken) = (0_u64, 0_u64);
    while taken < wanted && absent < max_absent {
        let first = (1 << 40) + absent;
        let batch = 1_000_000.min(max_absent - absent);
        taken += found(&filter, first..first + batch);
        absent += batch;
    }
    for key in (1 << 41)..(1 << 41) + 1_000_000_u64 {
        filter.as_hash_filter().contains_counted(filter.hash(&key), &mut accesses);
    }
    let statistics = filter.statistics();
    let bits = 8.0 * statistics.memory.total() as f64 / keys as f64;
    let expected = plan.rate() * absent as f64;
    println!(
        "{:?}: {bits:.3} bits per key, rate {:.3e} measured ({taken} of {absent}), {:.3e} held, \
         {:.3e} ± {:.1e} predicted, {rate:e} promised; blocks per miss {:.4}, per insert {:.4}",
        plan.design.block_kind(),
        taken as f64 / absent as f64,
        statistics.expected_rate,
        plan.rate(),
        plan.expected.rate_deviation,
        accesses.misses.mean_blocks(),
        accesses.inserts.mean_blocks(),
    );
    assert!(bits <= *bits_per_key, "{bits} bits per key");
    assert!(plan.rate() <= *rate, "planned {:e}, promised {rate:e}", plan.rate());
    // 4σ + 1 %: of the filter, and of the absent keys too where they are counted.
    let deviation = plan.expected.rate_deviation;
    let sigma = (expected + (deviation * absent as f64).powi(2)).sqrt();
    assert!(
        (taken as f64 - expected).abs() <= 4.0 * sigma + 0.01 * expected + 1.0,
        "{taken} of {absent} taken for members, {expected} expected"
    );
    let held = statistics.expected_rate;
    assert!(
        (held - plan.rate()).abs() <= 4.0 * deviation + 0.01 * plan.rate(),
        "rate {held:e} by what the filter holds, {:e} ± {deviation:e} planned",
        plan.rate()
    );
    let (miss, insert) = (accesses.misses.mean_blocks(), accesses.inserts.mean_blocks());
    // Planned to the limit on average; one filter may be a little above.
    let chance = 4.0 / (keys as f64 / 30.0).sqrt();
    assert!(miss <= blocks_per_miss + chance, "{miss} blocks per miss");
    assert!(insert <= blocks_per_insert + chance, "{insert} blocks per insert");
}

#[test]
fn promises_are_kept_on_few_keys() {
    let keys = 300_000;
    for promise in promises(keys) {
        keeps(&promise, keys, 500, 3_000_000);
    }
}

#[test]
fn fingerprints_are_mistaken_as_often_as_planned() {
    let keys = 200_000;
    let measured =
        |promise: &Promise| promise.bits_per_key == 11.55 || promise.bits_per_key == 16.0;
    for promise in promises(keys).into_iter().filter(measured) {
        keeps(&promise, keys, 10_000, 120_000_000);
    }
}

#[test]
#[ignore = "takes minutes"]
fn promises_are_kept_on_ten_million_keys() {
    let keys = 10_000_000;
    for promise in promises(keys) {
        keeps(&promise, keys, 500, 400_000_000);
    }
}
