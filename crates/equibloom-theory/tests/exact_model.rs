//! The exact model against a straightforward simulation of the machine, |measured − model| ≤ 4σ + 0.5 %.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "clippy.toml allows them in tests, but does not see that helpers of tests are tests"
)]

mod simulator;

use equibloom_theory::exact::{
    ClassicalMachine, Levels, Machine, Placement, best_hashes, best_second_choice,
};
use equibloom_theory::optimum;
use simulator::Filter;
use simulator::comparison::check;

fn hashes(bits_per_key: f64) -> u32 {
    (bits_per_key * core::f64::consts::LN_2).round() as u32
}

fn least_loaded(keys: u64, bits: u32, bits_per_key: f64, second_choice: f64) -> Machine {
    let blocks = (keys as f64 * bits_per_key / f64::from(bits)).round() as u64;
    Machine {
        keys,
        data_bits: bits,
        hashes: hashes(bits_per_key),
        placement: Placement::LeastLoaded { blocks, second_choice },
    }
}

fn multi_level(keys: u64, bits: u32, bits_per_key: f64) -> Machine {
    let blocks = keys as f64 * bits_per_key / f64::from(bits);
    let optimum = optimum::multi_level(keys as f64 / blocks, 1.2, 3, None).unwrap();
    let counter = f64::from(optimum.threshold + 2).log2().ceil() as u32;
    let sizes = optimum.subtables.iter().map(|share| (share * blocks).round() as u64).collect();
    Machine {
        keys,
        data_bits: bits - counter,
        hashes: hashes(bits_per_key),
        placement: Placement::Threshold {
            levels: Levels::Subtables(sizes),
            threshold: optimum.threshold,
            probability: optimum.probability,
            hints: 0,
            access_budget: None,
        },
    }
}

fn shared(keys: u64, bits: u32, bits_per_key: f64, choices: u32, budget: Option<f64>) -> Machine {
    let blocks = (keys as f64 * bits_per_key / f64::from(bits)).round() as u64;
    let load = keys as f64 / blocks as f64;
    let optimum = if choices == 1 {
        optimum::single(load, 0.01).unwrap()
    } else {
        optimum::sequential(load, 1.15, choices, None).unwrap()
    };
    let counter = f64::from(optimum.threshold + 2).log2().ceil() as u32;
    Machine {
        keys,
        data_bits: bits - counter,
        hashes: hashes(bits_per_key),
        placement: Placement::Threshold {
            levels: Levels::Shared { blocks, choices },
            threshold: optimum.threshold,
            probability: optimum.probability,
            hints: 0,
            access_budget: budget.map(|accesses| (accesses * keys as f64).floor() as u64),
        },
    }
}

#[test]
fn the_blocked_filter_measures_what_the_model_says() {
    check("B=64 β=8", &least_loaded(150_000, 64, 8.0, 0.0));
    check("B=256 β=12", &least_loaded(150_000, 256, 12.0, 0.0));
    check("B=512 β=16", &least_loaded(150_000, 512, 16.0, 0.0));
    check("B=4096 β=5", &least_loaded(150_000, 4096, 5.0, 0.0));
}

#[test]
fn two_choices_measure_what_the_model_says() {
    check("B=64 β=8", &least_loaded(150_000, 64, 8.0, 1.0));
    check("B=256 β=8", &least_loaded(150_000, 256, 8.0, 1.0));
    check("B=256 β=24", &least_loaded(150_000, 256, 24.0, 1.0));
}

#[test]
fn one_plus_alpha_choices_measure_what_the_model_says() {
    check("B=256 β=8", &least_loaded(150_000, 256, 8.0, 0.3));
    check("B=512 β=16", &least_loaded(150_000, 512, 16.0, 0.3));
    check("B=64 β=4", &least_loaded(150_000, 64, 4.0, 0.3));
}

#[test]
fn the_single_choice_table_measures_what_the_model_says() {
    check("B=64 β=8", &shared(150_000, 64, 8.0, 1, None));
    check("B=256 β=12", &shared(150_000, 256, 12.0, 1, None));
    check("B=256 β=12, budget", &shared(150_000, 256, 12.0, 1, Some(0.8)));
}

#[test]
fn the_sequential_table_measures_what_the_model_says() {
    check("B=64 β=8", &shared(150_000, 64, 8.0, 3, None));
    check("B=256 β=8", &shared(150_000, 256, 8.0, 3, None));
    check("B=256 β=24", &shared(150_000, 256, 24.0, 3, None));
}

#[test]
fn the_sequential_table_with_a_budget_measures_what_the_model_says() {
    check("B=64 β=8, a=1.05", &shared(150_000, 64, 8.0, 3, Some(1.05)));
    check("B=256 β=12, a=1.05", &shared(150_000, 256, 12.0, 3, Some(1.05)));
    check("B=512 β=16, a=0.9", &shared(150_000, 512, 16.0, 3, Some(0.9)));
}

#[test]
fn multi_level_tables_measure_what_the_model_says() {
    check("B=64 β=8", &multi_level(150_000, 64, 8.0));
    check("B=256 β=8", &multi_level(150_000, 256, 8.0));
    check("B=256 β=24", &multi_level(150_000, 256, 24.0));
    check("B=512 β=16", &multi_level(150_000, 512, 16.0));
}

