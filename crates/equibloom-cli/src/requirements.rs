//! Requirements of a filter: the flags shared by `equibloom plan` and `equibloom build`.

use equibloom::{BlockKind, DEFAULT_ACCESSES_MISS, Placement};
use equibloom_theory::planner::Requirements;

use crate::quantity;

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
            block_bits: self.block_bits,
            choices: self.choices,
            overflow: self.overflow,
            placement: self.placement,
            block: self.block,
            hints: self.hints,
            multiset: self.removable,
            ..Requirements::default()
        }
    }
}
