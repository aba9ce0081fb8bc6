//! Filters with a threshold: single, sequential, multi-level.
//!
//! The papers' optimal thresholds are for a given number of accesses per *insert*; a miss then reads more than
//! two blocks. Users limit misses, and a higher threshold ends them sooner, so all thresholds are searched (as
//! one real number, h + p), not only the papers'. A higher threshold means fewer accesses of every kind and
//! less overflow: the limits hold from some threshold on, and the best is at or above it. Subtables are
//! geometric, as in the papers, with any ratio.
//!
//! The search asks the model that knows blocks by their loads only ([`outline`]) and changes one parameter at a time, by
//! ever smaller steps, with the best threshold for each; the exact model corrects and settles the result.

use core::ops::RangeInclusive;

use equibloom_layout::{Blocks, Design, Layout, MAX_HINTS, Overflow, Proportions, Rule, Share};

use super::{Finding, Refusal, Search};
use crate::error::Error;
use crate::exact::{Prediction, outline};
use crate::minimum;
use crate::planner::memory::{LINE_BYTES, overflow_list};
use crate::planner::settle::{Predicted, settle};

/// Maximum number of choices: the fourth serves one key in a thousand, at the price of its bits.
const MOST_CHOICES: u32 = 4;

/// The first number of choices.
const FIRST_CHOICES: u32 = 3;

/// The first ratio of one subtable to the one before it, the largest one, and the factor of a whole step.
const FIRST_RATIO: f64 = 0.1;
const MOST_RATIO: f64 = 0.5;
const RATIO_STEP: f64 = 2.0;

/// The first number of hints, and a whole step.
const FIRST_HINTS: u32 = 12;
const HINT_STEP: f64 = 8.0;

/// A whole step of the number of hashes.
const HASH_STEP: f64 = 2.0;

/// Steps of the parameters, as parts of a whole one.
const STEPS: [f64; 3] = [1.0, 0.4, 0.12];

/// The first step of the threshold, that after another change, and the last one, in standard deviations of a block's arrivals.
const FIRST_STEP: f64 = 0.8;
const NEXT_STEP: f64 = 0.16;
const LAST_STEP: f64 = 0.04;

/// Rounds until the sizes of list and blocks agree to this share of the blocks.
const ROUNDS: usize = 6;
const SETTLED: f64 = 0.01;

/// Lower thresholds would reject most keys.
const LEAST_THRESHOLD: f64 = 0.5;

/// Corrections of the threshold by the exact model, until misses read as much as they should; one or two are usual.
const CORRECTIONS: usize = 8;
const EXACT: f64 = 1e-3;
const LEAST_SLOPE: f64 = 1e-3;

/// Another number of hashes lowers the rate by less than this factor.
const HOPELESS: f64 = 1.03;

/// The parameters of a filter.
#[derive(Clone, Copy)]
struct Parameters {
    choices: u32,
    /// Of a subtable to the one before it; candidates are anywhere without it.
    ratio: Option<f64>,
    hints: u32,
    hashes: u32,
    /// The load `h` and, as its fraction, the coin `p`, over the mean load of a block: as the list grows the threshold
    /// rises with the load, otherwise fewer blocks would reject more and more keys.
    threshold: f64,
}

/// Parameters and what is expected of them.
struct Trial {
    parameters: Parameters,
    expected: Prediction,
    /// The list that the filter needs.
    list: Overflow,
    /// How far the limits are exceeded, and the rate.
    score: (f64, f64),
}

impl Search {
    pub(super) fn single(&self) -> Finding {
        // Hints would only save misses from reading the overflow list.
        self.best_of(None, 1..=1, 0)
    }

    pub(super) fn sequential(&self) -> Finding {
        self.has_choices()?;
        self.best_of(None, 2..=MOST_CHOICES - 1, FIRST_HINTS)
    }

    pub(super) fn multi_level(&self) -> Finding {
        self.best_of(Some(FIRST_RATIO), 2..=MOST_CHOICES, FIRST_HINTS)
    }

    /// The best filter with one of these numbers of choices.
    fn best_of(&self, ratio: Option<f64>, choices: RangeInclusive<u32>, hints: u32) -> Finding {
        let least = *choices.start();
        if least > 1 && (self.limits.choices < 2 || self.limits.accesses_miss <= 1.0) {
            return Err(Refusal::SecondBlock);
        }
        let (blocks, count) = self.whole_table()?;
        let load = self.sizing.keys as f64 / count as f64;
        let start = Parameters {
            choices: self.limits.choices.min(FIRST_CHOICES).clamp(least, *choices.end()),
            ratio,
            hints: self.limits.hints.unwrap_or(hints),
            hashes: blocks.hashes(),
            threshold: 1.0 + 2.0 / load.sqrt(),
        };
        let best = self.descend(start, choices)?;
        if best.score.0 > 0.0 { Err(Refusal::Limits) } else { self.settled(best) }
    }

