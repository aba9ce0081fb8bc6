//! One candidate in each of several disjoint subtables (or in one: the single-choice table).

use super::arrivals::Arrivals;
use super::flow::{FAR, Flow, SentOn};
use super::miss::Miss;
use super::mixture::Mixture;
use super::{BlockModel, Prediction};
use crate::root;

/// The subtables after a number of keys.
struct Filled {
    levels: Vec<Mixture>,
    /// The keys that came to each level.
    arrivals: Vec<Arrivals>,
    /// The keys rejected by the last level.
    overflow: Flow,
    /// Block accesses of the keys that were placed or overflowed.
    spent: f64,
    /// Of inserts and of hits: block accesses, and how many pass the last level, repeats included.
    inserts: Walks,
    hits: Walks,
    /// Keys in the blocks.
    stored: f64,
}

struct Walks {
    accesses: f64,
    /// On the way to the next level.
    walking: f64,
}

impl Walks {
    /// The share `passing` of those that reach a level goes on.
    fn pass(&mut self, passing: f64) {
        self.accesses += self.walking;
        self.walking *= passing;
    }
}

/// The part of a prediction by which filters are compared, `overflow_most` at this distance; `None` if the blocks of a
/// level are to receive more than `most` keys on average.
pub(crate) fn outline(
    model: &mut BlockModel,
    keys: f64,
    blocks: &[u64],
    most: f64,
    distance: f64,
) -> Option<Prediction> {
    let mut filled = Filled::new(keys, distance);
    for &blocks in blocks {
        if filled.overflow.mean > most * blocks as f64 {
            return None;
        }
        filled.add_level(model, blocks as f64);
    }
    let miss = Miss::through(&filled.levels);
    let per_key = 1.0 / keys.max(1.0);
    Some(Prediction {
        rate: miss.found.min(1.0),
        accesses_insert: filled.inserts.accesses * per_key,
        accesses_miss: miss.accesses,
        overflow_fraction: filled.overflow.mean * per_key,
        overflow_deviation: filled.overflow.variance.sqrt() * per_key,
        overflow_most: filled.overflow.most * per_key,
        ..Prediction::default()
    })
}

pub(crate) fn predict(
    model: &mut BlockModel,
    keys: f64,
    blocks: &[u64],
    budget: Option<f64>,
) -> Prediction {
    let mut filled = fill(model, keys, blocks);
    let mut placed_keys = keys;
    let mut budget_spent = 0.0;
    let mut budget_variance = 0.0;
    if let Some(budget) = budget {
        // Levels add up: the variance of an insert's accesses is that of a short geometric walk.
        let mean = filled.spent / keys.max(1.0);
        let variance = keys * mean * (mean - 1.0).max(0.0);
        budget_spent = super::shared_table::chance_spent(filled.spent, budget, variance);
        if filled.spent > budget {
            budget_variance = variance;
            let cell = core::cell::RefCell::new(&mut *model);
            placed_keys = root::increasing(0.0, keys, |keys| {
                fill(&mut cell.borrow_mut(), keys, blocks).spent - budget
            });
            filled = fill(model, placed_keys, blocks);
        }
    }
    let late = Late::of(&filled.levels);
    let late_keys = keys - placed_keys;
    let mut walking = late_keys;
    for (level, &blocks) in filled.levels.iter_mut().zip(blocks) {
        level.set_hints(model.hints(), walking / blocks as f64);
        walking *= level.meeting.rejected;
    }
    let miss = Miss::through(&filled.levels);
    let per_key = 1.0 / keys.max(1.0);
    let late_overflow = late_keys * (1.0 - late.present);
    let overflow = ((filled.overflow.mean + late_overflow) * per_key).min(1.0);
    let probes = |walks: &Walks| ((walks.walking + late_overflow) * per_key).min(1.0);
    let accesses_check = late_keys * late.accesses * per_key;
    Prediction {
        rate: miss.found.min(1.0),
        rate_deviation: deviation(&filled.levels, blocks),
        accesses_insert: filled.inserts.accesses * per_key,
        accesses_check,
        accesses_hit: filled.hits.accesses * per_key + accesses_check,
        accesses_miss: miss.accesses,
        overflow_probes_insert: probes(&filled.inserts),
        overflow_probes_hit: probes(&filled.hits),
        overflow_probes_miss: miss.walks_off
            + budget_spent * (1.0 - miss.found - miss.walks_off).max(0.0),
        overflow_fraction: overflow,
        // With a spent budget every excess access makes a key overflow.
        overflow_deviation: (filled.overflow.variance + budget_variance).sqrt() * per_key,
        overflow_most: (filled.overflow.most + late_overflow + FAR * budget_variance.sqrt())
            * per_key,
        stored_fraction: if keys > 0.0 {
            ((filled.stored + filled.overflow.mean + late_overflow) * per_key).min(1.0)
        } else {
            1.0
        },
        budget_spent,
        goes_on: filled.levels.iter().map(|level| level.meeting.goes_on).collect(),
        load_distributions: filled.arrivals.iter().map(|arrivals| model.loads(arrivals)).collect(),
    }
}

