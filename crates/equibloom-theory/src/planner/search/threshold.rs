//! Filters with a threshold: single, sequential, multi-level.
//!
//! The papers' optimal thresholds are for a given number of accesses per *insert*; a miss then reads more than
//! two blocks. Users limit misses, and a higher threshold ends them sooner, so all thresholds are searched (as
//! one real number, h + p), not only the papers'. A higher threshold means fewer accesses of every kind and
//! less overflow: the limits hold from some threshold on, and the best is at or above it. Subtables are
//! geometric, as in the papers, with any ratio.
//!
//! The search uses estimates; the exact model corrects and settles the result.

use equibloom_layout::{Blocks, Design, HEADER_BYTES, Layout, MAX_HINTS, Proportions, Rule, Share};

use super::{Finding, Refusal, Search};
use crate::error::Error;
use crate::minimum;
use crate::planner::estimate::{Estimate, Estimator};
use crate::planner::settle::{Predicted, settle};

/// Initial ratios of one subtable to the one before it.
const RATIOS: [f64; 5] = [0.02, 0.06, 0.12, 0.2, 0.3];

/// Maximum number of choices: the fourth serves one key in a thousand.
const MOST_CHOICES: u32 = 4;

/// The number of hints used while candidates are searched.
const FIRST_HINTS: u32 = 12;

/// Changes of the best number of hints, in both directions.
const HINT_STEPS: [u32; 4] = [8, 4, 2, 1];

/// Initial thresholds between the least and the highest, and the tolerances of the least and of the best; for a
/// comparison only, coarser ones.
const FINE: (u32, f64, f64) = (8, 0.02, 0.05);
const COARSE: (u32, f64, f64) = (5, 0.05, 0.15);

/// Corrections of the threshold by the exact model; one or two are usual.
const CORRECTIONS: usize = 8;

/// Another number of hashes lowers the rate by less than this factor.
const HOPELESS: f64 = 1.03;

/// A point of the search.
struct Point {
    candidates: Proportions,
    hints: u32,
    threshold: f64,
    estimate: Estimate,
}

impl Search {
    pub(super) fn single(&self) -> Finding {
        self.can_win_with_threshold()?;
        // Hints would only save misses from reading the overflow list.
        let hints = self.limits.hints.unwrap_or(0);
        self.settled(self.best_threshold(Proportions::anywhere(1), hints)?)
    }

    pub(super) fn sequential(&self) -> Finding {
        if self.limits.choices < 2 || self.limits.accesses_miss <= 1.0 {
            return Err(Refusal::SecondBlock);
        }
        self.has_choices()?;
        self.can_win_with_threshold()?;
        let candidates = Proportions::anywhere(self.limits.choices.min(MOST_CHOICES - 1));
        let found = self.best_threshold(candidates, self.first_hints())?;
        self.settled(self.with_best_hints(found)?)
    }

    pub(super) fn multi_level(&self) -> Finding {
        if self.limits.choices < 2 || self.limits.accesses_miss <= 1.0 {
            return Err(Refusal::SecondBlock);
        }
        self.can_win_with_threshold()?;
        let most = self.limits.choices.min(MOST_CHOICES);
        let mut best = None;
        for choices in (most - 1).max(2)..=most {
            let at = |ratio: f64| {
                self.best_threshold(Proportions::geometric(ratio, choices)?, self.first_hints())
            };
            let mut best_ratio = RATIOS[0];
            for ratio in RATIOS {
                if keep_better(&mut best, at(ratio)?) {
                    best_ratio = ratio;
                }
            }
            let mut step = 1.4;
            for _ in 0..3 {
                for ratio in [best_ratio / step, best_ratio * step] {
                    if ratio < 0.5 && keep_better(&mut best, at(ratio)?) {
                        best_ratio = ratio;
                    }
                }
                step = f64::sqrt(step);
            }
        }
        self.settled(self.with_best_hints(best)?)
    }

    /// The number of hints used while candidates are searched: the required one, or a typical best one.
    fn first_hints(&self) -> u32 {
        self.limits.hints.unwrap_or(FIRST_HINTS)
    }

    /// The same with the best number of hints, and the best ratio of its subtables for that.
    fn with_best_hints(&self, found: Option<Point>) -> Result<Option<Point>, Error> {
        let Some(Point { candidates, mut hints, .. }) = found else { return Ok(found) };
        if self.limits.hints.is_some() {
            return Ok(found);
        }
        let mut best = found;
        for step in HINT_STEPS {
            for other in [hints.saturating_sub(step), (hints + step).min(MAX_HINTS)] {
                if keep_better(&mut best, self.best_threshold(candidates, other)?) {
                    hints = other;
                }
            }
        }
        if let Proportions::Subtables { shares } = candidates
            && let [first, second, ..] = shares[..]
        {
            for factor in [0.8, 0.9, 1.1, 1.25] {
                let others = Proportions::geometric(factor * second / first, candidates.choices())?;
                keep_better(&mut best, self.best_threshold(others, hints)?);
            }
        }
        Ok(best)
    }

    fn estimator(&self, hints: u32) -> Estimator {
        Estimator {
            keys: self.sizing.keys as f64,
            memory_bits: 8.0 * self.sizing.bytes as f64,
            block_bits: self.limits.block_bits,
            most_hashes: self.most_hashes(),
            hints,
        }
    }

