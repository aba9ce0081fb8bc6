//! Filters of fingerprint blocks.
//!
//! For a number of slots the best division of a block is the one with the most distinct fingerprints, M. The rate is
//! about load / M, so that the first subtable should be large; the later ones store what it sends on. The
//! search varies the ratio of one subtable to the one before it until the overflow is as high as allowed; few blocks
//! are then moved one by one. Every trial is by the exact model.

use equibloom_layout::{
    Blocks, Candidates, FINGERPRINT_BLOCK_BITS, Layout, MAX_FINGERPRINT_SUBTABLES, MAX_LISTS,
    MAX_REMAINDER_BITS, MAX_SLOTS, MIN_REMAINDER_BITS, Overflow, Rule, WATERMARK_BITS,
};

use super::{Finding, Refusal, Search};
use crate::exact::{Prediction, outline};
use crate::planner::cost::of_miss;
use crate::planner::frontier;
use crate::planner::memory::{LINE_BYTES, overflow_list};
use crate::planner::requirements::Limits;
use crate::planner::settle::Predicted;

/// Largest share of the keys in the overflow list, and the number of keys that is allowed in any case. A lookup
/// that reaches the list pays another cache miss, and past capacity the list grows fast.
const MOST_OVERFLOW: f64 = 1e-4;
const FEW_KEYS: f64 = 1.0;

/// Small filters, whose list would take a good part of their memory, start with so many keys there.
const VERY_FEW_KEYS: f64 = 0.05;
const SHORT_LIST: f64 = 0.02;
const MEDIUM: u64 = 1_000_000;

/// The ratio of the third and the fourth subtable to the one before it, over that of the second. In the limit of many
/// keys, from 9 to 40 bits per key, the best three ratios lower the rate of sets by less than 0.1 %. Misses of removable
/// filters read less with the second.
const FACTORS: [f64; 2] = [1.05, 1.3];

/// Rates within this factor count as equal.
const EQUAL: f64 = 1.003;

/// With lookups one by one a rate may be higher by this factor if a miss costs at most this share.
const ONE_BY_ONE: (f64, f64) = (1.25, 0.9);

/// Numbers of slots above the best that are tried for faster lookups.
const MORE_SLOTS: u32 = 4;

/// Better ratios lower the rate by less than this factor.
const HOPEFUL: f64 = 1.05;

/// So many filters are improved by moving blocks, and one more of removable ones.
const MOST_POLISHED: usize = 2;

/// Moving blocks may bring filters within the limits that exceed them by so much.
const REPAIRABLE: f64 = 0.5;

/// Fewer blocks than these are moved one by one.
pub(crate) const SMALL: u64 = 4_000;

/// Trials until the overflow is as high as allowed, or nearly; two or three are usual.
const MOST_TRIALS: usize = 8;
const ENOUGH: f64 = 0.75;
const AIM: f64 = 0.87;

/// The deviation of the overflow is at most so many times that of independent keys.
const LIST_DEVIATION: f64 = 4.0;

/// The largest ratio of one subtable to the one before it.
const MOST_RATIO: f64 = 0.5;
const LEAST_RATIO: f64 = 1e-3;

/// Blocks of a last subtable that is worth a trial; it has one at least.
const LEAST_LAST: f64 = 0.01;

/// Tolerance of √−ln(overflow).
const TOLERANCE: f64 = 0.01;

/// From one ratio to the next until the overflow is as low as allowed.
const STEP: f64 = 1.1;

/// The division of a block with the most distinct fingerprints.
struct Shape {
    blocks: Blocks,
    slots: u32,
    /// Number of distinct fingerprints, M.
    fingerprints: f64,
}

/// A filter and what the exact model says of it.
#[derive(Debug, Clone)]
struct Trial {
    layout: Layout,
    outline: Prediction,
    /// Keys in the overflow list, after removals for a multiset.
    overflow: f64,
    /// How far the limits are exceeded; 0 if they are met.
    excess: f64,
    /// The part of `excess` that is for want of memory for the list.
    lack: f64,
    /// The rate if the first subtable had the memory that the list does not need.
    rate: f64,
}

