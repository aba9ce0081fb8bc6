//! Slides: the number of rehashes and their cost, by ε.

use equibloom_theory::cuckoo;

use super::load::{SMALL, builds, simulated_slides_rehashes, slides_rehashes};
use crate::experiments::prelude::*;

/// Buckets of each table.
const BUCKETS: u64 = SMALL / 2;
const ELEMENTS: [u64; 8] = [98, 95, 90, 85, 80, 75, 70, 60];

pub(crate) fn parameters(length: Length) -> String {
    format!("m = {BUCKETS} buckets in each table, {} builds", builds(length))
}

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let builds = builds(context.length);
    let found = context.map(&ELEMENTS, |&elements| {
        let load = elements as f64 / (2 * BUCKETS) as f64;
        let runs = context.repeat(&format!("rehash {elements}"), builds, |seed| {
            Ok(simulated_slides_rehashes(elements, seed))
        })?;
        let tables = context.repeat(&format!("rehash of tables {elements}"), builds, |seed| {
            slides_rehashes(elements, seed)
        })?;
        let costs: Vec<f64> = runs.iter().filter_map(|run| run.1).collect();
        let of = |values: Vec<f64>| Estimate::of_counts(&values, builds);
        let number = cuckoo::rehashes(load, BUCKETS)?;
        let bound = cuckoo::rehash_cost_bound(load, BUCKETS)?;
        let rehashes = [of(runs.iter().map(|run| run.0).collect()), of(tables)];
        Ok((number, bound, rehashes, (costs.len() > 20).then(|| of(costs))))
    })?;
    let x = ELEMENTS.map(|elements| BUCKETS as f64 / elements as f64 - 1.0);
    let model: Vec<f64> = found.iter().map(|point| point.0).collect();
    let bound = found.iter().map(|point| point.1).collect();
    let points: Vec<[Estimate; 2]> = found.iter().map(|point| point.2).collect();
    let curve = Series::new("slides' tables", Hue::OneSlot, Origin::Model, &x, model.clone());
    let bound = Series::new("bound", Hue::Classical, Origin::Model, &x, bound).in_panel(1);
    let mut plot = Plot { series: vec![curve.clone(), bound], ..Plot::default() };
    plot.compare(&curve, "rehashes of the {} lie on the model", sides(Origin::Map, &points));
    let often = found.iter().zip(&x).filter_map(|(point, &x)| Some((x, point.1, point.3?)));
    let (at, (bounds, costs)): (Vec<f64>, (Vec<f64>, Vec<Estimate>)) =
        often.map(|(x, bound, cost)| (x, (bound, cost))).unzip();
    plot.claims.push(Claim::stated(
        "Slides, last page",
        Claim::at_most(
            "a rehash costs at most 2m + n(1 + 1/ε) accesses, O(m + n/ε)",
            &bounds,
            &costs,
        ),
    ));
    let costs_drawn =
        Series::measured(&curve.subject, curve.hue, Origin::Simulation, &at, &costs).in_panel(1);
    plot.series.push(costs_drawn);
    let total = |point: usize| short(model[point] * costs[point].mean);
    Ok(Outcome {
        finding: format!(
            "At ε = {} a build needs {} rehashes on average, and all of them together {} accesses; at ε = {} {} \
             and {}.",
            short(x[0]),
            short(model[0]),
            total(0),
            short(x[2]),
            short(model[2]),
            total(2),
        ),
        notes: vec![
            "A rehash is needed with the probability p of a second cycle, and again with p: p/(1 − p) on average. \
             Each empties 2m buckets and places n elements, at most 1 + 1/ε accesses each. Costs are drawn where \
             more than 20 builds needed a rehash.",
        ],
        x: Axis::linear("ε, with m = (1 + ε)n"),
        y: Axis::linear("rehashes; accesses").of_each_panel(),
        panels: vec!["rehashes per build", "accesses of one rehash"],
        plot,
        ..Outcome::default()
    })
}