    /// Changes one parameter at a time while that is better.
    fn descend(&self, start: Parameters, choices: RangeInclusive<u32>) -> Result<Trial, Error> {
        let mut best = self.with_best_threshold(start, Overflow::NONE, FIRST_STEP)?;
        for step in STEPS {
            let mut failures = 0;
            for change in (0..8).cycle() {
                while let Some(parameters) = self.changed(&best.parameters, change, step)
                    && choices.contains(&parameters.choices)
                    && let other = self.with_best_threshold(parameters, best.list, NEXT_STEP)?
                    && other.score < best.score
                {
                    (best, failures) = (other, 0);
                }
                failures += 1;
                if failures > 8 {
                    break;
                }
            }
        }
        Ok(best)
    }

    /// One of eight changes; `None` if it changes nothing.
    fn changed(&self, parameters: &Parameters, change: u32, step: f64) -> Option<Parameters> {
        let mut other = *parameters;
        let step = if change % 2 == 0 { step } else { -step };
        let whole = |number: u32, step: f64| {
            let least = 1.0_f64.copysign(step);
            number.saturating_add_signed(if step.abs() < 1.0 { least } else { step.round() } as i32)
        };
        match change / 2 {
            0 => other.ratio = Some((parameters.ratio? * RATIO_STEP.powf(step)).min(MOST_RATIO)),
            1 if self.limits.hints.is_none() && parameters.choices > 1 => {
                other.hints = whole(parameters.hints, HINT_STEP * step).min(MAX_HINTS);
            }
            2 => {
                other.hashes =
                    whole(parameters.hashes, HASH_STEP * step).clamp(1, self.most_hashes());
            }
            3 => other.choices = whole(parameters.choices, step).min(self.limits.choices),
            _ => {}
        }
        let same = other.choices == parameters.choices
            && other.ratio == parameters.ratio
            && (other.hints, other.hashes) == (parameters.hints, parameters.hashes);
        (!same).then_some(other)
    }

    /// The same with the threshold that has the lowest rate within the limits.
    fn with_best_threshold(
        &self,
        parameters: Parameters,
        list: Overflow,
        first_step: f64,
    ) -> Result<Trial, Error> {
        let mut best = self.trial(parameters, list)?;
        let deviation = self.deviation()?;
        // Hardly a block gets more keys.
        let most = 1.0 + 8.0 * deviation + 3.0 * deviation * deviation;
        let mut step = first_step * deviation;
        while step > LAST_STEP * deviation {
            let mut improved = false;
            for step in [step, -step] {
                let threshold = (best.parameters.threshold + step).clamp(LEAST_THRESHOLD, most);
                let other = self.trial(Parameters { threshold, ..best.parameters }, best.list)?;
                if other.score < best.score {
                    (best, improved) = (other, true);
                    break;
                }
            }
            if !improved {
                step /= 2.0;
            }
        }
        Ok(best)
    }

    /// A filter beside the list that it needs, starting from the size of another one.
    fn trial(&self, parameters: Parameters, mut room: Overflow) -> Result<Trial, Error> {
        let keys = self.sizing.keys as f64;
        let blocks = self.blocks_of(&parameters);
        let mut change = f64::INFINITY;
        for _ in 0..ROUNDS {
            let Ok(count) = self.sizing.blocks(blocks.stride_bits(), room.bytes()) else { break };
            let layout = self.layout(&parameters, count, room)?;
            let Some(expected) = outline(&layout, keys, f64::INFINITY, false) else { break };
            let most = expected.overflow_fraction + 6.0 * expected.overflow_deviation;
            let list = overflow_list(most * keys);
            let gained = (room.bytes() as f64 - list.bytes() as f64) / layout.block_bytes() as f64;
            room = list;
            if gained.abs() >= change {
                break;
            }
            change = gained.abs();
            if change > SETTLED.max(LINE_BYTES as f64 / layout.block_bytes() as f64) {
                continue;
            }
            let limits = &self.limits;
            let over = |value: f64, limit: f64| (value - limit).max(0.0);
            let excess = over(expected.accesses_miss, limits.accesses_miss)
                + over(expected.accesses_insert, limits.accesses_insert)
                + over(expected.overflow_fraction, limits.overflow);
            // ln(rate) is nearly proportional to the memory of the blocks.
            let rate = expected.rate.powf(1.0 + gained);
            return Ok(Trial { parameters, expected, list, score: (excess, rate) });
        }
        // Every key in the list makes another one overflow: a higher threshold is nearer to a filter.
        let (expected, score) = (Prediction::default(), (1e9 / parameters.threshold, 1.0));
        Ok(Trial { parameters, expected, list: Overflow::NONE, score })
    }

