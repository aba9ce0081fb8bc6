//! Filters of fingerprint blocks.
//!
//! A block is described by a few whole numbers: every number of slots is tried, with the best division of the
//! remaining bits into lists and remainders. Smaller later subtables always give a lower rate, up to where too many
//! entries pass the last one: the limit on the overflow list fixes their size. Starting from the papers' geometric
//! subtables, the ratios of one to the next are then varied. The search uses estimates; the exact model settles
//! the result.

use equibloom_layout::{
    Design, FINGERPRINT_BLOCK_BITS, Layout, MAX_FINGERPRINT_SUBTABLES, MAX_SLOTS, Proportions, Rule,
};

use super::{Finding, Refusal, Search};
use crate::error::Error;
use crate::planner::estimate::fingerprints::{Estimate, Estimator, Shape};
use crate::planner::memory::overflow_list;
use crate::planner::settle::{Predicted, settle};

/// Largest share of the keys in the overflow list, and the number of keys that is allowed in any case. A lookup
/// that reaches the list pays another cache miss, and past capacity the list grows fast.
const MOST_OVERFLOW: f64 = 1e-4;
const FEW_KEYS: f64 = 1.0;

/// The range of the ratio of one subtable to the one before it, and the bisections within it.
const RATIOS: [f64; 2] = [1e-3, 0.6];
const BISECTIONS: usize = 12;

/// Changes of single ratios, in both directions.
const REFINEMENTS: [f64; 3] = [1.25, 1.12, 1.06];

/// Number of best slot counts that are predicted exactly.
const FINALISTS: usize = 3;

/// Corrections of the limits for the error of the estimates.
const CORRECTIONS: usize = 8;

impl Search {
    pub(super) fn fingerprints(&self) -> Finding {
        if self.limits.block_bits != FINGERPRINT_BLOCK_BITS {
            return Err(Refusal::CacheLinesOnly);
        }
        let keys = self.sizing.keys as f64;
        let blocks = self.sizing.blocks(FINGERPRINT_BLOCK_BITS.into(), 0)?;
        if keys / blocks as f64 > f64::from(MAX_SLOTS) {
            return Err(Refusal::TooManyKeysABlock { load: keys / blocks as f64 });
        }
        let estimator = self.fingerprint_estimator();
        let mut finalists: Vec<Estimate> = Vec::new();
        for shape in estimator.slots().filter_map(|slots| Shape::best(slots, &self.limits)) {
            let least = estimator.least_rate(&shape);
            if finalists.get(FINALISTS - 1).is_none_or(|last| least < last.rate) {
                finalists.extend(self.best_subtables(&estimator, &shape));
                finalists.sort_by(|a, b| a.rate.total_cmp(&b.rate));
                finalists.truncate(FINALISTS);
            }
        }
        let settled = finalists.into_iter().filter_map(|first| self.corrected(first));
        let best = settled.min_by(|a, b| a.expected.rate.total_cmp(&b.expected.rate));
        best.ok_or(Refusal::Limits)
    }

    fn fingerprint_estimator(&self) -> Estimator {
        let (keys, bytes) = (self.sizing.keys as f64, self.sizing.bytes as f64);
        let mut limits = self.limits;
        limits.overflow = limits.overflow.min(MOST_OVERFLOW.max(FEW_KEYS / keys));
        Estimator { keys, bytes, limits }
    }

    /// The best filter with blocks of this shape that meets the estimator's limits.
    fn best_subtables(&self, estimator: &Estimator, shape: &Shape) -> Option<Estimate> {
        let most = self.limits.choices.min(MAX_FINGERPRINT_SUBTABLES) as usize;
        let single = estimator.at(shape, Proportions::subtables(&[1.0]).ok()?);
        let several = (2..=most).filter_map(|subtables| {
            let mut factors = [1.0; MAX_FINGERPRINT_SUBTABLES as usize];
            let mut best = smallest(estimator, shape, &factors[..subtables])?;
            for refinement in REFINEMENTS {
                for index in 2..subtables {
                    for factor in [1.0 / refinement, refinement] {
                        let mut others = factors;
                        others[index] *= factor;
                        if let Some(found) = smallest(estimator, shape, &others[..subtables])
                            && found.rate < best.rate
                        {
                            (factors, best) = (others, found);
                        }
                    }
                }
            }
            Some(best)
        });
        let Estimator { limits, .. } = estimator;
        let all = several.chain([single]).filter(|found| {
            found.overflow <= limits.overflow
                && found.accesses_miss <= limits.accesses_miss
                && found.accesses_insert <= limits.accesses_insert
        });
        all.min_by(|a, b| a.rate.total_cmp(&b.rate))
    }

