//! Slides: the number of rehashes and their cost, by ε.

use equibloom_theory::cuckoo;

use super::load::{SMALL, builds, simulated_slides_rehashes, slides_rehashes};
use crate::context::{Context, Length};
use crate::error::Error;
use crate::estimate::Estimate;
use crate::experiments::Outcome;
use crate::figure::{Axis, Claim, Hue, Kind, Origin, Series};
use crate::number::short;

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
    let (name, hue) = ("slides' tables", Hue::OneSlot);
    let model: Vec<f64> = found.iter().map(|point| point.0).collect();
    let bound: Vec<f64> = found.iter().map(|point| point.1).collect();
    let mut series = vec![
        Series::new(name, hue, Origin::Model, &x, model.clone()),
        Series::new("bound", Hue::Classical, Origin::Model, &x, bound.clone()).in_panel(1),
    ];
    let mut claims = Vec::new();
    for (side, origin) in [Origin::Simulation, Origin::Map].into_iter().enumerate() {
        let measured: Vec<Estimate> = found.iter().map(|point| point.2[side]).collect();
        let text = format!("rehashes of the {} lie on the model", origin.name());
        claims.push(Claim::on_model(&text, &model, &measured).of_kind(Kind::against_model(origin)));
        series.push(Series::measured(name, hue, origin, &x, &measured));
    }
    let often = found.iter().zip(&x).filter_map(|(point, &x)| Some((x, point.1, point.3?)));
    let (at, (bounds, costs)): (Vec<f64>, (Vec<f64>, Vec<Estimate>)) =
        often.map(|(x, bound, cost)| (x, (bound, cost))).unzip();
    claims.push(Claim::stated(
        "Slides, last page",
        Claim::at_most(
            "a rehash costs at most 2m + n(1 + 1/ε) accesses, O(m + n/ε)",
            &bounds,
            &costs,
        ),
    ));
    series.push(Series::measured(name, hue, Origin::Simulation, &at, &costs).in_panel(1));
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
        series,
        claims,
        ..Outcome::default()
    })
}
