//! Filters without a threshold: blocked, two-choice, one-plus-alpha.
//!
//! The blocked filter has a closed form. Second choices cost 1 + α·(1 − rate) accesses per miss and multiply the rate by
//! as much, which refuses most of them before the exact model, the slowest of all, is asked: a few shares α with the best
//! number of hash functions for each, then a parabola through the best three, because ln(rate) is smooth and convex in α.

use equibloom_layout::{Blocks, HEADER_BYTES, Layout, Rule, Share, bytes_of_bits};

use super::{Finding, Refusal, Search};
use crate::error::{Error, require};
use crate::exact::{Prediction, best_hashes_from, predict};
use crate::minimum;
use crate::planner::settle::Predicted;

/// Shares of the largest α that are tried.
const LOOKS: [f64; 3] = [0.15, 0.55, 1.0];

/// Parabolas through the three best points.
const REFINEMENTS: usize = 2;

/// Second choices lower the rate by about a third of what perfectly even blocks would.
const LEAST_GAIN: f64 = 0.1;

/// Every key with a second choice is the two-choice placement.
const LARGEST_SHARE: f64 = 1.0 - f64::EPSILON;

/// Among fewer blocks both choices are often the same, which the exact model leaves out.
const FEWEST: u64 = 8;

/// With more hash functions the closed form cancels, with fewer below this share of its largest term.
const MOST_CLOSED: u32 = 24;
const PRECISION: f64 = 1e-13;

impl Search {
    /// The best blocked filter. Its prediction has the rate and the accesses only.
    pub(super) fn blocked(&self) -> Finding {
        let (blocks, count) = self.whole_table()?;
        let (start, most) = (blocks.hashes(), self.most_hashes());
        let (hashes, rate) = minimum::of_whole_numbers(start, most, |hashes| {
            let rate = self.blocked_rate(blocks.with_hashes(hashes), count)?;
            Ok((rate, rate))
        })?;
        let design = Layout::blocked(blocks.with_hashes(hashes), count).into();
        let accesses =
            Prediction { accesses_miss: 1.0, accesses_insert: 1.0, ..Prediction::default() };
        Ok(Predicted { design, expected: Prediction { rate, ..accesses } })
    }

    /// All k bits of an absent key are set in a block of U bits after A keys: 1 − C(k,1)·x₁^A + C(k,2)·x₂^A − …,
    /// where a key leaves j given bits unset with probability x_j = C(U−j,k)/C(U,k). `mean` gives the mean of x^A.
    fn all_set(blocks: Blocks, mean: impl Fn(f64) -> f64) -> f64 {
        let (bits, hashes) = (f64::from(blocks.bits()), blocks.hashes());
        let (mut rate, mut choose, mut unset) = (1.0, 1.0, 1.0);
        for j in 1..=hashes {
            choose *= -f64::from(hashes + 1 - j) / f64::from(j);
            let left = bits - f64::from(j) + 1.0;
            unset *= (left - f64::from(hashes)) / left;
            rate += choose * mean(unset);
        }
        rate.clamp(0.0, 1.0)
    }

    fn blocked_rate(&self, blocks: Blocks, count: u64) -> Result<f64, Error> {
        // A is binomial.
        let keys = self.sizing.keys as f64;
        let mean = |unset: f64| (keys * (-(1.0 - unset) / count as f64).ln_1p()).exp();
        let rate = Self::all_set(blocks, mean);
        let cancels = rate < PRECISION * 2.0_f64.powi(blocks.hashes() as i32);
        if cancels || blocks.hashes() > MOST_CLOSED {
            return Ok(predict(&Layout::blocked(blocks, count).into(), self.sizing.keys)?.rate);
        }
        Ok(rate)
    }

    /// A lower bound for Bloom blocks under any rule: the rate if all keys were spread evenly and every block had
    /// the mean number of set bits, because C(s, k) is convex in s. A key in the overflow list takes more memory than in
    /// a block.
    pub(super) fn least_rate_of_blocks(&self, counter_bits: u32) -> f64 {
        let Ok((blocks, count)) = self.whole_table() else { return 0.0 };
        let bits = f64::from(blocks.bits().saturating_sub(counter_bits));
        let load = self.sizing.keys as f64 / count as f64;
        let rate_at = |load: f64, hashes: u32| -> f64 {
            let set = bits * (1.0 - (1.0 - f64::from(hashes) / bits).powf(load));
            let matching = |bit: u32| (set - f64::from(bit)) / (bits - f64::from(bit));
            (0..hashes).map(|bit| matching(bit).max(0.0)).product()
        };
        let rate = |hashes: u32| -> f64 {
            let (low, share) = (load.floor(), load.fract());
            (1.0 - share) * rate_at(low, hashes) + share * rate_at(low + 1.0, hashes)
        };
        let least = minimum::of_whole_numbers(blocks.hashes(), self.most_hashes(), |hashes| {
            Ok((rate(hashes), rate(hashes)))
        });
        least.map_or(0.0, |(_, rate)| rate)
    }

