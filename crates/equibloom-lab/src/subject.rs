//! A filter under study, in five views: paper model, model of its definition, exact model, simulation, and the
//! library's filter.

use equibloom::{AccessStatistics, Filter, Parameters, Statistics};
use equibloom_layout::{Blocks, Design, Layout, MAX_HASHES, Overflow, WhenFull};
use equibloom_theory::exact;
use equibloom_theory::fluid::{Process, State};
use equibloom_theory::optimum::{Optimum, paper_hashes};
use equibloom_theory::paper::{self, Hashes, Scheme};

use crate::error::Error;
use crate::observables::{Observables, miss, observe, to_find};
use crate::simulator::{fill, share_of_set_bits};

/// A scheme with the papers' optimal parameters for a block size and a number of bits per element.
///
/// As in the papers, bits per element counts the blocks only, a threshold's counter is taken off the
/// block, and the number of hash functions is round(β·ln 2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subject {
    /// The scheme.
    pub scheme: Scheme,
    /// Bits of a block, its counter included.
    pub block_bits: u32,
    /// The papers' β, or c.
    pub bits_per_element: f64,
}

impl Subject {
    /// The papers' number of hash functions, round(β·ln 2), as far as the library goes.
    pub fn hashes(&self) -> u32 {
        paper_hashes(self.bits_per_element).min(MAX_HASHES)
    }

    /// Number of blocks for this many elements.
    pub fn blocks(&self, elements: u64) -> u64 {
        let blocks = elements as f64 * self.bits_per_element / f64::from(self.block_bits);
        (blocks.round() as u64).max(1)
    }

    /// Threshold, coin and subtables, for the schemes that have them.
    pub fn optimum(&self) -> Result<Option<Optimum>, Error> {
        Ok(self.scheme.optimum(f64::from(self.block_bits) / self.bits_per_element)?)
    }

    /// The filter for this many elements. Its overflow list never fills, so that thresholds hold past capacity
    /// too.
    pub fn design(&self, elements: u64) -> Result<Design, Error> {
        let (blocks, count) =
            (Blocks::bloom(self.block_bits, self.hashes()), self.blocks(elements));
        let overflow = Overflow { capacity: elements, when_full: WhenFull::Refuse };
        Ok(match (self.optimum()?, self.scheme) {
            // At the papers' load, which is that of `count` blocks up to rounding.
            (Some(optimum), _) => optimum.layout(blocks, count, elements, overflow).into(),
            (None, Scheme::Classical) => Design::Classical {
                bits: ((elements as f64 * self.bits_per_element).round() as u64).max(1),
                hashes: self.hashes(),
            },
            (None, scheme) => scheme.design(blocks, count, elements, overflow)?,
        })
    }

    /// The library's empty filter for this many elements.
    pub fn filter(&self, elements: u64, seed: u64) -> Result<Filter<u64>, Error> {
        let design = self.design(elements)?;
        Ok(Filter::new(&Parameters { keys: elements, seed, design })?)
    }

    /// One of the library's filters with all its keys.
    pub fn fill_filter(&self, elements: u64, seed: u64) -> Result<Statistics, Error> {
        filled(self.design(elements)?, elements, seed)
    }

    /// The papers' model of the full filter.
    pub fn paper_model(&self) -> Result<Observables, Error> {
        let rate = paper::rate(self.scheme, self.block_bits, self.bits_per_element, Hashes::Paper)?;
        Ok(Observables {
            rate: rate.rate,
            insert: rate.accesses_insert,
            hit: rate.accesses_hit,
            miss: rate.accesses_miss,
            overflow: rate.overflow,
        })
    }

    /// The exact model of the library's filter for `elements`, after `moment` of them, and the standard deviation
    /// of the rate from one filter to the next.
    pub fn exact_model(&self, elements: u64, moment: u64) -> Result<(Observables, f64), Error> {
        let expected = exact::predict(&self.design(elements)?, moment)?;
        let observables = Observables {
            rate: expected.rate,
            insert: expected.accesses_insert,
            hit: expected.accesses_hit,
            miss: expected.accesses_miss,
            overflow: expected.overflow_fraction,
        };
        Ok((observables, expected.rate_deviation))
    }