impl Trial {
    fn is_better_than(&self, other: &Self) -> bool {
        (self.excess, self.rate) < (other.excess, other.rate)
    }

    fn sizes(&self) -> &[u64] {
        match &self.layout.candidates {
            Candidates::Subtables { sizes } => sizes,
            Candidates::Anywhere { blocks, .. } => core::slice::from_ref(blocks),
        }
    }

    /// The cost of a miss.
    fn cost(&self) -> f64 {
        of_miss(self.layout.blocks, self.outline.accesses_miss)
    }
}

impl Search {
    pub(super) fn fingerprints(&self) -> Finding {
        match self.fingerprints_with(self.limits.are_default()) {
            // Very few keys may need more slots than on the frontier.
            Err(Refusal::Limits) if self.limits.are_default() => self.fingerprints_with(false),
            found => found,
        }
    }

    /// The best filter with the numbers of slots of the frontier, or with any.
    fn fingerprints_with(&self, frontier: bool) -> Finding {
        if self.limits.block_bits != FINGERPRINT_BLOCK_BITS {
            return Err(Refusal::CacheLinesOnly);
        }
        let lines = self.sizing.blocks(FINGERPRINT_BLOCK_BITS.into(), 0)?;
        let load = self.sizing.keys as f64 / lines as f64;
        if load > f64::from(MAX_SLOTS) {
            return Err(Refusal::TooManyKeysABlock { load });
        }
        let mut found: Vec<Trial> = Vec::new();
        let least = |found: &[Trial]| {
            let near = found.iter().filter(|trial| trial.excess <= trial.lack);
            near.map(|trial| trial.rate).fold(f64::INFINITY, f64::min)
        };
        for (slots, remainder_bits) in self.slots(load, frontier) {
            let limits = Limits { remainder_bits, ..self.limits };
            let Some(shape) = Shape::new(slots, &limits) else { continue };
            let to_beat = self.allowance() * least(&found).min(self.to_beat);
            if load / shape.fingerprints <= to_beat {
                found.extend(self.best_subtables(&shape, lines));
            }
        }
        if lines < SMALL {
            let hopeful = HOPEFUL * self.allowance() * least(&found);
            found.retain(|trial| trial.rate <= hopeful && trial.excess <= REPAIRABLE);
            found.sort_by(|a, b| a.rate.total_cmp(&b.rate));
            found.truncate(MOST_POLISHED + usize::from(self.limits.multiset));
            if !self.rough {
                found = found.into_iter().map(|trial| self.polished(lines, trial)).collect();
            }
        }
        found.retain(|trial| trial.excess <= if self.rough { trial.lack } else { 0.0 });
        let least = least(&found);
        let Trial { layout, outline, .. } = self.cheapest(found, least).ok_or(Refusal::Limits)?;
        Ok(Predicted { design: layout.into(), expected: outline })
    }

    /// The rate may be higher than the lowest by this factor if lookups are faster.
    const fn allowance(&self) -> f64 {
        if self.limits.one_by_one { ONE_BY_ONE.0 } else { EQUAL }
    }

    /// The fastest filter of those that are nearly as good as the best.
    fn cheapest(&self, found: Vec<Trial>, least: f64) -> Option<Trial> {
        let within = |factor: f64| {
            let near = found.iter().filter(move |trial| trial.rate <= factor * least);
            near.min_by(|a, b| a.cost().total_cmp(&b.cost()))
        };
        let (equal, fastest) = (within(EQUAL)?, within(self.allowance())?);
        Some(if fastest.cost() <= ONE_BY_ONE.1 * equal.cost() { fastest } else { equal }.clone())
    }

