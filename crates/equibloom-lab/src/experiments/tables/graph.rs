//! `cuckoo-graph`: the probability of a second cycle, and the size of components.

use equibloom_tables::RawTable;
use equibloom_theory::cuckoo::{self, Component};

use super::cuckoo_tables;
use crate::experiments::prelude::*;
use crate::number::power_of_ten;
use crate::simulator::{random_graph, words};

/// Buckets of each of the two tables, as powers of ten.
const SIZES: [u32; 3] = [2, 3, 4];
const LOADS: [f64; 8] = [0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.475, 0.49];
/// Loads of the measurements, and of the drawn model.
const AT_0_4: usize = 4;
const AT_0_475: usize = 6;
/// Points with fewer expected graphs with a second cycle are checked but not drawn: their band would reach
/// zero.
const LEAST_DRAWN: f64 = 25.0;
/// Smaller probabilities are not drawn.
const SMALLEST_DRAWN: f64 = 1e-5;
/// The mean component is below its limit by a share of about 1/(4m(1 − c)³): the frequency of two paths between
/// two buckets, which the limit counts twice. Below this share it is within the allowed 1 %.
const SMALL_SHORTFALL: f64 = 0.005;

fn buckets_in_all(length: Length) -> u64 {
    length.choose(300_000, 3_000_000, 30_000_000)
}

pub(crate) fn parameters(length: Length) -> String {
    format!(
        "m = 10², 10³, 10⁴ buckets in each of two tables, {} in all at each point",
        2 * buckets_in_all(length)
    )
}

/// One graph.
struct Found {
    /// Elements in excess of their components.
    excess: u64,
    /// Mean buckets in the component of a bucket.
    component: f64,
    /// Elements without a place, if there is a table.
    stashed: u64,
}

impl Found {
    fn of(edges: impl Iterator<Item = [u64; 2]>, buckets: u64) -> Result<Self, Error> {
        let components = cuckoo::components(edges, buckets)?;
        let squares: u64 = components.iter().map(|c| (c.nodes.len() as u64).pow(2)).sum();
        Ok(Self {
            excess: components.iter().map(Component::excess).sum(),
            component: squares as f64 / (2 * buckets) as f64,
            stashed: 0,
        })
    }

    fn by_simulation(elements: u64, buckets: u64, seed: u64) -> Result<Self, Error> {
        Self::of(random_graph(elements, buckets, seed), buckets)
    }

    /// The library's table with one slot per bucket, without a rehash: the stash takes the rest.
    fn of_table(elements: u64, buckets: u64, seed: u64) -> Result<Self, Error> {
        let mut table = cuckoo_tables::<u64, 1>(buckets)?;
        for word in words(seed).take(elements as usize) {
            table.place(word, word, |&word| word);
        }
        let found = Self::of(table.edges(|&word| word), table.buckets_per_table())?;
        Ok(Self { stashed: table.history().failed_walks, ..found })
    }
}

/// One curve's point from one source.
struct Measured {
    second_cycle: Estimate,
    component: Estimate,
    excess: u64,
    stashed: u64,
}

