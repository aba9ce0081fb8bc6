//! The sizes of the subtables of fingerprint blocks, and of the overflow list.
//!
//! Each subtable is as large as the one before it times a ratio. The overflow falls as the ratio rises: secants on the
//! exact overflow find the ratio at which it is as high as allowed. A larger ratio may still be better, because the
//! list gets shorter; and of a few hundred blocks each is moved by itself.

use equibloom_layout::{Blocks, Candidates, Layout, MAX_FINGERPRINT_SUBTABLES, Overflow, Rule};

use super::Search;
use super::fingerprints::Shape;
use crate::exact::{Prediction, outline, sent_on};
use crate::planner::cost::of_miss;
use crate::planner::memory::{LINE_BYTES, overflow_list};
use crate::planner::requirements::Limits;

/// Largest share of the keys in the overflow list, and the number of keys that is allowed in any case. A lookup
/// that reaches the list pays another cache miss, and past capacity the list grows fast.
const MOST_OVERFLOW: f64 = 1e-4;
const FEW_KEYS: f64 = 1.0;

/// Small filters, whose list would take a good part of their memory, start with so many keys there.
const VERY_FEW_KEYS: f64 = 0.03;

/// A filter that refuses keys starts with a list for so many keys per cache line at most, but not more than these.
const PER_LINE: f64 = 0.01;
const MOST_LISTED: f64 = 100.0;

/// The share of the allowed overflow to aim for.
const AIM: f64 = 0.95;

/// The ratio of the third and the fourth subtable to the one before it, over that of the second. In the limit of many
/// keys, from 9 to 40 bits per key, the best three ratios lower the rate of sets by less than 0.1 %. Misses of removable
/// filters read less with the second.
const FACTORS: [f64; 2] = [1.05, 1.3];

/// Fewer blocks than these are moved one by one.
pub(super) const SMALL: u64 = 4_000;

/// The list of fewer blocks than these would take a good part of their memory: it holds hardly a key.
const MEDIUM: u64 = 20_000;

/// Trials until the overflow is as high as allowed; two or three are usual.
const MOST_TRIALS: usize = 8;

/// So many blocks are moved at most.
const MOST_MOVES: usize = 16;

/// A move must shorten the distance from the limits to this share of it.
const NEARER: f64 = 0.8;

/// Tolerance of √−ln(overflow), and of the share of the allowed overflow.
const TOLERANCE: f64 = 0.02;

/// The largest ratio of one subtable to the one before it.
const MOST_RATIO: f64 = 0.5;

/// From one ratio to the next while the rate falls.
const STEP: f64 = 1.02;

/// From one ratio to the next until the overflow is as low as allowed.
const STEPS: f64 = 1.07;

/// A list may have this part of all lines too many.
const FINE: u64 = 10_000;

/// A last subtable is worth a trial from so large a part of a block on.
const LEAST_LAST: f64 = 0.01;

/// Blocks of a subtable that are to receive more keys than so many times their slots are not modelled.
const MOST_LOAD: f64 = 8.0;

/// A filter and what the exact model says of it.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub(super) layout: Layout,
    pub(super) outline: Prediction,
    /// Keys in the overflow list, after removals for a multiset.
    overflow: f64,
    /// The most that there may be: for nearly all filters, but for all if keys would be refused.
    most: f64,
    /// How far the limits are exceeded; 0 if they are met.
    pub(super) excess: f64,
    /// The rate if the first subtable had exactly the memory that the list does not need.
    pub(super) rate: f64,
    /// The list for which there was room.
    list: Overflow,
}

impl Trial {
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        (self.excess, self.rate) < (other.excess, other.rate)
    }

    /// The cost of a miss.
    pub(super) fn cost(&self) -> f64 {
        of_miss(self.layout.blocks, self.outline.accesses_miss)
    }

    /// Slots of a block.
    pub(super) const fn slots(&self) -> u32 {
        match self.layout.blocks {
            Blocks::Fingerprint { slots, .. } => slots,
            Blocks::Bloom { .. } => 0,
        }
    }

    /// The sizes of all subtables but the first.
    fn later(&self) -> &[u64] {
        match &self.layout.candidates {
            Candidates::Subtables { sizes } => &sizes[1..],
            Candidates::Anywhere { .. } => &[],
        }
    }
}

/// The better of two.
pub(super) fn better(best: Trial, other: Trial) -> Trial {
    if other.is_better_than(&best) { other } else { best }
}

