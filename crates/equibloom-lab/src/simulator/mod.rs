//! Placement without any bits, from the schemes' definitions.
//!
//! An element is a few random numbers, a bucket is its load. Nothing is shared with the library: not
//! the hash, not the walk over candidates, not the way a load is kept. Loads are 16 bits wide, so that
//! the tables of the papers stay in the cache, and a hundred million elements take a few seconds.
//!
//! Like the papers, and unlike the library's filters, the simulator places every element, also one that
//! a filter would take for present, and balances by elements, not by set bits.

mod classical;
mod cuckoo;
mod lookups;
mod offline;
mod random;

pub use classical::share_of_set_bits;
pub use cuckoo::{Cuckoo, random_graph};
pub use lookups::{Buckets, Lookups, look_up};
pub use offline::offline_bound;
pub use random::{seed_of, words};

use random::Random;

/// A table to fill.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Number of buckets.
    pub buckets: u64,
    /// Where elements go.
    pub placement: Placement,
}

/// The schemes of the papers.
#[derive(Debug, Clone, PartialEq)]
pub enum Placement {
    /// SINGLE, SEQUENTIAL and MHT: the first bucket that holds fewer than `threshold` elements, or
    /// exactly so many if a coin agrees.
    FirstWithRoom {
        /// The papers' h.
        threshold: u32,
        /// The papers' p.
        probability: f64,
        /// Which buckets an element may go to.
        tables: Tables,
        /// Bucket accesses in all, after which elements go to the overflow list unseen.
        access_budget: Option<u64>,
    },
    /// Power of 1 + α: the less loaded of two buckets for a share of the elements, any for the rest.
    LessLoaded {
        /// The papers' α: 0 is the blocked filter, 1 power of two.
        second_choice: f64,
    },
}

/// Which buckets an element may go to.
#[derive(Debug, Clone, PartialEq)]
pub enum Tables {
    /// So many, anywhere.
    Shared {
        /// The papers' d.
        choices: u32,
    },
    /// One in each subtable of these sizes.
    Subtables(Vec<u64>),
}

/// A table at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Elements that have come.
    pub elements: u64,
    /// For each subtable (or the one table), the number of buckets at each load.
    pub loads: Vec<Vec<u64>>,
    /// Bucket accesses of all inserts so far.
    pub accesses: u64,
    /// Bucket accesses that finding each element once would take, without those that came late.
    pub accesses_to_find: u64,
    /// Elements in the overflow list, late ones included.
    pub overflow: u64,
    /// Elements that came when the access budget was spent.
    pub late: u64,
}

impl Snapshot {
    /// The share of buckets at each load, subtable by subtable.
    pub fn shares(&self) -> Vec<Vec<f64>> {
        let share = |table: &Vec<u64>| {
            let buckets = table.iter().sum::<u64>() as f64;
            table.iter().map(|&count| count as f64 / buckets).collect()
        };
        self.loads.iter().map(share).collect()
    }

    /// The number of buckets at each load, over all subtables.
    pub fn all_loads(&self) -> Vec<u64> {
        let longest = self.loads.iter().map(Vec::len).max().unwrap_or(0);
        (0..longest)
            .map(|load| self.loads.iter().filter_map(|table| table.get(load)).sum())
            .collect()
    }
}

/// Fills a table and looks at it whenever so many elements have come (`moments`, increasing).
pub fn fill(setting: &Setting, moments: &[u64], seed: u64) -> Vec<Snapshot> {
    let mut table = Table::new(setting, seed);
    let mut come = 0;
    let look = |&moment: &u64| {
        table.insert(moment.saturating_sub(come));
        come = come.max(moment);
        table.snapshot(come)
    };
    moments.iter().map(look).collect()
}

/// Buckets `offset .. offset + size`.
#[derive(Clone, Copy)]
struct Level {
    offset: u64,
    size: u64,
}

struct Table<'a> {
    placement: &'a Placement,
    /// The levels an element tries, in order.
    levels: Vec<Level>,
    /// The distinct ones among them.
    subtables: Vec<Level>,
    loads: Vec<u16>,
    random: Random,
    accesses: u64,
    accesses_to_find: u64,
    overflow: u64,
    late: u64,
}

impl<'a> Table<'a> {
    fn new(setting: &'a Setting, seed: u64) -> Self {
        let whole = Level { offset: 0, size: setting.buckets };
        let subtables = match &setting.placement {
            Placement::FirstWithRoom { tables: Tables::Subtables(sizes), .. } => {
                let ends = sizes.iter().scan(0, |end, &size| {
                    *end += size;
                    Some(Level { offset: *end - size, size })
                });
                ends.collect()
            }
            _ => vec![whole],
        };
        let levels = match &setting.placement {
            Placement::FirstWithRoom { tables: Tables::Shared { choices }, .. } => {
                vec![whole; *choices as usize]
            }
            _ => subtables.clone(),
        };
        Self {
            placement: &setting.placement,
            levels,
            subtables,
            loads: vec![0; setting.buckets as usize],
            random: Random::new(seed),
            accesses: 0,
            accesses_to_find: 0,
            overflow: 0,
            late: 0,
        }
    }

    fn insert(&mut self, elements: u64) {
        match *self.placement {
            Placement::LessLoaded { second_choice } => {
                self.insert_less_loaded(elements, second_choice)
            }
            Placement::FirstWithRoom { threshold, probability, access_budget, .. } => {
                let budget = access_budget.unwrap_or(u64::MAX);
                self.insert_first_with_room(elements, threshold as u16, probability, budget);
            }
        }
    }

    fn insert_less_loaded(&mut self, elements: u64, second_choice: f64) {
        let buckets = self.loads.len() as u64;
        for _ in 0..elements {
            let mut bucket = self.random.below(buckets) as usize;
            self.accesses += 1;
            self.accesses_to_find += 1;
            if self.random.coin(second_choice) {
                let other = self.random.below(buckets) as usize;
                self.accesses += 1;
                let (here, there) = (self.loads[bucket], self.loads[other]);
                if there < here || (there == here && self.random.coin(0.5)) {
                    bucket = other;
                    self.accesses_to_find += 1;
                }
            }
            self.loads[bucket] += 1;
        }
    }

    fn insert_first_with_room(&mut self, elements: u64, threshold: u16, p: f64, budget: u64) {
        let before = self.accesses;
        let (mut come, mut placed) = (0, 0);
        while come < elements && self.accesses < budget {
            come += 1;
            for level in &self.levels {
                let bucket = (level.offset + self.random.below(level.size)) as usize;
                self.accesses += 1;
                let load = self.loads[bucket];
                if load < threshold || (load == threshold && self.random.coin(p)) {
                    self.loads[bucket] += 1;
                    placed += 1;
                    break;
                }
            }
        }
        // A lookup repeats the walk of the insert, because loads never go down.
        self.accesses_to_find += self.accesses - before;
        self.overflow += elements - placed;
        self.late += elements - come;
    }

    fn snapshot(&self, elements: u64) -> Snapshot {
        let count = |level: &Level| {
            let mut counts = Vec::new();
            for &load in &self.loads[level.offset as usize..(level.offset + level.size) as usize] {
                let load = usize::from(load);
                if counts.len() <= load {
                    counts.resize(load + 1, 0);
                }
                counts[load] += 1;
            }
            counts
        };
        Snapshot {
            elements,
            loads: self.subtables.iter().map(count).collect(),
            accesses: self.accesses,
            accesses_to_find: self.accesses_to_find,
            overflow: self.overflow,
            late: self.late,
        }
    }
}
