//! What users feel of a filter, and how it follows from the loads of its blocks.

use std::cell::RefCell;

use crate::occupancy::block_rates;
use crate::simulator::{Placement, Setting, Snapshot, Tables};

/// What can be measured at a filter.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Observables {
    /// False-positive rate.
    pub rate: f64,
    /// Mean block accesses of an insert, over all inserts so far.
    pub insert: f64,
    /// Mean block accesses of looking up an inserted element.
    pub hit: f64,
    /// Mean block accesses of looking up another.
    pub miss: f64,
    /// Share of the elements in the overflow list.
    pub overflow: f64,
}

impl Observables {
    /// Of an empty filter: one look tells that nothing is there.
    pub const EMPTY: Self = Self { rate: 0.0, insert: 0.0, hit: 0.0, miss: 1.0, overflow: 0.0 };

    /// Of a classical filter with this share of its bits set. An access is one bit.
    pub fn classical(set: f64, hashes: u32) -> Self {
        let k = f64::from(hashes);
        let rate = set.powi(hashes as i32);
        let miss = if set < 1.0 { (1.0 - rate) / (1.0 - set) } else { k };
        Self { rate, insert: k, hit: k, miss, overflow: 0.0 }
    }
}

/// A lookup by the papers' rule with a coin of key and probe: go on while a block turns the element away.
pub(crate) struct Lookup<'a> {
    placement: &'a Placement,
    data_bits: u32,
    hashes: u32,
    /// φ by load, made as far as it is needed.
    rates: RefCell<Vec<f64>>,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(setting: &'a Setting, block_bits: u32, hashes: u32) -> Self {
        let counter_bits = match setting.placement {
            // Loads from 0 to h + 1 are counted.
            Placement::FirstWithRoom { threshold, .. } => {
                (threshold + 2).next_power_of_two().ilog2()
            }
            Placement::LessLoaded { .. } => 0,
        };
        let rates = RefCell::default();
        Self { placement: &setting.placement, data_bits: block_bits - counter_bits, hashes, rates }
    }

    /// What a simulated table shows.
    pub(crate) fn observe(&self, snapshot: &Snapshot) -> Observables {
        if snapshot.elements == 0 {
            return Observables::EMPTY;
        }
        let elements = snapshot.elements as f64;
        let miss = self.miss(&snapshot.shares());
        Observables {
            insert: snapshot.accesses as f64 / elements,
            hit: (snapshot.accesses_to_find as f64 + snapshot.late as f64 * miss.miss) / elements,
            overflow: snapshot.overflow as f64 / elements,
            ..miss
        }
    }

    /// Accesses that finding all elements takes, if inserting them took so many.
    pub(crate) fn to_find(&self, accesses: f64) -> f64 {
        match self.placement {
            // Of those with two choices half lie in the first.
            Placement::LessLoaded { second_choice } => {
                accesses * (1.0 + second_choice / 2.0) / (1.0 + second_choice)
            }
            Placement::FirstWithRoom { .. } => accesses,
        }
    }

    /// Rate and accesses of a miss, from the shares of blocks by load in each table.
    pub(crate) fn miss(&self, tables: &[Vec<f64>]) -> Observables {
        let longest = tables.iter().map(Vec::len).max().unwrap_or(0);
        if self.rates.borrow().len() < longest {
            self.rates.replace(block_rates(self.data_bits, self.hashes, longest + 8));
        }
        let rates = self.rates.borrow();
        // Per probe: the table it reads and the share of those that passed the one before who have it.
        let probes: Vec<(&[f64], f64)> = match self.placement {
            Placement::LessLoaded { second_choice } => {
                vec![(&tables[0], 1.0), (&tables[0], *second_choice)]
            }
            Placement::FirstWithRoom { tables: Tables::Shared { choices }, .. } => {
                vec![(&tables[0], 1.0); *choices as usize]
            }
            _ => tables.iter().map(|table| (&table[..], 1.0)).collect(),
        };
        let mut seen = Observables::default();
        let mut reached = 1.0;
        for (table, have) in probes {
            reached *= have;
            seen.miss += reached;
            let (mut matched, mut passed) = (0.0, 0.0);
            for (load, &share) in table.iter().enumerate() {
                matched += share * rates[load];
                passed += share * (1.0 - rates[load]) * self.turns_away(load);
            }
            seen.rate += reached * matched;
            reached *= passed;
        }
        seen
    }

    /// Probability that a lookup goes on past a block with this load that does not match.
    fn turns_away(&self, load: usize) -> f64 {
        match *self.placement {
            Placement::LessLoaded { .. } => 1.0,
            Placement::FirstWithRoom { threshold, probability, .. } => {
                match load.cmp(&(threshold as usize)) {
                    std::cmp::Ordering::Less => 0.0,
                    std::cmp::Ordering::Equal => 1.0 - probability,
                    std::cmp::Ordering::Greater => 1.0,
                }
            }
        }
    }
}
