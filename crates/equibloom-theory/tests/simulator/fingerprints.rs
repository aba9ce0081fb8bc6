//! A simulator of fingerprint blocks from their definition, as simple as possible: sorted lists of entries, one key
//! after another.

use std::collections::HashSet;

use equibloom_layout::{Blocks, KeyHash, Layout, scale};

use crate::simulator::{Measured, fill, levels};

/// An entry's rank in its block: byte, list, remaining bits of the remainder.
type Entry = (u64, u64, u64);

#[derive(Default, Clone)]
struct Block {
    /// In rising order.
    stored: Vec<Entry>,
    /// All that was sent on. A lookup does not see it.
    sent_on: HashSet<Entry>,
    watermark: u64,
}

pub(crate) struct FingerprintFilter {
    multiset: bool,
    keys: u64,
    slots: usize,
    lists: u64,
    remainder_bits: u32,
    seed: u64,
    /// (offset, size) of every subtable.
    levels: Vec<(u64, u64)>,
    blocks: Vec<Block>,
    /// The overflow list, in the order of arrival.
    list: Vec<u64>,
    listed: HashSet<u64>,
}

impl FingerprintFilter {
    pub(crate) fn new(layout: &Layout, keys: u64, seed: u64) -> Self {
        let Blocks::Fingerprint { slots, lists, remainder_bits } = layout.blocks else {
            panic!("no fingerprints: {layout:?}");
        };
        Self {
            multiset: layout.multiset,
            keys,
            slots: slots as usize,
            lists: lists.into(),
            remainder_bits,
            seed,
            levels: levels(&layout.candidates),
            blocks: vec![Block::default(); layout.candidates.blocks() as usize],
            list: Vec::new(),
            listed: HashSet::new(),
        }
    }

    fn hash(&self, index: u64) -> KeyHash {
        KeyHash::from_u64((self.seed << 40) + index)
    }

    fn bytes(&self) -> u64 {
        1 << self.remainder_bits.min(8)
    }

    /// Values of an entry beside its byte.
    fn high_values(&self) -> u64 {
        1 << self.remainder_bits.saturating_sub(8)
    }

    /// Block and entry of a hash in a subtable.
    fn place(&self, level: usize, hash: KeyHash) -> (usize, Entry) {
        let (offset, size) = self.levels[level];
        let block = offset + scale(hash.candidate(0), size);
        let (byte, high) =
            (hash.candidate(0) % self.bytes(), hash.pattern_word(0) % self.high_values());
        (block as usize, (byte, scale(hash.pattern_word(0), self.lists), high))
    }

    fn onward(block: usize, (byte, list, high): Entry) -> KeyHash {
        KeyHash::onward(block as u64, list << 56 | high << 8 | byte)
    }

    /// Blocks touched, probes of the overflow list, and whether something new is stored.
    pub(crate) fn insert(&mut self, mut hash: KeyHash) -> (u64, u64, bool) {
        for level in 0..self.levels.len() {
            let (number, entry) = self.place(level, hash);
            let touched = level as u64 + 1;
            let block = &mut self.blocks[number];
            let place = block.stored.partition_point(|&stored| stored < entry);
            if !self.multiset && block.stored.get(place) == Some(&entry) {
                return (touched, 0, false);
            }
            block.stored.insert(place, entry);
            if block.stored.len() <= self.slots {
                return (touched, 0, true);
            }
            let smallest = block.stored.remove(0);
            block.watermark = block.watermark.max(smallest.0);
            block.sent_on.insert(smallest);
            hash = Self::onward(number, smallest);
        }
        let new = self.listed.insert(hash.candidate(0)) || self.multiset;
        if new {
            self.list.push(hash.candidate(0));
        }
        (self.levels.len() as u64, 1, new)
    }

    /// Whether a lookup that does not find this entry in the block goes on.
    fn goes_on(&self, block: usize, entry: Entry) -> bool {
        let Block { stored, watermark, .. } = &self.blocks[block];
        entry.0 <= *watermark && (self.multiset || stored.len() == self.slots)
    }

    /// Whether a key is apparently present from this block on, the blocks read and the probes of the overflow list.
    fn look_up(&self, level: usize, (block, entry): (usize, Entry)) -> (bool, u64, u64) {
        if self.blocks[block].stored.binary_search(&entry).is_ok() {
            return (true, 1, 0);
        }
        if !self.goes_on(block, entry) {
            return (false, 1, 0);
        }
        let hash = Self::onward(block, entry);
        if level + 1 == self.levels.len() {
            return (self.listed.contains(&hash.candidate(0)), 1, 1);
        }
        let (found, accesses, probes) = self.look_up(level + 1, self.place(level + 1, hash));
        (found, accesses + 1, probes)
    }

