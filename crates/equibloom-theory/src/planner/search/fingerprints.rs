//! Filters of fingerprint blocks.
//!
//! For a number of slots the best division of a block is the one with the most distinct fingerprints, M. The rate is
//! about load / M, so that the first subtable should be large; the later ones store what it sends on. The
//! search starts from subtables with equal loads and moves blocks between the first subtable and the others while
//! that lowers the rate, or brings a filter nearer to the limits. Every trial is by the exact model, whose
//! blocks are computed once for all sizes.

use equibloom_layout::{
    Blocks, Candidates, Design, FINGERPRINT_BLOCK_BITS, Layout, MAX_FINGERPRINT_SUBTABLES,
    MAX_LISTS, MAX_REMAINDER_BITS, MAX_SLOTS, MIN_REMAINDER_BITS, Overflow, PerSubtable, Rule,
    WATERMARK_BITS,
};

use super::{Finding, Refusal, Search};
use crate::exact::{BlockModel, Prediction, arrivals, predict};
use crate::planner::cost::of_miss;
use crate::planner::frontier;
use crate::planner::memory::{LINE_BYTES, overflow_list};
use crate::planner::requirements::Limits;
use crate::planner::settle::Predicted;

/// Largest share of the keys in the overflow list, and the number of keys that is allowed in any case. A lookup
/// that reaches the list pays another cache miss, and past capacity the list grows fast.
const MOST_OVERFLOW: f64 = 1e-4;
const FEW_KEYS: f64 = 1.0;

/// The ratios of one subtable to the one before it, as factors of a common ratio.
const FACTORS: [f64; MAX_FINGERPRINT_SUBTABLES as usize] = [1.0, 1.0, 1.1, 1.0];

/// Changes of the ratio of one subtable to the one before it, in both directions.
const REFINEMENTS: [f64; 2] = [1.15, 1.05];

/// Rates within this factor count as equal.
const EQUAL: f64 = 1.003;

/// With lookups one by one a rate may be higher by this factor if a miss costs at most this share.
const ONE_BY_ONE: (f64, f64) = (1.25, 0.9);

/// Numbers of slots above the best that are tried for faster lookups.
const MORE_SLOTS: u32 = 4;

/// Refinements lower the rate by less than this factor.
const HOPEFUL: f64 = 1.03;

/// Fewer blocks than these are moved one by one, in at most so many rounds.
const SMALL: u64 = 4_000;
const MOST_POLISHES: usize = 6;

/// Trials until the overflow is as high as allowed; four are usual.
const MOST_TRIALS: usize = 10;

/// The largest ratio of one subtable to the one before it.
const MOST_RATIO: f64 = 0.5;

/// Blocks with a number of slots, and their exact model.
pub(crate) struct Shape {
    blocks: Blocks,
    slots: u32,
    /// The remainder bits that were required.
    required_bits: Option<u32>,
    /// Number of distinct fingerprints, M.
    fingerprints: f64,
    model: BlockModel,
    /// The last ratio of one subtable to the one before it, and the best factors.
    ratio: Option<f64>,
    factors: Option<[f64; MAX_FINGERPRINT_SUBTABLES as usize]>,
    /// From this load on the limits cannot be met.
    full: f64,
}

impl Shape {
    /// The most distinct fingerprints, with the required lists and remainder bits.
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
            (lists > 0 && lists <= room).then_some((remainder_bits, lists, fingerprints))
        };
        let best = widths.filter_map(of_width).max_by(|a, b| a.2.total_cmp(&b.2));
        let (remainder_bits, lists, fingerprints) = best?;
        let blocks = Blocks::Fingerprint { slots, lists, remainder_bits };
        let layout = Layout::new(blocks, Candidates::anywhere(1, 1), Rule::KeepLargest);
        let model = BlockModel::of(&Layout { multiset: limits.multiset, ..layout })?;
        let required_bits = limits.remainder_bits;
        Some(Self {
            blocks,
            slots,
            required_bits,
            fingerprints,
            model,
            ratio: None,
            factors: None,
            full: f64::INFINITY,
        })
    }
}

/// The shapes that a plan has tried.
#[derive(Default)]
pub(crate) struct Shapes(Vec<Shape>);

impl Shapes {
    fn find(&mut self, slots: u32, limits: &Limits) -> Option<&mut Shape> {
        let key = (slots, limits.remainder_bits);
        let known = self.0.iter().position(|shape| (shape.slots, shape.required_bits) == key);
        let index = match known {
            Some(index) => index,
            None => {
                self.0.push(Shape::new(slots, limits)?);
                self.0.len() - 1
            }
        };
        self.0.get_mut(index)
    }

