use equibloom_layout::{PerSubtable, Proportions};

use super::{Optimum, multi_level, sequential, share_above, share_at, single};
use crate::Error;
use crate::lower_bound::lower_bound;
use crate::poisson::Weights;

fn subtables(optimum: &Optimum) -> PerSubtable<f64> {
    match optimum.candidates {
        Proportions::Subtables { shares } => shares,
        Proportions::Anywhere { .. } => panic!("one table"),
    }
}

fn percent(value: f64, published: f64, last_digit: f64) {
    assert!((100.0 * value - published).abs() <= 0.51 * last_digit, "{value} is not {published} %");
}

#[test]
fn published_least_overflows_of_three_choices_are_met() {
    for (accesses, multi, sequent) in [
        (1.05, 0.01087, 0.1161),
        (1.1, 0.07688, 0.5874),
        (1.15, 0.23239, 1.5192),
        (1.2, 0.49845, 2.6211),
    ] {
        percent(multi_level(8.0, accesses, 3, None).unwrap().overflow, multi, 1e-5);
        percent(sequential(8.0, accesses, 3, None).unwrap().overflow, sequent, 1e-4);
    }
}

#[test]
fn erratum_4_the_region_of_multi_level_does_not_depend_on_the_load() {
    let at = |load| multi_level(load, 1.2, 3, None).unwrap();
    let (light, heavy) = (at(0.7), at(180.0));
    assert_eq!(light.overflow, heavy.overflow);
    assert_eq!(light.candidates, heavy.candidates);
    // Theorem 5 takes the factor from the single-choice scheme with a·n elements.
    let rho = subtables(&heavy)[1] / subtables(&heavy)[0];
    let away = {
        let attempts = Weights::new(1.2 * 180.0);
        let h = heavy.threshold as usize;
        let stored: f64 =
            attempts.iter().take_while(|&(j, _)| j < h).map(|(j, m)| j as f64 * m).sum::<f64>()
                + h as f64 * share_at(&attempts, h, heavy.probability)
                + (h + 1) as f64 * share_above(&attempts, h, heavy.probability);
        1.0 - stored / (1.2 * 180.0)
    };
    assert!((rho - away).abs() < 1e-12, "{rho} {away}");
}

#[test]
fn erratum_3_the_coin_equation_holds_up_to_p_one() {
    // The printed equation, in the only regime where it keeps its digits, and beyond it.
    for overflow in [0.01, 0.05, 0.2] {
        let optimum = single(8.0, overflow).unwrap();
        let (h, p) = (optimum.threshold, optimum.probability);
        let bound = lower_bound(8.0, 1.0, overflow).unwrap();
        let mut term = 1.0;
        let mut sum = 0.0;
        for i in 0..h {
            sum += term;
            term *= 8.0 * (1.0 - p) / f64::from(i + 1);
        }
        let printed = ((-p * 8.0).exp() - (-8.0_f64).exp() * sum) / (1.0 - p).powi(h as i32);
        let wanted = bound.distribution[h as usize];
        if p < 0.6 {
            assert!((printed / wanted - 1.0).abs() < 1e-9, "{printed} {wanted}");
        }
        let ours = share_at(&Weights::new(8.0), h as usize, p);
        assert!((ours / wanted - 1.0).abs() < 1e-12);
    }
    let attempts = Weights::new(8.0);
    assert_eq!(share_at(&attempts, 12, 1.0), attempts.mass[12]);
    assert!((share_at(&attempts, 12, 1.0 - 1e-9) / attempts.mass[12] - 1.0).abs() < 1e-9);
}

#[test]
fn the_schemes_reach_the_lower_bound_everywhere_in_the_region() {
    for load in [0.5, 3.0, 8.0, 33.3, 200.0] {
        for (accesses, choices) in [(1.0, 1), (1.05, 2), (1.2, 3), (2.0, 3), (3.0, 8)] {
            for extra in [0.0, 0.003, 0.1] {
                let least = multi_level(load, accesses, choices, Some(0.999)).unwrap().overflow;
                assert_eq!(least, 0.999);
                let overflow = match multi_level(load, accesses, choices, None) {
                    Ok(optimum) => optimum.overflow + extra,
                    Err(Error::InfiniteThreshold { .. }) => 0.001 + extra,
                    Err(other) => panic!("{other}"),
                };
                let optimum = multi_level(load, accesses, choices, Some(overflow)).unwrap();
                let attempts = Weights::new(accesses * load);
                let bound = lower_bound(load, accesses, overflow).unwrap();
                let h = optimum.threshold as usize;
                let at = share_at(&attempts, h, optimum.probability);
                let above = share_above(&attempts, h, optimum.probability);
                assert!((at - bound.distribution[h]).abs() < 1e-12);
                assert!((above - bound.distribution[h + 1]).abs() < 1e-12);
                assert!((subtables(&optimum).iter().sum::<f64>() - 1.0).abs() < 1e-14);
            }
        }
    }
}

#[test]
fn points_outside_the_region_are_refused_with_the_nearest_feasible_values() {
    let refusal = multi_level(8.0, 1.2, 3, Some(0.001)).unwrap_err();
    let Error::OutsideOptimalityRegion { least_overflow, most_accesses, .. } = refusal else {
        panic!("{refusal}");
    };
    assert!((least_overflow - 0.0049845).abs() < 1e-7);
    assert!((multi_level(8.0, most_accesses, 3, None).unwrap().overflow - 0.001).abs() < 1e-12);
    let refusal = sequential(8.0, 1.2, 3, Some(0.01)).unwrap_err();
    let Error::OutsideOptimalityRegion { most_accesses, .. } = refusal else {
        panic!("{refusal}");
    };
    assert!((sequential(8.0, most_accesses, 3, None).unwrap().overflow - 0.01).abs() < 1e-9);
}

#[test]
fn arguments_outside_the_domain_are_refused() {
    assert!(matches!(single(8.0, 0.0), Err(Error::InfiniteThreshold { .. })));
    assert!(matches!(multi_level(8.0, 1.0, 3, None), Err(Error::InfiniteThreshold { .. })));
    for refused in [
        multi_level(8.0, 3.0, 3, None),
        multi_level(8.0, 1.2, 0, None),
        multi_level(8.0, 0.5, 3, None),
        sequential(8.0, f64::NAN, 3, None),
        sequential(-1.0, 1.2, 3, None),
        sequential(8.0, 1.2, 3, Some(f64::NAN)),
        sequential(8.0, 1.2, 1, None),
    ] {
        assert!(matches!(refused, Err(Error::OutOfRange { .. })), "{refused:?}");
    }
}