    /// The threshold with the lowest rate for these candidates, if any meets the limits.
    fn best_threshold(&self, candidates: Proportions, hints: u32) -> Result<Option<Point>, Error> {
        let estimator = self.estimator(hints);
        let load = estimator.load();
        let spread = load.sqrt();
        let highest = (load + 9.0 * spread + 3.0).min(self.highest_threshold());
        let at = |threshold: f64| estimator.at(&candidates, threshold);
        let rate_at = |threshold: f64| -> Result<f64, Error> {
            Ok(at(threshold)?.map_or(f64::INFINITY, |estimate| estimate.rate))
        };
        let holds_at = |threshold: f64| -> Result<bool, Error> {
            Ok(at(threshold)?.is_some_and(|estimate| {
                estimate.accesses_miss <= self.limits.accesses_miss
                    && estimate.accesses_insert <= self.limits.accesses_insert
                    && estimate.overflow <= self.limits.overflow
            }))
        };
        let (looks, of_least, of_best) = if self.compares { COARSE } else { FINE };
        let (mut low, mut least) = ((load - 3.0 * spread).max(1.0), highest);
        if low >= highest || self.sizing.bytes <= HEADER_BYTES || !holds_at(highest)? {
            return Ok(None);
        }
        if holds_at(low)? {
            least = low;
        }
        while least - low > of_least * (1.0 + spread) {
            let middle = (low + least) / 2.0;
            if holds_at(middle)? { least = middle } else { low = middle }
        }
        // Denser near the least, where the best usually is.
        let position = |i: u32| {
            let share = f64::from(i) / f64::from(looks);
            least + (highest - least) * share * share
        };
        let mut best = (0, f64::INFINITY);
        for i in 0..=looks {
            let rate = rate_at(position(i))?;
            if rate < best.1 {
                best = (i, rate);
            }
        }
        let (from, to) = (position(best.0.saturating_sub(1)), position((best.0 + 1).min(looks)));
        let share =
            minimum::of_unimodal_within(of_best, |share| rate_at(from + (to - from) * share))?;
        let threshold = from + (to - from) * share;
        Ok(at(threshold)?.map(|estimate| Point { estimate, candidates, hints, threshold }))
    }

    /// A block cannot count more keys than half of its bits.
    fn highest_threshold(&self) -> f64 {
        f64::from(self.limits.block_bits / 2) - 0.5
    }

    /// The filter at a point, with its threshold raised as far as the exact model requires.
    fn settled(&self, point: Option<Point>) -> Finding {
        let Some(mut point) = point else { return Err(Refusal::Limits) };
        let estimator = self.estimator(point.hints);
        for _ in 0..CORRECTIONS {
            let found = self.settle_at(&point)?;
            if self.keeps_to_limits(&found.expected) {
                let hopeless = found.expected.rate > HOPELESS * self.to_beat;
                return Ok(if hopeless { found } else { self.with_best_hashes(found)? });
            }
            let misses_at = |threshold: f64| -> Result<f64, Error> {
                let estimate = estimator.at(&point.candidates, threshold)?;
                Ok(estimate.map_or(0.0, |estimate| estimate.accesses_miss))
            };
            let threshold = point.threshold;
            let excess = found.expected.accesses_miss - self.limits.accesses_miss;
            let slope = (misses_at(threshold)? - misses_at(threshold + 0.25)?) / 0.25;
            let correction = if slope > 0.0 { 1.05 * excess / slope } else { 0.0 };
            point.threshold += correction.clamp(0.02, 2.0);
        }
        Err(Refusal::Limits)
    }

    fn settle_at(&self, point: &Point) -> Result<Predicted, Error> {
        let Point { candidates, hints, threshold, estimate } = point;
        let keys = self.sizing.keys as f64;
        let blocks = Blocks::bloom(self.limits.block_bits, estimate.hashes).with_hints(*hints);
        settle(&self.sizing, blocks, estimate.overflow, |count, overflow| {
            // The threshold rises with the load: otherwise, as the list grows, fewer blocks would reject more
            // and more keys.
            let scale = keys / count as f64 / estimate.load;
            let threshold = (threshold * scale).min(self.highest_threshold());
            let coin = Share::clamped(threshold.fract());
            let rule = Rule::FirstWithRoom { below: threshold as u32, coin };
            // The limits hold without a budget.
            let layout =
                Layout::new(blocks, candidates.with_blocks(count), rule).with_overflow(overflow);
            Ok(Design::from(layout).with_hashes(estimate.hashes.min(layout.max_hashes())))
        })
    }

    /// The same with the best number of hashes among those that meet the limits.
    fn with_best_hashes(&self, found: Predicted) -> Result<Predicted, Error> {
        let Predicted { design, .. } = found;
        let (keys, capacity) = (self.sizing.keys, design.overflow().capacity as f64);
        let (start, most) = (design.hashes(), design.max_hashes());
        let (_, best) = minimum::of_whole_numbers(start, most, |hashes| {
            let found = Predicted::new(design.with_hashes(hashes), keys)?;
            let fits = found.expected.overflow_fraction * keys as f64 <= capacity;
            let holds = fits && self.keeps_to_limits(&found.expected);
            Ok((if holds { found.expected.rate } else { f64::INFINITY }, found))
        })?;
        Ok(best)
    }
}

/// Replaces `best` by a better point; returns whether it did.
fn keep_better(best: &mut Option<Point>, found: Option<Point>) -> bool {
    let rate = |point: &Option<Point>| point.as_ref().map_or(f64::INFINITY, |p| p.estimate.rate);
    let better = rate(&found) < rate(best);
    if better {
        *best = found;
    }
    better
}
