//! A simulator of filters, as simple as possible: real bits, real walks, one key after another.

pub(crate) mod comparison;

use equibloom_layout::{Candidates, Layout, Rule};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// All random choices that a key's hash determines.
struct Key {
    bits: Vec<u32>,
    candidates: Vec<usize>,
    coins: Vec<f64>,
    /// Its hint in each of the candidates.
    classes: Vec<u32>,
}

pub(crate) struct Measured {
    pub(crate) rate: f64,
    pub(crate) accesses_insert: f64,
    pub(crate) accesses_check: f64,
    pub(crate) accesses_hit: f64,
    pub(crate) accesses_miss: f64,
    pub(crate) overflow_probes_insert: f64,
    pub(crate) overflow_probes_hit: f64,
    pub(crate) overflow_probes_miss: f64,
    pub(crate) overflow_fraction: f64,
    pub(crate) stored_fraction: f64,
    pub(crate) mean_loads: Vec<f64>,
    pub(crate) load_distributions: Vec<Vec<f64>>,
    /// Per level, the share of absent keys that match nothing and go on; empty if not measured.
    pub(crate) goes_on: Vec<f64>,
}

pub(crate) struct Filter<'a> {
    layout: &'a Layout,
    keys: u64,
    seed: u64,
    /// (offset, size) of every level.
    levels: Vec<(u64, u64)>,
    blocks: Vec<Vec<u64>>,
    loads: Vec<u32>,
    /// Hint bits of the blocks.
    marks: Vec<u64>,
    overflow: std::collections::HashSet<u64>,
    spent: u64,
    budget_spent: bool,
    /// Accesses of checks after the budget was spent.
    checks: u64,
}

enum End {
    Present,
    /// The candidate of this index has room.
    Room(usize),
    Nowhere,
}

impl<'a> Filter<'a> {
    pub(crate) fn new(layout: &'a Layout, keys: u64, seed: u64) -> Self {
        let count = layout.candidates.blocks() as usize;
        Self {
            layout,
            keys,
            seed,
            levels: levels(&layout.candidates),
            blocks: vec![vec![0; layout.data_bits().div_ceil(64) as usize]; count],
            loads: vec![0; count],
            marks: vec![0; count],
            overflow: Default::default(),
            spent: 0,
            budget_spent: false,
            checks: 0,
        }
    }

    fn key(&self, index: u64) -> Key {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(
            self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
                ^ index.wrapping_mul(0xD1B5_4A32_D192_ED03),
        );
        rng.next_u64();
        let hashes = self.layout.blocks.hashes() as usize;
        let mut bits = Vec::with_capacity(hashes);
        while bits.len() < hashes {
            let bit = rng.random_range(0..self.layout.data_bits());
            if !bits.contains(&bit) {
                bits.push(bit);
            }
        }
        let mut candidates: Vec<usize> = self
            .levels
            .iter()
            .map(|&(offset, size)| (offset + rng.random_range(0..size)) as usize)
            .collect();
        let coins: Vec<f64> = self.levels.iter().map(|_| rng.random::<f64>()).collect();
        if coins[0] >= self.share() {
            candidates.truncate(1);
        }
        let classes =
            self.levels.iter().map(|_| rng.random_range(0..self.hints().max(1))).collect();
        Key { bits, candidates, coins, classes }
    }

    fn hints(&self) -> u32 {
        self.layout.blocks.hints()
    }

    /// Share of the keys that have more than one candidate.
    fn share(&self) -> f64 {
        match self.layout.candidates {
            Candidates::Anywhere { share, .. } => share.get(),
            Candidates::Subtables { .. } => 1.0,
        }
    }

    fn holds(&self, block: usize, key: &Key) -> bool {
        key.bits.iter().all(|&bit| self.blocks[block][bit as usize / 64] >> (bit % 64) & 1 == 1)
    }

    fn put(&mut self, block: usize, key: &Key) {
        for &bit in &key.bits {
            self.blocks[block][bit as usize / 64] |= 1 << (bit % 64);
        }
        self.loads[block] += 1;
    }

    fn set_bits(&self, block: usize) -> u32 {
        self.blocks[block].iter().map(|word| word.count_ones()).sum()
    }

