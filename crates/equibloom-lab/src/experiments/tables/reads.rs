//! The reads of lookups in the tables, in the limit of many buckets.
//!
//! A bucket of a threshold scheme is tried by a Poisson number A of entries. It keeps the first h of
//! them and the first of the others that its coin admits, and rejects the rest. An entry belongs to one of C
//! classes, so that a miss reads on with probability
//!
//! ```text
//!     q = 1 − E (1 − 1/C)^rejected
//! ```
//!
//! Under the least-loaded rule a bucket is a small Markov chain: its size, and whether it rejected an entry of
//! the class, driven by the sizes of all others.

use equibloom_layout::{Proportions, Rule};
use equibloom_tables::BucketPlan;
use equibloom_theory::Error;
use equibloom_theory::fluid::Process;

/// Chance that the tags of two keys are equal: a byte, in which 1 also stands for 0.
const TAGS_AGREE: f64 = (254.0 + 4.0) / 65_536.0;
/// Entries of 16 bytes in a cache line.
const ENTRIES_PER_LINE: usize = 4;

/// What lookups of one kind read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reads {
    /// The share `buckets[i]` of them reads i + 1 buckets.
    pub(super) buckets: Vec<f64>,
    /// Mean cache lines.
    pub(super) lines: f64,
}

impl Reads {
    /// Mean buckets.
    pub(super) fn mean(&self) -> f64 {
        mean(&self.buckets)
    }

    /// Standard deviation of the buckets.
    pub(super) fn deviation(&self) -> f64 {
        let squares = self.buckets.iter().zip(1..).map(|(mass, n)| mass * f64::from(n * n));
        (squares.sum::<f64>() - self.mean().powi(2)).max(0.0).sqrt()
    }
}

/// Hits and misses.
pub(super) type HitsAndMisses = [Reads; 2];

fn mean(distribution: &[f64]) -> f64 {
    distribution.iter().zip(1..).map(|(mass, buckets)| mass * f64::from(buckets)).sum()
}

/// Counters of a bucket, in the header format of `equibloom_tables`: tags and at least four bytes of counters,
/// two per byte, all in 8 bytes or a multiple of 16.
pub(super) fn classes(slots: usize) -> usize {
    let least = slots + 4;
    let header = if least <= 8 { least.next_power_of_two() } else { least.next_multiple_of(16) };
    2 * (header - slots)
}

/// Lookups in a table of this plan, after `arrivals` entries per bucket.
pub(super) fn of_plan(plan: &BucketPlan, arrivals: f64) -> Result<HitsAndMisses, Error> {
    let Rule::FirstWithRoom { below, coin } = plan.rule else {
        return Ok(less_loaded(arrivals, plan.proportions.share().get(), plan.slots as usize));
    };
    let threshold = (below as usize, coin.get());
    match plan.proportions {
        Proportions::Anywhere { choices, .. } => {
            sequential(plan, arrivals / plan.load, threshold, choices)
        }
        Proportions::Subtables { shares } => {
            Ok(multi_level(arrivals, threshold, plan.slots as usize, &shares))
        }
    }
}

/// A bucket with this threshold, the papers' h and p, that this many entries try on average.
struct Bucket {
    /// Share of buckets at each size.
    sizes: Vec<f64>,
    /// Chance that a miss reads on.
    read_on: f64,
    /// Mean number of entries that it rejects.
    rejected: f64,
}

impl Bucket {
    fn new(arrivals: f64, (h, p): (usize, f64), classes: usize) -> Self {
        let missed_class = 1.0 - 1.0 / classes as f64;
        let mut found = Self { sizes: vec![0.0; h + 2], read_on: 0.0, rejected: 0.0 };
        let mut chance = (-arrivals).exp();
        // Far beyond the mass of a Poisson distribution.
        let most = (arrivals + 20.0 * arrivals.sqrt() + 40.0) as usize;
        for tries in 0..most {
            let beyond = tries.saturating_sub(h);
            let none_admitted = (1.0 - p).powi(beyond as i32);
            if beyond == 0 {
                found.sizes[tries] += chance;
            } else {
                for (size, rejected, share) in
                    [(h, beyond, none_admitted), (h + 1, beyond - 1, 1.0 - none_admitted)]
                {
                    found.sizes[size] += chance * share;
                    found.rejected += chance * share * rejected as f64;
                    found.read_on += chance * share * (1.0 - missed_class.powi(rejected as i32));
                }
            }
            chance *= arrivals / (tries + 1) as f64;
        }
        found
    }

    fn mean_size(&self) -> f64 {
        self.sizes.iter().enumerate().map(|(size, share)| size as f64 * share).sum()
    }
}

