//! Energy, section VIII: the variance of the bucket size.

use equibloom_tables::Distribution;
use equibloom_theory::lower_bound::lower_bound;
use equibloom_theory::paper::Scheme;

use super::names::{ByAccesses, ENERGY};
use crate::experiments::prelude::*;
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
    let found = context.map_curves(
        &curves,
        |(_, accesses)| accesses,
        |(curve, _), &accesses| point(context, curve.name, (curve.scheme)(accesses), accesses),
    )?;
    let mut plot = Plot::default();
    let mut at_one_point_two = Vec::new();
    for ((ByAccesses { name, hue, .. }, accesses), found) in curves.iter().zip(found) {
        let bound = found.iter().map(|point| point.bound).collect();
        let curve = Series::new(name, *hue, Origin::Model, accesses, bound);
        let index = accesses.iter().position(|a| (a - 1.2).abs() < 1e-9);
        at_one_point_two.extend(index.map(|index| curve.y[index]));
        plot.series.push(curve.clone());
        let simulation = found.iter().map(|point| point.simulation).collect();
        let filter: Option<Vec<Estimate>> = found.iter().map(|point| point.filter).collect();
        let filter = filter.map(|filter| (Origin::Filter, filter));
        let sides = [(Origin::Simulation, simulation)].into_iter().chain(filter);
        plot.compare(&curve, &format!("{name}: the {{}} has the least variance"), sides);
    }
    let poisson = lower_bound(LOAD, 1.0, 0.0)?.variance()?;
    plot.claims.insert(
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
        plot,
        ..Outcome::default()
    })
}

struct Found {
    bound: f64,
    simulation: Estimate,
    filter: Option<Estimate>,
}

fn point(context: &Context<'_>, name: &str, scheme: Scheme, accesses: f64) -> Result<Found, Error> {
    let (elements, repetitions) = (context.length.elements(), context.length.repetitions());
    let bits_per_element = f64::from(BLOCK_BITS) / LOAD;
    let subject = Subject { scheme, block_bits: BLOCK_BITS, bits_per_element };
    let optimum = subject.optimum()?;
    let overflow = optimum.as_ref().map_or(0.0, |optimum| optimum.overflow);
    let least = lower_bound(LOAD, accesses, overflow)?.variance()?;
    // The sample variance of m values with kurtosis about 3 has deviation √(2/m)·σ².
    let floor = least * (2.0 / subject.blocks(elements) as f64).sqrt();
    let simulated =
        context.repeat(&format!("simulation {name} {accesses}"), repetitions, |seed| {
            Ok(Distribution::of(&subject.simulate_loads(elements, seed)?).variance)
        })?;
    // Blocks without a counter do not know their load.
    let filtered = optimum.map(|_| {
        context.repeat(&format!("filter {name} {accesses}"), repetitions, |seed| {
            Ok(Distribution::of(&subject.fill_filter(elements, seed)?.loads()).variance)
        })
    });
    Ok(Found {
        bound: least,
        simulation: Estimate::of(simulated, floor),
        filter: filtered.transpose()?.map(|values| Estimate::of(values, floor)),
    })
}
