//! The exact model against a straightforward simulation of the filter, |measured − model| ≤ 4σ + 0.5 %.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "clippy.toml allows them in tests, but does not see that helpers of tests are tests"
)]

mod simulator;

use equibloom_layout::{Blocks, Candidates, Design, Layout, Overflow, Rule, Share};
use equibloom_theory::exact::{best_hashes, best_second_choice, predict};
use equibloom_theory::optimum;
use simulator::Filter;
use simulator::comparison::check;

fn bloom(bits: u32, bits_per_key: f64) -> Blocks {
    Blocks::bloom(bits, (bits_per_key * core::f64::consts::LN_2).round() as u32)
}

fn count(keys: u64, bits: u32, bits_per_key: f64) -> u64 {
    (keys as f64 * bits_per_key / f64::from(bits)).round() as u64
}

/// A layout and its keys; a share of these has `choices` candidates.
fn least_loaded(
    keys: u64,
    bits: u32,
    bits_per_key: f64,
    choices: u32,
    share: f64,
) -> (Layout, u64) {
    let blocks = count(keys, bits, bits_per_key);
    let candidates = Candidates::Anywhere { blocks, choices, share: Share::new(share).unwrap() };
    (Layout::new(bloom(bits, bits_per_key), candidates, Rule::LeastLoaded), keys)
}

fn multi_level(keys: u64, bits: u32, bits_per_key: f64) -> (Layout, u64) {
    let load = f64::from(bits) / bits_per_key;
    let optimum = optimum::multi_level(load, 1.2, 3, None).unwrap();
    let blocks = count(keys, bits, bits_per_key);
    (optimum.layout(bloom(bits, bits_per_key), blocks, keys, Overflow::NONE), keys)
}

fn shared(
    keys: u64,
    bits: u32,
    bits_per_key: f64,
    choices: u32,
    budget: Option<f64>,
) -> (Layout, u64) {
    let blocks = count(keys, bits, bits_per_key);
    let load = keys as f64 / blocks as f64;
    let optimum = if choices == 1 {
        optimum::single(load, 0.01).unwrap()
    } else {
        optimum::sequential(load, 1.15, choices, None).unwrap()
    };
    let layout = optimum.layout(bloom(bits, bits_per_key), blocks, keys, Overflow::NONE);
    (layout.with_budget(budget.map(|accesses| (accesses * keys as f64).floor() as u64)), keys)
}

#[test]
fn the_blocked_filter_measures_what_the_model_says() {
    check("B=64 β=8", least_loaded(150_000, 64, 8.0, 2, 0.0));
    check("B=256 β=12", least_loaded(150_000, 256, 12.0, 2, 0.0));
    check("B=512 β=16", least_loaded(150_000, 512, 16.0, 2, 0.0));
    check("B=4096 β=5", least_loaded(150_000, 4096, 5.0, 2, 0.0));
}

#[test]
fn two_choices_measure_what_the_model_says() {
    check("B=64 β=8", least_loaded(150_000, 64, 8.0, 2, 1.0));
    check("B=256 β=8", least_loaded(150_000, 256, 8.0, 2, 1.0));
    check("B=256 β=24", least_loaded(150_000, 256, 24.0, 2, 1.0));
}

#[test]
fn more_choices_measure_what_the_model_says() {
    check("B=64 β=8, d=3", least_loaded(150_000, 64, 8.0, 3, 1.0));
    check("B=256 β=12, d=3", least_loaded(150_000, 256, 12.0, 3, 1.0));
    check("B=256 β=8, d=5", least_loaded(150_000, 256, 8.0, 5, 1.0));
    check("B=128 β=8, 0.4 with d=4", least_loaded(150_000, 128, 8.0, 4, 0.4));
    // So full that passed blocks often match later.
    check("B=64 β=3, d=3", least_loaded(150_000, 64, 3.0, 3, 1.0));
}

#[test]
fn one_plus_alpha_choices_measure_what_the_model_says() {
    check("B=256 β=8", least_loaded(150_000, 256, 8.0, 2, 0.3));
    check("B=512 β=16", least_loaded(150_000, 512, 16.0, 2, 0.3));
    check("B=64 β=4", least_loaded(150_000, 64, 4.0, 2, 0.3));
}

