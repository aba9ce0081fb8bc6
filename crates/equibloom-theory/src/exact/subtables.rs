//! One candidate in each of several disjoint subtables (and the single-choice table, which is one).

use super::Prediction;
use super::arrivals;
use super::block_history::{BlockHistory, Mixture};
use crate::root;

/// The subtables after a number of keys.
struct Filled {
    levels: Vec<Mixture>,
    /// Keys turned away by the last level.
    overflow: f64,
    overflow_variance: f64,
    /// Block accesses of the keys that were placed or overflowed.
    spent: f64,
    accesses: f64,
    matched: f64,
}

pub(crate) fn predict(
    mut history: BlockHistory,
    keys: f64,
    blocks: &[u64],
    budget: Option<f64>,
) -> Prediction {
    let mut filled = fill(&mut history, keys, blocks);
    let mut placed_keys = keys;
    let mut budget_spent = 0.0;
    let mut budget_variance = 0.0;
    if let Some(budget) = budget {
        // Levels add up: the spread of an insert's accesses is that of a short geometric walk.
        let mean = filled.spent / keys.max(1.0);
        let variance = keys * mean * (mean - 1.0).max(0.0);
        budget_spent = super::shared_table::chance_spent(filled.spent, budget, variance);
        if filled.spent > budget {
            budget_variance = variance;
            let cell = core::cell::RefCell::new(&mut history);
            placed_keys = root::increasing(0.0, keys, |keys| {
                fill(&mut cell.borrow_mut(), keys, blocks).spent - budget
            });
            filled = fill(&mut history, placed_keys, blocks);
        }
    }
    let walk = Walk::new(&filled.levels);
    // Once the budget is spent, new keys still walk, to see whether they are there already.
    let late = keys - placed_keys;
    let per_key = 1.0 / keys.max(1.0);
    let overflow = ((filled.overflow + late * (1.0 - walk.matched)) * per_key).min(1.0);
    let accesses = (filled.accesses + late * walk.accesses) * per_key;
    Prediction {
        rate: walk.matched,
        rate_deviation: deviation(&filled.levels, blocks),
        accesses_insert: accesses,
        accesses_hit: accesses,
        accesses_miss: walk.accesses,
        overflow_probes_insert: overflow,
        overflow_probes_hit: overflow,
        overflow_probes_miss: walk.turned_away
            + budget_spent * (1.0 - walk.matched - walk.turned_away),
        overflow_fraction: overflow,
        // A spent budget turns every access too many into a key that overflows.
        overflow_deviation: (filled.overflow_variance + budget_variance).sqrt() * per_key,
        stored_fraction: 1.0 - (filled.matched + late * walk.matched) * per_key,
        budget_spent,
        load_distributions: filled.levels.iter().map(|level| level.loads.to_vec()).collect(),
    }
}

fn fill(history: &mut BlockHistory, keys: f64, blocks: &[u64]) -> Filled {
    let mut arriving = keys;
    let mut filled = Filled {
        levels: Vec::new(),
        overflow: 0.0,
        overflow_variance: 0.0,
        spent: 0.0,
        accesses: 0.0,
        matched: 0.0,
    };
    for (index, &blocks) in blocks.iter().enumerate() {
        let blocks = blocks as f64;
        // The first level's arrivals are as many as there are keys; later levels' numbers are random.
        let weights = if index == 0 {
            arrivals::spread(arriving, blocks)
        } else {
            arrivals::poisson(arriving / blocks)
        };
        let level = history.mix(&weights);
        filled.accesses += arriving;
        filled.matched += blocks * level.matched_before;
        let stored = level.loads.mean_of(|load| load as f64) * blocks;
        filled.spent += (index + 1) as f64 * stored;
        arriving = blocks * level.turned_away_before;
        filled.overflow_variance = blocks * level.turned_away_before_variance
            + level.meeting.turned_away.powi(2) * filled.overflow_variance;
        filled.levels.push(level);
    }
    filled.spent += blocks.len() as f64 * arriving;
    filled.overflow = arriving;
    filled
}

/// The walk of a key that was never inserted.
struct Walk {
    matched: f64,
    turned_away: f64,
    accesses: f64,
}

impl Walk {
    fn new(levels: &[Mixture]) -> Self {
        let start = Self { matched: 0.0, turned_away: 1.0, accesses: 0.0 };
        levels.iter().fold(start, |walk, level| Self {
            matched: walk.matched + walk.turned_away * level.meeting.matched,
            accesses: walk.accesses + walk.turned_away,
            turned_away: walk.turned_away * level.meeting.turned_away,
        })
    }
}

/// Each level adds the variance of a block's part in the rate: it matches, or sends the key on to where
/// it matches. The first level's arrivals have a fixed sum, so what varies with them does not count.
fn deviation(levels: &[Mixture], blocks: &[u64]) -> f64 {
    let mut variance = 0.0;
    let mut reached = 1.0;
    for (index, (level, &blocks)) in levels.iter().zip(blocks).enumerate() {
        let matched_later = Walk::new(&levels[index + 1..]).matched;
        let fixed_share = if index == 0 { 1.0 } else { 0.0 };
        variance +=
            reached * reached * level.variance_of(1.0, matched_later, fixed_share) / blocks as f64;
        reached *= level.meeting.turned_away;
    }
    variance.sqrt()
}

impl Mixture {
    /// Variance over blocks of `a·matched + b·turned away`, less the part explained by the number of
    /// arrivals times `fixed_share`.
    pub(crate) fn variance_of(&self, a: f64, b: f64, fixed_share: f64) -> f64 {
        let m = &self.meeting;
        let mean = a * m.matched + b * m.turned_away;
        let square = a * a * m.matched_squared
            + b * b * m.turned_away_squared
            + 2.0 * a * b * m.matched_turned_away;
        let covariance = a * self.matched_covariance + b * self.turned_away_covariance;
        let explained = if self.arrivals_variance > 0.0 {
            fixed_share * covariance * covariance / self.arrivals_variance
        } else {
            0.0
        };
        (square - mean * mean - explained).max(0.0)
    }
}