    /// Removes one copy of a key that is present, from the first place where it is found.
    pub(crate) fn remove(&mut self, mut hash: KeyHash) {
        for level in 0..self.levels.len() {
            let (block, entry) = self.place(level, hash);
            if let Ok(place) = self.blocks[block].stored.binary_search(&entry) {
                self.blocks[block].stored.remove(place);
                return;
            }
            assert!(self.goes_on(block, entry), "a key was lost");
            hash = Self::onward(block, entry);
        }
        let place = self.list.iter().position(|&listed| listed == hash.candidate(0)).expect("lost");
        self.list.swap_remove(place);
        if !self.list.contains(&hash.candidate(0)) {
            self.listed.remove(&hash.candidate(0));
        }
    }

    /// Entries of the overflow list.
    pub(crate) fn listed(&self) -> usize {
        self.list.len()
    }

    /// Fills the filter and measures it; for misses every block and fingerprint is looked up.
    pub(crate) fn run(mut self) -> Measured {
        let keys = self.keys;
        let (accesses, probes, stored) = fill(keys, |index| self.insert(self.hash(index)));
        let (mut hit_accesses, mut hit_probes) = (0, 0);
        for index in 0..keys {
            let (found, a, p) = self.look_up(0, self.place(0, self.hash(index)));
            assert!(found, "{index} was lost");
            hit_accesses += a;
            hit_probes += p;
        }
        let (mut positives, mut miss_accesses, mut miss_probes) = (0_u64, 0, 0);
        let all_entries = || {
            let rest = (0..self.lists * self.high_values())
                .map(|rest| (rest % self.lists, rest / self.lists));
            rest.flat_map(|(list, high)| (0..self.bytes()).map(move |byte| (byte, list, high)))
        };
        for block in 0..self.levels[0].1 as usize {
            for entry in all_entries() {
                let (found, a, p) = self.look_up(0, (block, entry));
                positives += u64::from(found);
                miss_accesses += a;
                miss_probes += p;
            }
        }
        let fingerprints = self.bytes() * self.lists * self.high_values();
        let per_key = |sum: u64| sum as f64 / keys as f64;
        let per_miss = |sum: u64| sum as f64 / (self.levels[0].1 * fingerprints) as f64;
        let of_level =
            |&(offset, size): &(u64, u64)| &self.blocks[offset as usize..(offset + size) as usize];
        let load_distributions: Vec<Vec<f64>> = self
            .levels
            .iter()
            .map(|level| {
                let mut counts = vec![0.0; 1 + self.slots];
                for block in of_level(level) {
                    counts[block.stored.len()] += 1.0 / level.1 as f64;
                }
                counts
            })
            .collect();
        // Of the entries up to the watermark, those that never arrived.
        let goes_on = |block: &Block| {
            if !self.multiset && block.stored.len() < self.slots {
                return 0.0;
            }
            let stored: HashSet<&Entry> = block.stored.iter().collect();
            let arrived = stored
                .union(&block.sent_on.iter().collect())
                .filter(|entry| entry.0 <= block.watermark)
                .count();
            (block.watermark + 1) as f64 / self.bytes() as f64
                - arrived as f64 / fingerprints as f64
        };
        Measured {
            rate: per_miss(positives),
            accesses_insert: per_key(accesses),
            accesses_check: 0.0,
            accesses_hit: per_key(hit_accesses),
            accesses_miss: per_miss(miss_accesses),
            overflow_probes_insert: per_key(probes),
            overflow_probes_hit: per_key(hit_probes),
            overflow_probes_miss: per_miss(miss_probes),
            overflow_fraction: per_key(self.list.len() as u64),
            stored_fraction: per_key(stored),
            mean_loads: load_distributions
                .iter()
                .map(|loads| {
                    loads.iter().enumerate().map(|(load, share)| load as f64 * share).sum()
                })
                .collect(),
            load_distributions,
            goes_on: self
                .levels
                .iter()
                .map(|level| of_level(level).iter().map(goes_on).sum::<f64>() / level.1 as f64)
                .collect(),
        }
    }
}
