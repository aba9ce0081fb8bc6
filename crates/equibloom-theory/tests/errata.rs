//! Errata whose tests need several modules or random numbers.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but does not see that helpers of tests are tests"
)]

use equibloom_layout::{Blocks, Candidates, Design, Layout, Overflow, Rule, Share};
use equibloom_theory::exact::predict;
use equibloom_theory::optimum;
use equibloom_theory::paper::{self, Hashes, Scheme};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const MULTI_LEVEL: Scheme = Scheme::MultiLevel { accesses: 1.2, choices: 3, overflow: None };

/// Overflow of a multi-level table of bare counters, with one coin per key or one per probe.
fn simulated_overflow(coin_per_probe: bool) -> f64 {
    // 256-bit blocks, 40 bits per key.
    let (keys, load) = (2_000_000_u32, 6.4);
    let best = optimum::multi_level(load, 1.2, 3, None).unwrap();
    let mut candidates = best.candidates.with_blocks((f64::from(keys) / load).round() as u64);
    let mut levels: Vec<Vec<u32>> =
        candidates.sizes_mut().iter().map(|&size| vec![0; size as usize]).collect();
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(8);
    let mut overflow = 0;
    'keys: for _ in 0..keys {
        let mut coin: f64 = dice.random();
        for level in &mut levels {
            let index = dice.random_range(0..level.len());
            let block = &mut level[index];
            if *block < best.threshold || (*block == best.threshold && coin < best.probability) {
                *block += 1;
                continue 'keys;
            }
            if coin_per_probe {
                coin = dice.random();
            }
        }
        overflow += 1;
    }
    f64::from(overflow) / f64::from(keys)
}

#[test]
fn erratum_8_a_coin_of_the_key_alone_correlates_the_levels() {
    // Standard errors are below 0.01 %.
    let (per_probe, per_key) = (simulated_overflow(true), simulated_overflow(false));
    assert!((per_probe - 0.0050).abs() < 0.0002, "{per_probe}");
    assert!((per_key - 0.0071).abs() < 0.0003, "{per_key}");
}

#[test]
fn erratum_9_the_slides_numbers_are_slips() {
    let rate = |bits_per_key: u64, hashes| {
        let design = Design::Classical { bits: bits_per_key * 1_000_000, hashes };
        predict(&design, 1_000_000).unwrap().rate
    };
    // "c = 2, k = 6 gives 2 %" is c = 8.
    assert!(rate(2, 6) > 0.7);
    assert!((rate(8, 6) - 0.0216).abs() < 1e-4);
    // m = 100n, one hash function: 0.00995, not 0.0095.
    assert!((rate(100, 1) - 0.00995).abs() < 1e-5);
    // k_opt = (m/n)·ln 2: half of it, or its inverse, is far worse.
    assert!(rate(16, 11) < rate(16, 6) / 2.0 && rate(16, 11) < rate(16, 1) / 100.0);
    // 0.6185^{m/n}.
    assert!((rate(16, 11).powf(1.0 / 16.0) - 0.6185).abs() < 2e-4);
}

#[test]
fn erratum_12_the_papers_rate_is_low_by_8_per_cent_at_24_and_27_at_40_bits_per_key() {
    for (bits_per_key, low_by, slack) in [(24.0, 0.076, 0.002), (40.0, 0.268, 0.005)] {
        let paper = paper::rate(MULTI_LEVEL, 256, bits_per_key, Hashes::Paper).unwrap();
        let load = 256.0 / bits_per_key;
        let best = optimum::multi_level(load, 1.2, 3, None).unwrap();
        let (count, keys) = (10_000_000, (load * 1e7) as u64);
        let blocks = Blocks::bloom(256, paper.hashes);
        let layout = best.layout(blocks, count, keys, Overflow::NONE);
        let exact = predict(&layout.into(), keys).unwrap();
        let less = 1.0 - paper.rate_with_coin / exact.rate;
        assert!((less - low_by).abs() < slack, "{bits_per_key}: {less}");
        assert!((exact.accesses_miss / paper.accesses_miss_with_coin - 1.0).abs() < 1e-3);
    }
}

#[test]
fn erratum_7_a_spent_budget_sends_every_miss_to_the_overflow_list() {
    let keys = 1_000_000;
    // A counter of 5 bits.
    let blocks = Blocks::bloom(252 + 5, 11);
    let rule = Rule::FirstWithRoom { below: 16, coin: Share::new(0.5).unwrap() };
    let layout = Layout::new(blocks, Candidates::anywhere(keys / 16, 3), rule);
    let expected = |budget| predict(&layout.with_budget(budget).into(), keys).unwrap();
    let spent = expected(Some(keys));
    assert_eq!(spent.budget_spent, 1.0);
    // Blocks below their threshold end the walk, but not the lookup.
    assert!(spent.accesses_miss < 2.5 && spent.overflow_probes_miss > 0.99);
    let free = expected(None);
    assert!(free.overflow_probes_miss < 0.5 && free.overflow_fraction < spent.overflow_fraction);
}
