//! Several candidates anywhere in one table, tried in order, with or without an access budget.
//!
//! Blocks see one stream of arrivals, first tries and retries alike. With x arrivals per block a key is
//! rejected with probability P(x) and matches with M(x), so it makes G = 1 + P + … + P^{d−1} tries and
//! the share t of keys inserted obeys dt/dx = 1/(r·G). Everything else is an integral along the way. We
//! integrate over x, panel by panel, until all keys are in or the budget is spent.

use super::Prediction;
use super::arrivals::{self, Arrivals};
use super::block_history::BlockHistory;
use super::flow::FAR;
use super::miss::Miss;
use super::mixture::Meeting;
use crate::optimum::geometric_sum;
use crate::quadrature::Panels;
use crate::root;
use core::cell::RefCell;
use core::f64::consts::TAU;
use core::ops::AddAssign;

/// Sums over the inserts so far, per key of the whole set.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    inserted: f64,
    accesses: f64,
    /// Accesses of keys that were placed or overflowed, and the sum of their squares.
    spent: f64,
    spent_squared: f64,
    present: f64,
    overflow: f64,
}

impl AddAssign for Progress {
    fn add_assign(&mut self, other: Self) {
        self.inserted += other.inserted;
        self.accesses += other.accesses;
        self.spent += other.spent;
        self.spent_squared += other.spent_squared;
        self.present += other.present;
        self.overflow += other.overflow;
    }
}

/// The insert of a key into blocks that match it or reject it with given probabilities.
struct Walk {
    accesses: f64,
    present: f64,
    rejected: f64,
    spent: f64,
    spent_squared: f64,
}

impl Walk {
    fn new(present: f64, rejected: f64, choices: u32) -> Self {
        let admitted = 1.0 - present - rejected;
        let tries = geometric_sum(rejected, choices);
        let overflow = rejected.powi(choices as i32);
        let placed_after = |power: i32| -> f64 {
            let placed = (1..=choices as i32)
                .map(|tries| f64::from(tries).powi(power) * rejected.powi(tries - 1) * admitted);
            placed.sum::<f64>() + f64::from(choices).powi(power) * overflow
        };
        Self {
            accesses: tries,
            present: present * tries,
            rejected: overflow,
            spent: placed_after(1),
            spent_squared: placed_after(2),
        }
    }
}

/// The table while it fills.
struct SharedTable<'a> {
    history: &'a mut BlockHistory,
    per_block: f64,
    choices: u32,
    rule: Panels,
}

impl SharedTable<'_> {
    /// Adds the events while the arrivals per block grow from `from` to `to`.
    fn advance(&mut self, from: f64, to: f64) -> Progress {
        let mut progress = Progress::default();
        for (x, width) in self.rule.nodes(from, to) {
            let (present, rejected) = self.history.present_and_rejected(&arrivals::poisson(x));
            let walk = Walk::new(present, rejected, self.choices);
            let time = width / (self.per_block * walk.accesses);
            progress += Progress {
                inserted: time,
                accesses: time * walk.accesses,
                spent: time * walk.spent,
                spent_squared: time * walk.spent_squared,
                present: time * walk.present,
                overflow: time * walk.rejected,
            };
        }
        progress
    }

    /// Inserts until all keys are in, or until accesses per key reach `budget`; returns the arrivals per
    /// block too.
    fn fill(&mut self, budget: f64) -> (f64, Progress) {
        let done = |progress: &Progress| (progress.inserted - 1.0).max(progress.spent - budget);
        let (mut x, mut progress) = (0.0, Progress::default());
        if self.per_block == 0.0 || budget <= 0.0 {
            let inserted = if self.per_block == 0.0 { 1.0 } else { 0.0 };
            return (x, Progress { inserted, ..progress });
        }
        // Probabilities vary on the scale of a standard deviation of the arrivals.
        let scale = self.per_block.min(self.history.followed_arrivals() as f64);
        let panel = scale.sqrt().min(scale / 2.0);
        // A key makes at most d tries, so x ends below this.
        let last = 1.01 * self.per_block * f64::from(self.choices);
        while x < last {
            let settled = self.history.is_settled_at(arrivals::poisson(x).first);
            let to = if settled { last } else { x + panel };
            let mut next = progress;
            next += self.advance(x, to);
            if done(&next) >= 0.0 {
                let table = RefCell::new(&mut *self);
                let part = |to: f64| {
                    let mut sum = progress;
                    sum += table.borrow_mut().advance(x, to);
                    sum
                };
                let end = root::increasing(x, to, |to| done(&part(to)));
                return (end, part(end));
            }
            (x, progress) = (to, next);
        }
        (x, progress)
    }
}

