//! From a scheme's name to its mechanism: table, candidates, rule, overflow list, budget.

use super::budget::AccessBudget;
use crate::block::{BlockArray, BloomBlocks, BloomShape, FingerprintBlocks};
use crate::parameters::{Overflow, Parameters, Route, Scheme, WhenFull};
use crate::placement::{Candidates, FirstWithRoom, LeastLoaded, Rule};

/// What a scheme is made of, before any memory is taken for it.
pub struct Design<R, B: BlockArray> {
    pub(super) blocks: B::Shape,
    pub(super) candidates: Candidates<B::Lead>,
    pub(super) rule: R,
    pub(super) overflow: Overflow,
    pub(super) budget: AccessBudget,
}

/// A rule that knows the schemes in which it places keys in blocks of the kind `B`.
pub trait Designed<B: BlockArray>: Rule + Sized {
    /// Those schemes, in words.
    const SERVES: &'static str;

    /// The design of a scheme (whose parameters have been checked), if this rule serves it.
    fn design(parameters: &Parameters) -> Option<Design<Self, B>>;
}

impl Designed<BloomBlocks> for LeastLoaded {
    const SERVES: &'static str = "blocked, two-choice or one-plus-alpha";

    fn design(parameters: &Parameters) -> Option<Design<Self, BloomBlocks>> {
        let (table, candidates) = match &parameters.scheme {
            Scheme::Blocked { blocks } => (blocks, Candidates::anywhere(blocks.count, 1)),
            Scheme::TwoChoice { blocks } => (blocks, Candidates::anywhere(blocks.count, 2)),
            Scheme::OnePlusAlpha { blocks, alpha } => {
                (blocks, Candidates::one_or_two(blocks.count, *alpha))
            }
            _ => return None,
        };
        Some(Design {
            blocks: BloomShape { table: *table, counter_bits: 0, hints: 0 },
            candidates,
            rule: Self,
            // Nothing is ever turned away, so nothing overflows.
            overflow: Overflow { capacity: 0, when_full: WhenFull::Refuse },
            budget: AccessBudget::unlimited(),
        })
    }
}

impl Designed<BloomBlocks> for FirstWithRoom {
    const SERVES: &'static str = "single, sequential or multi-level";

    fn design(parameters: &Parameters) -> Option<Design<Self, BloomBlocks>> {
        let unlimited = AccessBudget::unlimited();
        let (table, threshold, hints, overflow, candidates, budget) = match &parameters.scheme {
            Scheme::Single { blocks, threshold, hints, overflow } => {
                let candidates = Candidates::anywhere(blocks.count, 1);
                (blocks, threshold, hints, overflow, candidates, unlimited)
            }
            Scheme::Sequential { blocks, threshold, hints, overflow, choices, accesses } => {
                let candidates = Candidates::anywhere(blocks.count, *choices);
                let budget = AccessBudget::for_keys(parameters.keys, *accesses, *choices);
                (blocks, threshold, hints, overflow, candidates, budget)
            }
            Scheme::MultiLevel { blocks, threshold, hints, overflow, subtables } => {
                let candidates = Candidates::in_subtables(subtables);
                (blocks, threshold, hints, overflow, candidates, unlimited)
            }
            _ => return None,
        };
        let counter_bits = threshold.counter_bits();
        Some(Design {
            blocks: BloomShape { table: *table, counter_bits, hints: *hints },
            candidates,
            rule: Self::new(threshold),
            overflow: *overflow,
            budget,
        })
    }
}

impl Designed<FingerprintBlocks> for FirstWithRoom {
    const SERVES: &'static str = "fingerprint";

    fn design(parameters: &Parameters) -> Option<Design<Self, FingerprintBlocks>> {
        let Scheme::Fingerprint { blocks, route, overflow, multiset } = &parameters.scheme else {
            return None;
        };
        let unlimited = AccessBudget::unlimited();
        let (candidates, budget) = match route {
            Route::Single => (Candidates::anywhere(blocks.count, 1), unlimited),
            Route::Sequential { choices, accesses } => (
                Candidates::anywhere(blocks.count, *choices),
                AccessBudget::for_keys(parameters.keys, *accesses, *choices),
            ),
            Route::MultiLevel { subtables } => (Candidates::in_subtables(subtables), unlimited),
        };
        Some(Design {
            blocks: *blocks,
            candidates,
            rule: Self::with_slots(blocks.slots, *multiset),
            overflow: *overflow,
            budget,
        })
    }
}