    /// What to expect of a filter, if it has blocks that were tried.
    pub(crate) fn predict(&mut self, design: &Design, keys: u64) -> Option<Prediction> {
        let Design::Blocked(Layout { blocks, candidates: Candidates::Subtables { sizes }, .. }) =
            design
        else {
            return None;
        };
        let shape = self.0.iter_mut().find(|shape| shape.blocks == *blocks)?;
        let _=sizes; predict(design, keys).ok()
    }
}

/// Subtables and what the exact model says of them.
#[derive(Debug, Clone)]
struct Trial {
    sizes: PerSubtable<u64>,
    outline: Prediction,
    /// Keys in the overflow list, after removals for a multiset.
    overflow: f64,
    /// The overflow list that is needed.
    list: Overflow,
    /// How far the limits are exceeded; 0 if they are met.
    excess: f64,
}

impl Trial {
    fn is_better_than(&self, other: &Self) -> bool {
        (self.excess, self.outline.rate) < (other.excess, other.outline.rate)
    }
}

impl Search {
    pub(super) fn fingerprints(&self, shapes: &mut Shapes) -> Finding {
        if self.limits.block_bits != FINGERPRINT_BLOCK_BITS {
            return Err(Refusal::CacheLinesOnly);
        }
        let blocks = self.sizing.blocks(FINGERPRINT_BLOCK_BITS.into(), 0)?;
        let load = self.sizing.keys as f64 / blocks as f64;
        if load > f64::from(MAX_SLOTS) {
            return Err(Refusal::TooManyKeysABlock { load });
        }
        let mut found: Vec<(Blocks, Trial)> = Vec::new();
        let mut least = f64::INFINITY;
        for (slots, remainder_bits) in self.slots(load) {
            let limits = Limits { remainder_bits, ..self.limits };
            let Some(shape) = shapes.find(slots, &limits) else { continue };
            let to_beat = self.allowance() * least;
            if load / shape.fingerprints > to_beat || load >= shape.full {
                continue;
            }
            match self.best_subtables(shape, blocks, to_beat) {
                Some(trial) if trial.excess == 0.0 => {
                    least = least.min(trial.outline.rate);
                    found.push((shape.blocks, trial));
                }
                _ => shape.full = load,
            }
        }
        let (blocks, Trial { sizes, outline, list, .. }) =
            self.cheapest(&found, least).ok_or(Refusal::Limits)?;
        let layout = Layout::new(blocks, Candidates::Subtables { sizes }, Rule::KeepLargest);
        let layout = Layout { overflow: list, multiset: self.limits.multiset, ..layout };
        Ok(Predicted { design: layout.into(), expected: outline })
    }

    /// The rate may be higher than the lowest by this factor if lookups are faster.
    const fn allowance(&self) -> f64 {
        if self.limits.one_by_one { ONE_BY_ONE.0 } else { EQUAL }
    }

    /// The fastest filter of those that are nearly as good as the best.
    fn cheapest(&self, found: &[(Blocks, Trial)], least: f64) -> Option<(Blocks, Trial)> {
        let cost =
            |(blocks, trial): &(Blocks, Trial)| of_miss(*blocks, trial.outline.accesses_miss);
        let within = |factor: f64| {
            let near = found.iter().filter(move |(_, trial)| trial.outline.rate <= factor * least);
            near.min_by(|a, b| cost(a).total_cmp(&cost(b)))
        };
        let (equal, fastest) = (within(EQUAL)?, within(self.allowance())?);
        Some(if cost(fastest) <= ONE_BY_ONE.1 * cost(equal) { fastest } else { equal }.clone())
    }

    /// Numbers of slots to try, with the required remainder bits. Within the default limits those of the frontier;
    /// otherwise all from the mean load, below which the keys do not fit, to where blocks are hardly ever full.
    fn slots(&self, load: f64) -> Vec<(u32, Option<u32>)> {
        let Limits { slots, multiset, remainder_bits, one_by_one, .. } = self.limits;
        let most = (load + 5.0 * load.sqrt() + 3.0).min(f64::from(MAX_SLOTS)) as u32;
        let mut all = match slots {
            Some(slots) => vec![slots],
            None if self.limits.are_default() => {
                let bits = f64::from(FINGERPRINT_BLOCK_BITS) / load;
                frontier::slots_near(bits, self.sizing.keys as f64, multiset)
            }
            None => (load.max(1.0) as u32..=most).collect(),
        };
        let mut with_bytes = Vec::new();
        if one_by_one {
            // More slots send fewer misses on; remainders of a byte are compared at once.
            let first = all[0];
            all.extend(
                (first..=most.min(first + MORE_SLOTS))
                    .filter(|slots| !all.contains(slots))
                    .collect::<Vec<_>>(),
            );
            with_bytes.extend(all.iter().map(|&slots| (slots, Some(remainder_bits.unwrap_or(8)))));
        }
        all.into_iter().map(|slots| (slots, remainder_bits)).chain(with_bytes).collect()
    }