    /// Numbers of slots to try, with the required remainder bits. Within the default limits those of the frontier;
    /// otherwise all from the mean load, below which the keys do not fit, to where blocks are hardly ever full.
    fn slots(&self, load: f64, frontier: bool) -> Vec<(u32, Option<u32>)> {
        let Limits { slots, multiset, remainder_bits, one_by_one, .. } = self.limits;
        let most = (load + 5.0 * load.sqrt() + 3.0).min(f64::from(MAX_SLOTS)) as u32;
        let mut all = match slots {
            Some(slots) => vec![slots],
            None if frontier => {
                let bits = f64::from(FINGERPRINT_BLOCK_BITS) / load;
                frontier::slots_near(bits, self.sizing.keys as f64, multiset)
            }
            None => (load.max(1.0) as u32..=most).collect(),
        };
        let mut with_bytes = Vec::new();
        if one_by_one {
            // More slots send fewer misses on; remainders of a byte are compared at once.
            let more = all[0] + 1..=most.min(all[0] + MORE_SLOTS);
            all.extend(more.filter(|slots| !all.contains(slots)).collect::<Vec<_>>());
            with_bytes.extend(all.iter().map(|&slots| (slots, Some(remainder_bits.unwrap_or(8)))));
        }
        all.into_iter().map(|slots| (slots, remainder_bits)).chain(with_bytes).collect()
    }

    /// Keys that the overflow list may hold.
    fn overflow_allowed(&self) -> f64 {
        let keys = self.sizing.keys as f64;
        self.limits.overflow.min(MOST_OVERFLOW.max(FEW_KEYS / keys)) * keys
    }

    /// The best filters with such blocks for each number of subtables that comes into question, before blocks are moved.
    fn best_subtables(&self, shape: &Shape, lines: u64) -> Vec<Trial> {
        let most = match self.limits.accesses_miss {
            1.0 => 1,
            _ => self.limits.choices.min(MAX_FINGERPRINT_SUBTABLES) as usize,
        };
        let allowed = self.overflow_allowed();
        let (few, most_keys) = (VERY_FEW_KEYS + SHORT_LIST * allowed, AIM * allowed);
        // Keys in the list to aim for, and the factor.
        let starts: &[(f64, f64)] = match self.limits.multiset {
            true => &[(most_keys, FACTORS[0]), (most_keys, FACTORS[1])],
            false if lines < MEDIUM => &[(few, FACTORS[0]), (most_keys, FACTORS[0])],
            false => &[(most_keys, FACTORS[0])],
        };
        let mut all = Vec::new();
        let ratio = self.share_sent_on(self.sizing.keys as f64 / lines as f64, shape);
        for levels in (1..=most).rev() {
            // The last subtable would be far from a block.
            let last = lines as f64 * ratio.powi(levels as i32 - 1);
            if levels > 2 && last < LEAST_LAST && !self.limits.multiset {
                continue;
            }
            let mut found =
                starts.iter().filter_map(|&start| self.with_ratio(shape, lines, levels, start));
            let found = if self.rough && lines < SMALL { found.next() } else { best_of(found) };
            let Some(found) = found else {
                // With fewer subtables more overflow, unless the last has to be one block.
                if lines < SMALL { continue } else { break }
            };
            let enough = found.excess == 0.0 && found.sizes()[levels - 1] > 2;
            all.push(found);
            // With one block in the last subtable there may be a subtable too many.
            if enough {
                break;
            }
        }
        all
    }

