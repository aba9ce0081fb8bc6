use super::{Scheme, State, Tables, closed_form, trace};
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

#[test]
fn differential_equations_and_closed_forms_agree() {
    for load in [0.5_f64, 2.5, 8.0, 32.0, 200.0] {
        for probability in [0.0, 0.4, 1.0] {
            for tables in [
                Tables::Shared { choices: 1 },
                Tables::Shared { choices: 3 },
                Tables::Subtables(vec![0.6, 0.3, 0.1]),
            ] {
                let threshold = load.ceil() as u32;
                let scheme = Scheme::Threshold { threshold, probability, tables };
                for state in trace(&scheme, load, &TIMES).unwrap() {
                    agree(&state, &closed_form(&scheme, load, state.time).unwrap().unwrap());
                }
            }
        }
        let scheme = Scheme::LessLoaded { second_choice: 0.0 };
        for state in trace(&scheme, load, &TIMES).unwrap() {
            agree(&state, &closed_form(&scheme, load, state.time).unwrap().unwrap());
        }
    }
}

#[test]
fn optimal_parameters_use_up_accesses_and_overflow_exactly() {
    let optimum = optimum::multi_level(8.0, 1.2, 3, None).unwrap();
    let scheme = Scheme::Threshold {
        threshold: optimum.threshold,
        probability: optimum.probability,
        tables: Tables::Subtables(optimum.subtables.clone()),
    };
    let end = trace(&scheme, 8.0, &[1.0]).unwrap().remove(0);
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
        let scheme = Scheme::Threshold {
            threshold: optimum.threshold,
            probability: optimum.probability,
            tables: Tables::Shared { choices },
        };
        let end = trace(&scheme, load, &[1.0]).unwrap().remove(0);
        assert!((end.accesses - accesses).abs() < 1e-8);
        assert!((end.overflow / optimum.overflow - 1.0).abs() < 1e-7);
    }
}

#[test]
fn erratum_1_mass_is_conserved_with_f_h_in_the_row_above_the_threshold() {
    // f_{h+1}' = r·p·f_h: everything that leaves row h arrives. As printed, with f_{h−1}, the rows would
    // add up to something else.
    let (load, threshold, probability) = (2.5, 2, 0.5);
    let tables = Tables::Shared { choices: 1 };
    let scheme = Scheme::Threshold { threshold, probability, tables };
    let step = 1e-5;
    let states = trace(&scheme, load, &[0.3, 0.3 + step]).unwrap();
    let [before, after] = [&states[0].loads[0], &states[1].loads[0]];
    assert!((before.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let slope = (after[3] - before[3]) / step;
    let ours = load * probability * before[2];
    let printed = load * probability * before[1];
    assert!((slope / ours - 1.0).abs() < 1e-4);
    assert!((slope / printed - 1.0).abs() > 0.1);
}

#[test]
fn power_of_two_keeps_mass_and_mean_and_narrows_the_distribution() {
    let spread = |second_choice| {
        let end = trace(&Scheme::LessLoaded { second_choice }, 25.0, &[1.0]).unwrap().remove(0);
        let loads = &end.loads[0];
        let mean: f64 = loads.iter().enumerate().map(|(i, p)| i as f64 * p).sum();
        assert!((loads.iter().sum::<f64>() - 1.0).abs() < 1e-10);
        assert!((mean - 25.0).abs() < 1e-8);
        assert!((end.accesses - 1.0 - second_choice).abs() < 1e-10);
        loads.iter().enumerate().map(|(i, p)| (i as f64 - mean).powi(2) * p).sum::<f64>()
    };
    let (one, some, two) = (spread(0.0), spread(0.3), spread(1.0));
    assert!((one - 25.0).abs() < 1e-6);
    assert!(two < 2.0 && two < some && some < 10.0, "{some} {two}");
}

#[test]
fn times_and_parameters_outside_their_range_are_refused() {
    let scheme = Scheme::LessLoaded { second_choice: 0.5 };
    assert!(trace(&scheme, 8.0, &[0.5, 0.4]).is_err());
    assert!(trace(&scheme, 8.0, &[1.5]).is_err());
    assert!(trace(&scheme, f64::NAN, &[1.0]).is_err());
    assert!(trace(&Scheme::LessLoaded { second_choice: -0.5 }, 8.0, &[1.0]).is_err());
    assert!(closed_form(&scheme, 8.0, 1.0).unwrap().is_none());
}
