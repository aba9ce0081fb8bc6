//! Filters of fingerprint blocks.
//!
//! What a block is made of are a few whole numbers, and all of them are tried: slots, hints, and of the rest of
//! its bits the best division into lists and remainders. So are shapes: subtables are geometric, as the papers'
//! (uneven ones gained less than 1 % in a search over all), with any ratio. The search runs on estimates; what
//! it finds is settled by the exact model.

use super::{Finding, Refusal, Search};
use crate::error::Error;
use crate::exact::{FINGERPRINT_BLOCK_BITS, MOST_SLOTS};
use crate::planner::estimate::Shape;
use crate::planner::estimate::fingerprints::{Estimate, Estimator};
use crate::planner::fingerprint_table::{FingerprintBlocks, Route};
use crate::planner::layout::Layout;
use crate::planner::memory::divide;
use crate::planner::placement::PlacementName;
use crate::planner::settle::{Candidate, settle};

/// Ratios of one subtable to the one before it that are tried first.
const RATIOS: [f64; 8] = [0.02, 0.035, 0.055, 0.08, 0.115, 0.16, 0.22, 0.3];

/// By how much the best ratio is changed then, in both directions.
const REFINEMENTS: [f64; 3] = [1.2, 1.1, 1.05];

/// Most choices worth trying.
const MOST_CHOICES: u32 = 4;

/// The best of so many numbers of slots are predicted exactly.
const FINALISTS: usize = 3;

/// Corrections of the limits for what the estimates leave out.
const CORRECTIONS: usize = 4;

impl Search {
    pub(super) fn fingerprints(&self, placement: PlacementName) -> Finding {
        if self.limits.block_bits != FINGERPRINT_BLOCK_BITS {
            return Err(Refusal::CacheLinesOnly);
        }
        let keys = self.sizing.keys as f64;
        let blocks = self.sizing.blocks(FINGERPRINT_BLOCK_BITS, 0)?;
        if keys / blocks as f64 > f64::from(MOST_SLOTS) {
            return Err(Refusal::TooManyKeysABlock { load: keys / blocks as f64 });
        }
        let one = placement == PlacementName::Single;
        if !one && (self.limits.choices < 2 || self.limits.accesses_miss <= 1.0) {
            return Err(Refusal::SecondBlock);
        }
        let bytes = self.sizing.bytes as f64;
        let mut estimator = Estimator { keys, bytes, limits: self.limits };
        for _ in 0..CORRECTIONS {
            let mut finalists = self.finalists(&estimator, placement);
            if finalists.is_empty() {
                return Err(Refusal::Limits);
            }
            finalists.truncate(FINALISTS);
            let mut best: Option<Candidate> = None;
            let mut excess: f64 = 0.0;
            for estimate in &finalists {
                // Too little room for the list: another one may do.
                let Ok(found) = self.settle_fingerprints(estimate) else { continue };
                if !self.keeps_to_limits(&found.expected) {
                    excess = excess.max(found.expected.accesses_miss - self.limits.accesses_miss);
                    continue;
                }
                if best.as_ref().is_none_or(|best| found.expected.rate < best.expected.rate) {
                    best = Some(found);
                }
            }
            if let Some(best) = best {
                return Ok(best);
            }
            estimator.limits.accesses_miss -= 1.1 * excess + 1e-4;
            estimator.limits.accesses_insert -= 1e-4;
            estimator.limits.overflow *= 0.98;
        }
        Err(Refusal::Limits)
    }

    /// The best filter for each number of slots, the best of them first.
    fn finalists(&self, estimator: &Estimator, placement: PlacementName) -> Vec<Estimate> {
        let mut finalists: Vec<Estimate> = estimator
            .slots()
            .filter_map(|slots| match placement {
                PlacementName::Single => estimator.at(&Shape::Anywhere(1), slots),
                PlacementName::Sequential => {
                    let most = self.limits.choices.min(MOST_CHOICES);
                    let shapes = (2..=most).map(Shape::Anywhere);
                    lowest(shapes.filter_map(|shape| estimator.at(&shape, slots)))
                }
                _ => self.best_subtables(estimator, slots),
            })
            .collect();
        finalists.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        finalists
    }

    fn best_subtables(&self, estimator: &Estimator, slots: u32) -> Option<Estimate> {
        let most = self.limits.choices.min(MOST_CHOICES);
        lowest((2..=most).filter_map(|choices| {
            let at =
                |ratio: f64| Some((ratio, estimator.at(&Shape::geometric(ratio, choices), slots)?));
            let (mut ratio, mut best) = RATIOS
                .into_iter()
                .filter_map(at)
                .min_by(|(_, a), (_, b)| a.rate.total_cmp(&b.rate))?;
            for factor in REFINEMENTS {
                for other in [ratio / factor, ratio * factor] {
                    if let Some((other, found)) = at(other)
                        && found.rate < best.rate
                    {
                        (ratio, best) = (other, found);
                    }
                }
            }
            Some(best)
        }))
    }

    fn settle_fingerprints(&self, estimate: &Estimate) -> Result<Candidate, Error> {
        let Estimate { shape, contents, overflow, .. } = estimate;
        settle(&self.sizing, FINGERPRINT_BLOCK_BITS, 0, *overflow, |blocks, overflow_capacity| {
            let route = match shape {
                Shape::Anywhere(1) => Route::Single,
                // The limits hold without a budget.
                Shape::Anywhere(choices) => {
                    Route::Sequential { choices: *choices, accesses: f64::from(*choices) }
                }
                Shape::Subtables(shares) => {
                    Route::MultiLevel { subtables: divide(blocks.count, shares)? }
                }
            };
            let blocks = FingerprintBlocks {
                count: blocks.count,
                slots: contents.slots,
                lists: contents.lists,
                remainder_bits: contents.remainder_bits,
                hints: contents.hints,
            };
            let multiset = self.limits.multiset;
            Ok(Layout::Fingerprint { blocks, route, overflow_capacity, multiset })
        })
    }
}

fn lowest(estimates: impl Iterator<Item = Estimate>) -> Option<Estimate> {
    estimates.min_by(|a, b| a.rate.total_cmp(&b.rate))
}
