//! A point of a curve from every source: models, simulation, filter.

use equibloom_theory::paper::Scheme;

use crate::context::Context;
use crate::error::Error;
use crate::estimate::Estimate;
use crate::figure::{Claim, Hue, Kind, Origin, Plot, Series};
use crate::observables::Observables;
use crate::subject::Subject;

/// A quantity read off [`Observables`].
pub(crate) type Quantity = fn(&Observables) -> f64;

/// A curve: one scheme, or one value of a parameter, over several points.
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) hue: Hue,
    pub(crate) points: Vec<Point>,
}

/// A filter made for `elements`, after `moment` of them.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) subject: Subject,
    pub(crate) elements: u64,
    pub(crate) moment: u64,
    pub(crate) repetitions: u64,
    /// Inserted and absent keys looked up in each filter; 0 if accesses are not measured.
    pub(crate) lookups: u64,
}

impl Point {
    /// A full filter of the run's default size.
    pub(crate) fn full(context: &Context<'_>, x: f64, subject: Subject) -> Self {
        let (elements, repetitions) = (context.length.elements(), context.length.repetitions());
        Self { x, subject, elements, moment: elements, repetitions, lookups: 0 }
    }
}

/// All results for a point.
pub(crate) struct Evidence {
    pub(crate) x: f64,
    /// Full filters only.
    pub(crate) paper: Option<Observables>,
    pub(crate) definition: Observables,
    pub(crate) exact: Observables,
    pub(crate) simulation: Measured,
    pub(crate) filter: Measured,
}

/// Repeated measurements, and the least spread of each.
pub(crate) struct Measured {
    runs: Vec<Observables>,
    floor: Observables,
}

impl Measured {
    pub(crate) fn estimate(&self, quantity: Quantity) -> Estimate {
        Estimate::of(self.runs.iter().map(quantity), quantity(&self.floor))
    }
}

/// A curve with all results for its points.
pub(crate) struct Gathered {
    pub(crate) name: String,
    pub(crate) hue: Hue,
    pub(crate) points: Vec<Evidence>,
}

/// Gathers the evidence for all points of all curves, on all cores.
pub(crate) fn gather(context: &Context<'_>, curves: Vec<Curve>) -> Result<Vec<Gathered>, Error> {
    let find = |curve: &Curve, point: &Point| evidence(context, &curve.name, point);
    let found = context.map_curves(&curves, |curve| &curve.points, find)?;
    let gathered = |(Curve { name, hue, .. }, points)| Gathered { name, hue, points };
    Ok(curves.into_iter().zip(found).map(gathered).collect())
}

fn evidence(context: &Context<'_>, curve: &str, point: &Point) -> Result<Evidence, Error> {
    let Point { x, subject, elements, moment, repetitions, lookups } = *point;
    let (exact, deviation) = subject.exact_model(elements, moment)?;
    let name = |kind: &str| format!("{curve} {kind} {x} {elements} {moment}");
    let simulation = context.repeat(&name("simulation"), repetitions, |seed| {
        subject.simulate(elements, moment, seed)
    })?;
    let filter = context.repeat(&name("filter"), repetitions, |seed| {
        subject.run_filter(elements, moment, lookups, seed)
    })?;
    // Counts of rare events vary as their square root; blocks vary individually.
    let (keys, blocks) = (moment.max(1) as f64, subject.blocks(elements) as f64);
    let beyond_one = |accesses: f64| (accesses - 1.0).max(0.0);
    let looked_up = if lookups > 0 { keys.min(lookups as f64) } else { keys };
    let floor = Observables {
        rate: deviation,
        insert: (beyond_one(exact.insert) / keys).sqrt(),
        hit: (beyond_one(exact.hit) / looked_up).sqrt(),
        miss: (beyond_one(exact.miss).min(1.0) / blocks).sqrt(),
        overflow: (exact.overflow / keys).sqrt() + 1.0 / keys,
    };
    Ok(Evidence {
        x,
        paper: if moment == elements { Some(subject.paper_model()?) } else { None },
        definition: subject.definition_model(elements, moment)?,
        exact,
        simulation: Measured { runs: simulation, floor },
        filter: Measured { runs: filter, floor },
    })
}

impl Gathered {
    /// The curve as drawn: the models, then simulation and filter with their deviations.
    pub(crate) fn series(&self, quantity: Quantity) -> Vec<Series> {
        self.series_from(0, quantity)
    }

    /// The same without the points before `first`.
    pub(crate) fn series_from(&self, first: usize, quantity: Quantity) -> Vec<Series> {
        let points = &self.points[first..];
        let x: Vec<f64> = points.iter().map(|point| point.x).collect();
        let make = |origin, y| Series::new(&self.name, self.hue, origin, &x, y);
        let of = |pick: fn(&Evidence) -> &Observables| -> Vec<f64> {
            points.iter().map(|point| quantity(pick(point))).collect()
        };
        let (definition, exact) = (of(|point| &point.definition), of(|point| &point.exact));
        let mut series = Vec::new();
        let paper: Vec<f64> =
            points.iter().filter_map(|point| point.paper.as_ref()).map(quantity).collect();
        if paper.len() == x.len() {
            series.push(make(Origin::Paper, paper));
        }
        // One curve is enough where definition and filter agree.
        if definition.iter().zip(&exact).any(|(a, b)| (a - b).abs() > 0.01 * b.abs()) {
            series.push(make(Origin::Definition, definition));
        }
        series.push(make(Origin::Exact, exact));
        let measured = |origin, pick: fn(&Evidence) -> &Measured| {
            let measured: Vec<Estimate> =
                points.iter().map(|point| pick(point).estimate(quantity)).collect();
            Series::measured(&self.name, self.hue, origin, &x, &measured)
        };
        series.push(measured(Origin::Simulation, |point| &point.simulation));
        series.push(measured(Origin::Filter, |point| &point.filter));
        series
    }

    /// Claims that the simulation agrees with the model of its definition, which shares no code with it, and the
    /// filter with the exact model.
    pub(crate) fn on_models(&self, name: &str, quantity: Quantity) -> [Claim; 2] {
        let check = |what: &str, pick: fn(&Evidence) -> (&Observables, &Measured)| {
            let picked = self.points.iter().map(pick);
            let (model, measured): (Vec<f64>, Vec<Estimate>) = picked
                .map(|(model, measured)| (quantity(model), measured.estimate(quantity)))
                .unzip();
            Claim::on_model(&format!("{name}: the {what}"), &model, &measured)
        };
        [
            check("simulation lies on the model of its definition", |point| {
                (&point.definition, &point.simulation)
            })
            .of_kind(Kind::Derived),
            check("filter lies on the exact model", |point| (&point.exact, &point.filter)),
        ]
    }

    /// The filter's result at a point.
    pub(crate) fn filter(&self, point: usize, quantity: Quantity) -> f64 {
        self.points[point].filter.estimate(quantity).mean
    }
}

impl Plot {
    /// Draws a curve and claims that it agrees with the models.
    pub(crate) fn add(&mut self, curve: &Gathered, quantity: Quantity) {
        self.series.extend(curve.series(quantity));
        self.claims.extend(curve.on_models(&curve.name, quantity));
    }
}

/// The papers' schemes of the balanced comparison: accesses 1.2, three choices.
pub(crate) const MULTI_LEVEL: Scheme =
    Scheme::MultiLevel { accesses: 1.2, choices: 3, overflow: None };
/// The same for the sequential scheme.
pub(crate) const SEQUENTIAL: Scheme =
    Scheme::Sequential { accesses: 1.2, choices: 3, overflow: None };
