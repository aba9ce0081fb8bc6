//! The maps that are compared, and the lower bound.

use anyhow::Context;
use equibloom::MAX_CHOICES;
use equibloom_tables::BucketPlan;
use equibloom_theory::lower_bound::lower_bound;
use equibloom_theory::optimum::{self, Optimum};

use super::Arguments;

/// A balanced map with the least variance of bucket sizes for its accesses and overflow.
pub(super) struct BalancedEntrant {
    pub(super) name: &'static str,
    pub(super) plan: BucketPlan,
    pub(super) variance_bound: f64,
}

/// Slots per bucket of the two-choice map beyond the mean, as in the others.
fn slots_for(load: f64) -> u32 {
    load.floor() as u32 + 1
}

pub(super) fn balanced(arguments: &Arguments) -> anyhow::Result<Vec<BalancedEntrant>> {
    let Arguments { load, accesses, choices, .. } = *arguments;
    anyhow::ensure!(
        (1..=MAX_CHOICES).contains(&choices),
        "--choices is {choices}: give a whole number from 1 to {MAX_CHOICES}"
    );
    let asked = || format!("--load {load} --accesses {accesses} --choices {choices}");
    let multi_level = optimum::multi_level(load, accesses, choices, None).with_context(asked)?;
    let sequential = optimum::sequential(load, accesses, choices, None).with_context(asked)?;
    // As in the papers, the single-choice map may overflow as much as the multi-level one.
    let overflow = multi_level.overflow;
    let single = optimum::single(load, overflow).with_context(asked)?;
    let optimal = |best: &Optimum| BucketPlan::optimal(load, best).with_context(asked);
    let two_choice = BucketPlan::two_choice(load, slots_for(load));
    let entrants = [
        ("balanced-multi-level", optimal(&multi_level)?, (accesses, overflow)),
        ("balanced-sequential", optimal(&sequential)?, (accesses, sequential.overflow)),
        ("balanced-single", optimal(&single)?, (1.0, overflow)),
        // Only full buckets reject entries.
        ("balanced-two-choice", two_choice, (2.0, 0.0)),
    ];
    entrants
        .into_iter()
        .map(|(name, plan, (accesses, overflow))| {
            plan.check().context(name)?;
            let variance_bound = lower_bound(load, accesses, overflow)?.variance()?;
            Ok(BalancedEntrant { name, plan, variance_bound })
        })
        .collect()
}
