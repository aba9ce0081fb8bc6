//! A fast estimate of filters with a threshold, for the search.
//!
//! The exact model follows every block bit by bit; a search evaluates thousands of filters. Here loads count
//! keys (the papers' closed forms), and a block's match probability is that of its mean number of set bits,
//! corrected for their variance. This is within a few per cent of the exact model, which predicts whatever the
//! search finds.

mod fill;

use equibloom_layout::{Blocks, HEADER_BYTES, Proportions, Rule};

use crate::error::Error;
use crate::minimum;
use fill::{Filled, Table, fill};

/// An estimated filter with a threshold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Estimate {
    /// Keys per block, those in the overflow list included.
    pub(crate) load: f64,
    pub(crate) rate: f64,
    pub(crate) hashes: u32,
    pub(crate) accesses_miss: f64,
    pub(crate) accesses_insert: f64,
    pub(crate) overflow: f64,
}

/// Rounds until the sizes of list and blocks agree; more rounds never converge.
const MOST_ROUNDS: usize = 6;

/// Keys, memory and block size of the filters that are compared.
pub(crate) struct Estimator {
    pub(crate) keys: f64,
    pub(crate) memory_bits: f64,
    pub(crate) block_bits: u32,
    pub(crate) most_hashes: u32,
    pub(crate) hints: u32,
}

impl Estimator {
    /// The load of a block if nothing overflows.
    pub(crate) fn load(&self) -> f64 {
        self.keys / self.blocks(0.0)
    }

    /// Bits of a block beside its counter and hints.
    pub(crate) fn data_bits(&self, threshold: u32) -> u32 {
        let taken = Rule::below(threshold).counter_bits() + self.hints;
        // Impossible filters are refused later.
        self.block_bits.saturating_sub(taken).max(2)
    }

    /// Blocks beside an overflow list for a share of the keys, at 80 bits each.
    fn blocks(&self, overflow: f64) -> f64 {
        let left = self.memory_bits - 8.0 * HEADER_BYTES as f64 - 80.0 * overflow * self.keys;
        (left / Blocks::bloom(self.block_bits, 1).stride_bits() as f64).max(1.0)
    }

    /// A filter with this threshold: its whole part is the load `h`, its fraction the coin `p`. `None` if the
    /// overflow does not fit.
    pub(crate) fn at(
        &self,
        candidates: &Proportions,
        threshold: f64,
    ) -> Result<Option<Estimate>, Error> {
        let Some((overflow, filled)) = self.settled(candidates, threshold) else { return Ok(None) };
        let choices = candidates.choices();
        let reached = filled.reached(choices, self.hints);
        let reached = &reached[..choices as usize];
        let data_bits = f64::from(self.data_bits(threshold as u32));
        let rate = |hashes: u32| -> f64 {
            let matched: Vec<f64> = mean_matches(&filled.tables, data_bits, hashes);
            let of_probe = |probe: usize| matched[probe.min(matched.len() - 1)];
            reached.iter().enumerate().map(|(probe, reached)| reached * of_probe(probe)).sum()
        };
        let start = 0.6 * data_bits * self.blocks(overflow) / self.keys;
        let most = self.most_hashes.min(data_bits as u32 / 2).max(1);
        let (hashes, rate) =
            minimum::of_whole_numbers((start as u32).clamp(1, most), most, |hashes| {
                let rate = rate(hashes);
                Ok((rate, rate))
            })?;
        Ok(Some(Estimate {
            load: self.keys / self.blocks(overflow),
            rate,
            hashes,
            accesses_miss: reached.iter().sum(),
            accesses_insert: filled.accesses_insert,
            overflow: filled.overflow,
        }))
    }

    /// The list takes memory from the blocks, which makes more keys overflow. A few rounds converge, unless
    /// every key in the list makes another one overflow.
    fn settled(&self, candidates: &Proportions, threshold: f64) -> Option<(f64, Filled)> {
        let mut overflow = 0.0;
        for _ in 0..MOST_ROUNDS {
            let load = self.keys / self.blocks(overflow);
            let filled = fill(candidates, load, threshold as usize, threshold.fract());
            if (filled.overflow - overflow).abs() <= 0.01 * filled.overflow.max(1e-4) {
                return Some((overflow, filled));
            }
            overflow = filled.overflow;
            if self.blocks(overflow) < 0.5 * self.blocks(0.0) {
                return None;
            }
        }
        None
    }
}

/// Shares of blocks below this do not matter for a search.
const NEGLIGIBLE: f64 = 1e-15;

/// For each table the mean probability that a block matches an absent key.
fn mean_matches(tables: &[Table], bits: f64, hashes: u32) -> Vec<f64> {
    let k = f64::from(hashes);
    let one = (-k / bits).ln_1p();
    let two = one + (-k / (bits - 1.0)).ln_1p();
    let matched = |load: usize| -> f64 {
        if load == 0 {
            return 0.0;
        }
        // The share of unset bits and its variance, from the chances that one and that two given bits are
        // unset.
        let unset = (load as f64 * one).exp();
        let both = (load as f64 * two).exp();
        let fill = 1.0 - unset;
        let variance = (unset / bits + (1.0 - 1.0 / bits) * both - unset * unset).max(0.0);
        let set = (fill * bits).max(k);
        let at_mean: f64 =
            (0..hashes).map(|i| (set - f64::from(i)) / (bits - f64::from(i))).product();
        (at_mean * (1.0 + k * (k - 1.0) / 2.0 * variance / (fill * fill))).min(1.0)
    };
    let mut known: Vec<Option<f64>> = Vec::new();
    let of_table = |table: &Table| -> f64 {
        known.resize(known.len().max(table.loads.len()), None);
        let loads = table.loads.iter().enumerate().filter(|&(_, &share)| share > NEGLIGIBLE);
        loads.map(|(load, share)| share * *known[load].get_or_insert_with(|| matched(load))).sum()
    };
    tables.iter().map(of_table).collect()
}
