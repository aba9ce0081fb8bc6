//! Filters without a threshold: blocked, two-choice, one-plus-alpha.
//!
//! The exact model of second choices is the slowest, so it evaluates about two dozen filters only: a few shares
//! α with the best number of hash functions for each, then the best α for that number and its neighbours.
//! ln(rate) is smooth and convex in α, so that parabolas find the minimum quickly.

use equibloom_layout::{Blocks, Layout, Share};

use super::{Finding, Refusal, Search};
use crate::error::Error;
use crate::exact::best_hashes_from;
use crate::minimum;
use crate::planner::settle::Predicted;

/// Initial shares of the largest α.
const FIRST_LOOKS: [f64; 4] = [0.1, 0.4, 0.7, 1.0];

/// Larger blocks take the exact model a second each; for them the first evaluation must show that α pays.
const LARGE_BLOCK_BITS: u32 = 1024;

/// Parabolas through the three best points.
const REFINEMENTS: usize = 3;

/// A number of hash functions whose rate is higher by this factor is dropped.
const FAR_BEHIND: f64 = 1.01;

/// Every key with a second choice is the two-choice placement.
const LARGEST_SHARE: f64 = 1.0 - f64::EPSILON;

/// Refining α lowers the rate by less than this factor.
const HOPELESS: f64 = 1.3;

impl Search {
    pub(super) fn blocked(&self) -> Finding {
        let (blocks, count) = self.whole_table()?;
        Ok(self.at_best_hashes(Layout::blocked(blocks, count))?)
    }

    pub(super) fn two_choice(&self) -> Finding {
        let (blocks, count) = self.whole_table()?;
        if self.limits.choices < 2 {
            return Err(Refusal::SecondBlock);
        }
        let layout = Layout::two_choice(blocks, count);
        let first = Predicted::new(layout, self.sizing.keys)?;
        if !self.keeps_to_limits(&first.expected) {
            return Err(Refusal::AccessesPerMiss(Box::new(first)));
        }
        Ok(self.at_best_hashes(layout)?)
    }

    pub(super) fn one_plus_alpha(&self) -> Finding {
        let most = self.limits.accesses_miss.min(self.limits.accesses_insert) - 1.0;
        let most = most.min(LARGEST_SHARE);
        if self.limits.choices < 2 || most <= 0.0 {
            return Err(Refusal::SecondBlock);
        }
        let none = self.blocked()?;
        let first_alpha = FIRST_LOOKS[0] * most;
        let mut looks: Vec<(f64, Predicted)> = Vec::new();
        for share in FIRST_LOOKS {
            // With fewer overloaded blocks more hash functions are best.
            let hashes =
                looks.last().map_or(none.design.hashes(), |(_, last)| last.design.hashes());
            let alpha = share * most;
            looks.push((alpha, self.at_best_hashes(self.layout_with(alpha, hashes)?)?));
            let pays = looks[0].1.expected.rate < none.expected.rate;
            if !pays && self.limits.block_bits > LARGE_BLOCK_BITS {
                break;
            }
        }
        let factor = looks[0].1.expected.rate / none.expected.rate;
        let best = self.refined(looks, most)?;
        if best.expected.rate < none.expected.rate {
            return Ok(best);
        }
        if self.limits.placement_is_fixed {
            let layout = self.layout_with(0.0, none.design.hashes())?;
            return Ok(Predicted { design: layout.into(), ..none });
        }
        Err(Refusal::SecondChoicesDoNotPay { alpha: first_alpha, factor })
    }

    /// The best α near the best of the initial ones, for its number of hash functions and the neighbours.
    fn refined(&self, looks: Vec<(f64, Predicted)>, most: f64) -> Result<Predicted, Error> {
        let rate = |(_, found): &(f64, Predicted)| found.expected.rate;
        let index = (0..looks.len()).min_by(|&a, &b| rate(&looks[a]).total_cmp(&rate(&looks[b])));
        let index = index.unwrap_or(0);
        let mut best = looks[index].1.clone();
        if looks.len() < 3 || best.expected.rate > HOPELESS * self.to_beat {
            return Ok(best);
        }
        // The three points around the best one; at an end, the three nearest.
        let middle = index.clamp(1, looks.len() - 2);
        let alphas = [looks[middle - 1].0, looks[middle].0, looks[middle + 1].0];
        let hashes = best.design.hashes();
        for hashes in [hashes, hashes + 1, hashes.saturating_sub(1)] {
            if !(1..=self.most_hashes()).contains(&hashes) {
                continue;
            }
            let at = |alpha: f64| -> Result<Predicted, Error> {
                Predicted::new(self.layout_with(alpha, hashes)?, self.sizing.keys)
            };
            // The best α of a neighbour is close by, and its rate hardly lower.
            let here = at(looks[index].0)?;
            if here.expected.rate > FAR_BEHIND * best.expected.rate {
                continue;
            }
            let found = minimum::of_parabola(alphas, most, REFINEMENTS, |alpha| {
                let found = at(alpha)?;
                Ok((found.expected.rate.ln(), found))
            })?;
            if found.expected.rate < best.expected.rate {
                best = found;
            }
        }
        Ok(best)
    }

    fn layout_with(&self, alpha: f64, hashes: u32) -> Result<Layout, Error> {
        let (blocks, count) = self.whole_table()?;
        Ok(Layout::one_plus_alpha(blocks.with_hashes(hashes), count, Share::clamped(alpha)))
    }

    fn at_best_hashes(&self, layout: Layout) -> Result<Predicted, Error> {
        Ok(best_hashes_from(&layout.into(), self.sizing.keys, layout.blocks.hashes())?.into())
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
