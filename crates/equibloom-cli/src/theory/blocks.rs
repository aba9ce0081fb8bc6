//! Arguments for blocks beyond the papers: hints and fingerprints.

use anyhow::bail;
use equibloom::BlockKind;
use equibloom_theory::planner::{Plan, Requirements, plan};

use super::scheme::SchemeArguments;
use crate::answer;
use crate::quantity;

/// Kind and parameters of blocks; omitted parameters are chosen for the lowest rate.
#[derive(clap::Args)]
pub(super) struct BlockArguments {
    /// The kind of blocks: bloom or fingerprint.
    #[arg(long, value_name = "KIND", default_value = "bloom")]
    pub(super) block: BlockKind,
    /// Hint bits of a Bloom block: 0 (the papers' rule, by the load) to 64 [default: 0].
    #[arg(long, value_name = "COUNT")]
    hints: Option<u32>,
    /// Slots of a fingerprint block [default: the best number].
    #[arg(long, value_name = "COUNT")]
    slots: Option<u32>,
    /// Lists of a fingerprint block [default: the best number].
    #[arg(long, value_name = "COUNT")]
    lists: Option<u32>,
    /// Bits of a remainder in a fingerprint block [default: the best number].
    #[arg(long, value_name = "COUNT")]
    remainder_bits: Option<u32>,
    /// Store every insert, so that keys can be removed from fingerprint blocks.
    #[arg(long)]
    removable: bool,
    /// Maximum accesses of a miss with hints or fingerprints, on average.
    #[arg(long, value_name = "MEAN", default_value = "1.25", value_parser = quantity::real)]
    accesses_miss: f64,
}

impl BlockArguments {
    /// Whether the papers have such blocks.
    pub(super) fn are_of_the_papers(&self) -> bool {
        let of_slots = [self.slots, self.lists, self.remainder_bits];
        self.block == BlockKind::Bloom
            && self.hints.unwrap_or(0) == 0
            && !self.removable
            && of_slots == [None; 3]
    }

    /// The best filter of these blocks under a scheme's placement and limits, with at most its accesses per
    /// insert.
    pub(super) fn plan(
        &self,
        scheme: &SchemeArguments,
        keys: u64,
        memory: u64,
        block_bits: u32,
    ) -> anyhow::Result<Plan> {
        let SchemeArguments { placement, accesses, choices, overflow, alpha } = *scheme;
        if let Some(alpha) = alpha {
            bail!(
                "--alpha is {alpha}, but it is for one-plus-alpha only, without hints and fingerprints"
            );
        }
        let requirements = Requirements {
            keys: Some(keys),
            memory: Some(memory),
            accesses_miss: Some(self.accesses_miss),
            accesses_insert: Some(accesses),
            block_bits: Some(block_bits),
            choices: Some(choices),
            overflow,
            placement: Some(placement),
            block: Some(self.block),
            hints: self.hints,
            multiset: self.removable,
            slots: self.slots,
            lists: self.lists,
            remainder_bits: self.remainder_bits,
            ..Requirements::default()
        };
        plan(&requirements).map_err(answer::in_flags)
    }
}