#[test]
fn large_blocks_measure_what_the_model_says() {
    check("B=2048 β=6", &multi_level(200_000, 2048, 6.0));
    check("B=32768 β=5", &shared(300_000, 32768, 5.0, 3, None));
    check("B=4096 β=6", &least_loaded(300_000, 4096, 6.0, 1.0));
    check("B=32768 β=6", &least_loaded(300_000, 32768, 6.0, 1.0));
}

#[test]
fn a_budget_for_multi_level_tables_is_obeyed() {
    let mut machine = multi_level(150_000, 256, 12.0);
    if let Placement::Threshold { access_budget, .. } = &mut machine.placement {
        *access_budget = Some(150_000);
    }
    check("B=256 β=12, a=1", &machine);
}

#[test]
fn small_tables_are_predicted_by_the_binomial_distribution() {
    // Three blocks: a Poisson number of keys would raise the rate by some per cent.
    let machine = Machine {
        keys: 96,
        data_bits: 256,
        hashes: 6,
        placement: Placement::LeastLoaded { blocks: 3, second_choice: 0.0 },
    };
    let rates: Vec<f64> = (0..20_000).map(|seed| Filter::new(&machine, seed).run().rate).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / rates.len() as f64;
    let model = machine.predict().unwrap();
    let error = (variance / rates.len() as f64).sqrt();
    assert!((model.rate - mean).abs() < 4.0 * error, "{} {mean} ± {error}", model.rate);
    assert!((model.rate_deviation / variance.sqrt() - 1.0).abs() < 0.1);
}

#[test]
fn the_classical_filter_has_its_known_rate() {
    let machine = ClassicalMachine { keys: 1_000_000, bits: 10_000_000, hashes: 7 };
    let model = machine.predict().unwrap();
    assert!((model.rate / (1.0 - (-0.7_f64).exp()).powi(7) - 1.0).abs() < 1e-5);
    assert!((model.accesses_miss - (1.0 - model.rate) / (-0.7_f64).exp()).abs() < 1e-4);
    // One bit in two, one draw: the classical two-bit filter by hand.
    let tiny = ClassicalMachine { keys: 2, bits: 2, hashes: 1 }.predict().unwrap();
    assert!((tiny.rate - 0.75).abs() < 1e-12);
}

#[test]
fn the_best_number_of_hash_functions_beats_its_neighbours() {
    for machine in [least_loaded(1_000_000, 256, 24.0, 0.0), multi_level(1_000_000, 512, 16.0)] {
        let (best, prediction) = best_hashes(&machine).unwrap();
        for hashes in (best - 3).max(1)..=best + 3 {
            let other = Machine { hashes, ..machine.clone() }.predict().unwrap();
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
    for second_choice in [0.0, best - 0.1, best + 0.1, 1.0] {
        let mut other = least_loaded(keys, 512, bits_per_key as f64, second_choice);
        other.hashes = hashes;
        assert!(other.predict().unwrap().rate > prediction.rate);
    }
}

#[test]
fn impossible_machines_are_refused_and_extreme_ones_answered() {
    let good = multi_level(1000, 256, 12.0);
    assert!(Machine { hashes: 0, ..good.clone() }.predict().is_err());
    assert!(Machine { hashes: 300, ..good.clone() }.predict().is_err());
    assert!(Machine { data_bits: 0, ..good.clone() }.predict().is_err());
    let least = |keys, blocks, second_choice| Machine {
        keys,
        data_bits: 64,
        hashes: 4,
        placement: Placement::LeastLoaded { blocks, second_choice },
    };
    assert!(least(u64::MAX, 1, 0.5).predict().is_err());
    assert!(least(1, 0, 0.5).predict().is_err());
    assert!(least(1, 1, f64::NAN).predict().is_err());
    for (keys, blocks, second_choice) in [
        (0, 5, 0.0),
        (0, 5, 0.5),
        (1, 1, 1.0),
        (1, 1, 0.0),
        (1_000_000, 1, 0.0),
        (1_000_000, 3, 1.0),
        (1 << 40, 1 << 36, 0.7),
        (1 << 53, 1, 0.0),
        (1 << 53, 2, 0.0),
        (1 << 53, 3, 0.5),
    ] {
        let p = least(keys, blocks, second_choice).predict().unwrap();
        assert!((0.0..=1.0 + 1e-9).contains(&p.rate), "{keys} {blocks}: {p:?}");
        assert!(p.accesses_hit.is_finite() && p.stored_fraction.is_finite());
    }
    for keys in [0, 1, 1000, 100_000_000, 1 << 53] {
        for threshold in [0, 3, u32::MAX] {
            for probability in [0.0, 0.5, 1.0] {
                for levels in [
                    Levels::Shared { blocks: 10, choices: 1 },
                    Levels::Shared { blocks: 10, choices: 3 },
                    Levels::Subtables(vec![1, 7, 1]),
                ] {
                    for access_budget in [None, Some(0), Some(500)] {
                        let placement = Placement::Threshold {
                            levels: levels.clone(),
                            threshold,
                            probability,
                            hints: 0,
                            access_budget,
                        };
                        let p = Machine { keys, placement, ..good.clone() }.predict().unwrap();
                        assert!((0.0..=1.0 + 1e-9).contains(&p.rate));
                        assert!((0.0..=1.0 + 1e-9).contains(&p.overflow_fraction), "{p:?}");
                        assert!(p.accesses_insert.is_finite() && p.rate_deviation.is_finite());
                    }
                }
            }
        }
    }
}