    /// The subtables with the smallest ratio of each to the one before it that keep to the limit on overflow: an estimate
    /// of the overflow gives the ratio, the exact model the error of the estimate.
    fn with_ratio(
        &self,
        shape: &Shape,
        lines: u64,
        levels: usize,
        (target, factor): (f64, f64),
    ) -> Option<Trial> {
        let (keys, allowed) = (self.sizing.keys as f64, self.overflow_allowed());
        // The share that overflows is the tail of a nearly normal variable: this is nearly linear in the ratio.
        let distance = |overflow: f64| (-(overflow / keys).max(1e-300).ln()).max(0.0).sqrt();
        // It becomes as long as it must be.
        let mut list = match self.limits.multiset {
            true => overflow_list(allowed, allowed.sqrt()),
            false => overflow_list(target, LIST_DEVIATION * target.sqrt()),
        };
        let aim = distance(target);
        let mut estimated = aim;
        let mut best = None::<Trial>;
        // A little below the ratio at which all subtables have the same load.
        let mut ratio = 0.8 * self.share_sent_on(keys / lines as f64, shape);
        let mut tried = Vec::new();
        for _ in 0..if lines < SMALL { MOST_TRIALS / 2 } else { MOST_TRIALS } {
            let room = lines.checked_sub(self.list_lines(list))?;
            let estimate = |ratio: f64| {
                let sizes = shares(ratio, factor, levels).map(|share| share * room as f64);
                distance(match self.limits.multiset {
                    true => churned(keys, shape.slots, &sizes[..levels]),
                    false => overflow(keys, shape, &sizes[..levels]),
                })
            };
            if levels > 1 {
                let Some(next) = self.ratio(ratio, estimated, room as f64, estimate) else { break };
                ratio = next;
            }
            let sizes = shares(ratio, factor, levels)
                .map(|share| ((share * room as f64).ceil() as u64).max(1));
            let candidates = Candidates::subtables(&sizes[..levels]).ok()?;
            let layout = Layout::new(shape.blocks, candidates, Rule::KeepLargest);
            let layout = Layout { overflow: list, multiset: self.limits.multiset, ..layout };
            if tried.contains(&layout) {
                break;
            }
            tried.push(layout);
            let Some(trial) = self.trial(layout, lines) else {
                estimated += 1.0;
                continue;
            };
            let (at, share) = (distance(trial.overflow), trial.overflow / allowed);
            let needed = trial.layout.overflow;
            let trial_overflow = trial.overflow;
            if best.as_ref().is_none_or(|best| trial.is_better_than(best)) {
                best = Some(trial);
            }
            let fits = needed.bytes() <= list.bytes();
            let few = lines < SMALL || trial_overflow > ENOUGH / AIM * target;
            if levels == 1 || share <= 1.0 && few && fits {
                break;
            }
            if share <= 1.0 && !fits && (lines >= SMALL || target >= FEW_KEYS / 2.0) {
                list = needed;
                continue;
            }
            let shift = (aim - at).clamp(-1.0, 1.0);
            estimated += shift.abs().max(TOLERANCE).copysign(shift);
        }
        best
    }

    /// Cache lines of an overflow list; that of a multiset may grow to twice its size.
    const fn list_lines(&self, list: Overflow) -> u64 {
        (1 + self.limits.multiset as u64) * list.bytes() / LINE_BYTES
    }

    /// The smallest ratio, from a start on, at which `estimate` is at least `aim`.
    fn ratio(
        &self,
        start: f64,
        aim: f64,
        lines: f64,
        estimate: impl Fn(f64) -> f64,
    ) -> Option<f64> {
        let highest = self.highest_ratio();
        let mut low = start.min(0.9 * highest);
        let mut at_low = estimate(low);
        while at_low >= aim && low > LEAST_RATIO {
            low *= 0.8;
            at_low = estimate(low);
        }
        // Larger later subtables leave less to the first, so that it need not rise all the way.
        let (mut high, mut at_high, mut rose) = (low, at_low, false);
        while at_high < aim {
            if high >= highest || rose && at_high < at_low {
                return None;
            }
            rose |= at_high > at_low;
            (low, at_low) = (high, at_high);
            let step = if lines < SMALL as f64 { STEP * STEP } else { STEP };
            high = (step * high).min(highest);
            at_high = estimate(high);
        }
        // Sizes are whole numbers.
        let precision = 1.001_f64.max(1.0 + 0.2 / (lines * high));
        while high > precision * low && at_high > aim + TOLERANCE {
            let share = ((aim - at_low) / (at_high - at_low)).clamp(0.1, 0.9);
            let middle = low + share * (high - low);
            let at_middle = estimate(middle);
            match at_middle < aim {
                true => (low, at_low) = (middle, at_middle),
                false => (high, at_high) = (middle, at_middle),
            }
        }
        Some(high)
    }

