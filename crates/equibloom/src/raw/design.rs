//! From a scheme's name to its mechanism: table, candidates, rule, overflow list, budget.

use super::budget::AccessBudget;
use crate::block::{BlockArray, BloomBlocks, BloomShape, FingerprintBlocks};
use crate::parameters::{Overflow, Parameters, Route, Scheme, WhenFull};
use crate::placement::{Choose, FirstWithRoom, LeastLoaded, Levels};
use equibloom_layout::{Candidates, Share};

/// What a scheme is made of, before any memory is taken for it.
pub struct Design<R, B: BlockArray> {
    pub(super) blocks: B::Shape,
    pub(super) candidates: Levels<B::Routing>,
    pub(super) rule: R,
    pub(super) overflow: Overflow,
    pub(super) budget: AccessBudget,
}

/// A rule that knows the schemes in which it places keys in blocks of the kind `B`.
pub trait Designed<B: BlockArray>: Choose + Sized {
    /// Those schemes, in words.
    const SERVES: &'static str;

    /// The design of a scheme (whose parameters have been checked), if this rule serves it.
    fn design(parameters: &Parameters) -> Option<Design<Self, B>>;
}

impl Designed<BloomBlocks> for LeastLoaded {
    const SERVES: &'static str = "blocked, two-choice or one-plus-alpha";

    fn design(parameters: &Parameters) -> Option<Design<Self, BloomBlocks>> {
        let (table, candidates) = match &parameters.scheme {
            Scheme::Blocked { blocks } => {
                (blocks, Levels::new(&Candidates::anywhere(blocks.count, 1)))
            }
            Scheme::TwoChoice { blocks } => {
                (blocks, Levels::new(&Candidates::anywhere(blocks.count, 2)))
            }
            Scheme::OnePlusAlpha { blocks, alpha } => (
                blocks,
                Levels::new(&Candidates::Anywhere {
                    blocks: blocks.count,
                    choices: 2,
                    share: Share::clamped(*alpha),
                }),
            ),
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
                let candidates = Levels::new(&Candidates::anywhere(blocks.count, 1));
                (blocks, threshold, hints, overflow, candidates, unlimited)
            }
            Scheme::Sequential { blocks, threshold, hints, overflow, choices, accesses } => {
                let candidates = Levels::new(&Candidates::anywhere(blocks.count, *choices));
                let budget = AccessBudget::for_keys(parameters.keys, *accesses, *choices);
                (blocks, threshold, hints, overflow, candidates, budget)
            }
            Scheme::MultiLevel { blocks, threshold, hints, overflow, subtables } => {
                let candidates = Levels::new(&Candidates::subtables(subtables).ok()?);
                (blocks, threshold, hints, overflow, candidates, unlimited)
            }
            _ => return None,
        };
        let counter_bits = threshold.counter_bits();
        Some(Design {
            blocks: BloomShape { table: *table, counter_bits, hints: *hints },
            candidates,
            rule: Self::new(threshold.load, Share::clamped(threshold.probability), false),
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
            Route::Single => (Levels::new(&Candidates::anywhere(blocks.count, 1)), unlimited),
            Route::Sequential { choices, accesses } => (
                Levels::new(&Candidates::anywhere(blocks.count, *choices)),
                AccessBudget::for_keys(parameters.keys, *accesses, *choices),
            ),
            Route::MultiLevel { subtables } => {
                (Levels::new(&Candidates::subtables(subtables).ok()?), unlimited)
            }
        };
        Some(Design {
            blocks: *blocks,
            candidates,
            rule: Self::new(blocks.slots, Share::NONE, *multiset),
            overflow: *overflow,
            budget,
        })
    }
}
