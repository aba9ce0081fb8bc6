//! Inserts step by step: the blocks that a key reads, what they hold, and where it is stored.

use equibloom::{AccessStatistics, Filter, Insertion, Parameters};
use equibloom_layout::placement::Levels;
use equibloom_layout::{Blocks, Candidates, Design, Layout, LayoutError};

use crate::error::Error;

/// A filter whose inserts are observed.
pub struct Trace {
    filter: Filter<str>,
    layout: Layout,
    levels: Levels,
}

/// A block at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Keys by the counter; set bits if there is none.
    pub load: u32,
    /// The counter's bits, highest first.
    pub counter: String,
    /// The other bits, first to last: hints, then those of the keys.
    pub bits: String,
}

/// A candidate of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// Its subtable, from 0 on; 0 if there are none.
    pub table: usize,
    /// Its number in the subtable.
    pub address: usize,
    /// What it held before the insert.
    pub before: Block,
    /// Whether the insert read it.
    pub is_read: bool,
}

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It seemed to be present.
    Present,
    /// The candidate of this number took it.
    Stored(usize),
    /// It is in the overflow list.
    Listed,
}

/// One insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The key.
    pub key: String,
    /// Its candidates in order.
    pub visits: Vec<Visit>,
    /// What became of it.
    pub end: End,
    /// All blocks after that, subtable by subtable.
    pub tables: Vec<Vec<Block>>,
}

impl Trace {
    /// An empty filter of Bloom blocks.
    pub fn new(layout: Layout, seed: u64) -> Result<Self, Error> {
        if matches!(layout.blocks, Blocks::Fingerprint { .. }) {
            return Err(equibloom_theory::Error::from(LayoutError::Conflict {
                reason: "entries of fingerprint blocks move, and a trace shows where keys stay",
                cure: "give Bloom blocks",
            })
            .into());
        }
        let filter = Filter::new(&Parameters { keys: 1, seed, design: Design::Blocked(layout) })?;
        Ok(Self { filter, layout, levels: Levels::new(&layout.candidates) })
    }

    /// Inserts a key.
    pub fn insert(&mut self, key: &str) -> Result<Step, Error> {
        let (hash, before) = (self.filter.hash(key), self.tables());
        let overflowed = self.filter.statistics().overflowed;
        let mut accesses = AccessStatistics::default();
        let inserted = self.filter.as_hash_filter_mut().insert_counted(hash, &mut accesses)?;
        let reads = accesses.inserts.accesses.blocks + accesses.checks.accesses.blocks;
        let choices = self.levels.choices(hash);
        let visits: Vec<Visit> = self
            .levels
            .walk(hash)
            .take(choices)
            .zip(0..)
            .map(|(probe, number)| {
                let (table, address) = self.place(probe.block.0);
                let before = before[table][address].clone();
                Visit { table, address, before, is_read: number < reads }
            })
            .collect();
        let tables = self.tables();
        let changed = |visit: &Visit| tables[visit.table][visit.address].load != visit.before.load;
        let end = match inserted {
            Insertion::AlreadyPresent => End::Present,
            Insertion::New if self.filter.statistics().overflowed > overflowed => End::Listed,
            Insertion::New => visits.iter().position(changed).map_or(End::Listed, End::Stored),
        };
        Ok(Step { key: key.to_owned(), visits, end, tables })
    }

    /// The subtable of a block, and its number there.
    fn place(&self, block: u64) -> (usize, usize) {
        let mut address = block as usize;
        for (table, size) in self.sizes().into_iter().enumerate() {
            if address < size {
                return (table, address);
            }
            address -= size;
        }
        (0, 0)
    }

    fn sizes(&self) -> Vec<usize> {
        match &self.layout.candidates {
            Candidates::Anywhere { blocks, .. } => vec![*blocks as usize],
            Candidates::Subtables { sizes } => sizes.iter().map(|&size| size as usize).collect(),
        }
    }

    /// All blocks, subtable by subtable.
    pub fn tables(&self) -> Vec<Vec<Block>> {
        let words: Vec<u64> = self.filter.as_hash_filter().words().collect();
        let per_block = self.layout.blocks.stride_bits() as usize / 64;
        let mut blocks = words.chunks(per_block).map(|words| self.block(words));
        self.sizes().iter().map(|&size| blocks.by_ref().take(size).collect()).collect()
    }

    fn block(&self, words: &[u64]) -> Block {
        let bit = |index: u32| words[index as usize / 64] >> (index % 64) & 1;
        let text = |index| if bit(index) == 1 { '1' } else { '0' };
        let counter_bits = self.layout.rule.counter_bits();
        let bits = counter_bits..self.layout.blocks.bits();
        let load = match counter_bits {
            0 => bits.clone().map(|index| bit(index) as u32).sum(),
            _ => (0..counter_bits).map(|index| (bit(index) as u32) << index).sum(),
        };
        Block {
            load,
            counter: (0..counter_bits).rev().map(text).collect(),
            bits: bits.map(text).collect(),
        }
    }
}

impl Step {
    /// The block of a subtable in binary, all with as many digits as the largest subtable needs.
    pub fn address(&self, address: usize) -> String {
        let largest = self.tables.iter().map(Vec::len).max().unwrap_or(1).max(2);
        let digits = usize::BITS - (largest - 1).leading_zeros();
        format!("{address:0digits$b}", digits = digits as usize)
    }

    /// What happened at a candidate, in words.
    pub fn told(&self, number: usize) -> String {
        let Visit { table, address, before, is_read } = &self.visits[number];
        let at = format!("T{} at {}", table + 1, self.address(*address));
        let load = match before.counter.len() {
            0 => format!("{} bits set", before.load),
            _ => format!("counter {} = {}", before.counter, before.load),
        };
        let what = match self.end {
            _ if !is_read => return format!("{at}: not read"),
            End::Stored(here) if here == number => "stored",
            End::Present if !self.visits.get(number + 1).is_some_and(|next| next.is_read) => {
                "its bits are set already: it seems to be present"
            }
            _ => "turned away",
        };
        format!("{at}, {load}: {what}")
    }
}