#[test]
fn the_single_choice_table_measures_what_the_model_says() {
    check("B=64 β=8", shared(150_000, 64, 8.0, 1, None));
    check("B=256 β=12", shared(150_000, 256, 12.0, 1, None));
    check("B=256 β=12, budget", shared(150_000, 256, 12.0, 1, Some(0.8)));
}

#[test]
fn the_sequential_table_measures_what_the_model_says() {
    check("B=64 β=8", shared(150_000, 64, 8.0, 3, None));
    check("B=256 β=8", shared(150_000, 256, 8.0, 3, None));
    check("B=256 β=24", shared(150_000, 256, 24.0, 3, None));
}

#[test]
fn the_sequential_table_with_a_budget_measures_what_the_model_says() {
    check("B=64 β=8, a=1.05", shared(150_000, 64, 8.0, 3, Some(1.05)));
    check("B=256 β=12, a=1.05", shared(150_000, 256, 12.0, 3, Some(1.05)));
    check("B=512 β=16, a=0.9", shared(150_000, 512, 16.0, 3, Some(0.9)));
}

#[test]
fn multi_level_tables_measure_what_the_model_says() {
    check("B=64 β=8", multi_level(150_000, 64, 8.0));
    check("B=256 β=8", multi_level(150_000, 256, 8.0));
    check("B=256 β=24", multi_level(150_000, 256, 24.0));
    check("B=512 β=16", multi_level(150_000, 512, 16.0));
}

#[test]
fn large_blocks_measure_what_the_model_says() {
    check("B=2048 β=6", multi_level(200_000, 2048, 6.0));
    check("B=32768 β=5", shared(300_000, 32768, 5.0, 3, None));
    check("B=4096 β=6", least_loaded(300_000, 4096, 6.0, 2, 1.0));
    check("B=32768 β=6", least_loaded(300_000, 32768, 6.0, 2, 1.0));
}

#[test]
fn a_budget_for_multi_level_tables_is_obeyed() {
    let (layout, keys) = multi_level(150_000, 256, 12.0);
    check("B=256 β=12, a=1", (layout.with_budget(Some(keys)), keys));
}

/// On both sides of the least overflow γ0 of a·n accesses.
#[test]
fn budgets_hold_at_and_above_the_least_overflow() {
    let keys = 150_000;
    let rows = [(7.0, 1.17, 3, 0.031), (12.0, 1.33, 4, 0.044), (9.0, 1.13, 3, 0.027)];
    for (load, accesses, choices, overflow) in rows {
        for scheme in [optimum::sequential, optimum::multi_level] {
            for overflow in [None, Some(overflow), Some(2.0 * overflow)] {
                let Ok(optimum) = scheme(load, accesses, choices, overflow) else { continue };
                let count = (keys as f64 / load).round() as u64;
                let layout = optimum.layout(Blocks::bloom(256, 14), count, keys, Overflow::NONE);
                check(&format!("r={load} a={accesses} γ={}", optimum.overflow), (layout, keys));
            }
        }
    }
}

#[test]
fn small_tables_are_predicted_by_the_binomial_distribution() {
    // Three blocks: a Poisson number of keys would raise the rate by some per cent.
    let (layout, keys) = (Layout::blocked(Blocks::bloom(256, 6), 3), 96);
    let rates: Vec<f64> =
        (0..20_000).map(|seed| Filter::new(&layout, keys, seed).run().rate).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / rates.len() as f64;
    let model = predict(&layout.into(), keys).unwrap();
    let error = (variance / rates.len() as f64).sqrt();
    assert!((model.rate - mean).abs() < 4.0 * error, "{} {mean} ± {error}", model.rate);
    assert!((model.rate_deviation / variance.sqrt() - 1.0).abs() < 0.1);
}

#[test]
fn the_classical_filter_has_its_known_rate() {
    let design = Design::Classical { bits: 10_000_000, hashes: 7 };
    let model = predict(&design, 1_000_000).unwrap();
    assert!((model.rate / (1.0 - (-0.7_f64).exp()).powi(7) - 1.0).abs() < 1e-5);
    assert!((model.accesses_miss - (1.0 - model.rate) / (-0.7_f64).exp()).abs() < 1e-4);
    // One bit in two, one draw: the classical two-bit filter by hand.
    let tiny = predict(&Design::Classical { bits: 2, hashes: 1 }, 2).unwrap();
    assert!((tiny.rate - 0.75).abs() < 1e-12);
}

