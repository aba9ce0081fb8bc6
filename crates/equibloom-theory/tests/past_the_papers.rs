//! Hints and fingerprint blocks: the exact model against straightforward simulations, its limits, and the
//! rates that were promised.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "clippy.toml allows them in tests, but does not see that helpers of tests are tests"
)]

#[path = "simulator/fingerprints.rs"]
mod fingerprints;
mod simulator;

use equibloom_theory::exact::{FingerprintMachine, Levels, Machine, Placement};
use fingerprints::FingerprintFilter;
use simulator::Measured;
use simulator::comparison::{check, compare, sizes};

/// Bloom blocks with a counter of 6 bits.
fn hinted(levels: Levels, bits: u32, load: (u32, f64), hints: u32, budget: Option<u64>) -> Machine {
    Machine {
        keys: 150_000,
        data_bits: bits - 6 - hints,
        hashes: 7,
        placement: Placement::Threshold {
            levels,
            threshold: load.0,
            probability: load.1,
            hints,
            access_budget: budget,
        },
    }
}

fn anywhere(blocks: u64, choices: u32) -> Levels {
    Levels::Shared { blocks, choices }
}

#[test]
fn hinted_subtables_measure_what_the_model_says() {
    let three = || Levels::Subtables(vec![5_400, 900, 150]);
    for (load, hints) in [((25, 0.0), 1), ((25, 0.4), 8), ((26, 0.9), 64)] {
        let name = format!("B=256 load {load:?} w={hints}");
        check(&name, &hinted(three(), 256, load, hints, None));
    }
    check("B=512", &hinted(Levels::Subtables(vec![3_000, 300]), 512, (48, 0.2), 16, None));
    check("B=2048", &hinted(Levels::Subtables(vec![700, 60]), 2048, (205, 0.5), 32, None));
}

#[test]
fn hinted_tables_measure_what_the_model_says() {
    check("single", &hinted(anywhere(6_000, 1), 256, (27, 0.3), 8, None));
    check("sequential", &hinted(anywhere(6_000, 3), 256, (27, 0.3), 8, None));
    check("w=1", &hinted(anywhere(6_000, 2), 256, (29, 0.0), 1, None));
}

#[test]
fn hinted_tables_with_a_budget_measure_what_the_model_says() {
    check("a=1.05", &hinted(anywhere(6_000, 3), 256, (25, 0.3), 8, Some(157_500)));
    check("a=0.9", &hinted(anywhere(6_000, 3), 256, (24, 0.0), 16, Some(135_000)));
    check("single, a=0.8", &hinted(anywhere(6_000, 1), 256, (21, 0.0), 8, Some(120_000)));
}

fn fingerprint(
    levels: Levels,
    slots: u32,
    lists: u32,
    bits: u32,
    hints: u32,
) -> FingerprintMachine {
    FingerprintMachine {
        keys: 50_000,
        slots,
        lists,
        remainder_bits: bits,
        hints,
        levels,
        multiset: false,
        access_budget: None,
    }
}

/// Small filters, so that all misses can be looked up; many of them instead.
const FILTERS: u64 = 16;

/// As a set and as a multiset.
fn check_both(name: &str, machine: &FingerprintMachine) {
    for multiset in [false, true] {
        if multiset && machine.hints == 0 {
            continue;
        }
        let machine = FingerprintMachine { multiset, ..machine.clone() };
        check_one(&format!("{name}, multiset: {multiset}"), &machine);
    }
}

fn check_one(name: &str, machine: &FingerprintMachine) {
    let model = machine.predict().unwrap();
    let runs: Vec<Measured> =
        (0..FILTERS).map(|seed| FingerprintFilter::new(machine, seed).run()).collect();
    compare(name, &model, machine.keys, &sizes(&machine.levels), &runs);
}

#[test]
fn subtables_of_fingerprints_measure_what_the_model_says() {
    let three = || Levels::Subtables(vec![1_000, 120, 15]);
    check_both("w=0", &fingerprint(three(), 48, 32, 5, 0));
    check_both("w=1", &fingerprint(three(), 48, 32, 5, 1));
    check_both("w=16", &fingerprint(three(), 48, 48, 6, 16));
    check_both("w=64", &fingerprint(three(), 48, 48, 5, 64));
    check_both("few", &fingerprint(Levels::Subtables(vec![3_000, 600]), 16, 16, 6, 8));
}

#[test]
fn crowded_and_coarse_fingerprints_measure_what_the_model_says() {
    let three = || Levels::Subtables(vec![1_000, 120, 15]);
    check_both("overfull", &fingerprint(three(), 41, 32, 6, 16));
    // So few values that equal ones are common. Of multisets, which send equal ones on together, the model
    // says too much then: 0.7 % at M = 2048, 1.8 % at M = 256.
    check_one("M=512", &fingerprint(three(), 41, 64, 3, 16));
    check_one("M=64", &fingerprint(Levels::Subtables(vec![1_500, 300]), 25, 16, 2, 16));
}

