//! Buckets that remember rejected elements: how far lookups read in the tables.
//!
//! An element belongs to one of a few classes. A bucket that rejects it remembers the class; a lookup reads on
//! where its key's class was rejected.

use core::ops::Range;

use equibloom_layout::{Candidates, Rule};

use super::random::Random;
use super::ranges;

/// A table with such buckets.
#[derive(Debug, Clone, PartialEq)]
pub struct Buckets {
    /// The candidates of an element.
    pub candidates: Candidates,
    /// The rule that selects one.
    pub rule: Rule,
    /// Capacity of a bucket.
    pub slots: u32,
    /// Number of classes, at most 64.
    pub classes: u64,
}

/// Mean buckets read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lookups {
    /// Of the lookup of an element.
    pub hit: f64,
    /// Of the lookup of an absent key.
    pub miss: f64,
}

/// Fills the buckets; after each number of elements in `moments`, which increase, looks up all of them, and
/// `misses` absent keys.
pub fn look_up(buckets: &Buckets, moments: &[u64], misses: u64, seed: u64) -> Vec<Lookups> {
    let count = buckets.candidates.blocks() as usize;
    let mut state = State {
        buckets,
        ranges: ranges(&buckets.candidates),
        loads: vec![0; count],
        rejected: vec![0; count],
        random: Random::new(seed),
    };
    let (mut inserted, mut read) = (0, 0);
    let after = |&moment: &u64| {
        while inserted < moment {
            read += state.insert();
            inserted += 1;
        }
        let missed: u64 = (0..misses).map(|_| state.miss()).sum();
        Lookups { hit: read as f64 / inserted as f64, miss: missed as f64 / misses as f64 }
    };
    moments.iter().map(after).collect()
}

struct State<'a> {
    buckets: &'a Buckets,
    ranges: Vec<Range<u64>>,
    loads: Vec<u32>,
    /// The classes that each bucket rejected, one bit each.
    rejected: Vec<u64>,
    random: Random,
}

impl State<'_> {
    /// The buckets of a key in the order they are tried, and its class.
    fn draw(&mut self) -> (Vec<usize>, u64) {
        let share = self.buckets.candidates.proportions().share().get();
        let choices = if self.random.coin(share) { self.ranges.len() } else { 1 };
        let candidates =
            self.ranges[..choices].iter().map(|range| self.random.within(range)).collect();
        (candidates, 1 << self.random.below(self.buckets.classes))
    }

    /// Places an element; returns the number of buckets that finding it takes.
    fn insert(&mut self) -> u64 {
        let (candidates, class) = self.draw();
        let place = match self.buckets.rule {
            Rule::FirstWithRoom { below, coin } => candidates.iter().position(|&bucket| {
                let load = self.loads[bucket];
                load < below || (load == below && self.random.coin(coin.get()))
            }),
            // Elements without a fingerprint have no largest.
            Rule::LeastLoaded | Rule::KeepLargest => {
                let least = (0..candidates.len()).min_by_key(|&at| self.loads[candidates[at]]);
                least.filter(|&at| self.loads[candidates[at]] < self.buckets.slots)
            }
        };
        for &bucket in &candidates[..place.unwrap_or(candidates.len())] {
            self.rejected[bucket] |= class;
        }
        if let Some(place) = place {
            self.loads[candidates[place]] += 1;
        }
        place.map_or(candidates.len(), |place| place + 1) as u64
    }

    /// Looks up an absent key; returns the number of buckets read.
    fn miss(&mut self) -> u64 {
        let (candidates, class) = self.draw();
        let last = candidates.iter().position(|&bucket| self.rejected[bucket] & class == 0);
        last.map_or(candidates.len(), |last| last + 1) as u64
    }
}
