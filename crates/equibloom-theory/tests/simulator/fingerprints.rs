//! A simulator of fingerprint blocks, as simple as possible: lists of numbers, one key after another.

use std::collections::HashSet;

use equibloom_layout::{Blocks, Layout};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::simulator::{Measured, fill, levels};

pub(crate) struct FingerprintFilter<'a> {
    layout: &'a Layout,
    keys: u64,
    slots: usize,
    seed: u64,
    /// (offset, size) of every candidate.
    levels: Vec<(u64, u64)>,
    fingerprints: u64,
    stored: Vec<Vec<u64>>,
    marks: Vec<u64>,
    overflow: HashSet<u64>,
    overflowed: u64,
    spent: u64,
    budget_spent: bool,
}

/// One probe: a block, its hint for the key, and the word that selects the next block.
struct Stop {
    block: usize,
    class: u32,
    onward: u64,
}

enum End {
    Present,
    Room(usize),
    Nowhere,
}

/// A hash of numbers (splitmix64's finaliser).
fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

impl<'a> FingerprintFilter<'a> {
    pub(crate) fn new(layout: &'a Layout, keys: u64, seed: u64) -> Self {
        let Blocks::Fingerprint { slots, lists, remainder_bits, .. } = layout.blocks else {
            panic!("no fingerprints: {layout:?}");
        };
        let count = layout.candidates.blocks() as usize;
        Self {
            layout,
            keys,
            slots: slots as usize,
            seed,
            levels: levels(&layout.candidates),
            fingerprints: u64::from(lists) << remainder_bits,
            stored: vec![Vec::new(); count],
            marks: vec![0; count],
            overflow: HashSet::new(),
            overflowed: 0,
            spent: 0,
            budget_spent: false,
        }
    }

    /// First block and fingerprint.
    fn key(&self, index: u64) -> (u64, u64) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(mixed(self.seed) ^ mixed(index + 1));
        (rng.random_range(0..self.levels[0].1), rng.random_range(0..self.fingerprints))
    }

    /// All probes of a key, a function of its first block and its fingerprint.
    fn way(&self, (first, fingerprint): (u64, u64)) -> Vec<Stop> {
        let mut block = self.levels[0].0 + first;
        let mut stops = Vec::new();
        for probe in 0..self.levels.len() {
            let onward = mixed(
                mixed(block ^ mixed(self.seed))
                    .wrapping_add(fingerprint)
                    .wrapping_mul(0x9E37_79B9_7F4A_7C15),
            );
            let class = (u64::from(onward as u32) * u64::from(self.layout.blocks.hints())) >> 32;
            stops.push(Stop { block: block as usize, class: class as u32, onward });
            if let Some((offset, size)) = self.levels.get(probe + 1) {
                block = offset + ((u128::from(onward) * u128::from(*size)) >> 64) as u64;
            }
        }
        stops
    }

    fn is_full(&self, block: usize) -> bool {
        self.stored[block].len() >= self.slots
    }

    fn insert(&mut self, index: u64) -> (u64, u64, bool) {
        let key = self.key(index);
        let way = self.way(key);
        let end = way.iter().enumerate().find_map(|(probe, stop)| {
            let present = !self.layout.multiset && self.stored[stop.block].contains(&key.1);
            let room = !self.is_full(stop.block);
            if present {
                Some((probe, End::Present))
            } else {
                room.then_some((probe, End::Room(stop.block)))
            }
        });
        let (turned_away, accesses) =
            end.as_ref().map_or((way.len(), way.len()), |(probe, _)| (*probe, probe + 1));
        for stop in &way[..turned_away] {
            self.mark(stop);
        }
        let accesses = accesses as u64;
        let end = end.map_or(End::Nowhere, |(_, end)| end);
        if matches!(end, End::Present) {
            return (accesses, 0, false);
        }
        let entry = way[way.len() - 1].onward;
        let to_overflow = self.budget_spent || matches!(end, End::Nowhere);
        if to_overflow && !self.layout.multiset && self.overflow.contains(&entry) {
            return (accesses, 1, false);
        }
        if !self.budget_spent {
            self.spent += accesses;
            self.budget_spent = self.layout.budget.is_some_and(|budget| self.spent >= budget);
        }
        match end {
            End::Room(block) if !to_overflow => {
                self.stored[block].push(key.1);
                (accesses, 0, true)
            }
            _ => {
                self.overflow.insert(entry);
                self.overflowed += 1;
                (accesses, 1, true)
            }
        }
    }

    fn mark(&mut self, stop: &Stop) {
        if self.layout.blocks.hints() > 0 {
            self.marks[stop.block] |= 1 << stop.class;
        }
    }

    /// Whether a key is apparently present, the blocks read and the probes of the overflow list.
    fn look_up(&self, key: (u64, u64)) -> (bool, u64, u64) {
        let way = self.way(key);
        for (probe, stop) in way.iter().enumerate() {
            let accesses = probe as u64 + 1;
            if self.stored[stop.block].contains(&key.1) {
                return (true, accesses, 0);
            }
            let goes_on = if self.layout.blocks.hints() > 0 {
                self.marks[stop.block] >> stop.class & 1 == 1
            } else {
                self.is_full(stop.block)
            };
            if !goes_on {
                let probes = u64::from(self.budget_spent);
                let found = self.budget_spent && self.overflow.contains(&way[way.len() - 1].onward);
                return (found, accesses, probes);
            }
        }
        (self.overflow.contains(&way[way.len() - 1].onward), way.len() as u64, 1)
    }

    /// Fills the filter and measures it; for misses every block and fingerprint is looked up.
    pub(crate) fn run(mut self) -> Measured {
        let keys = self.keys;
        let (accesses, probes, stored) = fill(keys, |index| self.insert(index));
        let (mut hit_accesses, mut hit_probes) = (0, 0);
        for index in 0..keys {
            let (found, a, p) = self.look_up(self.key(index));
            assert!(found, "{index} was lost");
            hit_accesses += a;
            hit_probes += p;
        }
        let (mut positives, mut miss_accesses, mut miss_probes) = (0_u64, 0, 0);
        for first in 0..self.levels[0].1 {
            for fingerprint in 0..self.fingerprints {
                let (found, a, p) = self.look_up((first, fingerprint));
                positives += u64::from(found);
                miss_accesses += a;
                miss_probes += p;
            }
        }
        let per_key = |sum: u64| sum as f64 / keys as f64;
        let per_miss = |sum: u64| sum as f64 / (self.levels[0].1 * self.fingerprints) as f64;
        let mut levels = self.levels.clone();
        levels.dedup();
        let load_distributions: Vec<Vec<f64>> = levels
            .iter()
            .map(|&(offset, size)| {
                let mut counts = vec![0.0; 1 + self.slots];
                for block in &self.stored[offset as usize..(offset + size) as usize] {
                    counts[block.len()] += 1.0 / size as f64;
                }
                counts
            })
            .collect();
        Measured {
            rate: per_miss(positives),
            accesses_insert: per_key(accesses),
            accesses_hit: per_key(hit_accesses),
            accesses_miss: per_miss(miss_accesses),
            overflow_probes_insert: per_key(probes),
            overflow_probes_hit: per_key(hit_probes),
            overflow_probes_miss: per_miss(miss_probes),
            overflow_fraction: per_key(self.overflowed),
            stored_fraction: per_key(stored),
            mean_loads: load_distributions
                .iter()
                .map(|loads| {
                    loads.iter().enumerate().map(|(load, share)| load as f64 * share).sum()
                })
                .collect(),
            load_distributions,
        }
    }
}
