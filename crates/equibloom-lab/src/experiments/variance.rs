//! Energy, section VIII: the variance of the bucket size.

use equibloom_theory::lower_bound::{costs, lower_bound};
use equibloom_theory::paper::Scheme;

use super::Outcome;
use super::names::{ByAccesses, ENERGY};
use crate::context::Context;
use crate::error::Error;
use crate::estimate::Estimate;
use crate::figure::{Axis, Claim, Hue, Kind, Origin, Series};
use crate::number::short;
use crate::subject::Subject;

const LOAD: f64 = 8.0;
/// Wide enough that no key is apparently present.
const BLOCK_BITS: u32 = 512;

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let steps: Vec<f64> = (1..=8).map(|step| 1.0 + 0.05 * f64::from(step)).collect();
    let blocked = ByAccesses { name: "blocked", hue: Hue::Blocked, scheme: |_| Scheme::Blocked };
    let curves: Vec<(ByAccesses, Vec<f64>)> = ENERGY
        .optimal_schemes()
        .into_iter()
        .map(|scheme| (scheme, steps.clone()))
        .chain([(blocked, vec![1.0])])
        .collect();
    let jobs: Vec<(usize, f64)> = curves
        .iter()
        .enumerate()
        .flat_map(|(index, (_, accesses))| accesses.iter().map(move |&a| (index, a)))
        .collect();
    let points = context.map(&jobs, |&(index, accesses)| {
        let curve = &curves[index].0;
        point(context, curve.name, (curve.scheme)(accesses), accesses)
    })?;
    let mut points = points.into_iter();
    let (mut series, mut claims) = (Vec::new(), Vec::new());
    let mut at_one_point_two = Vec::new();
    for (curve, accesses) in &curves {
        let found: Vec<Found> = points.by_ref().take(accesses.len()).collect();
        let bound: Vec<f64> = found.iter().map(|point| point.bound).collect();
        let index = accesses.iter().position(|a| (a - 1.2).abs() < 1e-9);
        at_one_point_two.extend(index.map(|index| bound[index]));
        series.push(Series::new(curve.name, curve.hue, Origin::Model, accesses, bound.clone()));
        for (origin, pick) in [
            (Origin::Simulation, (|found| &found.simulation) as fn(&Found) -> &Option<Estimate>),
            (Origin::Filter, |found| &found.filter),
        ] {
            let measured: Vec<Estimate> = found.iter().filter_map(|found| *pick(found)).collect();
            if measured.is_empty() {
                continue;
            }
            let text = format!("{}: the {} has the least variance", curve.name, origin.name());
            let kind = Kind::against_model(origin);
            claims.push(Claim::on_model(&text, &bound, &measured).of_kind(kind));
            series.push(Series::measured(curve.name, curve.hue, origin, accesses, &measured));
        }
    }
    let poisson = lower_bound(LOAD, 1.0, 0.0)?.cost(costs::variance(LOAD))?;
    claims.insert(
        0,
        Claim::derived("one access, no overflow: the variance is r", 8.0, poisson, 1e-9),
    );
    let finding = format!(
        "At r = 8 one access gives a variance of 8; with 1.2 accesses {} measures {} and {} {}, \
         each the lower bound at its own overflow.",
        ENERGY.sequential,
        short(at_one_point_two[0]),
        ENERGY.multi_level,
        short(at_one_point_two[1]),
    );
    Ok(Outcome {
        finding,
        notes: vec![
            "The cost i² − E(O)² makes the lower bound of Theorem 1 a bound on the variance. \
             Each scheme is drawn at the least overflow with which it is optimal, so the two \
             bounds differ a little.",
        ],
        x: Axis::linear("mean bucket accesses of an insert a"),
        y: Axis::linear("variance of the bucket size [elements²]"),
        series,
        claims,
        ..Outcome::default()
    })
}

struct Found {
    bound: f64,
    simulation: Option<Estimate>,
    filter: Option<Estimate>,
}

fn point(context: &Context<'_>, name: &str, scheme: Scheme, accesses: f64) -> Result<Found, Error> {
    let (elements, repetitions) = (context.length.elements(), context.length.repetitions());
    let bits_per_element = f64::from(BLOCK_BITS) / LOAD;
    let subject = Subject { scheme, block_bits: BLOCK_BITS, bits_per_element };
    let optimum = subject.optimum()?;
    let overflow = optimum.as_ref().map_or(0.0, |optimum| optimum.overflow);
    let bound = lower_bound(LOAD, accesses, overflow)?;
    let least = bound.cost(costs::variance(bound.mean_load()))?;
    // The sample variance of m values with kurtosis about 3 has deviation √(2/m)·σ².
    let floor = least * (2.0 / subject.blocks(elements) as f64).sqrt();
    let simulated =
        context.repeat(&format!("simulation {name} {accesses}"), repetitions, |seed| {
            Ok(variance(&subject.simulate_loads(elements, seed)?))
        })?;
    // Blocks without a counter do not know their load.
    let filtered = optimum.map(|_| {
        context.repeat(&format!("filter {name} {accesses}"), repetitions, |seed| {
            let mut filter = subject.filter(elements, seed)?;
            filter.try_extend(0..elements)?;
            Ok(variance(&filter.statistics().loads()))
        })
    });
    Ok(Found {
        bound: least,
        simulation: Some(Estimate::of(simulated, floor)),
        filter: filtered.transpose()?.map(|values| Estimate::of(values, floor)),
    })
}

/// The variance of a load, from the number of buckets at each.
fn variance(counts: &[u64]) -> f64 {
    let mean_of = |power: i32| {
        let sum: f64 = counts
            .iter()
            .enumerate()
            .map(|(load, &count)| (load as f64).powi(power) * count as f64)
            .sum();
        sum / counts.iter().sum::<u64>() as f64
    };
    mean_of(2) - mean_of(1).powi(2)
}