    /// The largest ratio of one subtable to the one before it. Nearly as many misses go on; removable
    /// filters have room for what is sent on after removals.
    fn highest_ratio(&self) -> f64 {
        let factor = if self.limits.multiset { 2.5 } else { 1.25 };
        (factor * (self.limits.accesses_miss - 1.0)).clamp(0.02, MOST_RATIO)
    }

    /// Keys that the overflow list may hold.
    fn overflow_allowed(&self) -> f64 {
        let keys = self.sizing.keys as f64;
        self.limits.overflow.min(MOST_OVERFLOW.max(FEW_KEYS / keys)) * keys
    }

    /// The best filter with blocks of this shape, or the one that exceeds the limits least.
    fn best_subtables(&self, shape: &mut Shape, lines: u64, to_beat: f64) -> Option<Trial> {
        let most = match self.limits.accesses_miss {
            1.0 => 1,
            _ => self.limits.choices.min(MAX_FINGERPRINT_SUBTABLES) as usize,
        };
        let guess = self.first_ratio(shape, lines)?;
        let mut best: Option<Trial> = None;
        for levels in (1..=most).rev() {
            let mut factors = shape.factors.unwrap_or(FACTORS);
            let factors = &mut factors[..levels];
            let Some((mut found, mut ratio)) = self.smallest(shape, lines, factors, guess) else {
                continue;
            };
            shape.ratio = Some(ratio);
            let refine = shape.factors.is_none() && found.outline.rate < HOPEFUL * to_beat;
            for refinement in REFINEMENTS.into_iter().filter(|_| refine) {
                for level in 2..levels {
                    for factor in [refinement, 1.0 / refinement] {
                        factors[level] *= factor;
                        let other = self.smallest(shape, lines, factors, ratio / factor.sqrt());
                        match other {
                            Some((other, its)) if other.is_better_than(&found) => {
                                (found, ratio) = (other, its);
                                break;
                            }
                            _ => factors[level] /= factor,
                        }
                    }
                }
            }
            if refine && let Some(known) = shape.factors.insert(FACTORS).get_mut(..levels) {
                known.copy_from_slice(factors);
            }
            if lines < SMALL && found.outline.rate < HOPEFUL * to_beat {
                found = self.polished(shape, lines, found);
            }
            if best.as_ref().is_none_or(|best| found.is_better_than(best)) {
                best = Some(found.clone());
            }
            // With one block in the last subtable there may be a subtable too many.
            if found.excess == 0.0 && found.sizes[levels - 1] > 2 {
                break;
            }
        }
        best
    }

    /// The ratio at which all subtables have the same load, or the one that was best at another size; `None` if the
    /// keys do not fit.
    fn first_ratio(&self, shape: &Shape, lines: u64) -> Option<f64> {
        let mut ratio = 0.0;
        for _ in 0..4 {
            let load = self.sizing.keys as f64 / lines as f64 / (1.0 - ratio);
            ratio = match self.limits.multiset {
                true => lost(load, shape.slots),
                false => share_sent_on(load, shape.slots),
            };
        }
        (ratio <= self.highest_ratio()).then(|| shape.ratio.unwrap_or(ratio))
    }

    /// The best subtables within a few blocks: moves some from one subtable to another while that is better.
    fn polished(&self, shape: &mut Shape, lines: u64, mut best: Trial) -> Trial {
        let levels = best.sizes.len();
        let pairs = (0..levels).flat_map(|from| (0..levels).map(move |to| (from, to)));
        let moves: Vec<(usize, usize)> = pairs.filter(|(from, to)| from != to).collect();
        for _ in 0..MOST_POLISHES {
            let before = best.sizes;
            for &(from, to) in &moves {
                let mut sizes = best.sizes;
                let step = 1 + sizes[from].min(sizes[to]) / 24;
                if sizes[from] <= step {
                    continue;
                }
                sizes[from] -= step;
                sizes[to] += step;
                if let Some(other) = self.trial(shape, sizes, best.list, lines)
                    && other.is_better_than(&best)
                {
                    best = other;
                }
            }
            if best.sizes == before {
                break;
            }
        }
        best
    }

