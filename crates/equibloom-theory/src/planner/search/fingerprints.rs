//! Filters of fingerprint blocks.
//!
//! A block is described by a few whole numbers, and all of them are tried: slots, hints, and the best division
//! of the remaining bits into lists and remainders. Subtables are geometric, as in the papers (uneven ones
//! gained less than 1 % in an exhaustive search), with any ratio. The search uses estimates; the exact model
//! settles the result.

use equibloom_layout::{
    FINGERPRINT_BLOCK_BITS, Layout, MAX_SLOTS, Overflow, Placement, Proportions, Rule,
};

use super::{Finding, Refusal, Search};
use crate::error::Error;
use crate::planner::estimate::fingerprints::{Estimate, Estimator, TooMuch};
use crate::planner::settle::{Predicted, settle};

/// Initial ratios of one subtable to the one before it.
const RATIOS: [f64; 8] = [0.02, 0.035, 0.055, 0.08, 0.115, 0.16, 0.22, 0.3];

/// Changes of the best ratio, in both directions.
const REFINEMENTS: [f64; 3] = [1.2, 1.1, 1.05];

/// Bisections between two ratios neither of which meets the limits.
const BISECTIONS: usize = 5;

/// Maximum number of choices.
const MOST_CHOICES: u32 = 4;

/// Number of best slot counts that are predicted exactly.
const FINALISTS: usize = 3;

/// Corrections of the limits for the error of the estimates.
const CORRECTIONS: usize = 8;

/// The next attempt where the overflow list found no room.
const LESS_OVERFLOW: f64 = 0.3;

impl Search {
    pub(super) fn fingerprints(&self, placement: Placement) -> Finding {
        if self.limits.block_bits != FINGERPRINT_BLOCK_BITS {
            return Err(Refusal::CacheLinesOnly);
        }
        let keys = self.sizing.keys as f64;
        let blocks = self.sizing.blocks(FINGERPRINT_BLOCK_BITS.into(), Overflow::NONE)?;
        if keys / blocks as f64 > f64::from(MAX_SLOTS) {
            return Err(Refusal::TooManyKeysABlock { load: keys / blocks as f64 });
        }
        if self.limits.multiset && placement == Placement::Sequential {
            return Err(Refusal::NotRemovable);
        }
        let one = placement == Placement::Single;
        if !one && (self.limits.choices < 2 || self.limits.accesses_miss <= 1.0) {
            return Err(Refusal::SecondBlock);
        }
        let bytes = self.sizing.bytes as f64;
        let estimator = Estimator { keys, bytes, limits: self.limits };
        let mut finalists: Vec<Estimate> = Vec::new();
        for slots in estimator.slots() {
            let least_rate = estimator.least_rate(slots);
            if finalists.get(FINALISTS - 1).is_some_and(|last| last.rate < least_rate) {
                continue;
            }
            finalists.extend(self.estimate(&estimator, placement, slots));
            finalists.sort_by(|a, b| a.rate.total_cmp(&b.rate));
            finalists.truncate(FINALISTS);
        }
        let settled = finalists.into_iter().filter_map(|first| self.corrected(first, placement));
        let best = settled.min_by(|a, b| a.expected.rate.total_cmp(&b.expected.rate));
        best.ok_or(Refusal::Limits)
    }

    /// The best filter with this number of slots.
    fn estimate(
        &self,
        estimator: &Estimator,
        placement: Placement,
        slots: u32,
    ) -> Option<Estimate> {
        match placement {
            Placement::Single => estimator.at(&Proportions::anywhere(1), slots).ok(),
            Placement::Sequential => {
                let most = self.limits.choices.min(MOST_CHOICES);
                let all = (2..=most).map(Proportions::anywhere);
                lowest(all.filter_map(|candidates| estimator.at(&candidates, slots).ok()))
            }
            _ => self.best_subtables(estimator, slots),
        }
    }