fn fill(model: &mut BlockModel, keys: f64, blocks: &[u64]) -> Filled {
    let mut filled = Filled::new(keys, FAR);
    for &blocks in blocks {
        filled.add_level(model, blocks as f64);
    }
    filled.spent += blocks.len() as f64 * filled.overflow.mean;
    filled
}

impl Filled {
    fn new(keys: f64, distance: f64) -> Self {
        Self {
            levels: Vec::new(),
            arrivals: Vec::new(),
            overflow: Flow::of(keys, distance),
            spent: 0.0,
            inserts: Walks { accesses: 0.0, walking: keys },
            hits: Walks { accesses: 0.0, walking: keys },
            stored: 0.0,
        }
    }

    /// The keys that overflow so far arrive at one more level.
    fn add_level(&mut self, model: &mut BlockModel, blocks: f64) {
        let arriving = self.overflow.mean;
        // The first level's arrivals are the number of keys; later levels' are random.
        let arrivals = match self.levels.len() {
            0 => Arrivals::spread(arriving, blocks),
            _ => Arrivals::poisson(arriving / blocks),
        };
        let level = model.mix(&arrivals);
        let stored = level.stored * blocks;
        self.stored += stored;
        self.spent += (self.levels.len() + 1) as f64 * stored;
        let spread = level.spread_of(0.0, 0.0, 1.0);
        let usual = SentOn::new(level.sent_on, spread.variance, model.free(&level)).times(blocks);
        let next = self.overflow.through(blocks, usual, spread.slope, |arriving| {
            model.sent_on(&Arrivals::poisson(arriving / blocks)).times(blocks)
        });
        // Keys that match an earlier one repeat its walk.
        let varied = if level.sent_on > 0.0 { next.mean / level.sent_on } else { blocks };
        let per_arrival = if arriving > 0.0 { varied / arriving } else { 0.0 };
        self.inserts.pass(per_arrival * level.rejected_before);
        self.hits.pass(per_arrival * level.sent_on_arrivals);
        self.overflow = next;
        self.levels.push(level);
        self.arrivals.push(arrivals);
    }
}

/// The insert of a new key once the budget is spent: it still walks, by the loads, to check whether the key is
/// present, and sets its hints.
struct Late {
    present: f64,
    rejected: f64,
    accesses: f64,
}

impl Late {
    fn of(levels: &[Mixture]) -> Self {
        let start = Self { present: 0.0, rejected: 1.0, accesses: 0.0 };
        levels.iter().fold(start, |walk, level| Self {
            present: walk.present + walk.rejected * level.meeting.present,
            accesses: walk.accesses + walk.rejected,
            rejected: walk.rejected * level.meeting.rejected,
        })
    }
}

/// A block contributes to the rate by matching absent keys, by sending them on to blocks that match, and by
/// sending keys on to later blocks. Each level adds the variance of its contribution; the variance from the
/// number of arrivals belongs to the level before, and the sum of the first level's arrivals is fixed.
fn deviation(levels: &[Mixture], blocks: &[u64]) -> f64 {
    let reached: Vec<f64> = levels
        .iter()
        .scan(1.0, |reached, level| {
            let here = *reached;
            *reached *= level.meeting.goes_on;
            Some(here)
        })
        .collect();
    let (mut variance, mut by_key_sent_on) = (0.0, 0.0);
    for (index, (level, &blocks)) in levels.iter().zip(blocks).enumerate().rev() {
        let found_later = Miss::through(&levels[index + 1..]).found;
        let of_block = reached[index] / blocks as f64;
        let spread = level.spread_of(of_block, of_block * found_later, by_key_sent_on);
        variance += blocks as f64 * spread.variance;
        by_key_sent_on = spread.slope;
    }
    variance.sqrt()
}