    /// Walks the candidates under the threshold rule.
    fn walk(&self, key: &Key, threshold: u32, probability: f64) -> (u64, End) {
        for (index, &block) in key.candidates.iter().enumerate() {
            let accesses = index as u64 + 1;
            if self.holds(block, key) {
                return (accesses, End::Present);
            }
            let load = self.loads[block];
            if load < threshold || (load == threshold && key.coins[index] < probability) {
                return (accesses, End::Room(index));
            }
        }
        (key.candidates.len() as u64, End::Nowhere)
    }

    /// Walks the candidates as far as hints lead; the end counts as room.
    fn walk_by_hints(&self, key: &Key) -> (u64, End) {
        for (index, &block) in key.candidates.iter().enumerate() {
            let accesses = index as u64 + 1;
            if self.holds(block, key) {
                return (accesses, End::Present);
            }
            if self.marks[block] >> key.classes[index] & 1 == 0 {
                return (accesses, End::Room(index));
            }
        }
        (key.candidates.len() as u64, End::Nowhere)
    }

    /// Accesses, overflow probes, and whether the key was apparently new.
    fn insert(&mut self, index: u64) -> (u64, u64, bool) {
        let key = self.key(index);
        match self.layout.rule {
            Rule::LeastLoaded | Rule::KeepLargest => {
                if let Some(index) = key.candidates.iter().position(|&b| self.holds(b, &key)) {
                    return (index as u64 + 1, 0, false);
                }
                let mut lightest = key.candidates[0];
                for &block in &key.candidates[1..] {
                    if self.set_bits(block) < self.set_bits(lightest) {
                        lightest = block;
                    }
                }
                self.put(lightest, &key);
                (key.candidates.len() as u64, 0, true)
            }
            Rule::FirstWithRoom { below, coin } => {
                let (accesses, end) = self.walk(&key, below, coin.get());
                let turned_away = accesses as usize - usize::from(!matches!(end, End::Nowhere));
                for (block, class) in key.candidates.iter().zip(&key.classes).take(turned_away) {
                    self.marks[*block] |= 1 << class;
                }
                match end {
                    _ if self.budget_spent => {
                        self.checks += accesses;
                        let is_new = !matches!(end, End::Present);
                        if is_new {
                            self.overflow.insert(index);
                        }
                        (0, is_new.into(), is_new)
                    }
                    End::Present => (accesses, 0, false),
                    end => {
                        self.spent += accesses;
                        self.budget_spent =
                            self.layout.budget.is_some_and(|budget| self.spent >= budget);
                        if let End::Room(candidate) = end {
                            self.put(key.candidates[candidate], &key);
                            (accesses, 0, true)
                        } else {
                            self.overflow.insert(index);
                            (accesses, 1, true)
                        }
                    }
                }
            }
        }
    }

    /// Accesses and overflow probes of looking up an inserted key.
    fn look_up(&self, index: u64) -> (u64, u64) {
        let key = self.key(index);
        match self.layout.rule {
            Rule::LeastLoaded | Rule::KeepLargest => {
                let found = key.candidates.iter().position(|&block| self.holds(block, &key));
                (found.unwrap() as u64 + 1, 0)
            }
            Rule::FirstWithRoom { below, coin } => {
                let (accesses, end) = if self.hints() > 0 {
                    self.walk_by_hints(&key)
                } else {
                    self.walk(&key, below, coin.get())
                };
                match end {
                    End::Present => (accesses, 0),
                    End::Room(_) => {
                        assert!(self.budget_spent && self.overflow.contains(&index));
                        (accesses, 1)
                    }
                    End::Nowhere => {
                        assert!(self.overflow.contains(&index));
                        (accesses, 1)
                    }
                }
            }
        }
    }

