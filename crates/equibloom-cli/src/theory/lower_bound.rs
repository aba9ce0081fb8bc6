//! `equibloom theory lower-bound`: the bound that no scheme can beat.

use std::fmt;

use equibloom_theory::lower_bound::{costs, lower_bound};
use serde::Serialize;

use crate::answer::{self, number};
use crate::quantity;

/// The distribution of loads that no scheme can beat, and its cost (Theorems 1 and 2).
///
/// Exit status: 0, or 2 after an error.
///
/// Example: equibloom theory lower-bound --load 8 --accesses 1.2 --overflow 0
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Arguments {
    /// Elements per bucket.
    #[arg(long, value_name = "MEAN", value_parser = quantity::real)]
    load: f64,
    /// Bucket accesses per element, on average.
    #[arg(long, value_name = "MEAN", value_parser = quantity::real)]
    accesses: f64,
    /// Share of the elements in the overflow list.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = quantity::share)]
    overflow: f64,
    /// Bits of a bucket that is a Bloom block, to bound its false-positive rate too (with --hashes).
    #[arg(long, value_name = "BITS", requires = "hashes")]
    block_bits: Option<u32>,
    /// Hash functions of that block.
    #[arg(long, value_name = "COUNT", requires = "block_bits")]
    hashes: Option<u32>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { load, accesses, overflow, .. } = *arguments;
    let bound = lower_bound(load, accesses, overflow).map_err(answer::in_flags)?;
    let rate = match (arguments.block_bits, arguments.hashes) {
        (Some(bits), Some(hashes)) => {
            anyhow::ensure!(bits > 0, "--block-bits is 0, but it must be at least 1");
            anyhow::ensure!(
                (1..=4096).contains(&hashes),
                "--hashes is {hashes}, but it must be between 1 and 4096"
            );
            let cost = costs::bloom_block(f64::from(bits), hashes);
            Some(bound.cost(cost).map_err(answer::in_flags)?)
        }
        _ => None,
    };
    let answer = Answer {
        k0: bound.k0,
        e0: bound.e0,
        p0: bound.p0,
        mean_load: bound.mean_load(),
        variance: bound.variance().map_err(answer::in_flags)?,
        max_load: bound.max_load(),
        rate,
        distribution: bound.distribution,
    };
    answer::print(&answer, arguments.json)
}

#[derive(Serialize)]
struct Answer {
    /// None when infinite.
    k0: Option<u32>,
    e0: f64,
    p0: f64,
    mean_load: f64,
    variance: f64,
    max_load: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
    distribution: Vec<f64>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.k0 {
            Some(k0) => writeln!(f, "k0            {k0}")?,
            None => {
                writeln!(f, "k0            infinite: nothing may be moved, so loads are Poisson")?
            }
        }
        writeln!(f, "mean load     {}", number(self.mean_load))?;
        writeln!(f, "variance      {}", number(self.variance))?;
        if let Some(max) = self.max_load {
            writeln!(f, "maximum load  {max}")?;
        }
        if let Some(rate) = self.rate {
            writeln!(
                f,
                "false-positive rate of a block, by the papers' formula, at least {}",
                number(rate)
            )?;
        }
        writeln!(f, "\nload  probability")?;
        let carrying = self.distribution.iter().enumerate().filter(|(_, mass)| **mass > 1e-9);
        carrying.into_iter().try_for_each(|(load, mass)| writeln!(f, "{load:>4}  {mass:.9}"))
    }
}
