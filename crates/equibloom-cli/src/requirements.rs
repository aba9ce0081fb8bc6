//! Requirements of a filter: the flags shared by `equibloom plan` and `equibloom build`.

use anyhow::bail;
use equibloom::{BlockKind, DEFAULT_ACCESSES_MISS, Lookup, Placement};
use equibloom_theory::planner::{self, Plan, Requirements};

use crate::{answer, quantity};

/// A filter with a higher rate needs `--force`.
const MOST_RATE: f64 = 0.5;

#[derive(clap::Args)]
#[command(next_help_heading = "The filter")]
pub(crate) struct RequirementFlags {
    /// Highest false-positive rate, such as 0.1% or 1e-6.
    #[arg(long, value_name = "RATE", value_parser = quantity::share, allow_negative_numbers = true)]
    fpr: Option<f64>,
    /// Maximum memory, everything counted, such as 150MB or 1GiB.
    #[arg(long, value_name = "BYTES", value_parser = quantity::bytes, allow_negative_numbers = true)]
    memory: Option<u64>,
    /// Maximum memory per key in bits, everything counted.
    #[arg(long, value_name = "BITS", value_parser = quantity::real, allow_negative_numbers = true)]
    bits_per_key: Option<f64>,
    #[arg(long, value_name = "MEAN", value_parser = quantity::real, allow_negative_numbers = true)]
    #[arg(help = format!("Maximum accesses of a lookup of an absent key, on average [default: {DEFAULT_ACCESSES_MISS}]"))]
    accesses_miss: Option<f64>,
    /// Maximum accesses of an insert, on average.
    #[arg(long, value_name = "MEAN", value_parser = quantity::real, allow_negative_numbers = true)]
    accesses_insert: Option<f64>,
    /// Maximum cache lines of a lookup of an absent key, on average: for blocks larger than a line.
    #[arg(long, value_name = "MEAN", value_parser = quantity::real, allow_negative_numbers = true)]
    lines_miss: Option<f64>,
    /// Maximum cache lines of an insert, on average.
    #[arg(long, value_name = "MEAN", value_parser = quantity::real, allow_negative_numbers = true)]
    lines_insert: Option<f64>,
    /// Bits of a block: 64 to 32768 [default: a cache line, 512].
    #[arg(long, value_name = "BITS")]
    block_bits: Option<u32>,
    /// Maximum accesses of any key.
    #[arg(long, value_name = "COUNT")]
    choices: Option<u32>,
    /// Largest share of the keys in the overflow list, such as 0.5%.
    #[arg(long, value_name = "SHARE", value_parser = quantity::share, allow_negative_numbers = true)]
    overflow: Option<f64>,
    /// The placement, instead of the best one: classical, blocked, single, sequential, multi-level, two-choice
    /// or one-plus-alpha.
    #[arg(long, value_name = "NAME")]
    placement: Option<Placement>,
    /// The kind of blocks, instead of the better one: bloom or fingerprint.
    #[arg(long, value_name = "KIND")]
    block: Option<BlockKind>,
    /// Hint bits of a Bloom block, instead of the best number: 0 (the papers' rule, by the load) to 64.
    #[arg(long, value_name = "COUNT")]
    hints: Option<u32>,
    /// Allow keys to be removed (`equibloom remove`): every occurrence of a key is stored, in fingerprint
    /// blocks.
    #[arg(long)]
    removable: bool,
    /// Filters of parts of the keys will be merged (`equibloom merge`) into one that is as good as a filter of all.
    #[arg(long)]
    mergeable: bool,
    /// Plan for so many keys more, at the same rate, such as 20% [default: 10% and at least 4 if `build` counts the
    /// keys, else 0].
    #[arg(long, value_name = "SHARE", value_parser = quantity::ratio, allow_negative_numbers = true)]
    headroom: Option<f64>,
    /// Keys will be looked up one by one: in the given memory, accept up to a quarter more false positives for
    /// faster lookups.
    #[arg(long)]
    one_by_one: bool,
    /// Accept a filter that says yes to most absent keys.
    #[arg(long)]
    force: bool,
}

impl RequirementFlags {
    /// The requirements for this many keys, if known.
    pub(crate) fn requirements(&self, keys: Option<u64>) -> Requirements {
        Requirements {
            keys,
            memory: self.memory,
            bits_per_key: self.bits_per_key,
            rate: self.fpr,
            accesses_miss: self.accesses_miss,
            accesses_insert: self.accesses_insert,
            lines_miss: self.lines_miss,
            lines_insert: self.lines_insert,
            block_bits: self.block_bits,
            choices: self.choices,
            overflow: self.overflow,
            placement: self.placement,
            block: self.block,
            hints: self.hints,
            multiset: self.removable,
            mergeable: self.mergeable,
            headroom: self.headroom,
            prefer: self.one_by_one.then_some(Lookup::OneByOne),
            ..Requirements::default()
        }
    }

    /// The best filter, unless it would say yes to most absent keys.
    pub(crate) fn plan(&self, requirements: &Requirements) -> anyhow::Result<Plan> {
        let when_full = requirements.when_full.or_else(|| requirements.default_policy());
        let requirements = &Requirements { when_full, ..requirements.clone() };
        let plan = planner::plan(requirements).map_err(answer::in_flags)?;
        if plan.rate() <= MOST_RATE || requirements.rate.is_some() || self.force {
            return Ok(plan);
        }
        let (keys, rate) = (Some(plan.keys), Some(0.01));
        let enough =
            Requirements { keys, rate, memory: None, bits_per_key: None, ..requirements.clone() };
        let enough = planner::plan(&enough).map_err(answer::in_flags)?;
        bail!(
            "{} in {} bytes: the filter would say yes to {:.1} % of absent keys. Give --memory {} for 1 %, or \
             --force to have it all the same",
            answer::count(plan.keys, "key"),
            plan.bytes(),
            100.0 * plan.rate(),
            enough.bytes()
        )
    }
}
