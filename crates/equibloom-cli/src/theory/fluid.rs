//! `equibloom theory fluid`: the loads while a table fills.

use std::fmt;

use anyhow::{bail, ensure};
use equibloom::{Proportions, Rule, Share};
use equibloom_theory::fluid::{State, trace};
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
    /// Final number of elements per bucket.
    #[arg(long, value_name = "MEAN", value_parser = quantity::real)]
    load: f64,
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
    let Arguments { load, steps, .. } = *arguments;
    ensure!(
        (1..=MOST_STEPS).contains(&steps),
        "--steps is {steps}, but it must be between 1 and {MOST_STEPS}"
    );
    let (candidates, rule) = flow(arguments)?;
    let times: Vec<f64> = (1..=steps).map(|step| f64::from(step) / f64::from(steps)).collect();
    let states = trace(&candidates, rule, load, &times).map_err(answer::in_flags)?;
    answer::print(
        &Answer { states: states.into_iter().map(Moment::from).collect() },
        arguments.json,
    )
}

/// The candidates of an element and the rule that selects one.
fn flow(arguments: &Arguments) -> anyhow::Result<(Proportions, Rule)> {
    let scheme = arguments.scheme.scheme()?;
    Ok(match scheme {
        Scheme::Classical => bail!("--placement classical has no buckets that could fill"),
        Scheme::Blocked => (Proportions::anywhere(1), Rule::LeastLoaded),
        Scheme::TwoChoice => (Proportions::anywhere(2), Rule::LeastLoaded),
        Scheme::OnePlusAlpha { alpha } => {
            (Proportions::Anywhere { choices: 2, share: Share::new(alpha)? }, Rule::LeastLoaded)
        }
        _ => {
            let optimum = optimum::of_scheme(scheme, arguments.load)?;
            (optimum.candidates, optimum.rule())
        }
    })
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