impl Measured {
    fn of(graphs: &[Found], expected: f64) -> Self {
        let failed = graphs.iter().filter(|graph| graph.excess > 0).count() as u64;
        Self {
            second_cycle: Estimate::of_share(failed, graphs.len() as f64, expected),
            component: Estimate::of(graphs.iter().map(|graph| graph.component), 0.0),
            excess: graphs.iter().map(|graph| graph.excess).sum(),
            stashed: graphs.iter().map(|graph| graph.stashed).sum(),
        }
    }
}

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let point = |&power: &u32, &load: &f64| {
        let buckets = 10_u64.pow(power);
        let graphs = buckets_in_all(context.length) / buckets;
        let elements = (2.0 * load * buckets as f64).round() as u64;
        let expected = cuckoo::rehash_probability(load, buckets)?;
        let each = |kind: &str, graph: fn(u64, u64, u64) -> Result<Found, Error>| {
            let name = format!("graph {kind} {buckets} {load}");
            let found = context.repeat(&name, graphs, |seed| graph(elements, buckets, seed))?;
            Ok::<_, Error>(Measured::of(&found, expected))
        };
        Ok([each("simulation", Found::by_simulation)?, each("table", Found::of_table)?])
    };
    let found = context.map_curves(&SIZES, |_| &LOADS, point)?;
    let drawn: Vec<f64> = (20..=98).map(|half| f64::from(half) / 200.0).collect();
    let limit = |loads: &[f64]| -> Result<Vec<f64>, Error> {
        loads.iter().map(|&load| Ok(cuckoo::component_size(load)?)).collect()
    };
    let (mut series, mut claims) = (Vec::new(), Vec::new());
    series.push(
        Series::new("1 + 1/ε", Hue::Classical, Origin::Model, &drawn, limit(&drawn)?).in_panel(1),
    );
    for (index, (&power, found)) in SIZES.iter().zip(&found).enumerate() {
        let buckets = 10_u64.pow(power);
        let (name, hue) = (format!("m = {}", power_of_ten(power as i32)), Hue::Value(index as u8));
        let probability = |loads: &[f64]| -> Result<Vec<f64>, Error> {
            loads.iter().map(|&load| Ok(cuckoo::rehash_probability(load, buckets)?)).collect()
        };
        let (x, y): (Vec<f64>, Vec<f64>) = drawn
            .iter()
            .zip(probability(&drawn)?)
            .filter(|(_, probability)| *probability > SMALLEST_DRAWN)
            .unzip();
        series.push(Series::new(&name, hue, Origin::Model, &x, y));
        let (expected, bound) = (probability(&LOADS)?, limit(&LOADS)?);
        let graphs = (buckets_in_all(context.length) / buckets) as f64;
        let often: Vec<usize> =
            (0..LOADS.len()).filter(|&at| expected[at] * graphs >= LEAST_DRAWN).collect();
        let near: Vec<usize> = (0..LOADS.len())
            .filter(|&at| 0.25 * bound[at].powi(3) / (buckets as f64) < SMALL_SHORTFALL)
            .collect();
        for (side, (origin, what)) in
            [(Origin::Simulation, "random graphs"), (Origin::Map, "the tables' graphs")]
                .into_iter()
                .enumerate()
        {
            let of = |quantity: fn(&Measured) -> Estimate| -> Vec<Estimate> {
                found.iter().map(|sides| quantity(&sides[side])).collect()
            };
            let (cycles, sizes) = (of(|m| m.second_cycle), of(|m| m.component));
            claims.push(Claim::on_model(
                &format!("{name}: {what} have a second cycle as often as the model says"),
                &expected,
                &cycles,
            ));
            let text = format!("{name}: components of {what} have at most 1 + 1/ε buckets");
            claims.push(Claim::stated(
                "Slides, second theorem",
                Claim::at_most(&text, &bound, &sizes),
            ));
            if !near.is_empty() {
                let pick = |at: &usize| (bound[*at], sizes[*at]);
                let (bound, sizes): (Vec<_>, Vec<_>) = near.iter().map(pick).unzip();
                claims.push(Claim::on_model(
                    &format!("{name}: where m is large enough, components of {what} reach it"),
                    &bound,
                    &sizes,
                ));
            }
            if !often.is_empty() {
                let (x, cycles): (Vec<f64>, Vec<Estimate>) =
                    often.iter().map(|&at| (LOADS[at], cycles[at])).unzip();
                series.push(Series::measured(&name, hue, origin, &x, &cycles));
            }
            series.push(Series::measured(&name, hue, origin, &LOADS, &sizes).in_panel(1));
        }
    }
    // A terminating walk visits no slot twice in the same direction: with 2·100 slots it takes at most 400
    // steps, below the table's limit of 500.
    let smallest = || found[0].iter().map(|sides| &sides[1]);
    let excess: u64 = smallest().map(|table| table.excess).sum();
    let stashed: u64 = smallest().map(|table| table.stashed).sum();
    claims.push(Claim::new(
        "m = 10²: elements in the stashes, exactly those too many for their components",
        excess as f64,
        stashed as f64,
        0.0,
    ));
    let finding = format!(
        "At a load of 0.4 (ε = 0.25) components have {} buckets on average (bound 5), and {} % of \
         tables with 2·100 buckets have a second cycle, {} % of those with 2·1000; at 0.475 {} % \
         and {} %.",
        short(found[2][AT_0_4][1].component.mean),
        short(100.0 * found[0][AT_0_4][1].second_cycle.mean),
        short(100.0 * found[1][AT_0_4][1].second_cycle.mean),
        short(100.0 * found[0][AT_0_475][1].second_cycle.mean),
        short(100.0 * found[1][AT_0_475][1].second_cycle.mean),
    );
    Ok(Outcome {
        finding,
        notes: vec![
            "Buckets are nodes, elements are edges between their two buckets; n = 2m · load \
             elements, m = (1 + ε)n. A component with a second cycle has more elements than \
             buckets: the slides rehash, the library's tables put what is too many into the stash.",
            "The model of the second cycle is exact for every m (Kutzelnigg's generating function, \
             integrated). 1 + 1/ε bounds the mean component at every m and is its limit; near a \
             load of one half small tables stay below it. Probabilities are drawn where the model lets \
             expect 25 or more cases; all are checked.",
        ],
        x: Axis::linear("load n / 2m"),
        y: Axis::logarithmic("probability; buckets").of_each_panel(),
        panels: vec!["probability of a second cycle", "mean component of a bucket [buckets]"],
        plot: Plot { series, claims },
        ..Outcome::default()
    })
}
