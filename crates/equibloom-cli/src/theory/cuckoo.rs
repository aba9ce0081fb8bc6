//! `equibloom theory cuckoo`: components, rehashes and costs of cuckoo hashing.

use std::fmt;

use equibloom_theory::cuckoo;
use serde::Serialize;

use crate::answer::{self, number};
use crate::quantity;

/// Cuckoo hashing with two tables of one slot a bucket: components, rehashes, and what they cost (the slides' theorems).
///
/// Exit status: 0, or 2 after an error.
///
/// Example: equibloom theory cuckoo --epsilon 0.25 --buckets 1000
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Arguments {
    /// ε, with m = (1 + ε)n buckets in each table for n elements.
    #[arg(long, value_name = "SHARE", value_parser = quantity::real)]
    epsilon: f64,
    /// Buckets m of each table.
    #[arg(long, value_name = "COUNT", value_parser = quantity::count)]
    buckets: u64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { epsilon, buckets, .. } = *arguments;
    let answer = Answer::new(epsilon, buckets).map_err(answer::in_flags)?;
    answer::print(&answer, arguments.json)
}

#[derive(Serialize)]
struct Answer {
    load: f64,
    /// 1 + 1/ε.
    component: f64,
    rehash_probability: f64,
    rehashes: f64,
    insertion_cost: f64,
    rehash_cost: f64,
    total_rehash_cost: f64,
}

impl Answer {
    fn new(epsilon: f64, buckets: u64) -> Result<Self, equibloom_theory::Error> {
        let load = cuckoo::load_of_epsilon(epsilon)?;
        let rehashes = cuckoo::rehashes(load, buckets)?;
        let rehash_cost = cuckoo::rehash_cost_bound(load, buckets)?;
        Ok(Self {
            load,
            component: cuckoo::component_size(load)?,
            rehash_probability: cuckoo::rehash_probability(load, buckets)?,
            rehashes,
            insertion_cost: cuckoo::insertion_cost_bound(load)?,
            rehash_cost,
            total_rehash_cost: rehashes * rehash_cost,
        })
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = [
            ("load, n / 2m", self.load, ""),
            ("buckets of a component", self.component, "on average, 1 + 1/ε"),
            ("accesses of an insert", self.insertion_cost, "at most on average, 1 + 1/ε"),
            ("probability of a rehash", self.rehash_probability, "a component has a second cycle"),
            ("rehashes per build", self.rehashes, "on average"),
            ("accesses of a rehash", self.rehash_cost, "at most on average, 2m + n(1 + 1/ε)"),
            ("accesses of all rehashes", self.total_rehash_cost, "at most on average"),
        ];
        lines.iter().try_for_each(|(name, value, what)| {
            writeln!(f, "{}", format!("{name:<26}{:<12}{what}", number(*value)).trim_end())
        })
    }
}
