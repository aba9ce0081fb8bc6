//! Balanced Fig. 5, energy Fig. 2: the loads of the single-choice scheme while it fills.

use equibloom::{Filter, Parameters};
use equibloom_layout::{Blocks, Layout, Overflow, Rule, Share, WhenFull};
use equibloom_theory::fluid::{Process, State};

use crate::experiments::prelude::*;
use crate::simulator::{Snapshot, fill};

const ELEMENTS: u64 = 25_000;
const BUCKETS: u64 = 10_000;
const THRESHOLD: u32 = 2;
/// Its blocks are so wide that no key is apparently present.
const LAYOUT: Layout = Layout::single(
    Blocks::bloom(256, 20),
    BUCKETS,
    Rule::FirstWithRoom { below: THRESHOLD, coin: Share::clamped(0.5) },
)
.with_overflow(Overflow { capacity: ELEMENTS, when_full: WhenFull::Refuse });
/// Measured moments.
const STEPS: u64 = 20;

fn repetitions(length: Length) -> u64 {
    length.choose(20, 100, 1_000)
}

pub(super) fn parameters(length: Length) -> String {
    let repetitions = repetitions(length);
    format!("r = 2.5, p = 0.5, h = 2, n = 25000, m = 10000, {repetitions} repetitions")
}

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let repetitions = repetitions(context.length);
    let times: Vec<f64> = (0..=100).map(|step| f64::from(step) / 100.0).collect();
    let Layout { candidates, rule, .. } = LAYOUT;
    let load = ELEMENTS as f64 / BUCKETS as f64;
    let model = Process::new(candidates.proportions(), rule, load).trace(&times)?;
    let moments: Vec<u64> = (0..=STEPS).map(|step| step * ELEMENTS / STEPS).collect();
    let simulated = context.repeat("simulation", repetitions, |seed| {
        let snapshots = fill(&candidates, rule, None, &moments, seed);
        Ok(snapshots.iter().map(Snapshot::all_loads).collect::<Vec<_>>())
    })?;
    (context.progress)(0.3);
    let filtered = context.repeat("filter", repetitions, |seed| loads_of_filter(&moments, seed))?;

    let mut plot = Plot::default();
    let measured_times: Vec<f64> =
        moments.iter().map(|&moment| moment as f64 / ELEMENTS as f64).collect();
    for load in 0..=THRESHOLD as usize + 1 {
        let share = |state: &State| state.loads[0][load];
        let (name, hue) = (format!("f{}", ['₀', '₁', '₂', '₃'][load]), Hue::Value(load as u8));
        let y = model.iter().map(share).collect();
        plot.series.push(Series::new(&name, hue, Origin::Model, &times, y));
        let expected: Vec<f64> = model.iter().step_by(100 / STEPS as usize).map(share).collect();
        let curve = Series::new(&name, hue, Origin::Model, &measured_times, expected.clone());
        let sides = [(Origin::Simulation, &simulated), (Origin::Filter, &filtered)];
        let sides = sides.map(|(origin, runs)| {
            let at = |(step, &expected): (usize, &f64)| {
                let count = runs.iter().filter_map(|run| run[step].get(load)).sum();
                Estimate::of_share(count, (BUCKETS * repetitions) as f64, expected)
            };
            (origin, expected.iter().enumerate().map(at).collect())
        });
        plot.compare(&curve, &format!("{name}: the {{}} lies on the model"), sides);
    }
    let last: Vec<f64> = model.last().map(|state| state.loads[0].clone()).unwrap_or_default();
    plot.claims.push(Claim::new("the model's shares add up to one", 1.0, last.iter().sum(), 1e-9));
    let finding = format!(
        "At t = 1 the model has f₀ … f₃ = {}; simulation and filter stay on it at every moment.",
        last.iter().map(|&share| short(share)).collect::<Vec<_>>().join(", "),
    );
    Ok(Outcome {
        finding,
        notes: vec![
            "The equation of load h + 1 is printed with F(h − 1); mass is conserved with F(h) \
             only, which is what is drawn (erratum 1).",
        ],
        x: Axis::linear("time t (share of the elements that have come)"),
        y: Axis::linear("share of buckets f(t)"),
        plot,
        ..Outcome::default()
    })
}

/// The counters of one of the library's filters at every moment.
fn loads_of_filter(moments: &[u64], seed: u64) -> Result<Vec<Vec<u64>>, Error> {
    let mut filter = Filter::new(&Parameters { keys: ELEMENTS, seed, design: LAYOUT.into() })?;
    let mut inserted = 0;
    let after = |&moment: &u64| {
        filter.try_extend(inserted..moment)?;
        inserted = moment;
        Ok(filter.statistics().loads())
    };
    moments.iter().map(after).collect()
}
