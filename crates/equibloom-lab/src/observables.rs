//! The measured quantities of a filter, and how they follow from the loads of its blocks.

use core::cmp::Ordering;

use equibloom_layout::{Layout, Rule};

use crate::occupancy::block_rates;
use crate::simulator::Snapshot;

/// The measured quantities of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Observables {
    /// False-positive rate.
    pub rate: f64,
    /// Mean block accesses of an insert, over all inserts so far.
    pub insert: f64,
    /// Mean block accesses of looking up an element.
    pub hit: f64,
    /// Mean block accesses of looking up an absent key.
    pub miss: f64,
    /// Share of the elements in the overflow list.
    pub overflow: f64,
}

impl Observables {
    /// An empty filter: a lookup ends at its first block.
    pub const EMPTY: Self = Self { rate: 0.0, insert: 0.0, hit: 0.0, miss: 1.0, overflow: 0.0 };

    /// A classical filter with this share of its bits set. An access is one bit.
    pub fn classical(set: f64, hashes: u32) -> Self {
        let k = f64::from(hashes);
        let rate = set.powi(hashes as i32);
        let miss = if set < 1.0 { (1.0 - rate) / (1.0 - set) } else { k };
        Self { rate, insert: k, hit: k, miss, overflow: 0.0 }
    }
}

/// The quantities of a simulated table. A lookup follows the papers' rule with a coin of key and probe: it goes on
/// while a block rejects the key.
pub(crate) fn observe(layout: &Layout, snapshot: &Snapshot) -> Observables {
    if snapshot.elements == 0 {
        return Observables::EMPTY;
    }
    let elements = snapshot.elements as f64;
    let miss = miss(layout, &snapshot.shares());
    Observables {
        insert: snapshot.accesses as f64 / elements,
        hit: (snapshot.accesses_to_find as f64 + snapshot.late as f64 * miss.miss) / elements,
        overflow: snapshot.overflow as f64 / elements,
        ..miss
    }
}

/// Share of the keys that have more than the first candidate.
fn share(layout: &Layout) -> f64 {
    layout.candidates.proportions().share().get()
}

/// Accesses of looking up all elements, if inserting them took this many.
pub(crate) fn to_find(layout: &Layout, accesses: f64) -> f64 {
    match layout.rule {
        // An element is equally often in each of its candidates.
        Rule::LeastLoaded => {
            let others = f64::from(layout.candidates.choices() - 1) * share(layout);
            accesses * (1.0 + others / 2.0) / (1.0 + others)
        }
        Rule::FirstWithRoom { .. } | Rule::KeepLargest => accesses,
    }
}

/// Rate and accesses of a miss, from the shares of blocks by load in each table.
pub(crate) fn miss(layout: &Layout, tables: &[Vec<f64>]) -> Observables {
    let longest = tables.iter().map(Vec::len).max().unwrap_or(0);
    let rates = block_rates(layout.data_bits(), layout.blocks.hashes(), longest);
    let mut found = Observables::default();
    let mut reached = 1.0;
    // Candidates are in one table, or in one each.
    let of_candidates = tables.iter().cycle().take(layout.candidates.choices() as usize);
    for (number, table) in of_candidates.enumerate() {
        if number == 1 {
            reached *= share(layout);
        }
        found.miss += reached;
        let (mut matched, mut passed) = (0.0, 0.0);
        for (load, &share) in table.iter().enumerate() {
            matched += share * rates[load];
            passed += share * (1.0 - rates[load]) * rejects(layout.rule, load);
        }
        found.rate += reached * matched;
        reached *= passed;
    }
    found
}

/// Probability that a lookup goes on past a block with this load that does not match.
fn rejects(rule: Rule, load: usize) -> f64 {
    match rule {
        // Fingerprint blocks, which alone keep the largest, are not simulated.
        Rule::LeastLoaded | Rule::KeepLargest => 1.0,
        Rule::FirstWithRoom { below, coin } => match load.cmp(&(below as usize)) {
            Ordering::Less => 0.0,
            Ordering::Equal => 1.0 - coin.get(),
            Ordering::Greater => 1.0,
        },
    }
}