    /// The subtables with the smallest later ones that keep to the limit on overflow, and their ratio. Each is as
    /// large as the one before it times a common ratio and its own factor.
    fn smallest(
        &self,
        shape: &mut Shape,
        lines: u64,
        factors: &[f64],
        guess: f64,
    ) -> Option<(Trial, f64)> {
        let allowed = self.overflow_allowed();
        // The share that overflows is the tail of a nearly normal variable: this is linear in the ratio.
        let keys = self.sizing.keys as f64;
        let distance = |overflow: f64| (-(overflow / keys).max(1e-300).ln()).max(0.0).sqrt();
        let aim = distance(0.8 * allowed);
        let mut list = overflow_list(allowed, allowed.sqrt());
        let mut best: Option<(Trial, f64)> = None;
        // The largest ratio at which too many keys overflow, and the distance there.
        let mut below: Option<(f64, f64)> = None;
        let highest = self.highest_ratio();
        let mut ratio = guess.min(highest);
        for _ in 0..MOST_TRIALS {
            let trial = self.trial(shape, subtables(lines, ratio, factors)?, list, lines);
            let at = trial.as_ref().map_or(0.0, |trial| distance(trial.overflow));
            match trial {
                Some(trial) if trial.overflow <= allowed => {
                    let fits = trial.list.bytes() <= list.bytes();
                    list = trial.list;
                    if !fits {
                        continue;
                    }
                    let o=trial.overflow;best = Some((trial, ratio));
                    if o > 0.3 * allowed {
                        break;
                    }
                }
                // Larger later subtables leave too little to the first.
                _ if below.is_some_and(|(lower, there)| lower < ratio && at < there) => break,
                _ => below = Some((ratio, at)),
            }
            let next = match (below, &best) {
                _ if factors.len() == 1 => break,
                (Some((low, at_low)), Some((found, high))) => {
                    let high=*high;if high < 1.01 * low {
                        break;
                    }
                    let share = (aim - at_low) / (distance(found.overflow) - at_low);
                    low + (high - low) * share.clamp(0.2, 0.8)
                }
                (Some(_), None) if ratio >= highest => break,
                (Some(_), None) => (1.2 * ratio).min(highest),
                (None, _) => ratio * (1.0 + (aim - at) / 8.0).clamp(0.75, 0.98),
            };
            ratio = next;
        }
        best
    }

    /// The first subtable takes all blocks that are left beside the later ones and the list.
    fn trial(
        &self,
        shape: &mut Shape,
        mut sizes: PerSubtable<u64>,
        list: Overflow,
        lines: u64,
    ) -> Option<Trial> {
        let later: u64 = sizes[1..].iter().sum();
        let multiset = self.limits.multiset;
        let list_lines = (1 + u64::from(multiset)) * list.bytes() / LINE_BYTES;
        sizes[0] = lines.checked_sub(later + list_lines).filter(|&first| first > 0)?;
        let keys = self.sizing.keys as f64;
        let outline = shape.model.outline(keys, &sizes, 2.0 * f64::from(shape.slots))?;
        let allowed = self.overflow_allowed();
        let (overflow, needed) = if multiset {
            (churned(keys, shape.slots, &sizes), list)
        } else {
            (outline.overflow_fraction*keys, overflow_list(outline.overflow_fraction*keys, outline.overflow_deviation*keys))
        };
        let limits = &self.limits;
        let mut excess = 0.0;
        if overflow > allowed {
            excess += (overflow / allowed).ln();
        }
        excess += (outline.accesses_miss - limits.accesses_miss).max(0.0);
        excess += (outline.accesses_insert - limits.accesses_insert).max(0.0);
        if needed.bytes() > list.bytes() {
            excess += (needed.bytes() - list.bytes()) as f64 / (LINE_BYTES * lines) as f64;
        }
        Some(Trial { sizes, outline, overflow, list: needed, excess })
    }
}

/// The later subtables' sizes: each is as large as the one before it times the ratio and its own factor.
fn subtables(lines: u64, ratio: f64, factors: &[f64]) -> Option<PerSubtable<u64>> {
    let all = &[1.0; MAX_FINGERPRINT_SUBTABLES as usize][..factors.len()];
    let mut sizes = PerSubtable::new(all).ok()?;
    for level in 1..factors.len() {
        sizes[level] = sizes[level - 1] * ratio * factors[level];
    }
    let first = lines as f64 / sizes.iter().sum::<f64>();
    Some(sizes.map(|size| ((first * size).round() as u64).max(1)))
}

/// The share of its entries that a full block sends on, when `load` arrive on average.
fn share_sent_on(load: f64, slots: u32) -> f64 {
    let above = |entries: usize| entries.saturating_sub(slots as usize) as f64;
    arrivals::poisson(load).iter().map(|(entries, weight)| weight * above(entries)).sum::<f64>()
        / load
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
fn churned(keys: f64, slots: u32, sizes: &[u64]) -> f64 {
    let (mut arriving, mut variance) = (keys, 0.0_f64);
    for (level, &size) in sizes.iter().enumerate() {
        let size = size as f64;
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
