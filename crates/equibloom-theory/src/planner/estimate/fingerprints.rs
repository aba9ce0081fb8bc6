//! A fast estimate of filters of fingerprint blocks, for the search.
//!
//! Entries are Poisson; otherwise this is the exact model.
//! With λ_i arrivals at the blocks of subtable i and M fingerprints the rate is Σ reached_i·λ_i/M: a block's bits
//! are best used where M = lists · 2^remainder bits is largest.

use equibloom_layout::{
    Blocks, Candidates, FINGERPRINT_BLOCK_BITS, HEADER_BYTES, MAX_LISTS, MAX_REMAINDER_BITS,
    MAX_SLOTS, MIN_REMAINDER_BITS, Proportions, WATERMARK_BITS,
};

use crate::planner::memory::overflow_list;
use crate::planner::requirements::Limits;

/// Blocks with a number of slots, and the most distinct fingerprints or exactly the required lists or remainder
/// bits.
pub(crate) struct Shape {
    pub(crate) blocks: Blocks,
    slots: u32,
    fingerprints: f64,
    multiset: bool,
    /// Values of a byte.
    bytes: f64,
    /// ln slots!
    ln_factorial: f64,
}

impl Shape {
    pub(crate) fn best(slots: u32, limits: &Limits) -> Option<Self> {
        let widths = match limits.remainder_bits {
            Some(bits) => bits..=bits,
            None => MIN_REMAINDER_BITS..=MAX_REMAINDER_BITS,
        };
        let of_width = |remainder_bits: u32| {
            let taken = WATERMARK_BITS + slots * (1 + remainder_bits);
            let room = FINGERPRINT_BLOCK_BITS.checked_sub(taken)?.min(MAX_LISTS);
            let lists = limits.lists.unwrap_or(room);
            let fingerprints = f64::from(lists) * 2.0_f64.powi(remainder_bits as i32);
            (lists > 0 && lists <= room).then_some((remainder_bits, lists, fingerprints))
        };
        let best = widths.filter_map(of_width).max_by(|a, b| a.2.total_cmp(&b.2));
        best.map(|(remainder_bits, lists, fingerprints)| Self {
            blocks: Blocks::Fingerprint { slots, lists, remainder_bits },
            slots,
            fingerprints,
            multiset: limits.multiset,
            bytes: 2.0_f64.powi(remainder_bits.min(8) as i32),
            ln_factorial: (2..=slots).map(|i| f64::from(i).ln()).sum(),
        })
    }

    /// The share of a block's entries that are further on after many removals and inserts. An entry that was sent on
    /// stays there when the block has room again, so a block is a telephone exchange with `slots` lines and its
    /// entries are calls: the share is Erlang's, up to twice that of a block that is filled once. Removable filters
    /// are planned for it. In simulations from 9 to 40 bits per key, with every key replaced 40 times, their lists
    /// held 1e-5 to 1e-4 of the keys; with the subtables of sets 5 %. Watermarks never fall: a miss then read 1.6 to
    /// 2.1 blocks instead of 1.1, and the rate was 1.5 to 1.6 times as high. Eight slots more would leave a miss at
    /// 1.2 blocks, at twice the rate from the start.
    fn lost(&self, load: f64) -> f64 {
        (1..=self.slots).fold(1.0, |lost, line| load * lost / (f64::from(line) + load * lost))
    }

    /// The blocks of a subtable at which `load` entries arrive on average.
    fn loaded(&self, load: f64) -> Loaded {
        let slots = f64::from(self.slots);
        // Sets store equal entries once.
        let distinct = -self.fingerprints * (-load / self.fingerprints).exp_m1();
        let load = if self.multiset { load } else { distinct };
        if load > 4.0 * slots + 100.0 {
            let goes_on = 1.0 - slots / load;
            return Loaded { sent_on: load - slots, variance: load, full: 1.0, goes_on };
        }
        let mut entries = slots;
        let mut weight = (slots * load.ln() - load - self.ln_factorial).exp();
        let (mut full, mut sent_on, mut square) = (weight, 0.0, 0.0);
        let mut goes_on = weight / self.bytes;
        loop {
            entries += 1.0;
            weight *= load / entries;
            let above = entries - slots;
            full += weight;
            sent_on += weight * above;
            square += weight * above * above;
            goes_on += weight * (above / (entries + 1.0) + 0.5 / self.bytes);
            if entries > load && weight * above <= 1e-6 * sent_on {
                let variance = square - sent_on * sent_on;
                if self.multiset {
                    goes_on += (1.0 - full).max(0.0) / self.bytes;
                    sent_on = load * self.lost(load);
                }
                return Loaded { sent_on, variance, full, goes_on: goes_on.min(1.0) };
            }
        }
    }
}