pub(crate) fn predict(
    history: &mut BlockHistory,
    keys: f64,
    blocks: f64,
    choices: u32,
    budget: Option<f64>,
) -> Prediction {
    let per_block = keys / blocks;
    let mut shared = SharedTable { history, per_block, choices, rule: Panels::new(1) };
    let (mut x, mut progress) = shared.fill(f64::INFINITY);
    let mut budget_spent = 0.0;
    let mut budget_variance = 0.0;
    if let Some(budget) = budget {
        let variance = keys * (progress.spent_squared - progress.spent.powi(2)).max(0.0);
        budget_spent = chance_spent(keys * progress.spent, budget, variance);
        if keys * progress.spent > budget {
            budget_variance = variance;
            (x, progress) = shared.fill(budget / keys);
        }
    }
    let arrivals = Arrivals::spread(x * blocks, blocks).number().weights();
    let mut table = history.mix(&arrivals);
    // Once the budget is spent, new keys still walk, by the loads, to check whether they are present, and set
    // hints.
    let walk = Walk::new(table.meeting.present, table.meeting.rejected, choices);
    let late = (1.0 - progress.inserted).max(0.0);
    table.set_hints(history.hints(), late * per_block * walk.accesses);
    let Meeting { rejected, found, goes_on, .. } = table.meeting;
    let miss = Miss::within(&table, choices);
    let overflow = (progress.overflow + late * (1.0 - walk.present)).min(1.0);
    // d(rate)/dM and d(rate)/dP of M(1 + P + … + P^{d−1}).
    let by_goes_on: f64 =
        (1..choices as i32).map(|power| found * f64::from(power) * goes_on.powi(power - 1)).sum();
    // A block matches absent keys and sends them on; and it sends keys on, each of which arrives once more elsewhere.
    let of_block = geometric_sum(goes_on, choices) / blocks;
    let by_goes_on = by_goes_on / blocks;
    let rejects = table.spread_of(0.0, 0.0, 1.0);
    let by_arrival = table.spread_of(of_block, by_goes_on, 0.0).slope;
    let by_key_sent_on = by_arrival / (1.0 - rejects.slope).max(1.0 / f64::from(choices));
    let variance = blocks * table.spread_of(of_block, by_goes_on, by_key_sent_on).variance;
    // One more rejection becomes one more overflow if the key's other tries are rejected too.
    let rejects_variance = blocks * rejects.variance;
    let overflow_variance =
        rejects_variance * (walk.accesses * rejected.powi(choices as i32 - 1)).powi(2);
    let overflow_deviation = (overflow_variance + budget_variance).sqrt() / keys.max(1.0);
    Prediction {
        rate: miss.found.min(1.0),
        rate_deviation: variance.sqrt(),
        accesses_insert: progress.accesses,
        accesses_check: late * walk.accesses,
        accesses_hit: progress.accesses + late * walk.accesses,
        accesses_miss: miss.accesses,
        overflow_probes_insert: overflow,
        overflow_probes_hit: overflow,
        overflow_probes_miss: miss.walks_off
            + budget_spent * (1.0 - miss.found - miss.walks_off).max(0.0),
        overflow_fraction: overflow,
        overflow_deviation,
        overflow_most: overflow + FAR * overflow_deviation,
        stored_fraction: 1.0 - progress.present - late * walk.present,
        budget_spent,
        goes_on: vec![goes_on],
        load_distributions: vec![history.loads(&arrivals)],
    }
}

/// Probability that accesses with this mean and variance reach the budget.
pub(crate) fn chance_spent(mean: f64, budget: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return if mean >= budget { 1.0 } else { 0.0 };
    }
    // The tail of the normal distribution beyond the budget; what lies past twelve deviations is lost in rounding.
    let distance = (budget - mean) / variance.sqrt();
    let (from, to) = (distance.abs().min(40.0), distance.abs().min(40.0) + 12.0);
    let density = |x: f64| (-0.5 * x * x).exp() / TAU.sqrt();
    let tail: f64 = Panels::new(6).nodes(from, to).map(|(x, weight)| weight * density(x)).sum();
    if distance < 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests;