#[test]
fn the_best_number_of_hashes_beats_its_neighbours() {
    let classical = (Design::Classical { bits: 10_000_000, hashes: 1 }, 1_000_000);
    let blocked = [least_loaded(1_000_000, 256, 24.0, 1, 1.0), multi_level(1_000_000, 512, 16.0)];
    for (design, keys) in
        blocked.map(|(layout, keys)| (layout.into(), keys)).into_iter().chain([classical])
    {
        let (best, prediction) = best_hashes(&design, keys).unwrap();
        let number = best.hashes();
        for hashes in (number - 3).max(1)..=number + 3 {
            let other = predict(&design.with_hashes(hashes), keys).unwrap();
            assert!(other.rate >= prediction.rate);
        }
    }
}

#[test]
fn the_best_share_of_second_choices_beats_its_neighbours() {
    let (keys, bits_per_key) = (1_000_000, 18);
    let (best, hashes, prediction) =
        best_second_choice(keys, keys * bits_per_key / 512, 512, None).unwrap();
    assert!((0.2..0.7).contains(&best), "{best}");
    for share in [0.0, best - 0.1, best + 0.1, 1.0] {
        let (layout, keys) = least_loaded(keys, 512, bits_per_key as f64, 2, share);
        let other = Design::from(layout).with_hashes(hashes);
        assert!(predict(&other, keys).unwrap().rate > prediction.rate);
    }
}

#[test]
fn impossible_filters_are_refused_and_extreme_ones_answered() {
    let (good, _) = multi_level(1000, 256, 12.0);
    for hashes in [0, 65] {
        assert!(predict(&Design::from(good).with_hashes(hashes), 1000).is_err());
    }
    let refused = Layout { blocks: Blocks::bloom(0, 6), ..good };
    assert!(predict(&refused.into(), 1000).is_err());
    let least = |blocks, choices, share| {
        let candidates =
            Candidates::Anywhere { blocks, choices, share: Share::new(share).unwrap() };
        Layout::new(Blocks::bloom(64, 4), candidates, Rule::LeastLoaded).into()
    };
    assert!(predict(&least(1, 2, 0.5), u64::MAX).is_err());
    assert!(predict(&least(0, 2, 0.5), 1).is_err());
    for (keys, blocks, choices, share) in [
        (0, 5, 1, 0.0),
        (0, 5, 2, 0.5),
        (1, 1, 2, 1.0),
        (1, 1, 2, 0.0),
        (1_000_000, 1, 2, 0.0),
        (1_000_000, 3, 2, 1.0),
        (1_000_000, 3, 16, 1.0),
        (1 << 40, 1 << 36, 2, 0.7),
        (1 << 53, 1, 2, 0.0),
        (1 << 53, 2, 2, 0.0),
        (1 << 53, 3, 2, 0.5),
        (1 << 53, 3, 16, 0.5),
    ] {
        let p = predict(&least(blocks, choices, share), keys).unwrap();
        assert!((0.0..=1.0 + 1e-9).contains(&p.rate), "{keys} {blocks}: {p:?}");
        assert!(p.accesses_hit.is_finite() && p.stored_fraction.is_finite());
        assert!(p.accesses_hit <= f64::from(choices) + 1e-9);
    }
    let tables = [
        Candidates::anywhere(10, 1),
        Candidates::anywhere(10, 3),
        Candidates::subtables(&[1, 7, 1]).unwrap(),
    ];
    for keys in [0, 1, 1000, 100_000_000, 1 << 53] {
        for below in [0, 3, 65_534] {
            for coin in [Share::NONE, Share::clamped(0.5), Share::ALL] {
                for candidates in tables {
                    for budget in [None, Some(0), Some(500)] {
                        let rule = Rule::FirstWithRoom { below, coin };
                        let layout = Layout { candidates, rule, budget, ..good };
                        if below == 0 && coin == Share::NONE {
                            assert!(predict(&layout.into(), keys).is_err());
                            continue;
                        }
                        let p = predict(&layout.into(), keys).unwrap();
                        assert!((0.0..=1.0 + 1e-9).contains(&p.rate));
                        assert!((0.0..=1.0 + 1e-9).contains(&p.overflow_fraction), "{p:?}");
                        assert!(p.accesses_insert.is_finite() && p.rate_deviation.is_finite());
                    }
                }
            }
        }
    }
}
