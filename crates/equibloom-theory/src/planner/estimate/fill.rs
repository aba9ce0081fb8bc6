//! The loads of tables under a threshold, by the papers' closed forms: loads count keys, and apparently present
//! keys are not accounted for.

use equibloom_layout::Proportions;

use crate::exact::arrivals;
use crate::optimum::{geometric_sum, rejected};
use crate::poisson::Weights;

/// The filled tables, `load` keys for each block of them all.
pub(crate) fn fill(candidates: &Proportions, load: f64, h: usize, p: f64) -> Filled {
    match candidates {
        Proportions::Anywhere { choices: 1, .. } => subtables(load, h, p, &[1.0]),
        Proportions::Anywhere { choices, .. } => anywhere(load, h, p, *choices),
        Proportions::Subtables { shares } => subtables(load, h, p, shares),
    }
}

/// One table or subtable.
pub(crate) struct Table {
    /// Share of its blocks by load.
    pub(crate) loads: Vec<f64>,
    /// Share of its blocks by the number of keys that arrived beyond the threshold.
    crowds: Vec<f64>,
    /// Probability that a block at its threshold admits a key.
    p: f64,
}

/// The filled tables.
pub(crate) struct Filled {
    /// One for each subtable, or one for candidates anywhere.
    pub(crate) tables: Vec<Table>,
    pub(crate) accesses_insert: f64,
    pub(crate) overflow: f64,
}

impl Filled {
    /// Probability that a lookup of an absent key reads the block of each probe, and after the last the
    /// overflow list.
    pub(crate) fn reached(&self, choices: u32, hints: u32) -> Vec<f64> {
        let passing: Vec<f64> = self.tables.iter().map(|table| table.passing(hints)).collect();
        let mut reached = vec![1.0];
        for probe in 0..choices as usize {
            reached.push(reached[probe] * passing[probe.min(passing.len() - 1)]);
        }
        reached
    }
}

/// Each subtable is a single-choice table for the keys that the ones before it rejected.
fn subtables(load: f64, h: usize, p: f64, shares: &[f64]) -> Filled {
    let mut filled = Filled { tables: Vec::new(), accesses_insert: 0.0, overflow: 1.0 };
    for share in shares {
        let arriving = filled.overflow * load / share;
        let table = Table::new(arriving, h, p);
        let stored: f64 = table.loads.iter().enumerate().map(|(i, mass)| i as f64 * mass).sum();
        filled.accesses_insert += filled.overflow;
        filled.overflow *= if arriving > 0.0 { (1.0 - stored / arriving).max(0.0) } else { 0.0 };
        filled.tables.push(table);
    }
    filled
}

/// Steps of the integral over the tries; a few digits are enough.
const STEPS: f64 = 16.0;

/// All keys' tries reach one table: dt/ds = 1/g(P(s)) until t = 1 (see [`crate::optimum`]).
fn anywhere(load: f64, h: usize, p: f64, choices: u32) -> Filled {
    // Nothing is rejected far below the threshold: the integral starts there.
    let start = ((h as f64 - 6.0 * load.sqrt()) / load).clamp(0.0, 0.9);
    let step = (1.0 - start) / STEPS;
    let (mut tries, mut inserted, mut overflow) = (start, start, 0.0);
    while inserted < 1.0 - 1e-9 {
        let away = rejected(&arrivals::poisson((tries + step / 2.0) * load), h, p);
        let per_key = geometric_sum(away, choices);
        let width = step.min((1.0 - inserted) * per_key);
        inserted += width / per_key;
        overflow += width * away.powi(choices as i32) / per_key;
        tries += width;
    }
    let table = Table::new(tries * load, h, p);
    Filled { tables: vec![table], accesses_insert: tries, overflow }
}

/// More keys than this beyond the threshold have set every hint.
const LARGEST_CROWD: usize = 2_000;

impl Table {
    fn new(arrivals: f64, h: usize, p: f64) -> Self {
        let attempts: Weights = arrivals::poisson(arrivals);
        let below = h.saturating_sub(attempts.first).min(attempts.mass.len());
        let (below, beyond) = attempts.mass.split_at(below);
        let mut loads = Vec::with_capacity(h + 2);
        loads.resize(attempts.first.min(h), 0.0);
        loads.extend_from_slice(below);
        loads.resize(h, 0.0);
        let mut crowds = Vec::with_capacity(beyond.len());
        crowds.resize(attempts.first.saturating_sub(h).min(LARGEST_CROWD), 0.0);
        // One of the tries beyond the threshold is admitted, unless all their coins fail.
        let (mut at, mut above, mut all_fail) = (0.0, 0.0, 1.0);
        for &mass in beyond {
            at += mass * all_fail;
            above += mass * (1.0 - all_fail);
            all_fail *= 1.0 - p;
            match crowds.get_mut(LARGEST_CROWD) {
                Some(largest) => *largest += mass,
                None => crowds.push(mass),
            }
        }
        loads.extend([at, above]);
        Self { loads, crowds, p }
    }

    /// The share of absent keys that go on from here: by the load, or if their hint is set.
    ///
    /// Of i keys beyond the threshold either the coins of all fail, (1 − p)^i, or one is admitted and the
    /// others are rejected: a hint stays unset with z^i·(1 − p)^i + z^(i−1)·(1 − (1 − p)^i), z = 1 − 1/w.
    fn passing(&self, hints: u32) -> f64 {
        let [.., at, above] = &self.loads[..] else { return 0.0 };
        if hints == 0 {
            return (1.0 - self.p) * at + above;
        }
        let z = 1.0 - 1.0 / f64::from(hints);
        let (mut all_fail, mut power_before, mut power) = (1.0, 0.0, 1.0);
        let mut set = 0.0;
        for mass in &self.crowds {
            set += mass * (1.0 - power * all_fail - power_before * (1.0 - all_fail));
            all_fail *= 1.0 - self.p;
            power_before = power;
            power *= z;
        }
        set.max(0.0)
    }
}
