//! A filter under study, seen five ways: paper model, model of its definition, exact model, simulation,
//! and the library's filter.

use core::f64::consts::LN_2;

use equibloom::{
    AccessStatistics, AnyFilter, BlockTable, MAX_HASHES, Overflow, Parameters, Scheme as Kind,
    Threshold, WhenFull,
};
use equibloom_theory::fluid;
use equibloom_theory::optimum::{self, Optimum};
use equibloom_theory::paper::{self, Hashes, Scheme};

use crate::error::Error;
use crate::observables::{Lookup, Observables};
use crate::simulator::{Placement, Setting, Tables, fill, share_of_set_bits};

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
        (self.bits_per_element * LN_2).round().clamp(1.0, f64::from(MAX_HASHES)) as u32
    }

    /// Blocks for so many elements.
    pub fn blocks(&self, elements: u64) -> u64 {
        let blocks = elements as f64 * self.bits_per_element / f64::from(self.block_bits);
        (blocks.round() as u64).max(1)
    }

    /// Bits of the classical filter for so many elements.
    fn bits(&self, elements: u64) -> u64 {
        ((elements as f64 * self.bits_per_element).round() as u64).max(1)
    }

    /// Threshold, coin and subtables, for the schemes that have them.
    pub fn optimum(&self) -> Result<Option<Optimum>, Error> {
        let load = f64::from(self.block_bits) / self.bits_per_element;
        Ok(match self.scheme {
            Scheme::Single { overflow } => Some(optimum::single(load, overflow)?),
            Scheme::Sequential { accesses, choices, overflow } => {
                Some(optimum::sequential(load, accesses, choices, overflow)?)
            }
            Scheme::MultiLevel { accesses, choices, overflow } => {
                Some(optimum::multi_level(load, accesses, choices, overflow)?)
            }
            _ => None,
        })
    }

    /// What the papers' model says of the full filter.
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

    /// What the exact model says of the library's filter for `elements`, after `moments` of them, and
    /// the standard deviation of the rate from one filter to the next.
    pub fn exact_model(
        &self,
        elements: u64,
        moments: &[u64],
    ) -> Result<Vec<(Observables, f64)>, Error> {
        let parameters = self.parameters(elements, 0)?;
        let at = |&moment: &u64| {
            let expected = parameters.predict(moment)?;
            let observables = Observables {
                rate: expected.rate,
                insert: expected.accesses_insert,
                hit: expected.accesses_hit,
                miss: expected.accesses_miss,
                overflow: expected.overflow_fraction,
            };
            Ok((observables, expected.rate_deviation))
        };
        moments.iter().map(at).collect()
    }

    /// The scheme as the papers define it, in the limit of many blocks, with exact bits.
    pub fn definition_model(
        &self,
        elements: u64,
        moments: &[u64],
    ) -> Result<Vec<Observables>, Error> {
        if self.scheme == Scheme::Classical {
            // Here definition and machine are the same.
            let exact = self.exact_model(elements, moments)?;
            return Ok(exact.into_iter().map(|(observables, _)| observables).collect());
        }
        let setting = self.setting(elements)?;
        let lookup = Lookup::new(&setting, self.block_bits, self.hashes());
        moments.iter().map(|&moment| limit(&setting, &lookup, elements, moment)).collect()
    }

    /// One simulated table after `moments` elements.
    pub fn simulate(
        &self,
        elements: u64,
        moments: &[u64],
        seed: u64,
    ) -> Result<Vec<Observables>, Error> {
        if self.scheme == Scheme::Classical {
            let shares = share_of_set_bits(self.bits(elements), self.hashes(), moments, seed);
            let at = |share| Observables::classical(share, self.hashes());
            return Ok(shares.into_iter().map(at).collect());
        }
        let setting = self.setting(elements)?;
        let lookup = Lookup::new(&setting, self.block_bits, self.hashes());
        let snapshots = fill(&setting, moments, seed);
        Ok(snapshots.iter().map(|snapshot| lookup.observe(snapshot)).collect())
    }

    /// One of the library's filters after `moments` keys. Its rate is read off its bits. Hits and misses
    /// are counted in `lookups` of each; without any, hits are not known and misses read off the loads.
    pub fn run_filter(
        &self,
        elements: u64,
        moments: &[u64],
        lookups: u64,
        seed: u64,
    ) -> Result<Vec<Observables>, Error> {
        let mut filter = AnyFilter::new(&self.parameters(elements, seed)?)?;
        let mut accesses = AccessStatistics::default();
        let mut come = 0;
        let mut after = |moment: u64| {
            for key in come..moment {
                filter.insert_counted(&key, &mut accesses)?;
            }
            come = come.max(moment);
            let statistics = filter.statistics();
            let (mut members, mut strangers) = Default::default();
            if lookups > 0 {
                look_up(&filter, moment, lookups, &mut members, &mut strangers);
            }
            Ok(Observables {
                rate: statistics.expected_rate,
                insert: accesses.inserts.mean_blocks(),
                hit: members.hits.mean_blocks(),
                miss: match lookups {
                    0 => statistics.expected_accesses_per_miss,
                    _ => strangers.misses.mean_blocks(),
                },
                overflow: statistics.overflowed as f64 / moment.max(1) as f64,
            })
        };
        moments.iter().map(|&moment| after(moment)).collect()
    }

    /// The table the simulator fills.
    pub fn setting(&self, elements: u64) -> Result<Setting, Error> {
        let buckets = self.blocks(elements);
        let Some(optimum) = self.optimum()? else {
            let second_choice = match self.scheme {
                Scheme::TwoChoice => 1.0,
                Scheme::OnePlusAlpha { alpha } => alpha,
                _ => 0.0,
            };
            return Ok(Setting { buckets, placement: Placement::LessLoaded { second_choice } });
        };
        let (tables, access_budget) = match self.scheme {
            Scheme::Sequential { accesses, choices, .. } => {
                let budget = (accesses * elements as f64) as u64;
                (Tables::Shared { choices }, Some(budget))
            }
            Scheme::MultiLevel { .. } => {
                (Tables::Subtables(divide(buckets, &optimum.subtables)), None)
            }
            _ => (Tables::Shared { choices: 1 }, None),
        };
        let (threshold, probability) = (optimum.threshold, optimum.probability);
        let placement = Placement::FirstWithRoom { threshold, probability, tables, access_budget };
        Ok(Setting { buckets, placement })
    }

    /// The library's filter. Its overflow list never fills, so that thresholds hold past capacity too.
    pub fn parameters(&self, elements: u64, seed: u64) -> Result<Parameters, Error> {
        let blocks = BlockTable {
            count: self.blocks(elements),
            bits: self.block_bits,
            hashes: self.hashes(),
        };
        let overflow = Overflow { capacity: elements, when_full: WhenFull::Refuse };
        let scheme = match (self.scheme, self.optimum()?) {
            (_, Some(Optimum { threshold, probability, subtables, .. })) => {
                let threshold = Threshold { load: threshold, probability };
                let hints = 0;
                match self.scheme {
                    Scheme::Sequential { accesses, choices, .. } => {
                        Kind::Sequential { blocks, threshold, hints, overflow, choices, accesses }
                    }
                    Scheme::MultiLevel { .. } => {
                        let subtables = divide(blocks.count, &subtables);
                        Kind::MultiLevel { blocks, threshold, hints, overflow, subtables }
                    }
                    _ => Kind::Single { blocks, threshold, hints, overflow },
                }
            }
            (Scheme::Classical, _) => {
                Kind::Classical { bits: self.bits(elements), hashes: self.hashes() }
            }
            (Scheme::TwoChoice, _) => Kind::TwoChoice { blocks },
            (Scheme::OnePlusAlpha { alpha }, _) => Kind::OnePlusAlpha { blocks, alpha },
            _ => Kind::Blocked { blocks },
        };
        Ok(Parameters { keys: elements, seed, scheme })
    }
}

