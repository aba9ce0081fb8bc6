//! `equibloom theory fluid`: the loads while a table fills.

use std::fmt;

use anyhow::ensure;
use equibloom_theory::fluid::{Scheme as Flow, State, Tables, trace};
use equibloom_theory::paper::Scheme;
use serde::Serialize;

use super::optimum;
use super::scheme::SchemeArguments;
use crate::answer::{self, number};
use crate::quantity;

/// Loads, accesses and overflow while a table fills, by the differential equations of the papers.
///
/// Thresholds are the optimal ones.
///
/// Example: equibloom theory fluid --placement multi-level --load 8 --accesses 1.2 --choices 3 --steps 5
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    scheme: SchemeArguments,
    /// Elements per bucket in the end.
    #[arg(long, value_name = "MEAN", value_parser = quantity::real)]
    load: f64,
    /// At how many times to look, the end included.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    steps: u32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// More than anybody will read.
const MOST_STEPS: u32 = 1000;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { load, steps, .. } = *arguments;
    ensure!(
        (1..=MOST_STEPS).contains(&steps),
        "--steps is {steps}, but it must be between 1 and {MOST_STEPS}"
    );
    let flow = flow(arguments)?;
    let times: Vec<f64> = (1..=steps).map(|step| f64::from(step) / f64::from(steps)).collect();
    let states = trace(&flow, load, &times).map_err(answer::in_flags)?;
    answer::print(
        &Answer { states: states.into_iter().map(Moment::from).collect() },
        arguments.json,
    )
}

fn flow(arguments: &Arguments) -> anyhow::Result<Flow> {
    let scheme = arguments.scheme.scheme()?;
    let second_choice = match scheme {
        Scheme::Classical => anyhow::bail!("--placement classical has no buckets that could fill"),
        Scheme::Blocked => Some(0.0),
        Scheme::TwoChoice => Some(1.0),
        Scheme::OnePlusAlpha { alpha } => Some(alpha),
        _ => None,
    };
    if let Some(second_choice) = second_choice {
        return Ok(Flow::LessLoaded { second_choice });
    }
    let optimum = optimum::of_scheme(scheme, arguments.load)?;
    let tables = match scheme {
        Scheme::MultiLevel { .. } => Tables::Subtables(optimum.subtables),
        Scheme::Sequential { choices, .. } => Tables::Shared { choices },
        _ => Tables::Shared { choices: 1 },
    };
    Ok(Flow::Threshold { threshold: optimum.threshold, probability: optimum.probability, tables })
}

#[derive(Serialize)]
struct Answer {
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

impl From<State> for Moment {
    fn from(State { time, loads, accesses, overflow }: State) -> Self {
        Self { time, accesses, overflow, loads }
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
