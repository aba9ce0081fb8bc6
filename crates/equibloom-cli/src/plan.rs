//! `equibloom plan`: the best filter for what somebody wants, with reasons.

use std::fmt;

use equibloom::{Parameters, PlacementName};
use equibloom_theory::planner::{self, Plan, Wishes};
use serde::Serialize;

use crate::answer::{self, number};
use crate::quantity;

/// Finds the best filter for your keys, memory, rate and accesses, and says why.
///
/// Give keys with memory, bits per key or a rate; or memory with a rate or bits per key. Everything else is
/// chosen so that the false-positive rate is lowest.
///
/// Example: equibloom plan --keys 100M --memory 150MB
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Arguments {
    /// Number of keys, such as 250000, 100M or 1e9.
    #[arg(long, value_name = "COUNT", value_parser = quantity::count)]
    keys: Option<u64>,
    /// Most memory, everything counted, such as 150MB or 1GiB.
    #[arg(long, value_name = "BYTES", value_parser = quantity::bytes)]
    memory: Option<u64>,
    /// Most memory per key, everything counted.
    #[arg(long, value_name = "BITS", value_parser = quantity::real)]
    bits_per_key: Option<f64>,
    /// Highest false-positive rate, such as 0.1% or 1e-6.
    #[arg(long, value_name = "RATE", value_parser = quantity::share)]
    fpr: Option<f64>,
    /// Most accesses of a lookup of an absent key, on average [default: 1.5].
    #[arg(long, value_name = "MEAN", value_parser = quantity::real)]
    accesses_miss: Option<f64>,
    /// Most accesses of an insert, on average.
    #[arg(long, value_name = "MEAN", value_parser = quantity::real)]
    accesses_insert: Option<f64>,
    /// Bits of a block: 64 to 32768 [default: a cache line, 512].
    #[arg(long, value_name = "BITS")]
    block_bits: Option<u32>,
    /// Most accesses of any key.
    #[arg(long, value_name = "COUNT")]
    choices: Option<u32>,
    /// Largest share of the keys in the overflow list, such as 0.5%.
    #[arg(long, value_name = "SHARE", value_parser = quantity::share)]
    overflow: Option<f64>,
    /// The placement, instead of the best one: classical, blocked, single, sequential, multi-level, two-choice
    /// or one-plus-alpha.
    #[arg(long, value_name = "NAME")]
    placement: Option<PlacementName>,
    /// Bits of the hash, if it is not the library's own [default: 128].
    #[arg(long, value_name = "BITS")]
    hash_bits: Option<u32>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let wishes = Wishes {
        keys: arguments.keys,
        memory: arguments.memory,
        bits_per_key: arguments.bits_per_key,
        rate: arguments.fpr,
        accesses_miss: arguments.accesses_miss,
        accesses_insert: arguments.accesses_insert,
        block_bits: arguments.block_bits,
        choices: arguments.choices,
        overflow: arguments.overflow,
        placement: arguments.placement,
        hash_bits: arguments.hash_bits,
        ..Wishes::default()
    };
    let plan = planner::plan(&wishes).map_err(answer::in_flags)?;
    answer::print(&Answer::from(plan), arguments.json)
}

#[derive(Serialize)]
struct Answer {
    placement: &'static str,
    /// None for the classical filter.
    block: Option<Block>,
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
    overflow: f64,
    /// Lookups of absent keys that look into the overflow list too.
    overflow_probes_miss: f64,
    parameters: Parameters,
    reasons: Vec<String>,
}

#[derive(Serialize)]
struct Block {
    kind: &'static str,
    bits: u32,
}

impl From<Plan> for Answer {
    fn from(plan: Plan) -> Self {
        Self {
            placement: plan.layout.placement().as_str(),
            block: plan.layout.blocks().map(|blocks| Block { kind: "bloom", bits: blocks.bits }),
            keys: plan.keys,
            rate: plan.rate(),
            rate_deviation: plan.expected.rate_deviation,
            bytes: plan.bytes(),
            bits_per_key: plan.bits_per_key(),
            accesses_miss: plan.expected.accesses_miss,
            accesses_insert: plan.expected.accesses_insert,
            accesses_hit: plan.expected.accesses_hit,
            lines_miss: plan.lines_miss,
            overflow: plan.expected.overflow_fraction,
            overflow_probes_miss: plan.expected.overflow_probes_miss,
            parameters: Parameters::from(&plan),
            reasons: plan.reasons,
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.placement)?;
        if let Some(block) = &self.block {
            write!(f, ", blocks of {} bits", block.bits)?;
        }
        writeln!(f, ", for {} keys\n", self.keys)?;
        writeln!(f, "  false-positive rate   {}", number(self.rate))?;
        let (bytes, bits) = (self.bytes, self.bits_per_key);
        writeln!(f, "  memory                {bytes} bytes, {bits:.2} bits per key")?;
        let (miss, lines) = (self.accesses_miss, self.lines_miss);
        writeln!(f, "  accesses per miss     {miss:.3} ({lines:.3} cache lines)")?;
        writeln!(f, "  accesses per insert   {:.3}", self.accesses_insert)?;
        writeln!(f, "  accesses per hit      {:.3}", self.accesses_hit)?;
        if self.overflow > 0.0 {
            writeln!(f, "  keys in overflow      {:.4} %", 100.0 * self.overflow)?;
            writeln!(f, "  misses that look there {:.3} %", 100.0 * self.overflow_probes_miss)?;
        }
        writeln!(f, "\nWhy:")?;
        self.reasons.iter().try_for_each(|reason| writeln!(f, "- {reason}"))
    }
}
