//! Measured filters against the model, |measured − model| ≤ 4σ + 0.5 %.

use equibloom_layout::{Candidates, Layout};
use equibloom_theory::exact::{Prediction, predict};

use super::{Filter, Measured};

/// Filters per case, with fixed seeds.
const FILTERS: u64 = 6;

/// Mean of a quantity over the filters and the standard error of that mean.
fn mean_and_error(runs: &[Measured], quantity: impl Fn(&Measured) -> f64) -> (f64, f64) {
    let n = runs.len() as f64;
    let mean = runs.iter().map(&quantity).sum::<f64>() / n;
    let variance = runs.iter().map(|run| (quantity(run) - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Compares the model of a layout and its keys with simulated filters.
pub(crate) fn check(name: &str, (layout, keys): (Layout, u64)) {
    let model = predict(&layout.into(), keys).unwrap();
    let runs: Vec<Measured> =
        (0..FILTERS).map(|seed| Filter::new(&layout, keys, seed + 1).run()).collect();
    compare(name, &model, keys, &sizes(&layout.candidates), &runs);
}

/// Blocks of every table.
pub(crate) fn sizes(candidates: &Candidates) -> Vec<u64> {
    match candidates {
        Candidates::Anywhere { blocks, .. } => vec![*blocks],
        Candidates::Subtables { sizes } => sizes.to_vec(),
    }
}

/// Compares a model with filters of different seeds; with fewer filters their σ is less certain.
pub(crate) fn compare(name: &str, model: &Prediction, keys: u64, sizes: &[u64], runs: &[Measured]) {
    let compare = |what: &str, predicted: f64, quantity: &dyn Fn(&Measured) -> f64, slack: f64| {
        let (mean, error) = mean_and_error(runs, quantity);
        println!(
            "{name}: {what}: model {predicted:.6e}, measured {mean:.6e} ± {error:.1e} ({:+.3} %)",
            100.0 * (predicted / mean - 1.0)
        );
        assert!(
            (predicted - mean).abs() <= 4.0 * error + 0.005 * mean + slack,
            "{name}: {what}: model {predicted}, measured {mean} ± {error}"
        );
    };
    let per_key = 1.0 / keys as f64;
    compare("rate", model.rate, &|m| m.rate, 0.0);
    compare("accesses of an insert", model.accesses_insert, &|m| m.accesses_insert, 0.0);
    compare("accesses of checks", model.accesses_check, &|m| m.accesses_check, 4.0 * per_key);
    compare("accesses of a hit", model.accesses_hit, &|m| m.accesses_hit, 0.0);
    compare("accesses of a miss", model.accesses_miss, &|m| m.accesses_miss, 0.0);
    compare("stored", model.stored_fraction, &|m| m.stored_fraction, 0.0);
    compare("overflow", model.overflow_fraction, &|m| m.overflow_fraction, 4.0 * per_key);
    compare(
        "probes of an insert",
        model.overflow_probes_insert,
        &|m| m.overflow_probes_insert,
        4.0 * per_key,
    );
    compare(
        "probes of a hit",
        model.overflow_probes_hit,
        &|m| m.overflow_probes_hit,
        4.0 * per_key,
    );
    compare(
        "probes of a miss",
        model.overflow_probes_miss,
        &|m| m.overflow_probes_miss,
        4.0 * per_key,
    );
    for (level, &goes_on) in model.goes_on.iter().enumerate() {
        if runs[0].goes_on.len() > level {
            let slack = 4.0 / sizes[level] as f64;
            compare("share that goes on", goes_on, &|m| m.goes_on[level], slack);
        }
    }
    for (level, (loads, &size)) in model.load_distributions.iter().zip(sizes).enumerate() {
        let mean: f64 = loads.iter().enumerate().map(|(load, p)| load as f64 * p).sum();
        compare("mean load", mean, &|m| m.mean_loads[level], 4.0 / size as f64);
        let total: f64 = loads.iter().sum();
        assert!((total - 1.0).abs() < 1e-9, "{name}: {total}");
        if size < 1000 {
            continue; // Too few blocks for a histogram: their common mean moves visibly.
        }
        // Distance in excess of the noise of a histogram over this many blocks.
        let sample = (runs.len() as u64 * size) as f64;
        let distance: f64 = (0..loads.len().max(runs[0].load_distributions[level].len()))
            .map(|load| {
                let (measured, _) = mean_and_error(runs, |m| {
                    m.load_distributions[level].get(load).copied().unwrap_or(0.0)
                });
                let predicted = loads.get(load).copied().unwrap_or(0.0);
                let noise = 4.0 * (predicted / sample).sqrt() + 4.0 / sample;
                ((measured - predicted).abs() - noise).max(0.0)
            })
            .sum();
        assert!(
            distance < 0.005,
            "{name}: load distribution of level {level} is off by {distance}"
        );
    }
    // With six filters a sample deviation is within these factors of the true one (99.9 %).
    let deviation = mean_and_error(runs, |m| m.rate).1 * (runs.len() as f64).sqrt();
    println!("{name}: deviation: model {:.3e}, measured {deviation:.3e}", model.rate_deviation);
    assert!(
        model.rate_deviation < 5.0 * deviation && deviation < 2.2 * model.rate_deviation,
        "{name}: deviation: model {}, measured {deviation}",
        model.rate_deviation
    );
}
