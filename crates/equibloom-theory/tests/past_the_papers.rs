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
    // says less than 1 % too much then.
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