    /// Fills the filter and measures it; the rate comes from the blocks' contents, not from sampled misses.
    pub(crate) fn run(mut self) -> Measured {
        let keys = self.keys;
        let (accesses, probes, stored) = fill(keys, |index| self.insert(index));
        let (mut hit_accesses, mut hit_probes) = (0, 0);
        for index in 0..keys {
            let (a, p) = self.look_up(index);
            hit_accesses += a;
            hit_probes += p;
        }
        let per_key = |sum: u64| sum as f64 / keys as f64;
        let (rate, accesses_miss, walks_off) = self.miss();
        let mut levels = self.levels.clone();
        levels.dedup();
        let by_bits = self.layout.rule == Rule::LeastLoaded;
        let distributions: Vec<Vec<f64>> = levels
            .iter()
            .map(|&(offset, size)| {
                let mut counts = vec![0.0; 1 + self.layout.data_bits() as usize];
                for block in offset as usize..(offset + size) as usize {
                    let load = if by_bits { self.set_bits(block) } else { self.loads[block] };
                    counts[load as usize] += 1.0 / size as f64;
                }
                counts
            })
            .collect();
        Measured {
            rate,
            accesses_insert: per_key(accesses),
            accesses_check: per_key(self.checks),
            accesses_hit: per_key(hit_accesses),
            accesses_miss,
            overflow_probes_insert: per_key(probes),
            overflow_probes_hit: per_key(hit_probes),
            overflow_probes_miss: match self.layout.rule {
                Rule::LeastLoaded => 0.0,
                _ if self.budget_spent => 1.0 - rate,
                _ => walks_off,
            },
            overflow_fraction: per_key(self.overflow.len() as u64),
            stored_fraction: per_key(stored),
            mean_loads: distributions
                .iter()
                .map(|d| d.iter().enumerate().map(|(i, p)| i as f64 * p).sum())
                .collect(),
            load_distributions: distributions,
            goes_on: Vec::new(),
        }
    }

    /// Rate, accesses and probability of passing all blocks of an absent key.
    fn miss(&self) -> (f64, f64, f64) {
        let (mut rate, mut accesses, mut reach) = (0.0, 0.0, 1.0);
        let walk_on: Vec<(f64, f64)> = self
            .levels
            .iter()
            .map(|&(offset, size)| {
                let blocks = offset as usize..(offset + size) as usize;
                let (mut matched, mut passed) = (0.0, 0.0);
                for block in blocks {
                    let q = self.match_probability(self.set_bits(block));
                    matched += q;
                    passed += (1.0 - q) * self.passes(block);
                }
                (matched / size as f64, passed / size as f64)
            })
            .collect();
        for (level, (matched, passed)) in walk_on.into_iter().enumerate() {
            accesses += reach;
            rate += reach * matched;
            reach *= passed;
            if level == 0 {
                reach *= self.share();
            }
        }
        (rate, accesses, reach)
    }

    fn match_probability(&self, set: u32) -> f64 {
        let k = self.layout.blocks.hashes();
        if set < k {
            return 0.0;
        }
        (0..k).map(|i| f64::from(set - i) / f64::from(self.layout.data_bits() - i)).product()
    }

    /// The share of absent keys without a match that go on from this block.
    fn passes(&self, block: usize) -> f64 {
        let load = self.loads[block];
        match self.layout.rule {
            Rule::FirstWithRoom { .. } if self.hints() > 0 => {
                f64::from(self.marks[block].count_ones()) / f64::from(self.hints())
            }
            Rule::FirstWithRoom { below, .. } if load < below => 0.0,
            Rule::FirstWithRoom { below, coin } if load == below => 1.0 - coin.get(),
            _ => 1.0,
        }
    }
}

/// (offset, size) of the table of every candidate.
pub(crate) fn levels(candidates: &Candidates) -> Vec<(u64, u64)> {
    match candidates {
        Candidates::Anywhere { blocks, choices, .. } => vec![(0, *blocks); *choices as usize],
        Candidates::Subtables { sizes } => {
            let ends = sizes.iter().scan(0, |end, size| {
                *end += size;
                Some(*end)
            });
            ends.zip(sizes.iter()).map(|(end, &size)| (end - size, size)).collect()
        }
    }
}

/// Totals over inserts: block accesses, probes of the overflow list, and stored keys.
pub(crate) fn fill(keys: u64, insert: impl FnMut(u64) -> (u64, u64, bool)) -> (u64, u64, u64) {
    (0..keys).map(insert).fold((0, 0, 0), |sum, (accesses, probes, new)| {
        (sum.0 + accesses, sum.1 + probes, sum.2 + u64::from(new))
    })
}
