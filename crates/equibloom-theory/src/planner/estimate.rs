//! A quick look at filters with a threshold, to search with.
//!
//! The exact model follows every block bit by bit; a search asks about thousands of filters. Here loads are by
//! keys (the papers' closed forms), and a block's match probability is that of its mean number of set bits,
//! corrected for their variance. This is within a few per cent of the exact model. Nothing is promised by it:
//! whatever the search finds is predicted by the exact model afterwards.

use super::memory::{HEADER_BYTES, stride_bits};
use crate::error::Error;
use crate::exact::arrivals;
use crate::minimum;
use crate::optimum::{geometric_sum, turned_away};
use crate::paper::counter_bits;
use crate::poisson::Weights;

/// The candidates of a key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// So many blocks anywhere.
    Anywhere(u32),
    /// One block in each subtable; the shares of the blocks.
    Subtables(Vec<f64>),
}

/// What a filter with a threshold is like, roughly.
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

/// Rounds until the sizes of list and blocks agree; more mean that they never do.
const MOST_ROUNDS: usize = 6;

/// Keys, memory and block size of the filters that are compared.
pub(crate) struct Estimator {
    pub(crate) keys: f64,
    pub(crate) memory_bits: f64,
    pub(crate) block_bits: u32,
    pub(crate) most_hashes: u32,
}

/// One table or subtable: by load the share of its blocks; and the share of keys it turns away.
struct Level {
    loads: Vec<f64>,
    passing: f64,
}

/// The filled tables, before the number of hash functions is chosen.
struct Filled {
    levels: Vec<Level>,
    accesses_insert: f64,
    overflow: f64,
}

impl Estimator {
    /// The load of a block if nothing overflows.
    pub(crate) fn load(&self) -> f64 {
        self.keys / self.blocks(0.0)
    }

    /// Blocks beside an overflow list for a share of the keys, at 80 bits each.
    fn blocks(&self, overflow: f64) -> f64 {
        let left = self.memory_bits - 8.0 * HEADER_BYTES as f64 - 80.0 * overflow * self.keys;
        (left / stride_bits(self.block_bits) as f64).max(1.0)
    }

    /// A filter with this threshold: its whole part is the load `h`, its fraction the coin `p`. None if so many
    /// keys would overflow that they do not fit.
    pub(crate) fn at(&self, shape: &Shape, threshold: f64) -> Result<Option<Estimate>, Error> {
        let Some((overflow, filled)) = self.settled(shape, threshold) else { return Ok(None) };
        let passing = |level: usize| match shape {
            Shape::Anywhere(_) => filled.levels[0].passing,
            Shape::Subtables(_) => filled.levels[level].passing,
        };
        let choices = match shape {
            Shape::Anywhere(choices) => *choices as usize,
            Shape::Subtables(shares) => shares.len(),
        };
        // How likely a lookup of a stranger reads the block of each probe.
        let mut reached = vec![1.0];
        for probe in 1..choices {
            reached.push(reached[probe - 1] * passing(probe - 1));
        }
        let data_bits = f64::from(self.block_bits - counter_bits(threshold as u32));
        let rate = |hashes: u32| -> f64 {
            let matched: Vec<f64> = mean_matches(&filled.levels, data_bits, hashes);
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

    /// The list takes memory from the blocks, which fills it further. Unless it takes so much that every key in
    /// it turns another one away, a few rounds settle that.
    fn settled(&self, shape: &Shape, threshold: f64) -> Option<(f64, Filled)> {
        let mut overflow = 0.0;
        for _ in 0..MOST_ROUNDS {
            let filled = self.fill(shape, threshold, overflow);
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

    fn fill(&self, shape: &Shape, threshold: f64, overflow: f64) -> Filled {
        let load = self.keys / self.blocks(overflow);
        let (h, p) = (threshold as usize, threshold.fract());
        match shape {
            Shape::Anywhere(1) => subtables(load, h, p, &[1.0]),
            Shape::Anywhere(choices) => anywhere(load, h, p, *choices),
            Shape::Subtables(shares) => subtables(load, h, p, shares),
        }
    }
}

/// Each subtable is a table of its own for what the ones before it turned away.
fn subtables(load: f64, h: usize, p: f64, shares: &[f64]) -> Filled {
    let mut filled = Filled { levels: Vec::new(), accesses_insert: 0.0, overflow: 1.0 };
    for share in shares {
        let arriving = filled.overflow * load / share;
        let attempts = arrivals::poisson(arriving);
        let level = Level::new(&attempts, h, p);
        let stored: f64 = level.loads.iter().enumerate().map(|(i, mass)| i as f64 * mass).sum();
        filled.accesses_insert += filled.overflow;
        filled.overflow *= if arriving > 0.0 { (1.0 - stored / arriving).max(0.0) } else { 0.0 };
        filled.levels.push(level);
    }
    filled
}

/// Steps of the integral over the tries, which needs a few digits only.
const STEPS: f64 = 16.0;

/// All keys' tries reach one table: dt/ds = 1/g(P(s)) until t = 1 (see [`crate::optimum`]).
fn anywhere(load: f64, h: usize, p: f64, choices: u32) -> Filled {
    // Nothing is turned away long before the threshold: the integral starts there.
    let start = ((h as f64 - 6.0 * load.sqrt()) / load).clamp(0.0, 0.9);
    let step = (1.0 - start) / STEPS;
    let (mut tries, mut inserted, mut overflow) = (start, start, 0.0);
    while inserted < 1.0 - 1e-9 {
        let away = turned_away(&arrivals::poisson((tries + step / 2.0) * load), h, p);
        let per_key = geometric_sum(away, choices);
        let width = step.min((1.0 - inserted) * per_key);
        inserted += width / per_key;
        overflow += width * away.powi(choices as i32) / per_key;
        tries += width;
    }
    let level = Level::new(&arrivals::poisson(tries * load), h, p);
    Filled { levels: vec![level], accesses_insert: tries, overflow }
}

impl Level {
    fn new(attempts: &Weights, h: usize, p: f64) -> Self {
        let mut loads = vec![0.0; h + 2];
        // Of the tries beyond the threshold one is admitted, unless all their coins fail.
        let mut all_fail = 1.0;
        for (tries, mass) in attempts.iter() {
            if tries < h {
                loads[tries] = mass;
            } else {
                loads[h] += mass * all_fail;
                loads[h + 1] += mass * (1.0 - all_fail);
                all_fail *= 1.0 - p;
            }
        }
        let passing = (1.0 - p) * loads[h] + loads[h + 1];
        Self { loads, passing }
    }
}

/// Shares of blocks below this do not matter for a search.
const NEGLIGIBLE: f64 = 1e-15;

/// For each level the mean probability that a block matches a stranger.
fn mean_matches(levels: &[Level], bits: f64, hashes: u32) -> Vec<f64> {
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
    let of_level = |level: &Level| -> f64 {
        known.resize(known.len().max(level.loads.len()), None);
        let loads = level.loads.iter().enumerate().filter(|&(_, &share)| share > NEGLIGIBLE);
        loads.map(|(load, share)| share * *known[load].get_or_insert_with(|| matched(load))).sum()
    };
    levels.iter().map(of_level).collect()
}
