//! Filters of fingerprint blocks.
//!
//! For a number of slots the best division of a block is the one with the most distinct fingerprints, M. The rate is
//! about load / M, so that the fewest slots are best for which the subtables store what full blocks send on. The
//! frontier says which numbers to try; [`Sizes`] finds the subtables for each.

use equibloom_layout::{
    Blocks, FINGERPRINT_BLOCK_BITS, MAX_LISTS, MAX_REMAINDER_BITS, MAX_SLOTS, MIN_REMAINDER_BITS,
    WATERMARK_BITS,
};

use super::subtables::{SMALL, Sizes, Trial};
use super::{Finding, Refusal, Search};
use crate::planner::frontier;
use crate::planner::requirements::Limits;
use crate::planner::settle::Predicted;

/// Rates within this factor count as equal.
const EQUAL: f64 = 1.003;

/// With lookups one by one a rate may be higher by this factor if a miss costs at most this share.
const ONE_BY_ONE: (f64, f64) = (1.25, 0.9);

/// Numbers of slots above the best that are tried for faster lookups.
const MORE_SLOTS: u32 = 4;

/// Moving blocks lowers the rate by less than this factor.
const HOPEFUL: f64 = 1.05;

/// Moving blocks may bring a filter within the limits that exceeds them by so much.
const REPAIRABLE: f64 = 0.5;
const REPAIRABLE_LINES: f64 = 60.0;

/// The division of a block with the most distinct fingerprints.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) blocks: Blocks,
    pub(super) slots: u32,
    /// Number of distinct fingerprints, M.
    pub(super) fingerprints: f64,
}

impl Search {
    /// Walks from the frontier's number of slots to the best.
    pub(super) fn fingerprints(&self) -> Finding {
        let lines = self.sizing.blocks(FINGERPRINT_BLOCK_BITS.into(), 0)?;
        let load = self.sizing.keys as f64 / lines as f64;
        if load > f64::from(MAX_SLOTS) {
            return Err(Refusal::TooManyKeysABlock { load });
        }
        let mut walk = Walk { sizes: Sizes::new(self, lines), found: Vec::new() };
        let bits = f64::from(FINGERPRINT_BLOCK_BITS) / load;
        let usual = frontier::slots_near(bits, self.sizing.keys as f64, self.limits.multiset);
        let start = self.limits.slots.unwrap_or(usual);
        walk.try_slots(start, &self.limits);
        if self.limits.slots.is_none() {
            let mut fewer = (1..start).rev();
            while !walk.is_done()
                && let Some(slots) = fewer.next()
                && walk.try_slots(slots, &self.limits) == Some(true)
            {}
            let mut more = start + 1..=MAX_SLOTS;
            while !walk.is_done()
                && let Some(slots) = more.next()
                && let Some(better) = walk.try_slots(slots, &self.limits)
                && (better || walk.best().is_some_and(|best| best.excess > 0.0))
            {}
        }
        if self.limits.one_by_one {
            // More slots send fewer misses on; remainders of a byte are compared at once.
            let best = walk.best().map_or(start, |trial| trial.slots());
            let most = if self.limits.slots.is_some() { start } else { best + MORE_SLOTS };
            let bytes =
                Limits { remainder_bits: self.limits.remainder_bits.or(Some(8)), ..self.limits };
            for slots in best..=most.min(MAX_SLOTS) {
                walk.try_slots(slots, &self.limits);
                walk.try_slots(slots, &bytes);
            }
        }
        let Trial { layout, outline, .. } = walk.cheapest().ok_or(Refusal::Limits)?;
        Ok(Predicted { design: layout.into(), expected: outline })
    }

    /// The rate may be higher than the lowest by this factor if lookups are faster.
    const fn allowance(&self) -> f64 {
        if self.limits.one_by_one { ONE_BY_ONE.0 } else { EQUAL }
    }
}

/// The filters found so far.
struct Walk<'a> {
    sizes: Sizes<'a>,
    found: Vec<Trial>,
}

impl Walk<'_> {
    /// Finds the best filter with so many slots; returns whether it is the best so far, `None` if it cannot be.
    fn try_slots(&mut self, slots: u32, limits: &Limits) -> Option<bool> {
        let shape = Shape::new(slots, limits)?;
        let search = self.sizes.search;
        let best = self.best().filter(|best| best.excess == 0.0);
        let least = best.map_or(f64::INFINITY, |best| best.rate).min(search.to_beat);
        let enough = if search.enough > 0.0 { HOPEFUL * search.enough } else { f64::INFINITY };
        let to_beat = enough.min(search.allowance() * least);
        let mut trial = self.sizes.best(shape, to_beat)?;
        let is_enough = trial.excess == 0.0 && trial.rate <= search.enough;
        let lines = self.sizes.lines;
        if lines < SMALL
            && !is_enough
            && trial.rate < HOPEFUL * to_beat
            && trial.excess < REPAIRABLE + REPAIRABLE_LINES / lines as f64
        {
            trial = self.sizes.moved(trial);
        }
        let better = self.best().is_none_or(|best| trial.is_better_than(best));
        self.found.push(trial);
        Some(better)
    }

    /// Whether a rate is reached that is enough.
    fn is_done(&self) -> bool {
        self.best().is_some_and(|best| best.excess == 0.0 && best.rate <= self.sizes.search.enough)
    }

    fn best(&self) -> Option<&Trial> {
        self.found
            .iter()
            .reduce(|best, other| if other.is_better_than(best) { other } else { best })
    }

    /// The fastest filter of those that are nearly as good as the best.
    fn cheapest(&self) -> Option<Trial> {
        let least = self.best().filter(|best| best.excess == 0.0)?.rate;
        let within = |factor: f64| {
            let near = self
                .found
                .iter()
                .filter(move |trial| trial.excess == 0.0 && trial.rate <= factor * least);
            near.min_by(|a, b| a.cost().total_cmp(&b.cost()))
        };
        let (equal, fastest) = (within(EQUAL)?, within(self.sizes.search.allowance())?);
        Some(if fastest.cost() <= ONE_BY_ONE.1 * equal.cost() { fastest } else { equal }.clone())
    }
}

impl Shape {
    /// Within the required lists and remainder bits.
    fn new(slots: u32, limits: &Limits) -> Option<Self> {
        let widths = match limits.remainder_bits {
            Some(bits) => bits..=bits,
            None => MIN_REMAINDER_BITS..=MAX_REMAINDER_BITS,
        };
        let of_width = |remainder_bits: u32| {
            let taken = WATERMARK_BITS + slots * (1 + remainder_bits);
            let room = FINGERPRINT_BLOCK_BITS.checked_sub(taken)?.min(MAX_LISTS);
            let lists = limits.lists.unwrap_or(room);
            let fingerprints = f64::from(lists) * 2.0_f64.powi(remainder_bits as i32);
            let blocks = Blocks::Fingerprint { slots, lists, remainder_bits };
            (lists > 0 && lists <= room).then_some(Self { blocks, slots, fingerprints })
        };
        let shapes = widths.filter_map(of_width);
        shapes.max_by(|a, b| a.fingerprints.total_cmp(&b.fingerprints))
    }
}
