//! The part of a prediction by which a search compares subtables.

use super::Prediction;
use super::arrivals;
use super::block_history::BlockHistory;
use super::subtables::sent_on;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Outline {
    pub(crate) rate: f64,
    pub(crate) accesses_miss: f64,
    pub(crate) accesses_insert: f64,
    /// Mean and deviation of the number of keys in the overflow list.
    pub(crate) overflow: f64,
    pub(crate) overflow_deviation: f64,
}

impl Outline {
    /// Subtables of these sizes; `None` if the blocks of one are to receive more than `most` keys on average. The same
    /// as [`super::subtables::predict`], where each step is explained.
    pub(crate) fn of(
        history: &mut BlockHistory,
        keys: f64,
        sizes: &[u64],
        most: f64,
    ) -> Option<Self> {
        let mut outline = Self { overflow: keys, ..Self::default() };
        let mut variance = 0.0;
        let (mut free, mut following, mut walking) = (1.0, 0.0, 1.0);
        for (level, &blocks) in sizes.iter().enumerate() {
            let (arriving, blocks) = (outline.overflow, blocks as f64);
            let load = arriving / blocks;
            if load > most {
                return None;
            }
            let weights = match level {
                0 => arrivals::spread(arriving, blocks),
                _ => arrivals::poisson(load),
            };
            let [found, further_on, goes_on, rejected, arrivals, entries, squared, of_arrivals] =
                history.brief(&weights);
            outline.rate += free * found;
            outline.accesses_miss += free + following;
            outline.accesses_insert += walking;
            let passed = if load > 0.0 { arrivals / load } else { 0.0 };
            following = free * further_on + following * passed;
            free *= goes_on;
            let of_load = if level == 0 { load * (1.0 - 1.0 / blocks) } else { load };
            let covariance = of_arrivals - load * entries;
            let slope = if of_load > 0.0 { covariance / of_load } else { 0.0 };
            let own = (squared - entries * entries - slope * covariance).max(0.0);
            let arrived = (arriving, variance);
            let (next, varied) = sent_on(history, &weights, (entries, slope), arrived, blocks);
            if entries > 0.0 {
                walking *= next / entries * rejected / arriving;
            }
            variance = blocks * own + varied;
            outline.overflow = next;
        }
        outline.rate = outline.rate.min(1.0);
        outline.overflow_deviation = variance.sqrt();
        Some(outline)
    }

    /// The same for `keys` keys, without the rest of a prediction.
    pub(crate) fn prediction(&self, keys: u64) -> Prediction {
        let keys = keys.max(1) as f64;
        Prediction {
            rate: self.rate,
            accesses_miss: self.accesses_miss,
            accesses_insert: self.accesses_insert,
            overflow_fraction: self.overflow / keys,
            overflow_deviation: self.overflow_deviation / keys,
            ..Prediction::default()
        }
    }
}
