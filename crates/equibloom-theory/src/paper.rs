//! The papers' model of false positives: the values they print.
//!
//! Bits are independent, a block of B bits holding i elements answers wrongly with probability
//! φ(i) = (1 − e^{−ki/B})^k, loads follow the fluid limits by elements, bits per key is β = B/r, and the
//! overflow list is not counted. Schemes with a threshold give b = ⌈log₂(k0 + 2)⌉ bits of each block to a
//! counter; blocked, two-choice and one-plus-alpha give none. A lookup that may read several blocks is
//! wrong with probability Σ P_j·FPR_j, where P_j is the probability that it reads a j-th.
//!
//! A lookup goes on while the load is at least `h`: then P_{j+1} = P_j·(f_h + f_{h+1}). If the coin is a
//! function of the key and the probe, a block at exactly `h` ends the walk of keys whose coin says yes:
//! P_{j+1} = P_j·((1−p)f_h + f_{h+1}); these values carry `_with_coin` in their names.
//!
//! ```
//! use equibloom_theory::paper;
//!
//! // The rate the papers print for 256-bit blocks, 40 bits per key and 1.2 accesses per insert.
//! let scheme = paper::Scheme::MultiLevel { accesses: 1.2, choices: 3, overflow: None };
//! let rate = paper::rate(scheme, 256, 40.0, paper::Hashes::Paper)?;
//! assert!((rate.rate - 1.39e-7).abs() < 5e-10);
//! # Ok::<(), equibloom_theory::Error>(())
//! ```
//!
//! The model reproduces published values. It is low by tens of per cent at many bits per key; use
//! [`crate::exact`] to predict a filter.

use equibloom_layout::{Blocks, Design, Layout, Overflow, Proportions, Rule, Share};

use crate::error::{Error, require};
use crate::fluid::Process;
use crate::lower_bound::{costs, lower_bound};
use crate::minimum;
use crate::optimum::{self, Budget, MOST_HASHES, Optimum, geometric_sum, paper_hashes};

/// A scheme of the papers by its parameters (a, d, γ); [`Scheme::optimum`] computes the rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scheme {
    /// The classical Bloom filter.
    Classical,
    /// One block per element, no threshold.
    Blocked,
    /// One block per element, with a threshold and an overflow list for this share of the elements.
    Single {
        /// Share of the elements in the overflow list.
        overflow: f64,
    },
    /// Several blocks anywhere, tried in order.
    Sequential {
        /// Mean accesses of an insert.
        accesses: f64,
        /// Largest number of accesses.
        choices: u32,
        /// Share of the elements in the overflow list; the least possible if not given.
        overflow: Option<f64>,
    },
    /// One block in each of several subtables.
    MultiLevel {
        /// Mean accesses of an insert.
        accesses: f64,
        /// Number of subtables.
        choices: u32,
        /// Share of the elements in the overflow list; the least possible if not given.
        overflow: Option<f64>,
    },
    /// The less loaded of two blocks.
    TwoChoice,
    /// The less loaded of two blocks for a share of the elements, one block for the rest.
    OnePlusAlpha {
        /// Share of the elements with two choices.
        alpha: f64,
    },
}

impl Scheme {
    /// The parameters with which it reaches the lower bound, with `load` keys per block; `None` if it has no
    /// threshold.
    pub fn optimum(self, load: f64) -> Result<Option<Optimum>, Error> {
        Ok(Some(match self {
            Self::Single { overflow } => optimum::single(load, overflow)?,
            Self::Sequential { accesses, choices, overflow } => {
                optimum::sequential(load, accesses, choices, overflow)?
            }
            Self::MultiLevel { accesses, choices, overflow } => {
                optimum::multi_level(load, accesses, choices, overflow)?
            }
            Self::Classical | Self::Blocked | Self::TwoChoice | Self::OnePlusAlpha { .. } => {
                return Ok(None);
            }
        }))
    }

    /// The filter of `count` blocks for `keys` keys with these parameters. Schemes with a threshold get the
    /// overflow list; the classical filter has the blocks' bits in one array.
    pub fn design(
        self,
        blocks: Blocks,
        count: u64,
        keys: u64,
        overflow: Overflow,
    ) -> Result<Design, Error> {
        let layout = match (self, self.optimum(keys as f64 / count as f64)?) {
            (_, Some(optimum)) => optimum.layout(blocks, count, keys, overflow),
            (Self::Classical, _) => {
                let bits = count.saturating_mul(blocks.bits().into());
                return Ok(Design::Classical { bits, hashes: blocks.hashes() });
            }
            (Self::TwoChoice, _) => Layout::two_choice(blocks, count),
            (Self::OnePlusAlpha { alpha }, _) => {
                Layout::one_plus_alpha(blocks, count, Share::new(alpha)?)
            }
            _ => Layout::blocked(blocks, count),
        };
        Ok(layout.into())
    }
}