/// Cache lines for subtables and list.
pub(super) struct Sizes<'a> {
    pub(super) search: &'a Search,
    pub(super) lines: u64,
    /// Keys that the overflow list may hold.
    allowed: f64,
}

impl<'a> Sizes<'a> {
    pub(super) fn new(search: &'a Search, lines: u64) -> Self {
        let keys = search.sizing.keys as f64;
        let allowed = search.limits.overflow.min(MOST_OVERFLOW.max(FEW_KEYS / keys)) * keys;
        Self { search, lines, allowed }
    }

    /// The best subtables of such blocks with one ratio; `None` if their rate must be above `to_beat`.
    pub(super) fn best(&self, shape: Shape, to_beat: f64) -> Option<Trial> {
        let Limits { multiset, accesses_miss, choices, .. } = self.search.limits;
        let load = self.search.sizing.keys as f64 / self.lines as f64;
        let usual = self.share_sent_on(load, shape);
        // The first subtable has this share of the blocks less.
        if load * (1.0 + usual) / shape.fingerprints > to_beat {
            return None;
        }
        let most = if accesses_miss > 1.0 { choices.min(MAX_FINGERPRINT_SUBTABLES) } else { 1 };
        let last = |levels: u32| self.lines as f64 * usual.powi(levels as i32 - 1);
        let levels = (2..=most).take_while(|&levels| levels <= 3 || last(levels) > LEAST_LAST);
        let Some(levels) = levels.last() else {
            return self.trial(shape.blocks, &[], self.list(self.allowed.min(VERY_FEW_KEYS)));
        };
        let factors = if multiset { &FACTORS[..] } else { &FACTORS[..1] };
        let found = factors.iter().filter_map(|&factor| {
            let sizes = |ratio: f64, list| self.later(ratio, factor, levels as usize, list);
            match multiset {
                true => self.for_removals(shape, usual, sizes),
                false => self.for_sets(shape, usual, sizes),
            }
        });
        found.reduce(better).map(|best| self.settled(best))
    }

    /// The ratio is as small as the list allows, or larger where a shorter list is worth it.
    fn for_sets(
        &self,
        shape: Shape,
        usual: f64,
        sizes: impl Fn(f64, Overflow) -> Vec<u64>,
    ) -> Option<Trial> {
        let few = self.lines < MEDIUM;
        let refuses = self.search.limits.refuses;
        let target = match (refuses, few) {
            (true, _) => (PER_LINE * self.lines as f64).min(MOST_LISTED),
            (false, true) => self.allowed.min(VERY_FEW_KEYS),
            (false, false) => AIM * self.allowed,
        };
        let list = if refuses { overflow_list(target) } else { self.list(target) };
        let mut best: Option<Trial> = None;
        let mut try_ratio = |ratio: f64| {
            let trial = self.trial(shape.blocks, &sizes(ratio, list), list)?;
            let listed = if refuses { trial.most } else { trial.overflow };
            let before = best.take();
            let improves = before.as_ref().is_none_or(|before| trial.is_better_than(before));
            best = if improves { Some(trial) } else { before };
            Some((listed, improves))
        };
        // A fit to the ratios from 8 to 40 bits per key.
        let start = usual * (1.0 + 0.8 * usual + 20.0 * usual * usual);
        let mut ratio = self
            .ratio_for(target, start, |ratio| Some((sizes(ratio, list)[0], try_ratio(ratio)?.0)))?;
        while !few && !refuses && self.list_lines(list) > 1 {
            ratio *= STEP;
            if !try_ratio(ratio)?.1 {
                break;
            }
        }
        best
    }

    /// The list has room for its keys after removals; their number is cheap to compute.
    fn for_removals(
        &self,
        shape: Shape,
        usual: f64,
        sizes: impl Fn(f64, Overflow) -> Vec<u64>,
    ) -> Option<Trial> {
        let list = self.list(self.allowed);
        let keys = self.search.sizing.keys as f64;
        let ratio = self.ratio_for(AIM * self.allowed, 0.8 * usual, |ratio| {
            let later = sizes(ratio, list);
            Some((later[0], churned(keys, shape.slots, &self.with_first(&later, list)?)))
        })?;
        self.trial(shape.blocks, &sizes(ratio, list), list)
    }

