//! Buckets that count who passed them by: how far lookups read in the tables.
//!
//! An element belongs to one of a few classes. A bucket that it could have gone to, but did not, remembers the
//! class; a lookup reads on while the class of its key has passed by.

use super::random::Random;
use super::{Placement, Tables};

/// A table with such buckets.
#[derive(Debug, Clone, PartialEq)]
pub struct Buckets {
    /// How many.
    pub count: u64,
    /// Elements that one has room for.
    pub slots: u32,
    /// Classes that are told apart, at most 64.
    pub classes: u64,
    /// Where elements go.
    pub placement: Placement,
}

/// Mean buckets read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lookups {
    /// By a lookup of an element.
    pub hit: f64,
    /// By a lookup of something else.
    pub miss: f64,
}

/// Fills the buckets; when so many elements have come (`moments`, increasing) it looks them all up, and
/// `strangers` others.
pub fn look_up(buckets: &Buckets, moments: &[u64], strangers: u64, seed: u64) -> Vec<Lookups> {
    let mut state = State {
        buckets,
        loads: vec![0; buckets.count as usize],
        passed: vec![0; buckets.count as usize],
        random: Random::new(seed),
    };
    let (mut come, mut read) = (0, 0);
    let look = |&moment: &u64| {
        while come < moment {
            read += state.insert();
            come += 1;
        }
        let missed: u64 = (0..strangers).map(|_| state.miss()).sum();
        Lookups { hit: read as f64 / come as f64, miss: missed as f64 / strangers as f64 }
    };
    moments.iter().map(look).collect()
}

struct State<'a> {
    buckets: &'a Buckets,
    loads: Vec<u32>,
    /// The classes that passed each bucket, one bit each.
    passed: Vec<u64>,
    random: Random,
}

impl State<'_> {
    /// The buckets of an element or a stranger, in the order they are tried.
    fn candidates(&mut self) -> Vec<usize> {
        let all = self.buckets.count;
        match &self.buckets.placement {
            Placement::FirstWithRoom { tables: Tables::Shared { choices }, .. } => {
                (0..*choices).map(|_| self.random.below(all) as usize).collect()
            }
            Placement::FirstWithRoom { tables: Tables::Subtables(sizes), .. } => {
                let mut offset = 0;
                let draw = |&size: &u64| {
                    offset += size;
                    (offset - size + self.random.below(size)) as usize
                };
                sizes.iter().map(draw).collect()
            }
            Placement::LessLoaded { second_choice } => {
                let choices = 1 + u32::from(self.random.coin(*second_choice));
                (0..choices).map(|_| self.random.below(all) as usize).collect()
            }
        }
    }

    fn class(&mut self) -> u64 {
        1 << self.random.below(self.buckets.classes)
    }

    /// Places an element; the number of buckets that finding it takes.
    fn insert(&mut self) -> u64 {
        let (candidates, class) = (self.candidates(), self.class());
        let place = match self.buckets.placement {
            Placement::FirstWithRoom { threshold, probability, .. } => {
                candidates.iter().position(|&bucket| {
                    let load = self.loads[bucket];
                    load < threshold || (load == threshold && self.random.coin(probability))
                })
            }
            Placement::LessLoaded { .. } => {
                let least = (0..candidates.len()).min_by_key(|&at| self.loads[candidates[at]]);
                least.filter(|&at| self.loads[candidates[at]] < self.buckets.slots)
            }
        };
        for &bucket in &candidates[..place.unwrap_or(candidates.len())] {
            self.passed[bucket] |= class;
        }
        if let Some(place) = place {
            self.loads[candidates[place]] += 1;
        }
        place.map_or(candidates.len(), |place| place + 1) as u64
    }

    /// Looks up a stranger; the number of buckets read.
    fn miss(&mut self) -> u64 {
        let (candidates, class) = (self.candidates(), self.class());
        let last = candidates.iter().position(|&bucket| self.passed[bucket] & class == 0);
        last.map_or(candidates.len(), |last| last + 1) as u64
    }
}