/// Lines of entries read in vain in a bucket of this size, and before the entry in `slot`, if the key is in the
/// bucket.
fn vain_lines(slots: usize, entries: usize, slot: Option<usize>) -> f64 {
    // Buckets begin at every offset in a line in turn.
    let lines = (0..ENTRIES_PER_LINE).map(|bucket| {
        let line = |slot: usize| (bucket * slots + slot) / ENTRIES_PER_LINE;
        let read = slot.unwrap_or(entries);
        let found_in = slot.map(line);
        let (first, last) = (line(0), line(read));
        let in_line = |at: usize| (0..read).filter(|&slot| line(slot) == at).count() as i32;
        (first..=last)
            .filter(|&at| Some(at) != found_in)
            .map(|at| 1.0 - (1.0 - TAGS_AGREE).powi(in_line(at)))
            .sum::<f64>()
    });
    lines.sum::<f64>() / ENTRIES_PER_LINE as f64
}

/// The same for all entries of buckets with these sizes, per bucket.
fn vain_lines_of_hits(slots: usize, sizes: &[f64]) -> f64 {
    let of_bucket =
        |size: usize| (0..size).map(|slot| vain_lines(slots, size, Some(slot))).sum::<f64>();
    sizes.iter().enumerate().map(|(size, share)| share * of_bucket(size)).sum()
}

/// One bucket in each of these subtables (shares of all buckets), after `arrivals` entries per bucket of the
/// whole table; entries that all of them reject are in the stash.
fn multi_level(
    arrivals: f64,
    threshold: (usize, f64),
    slots: usize,
    subtables: &[f64],
) -> HitsAndMisses {
    let classes = classes(slots);
    let mut coming = arrivals;
    let (mut hits, mut misses) = (Vec::new(), Vec::new());
    let (mut left_hits, mut left_misses) = (1.0, 1.0);
    let (mut read_in_vain, mut own_lines, mut placed) = (0.0, 0.0, 0.0);
    for (level, &share) in subtables.iter().enumerate() {
        let bucket = Bucket::new(coming / share, threshold, classes);
        let on = bucket.rejected * share / coming;
        let is_last = level + 1 == subtables.len();
        hits.push(if is_last { left_hits } else { left_hits * (1.0 - on) });
        misses.push(if is_last { left_misses } else { left_misses * (1.0 - bucket.read_on) });
        read_in_vain += left_misses * bucket.mean_size();
        own_lines += share * vain_lines_of_hits(slots, &bucket.sizes) / arrivals;
        placed += left_hits * (1.0 - on);
        left_hits *= on;
        left_misses *= bucket.read_on;
        coming *= on;
    }
    finish(hits, misses, slots, slots, placed, own_lines, read_in_vain)
}

/// Cache lines: a header per bucket; for hits the entry's line, if it is not in the stash; and those of entries
/// whose tags agree by chance. Buckets passed by a hit hold `passed_size`.
fn finish(
    hits: Vec<f64>,
    misses: Vec<f64>,
    slots: usize,
    passed_size: usize,
    placed: f64,
    own_lines: f64,
    read_in_vain: f64,
) -> HitsAndMisses {
    let passed = mean(&hits) - placed;
    let lines = mean(&hits) + placed + own_lines + passed * vain_lines(slots, passed_size, None);
    let hits = Reads { buckets: hits, lines };
    let lines = mean(&misses) + TAGS_AGREE * read_in_vain;
    [hits, Reads { buckets: misses, lines }]
}

/// One of `choices` buckets anywhere; one choice is the single scheme. A share `fill` of the full table's entries
/// is inserted.
fn sequential(
    plan: &BucketPlan,
    fill: f64,
    threshold: (usize, f64),
    choices: u32,
) -> Result<HitsAndMisses, Error> {
    /// Moments at which the chance of rejection is sampled.
    const MOMENTS: u32 = 400;
    let (load, slots, (h, p)) = (plan.load, plan.slots as usize, threshold);
    let at = |time: f64| Process::new(plan.proportions, plan.rule, load).closed_form(time);
    let mut reach = vec![0.0; choices as usize + 1];
    for moment in 0..MOMENTS {
        let time = fill * (f64::from(moment) + 0.5) / f64::from(MOMENTS);
        let loads = at(time)?.map(|state| state.loads.concat()).unwrap_or_default();
        let share = |size: usize| loads.get(size).copied().unwrap_or(0.0);
        let rejected = share(h) * (1.0 - p) + share(h + 1);
        for (reach, probe) in reach.iter_mut().zip(0..) {
            *reach += rejected.powi(probe) / f64::from(MOMENTS);
        }
    }
    let accesses = at(fill)?.map_or(fill, |state| state.accesses);
    let bucket = Bucket::new(load * accesses, threshold, classes(slots));
    let last = choices as usize - 1;
    let hits = (0..=last).map(|i| reach[i] - if i < last { reach[i + 1] } else { 0.0 }).collect();
    let on = |probe: usize| bucket.read_on.powi(probe as i32);
    let misses =
        (0..=last).map(|i| on(i) * if i < last { 1.0 - bucket.read_on } else { 1.0 }).collect();
    let read_in_vain = (0..=last).map(|i| on(i) * bucket.mean_size()).sum();
    let own_lines = vain_lines_of_hits(slots, &bucket.sizes) / (load * fill);
    let placed = 1.0 - reach[last + 1];
    Ok(finish(hits, misses, slots, slots, placed, own_lines, read_in_vain))
}

