//! Energy, section VIII: how many elements of a chain a query walks over.

use equibloom_tables::BucketPlan;
use equibloom_theory::lower_bound::lower_bound;
use equibloom_theory::optimum;

use super::names::ENERGY;
use super::tables::{filled, simulated_sizes};
use crate::experiments::prelude::*;

const LOAD: f64 = 6.0;
const CHOICES: u32 = 3;
const PANELS: [&str; 4] =
    ["mean of a miss", "variance of a miss", "mean of a hit", "variance of a hit"];

/// Means and variances of the elements walked over, in the order of the panels, from the weights of the chains'
/// lengths. A miss goes over the whole chain of a random bucket. A hit ends at its element, which is equally likely to
/// be any, and stands anywhere in its chain.
fn walked(weights: &[f64]) -> [f64; 4] {
    let mean = |value: fn(f64) -> f64, weight: fn(f64) -> f64| {
        let terms = weights.iter().enumerate().map(|(length, share)| (length as f64, share));
        let sum = |value: &dyn Fn(f64) -> f64| {
            terms.clone().map(|(l, share)| share * value(l)).sum::<f64>()
        };
        sum(&|l| weight(l) * value(l)) / sum(&weight)
    };
    let moments = |first: f64, second: f64| [first, second - first * first];
    let [miss, of_miss] = moments(mean(|l| l, |_| 1.0), mean(|l| l * l, |_| 1.0));
    let places = |l: f64| (l + 1.0) * (2.0 * l + 1.0) / 6.0;
    let [hit, of_hit] = moments(mean(|l| (l + 1.0) / 2.0, |l| l), mean(places, |l| l));
    [miss, of_miss, hit, of_hit]
}

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let steps: Vec<f64> = (0..=8).map(|step| 1.0 + 0.05 * f64::from(step)).collect();
    let (entries, repetitions) = (context.length.elements(), context.length.choose(4, 4, 40));
    let buckets = (entries as f64 / LOAD).ceil() as u64;
    let found = context.map(&steps, |&accesses| {
        // One access and no overflow is the plain table: it never rejects.
        let (plan, overflow) = if accesses == 1.0 {
            (BucketPlan::single(LOAD, equibloom_layout::Rule::below(64)), 0.0)
        } else {
            let best = optimum::multi_level(LOAD, accesses, CHOICES, None)?;
            (BucketPlan::optimal(LOAD, &best)?, best.overflow)
        };
        let bound = walked(&lower_bound(LOAD, accesses, overflow)?.distribution);
        let weights = |counts: &[u64]| counts.iter().map(|&count| count as f64).collect::<Vec<_>>();
        let simulated = context.repeat(&format!("chains {accesses}"), repetitions, |seed| {
            Ok(walked(&weights(&simulated_sizes(&plan, entries, seed))))
        })?;
        let mapped =
            context.repeat(&format!("chains of maps {accesses}"), repetitions, |seed| {
                Ok(walked(&weights(&filled(plan, entries, seed)?.sizes)))
            })?;
        Ok((bound, [simulated, mapped]))
    })?;
    let mut plot = Plot::default();
    for (panel, name) in PANELS.iter().enumerate() {
        let y: Vec<f64> = found.iter().map(|(bound, _)| bound[panel]).collect();
        let bound = Series::new("bound", Hue::Classical, Origin::Paper, &steps, y.clone());
        plot.series.push(bound.in_panel(panel));
        let curve = Series::new(ENERGY.multi_level, Hue::MultiLevel, Origin::Model, &steps, y);
        let point = |(bound, runs): &([f64; 4], [Vec<[f64; 4]>; 2])| {
            // The means of m values have a deviation of √(variance/m), their variances one of about √(2/m).
            let variance = bound[panel | 1];
            let floor = if panel % 2 == 0 { variance.sqrt() } else { variance * 2_f64.sqrt() };
            let floor = floor / (buckets as f64).sqrt();
            runs.each_ref().map(|runs| Estimate::of(runs.iter().map(|run| run[panel]), floor))
        };
        let points: Vec<[Estimate; 2]> = found.iter().map(point).collect();
        let text = format!("{name}: the {{}} reaches the bound");
        plot.compare(&curve.in_panel(panel), &text, sides(Origin::Map, &points));
    }
    let [plain, balanced] = [0, 4].map(|step| found[step].0);
    plot.claims.insert(
        0,
        Claim::stated(
            "Energy, VIII",
            Claim::derived("mean of a miss: the mean load r", LOAD, plain[0], 1e-9),
        ),
    );
    Ok(Outcome {
        finding: format!(
            "At r = 6 the chain that a miss walks over has a variance of {} with one access and of {} \
             with 1.2; a hit takes {} and {} elements on average, with variances {} and {}.",
            short(plain[1]),
            short(balanced[1]),
            short(plain[2]),
            short(balanced[2]),
            short(plain[3]),
            short(balanced[3]),
        ),
        notes: vec![
            "As in the paper a query is for one bucket: absent elements cost its whole chain, present ones \
             half of it on average. The cost is quadratic: i² − E(O)² for the variance of a miss, i(i + 1)/2 for \
             the elements that all hits in a chain of i walk over. Both are convex, so Theorem 1 bounds them.",
            "The map keeps a bucket's entries side by side instead of in a linked list: what is counted is \
             the number of entries up to the one that is found.",
        ],
        x: Axis::linear("mean bucket accesses of an insert a"),
        y: Axis::linear("elements walked over").of_each_panel(),
        panels: PANELS.to_vec(),
        plot,
        ..Outcome::default()
    })
}
