use equibloom_layout::{Proportions, Rule, Share};

use super::{Process, State};
use crate::lower_bound::lower_bound;
use crate::optimum;

fn agree(ode: &State, closed: &State) {
    let near = |a: f64, b: f64| {
        assert!((a - b).abs() < 1e-9 + 1e-8 * b.abs(), "at {}: {a} is not {b}", ode.time);
    };
    near(ode.accesses, closed.accesses);
    near(ode.overflow, closed.overflow);
    assert_eq!(ode.loads.len(), closed.loads.len());
    for (ode, closed) in ode.loads.iter().zip(&closed.loads) {
        for load in 0..ode.len().max(closed.len()) {
            let at = |loads: &[f64]| loads.get(load).copied().unwrap_or(0.0);
            near(at(ode), at(closed));
        }
    }
}

const TIMES: [f64; 4] = [0.1, 0.5, 0.9, 1.0];

fn some(alpha: f64) -> Proportions {
    Proportions::Anywhere { choices: 2, share: Share::clamped(alpha) }
}

#[test]
fn differential_equations_and_closed_forms_agree() {
    for load in [0.5_f64, 2.5, 8.0, 32.0, 200.0] {
        let below = load.ceil() as u32;
        let with_coin = |coin| Rule::FirstWithRoom { below, coin: Share::new(coin).unwrap() };
        let subtables = Proportions::subtables(&[0.6, 0.3, 0.1]).unwrap();
        let mut cases = vec![(some(0.0), Rule::LeastLoaded)];
        for rule in [0.0, 0.4, 1.0].map(with_coin) {
            let tables = [Proportions::anywhere(1), Proportions::anywhere(3), subtables];
            cases.extend(tables.map(|candidates| (candidates, rule)));
        }
        for (candidates, rule) in cases {
            let process = Process::new(candidates, rule, load);
            for state in process.trace(&TIMES).unwrap() {
                let closed = process.closed_form(state.time).unwrap().unwrap();
                agree(&state, &closed);
            }
        }
    }
}

#[test]
fn optimal_parameters_use_up_accesses_and_overflow_exactly() {
    let optimum = optimum::multi_level(8.0, 1.2, 3, None).unwrap();
    let end =
        Process::new(optimum.candidates, optimum.rule(), 8.0).trace(&[1.0]).unwrap().remove(0);
    assert!((end.accesses - 1.2).abs() < 1e-9);
    assert!((end.overflow - optimum.overflow).abs() < 1e-9);
    // Theorem 5: all subtables end with the distribution of the lower bound.
    let bound = lower_bound(8.0, 1.2, optimum.overflow).unwrap();
    for table in &end.loads {
        for (fraction, bound) in table.iter().zip(&bound.distribution) {
            assert!((fraction - bound).abs() < 1e-9);
        }
    }
}

/// Theorems 4 to 6 above the least overflow: placing stops when a·n accesses are spent.
#[test]
fn above_the_least_overflow_the_budget_gives_the_lower_bound() {
    for (load, accesses, choices) in [(7.0, 1.17, 3), (12.0, 1.33, 4), (8.0, 1.1, 3), (0.7, 1.5, 2)]
    {
        for scheme in [optimum::sequential, optimum::multi_level] {
            let least = scheme(load, accesses, choices, None).unwrap().overflow;
            for overflow in [least, 1.01 * least, 2.0 * least, least + 0.02] {
                let optimum = scheme(load, accesses, choices, Some(overflow)).unwrap();
                let process = optimum.process(load);
                let bound = lower_bound(load, accesses, overflow).unwrap().distribution;
                let traced = process.trace(&[0.5, 1.0]).unwrap().remove(1);
                for end in [traced, process.end().unwrap()] {
                    assert!((end.accesses - accesses).abs() < 1e-8, "{process:?}");
                    assert!((end.overflow - overflow).abs() < 1e-8, "{process:?}");
                    assert_eq!(end.late > 1e-7, overflow > least, "{process:?}");
                    for (share, bound) in
                        end.loads.iter().flat_map(|table| table.iter().zip(&bound))
                    {
                        assert!((share - bound).abs() < 1e-7, "{process:?}");
                    }
                }
            }
            assert!(scheme(load, accesses, choices, Some(0.9 * least)).is_err());
        }
    }
}