    /// The smallest ratio at which about `target` keys overflow, or one at which fewer do. `at` gives the size of the
    /// second subtable and the keys that overflow.
    fn ratio_for(
        &self,
        target: f64,
        start: f64,
        mut at: impl FnMut(f64) -> Option<(u64, f64)>,
    ) -> Option<f64> {
        let keys = self.search.sizing.keys as f64;
        // The share that overflows is the tail of a nearly normal variable: this is nearly linear in the ratio.
        let distance = |overflow: f64| (-(overflow / keys).max(1e-300).ln()).max(0.0).sqrt();
        let (aim, highest) = (distance(target), self.highest_ratio());
        // The largest ratio that is too small, and the smallest that is enough.
        let (mut low, mut high) = (None::<(f64, f64)>, None::<(f64, f64)>);
        let (mut ratio, mut falls) = (start.min(highest), 0);
        for _ in 0..MOST_TRIALS {
            let (second, overflow) = at(ratio)?;
            let reached = distance(overflow).min(aim + 1.0);
            // Larger later subtables leave less to the first, so that it need not rise; whole numbers of blocks may let
            // it fall once.
            falls += u32::from(low.is_some_and(|(_, before)| before > 0.0 && reached <= before));
            if reached >= aim && reached < aim + TOLERANCE
                || high.is_none() && reached < aim && (falls > 1 || ratio >= highest)
            {
                return Some(ratio);
            }
            *if reached < aim { &mut low } else { &mut high } = Some((ratio, reached));
            // Sizes are whole numbers.
            let one_block = 1.0 + 1.0 / second as f64;
            ratio = match (low, high) {
                (Some((low, _)), Some((high, _))) if high < one_block * low => return Some(high),
                (Some((low, at_low)), Some((high, at_high))) => {
                    // A little above the aim, to be within it.
                    let share = (aim + TOLERANCE / 2.0 - at_low) / (at_high - at_low);
                    low + (high - low) * share.clamp(0.1, 0.9)
                }
                (Some((low, at_low)), None) => {
                    let step = if at_low > 0.0 { STEPS } else { STEPS * STEPS };
                    (step.max(one_block) * low).min(highest)
                }
                _ => ratio / STEPS.max(one_block),
            };
        }
        Some(high.map_or(ratio, |(high, _)| high))
    }

    /// The later subtables beside a list.
    fn later(&self, ratio: f64, factor: f64, levels: usize, list: Overflow) -> Vec<u64> {
        let shares: Vec<f64> = (1..levels)
            .map(|level| ratio.powi(level as i32) * factor.powi(level as i32 - 1))
            .collect();
        let room = self.lines.saturating_sub(self.list_lines(list)) as f64;
        let first = room / (1.0 + shares.iter().sum::<f64>());
        shares.into_iter().map(|share| ((share * first).round() as u64).max(1)).collect()
    }

    /// The share of its entries that a subtable sends on if all have the same load.
    fn share_sent_on(&self, load: f64, shape: Shape) -> f64 {
        (0..4).fold(0.0, |share: f64, _| {
            let load = load / (1.0 - share.min(0.5));
            match self.search.limits.multiset {
                true => lost(load, shape.slots),
                false => sent_on(shape.blocks, load) / load,
            }
        })
    }

    /// The largest ratio of one subtable to the one before it. Nearly as many misses go on; removable
    /// filters have room for what is sent on after removals.
    fn highest_ratio(&self) -> f64 {
        let Limits { multiset, accesses_miss, .. } = self.search.limits;
        let factor = if multiset { 2.5 } else { 1.25 };
        (factor * (accesses_miss - 1.0)).clamp(0.02, MOST_RATIO)
    }

    /// A list for so many keys on average.
    fn list(&self, keys: f64) -> Overflow {
        overflow_list(keys + if keys < FEW_KEYS { 0.0 } else { 6.0 * keys.sqrt() })
    }

    /// Cache lines of an overflow list; that of a multiset may grow to twice its size.
    const fn list_lines(&self, list: Overflow) -> u64 {
        (1 + self.search.limits.multiset as u64) * list.bytes() / LINE_BYTES
    }

    /// Moves blocks from one subtable to another while that is better.
    pub(super) fn moved(&self, mut best: Trial) -> Trial {
        let most = self.search.limits.choices.min(MAX_FINGERPRINT_SUBTABLES) as usize;
        // The subtable that a block is taken from and the one it goes to; the next after the last is new.
        let moves: Vec<(usize, usize)> =
            (1..most).flat_map(|level| [(level, level - 1), (level - 1, level)]).collect();
        let (mut failures, mut trials) = (0, 0);
        for &(from, to) in moves.iter().cycle() {
            failures += 1;
            while trials < MOST_MOVES
                && let Some(later) = move_block(best.later(), from, to)
                && let Some(other) = self.trial(best.layout.blocks, &later, best.list)
            {
                trials += 1;
                // Within the limits any better filter; outside them only one that is clearly nearer.
                let nearer = best.excess == 0.0 || other.excess < NEARER * best.excess;
                if !nearer || !other.is_better_than(&best) {
                    break;
                }
                best = self.settled(other);
                failures = 0;
            }
            if failures == moves.len() || trials == MOST_MOVES {
                break;
            }
        }
        best
    }