    /// The share of its entries that a subtable sends on if all have the same load.
    fn share_sent_on(&self, load: f64, shape: &Shape) -> f64 {
        (0..4).fold(0.0, |share: f64, _| {
            let load = load / (1.0 - share.min(0.5));
            match self.limits.multiset {
                true => lost(load, shape.slots),
                false => sent_on(load, shape) / load,
            }
        })
    }

    /// The largest ratio of one subtable to the one before it. Nearly as many misses go on; removable
    /// filters have room for what is sent on after removals.
    fn highest_ratio(&self) -> f64 {
        let factor = if self.limits.multiset { 2.5 } else { 1.25 };
        (factor * (self.limits.accesses_miss - 1.0)).clamp(0.02, MOST_RATIO)
    }

    /// Moves blocks from one subtable to another while that is better.
    fn moved(&self, lines: u64, mut best: Trial) -> Trial {
        let levels = best.sizes().len();
        let pairs = (0..levels).flat_map(|to| (0..levels).map(move |from| (from, to)));
        let moves: Vec<(usize, usize)> = pairs.filter(|(from, to)| from != to).collect();
        let mut failures = 0;
        for &(from, to) in moves.iter().cycle().take(6 * moves.len()) {
            let mut layout = best.layout;
            let sizes = layout.candidates.sizes_mut();
            let step = 1 + sizes[from].min(sizes[to]) / 24;
            failures += 1;
            // A smaller first subtable pays only if the limits or the list require it.
            let pays = from > 0 || best.excess > 0.0 || self.list_lines(best.layout.overflow) > 1;
            if pays && sizes[from] > step {
                sizes[from] -= step;
                sizes[to] += step;
                if let Some(other) = self.trial(layout, lines)
                    && other.is_better_than(&best)
                {
                    best = other;
                    failures = 0;
                }
            }
            if failures == moves.len() {
                break;
            }
        }
        best
    }

    /// Moves blocks, shortens the list, and moves blocks again.
    fn polished(&self, lines: u64, trial: Trial) -> Trial {
        let mut best = self.moved(lines, trial);
        // With the memory that the list does not need; perhaps with as short a list as can be.
        let shortest = match self.limits.multiset {
            true => best.layout.overflow,
            false => overflow_list(VERY_FEW_KEYS, 0.0),
        };
        for list in [best.layout.overflow, shortest] {
            if let Some(other) = self.trial(Layout { overflow: list, ..best.layout }, lines)
                && (other.excess, other.outline.rate) < (best.excess, best.outline.rate)
            {
                best = other;
            }
        }
        self.moved(lines, best)
    }

