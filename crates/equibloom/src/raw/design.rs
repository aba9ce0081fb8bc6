//! From a scheme's name to its mechanism: table, candidates, rule, overflow list, budget.

use super::budget::AccessBudget;
use crate::parameters::{BlockTable, Overflow, Parameters, Scheme, Threshold, WhenFull};
use crate::placement::{Candidates, FirstWithRoom, LeastLoaded, Rule};

/// What a scheme is made of, before any memory is taken for it.
pub struct Design<R> {
    pub(super) table: BlockTable,
    pub(super) counter_bits: u32,
    pub(super) candidates: Candidates,
    pub(super) rule: R,
    pub(super) overflow: Overflow,
    pub(super) budget: AccessBudget,
}

/// A rule that knows the schemes it serves.
pub trait Designed: Rule + Sized {
    /// Those schemes, in words.
    const SERVES: &'static str;

    /// The design of a scheme (whose parameters have been checked), if this rule serves it.
    fn design(parameters: &Parameters) -> Option<Design<Self>>;
}

impl Designed for LeastLoaded {
    const SERVES: &'static str = "blocked, two-choice or one-plus-alpha";

    fn design(parameters: &Parameters) -> Option<Design<Self>> {
        let (table, candidates) = match &parameters.scheme {
            Scheme::Blocked { blocks } => (blocks, Candidates::anywhere(blocks.count, 1)),
            Scheme::TwoChoice { blocks } => (blocks, Candidates::anywhere(blocks.count, 2)),
            Scheme::OnePlusAlpha { blocks, alpha } => {
                (blocks, Candidates::one_or_two(blocks.count, *alpha))
            }
            _ => return None,
        };
        Some(Design {
            table: *table,
            counter_bits: 0,
            candidates,
            rule: Self,
            // Nothing is ever turned away, so nothing overflows.
            overflow: Overflow { capacity: 0, when_full: WhenFull::Refuse },
            budget: AccessBudget::unlimited(),
        })
    }
}

impl Designed for FirstWithRoom {
    const SERVES: &'static str = "single, sequential or multi-level";

    fn design(parameters: &Parameters) -> Option<Design<Self>> {
        let unlimited = AccessBudget::unlimited();
        let (table, threshold, overflow, candidates, budget) = match &parameters.scheme {
            Scheme::Single { blocks, threshold, overflow } => {
                (blocks, threshold, overflow, Candidates::anywhere(blocks.count, 1), unlimited)
            }
            Scheme::Sequential { blocks, threshold, overflow, choices, accesses } => {
                let budget = AccessBudget::for_keys(parameters.keys, *accesses, *choices);
                (blocks, threshold, overflow, Candidates::anywhere(blocks.count, *choices), budget)
            }
            Scheme::MultiLevel { blocks, threshold, overflow, subtables } => {
                (blocks, threshold, overflow, Candidates::in_subtables(subtables), unlimited)
            }
            _ => return None,
        };
        Some(Design {
            table: *table,
            counter_bits: Threshold::counter_bits(threshold),
            candidates,
            rule: Self::new(threshold),
            overflow: *overflow,
            budget,
        })
    }
}