#[test]
fn erratum_11_the_sequential_overflow_needs_no_differential_equation() {
    for (load, accesses, choices) in [(8.0, 1.2, 3), (0.7, 1.5, 2), (64.0, 1.1, 4)] {
        let optimum = optimum::sequential(load, accesses, choices, None).unwrap();
        let end =
            Process::new(optimum.candidates, optimum.rule(), load).trace(&[1.0]).unwrap().remove(0);
        assert!((end.accesses - accesses).abs() < 1e-8);
        assert!((end.overflow / optimum.overflow - 1.0).abs() < 1e-7);
    }
}

#[test]
fn erratum_1_mass_is_conserved_with_f_h_in_the_row_above_the_threshold() {
    // f_{h+1}' = r·p·f_h: everything that leaves row h arrives. As printed, with f_{h−1}, the rows would
    // add up to something else.
    let (load, threshold, probability) = (2.5, 2, 0.5);
    let rule = Rule::FirstWithRoom { below: threshold, coin: Share::new(probability).unwrap() };
    let step = 1e-5;
    let states =
        Process::new(Proportions::anywhere(1), rule, load).trace(&[0.3, 0.3 + step]).unwrap();
    let [before, after] = [&states[0].loads[0], &states[1].loads[0]];
    assert!((before.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let slope = (after[3] - before[3]) / step;
    let ours = load * probability * before[2];
    let printed = load * probability * before[1];
    assert!((slope / ours - 1.0).abs() < 1e-4);
    assert!((slope / printed - 1.0).abs() > 0.1);
}

#[test]
fn more_choices_keep_mass_and_mean_and_narrow_the_distribution() {
    let spread = |candidates: Proportions| {
        let end =
            Process::new(candidates, Rule::LeastLoaded, 25.0).trace(&[1.0]).unwrap().remove(0);
        let loads = &end.loads[0];
        let mean: f64 = loads.iter().enumerate().map(|(i, p)| i as f64 * p).sum();
        assert!((loads.iter().sum::<f64>() - 1.0).abs() < 1e-10);
        assert!((mean - 25.0).abs() < 1e-8);
        let variance: f64 =
            loads.iter().enumerate().map(|(i, p)| (i as f64 - mean).powi(2) * p).sum();
        (end.accesses, variance)
    };
    let cases = [some(0.0), some(0.3), some(1.0), Proportions::anywhere(3)];
    let [(one, of_one), (some, of_some), (two, of_two), (three, of_three)] = cases.map(spread);
    for (accesses, expected) in [(one, 1.0), (some, 1.3), (two, 2.0), (three, 3.0)] {
        assert!((accesses - expected).abs() < 1e-9, "{accesses}");
    }
    assert!((of_one - 25.0).abs() < 1e-6);
    assert!(of_three < of_two && of_two < 2.0 && of_two < of_some && of_some < 10.0);
}

#[test]
fn times_and_parameters_out_of_range_are_refused() {
    let rule = Rule::LeastLoaded;
    assert!(Process::new(some(0.5), rule, 8.0).trace(&[0.5, 0.4]).is_err());
    assert!(Process::new(some(0.5), rule, 8.0).trace(&[1.5]).is_err());
    assert!(Process::new(some(0.5), rule, f64::NAN).trace(&[1.0]).is_err());
    assert!(Process::new(some(0.5), rule, 8.0).closed_form(1.0).unwrap().is_none());
    // Combinations that no filter has either.
    assert!(Process::new(some(0.5), Rule::below(9), 8.0).trace(&[1.0]).is_err());
    assert!(Process::new(Proportions::anywhere(0), rule, 8.0).trace(&[1.0]).is_err());
    // Budgets that place nothing, and a rule without overflow.
    for budget in [0.9, f64::NAN, f64::INFINITY] {
        let process = Process::new(Proportions::anywhere(2), Rule::below(9), 8.0);
        let error = Process { budget: Some(budget), ..process }.end().unwrap_err().to_string();
        assert!(error.contains("at least 1"), "{error}");
    }
    let budget = Some(1.5);
    assert!(Process { budget, ..Process::new(some(0.5), rule, 8.0) }.end().is_err());
    let shares = Proportions::subtables(&[0.9, 0.2]).unwrap();
    let error = Process::new(shares, Rule::below(9), 8.0).end().unwrap_err().to_string();
    assert!(error.contains("1.1") && error.contains("1 in all"), "{error}");
    let odd = Proportions::subtables(&[0.9, f64::NAN]).unwrap();
    assert!(Process::new(odd, Rule::below(9), 8.0).closed_form(1.0).is_err());
    assert!(
        Process::new(Proportions::anywhere(2), Rule::below(50_000), 8.0).trace(&[1.0]).is_err()
    );
}