/// How the number of hash functions is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hashes {
    /// This many.
    Given(u32),
    /// The papers' choice, round(β·ln 2).
    Paper,
    /// The number with the lowest rate.
    Best,
}

/// The papers' model of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rate {
    /// False-positive rate.
    pub rate: f64,
    /// False-positive rate if the coin is a function of key and probe.
    pub rate_with_coin: f64,
    /// Number of hash functions.
    pub hashes: u32,
    /// Counter bits per block.
    pub counter_bits: u32,
    /// Mean block accesses of an insert.
    pub accesses_insert: f64,
    /// Mean block accesses of looking up an inserted key.
    pub accesses_hit: f64,
    /// Mean block accesses of looking up an absent key.
    pub accesses_miss: f64,
    /// The same if the coin is a function of key and probe.
    pub accesses_miss_with_coin: f64,
    /// Share of the elements in the overflow list.
    pub overflow: f64,
}

/// The papers' rate of a `scheme` with blocks of `block_bits` and `bits_per_key` = block bits / load.
pub fn rate(
    scheme: Scheme,
    block_bits: u32,
    bits_per_key: f64,
    hashes: Hashes,
) -> Result<Rate, Error> {
    let filter = Filter::new(scheme, block_bits, bits_per_key)?;
    match hashes {
        Hashes::Given(hashes) => {
            let holds = (1..=MOST_HASHES).contains(&hashes);
            let accepted = format!("between 1 and {MOST_HASHES}");
            require(holds, "hashes", f64::from(hashes), accepted)?;
            Ok(filter.rate(hashes))
        }
        Hashes::Paper => Ok(filter.rate(paper_hashes(bits_per_key))),
        Hashes::Best => filter.best_rate(),
    }
}

/// Mean number of blocks, of `blocks` in all, that the bits of one key in a classical filter lie in (1+α paper,
/// Lemma 6.1): b[1 − (1 − 1/b)^k].
pub fn blocks_touched(hashes: u32, blocks: u64) -> Result<f64, Error> {
    require(hashes > 0, "hashes", f64::from(hashes), "at least 1")?;
    require(blocks > 0, "blocks", blocks as f64, "at least 1")?;
    let b = blocks as f64;
    Ok(-b * (f64::from(hashes) * (-1.0 / b).ln_1p()).exp_m1())
}

/// The α with the lowest rate, with that rate: it falls, then rises with α (1+α paper, figure 3).
pub fn best_alpha(
    block_bits: u32,
    bits_per_key: f64,
    hashes: Hashes,
) -> Result<(f64, Rate), Error> {
    let at = |alpha| rate(Scheme::OnePlusAlpha { alpha }, block_bits, bits_per_key, hashes);
    let best = minimum::of_unimodal(|alpha| Ok(at(alpha)?.rate))?;
    Ok((best, at(best)?))
}

const LARGEST_BLOCK: u32 = 1 << 18;

/// A scheme's loads and walks, before the number of hash functions is chosen.
struct Filter {
    /// `None` for the classical filter.
    loads: Option<Vec<f64>>,
    data_bits: f64,
    bits_per_key: f64,
    /// All but the rate, which depends on the number of hash functions.
    known: Rate,
}

