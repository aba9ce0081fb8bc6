//! `equibloom theory fluid`: the loads while a table fills.

use std::fmt;

use anyhow::{bail, ensure};
use equibloom::{Placement, Proportions, Rule, Share};
use equibloom_theory::fluid::{Process, State};
use equibloom_theory::paper::Scheme;
use serde::Serialize;

use super::optimum;
use super::scheme::SchemeArguments;
use crate::answer::{self, number};
use crate::quantity;

/// Loads, accesses and overflow while a table fills, by the differential equations of the papers.
///
/// Threshold, coin and subtables are the optimal ones, and placing stops when the accesses are spent. With --threshold
/// they are those given.
///
/// Exit status: 0, or 2 after an error.
///
/// Examples: equibloom theory fluid --placement multi-level --load 8 --accesses 1.2 --choices 3 --steps 5;
/// equibloom theory fluid --placement multi-level --load 8 --threshold 8 --subtables 0.8,0.15,0.05 --budget 1.2
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    scheme: SchemeArguments,
    /// Final number of elements per bucket.
    #[arg(long, value_name = "MEAN", value_parser = quantity::real)]
    load: f64,
    /// A bucket below this load admits every element.
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["accesses", "overflow", "alpha"])]
    threshold: Option<u32>,
    /// A bucket at the threshold admits an element with this probability.
    #[arg(long, value_name = "SHARE", requires = "threshold", value_parser = quantity::share)]
    probability: Option<f64>,
    /// Shares of the buckets, one for each subtable of multi-level: 0.8,0.15,0.05.
    #[arg(long, value_name = "SHARES", requires = "threshold", value_delimiter = ',',
        value_parser = quantity::real)]
    subtables: Vec<f64>,
    /// Accesses per element after which placing stops, and elements overflow: no limit by default.
    #[arg(long, value_name = "MEAN", requires = "threshold", value_parser = quantity::real)]
    budget: Option<f64>,
    /// Number of times shown, the end included.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    steps: u32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Limit for a readable table.
const MOST_STEPS: u32 = 1000;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let steps = arguments.steps;
    ensure!(
        (1..=MOST_STEPS).contains(&steps),
        "--steps is {steps}, but it must be between 1 and {MOST_STEPS}"
    );
    let times: Vec<f64> = (1..=steps).map(|step| f64::from(step) / f64::from(steps)).collect();
    let states = process(arguments)?.trace(&times).map_err(answer::in_flags)?;
    answer::print(&Answer::new(states), arguments.json)
}

/// The candidates of an element, the rule that selects one, and when placing stops.
fn process(arguments: &Arguments) -> anyhow::Result<Process> {
    let load = arguments.load;
    if let Some(below) = arguments.threshold {
        let coin = Share::new(arguments.probability.unwrap_or(0.0))?;
        let candidates = candidates_of(&arguments.scheme, &arguments.subtables)?;
        let process = Process::new(candidates, Rule::FirstWithRoom { below, coin }, load);
        return Ok(Process { budget: arguments.budget, ..process });
    }
    let scheme = arguments.scheme.scheme()?;
    let least_loaded = |candidates| Process::new(candidates, Rule::LeastLoaded, load);
    Ok(match scheme {
        Scheme::Classical => bail!("--placement classical has no buckets that could fill"),
        Scheme::Blocked => least_loaded(Proportions::anywhere(1)),
        Scheme::TwoChoice => least_loaded(Proportions::anywhere(2)),
        Scheme::OnePlusAlpha { alpha } => {
            least_loaded(Proportions::Anywhere { choices: 2, share: Share::new(alpha)? })
        }
        _ => optimum::of_scheme(scheme, load)?.process(load),
    })
}

/// The candidates of a placement by a given threshold.
fn candidates_of(scheme: &SchemeArguments, subtables: &[f64]) -> anyhow::Result<Proportions> {
    let placement = scheme.placement;
    Ok(match placement {
        Placement::MultiLevel if subtables.is_empty() => {
            bail!("multi-level with --threshold needs --subtables, shares such as 0.8,0.15,0.05")
        }
        Placement::MultiLevel => Proportions::subtables(subtables)?,
        _ if !subtables.is_empty() => bail!(
            "--subtables has {} shares, but {placement} has no subtables: leave it out",
            subtables.len()
        ),
        Placement::Single => Proportions::anywhere(1),
        Placement::Sequential => Proportions::anywhere(scheme.choices),
        _ => bail!(
            "--threshold is for single, sequential and multi-level, not for {placement}: leave it out"
        ),
    })
}

#[derive(Serialize)]
struct Answer {
    /// In the end.
    accesses_insert: f64,
    overflow: f64,
    states: Vec<Moment>,
}

#[derive(Serialize)]
struct Moment {
    time: f64,
    accesses: f64,
    overflow: f64,
    /// Per table, the fraction of buckets by load.
    loads: Vec<Vec<f64>>,
}

impl Answer {
    fn new(states: Vec<State>) -> Self {
        let end = states.last().map_or((0.0, 0.0), |end| (end.accesses, end.overflow));
        let moment = |State { time, loads, accesses, overflow, .. }| Moment {
            time,
            accesses,
            overflow,
            loads,
        };
        let states = states.into_iter().map(moment).collect();
        Self { accesses_insert: end.0, overflow: end.1, states }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  time  accesses   overflow  mean loads of the tables")?;
        for Moment { time, accesses, overflow, loads } in &self.states {
            let mean = |table: &Vec<f64>| -> f64 {
                table.iter().enumerate().map(|(load, share)| load as f64 * share).sum()
            };
            let means: Vec<String> = loads.iter().map(|table| number(mean(table))).collect();
            let (accesses, overflow) = (number(*accesses), number(*overflow));
            writeln!(f, "{time:>6.3}  {accesses:>8}  {overflow:>9}  {}", means.join(", "))?;
        }
        Ok(())
    }
}
