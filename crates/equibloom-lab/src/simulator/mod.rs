//! Simulates the schemes by their definitions, without any bits.
//!
//! An element is a few random numbers, a bucket is its load. Candidates and rule are the library's data types;
//! no code is shared: not the hash, not the walk over candidates, not the representation of a load. Loads are
//! 16 bits wide, so that the papers' tables stay in the cache, and a hundred million elements take a few
//! seconds.
//!
//! Like the papers, and unlike the library's filters, the simulator places every element, even one that a
//! filter would find present, and balances by elements, not by set bits.

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

use core::cmp::Ordering;
use core::ops::Range;

use equibloom_layout::{Candidates, Rule};

use random::Random;

/// For each candidate of an element, the buckets that it is drawn from.
fn ranges(candidates: &Candidates) -> Vec<Range<u64>> {
    match candidates {
        Candidates::Anywhere { blocks, choices, .. } => vec![0..*blocks; *choices as usize],
        Candidates::Subtables { sizes } => {
            let ends = sizes.iter().scan(0, |end, &size| {
                *end += size;
                Some(*end - size..*end)
            });
            ends.collect()
        }
    }
}

/// A table at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Elements inserted.
    pub elements: u64,
    /// For each subtable (or the one table), the number of buckets at each load.
    pub loads: Vec<Vec<u64>>,
    /// Bucket accesses of all inserts so far.
    pub accesses: u64,
    /// Bucket accesses of looking up each element once, late ones excepted.
    pub accesses_to_find: u64,
    /// Elements in the overflow list, late ones included.
    pub overflow: u64,
    /// Elements inserted after the access budget was spent.
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

/// Fills a table and takes a snapshot after each number of elements in `moments`, which increase.
///
/// Every candidate that an insert reads counts against the `budget`; once it is spent, elements go to the
/// overflow list without an access.
pub fn fill(
    candidates: &Candidates,
    rule: Rule,
    budget: Option<u64>,
    moments: &[u64],
    seed: u64,
) -> Vec<Snapshot> {
    let mut table = Table {
        ranges: ranges(candidates),
        share: candidates.proportions().share().get(),
        loads: vec![0; candidates.blocks() as usize],
        random: Random::new(seed),
        accesses: 0,
        accesses_to_find: 0,
        overflow: 0,
        late: 0,
    };
    let mut inserted = 0;
    let after = |&moment: &u64| {
        let elements = moment.saturating_sub(inserted);
        match rule {
            // Elements without a fingerprint have no largest.
            Rule::LeastLoaded | Rule::KeepLargest => table.insert_least_loaded(elements),
            Rule::FirstWithRoom { below, coin } => {
                let budget = budget.unwrap_or(u64::MAX);
                table.insert_first_with_room(elements, below as u16, coin.get(), budget);
            }
        }
        inserted = inserted.max(moment);
        table.snapshot(inserted)
    };
    moments.iter().map(after).collect()
}

struct Table {
    /// The buckets that each candidate is drawn from: the same range, or disjoint ones (subtables).
    ranges: Vec<Range<u64>>,
    /// Share of the elements that have more than the first candidate.
    share: f64,
    loads: Vec<u16>,
    random: Random,
    accesses: u64,
    accesses_to_find: u64,
    overflow: u64,
    late: u64,
}

impl Table {
    /// Ties between equally loaded buckets are broken at random.
    fn insert_least_loaded(&mut self, elements: u64) {
        for _ in 0..elements {
            let mut bucket = self.random.within(&self.ranges[0]);
            let (mut place, mut reads, mut equals) = (1, 1, 1.0);
            if self.ranges.len() > 1 && self.random.coin(self.share) {
                for range in &self.ranges[1..] {
                    let other = self.random.within(range);
                    reads += 1;
                    let is_better = match self.loads[other].cmp(&self.loads[bucket]) {
                        Ordering::Less => {
                            equals = 1.0;
                            true
                        }
                        Ordering::Equal => {
                            equals += 1.0;
                            self.random.coin(1.0 / equals)
                        }
                        Ordering::Greater => false,
                    };
                    if is_better {
                        (bucket, place) = (other, reads);
                    }
                }
            }
            self.loads[bucket] += 1;
            self.accesses += reads;
            self.accesses_to_find += place;
        }
    }

    fn insert_first_with_room(&mut self, elements: u64, below: u16, coin: f64, budget: u64) {
        let before = self.accesses;
        let (mut tried, mut placed) = (0, 0);
        while tried < elements && self.accesses < budget {
            tried += 1;
            for range in &self.ranges {
                let bucket = self.random.within(range);
                self.accesses += 1;
                let load = self.loads[bucket];
                if load < below || (load == below && self.random.coin(coin)) {
                    self.loads[bucket] += 1;
                    placed += 1;
                    break;
                }
            }
        }
        // A lookup repeats the walk of the insert, because loads never decrease.
        self.accesses_to_find += self.accesses - before;
        self.overflow += elements - placed;
        self.late += elements - tried;
    }

    fn snapshot(&self, elements: u64) -> Snapshot {
        let count = |range: &Range<u64>| {
            let mut counts = Vec::new();
            for &load in &self.loads[range.start as usize..range.end as usize] {
                let load = usize::from(load);
                if counts.len() <= load {
                    counts.resize(load + 1, 0);
                }
                counts[load] += 1;
            }
            counts
        };
        let mut tables = self.ranges.clone();
        tables.dedup();
        Snapshot {
            elements,
            loads: tables.iter().map(count).collect(),
            accesses: self.accesses,
            accesses_to_find: self.accesses_to_find,
            overflow: self.overflow,
            late: self.late,
        }
    }
}
