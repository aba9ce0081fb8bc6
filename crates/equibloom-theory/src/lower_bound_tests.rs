use super::{HashDistribution, costs, lower_bound, lower_bound_of_distributions};
use crate::Error;

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance * expected.abs(), "{value} is not {expected}");
}

#[test]
fn published_distributions_at_load_8_are_met() {
    let bound = lower_bound(8.0, 1.1, 0.0).unwrap();
    assert_eq!(bound.k0, Some(9));
    assert!((bound.distribution[9] - 0.238134).abs() < 5e-7);
    assert!((bound.distribution[10] - 0.279585).abs() < 5e-7);
    let bound = lower_bound(8.0, 1.2, 0.0).unwrap();
    assert_eq!(bound.k0, Some(8));
    assert!((bound.distribution[8] - 0.185636).abs() < 5e-7);
    assert!((bound.distribution[9] - 0.555935).abs() < 5e-7);
}

#[test]
fn one_access_and_no_overflow_give_an_infinite_k0_and_the_poisson_distribution() {
    let bound = lower_bound(8.0, 1.0, 0.0).unwrap();
    assert_eq!(bound.k0, None);
    assert_eq!(bound.max_load(), None);
    near(bound.distribution[0], (-8.0_f64).exp(), 1e-14);
    near(bound.distribution.iter().sum(), 1.0, 1e-14);
    near(bound.mean_load(), 8.0, 1e-14);
}

#[test]
fn a_k0_of_zero_is_well_defined() {
    // r(1−γ) ≤ Pr{X ≥ 1}: k0 = 0.
    let bound = lower_bound(0.5, 3.0, 0.0).unwrap();
    assert_eq!(bound.k0, Some(0));
    assert_eq!(bound.e0, 0.0);
    near(bound.distribution[0], 0.5, 1e-14);
    near(bound.distribution[1], 0.5, 1e-14);
}

#[test]
fn every_bound_is_a_distribution_with_the_required_mean() {
    for load in [0.5, 1.0, 3.7, 8.0, 64.0, 200.0, 4096.0] {
        for accesses in [1.0, 1.0001, 1.05, 1.2, 2.0, 3.0] {
            for overflow in [0.0, 1e-9, 0.005, 0.1, 0.3, 0.9] {
                let bound = lower_bound(load, accesses, overflow).unwrap();
                near(bound.distribution.iter().sum(), 1.0, 1e-12);
                near(bound.mean_load(), load * (1.0 - overflow), 1e-12);
                assert!(bound.distribution.iter().all(|mass| (0.0..=1.0).contains(mass)));
            }
        }
    }
}

#[test]
fn predefined_costs_have_their_meaning() {
    let bound = lower_bound(8.0, 1.2, 0.1).unwrap();
    near(bound.cost(f64::from).unwrap(), 7.2, 1e-13);
    let mean = bound.mean_load();
    let direct: f64 =
        bound.distribution.iter().enumerate().map(|(i, p)| (i as f64 - mean).powi(2) * p).sum();
    near(bound.cost(costs::variance(mean)).unwrap(), direct, 1e-12);
    let power = 3000;
    let norm = bound.cost(|load| (f64::from(load) / 8.0).powi(power)).unwrap();
    near(norm.powf(1.0 / f64::from(power)) * 8.0, f64::from(bound.max_load().unwrap()), 1e-3);
}

#[test]
fn erratum_2_the_block_rate_is_convex_only_below_b_over_k_times_ln_k() {
    // B/k · ln k = 8.6 with B = 64, k = 20.
    let rate = costs::bloom_block(64.0, 20);
    let light = lower_bound(3.0, 2.0, 0.0).unwrap();
    assert!(light.cost(&rate).is_ok());
    let heavy = lower_bound(14.0, 1.2, 0.0).unwrap();
    let refusal = heavy.cost(&rate).unwrap_err();
    assert!(
        matches!(refusal, Error::UnfitCost { property: "convex", load: 7..=9, .. }),
        "{refusal}"
    );
}

#[test]
fn costs_that_decrease_or_are_no_numbers_are_refused() {
    let bound = lower_bound(8.0, 1.2, 0.0).unwrap();
    let refusal = bound.cost(|load| -f64::from(load)).unwrap_err();
    assert!(matches!(refusal, Error::UnfitCost { property: "non-decreasing", .. }));
    let refusal = bound.cost(|_| f64::NAN).unwrap_err();
    assert!(matches!(refusal, Error::UnfitCost { property: "finite", .. }));
}

#[test]
fn points_outside_the_domain_are_refused_by_name() {
    for (load, accesses, overflow, argument) in [
        (0.0, 1.2, 0.0, "load"),
        (f64::NAN, 1.2, 0.0, "load"),
        (8.0, 0.9, 0.05, "accesses"),
        (8.0, f64::INFINITY, 0.0, "accesses"),
        (8.0, 1.2, 1.0, "overflow"),
        (8.0, 1.2, -0.1, "overflow"),
    ] {
        let text = lower_bound(load, accesses, overflow).unwrap_err().to_string();
        assert!(text.starts_with(argument), "{text}");
    }
}

/// Theorem 2 with multi-level's own distributions: each subtable's hash function is uniform on its buckets, and the share of
/// accesses that a subtable gets is its share of the buckets.
#[test]
fn theorem_2_gives_the_bound_for_mixtures_that_are_uniform_and_names_the_odd_bucket() {
    let sizes = [40_usize, 8, 2];
    let starts = [0, 40, 48];
    let distribution = |table: usize| -> Vec<f64> {
        let within = starts[table]..starts[table] + sizes[table];
        (0..50).map(|i| if within.contains(&i) { 1.0 / sizes[table] as f64 } else { 0.0 }).collect()
    };
    let tables = [0, 1, 2].map(distribution);
    let of = |shares: [f64; 3]| {
        let pairs = [0, 1, 2].map(|p| HashDistribution { share: shares[p], buckets: &tables[p] });
        lower_bound_of_distributions(8.0, 1.2, 0.005, &pairs)
    };
    assert_eq!(of([0.8, 0.16, 0.04]), lower_bound(8.0, 1.2, 0.005));
    let refused = |shares, words: [&str; 2]| {
        let error = of(shares).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    refused([0.7, 0.26, 0.04], ["0.0174", "bucket 0"]);
    refused([0.8, 0.15, 0.05], ["0.0187", "bucket 40"]);
    refused([0.8, 0.1, 0.04], ["sum of the shares is 0.94", "1"]);
    refused([f64::NAN, 0.16, 0.04], ["NaN", "between 0 and 1"]);
    let bad = |buckets: &[f64]| {
        let pairs = [HashDistribution { share: 1.0, buckets }];
        lower_bound_of_distributions(8.0, 1.2, 0.0, &pairs).unwrap_err().to_string()
    };
    assert!(bad(&[]).contains("at least 1"));
    assert!(bad(&[0.5, 0.4]).contains("sum of the probabilities is 0.9"));
    assert!(bad(&[1.5, -0.5]).contains("1.5"));
    let ones = [1.0];
    let pairs = [HashDistribution { share: 1.0, buckets: &ones }];
    assert!(lower_bound_of_distributions(8.0, 1.2, 1.5, &pairs).is_err());
    assert!(lower_bound_of_distributions(8.0, 0.5, 0.0, &pairs).is_err());
}