/// Looks up members from the whole history, because late ones are harder to find, and as many strangers.
fn look_up(
    filter: &AnyFilter,
    keys: u64,
    lookups: u64,
    members: &mut AccessStatistics,
    strangers: &mut AccessStatistics,
) {
    for key in (0..keys).step_by(keys.div_ceil(lookups).max(1) as usize) {
        filter.contains_counted(&key, members);
    }
    for key in 0..lookups {
        filter.contains_counted(&(u64::MAX - key), strangers);
    }
}

/// Whole subtables in the given proportions, none of them empty; the first takes up the rounding.
pub(crate) fn divide(buckets: u64, shares: &[f64]) -> Vec<u64> {
    let mut sizes: Vec<u64> =
        shares.iter().map(|share| ((share * buckets as f64).round() as u64).max(1)).collect();
    let rest: u64 = sizes.iter().skip(1).sum();
    if let Some(first) = sizes.first_mut() {
        *first = buckets.saturating_sub(rest).max(1);
    }
    sizes
}

/// The fluid limit of a table of `elements` after `moment` of them.
fn limit(
    setting: &Setting,
    lookup: &Lookup<'_>,
    elements: u64,
    moment: u64,
) -> Result<Observables, Error> {
    let buckets = setting.buckets as f64;
    let (scheme, budget) = match &setting.placement {
        Placement::LessLoaded { second_choice } => {
            (fluid::Scheme::LessLoaded { second_choice: *second_choice }, None)
        }
        Placement::FirstWithRoom { threshold, probability, tables, access_budget } => {
            let tables = match tables {
                Tables::Shared { choices } => fluid::Tables::Shared { choices: *choices },
                Tables::Subtables(sizes) => fluid::Tables::Subtables(
                    sizes.iter().map(|&size| size as f64 / buckets).collect(),
                ),
            };
            let (threshold, probability) = (*threshold, *probability);
            (fluid::Scheme::Threshold { threshold, probability, tables }, *access_budget)
        }
    };
    if moment == 0 {
        return Ok(Observables::EMPTY);
    }
    // The budget of the optimum is spent with the last element the table is made for.
    let placed = if budget.is_some() { moment.min(elements) } else { moment } as f64;
    let load = placed / buckets;
    let state = match fluid::closed_form(&scheme, load, 1.0)? {
        Some(state) => Some(state),
        None => fluid::trace(&scheme, load, &[1.0])?.pop(),
    };
    let Some(state) = state else { return Ok(Observables::EMPTY) };
    let moment = moment as f64;
    let late = moment - placed;
    let miss = lookup.miss(&state.loads);
    let to_find = lookup.to_find(state.accesses * placed);
    Ok(Observables {
        insert: state.accesses * placed / moment,
        hit: (to_find + late * miss.miss) / moment,
        overflow: (state.overflow * placed + late) / moment,
        ..miss
    })
}