impl Filter {
    fn new(scheme: Scheme, block_bits: u32, bits_per_key: f64) -> Result<Self, Error> {
        let bits = f64::from(block_bits);
        let holds = (1..=LARGEST_BLOCK).contains(&block_bits);
        require(holds, "block_bits", bits, format!("between 1 and {LARGEST_BLOCK}"))?;
        let holds = bits_per_key > 0.0 && bits_per_key <= 1e5;
        require(holds, "bits_per_key", bits_per_key, "above 0 and at most 1e5")?;
        let load = bits / bits_per_key;
        if let Some(optimum) = scheme.optimum(load)? {
            let in_time = match (scheme, optimum.candidates) {
                // t0 of the proof of Theorem 5: the first subtable's share of the accesses.
                (_, Proportions::Subtables { shares }) => optimum.accesses * shares[0],
                (Scheme::Sequential { choices, overflow: Some(_), .. }, _) => {
                    Budget::new(load, optimum.accesses, choices)
                        .elements(optimum.threshold as usize, optimum.probability)
                }
                _ => 1.0,
            };
            return Self::with_threshold(bits, bits_per_key, &optimum, in_time.min(1.0));
        }
        let alpha = match scheme {
            Scheme::TwoChoice => 1.0,
            Scheme::OnePlusAlpha { alpha } => alpha,
            _ => 0.0,
        };
        let holds = (0.0..=1.0).contains(&alpha);
        require(holds, "alpha", alpha, "between 0 and 1")?;
        let candidates = Proportions::Anywhere { choices: 2, share: Share::clamped(alpha) };
        let state = match scheme {
            Scheme::Classical => None,
            _ => Some(Process::new(candidates, Rule::LeastLoaded, load).end()?),
        };
        let known = Rate {
            accesses_insert: 1.0 + alpha,
            // By symmetry half of those with two choices lie in the first.
            accesses_hit: 1.0 + alpha / 2.0,
            accesses_miss: 1.0 + alpha,
            accesses_miss_with_coin: 1.0 + alpha,
            ..Rate::default()
        };
        let loads = state.and_then(|mut state| state.loads.pop());
        Ok(Self { loads, data_bits: bits, bits_per_key, known })
    }

    /// `in_time` is the share of the elements that find the access budget not yet spent.
    fn with_threshold(
        bits: f64,
        bits_per_key: f64,
        optimum: &Optimum,
        in_time: f64,
    ) -> Result<Self, Error> {
        let choices = optimum.candidates.choices();
        let loads =
            lower_bound(bits / bits_per_key, optimum.accesses, optimum.overflow)?.distribution;
        let counter_bits = optimum.rule().counter_bits();
        let data_bits = bits - f64::from(counter_bits);
        require(
            data_bits >= 1.0,
            "block_bits",
            bits,
            format!("above the {counter_bits} bits of the counter"),
        )?;
        let h = optimum.threshold as usize;
        let goes_on = loads[h] + loads[h + 1];
        let goes_on_with_coin = (1.0 - optimum.probability) * loads[h] + loads[h + 1];
        let accesses_miss = geometric_sum(goes_on, choices);
        let known = Rate {
            counter_bits,
            overflow: optimum.overflow,
            accesses_insert: optimum.accesses,
            // A placed element is found where it was placed; a late one is looked for like a miss.
            accesses_hit: optimum.accesses + (1.0 - in_time) * accesses_miss,
            accesses_miss,
            accesses_miss_with_coin: geometric_sum(goes_on_with_coin, choices),
            ..Rate::default()
        };
        Ok(Self { loads: Some(loads), data_bits, bits_per_key, known })
    }

    fn rate(&self, hashes: u32) -> Rate {
        let k = f64::from(hashes);
        let Some(loads) = &self.loads else {
            let fill = -(-k / self.bits_per_key).exp_m1();
            let rate = fill.powi(hashes as i32);
            let miss = if fill < 1.0 { (1.0 - rate) / (1.0 - fill) } else { k };
            return Rate {
                rate,
                rate_with_coin: rate,
                hashes,
                accesses_insert: k,
                accesses_hit: k,
                accesses_miss: miss,
                accesses_miss_with_coin: miss,
                ..self.known
            };
        };
        let block = costs::bloom_block(self.data_bits, hashes);
        let one_block: f64 =
            loads.iter().enumerate().map(|(load, share)| share * block(load as u32)).sum();
        let rate = one_block * self.known.accesses_miss;
        let rate_with_coin = one_block * self.known.accesses_miss_with_coin;
        Rate { rate, rate_with_coin, hashes, ..self.known }
    }

    /// The rate falls, then rises with the number of hash functions: walk downhill from the papers' choice.
    fn best_rate(&self) -> Result<Rate, Error> {
        let start = paper_hashes(self.bits_per_key);
        let (_, best) = minimum::of_whole_numbers(start, MOST_HASHES, |hashes| {
            let rate = self.rate(hashes);
            Ok((rate.rate, rate))
        })?;
        Ok(best)
    }
}

#[cfg(test)]
#[path = "paper_tests.rs"]
mod tests;
