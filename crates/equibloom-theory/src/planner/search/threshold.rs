//! Filters with a threshold: single, sequential, multi-level.
//!
//! The papers' optimal thresholds are for a given number of accesses per *insert*; a miss then reads more than
//! two blocks. Users limit misses, and a higher threshold makes them end sooner, so we search over all
//! thresholds (as one real number, h + p), not only the papers'. A higher threshold means fewer accesses of
//! every kind and less overflow: the limits hold from some threshold on, and the best is at or above it.
//! Subtables are geometric, as in the papers, with any ratio.
//!
//! The search runs on estimates; what it finds is corrected and settled by the exact model.

use super::{Finding, Refusal, Search};
use crate::error::Error;
use crate::exact::MOST_HINTS;
use crate::minimum;
use crate::planner::estimate::{Estimate, Estimator, Shape};
use crate::planner::layout::{Blocks, Layout, Threshold};
use crate::planner::memory::{HEADER_BYTES, divide};
use crate::planner::settle::{Candidate, settle};

/// Ratios of one subtable to the one before it that are tried first.
const RATIOS: [f64; 5] = [0.02, 0.06, 0.12, 0.2, 0.3];

/// Most choices worth trying: the fourth serves one key in a thousand, at the price of its bits.
const MOST_CHOICES: u32 = 4;

/// The number of hints to search shapes with.
const FIRST_HINTS: u32 = 12;

/// By how many the best number of hints is changed then, in both directions.
const HINT_STEPS: [u32; 4] = [8, 4, 2, 1];

/// Thresholds between the least and the highest that are tried first.
const FIRST_LOOKS: u32 = 8;

/// Corrections of the threshold by the exact model; one or two are usual.
const CORRECTIONS: usize = 8;

/// A point of the search.
struct Point {
    shape: Shape,
    hints: u32,
    threshold: f64,
    estimate: Estimate,
}

impl Search {
    pub(super) fn single(&self) -> Finding {
        // Hints would only spare misses the overflow list.
        self.settled(self.best_threshold(Shape::Anywhere(1), self.limits.hints.unwrap_or(0))?)
    }

    pub(super) fn sequential(&self) -> Finding {
        if self.limits.choices < 2 || self.limits.accesses_miss <= 1.0 {
            return Err(Refusal::SecondBlock);
        }
        let mut best = None;
        for choices in 2..=self.limits.choices.min(MOST_CHOICES - 1) {
            let shape = Shape::Anywhere(choices);
            keep_better(&mut best, self.best_threshold(shape, self.first_hints())?);
        }
        self.settled(self.with_best_hints(best)?)
    }