    /// The same by the exact model; if a limit is exceeded, the next best that meets it.
    fn corrected(&self, mut estimate: Estimate) -> Option<Predicted> {
        let mut estimator = self.fingerprint_estimator();
        let allowed = estimator.limits;
        let shape = Shape::best(estimate.slots, &allowed)?;
        for _ in 0..CORRECTIONS {
            let limits = &mut estimator.limits;
            match self.settle_fingerprints(&estimate) {
                Ok(Predicted { expected: seen, .. })
                    if seen.overflow_fraction > allowed.overflow =>
                {
                    limits.overflow *= 0.9 * allowed.overflow / seen.overflow_fraction;
                }
                Ok(found) if self.keeps_to_limits(&found.expected) => return Some(found),
                Ok(Predicted { expected: seen, .. }) => {
                    limits.accesses_miss -= excess(seen.accesses_miss, allowed.accesses_miss);
                    limits.accesses_insert -= excess(seen.accesses_insert, allowed.accesses_insert);
                }
                // So nearly full that every slot given to the list rejects another key.
                Err(_) => limits.overflow *= 0.3,
            }
            estimate = self.best_subtables(&estimator, &shape)?;
        }
        None
    }

    /// Divides the memory between blocks and list.
    fn settle_fingerprints(&self, estimate: &Estimate) -> Result<Predicted, Error> {
        let Estimate { candidates, blocks, overflow, .. } = *estimate;
        let multiset = self.limits.multiset;
        let design = |count, overflow| -> Result<Design, Error> {
            let layout = Layout::new(blocks, candidates.with_blocks(count), Rule::KeepLargest);
            Ok(Layout { overflow, multiset, ..layout }.into())
        };
        if multiset {
            // The list of a filter that has only been filled is shorter than that after many removals.
            let mean = overflow * self.sizing.keys as f64;
            let list = overflow_list(mean, mean.sqrt());
            let list_bytes = design(1, list)?.overflow_bytes(list.capacity);
            let count = self.sizing.blocks(blocks.stride_bits(), list_bytes)?;
            return Predicted::new(design(count, list)?, self.sizing.keys);
        }
        settle(&self.sizing, blocks, overflow, design)
    }
}

/// The subtables with the smallest later ones that keep to the limit on overflow. Each is as large as the one before
/// it times a common ratio and its own factor.
fn smallest(estimator: &Estimator, shape: &Shape, factors: &[f64]) -> Option<Estimate> {
    let at = |ratio: f64| {
        let sizes: Vec<f64> = factors
            .iter()
            .scan(1.0 / ratio, |size, factor| {
                *size *= ratio * factor;
                Some(*size)
            })
            .collect();
        let sum: f64 = sizes.iter().sum();
        let shares: Vec<f64> = sizes.iter().map(|size| size / sum).collect();
        Some(estimator.at(shape, Proportions::subtables(&shares).ok()?))
    };
    let [mut low, mut high] = RATIOS;
    let mut best = None;
    for _ in 0..BISECTIONS {
        let ratio = (low * high).sqrt();
        let found = at(ratio)?;
        if found.overflow <= estimator.limits.overflow {
            (high, best) = (ratio, Some(found));
        } else {
            low = ratio;
        }
    }
    best
}

/// How far a limit was exceeded, and a little more.
fn excess(seen: f64, limit: f64) -> f64 {
    if seen > limit { 1.1 * (seen - limit) + 1e-5 } else { 0.0 }
}
