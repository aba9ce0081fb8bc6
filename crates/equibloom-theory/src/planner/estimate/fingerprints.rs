//! A quick look at filters of fingerprint blocks, to search with.
//!
//! Loads are by keys, so that equal fingerprints are counted twice; otherwise this is the exact model. With λ_i
//! arrivals at the blocks of probe i and M fingerprints the rate is Σ reached_i·λ_i/M: a block's bits are best used
//! where M = lists · 2^remainder bits is largest.

use core::ops::RangeInclusive;

use super::fill::{Filled, Level, Shape};
use crate::exact::{
    FINGERPRINT_BLOCK_BITS, MOST_HINTS, MOST_LISTS, MOST_REMAINDER_BITS, MOST_SLOTS,
};
use crate::planner::memory::{HEADER_BYTES, capacity, overflow_bytes};
use crate::planner::wishes::Limits;

/// What a block is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) slots: u32,
    pub(crate) lists: u32,
    pub(crate) remainder_bits: u32,
    pub(crate) hints: u32,
}

impl Contents {
    /// The block with so many slots and hints that has the most different fingerprints, or exactly as many lists
    /// or bits of remainders as the user wants.
    pub(crate) fn best(slots: u32, hints: u32, limits: &Limits) -> Option<Self> {
        let widths = limits.remainder_bits.map_or(1..=MOST_REMAINDER_BITS, |bits| bits..=bits);
        let of_width = |remainder_bits: u32| {
            let taken = hints + slots * (1 + remainder_bits);
            let room = FINGERPRINT_BLOCK_BITS.checked_sub(taken)?.min(MOST_LISTS);
            let lists = limits.lists.unwrap_or(room);
            (lists > 0 && lists <= room).then_some(Self { slots, lists, remainder_bits, hints })
        };
        let possible = widths.filter_map(of_width);
        possible.max_by(|a, b| a.fingerprints().total_cmp(&b.fingerprints()))
    }

    fn fingerprints(&self) -> f64 {
        (u64::from(self.lists) << self.remainder_bits) as f64
    }
}

/// A filter, roughly.
#[derive(Debug, Clone)]
pub(crate) struct Estimate {
    pub(crate) shape: Shape,
    pub(crate) contents: Contents,
    pub(crate) rate: f64,
    pub(crate) overflow: f64,
}

/// Why there is no filter of some shape. Larger later subtables have less overflow and cost more accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooMuch {
    Overflow,
    Accesses,
}

/// Keys, memory and limits of the filters that are compared.
pub(crate) struct Estimator {
    pub(crate) keys: f64,
    pub(crate) bytes: f64,
    pub(crate) limits: Limits,
}

/// Rounds until the sizes of list and blocks agree; more mean that they never do.
const MOST_ROUNDS: usize = 5;

/// Estimates may lose this much of the keys by rounding.
const ROUNDED: f64 = 1.0 - 1e-6;

impl Estimator {
    /// Numbers of slots in question: from the mean load, below which the keys do not fit, to where blocks are
    /// hardly ever full.
    pub(crate) fn slots(&self) -> core::ops::RangeInclusive<u32> {
        if let Some(slots) = self.limits.slots {
            return slots..=slots;
        }
        let load = self.keys / self.blocks(0.0);
        let least = (0.95 * load).floor().clamp(1.0, f64::from(MOST_SLOTS) + 1.0);
        let most = (load + 5.0 * load.sqrt() + 3.0).min(f64::from(MOST_SLOTS));
        least as u32..=most as u32
    }

    /// Blocks beside an overflow list for a share of the keys.
    fn blocks(&self, overflow: f64) -> f64 {
        let mean = overflow * self.keys;
        // A list for less than one key in a thousand filters is none.
        let list = if mean > 1e-3 { overflow_bytes(capacity(mean, mean.sqrt())) } else { 0 };
        let left = self.bytes - HEADER_BYTES as f64 - list as f64;
        (8.0 * left / f64::from(FINGERPRINT_BLOCK_BITS)).max(1.0)
    }

    /// The best filter of this shape with so many slots, or what is too much.
    pub(crate) fn at(&self, shape: &Shape, slots: u32) -> Result<Estimate, TooMuch> {
        let limits = &self.limits;
        let (overflow, filled) = self.settled(shape, slots).ok_or(TooMuch::Overflow)?;
        if overflow > limits.overflow {
            return Err(TooMuch::Overflow);
        }
        if filled.accesses_insert > limits.accesses_insert {
            return Err(TooMuch::Accesses);
        }
        let choices = shape.choices();
        let hints = match (limits.hints, choices) {
            (Some(hints), _) => hints..=hints,
            // Hints spare a key with a single block the overflow list, and nobody needs many for that.
            (None, 1) => 1..=1,
            (None, _) => 1..=MOST_HINTS,
        };
        let passing: Vec<Vec<f64>> =
            filled.levels.iter().map(|level| passing(level, &hints)).collect();
        let mut best: Option<(f64, Contents)> = None;
        for (index, hints) in hints.enumerate() {
            let Some(contents) = Contents::best(slots, hints, limits) else { continue };
            let (mut reached, mut accesses, mut met) = (1.0, 0.0, 0.0);
            for probe in 0..choices as usize {
                let level = probe.min(filled.levels.len() - 1);
                accesses += reached;
                met += reached * filled.levels[level].arrivals;
                reached *= passing[level][index];
            }
            if accesses > limits.accesses_miss {
                continue;
            }
            let rate = met / contents.fingerprints();
            if best.is_none_or(|(least, _)| rate < least) {
                best = Some((rate, contents));
            }
        }
        let (rate, contents) = best.ok_or(TooMuch::Accesses)?;
        Ok(Estimate { shape: shape.clone(), contents, rate, overflow })
    }

    /// What no filter with so many slots gets below: its blocks meet all keys, and have the most fingerprints if they
    /// have the fewest hints.
    pub(crate) fn least_rate(&self, slots: u32) -> f64 {
        let fewest = self.limits.hints.unwrap_or(1);
        let load = self.keys / self.blocks(0.0);
        let best = Contents::best(slots, fewest, &self.limits);
        best.map_or(f64::INFINITY, |contents| ROUNDED * load / contents.fingerprints())
    }

    fn settled(&self, shape: &Shape, slots: u32) -> Option<(f64, Filled)> {
        let mut overflow = 0.0;
        for _ in 0..MOST_ROUNDS {
            let filled = shape.fill(self.keys / self.blocks(overflow), slots as usize, 0.0);
            if (filled.overflow - overflow).abs() <= 0.01 * filled.overflow.max(1e-5) {
                return Some((filled.overflow, filled));
            }
            overflow = filled.overflow;
            if self.blocks(overflow) < 0.5 * self.blocks(0.0) {
                return None;
            }
        }
        None
    }
}

/// By the number of hints the share of strangers that go on from a level.
fn passing(level: &Level, hints: &RangeInclusive<u32>) -> Vec<f64> {
    // Without hints the load tells.
    if *hints == (0..=0) { vec![level.passing(0)] } else { level.passing_when_full(hints.clone()) }
}