    /// The same by the exact model; if a limit is exceeded, the next best that meets it.
    fn corrected(&self, mut estimate: Estimate, placement: Placement) -> Option<Predicted> {
        let (keys, bytes) = (self.sizing.keys as f64, self.sizing.bytes as f64);
        let mut estimator = Estimator { keys, bytes, limits: self.limits };
        for _ in 0..CORRECTIONS {
            let limits = &mut estimator.limits;
            match self.settle_fingerprints(&estimate) {
                Ok(found) if self.keeps_to_limits(&found.expected) => return Some(found),
                Ok(Predicted { expected: seen, .. }) => {
                    limits.accesses_miss -= excess(seen.accesses_miss, self.limits.accesses_miss);
                    limits.accesses_insert -=
                        excess(seen.accesses_insert, self.limits.accesses_insert);
                    if seen.overflow_fraction > self.limits.overflow {
                        limits.overflow *= 0.9 * self.limits.overflow / seen.overflow_fraction;
                    }
                }
                // So nearly full that every slot given to the list rejects another key.
                Err(_) => limits.overflow = LESS_OVERFLOW * estimate.overflow,
            }
            estimate = self.estimate(&estimator, placement, estimate.slots)?;
        }
        None
    }

    fn best_subtables(&self, estimator: &Estimator, slots: u32) -> Option<Estimate> {
        let most = self.limits.choices.min(MOST_CHOICES);
        lowest((2..=most).filter_map(|choices| {
            let at = |ratio: f64| {
                let candidates = Proportions::geometric(ratio, choices);
                estimator.at(&candidates.map_err(|_| TooMuch::Accesses)?, slots)
            };
            let (mut ratio, mut best) = first_look(at)?;
            for factor in REFINEMENTS {
                for other in [ratio / factor, ratio * factor] {
                    if let Ok(found) = at(other)
                        && found.rate < best.rate
                    {
                        (ratio, best) = (other, found);
                    }
                }
            }
            Some(best)
        }))
    }

    fn settle_fingerprints(&self, estimate: &Estimate) -> Result<Predicted, Error> {
        let Estimate { candidates, slots, blocks, overflow, .. } = *estimate;
        settle(&self.sizing, blocks, overflow, |count, overflow| {
            // The limits hold without a budget.
            let layout = Layout::new(blocks, candidates.with_blocks(count), Rule::below(slots));
            Ok(Layout { overflow, multiset: self.limits.multiset, ..layout }.into())
        })
    }
}

/// The best of a few ratios, or one between them: the limits may leave only a narrow range.
fn first_look(at: impl Fn(f64) -> Result<Estimate, TooMuch>) -> Option<(f64, Estimate)> {
    let mut best: Option<(f64, Estimate)> = None;
    let (mut too_small, mut too_large) = (0.0, 0.5);
    for ratio in RATIOS {
        match at(ratio) {
            Ok(found) => {
                if best.as_ref().is_none_or(|(_, best)| found.rate < best.rate) {
                    best = Some((ratio, found));
                }
            }
            Err(TooMuch::Overflow) => too_small = ratio,
            Err(TooMuch::Accesses) => too_large = f64::min(too_large, ratio),
        }
    }
    for _ in 0..BISECTIONS {
        if best.is_some() || too_small >= too_large {
            break;
        }
        let ratio = (too_small + too_large) / 2.0;
        match at(ratio) {
            Ok(found) => best = Some((ratio, found)),
            Err(TooMuch::Overflow) => too_small = ratio,
            Err(TooMuch::Accesses) => too_large = ratio,
        }
    }
    best
}

fn lowest(estimates: impl Iterator<Item = Estimate>) -> Option<Estimate> {
    estimates.min_by(|a, b| a.rate.total_cmp(&b.rate))
}

/// The factor by which a limit was exceeded, and a little more.
fn excess(seen: f64, limit: f64) -> f64 {
    if seen > limit { 1.1 * (seen - limit) + 1e-5 } else { 0.0 }
}