    pub(super) fn multi_level(&self) -> Finding {
        if self.limits.choices < 2 || self.limits.accesses_miss <= 1.0 {
            return Err(Refusal::SecondBlock);
        }
        let mut best = None;
        for choices in 2..=self.limits.choices.min(MOST_CHOICES) {
            let at = |ratio: f64| {
                self.best_threshold(Shape::geometric(ratio, choices), self.first_hints())
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

    /// The hints to search shapes with: those asked for, or about as many as turn out best.
    fn first_hints(&self) -> u32 {
        self.limits.hints.unwrap_or(FIRST_HINTS)
    }

    /// The same with the best number of hints, and the best ratio of its subtables for that.
    fn with_best_hints(&self, found: Option<Point>) -> Result<Option<Point>, Error> {
        let Some(Point { shape, hints, .. }) = &found else { return Ok(found) };
        if self.limits.hints.is_some() {
            return Ok(found);
        }
        let (shape, mut hints) = (shape.clone(), *hints);
        let mut best = found;
        for step in HINT_STEPS {
            for other in [hints.saturating_sub(step), (hints + step).min(MOST_HINTS)] {
                if keep_better(&mut best, self.best_threshold(shape.clone(), other)?) {
                    hints = other;
                }
            }
        }
        if let Shape::Subtables(shares) = &shape
            && let [first, second, ..] = shares[..]
        {
            let choices = shape.choices();
            for factor in [0.8, 0.9, 1.1, 1.25] {
                let shape = Shape::geometric(factor * second / first, choices);
                keep_better(&mut best, self.best_threshold(shape, hints)?);
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

    /// The threshold with the lowest rate for a shape, if any keeps to the limits.
    fn best_threshold(&self, shape: Shape, hints: u32) -> Result<Option<Point>, Error> {
        let estimator = self.estimator(hints);
        let load = estimator.load();
        let spread = load.sqrt();
        let highest = (load + 9.0 * spread + 3.0).min(self.highest_threshold());
        let at = |threshold: f64| estimator.at(&shape, threshold);
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
        let (mut low, mut least) = ((load - 3.0 * spread).max(1.0), highest);
        if low >= highest || self.sizing.bytes <= HEADER_BYTES || !holds_at(highest)? {
            return Ok(None);
        }
        if holds_at(low)? {
            least = low;
        }
        while least - low > 0.02 * (1.0 + spread) {
            let middle = (low + least) / 2.0;
            if holds_at(middle)? { least = middle } else { low = middle }
        }
        // Denser near the least, where the best usually is.
        let position = |i: u32| {
            let share = f64::from(i) / f64::from(FIRST_LOOKS);
            least + (highest - least) * share * share
        };
        let mut best = (0, f64::INFINITY);
        for i in 0..=FIRST_LOOKS {
            let rate = rate_at(position(i))?;
            if rate < best.1 {
                best = (i, rate);
            }
        }
        let (from, to) =
            (position(best.0.saturating_sub(1)), position((best.0 + 1).min(FIRST_LOOKS)));
        let share = minimum::of_unimodal_within(0.05, |share| rate_at(from + (to - from) * share))?;
        let threshold = from + (to - from) * share;
        Ok(at(threshold)?.map(|estimate| Point { estimate, shape, hints, threshold }))
    }

    /// A block cannot count more keys than half of its bits.
    fn highest_threshold(&self) -> f64 {
        f64::from(self.limits.block_bits / 2) - 0.5
    }

    /// Most bits of a key in a block that counts its keys and gives hints.
    fn most_hashes_beside(&self, threshold: Threshold, hints: u32) -> u32 {
        let data_bits = self.estimator(hints).data_bits(threshold.load);
        self.most_hashes().min(data_bits / 2)
    }

    /// The filter at a point, with its threshold raised as far as the exact model demands it.
    fn settled(&self, point: Option<Point>) -> Finding {
        let Some(Point { shape, hints, mut threshold, estimate }) = point else {
            return Err(Refusal::Limits);
        };
        let estimator = self.estimator(hints);
        for _ in 0..CORRECTIONS {
            let found = self.settle_at(&shape, hints, threshold, &estimate)?;
            if self.keeps_to_limits(&found.expected) {
                return Ok(self.with_best_hashes(found)?);
            }
            let misses_at = |threshold: f64| -> Result<f64, Error> {
                Ok(estimator.at(&shape, threshold)?.map_or(0.0, |estimate| estimate.accesses_miss))
            };
            let excess = found.expected.accesses_miss - self.limits.accesses_miss;
            let slope = (misses_at(threshold)? - misses_at(threshold + 0.25)?) / 0.25;
            let correction = if slope > 0.0 { 1.05 * excess / slope } else { 0.0 };
            threshold += correction.clamp(0.02, 2.0);
        }
        Err(Refusal::Limits)
    }

    fn settle_at(
        &self,
        shape: &Shape,
        hints: u32,
        threshold: f64,
        estimate: &Estimate,
    ) -> Result<Candidate, Error> {
        let keys = self.sizing.keys as f64;
        let highest = self.highest_threshold();
        settle(
            &self.sizing,
            self.limits.block_bits,
            estimate.hashes,
            estimate.overflow,
            |blocks, overflow_capacity| {
                // With the load the threshold rises too: else, as the list grows, fewer and fewer blocks would turn
                // away more and more keys.
                let scale = keys / blocks.count as f64 / estimate.load;
                let threshold = (threshold * scale).min(highest);
                let threshold =
                    Threshold { load: threshold as u32, probability: threshold.fract() };
                let most = self.most_hashes_beside(threshold, hints);
                let blocks = Blocks { hashes: blocks.hashes.min(most), ..blocks };
                Ok(match shape {
                    Shape::Anywhere(1) => {
                        Layout::Single { blocks, threshold, hints, overflow_capacity }
                    }
                    Shape::Anywhere(choices) => Layout::Sequential {
                        blocks,
                        threshold,
                        hints,
                        overflow_capacity,
                        choices: *choices,
                        // The limits hold without a budget.
                        accesses: f64::from(*choices),
                    },
                    Shape::Subtables(shares) => Layout::MultiLevel {
                        blocks,
                        threshold,
                        hints,
                        overflow_capacity,
                        subtables: divide(blocks.count, shares)?,
                    },
                })
            },
        )
    }

    /// The same with the best number of hash functions among those that keep to the limits.
    fn with_best_hashes(&self, found: Candidate) -> Result<Candidate, Error> {
        let Some((threshold, capacity)) = found.layout.threshold() else { return Ok(found) };
        let most = self.most_hashes_beside(threshold, found.layout.hints());
        let keys = self.sizing.keys as f64;
        let start = found.layout.hashes();
        let (_, best) = minimum::of_whole_numbers(start, most, |hashes| {
            let candidate =
                Candidate::new(found.layout.clone().with_hashes(hashes), self.sizing.keys)?;
            let fits = candidate.expected.overflow_fraction * keys <= capacity as f64;
            let holds = fits && self.keeps_to_limits(&candidate.expected);
            Ok((if holds { candidate.expected.rate } else { f64::INFINITY }, candidate))
        })?;
        Ok(best)
    }
}

/// Replaces `best` by a better point; tells whether it did.
fn keep_better(best: &mut Option<Point>, found: Option<Point>) -> bool {
    let rate = |point: &Option<Point>| point.as_ref().map_or(f64::INFINITY, |p| p.estimate.rate);
    let better = rate(&found) < rate(best);
    if better {
        *best = found;
    }
    better
}
