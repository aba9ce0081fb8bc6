//! A fast estimate of filters of fingerprint blocks, for the search.
//!
//! Loads are by keys, so that equal fingerprints are counted twice; otherwise this is the exact model. With λ_i
//! arrivals at the blocks of probe i and M fingerprints the rate is Σ reached_i·λ_i/M: a block's bits are best used
//! where M = lists · 2^remainder bits is largest.

use core::ops::RangeInclusive;

use equibloom_layout::{
    Blocks, FINGERPRINT_BLOCK_BITS, HEADER_BYTES, MAX_HINTS, MAX_LISTS, MAX_REMAINDER_BITS,
    MAX_SLOTS, Proportions,
};

use super::fill::{Filled, Table, fill};
use crate::planner::memory::overflow_list;
use crate::planner::requirements::Limits;

/// The block with these slots and hints that has the most distinct fingerprints, or exactly the required lists
/// or remainder bits; and its number of fingerprints.
fn best_blocks(slots: u32, hints: u32, limits: &Limits) -> Option<(Blocks, f64)> {
    let widths = limits.remainder_bits.map_or(1..=MAX_REMAINDER_BITS, |bits| bits..=bits);
    let of_width = |remainder_bits: u32| {
        let taken = hints + slots * (1 + remainder_bits);
        let room = FINGERPRINT_BLOCK_BITS.checked_sub(taken)?.min(MAX_LISTS);
        let lists = limits.lists.unwrap_or(room);
        let fingerprints = (u64::from(lists) << remainder_bits) as f64;
        let blocks = Blocks::Fingerprint { slots, lists, remainder_bits, hints };
        (lists > 0 && lists <= room).then_some((blocks, fingerprints))
    };
    widths.filter_map(of_width).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// An estimated filter.
#[derive(Debug, Clone)]
pub(crate) struct Estimate {
    pub(crate) candidates: Proportions,
    pub(crate) slots: u32,
    pub(crate) blocks: Blocks,
    pub(crate) rate: f64,
    pub(crate) overflow: f64,
}

/// Why some candidates give no filter. Larger later subtables have less overflow and cost more accesses.
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

/// Rounds until the sizes of list and blocks agree; more rounds never converge.
const MOST_ROUNDS: usize = 5;

/// Estimates may lose this much of the keys by rounding.
const ROUNDED: f64 = 1.0 - 1e-6;

impl Estimator {
    /// Possible numbers of slots: from the mean load, below which the keys do not fit, to where blocks are
    /// hardly ever full.
    pub(crate) fn slots(&self) -> core::ops::RangeInclusive<u32> {
        if let Some(slots) = self.limits.slots {
            return slots..=slots;
        }
        let load = self.keys / self.blocks(0.0);
        let least = (0.95 * load).floor().clamp(1.0, f64::from(MAX_SLOTS) + 1.0);
        let most = (load + 5.0 * load.sqrt() + 3.0).min(f64::from(MAX_SLOTS));
        least as u32..=most as u32
    }

    /// Number of blocks beside an overflow list for a share of the keys.
    fn blocks(&self, overflow: f64) -> f64 {
        let mean = overflow * self.keys;
        // A list for less than one key in a thousand filters is omitted.
        let list = if mean > 1e-3 { overflow_list(mean, mean.sqrt()).bytes() } else { 0 };
        let left = self.bytes - HEADER_BYTES as f64 - list as f64;
        (8.0 * left / f64::from(FINGERPRINT_BLOCK_BITS)).max(1.0)
    }

    /// The best filter with these candidates and slots, or the exceeded limit.
    pub(crate) fn at(&self, candidates: &Proportions, slots: u32) -> Result<Estimate, TooMuch> {
        let limits = &self.limits;
        let (overflow, filled) = self.settled(candidates, slots).ok_or(TooMuch::Overflow)?;
        if overflow > limits.overflow {
            return Err(TooMuch::Overflow);
        }
        if filled.accesses_insert > limits.accesses_insert {
            return Err(TooMuch::Accesses);
        }
        let choices = candidates.choices();
        let hints = match (limits.hints, choices) {
            (Some(hints), _) => hints..=hints,
            // Hints save a key with a single block from reading the overflow list; few are enough.
            (None, 1) => 1..=1,
            (None, _) => 1..=MAX_HINTS,
        };
        let passing: Vec<Vec<f64>> =
            filled.tables.iter().map(|table| passing(table, &hints)).collect();
        let mut best: Option<(f64, Blocks)> = None;
        for (index, hints) in hints.enumerate() {
            let Some((blocks, fingerprints)) = best_blocks(slots, hints, limits) else { continue };
            let (mut reached, mut accesses, mut met) = (1.0, 0.0, 0.0);
            for probe in 0..choices as usize {
                let table = probe.min(filled.tables.len() - 1);
                accesses += reached;
                met += reached * filled.tables[table].arrivals;
                reached *= passing[table][index];
            }
            if accesses > limits.accesses_miss {
                continue;
            }
            let rate = met / fingerprints;
            if best.is_none_or(|(least, _)| rate < least) {
                best = Some((rate, blocks));
            }
        }
        let (rate, blocks) = best.ok_or(TooMuch::Accesses)?;
        Ok(Estimate { candidates: *candidates, slots, blocks, rate, overflow })
    }

    /// Lower bound on the rate with these slots: the blocks receive all keys, and have the most fingerprints
    /// with the fewest hints.
    pub(crate) fn least_rate(&self, slots: u32) -> f64 {
        let fewest = self.limits.hints.unwrap_or(1);
        let load = self.keys / self.blocks(0.0);
        let best = best_blocks(slots, fewest, &self.limits);
        best.map_or(f64::INFINITY, |(_, fingerprints)| ROUNDED * load / fingerprints)
    }

    fn settled(&self, candidates: &Proportions, slots: u32) -> Option<(f64, Filled)> {
        let mut overflow = 0.0;
        for _ in 0..MOST_ROUNDS {
            let load = self.keys / self.blocks(overflow);
            let filled = fill(candidates, load, slots as usize, 0.0);
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

/// The share of absent keys that go on from a table, by the number of hints.
fn passing(table: &Table, hints: &RangeInclusive<u32>) -> Vec<f64> {
    // Without hints the load decides.
    if *hints == (0..=0) { vec![table.passing(0)] } else { table.passing_when_full(hints.clone()) }
}
