use equibloom_layout::{Proportions, Rule, Share};

use super::{State, closed_form, trace};
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
            for state in trace(&candidates, rule, load, &TIMES).unwrap() {
                let closed = closed_form(&candidates, rule, load, state.time).unwrap().unwrap();
                agree(&state, &closed);
            }
        }
    }
}

#[test]
fn optimal_parameters_use_up_accesses_and_overflow_exactly() {
    let optimum = optimum::multi_level(8.0, 1.2, 3, None).unwrap();
    let end = trace(&optimum.candidates, optimum.rule(), 8.0, &[1.0]).unwrap().remove(0);
    assert!((end.accesses - 1.2).abs() < 1e-9);
    assert!((end.overflow - optimum.overflow).abs() < 1e-9);
    // Theorem 5: all subtables end with the distribution of the lower bound.
    let bound = crate::lower_bound::lower_bound(8.0, 1.2, optimum.overflow).unwrap();
    for table in &end.loads {
        for (fraction, bound) in table.iter().zip(&bound.distribution) {
            assert!((fraction - bound).abs() < 1e-9);
        }
    }
}

#[test]
fn erratum_11_the_sequential_overflow_needs_no_differential_equation() {
    for (load, accesses, choices) in [(8.0, 1.2, 3), (0.7, 1.5, 2), (64.0, 1.1, 4)] {
        let optimum = optimum::sequential(load, accesses, choices, None).unwrap();
        let end = trace(&optimum.candidates, optimum.rule(), load, &[1.0]).unwrap().remove(0);
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
    let states = trace(&Proportions::anywhere(1), rule, load, &[0.3, 0.3 + step]).unwrap();
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
        let end = trace(&candidates, Rule::LeastLoaded, 25.0, &[1.0]).unwrap().remove(0);
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
    assert!(trace(&some(0.5), rule, 8.0, &[0.5, 0.4]).is_err());
    assert!(trace(&some(0.5), rule, 8.0, &[1.5]).is_err());
    assert!(trace(&some(0.5), rule, f64::NAN, &[1.0]).is_err());
    assert!(closed_form(&some(0.5), rule, 8.0, 1.0).unwrap().is_none());
    // Combinations that no filter has either.
    assert!(trace(&some(0.5), Rule::below(9), 8.0, &[1.0]).is_err());
    assert!(trace(&Proportions::anywhere(0), rule, 8.0, &[1.0]).is_err());
    let odd = Proportions::subtables(&[0.9, f64::NAN]).unwrap();
    assert!(closed_form(&odd, Rule::below(9), 8.0, 1.0).is_err());
    assert!(trace(&Proportions::anywhere(2), Rule::below(50_000), 8.0, &[1.0]).is_err());
}
