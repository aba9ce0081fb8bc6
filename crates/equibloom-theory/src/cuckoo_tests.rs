use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

fn random_graph(
    elements: u64,
    buckets: u64,
    random: &mut Xoshiro256PlusPlus,
) -> impl Iterator<Item = [u64; 2]> {
    (0..elements).map(move |_| [random.random_range(0..buckets), random.random_range(0..buckets)])
}

/// The slides' example: the component of 6 has more than one cycle, once 6 is there.
#[test]
fn the_slides_graph_fits_until_6_comes() {
    let keys = [20, 50, 53, 75, 100, 67, 105, 3, 36, 39, 6_u64];
    let edges = keys.map(|key| [key % 11, key / 11 % 11]);
    let without_6 = components(edges[..10].to_vec(), 11).unwrap();
    assert!(without_6.iter().all(|component| component.excess() == 0));
    let with_6 = components(edges, 11).unwrap();
    assert_eq!(with_6[0].excess(), 1);
    assert_eq!(with_6[0].cycles(), 2);
    assert_eq!(with_6.iter().map(|component| component.edges).sum::<u64>(), 11);
    assert_eq!(with_6.iter().map(|component| component.nodes.len()).sum::<usize>(), 22);
}

/// The slides' bound 1 + 1/ε is the limit: measured within 4σ + 1 %, over graphs of 2 · 20,000 nodes.
#[test]
fn the_component_of_a_bucket_has_1_plus_1_over_epsilon_nodes() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for epsilon in [4.0, 1.0, 0.25] {
        let (buckets, graphs) = (20_000, 20);
        let elements = (buckets as f64 / (1.0 + epsilon)) as u64;
        let means: Vec<f64> = (0..graphs)
            .map(|_| {
                let found =
                    components(random_graph(elements, buckets, &mut random), buckets).unwrap();
                let squares: usize = found.iter().map(|c| c.nodes.len() * c.nodes.len()).sum();
                squares as f64 / (2 * buckets) as f64
            })
            .collect();
        let mean = means.iter().sum::<f64>() / graphs as f64;
        let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (graphs - 1) as f64;
        let expected = component_size(0.5 / (1.0 + epsilon)).unwrap();
        assert!((expected - (1.0 + 1.0 / epsilon)).abs() < 1e-12);
        let allowed = 4.0 * (variance / graphs as f64).sqrt() + 0.01 * expected;
        assert!((mean - expected).abs() <= allowed, "{epsilon}: {mean}, not {expected}");
    }
}

/// The exact integral, against 20,000 random graphs each.
#[test]
fn a_second_cycle_is_as_likely_as_the_model_says() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    for (load, buckets) in [
        (0.25, 60),
        (0.35, 100),
        (0.4, 100),
        (0.45, 10),
        (0.45, 300),
        (0.475, 100),
        (0.49, 100),
        (0.499, 20),
        (0.499, 500),
    ] {
        let graphs = 20_000;
        let elements = (2.0 * load * buckets as f64).round() as u64;
        let failed = (0..graphs)
            .filter(|_| {
                components(random_graph(elements, buckets, &mut random), buckets)
                    .unwrap()
                    .iter()
                    .any(|component| component.excess() > 0)
            })
            .count();
        let expected = rehash_probability(load, buckets).unwrap();
        let measured = failed as f64 / f64::from(graphs);
        let sigma = (expected * (1.0 - expected) / f64::from(graphs)).sqrt();
        let allowed = 4.0 * sigma + 0.01 * expected;
        assert!(
            (measured - expected).abs() <= allowed,
            "{load}, {buckets}: {measured}, not {expected}, σ {sigma}"
        );
    }
}

/// Three edges have a second cycle if they are all the same; below three there is none.
#[test]
fn few_elements_are_exact() {
    for buckets in [4, 5, 8, 20_u64] {
        let load = |elements: f64| elements / (2 * buckets) as f64;
        let expected = (buckets as f64).powi(-4);
        let found = rehash_probability(load(3.0), buckets).unwrap();
        assert!((found - expected).abs() < 1e-9, "{buckets}: {found}, not {expected}");
        assert!(rehash_probability(load(2.0), buckets).unwrap() < 1e-12);
    }
}

#[test]
fn the_integral_tends_to_the_first_order_in_one_over_m() {
    for load in [0.25, 0.35, 0.4] {
        let limit = first_order_failure(2.0 * load);
        let exact = 40_000.0 * (1.0 - success_probability(2.0 * load * 40_000.0, 40_000.0));
        assert!((exact / limit - 1.0).abs() < 0.02, "{load}: {exact}, not {limit}");
    }
}

#[test]
fn costs_begin_at_one_and_grow_without_limit_towards_one_half() {
    let at = |load| {
        let (cost, mean) = (insertion_cost_bound(load), mean_insertion_cost_bound(load));
        (cost.unwrap(), mean.unwrap(), rehash_probability(load, 1_000).unwrap())
    };
    assert_eq!(at(0.0), (1.0, 1.0, 0.0));
    assert_eq!(rehashes(0.0, 10).unwrap(), 0.0);
    for step in 1..50 {
        let [before, now] = [step - 1, step].map(|step| at(f64::from(step) / 100.0));
        assert!(before.0 < now.0 && before.1 < now.1 && before.2 <= now.2);
        assert!(now.1 <= now.0);
    }
}

/// At one half a random graph is without a second cycle with probability √(2/3) (Drmota and Kutzelnigg), up to
/// terms of order m^(−1/3).
#[test]
fn at_load_one_half_failure_does_not_depend_on_the_size() {
    for buckets in [10, 1_000, 1_000_000] {
        let found = rehash_probability(0.5 - 1e-9, buckets).unwrap();
        let limit = 1.0 - (2.0_f64 / 3.0).sqrt();
        let allowed = 0.5 / (buckets as f64).cbrt();
        assert!((found - limit).abs() < allowed, "{buckets}: {found}, not {limit}");
    }
}

#[test]
fn loads_and_edges_out_of_range_are_named() {
    for load in [0.5, 0.9, -0.1, f64::NAN] {
        let message = component_size(load).unwrap_err().to_string();
        assert!(message.contains("load is") && message.contains("below 0.5"), "{message}");
    }
    let message = rehash_probability(0.1, 0).unwrap_err().to_string();
    assert!(message.contains("buckets is 0"), "{message}");
    let message = components([[0, 5]], 5).unwrap_err().to_string();
    assert!(message.contains("bucket of an edge is 5"), "{message}");
}

#[test]
fn rehash_costs_follow_the_slides_bound() {
    // m = 1.25 n = 1000: 2,000 buckets emptied, 800 elements placed with at most 5 accesses each.
    let load = load_of_epsilon(0.25).unwrap();
    assert!((load - 0.4).abs() < 1e-15);
    assert!((rehash_cost_bound(load, 1_000).unwrap() - 6_000.0).abs() < 1e-9);
    for epsilon in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        let error = load_of_epsilon(epsilon).unwrap_err().to_string();
        assert!(error.contains("above 0"), "{error}");
    }
}