#[test]
fn tables_of_fingerprints_measure_what_the_model_says() {
    check_both("single", &fingerprint(anywhere(1_000, 1), 54, 64, 6, 10));
    check_both("sequential", &fingerprint(anywhere(1_050, 3), 51, 64, 6, 16));
    check_both("sequential, w=0", &fingerprint(anywhere(1_050, 2), 54, 32, 5, 0));
    let budget = FingerprintMachine {
        access_budget: Some(49_000),
        ..fingerprint(anywhere(1_000, 3), 52, 64, 6, 16)
    };
    check_both("sequential, a=0.98", &budget);
}

#[test]
fn more_hints_spare_more_accesses_and_none_is_the_rule_of_the_papers() {
    let levels = || Levels::Subtables(vec![5_400, 900, 150]);
    let misses = [0, 1, 2, 8, 64].map(|hints| {
        // The same data bits, so that nothing else differs.
        let machine = Machine { data_bits: 180, ..hinted(levels(), 256, (25, 0.0), hints, None) };
        machine.predict().unwrap()
    });
    for pair in misses.windows(2) {
        assert!(pair[1].accesses_miss < pair[0].accesses_miss && pair[1].rate < pair[0].rate);
        assert!((pair[1].accesses_insert - pair[0].accesses_insert).abs() < 1e-12);
    }
    // A full block turns somebody away sooner or later: one hint is not much more than the load.
    assert!(misses[0].accesses_miss - misses[1].accesses_miss < 0.2);
    assert!(misses[4].accesses_miss < 1.1);
}

#[test]
fn with_long_fingerprints_sets_and_multisets_are_the_same() {
    let levels = Levels::Subtables(vec![3_000, 600]);
    let set = fingerprint(levels, 15, 10, 30, 8);
    let one = set.predict().unwrap();
    let other = FingerprintMachine { multiset: true, ..set }.predict().unwrap();
    assert!((one.rate / other.rate - 1.0).abs() < 1e-6);
    assert!((one.accesses_miss - other.accesses_miss).abs() < 1e-6);
    // Each of the first level's keys is one of its fingerprints, and few strangers go further.
    let first = 50_000.0 / 3_000.0 / (10.0 * 2.0_f64.powi(30));
    assert!((1.0..1.6).contains(&(one.rate / first)), "{}", one.rate);
}

#[test]
fn impossible_blocks_are_refused_and_extreme_ones_answered() {
    let good = fingerprint(anywhere(10, 3), 48, 64, 8, 16);
    good.predict().unwrap();
    for bad in [
        FingerprintMachine { slots: 0, ..good.clone() },
        FingerprintMachine { slots: 49, ..good.clone() },
        FingerprintMachine { lists: 0, ..good.clone() },
        FingerprintMachine { lists: 65, ..good.clone() },
        FingerprintMachine { remainder_bits: 49, ..good.clone() },
        FingerprintMachine { hints: 65, ..good.clone() },
        FingerprintMachine { hints: 0, multiset: true, ..good.clone() },
        FingerprintMachine { keys: u64::MAX, ..good.clone() },
        FingerprintMachine { levels: Levels::Subtables(vec![]), ..good.clone() },
    ] {
        assert!(bad.predict().is_err(), "{bad:?}");
    }
    for keys in [0, 1, 1_000, 100_000_000, 1 << 53] {
        for levels in [anywhere(10, 1), anywhere(10, 3), Levels::Subtables(vec![1, 7, 1])] {
            for (slots, lists, remainder_bits) in [(1, 1, 1), (48, 64, 8), (8, 6, 48)] {
                for (hints, multiset) in [(0, false), (1, true), (16, true)] {
                    for access_budget in [None, Some(0), Some(500)] {
                        let levels = levels.clone();
                        let machine = FingerprintMachine {
                            keys,
                            slots,
                            lists,
                            remainder_bits,
                            hints,
                            levels,
                            multiset,
                            access_budget,
                        };
                        let p = machine.predict().unwrap();
                        assert!((0.0..=1.0 + 1e-9).contains(&p.rate), "{machine:?}: {p:?}");
                        assert!((0.0..=1.0 + 1e-9).contains(&p.overflow_fraction), "{machine:?}");
                        assert!(p.accesses_insert.is_finite() && p.rate_deviation.is_finite());
                        assert!(p.accesses_miss >= 1.0 - 1e-9 && p.accesses_miss <= 3.0 + 1e-9);
                    }
                }
            }
        }
    }
}
