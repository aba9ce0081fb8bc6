//! `equibloom plan`: the best filter for given requirements, with reasons.

use std::fmt;

use equibloom::{Blocks, Parameters};
use equibloom_theory::planner::{Plan, Requirements};
use serde::Serialize;

use crate::answer::{self, count, rate};
use crate::describe::describe;
use crate::quantity;
use crate::requirements::RequirementFlags;

const EXAMPLES: &str = "Examples:
  equibloom plan --keys 100M --memory 150MB
  equibloom plan --keys 1M --fpr 1e-6 --removable
  equibloom plan --keys 1M --bits-per-key 24 --block bloom --accesses-miss 1.1";

/// Finds the best filter for your keys, memory, rate and accesses, and explains it.
///
/// Give keys with memory, bits per key or a rate; or memory with a rate or bits per key. All other parameters
/// are chosen for the lowest false-positive rate. `equibloom build` with the same options and as many keys makes this
/// filter, to the byte; where it counts the keys itself, that is with --headroom 10%.
///
/// Exit status: 0 if there is such a filter, 2 if not.
#[derive(clap::Args)]
#[command(allow_negative_numbers = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Number of keys, such as 250000, 100M or 1e9.
    #[arg(long, value_name = "COUNT", value_parser = quantity::count)]
    keys: Option<u64>,
    #[command(flatten)]
    requirements: RequirementFlags,
    /// Bits of the hash, if it is not the library's own [default: 128].
    #[arg(long, value_name = "BITS")]
    hash_bits: Option<u32>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { keys, hash_bits, ref requirements, .. } = *arguments;
    let wanted = Requirements { hash_bits, ..requirements.requirements(keys) };
    let plan = requirements.plan(&wanted)?;
    answer::print(&Answer::from(plan), arguments.json)
}

#[derive(Serialize)]
struct Answer {
    /// Name and sizes.
    filter: String,
    placement: &'static str,
    /// `None` for the classical filter and for a list.
    block: Option<Blocks>,
    /// Whether keys can be removed.
    removable: bool,
    keys: u64,
    rate: f64,
    /// Standard deviation of the rate from one filter to the next.
    rate_deviation: f64,
    bytes: u64,
    bits_per_key: f64,
    accesses_miss: f64,
    accesses_insert: f64,
    accesses_hit: f64,
    lines_miss: f64,
    lines_insert: f64,
    overflow: f64,
    /// Lookups of absent keys that also read the overflow list.
    overflow_probes_miss: f64,
    parameters: Parameters,
    reasons: Vec<String>,
    /// Why not another placement or kind of blocks.
    alternatives: Vec<String>,
}

impl From<Plan> for Answer {
    fn from(plan: Plan) -> Self {
        let layout = plan.design.layout();
        Self {
            filter: describe(&plan.design),
            placement: plan.design.placement().as_str(),
            block: layout.map(|layout| layout.blocks),
            removable: plan.design.is_multiset(),
            keys: plan.keys,
            rate: plan.rate(),
            rate_deviation: plan.expected.rate_deviation,
            bytes: plan.bytes(),
            bits_per_key: plan.bits_per_key(),
            accesses_miss: plan.expected.accesses_miss,
            accesses_insert: plan.expected.accesses_insert,
            accesses_hit: plan.expected.accesses_hit,
            lines_miss: plan.lines_miss,
            lines_insert: plan.lines_insert,
            overflow: plan.expected.overflow_fraction,
            overflow_probes_miss: plan.expected.overflow_probes_miss,
            alternatives: plan.alternatives(),
            parameters: Parameters { keys: plan.keys, seed: 0, design: plan.design },
            reasons: plan.reasons,
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}; for {}\n", self.filter, count(self.keys, "key"))?;
        writeln!(f, "  false-positive rate   {}", rate(self.rate))?;
        let (bytes, bits) = (self.bytes, self.bits_per_key);
        writeln!(f, "  memory                {bytes} bytes, {bits:.2} bits per key")?;
        let (miss, lines) = (self.accesses_miss, self.lines_miss);
        writeln!(f, "  accesses per miss     {miss:.3} ({lines:.3} cache lines)")?;
        let (insert, lines) = (self.accesses_insert, self.lines_insert);
        writeln!(f, "  accesses per insert   {insert:.3} ({lines:.3} cache lines)")?;
        writeln!(f, "  accesses per hit      {:.3}", self.accesses_hit)?;
        if self.overflow > 0.0 {
            writeln!(f, "  keys in overflow      {:.4} %", 100.0 * self.overflow)?;
            let misses = 100.0 * self.overflow_probes_miss;
            writeln!(f, "  misses that look there {misses:.3} %")?;
        }
        writeln!(f, "\nWhy:")?;
        self.reasons
            .iter()
            .chain(&self.alternatives)
            .try_for_each(|reason| writeln!(f, "- {reason}"))
    }
}
