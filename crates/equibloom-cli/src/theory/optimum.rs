//! `equibloom theory optimum`: the parameters that reach the lower bound.

use std::fmt;

use anyhow::Context;
use equibloom::Proportions;
use equibloom_theory::optimum::Optimum;
use equibloom_theory::paper::Scheme;
use serde::Serialize;

use super::scheme::SchemeArguments;
use crate::answer::{self, number};
use crate::quantity;

/// Threshold, coin, subtables and overflow with which a placement reaches the lower bound (Theorems 3 to 6).
///
/// Without --overflow the least overflow is found; with it the parameters at that point of the optimality
/// region.
///
/// Exit status: 0, or 2 after an error.
///
/// Example: equibloom theory optimum --placement multi-level --load 8 --accesses 1.2 --choices 3
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    scheme: SchemeArguments,
    /// Elements per bucket.
    #[arg(long, value_name = "MEAN", value_parser = quantity::real)]
    load: f64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let optimum = of_scheme(arguments.scheme.scheme()?, arguments.load)?;
    answer::print(&Answer::from(optimum), arguments.json)
}

/// The optimum of a scheme that has one.
pub(super) fn of_scheme(scheme: Scheme, load: f64) -> anyhow::Result<Optimum> {
    let found = scheme.optimum(load).map_err(answer::in_flags)?;
    found.context("--placement has no threshold to choose: give single, sequential or multi-level")
}

#[derive(Serialize)]
struct Answer {
    overflow: f64,
    accesses: f64,
    threshold: u32,
    probability: f64,
    /// Fractions of the table; they add up to 1.
    subtables: Vec<f64>,
}

impl From<Optimum> for Answer {
    fn from(optimum: Optimum) -> Self {
        let Optimum { threshold, probability, overflow, accesses, candidates } = optimum;
        let subtables = match candidates {
            Proportions::Subtables { shares } => shares.to_vec(),
            Proportions::Anywhere { .. } => vec![1.0],
        };
        Self { overflow, accesses, threshold, probability, subtables }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "threshold    {} (a bucket at it takes an element with probability {})",
            self.threshold,
            number(self.probability)
        )?;
        writeln!(f, "overflow     {:.5} %", 100.0 * self.overflow)?;
        writeln!(f, "accesses     {} per insert", number(self.accesses))?;
        let shares: Vec<String> = self.subtables.iter().map(|&share| number(share)).collect();
        writeln!(f, "subtables    {}", shares.join(", "))
    }
}