    /// A filter whose first subtable takes all blocks that are left beside the later ones and the list; its list becomes
    /// as long as it must be.
    fn trial(&self, mut layout: Layout, lines: u64) -> Option<Trial> {
        let Limits { multiset, accesses_miss, accesses_insert, .. } = self.limits;
        let Blocks::Fingerprint { slots, .. } = layout.blocks else { return None };
        let list = layout.overflow;
        let sizes = layout.candidates.sizes_mut();
        let later: u64 = sizes[1..].iter().sum();
        sizes[0] = lines.checked_sub(later + self.list_lines(list)).filter(|&first| first > 0)?;
        let keys = self.sizing.keys as f64;
        let replaced = match multiset {
            true => {
                churned(keys, slots, &sizes.iter().map(|&size| size as f64).collect::<Vec<_>>())
            }
            false => 0.0,
        };
        let outline = outline(&layout, keys, 2.0 * f64::from(slots))?;
        let overflow = if multiset {
            replaced
        } else {
            let (share, deviation) = (outline.overflow_fraction, outline.overflow_deviation);
            layout.overflow = overflow_list(keys * share, keys * deviation);
            keys * share
        };
        let allowed = self.overflow_allowed();
        let mut excess = 0.0;
        if overflow > allowed {
            excess += (overflow / allowed).ln();
        }
        excess += (outline.accesses_miss - accesses_miss).max(0.0);
        excess += (outline.accesses_insert - accesses_insert).max(0.0);
        let missing = layout.overflow.bytes().saturating_sub(list.bytes());
        let lack = missing as f64 / (LINE_BYTES * lines) as f64;
        excess += lack;
        let first = (lines - later - self.list_lines(list)) as f64;
        let saved = self.list_lines(list).saturating_sub(self.list_lines(layout.overflow)) as f64;
        let rate = outline.rate * first / (first + saved);
        Some(Trial { layout, outline, overflow, excess, lack, rate })
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

fn best_of(trials: impl Iterator<Item = Trial>) -> Option<Trial> {
    trials.reduce(|best, other| if other.is_better_than(&best) { other } else { best })
}

/// Each subtable's share of all blocks, if it is as large as the one before it times the ratio, and from the third on
/// times the factor.
fn shares(ratio: f64, factor: f64, levels: usize) -> [f64; MAX_FINGERPRINT_SUBTABLES as usize] {
    let mut shares = [1.0; MAX_FINGERPRINT_SUBTABLES as usize];
    for level in 1..levels {
        let factor = if level == 1 { 1.0 } else { factor };
        shares[level] = shares[level - 1] * ratio * factor;
    }
    let all: f64 = shares[..levels].iter().sum();
    shares.map(|share| share / all)
}

/// Entries in the list, if every subtable's arrivals are as many as on average.
fn overflow(keys: f64, shape: &Shape, sizes: &[f64]) -> f64 {
    sizes.iter().fold(keys, |arriving, size| size * sent_on(arriving / size, shape))
}

/// Different entries that a block sends on when `load` keys arrive on average: the mean above the slots of a variable
/// that is binomial with M trials.
fn sent_on(load: f64, &Shape { slots, fingerprints, .. }: &Shape) -> f64 {
    let (slots, odds) = (f64::from(slots), (load / fingerprints).exp_m1());
    if load > 3.0 * slots + 100.0 {
        return (fingerprints * odds / (1.0 + odds) - slots).max(0.0);
    }
    let (mut weight, mut count, mut sum) = ((-load).exp(), 0.0, 0.0);
    let next = |count: f64| (fingerprints - count + 1.0) * odds / count;
    while count < slots {
        count += 1.0;
        weight *= next(count);
    }
    let mut part = 1.0;
    while part > 1e-4 * sum || count < load {
        count += 1.0;
        weight *= next(count);
        part = weight * (count - slots);
        sum += part;
    }
    sum
}

/// So many standard deviations above the mean the last subtable has room for.
const DEVIATIONS: f64 = 3.0;

/// Entries in the list after many removals and inserts. An entry that was sent on stays there when its block
/// has room again, so a block is a telephone exchange with `slots` lines and its entries are calls: the share
/// that is sent on is Erlang's, up to twice that of a block that is filled once, and its variance Riordan's. In
/// simulations from 9 to 40 bits per key, with every key replaced 40 times, the lists held 1e-5 to 1e-4 of the keys;
/// with the subtables of sets 5 %. Watermarks never fall: a miss then read 1.6 to 2.1 blocks instead of 1.1, and
/// the rate was 1.5 to 1.6 times as high. Eight slots more would leave a miss at 1.2 blocks, at twice the
/// rate from the start.
fn churned(keys: f64, slots: u32, sizes: &[f64]) -> f64 {
    let (mut arriving, mut variance) = (keys, 0.0_f64);
    for (level, &size) in sizes.iter().enumerate() {
        if level + 1 == sizes.len() {
            arriving += DEVIATIONS * variance.sqrt();
        }
        let load = arriving / size;
        let sent = load * lost(load, slots);
        variance = size * sent * (1.0 - sent + load / (f64::from(slots) + 1.0 - load + sent));
        arriving = size * sent;
    }
    arriving
}

/// Erlang's share of `load` calls that find all of `slots` lines busy.
fn lost(load: f64, slots: u32) -> f64 {
    (1..=slots).fold(1.0, |lost, line| load * lost / (f64::from(line) + load * lost))
}