/// The blocks of a subtable.
struct Loaded {
    /// Mean and variance of the entries that a block sends on.
    sent_on: f64,
    variance: f64,
    /// Share of the blocks that are full: so many of one more entry are sent on.
    full: f64,
    /// Share of absent keys that go on.
    goes_on: f64,
}

/// So many standard deviations above the mean the last subtable has room for: it is small, and the number of its
/// arrivals varies. Rejected: the mean alone; then a filter of ten thousand keys fills its list.
const DEVIATIONS: f64 = 3.0;

/// An estimated filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimate {
    pub(crate) candidates: Proportions,
    pub(crate) blocks: Blocks,
    pub(crate) slots: u32,
    pub(crate) rate: f64,
    pub(crate) accesses_miss: f64,
    pub(crate) accesses_insert: f64,
    /// Share of the keys in the overflow list if unusually many entries arrive at the last subtable.
    pub(crate) overflow: f64,
}

/// Keys, memory and limits of the filters that are compared.
pub(crate) struct Estimator {
    pub(crate) keys: f64,
    pub(crate) bytes: f64,
    pub(crate) limits: Limits,
}

impl Estimator {
    /// Possible numbers of slots: from the mean load, below which the keys do not fit, to where blocks are
    /// hardly ever full.
    pub(crate) fn slots(&self) -> core::ops::RangeInclusive<u32> {
        if let Some(slots) = self.limits.slots {
            return slots..=slots;
        }
        let load = self.keys / self.blocks() as f64;
        let least = load.floor().clamp(1.0, f64::from(MAX_SLOTS) + 1.0);
        let most = (load + 5.0 * load.sqrt() + 3.0).min(f64::from(MAX_SLOTS));
        least as u32..=most as u32
    }

    /// Number of blocks beside an overflow list as long as it may be.
    pub(crate) fn blocks(&self) -> u64 {
        let mean = self.limits.overflow * self.keys;
        let list = overflow_list(mean, mean.sqrt()).bytes();
        // Multisets count the copies of each entry.
        let list = if self.limits.multiset { 2 * list } else { list };
        let left = self.bytes - HEADER_BYTES as f64 - list as f64;
        (8.0 * left / f64::from(FINGERPRINT_BLOCK_BITS)).max(1.0) as u64
    }

    /// The filter with these candidates.
    pub(crate) fn at(&self, shape: &Shape, candidates: Proportions) -> Estimate {
        let Shape { blocks, slots, fingerprints, .. } = *shape;
        let mut estimate = Estimate {
            candidates,
            blocks,
            slots,
            rate: 0.0,
            accesses_miss: 0.0,
            accesses_insert: 0.0,
            overflow: 1.0,
        };
        // Mean and variance of the entries that arrive at a subtable.
        let (mut arriving, mut variance, mut reached) = (self.keys, 0.0_f64, 1.0);
        if let Candidates::Subtables { sizes } = candidates.with_blocks(self.blocks()) {
            for (index, &size) in sizes.iter().enumerate() {
                let size = size.max(1) as f64;
                let load = arriving / size;
                let blocks = shape.loaded(load);
                estimate.rate += reached * load / fingerprints;
                estimate.accesses_miss += reached;
                estimate.accesses_insert += arriving / self.keys;
                if index + 1 == sizes.len() {
                    let many = (arriving + DEVIATIONS * variance.sqrt()) / size;
                    estimate.overflow = size * shape.loaded(many).sent_on / self.keys;
                }
                variance =
                    (size * blocks.variance + blocks.full.powi(2) * (variance - arriving)).max(0.0);
                arriving = size * blocks.sent_on;
                reached *= blocks.goes_on;
            }
        }
        estimate
    }

    /// Lower bound on the rate with blocks of this shape: they receive all keys.
    pub(crate) fn least_rate(&self, shape: &Shape) -> f64 {
        self.keys / self.blocks() as f64 / shape.fingerprints
    }
}