    /// The scheme as the papers define it, in the limit of many blocks, with exact bits.
    pub fn definition_model(&self, elements: u64, moment: u64) -> Result<Observables, Error> {
        match self.design(elements)? {
            Design::Blocked(layout) => limit(&layout, elements, moment),
            // Here the library's filter follows the papers' definition.
            Design::Classical { .. } | Design::List { .. } => {
                Ok(self.exact_model(elements, moment)?.0)
            }
        }
    }

    /// One simulated table after `moment` elements.
    pub fn simulate(&self, elements: u64, moment: u64, seed: u64) -> Result<Observables, Error> {
        Ok(match self.design(elements)? {
            Design::Classical { bits, hashes } => {
                let share = share_of_set_bits(bits, hashes, &[moment], seed)[0];
                Observables::classical(share, hashes)
            }
            Design::Blocked(layout) => {
                let Layout { candidates, rule, budget, .. } = &layout;
                observe(&layout, &fill(candidates, *rule, *budget, &[moment], seed)[0])
            }
            // No scheme of the papers is one.
            Design::List { .. } => Observables::EMPTY,
        })
    }

    /// The number of blocks at each load in one simulated table; empty for the classical filter.
    pub fn simulate_loads(&self, elements: u64, seed: u64) -> Result<Vec<u64>, Error> {
        let design = self.design(elements)?;
        let Some(Layout { candidates, rule, budget, .. }) = design.layout() else {
            return Ok(Vec::new());
        };
        Ok(fill(candidates, *rule, *budget, &[elements], seed)[0].all_loads())
    }

    /// One of the library's filters after `moment` keys. Its rate is computed from its bits. Hits and misses are
    /// counted in `lookups` of each; without any, hits are unknown and misses are computed from the loads.
    pub fn run_filter(
        &self,
        elements: u64,
        moment: u64,
        lookups: u64,
        seed: u64,
    ) -> Result<Observables, Error> {
        let mut filter = self.filter(elements, seed)?;
        let mut accesses = AccessStatistics::default();
        for key in 0..moment {
            let hash = filter.hash(&key);
            filter.as_hash_filter_mut().insert_counted(hash, &mut accesses)?;
        }
        let statistics = filter.statistics();
        // Inserted keys from the whole history, because late ones are further from their first block.
        let step = moment.div_ceil(lookups.max(1)).max(1) as usize;
        let hits = count(&filter, (0..moment).step_by(step).take(lookups as usize)).hits;
        let misses = count(&filter, (0..lookups).map(|key| u64::MAX - key)).misses;
        Ok(Observables {
            rate: statistics.expected_rate,
            insert: accesses.inserts.mean_blocks(),
            hit: hits.mean_blocks(),
            miss: match lookups {
                0 => statistics.expected_accesses_per_miss,
                _ => misses.mean_blocks(),
            },
            overflow: statistics.overflowed as f64 / moment.max(1) as f64,
        })
    }
}

/// A filter of this design that holds the keys below `keys`.
pub fn filled(design: Design, keys: u64, seed: u64) -> Result<Statistics, Error> {
    let mut filter = Filter::<u64>::new(&Parameters { keys, seed, design })?;
    filter.try_extend(0..keys)?;
    Ok(filter.statistics())
}

/// Looks up these keys.
fn count(filter: &Filter<u64>, keys: impl Iterator<Item = u64>) -> AccessStatistics {
    let mut accesses = AccessStatistics::default();
    for key in keys {
        filter.as_hash_filter().contains_counted(filter.hash(&key), &mut accesses);
    }
    accesses
}

/// The fluid limit of a table of `elements` after `moment` of them.
fn limit(layout: &Layout, elements: u64, moment: u64) -> Result<Observables, Error> {
    if moment == 0 {
        return Ok(Observables::EMPTY);
    }
    // The optimum's budget is spent before or with the last element the table is made for.
    let tried = if layout.budget.is_some() { moment.min(elements) } else { moment } as f64;
    let process = Process {
        budget: layout.budget.map(|budget| (budget as f64 / tried).max(1.0)),
        ..Process::new(
            layout.candidates.proportions(),
            layout.rule,
            tried / layout.candidates.blocks() as f64,
        )
    };
    let State { loads, accesses, overflow, late, .. } = process.end()?;
    let moment = moment as f64;
    let late = late * tried + moment - tried;
    let miss = miss(layout, &loads);
    let to_find = to_find(layout, accesses * tried);
    Ok(Observables {
        insert: accesses * tried / moment,
        hit: (to_find + late * miss.miss) / moment,
        overflow: (overflow * tried + moment - tried) / moment,
        ..miss
    })
}