    pub(super) fn two_choice(&self) -> Finding {
        let (blocks, count) = self.whole_table()?;
        // A miss ends at the first block only if that matches.
        let accesses = 2.0 - self.blocked()?.expected.rate;
        self.allows_second(accesses)?;
        // It reads two blocks, either of which may match.
        let even = self.least_rate_of_blocks(0);
        self.can_win(even * (2.0 - even))?;
        self.at_best_hashes(Layout::two_choice(blocks, count))
    }

    pub(super) fn one_plus_alpha(&self) -> Finding {
        let allowed = self.limits.accesses_miss.min(self.limits.accesses_insert) - 1.0;
        self.allows_second(1.0 + allowed.min(0.0))?;
        if allowed <= 0.0 {
            return Err(Refusal::SecondBlock);
        }
        let even = self.least_rate_of_blocks(0);
        self.can_win(even)?;
        let none = self.blocked()?;
        // A share α of second choices multiplies the rate by 1 + α, and makes blocks even at best.
        let gain = none.expected.rate / even - 1.0;
        if gain < LEAST_GAIN && !self.limits.placement_is_fixed {
            return Err(Refusal::SecondChoicesDoNotPay { gain });
        }
        let most = allowed.min(gain).min(LARGEST_SHARE);
        let (looks, hashes) = (LOOKS.map(|share| share * most), none.design.hashes());
        let refinements = if self.compares { 0 } else { REFINEMENTS };
        let best = minimum::of_parabola(looks, most, refinements, |alpha| {
            let design = self.layout_with(alpha, hashes)?.into();
            let found = match self.compares {
                true => Predicted::new(design, self.sizing.keys)?,
                false => best_hashes_from(&design, self.sizing.keys, hashes)?.into(),
            };
            Ok((found.expected.rate.ln(), found))
        })?;
        if best.expected.rate < none.expected.rate {
            return Ok(best);
        }
        let layout = self.layout_with(0.0, none.design.hashes())?;
        Ok(Predicted { design: layout.into(), ..none })
    }

    /// Refuses a filter that counts keys, up to a block's mean load at least, and could not have the lowest rate if its
    /// blocks were perfectly even. With a lower threshold a key of every block would overflow, which takes more bits.
    pub(super) fn can_win_with_threshold(&self) -> Result<(), Refusal> {
        let (_, count) = self.whole_table()?;
        let threshold = self.sizing.keys / count;
        let rule = Rule::below(threshold.clamp(1, self.limits.block_bits.into()) as u32);
        self.can_win(self.least_rate_of_blocks(rule.counter_bits()))
    }

    /// Refuses a filter with this lower bound of its rate.
    pub(super) fn can_win(&self, rate: f64) -> Result<(), Refusal> {
        if rate > self.to_beat { Err(Refusal::EvenBlocks { rate }) } else { Ok(()) }
    }

    /// Refuses a second block if no key may read one, or a miss not so many.
    fn allows_second(&self, accesses: f64) -> Result<(), Refusal> {
        if self.limits.choices < 2 {
            return Err(Refusal::SecondBlock);
        }
        if accesses > self.limits.accesses_miss.min(self.limits.accesses_insert) {
            return Err(Refusal::AccessesPerMiss { accesses });
        }
        self.has_choices()
    }

    /// Refuses choices among too few blocks.
    pub(super) fn has_choices(&self) -> Result<(), Refusal> {
        let (bytes, blocks) = (self.sizing.bytes, Blocks::bloom(self.limits.block_bits, 1));
        let (_, count) = self.whole_table()?;
        let enough = HEADER_BYTES + bytes_of_bits(FEWEST * blocks.stride_bits());
        let accepted = || format!("at least {enough} bytes: second choices need {FEWEST} blocks");
        Ok(require(count >= FEWEST, "memory", bytes as f64, accepted())?)
    }

    fn layout_with(&self, alpha: f64, hashes: u32) -> Result<Layout, Error> {
        let (blocks, count) = self.whole_table()?;
        Ok(Layout::one_plus_alpha(blocks.with_hashes(hashes), count, Share::clamped(alpha)))
    }

    fn at_best_hashes(&self, layout: Layout) -> Finding {
        let found: Predicted =
            best_hashes_from(&layout.into(), self.sizing.keys, layout.blocks.hashes())?.into();
        if self.keeps_to_limits(&found.expected) { Ok(found) } else { Err(Refusal::Limits) }
    }

    /// All memory as blocks, with a first guess of the number of hashes, and the number of blocks.
    fn whole_table(&self) -> Result<(Blocks, u64), Error> {
        let bits = self.limits.block_bits;
        let blocks = Blocks::bloom(bits, 1);
        let count = self.sizing.blocks(blocks.stride_bits(), 0)?;
        // The textbook's number is right for evenly loaded blocks; fuller ones need fewer.
        let guess = 0.55 * count as f64 * f64::from(bits) / self.sizing.keys as f64;
        Ok((blocks.with_hashes((guess as u32).clamp(1, self.most_hashes())), count))
    }
}