    fn blocks_of(&self, parameters: &Parameters) -> Blocks {
        Blocks::bloom(self.limits.block_bits, parameters.hashes).with_hints(parameters.hints)
    }

    /// The limits hold without a budget.
    fn layout(&self, parameters: &Parameters, count: u64, list: Overflow) -> Result<Layout, Error> {
        let Parameters { choices, ratio, threshold, hashes, .. } = *parameters;
        let candidates = match ratio {
            Some(ratio) => Proportions::geometric(ratio, choices)?,
            None => Proportions::anywhere(choices),
        };
        let threshold = threshold * self.sizing.keys as f64 / count as f64;
        // A block cannot count more keys than half of its bits.
        let threshold = threshold.clamp(1.0, f64::from(self.limits.block_bits / 2) - 0.5);
        let coin = Share::clamped(threshold.fract());
        let rule = Rule::FirstWithRoom { below: threshold as u32, coin };
        let layout = Layout::new(self.blocks_of(parameters), candidates.with_blocks(count), rule);
        let blocks = layout.blocks.with_hashes(hashes.min(layout.max_hashes()));
        let layout = Layout { blocks, ..layout }.with_overflow(list);
        layout.check()?;
        Ok(layout)
    }

    /// The standard deviation of a block's arrivals over their mean.
    fn deviation(&self) -> Result<f64, Error> {
        Ok((self.whole_table()?.1 as f64 / self.sizing.keys as f64).sqrt())
    }

    /// The filter with its threshold corrected until misses read as much as expected by the exact model, too.
    fn settled(&self, found: Trial) -> Finding {
        let Trial { mut parameters, list, expected, .. } = found;
        let step = LAST_STEP * self.deviation()?;
        let misses_at = |threshold: f64| -> Result<f64, Error> {
            Ok(self.trial(Parameters { threshold, ..parameters }, list)?.expected.accesses_miss)
        };
        let slope =
            misses_at(parameters.threshold - step)? - misses_at(parameters.threshold + step)?;
        let per_step = (slope / 2.0).max(LEAST_SLOPE);
        let mut best = Err(Refusal::Limits);
        for _ in 0..CORRECTIONS {
            let found = self.settle_at(&parameters, expected.overflow_fraction)?;
            let holds = self.keeps_to_limits(&found.expected);
            let excess = found.expected.accesses_miss - expected.accesses_miss + EXACT;
            let rate = |best: &Predicted| best.expected.rate;
            if holds && best.as_ref().map_or(f64::INFINITY, rate) > found.expected.rate {
                best = Ok(found);
            }
            if holds && excess.abs() <= 2.0 * EXACT || !holds && best.is_ok() {
                break;
            }
            let steps = excess / per_step;
            parameters.threshold +=
                step * if holds { steps.max(-10.0) } else { steps.clamp(0.1, 10.0) };
        }
        let best = best?;
        let hopeless = best.expected.rate > HOPELESS * self.to_beat;
        if hopeless { Ok(best) } else { self.with_best_hashes(best) }
    }

    fn settle_at(&self, parameters: &Parameters, overflow: f64) -> Finding {
        let found = settle(&self.sizing, self.blocks_of(parameters), overflow, |count, list| {
            Ok(self.layout(parameters, count, list)?.into())
        });
        Ok(found?)
    }

    /// The same with the best number of hashes among those that meet the limits.
    fn with_best_hashes(&self, found: Predicted) -> Finding {
        let Predicted { design, .. } = found;
        let (keys, capacity) = (self.sizing.keys, design.overflow().capacity as f64);
        let (start, most) = (design.hashes(), design.max_hashes());
        let (_, best) = minimum::of_whole_numbers(start, most, |hashes| {
            let found = Predicted::new(Design::with_hashes(design, hashes), keys)?;
            let fits = found.expected.overflow_fraction * keys as f64 <= capacity;
            let holds = fits && self.keeps_to_limits(&found.expected);
            Ok((if holds { found.expected.rate } else { f64::INFINITY }, found))
        })?;
        Ok(best)
    }
}