    /// The same with the memory that the list needs, as far as possible.
    fn settled(&self, mut trial: Trial) -> Trial {
        for _ in 0..MOST_TRIALS {
            let (room, needed) = (trial.list, trial.layout.overflow);
            let wasted = self.list_lines(room).saturating_sub(self.list_lines(needed));
            if needed.bytes() <= room.bytes() && wasted <= self.lines / FINE {
                break;
            }
            // A little more, so that it is enough.
            let list = Overflow { capacity: needed.capacity + needed.capacity / 500, ..needed };
            match self.trial(trial.layout.blocks, trial.later(), list) {
                // The list may need what it would save, or ever more.
                Some(next) if next.excess <= trial.excess => trial = next,
                _ => break,
            }
        }
        trial
    }

    /// The blocks of all subtables: the first has those that are left.
    fn with_first(&self, later: &[u64], list: Overflow) -> Option<Vec<u64>> {
        let taken = later.iter().sum::<u64>() + self.list_lines(list);
        let first = self.lines.checked_sub(taken).filter(|&first| first > 0)?;
        Some(core::iter::once(first).chain(later.iter().copied()).collect())
    }

    /// A filter with room for a list; the layout's own list becomes as long as it must be.
    fn trial(&self, blocks: Blocks, later: &[u64], list: Overflow) -> Option<Trial> {
        let Blocks::Fingerprint { slots, .. } = blocks else { return None };
        let Limits { multiset, accesses_miss, accesses_insert, refuses, .. } = self.search.limits;
        let keys = self.search.sizing.keys as f64;
        let sizes = self.with_first(later, list)?;
        let candidates = Candidates::subtables(&sizes).ok()?;
        let layout = Layout::new(blocks, candidates, Rule::KeepLargest);
        let mut layout = Layout { multiset, ..layout };
        let all = Prediction { rate: 1.0, overflow_fraction: 1.0, ..Prediction::default() };
        let overloaded = Prediction { overflow_most: 1.0, ..all };
        let most_load = MOST_LOAD * f64::from(slots);
        let outline = outline(&layout, keys, most_load, refuses).unwrap_or(overloaded);
        let (share, deviation) = (outline.overflow_fraction, outline.overflow_deviation);
        let most = keys * if refuses { outline.overflow_most } else { share + 6.0 * deviation };
        layout.overflow = overflow_list(most);
        let overflow = if multiset {
            layout.overflow.capacity = layout.overflow.capacity.max(list.capacity);
            churned(keys, slots, &sizes)
        } else {
            keys * share
        };
        let (room, needed) =
            (self.list_lines(list) as f64, self.list_lines(layout.overflow) as f64);
        let over = |value: f64, limit: f64| (value - limit).max(0.0);
        let excess = over((overflow / self.allowed).max(1e-300).ln(), 0.0)
            + over(outline.accesses_miss, accesses_miss)
            + over(outline.accesses_insert, accesses_insert)
            + over(needed, room) / self.lines as f64;
        let first = sizes[0] as f64;
        let rate = outline.rate * first / (first + room - needed).max(0.1 * first);
        Some(Trial { layout, outline, overflow, most, excess, rate, list })
    }
}

/// The later subtables with a block, or a few of many, moved from one to another; 0 is the first.
fn move_block(later: &[u64], from: usize, to: usize) -> Option<Vec<u64>> {
    let (mut later, levels) = (later.to_vec(), later.len() + 1);
    if from >= levels || to > levels {
        return None;
    }
    // The first block of a new subtable comes from the first.
    let from = if to == levels { 0 } else { from };
    if to == levels {
        later.push(0);
    }
    let size = |level: usize| if level == 0 { u64::MAX } else { later[level - 1] };
    let step = 1 + size(from).min(size(to)) / 24;
    if from > 0 {
        later[from - 1] = later[from - 1].checked_sub(step)?;
    }
    if to > 0 {
        later[to - 1] += step;
    }
    if later.last() == Some(&0) {
        later.pop();
    }
    (!later.contains(&0)).then_some(later)
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
        if level + 1 == sizes.len() {
            arriving += DEVIATIONS * variance.sqrt();
        }
        let size = size as f64;
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