/// The less full of two buckets for a share of the entries, one for the others, after `arrivals` per bucket.
fn less_loaded(arrivals: f64, second_choice: f64, slots: usize) -> HitsAndMisses {
    /// Steps per entry and bucket.
    const STEPS: f64 = 400.0;
    let chain = Chain { second_choice, slots, seen: 1.0 / classes(slots) as f64 };
    let steps = (arrivals * STEPS).ceil();
    let step = arrivals / steps;
    let mut state = chain.start();
    for _ in 0..steps as u64 {
        // Heun's method.
        let slope = chain.slope(&state);
        let there: Vec<f64> = state.iter().zip(&slope).map(|(s, d)| s + step * d).collect();
        let slope_there = chain.slope(&there);
        for ((value, a), b) in state.iter_mut().zip(slope).zip(slope_there) {
            *value += step * (a + b) / 2.0;
        }
    }
    let sizes: Vec<f64> = (0..=slots).map(|size| chain.share(&state, size)).collect();
    let mean_size: f64 = sizes.iter().enumerate().map(|(size, share)| size as f64 * share).sum();
    let passed: f64 = state[slots + 1..=2 * slots + 1].iter().sum();
    let twice = state[2 * slots + 2] / arrivals;
    let placed = mean_size / arrivals;
    let read_on = second_choice * passed;
    let own_lines = vain_lines_of_hits(slots, &sizes) / arrivals;
    let passed_size = (mean_size.round() as usize).min(slots);
    let (hits, misses) = (vec![1.0 - twice, twice], vec![1.0 - read_on, read_on]);
    finish(hits, misses, slots, passed_size, placed, own_lines, (1.0 + read_on) * mean_size)
}

/// Buckets of the least-loaded rule. The state: shares of buckets at each size that the class has not
/// passed, then of those that it has, then the entries that take two buckets to find, per bucket.
struct Chain {
    second_choice: f64,
    slots: usize,
    /// Chance that an entry is of the class.
    seen: f64,
}

impl Chain {
    fn start(&self) -> Vec<f64> {
        let mut state = vec![0.0; 2 * self.slots + 3];
        state[0] = 1.0;
        state
    }

    fn share(&self, state: &[f64], size: usize) -> f64 {
        state[size] + state[self.slots + 1 + size]
    }

    /// Changes per entry and bucket.
    fn slope(&self, state: &[f64]) -> Vec<f64> {
        let (slots, second) = (self.slots, self.second_choice);
        let mut slope = vec![0.0; state.len()];
        let all: f64 = (0..=slots).map(|size| self.share(state, size)).sum();
        let mut smaller = 0.0;
        for size in 0..=slots {
            let here = self.share(state, size);
            let larger = all - smaller - here;
            let (grows, passed) = if size == slots {
                // A full bucket rejects all entries that try it first, and those that find both full.
                (0.0, 1.0 + second * here)
            } else {
                (1.0 - second * smaller + second * larger, second * smaller)
            };
            for (at, seen) in [(size, false), (slots + 1 + size, true)] {
                slope[at] -= grows * state[at];
                if size < slots {
                    slope[at + 1] += grows * state[at];
                }
                if !seen {
                    slope[at] -= self.seen * passed * state[at];
                    slope[slots + 1 + size] += self.seen * passed * state[at];
                }
            }
            // In the second bucket because the first was larger, or in the stash because both are full.
            let both_full = if size == slots { here } else { 0.0 };
            slope[2 * slots + 2] += second * here * (larger + both_full);
            smaller += here;
        }
        slope
    }
}

/// Two tables of single slots, `entries` per bucket of one table. A bucket of the first is filled by the first
/// entry that tries it and stays full.
pub(super) fn one_slot_cuckoo(entries: f64) -> HitsAndMisses {
    let first = -(-entries).exp_m1() / entries;
    let second = 1.0 - first;
    // Both headers are read at once, wherever the entry is.
    [3.0 + second * TAGS_AGREE, 2.0 + TAGS_AGREE * entries]
        .map(|lines| Reads { buckets: vec![0.0, 1.0], lines })
}
