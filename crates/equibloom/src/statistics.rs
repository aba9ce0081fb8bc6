//! How a filter is doing: elements, loads, bytes, and the rate to expect from what it holds now.

use alloc::vec::Vec;

use crate::block::occupancy::{likely_loads, match_probabilities};
use crate::block::{BlockIndex, BloomBlocks};
use crate::placement::{Level, Rule};

/// The state of a filter, found by looking through all of it.
///
/// ```
/// use equibloom::{AnyFilter, BlockTable, Parameters, Scheme};
///
/// let blocks = BlockTable { count: 1_000, bits: 512, hashes: 11 };
/// let parameters = Parameters { keys: 32_000, seed: 1, scheme: Scheme::Blocked { blocks } };
/// let mut filter = AnyFilter::new(&parameters)?;
/// filter.try_extend(0..32_000_u64)?;
/// let statistics = filter.statistics();
/// assert!(statistics.bits_per_key() < 16.2);
/// assert!((0.0005..0.0015).contains(&statistics.expected_rate));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Statistics {
    /// Inserts that found their key absent.
    pub elements: u64,
    /// Elements in the overflow list.
    pub overflowed: u64,
    /// Elements that went into a block because the overflow list was full.
    pub saturated: u64,
    /// Whether the access budget ran out, so that new keys go to the overflow list.
    pub budget_spent: bool,
    /// The subtables in the order they are tried, or the one table; none in the classical filter.
    pub levels: Vec<LevelStatistics>,
    /// Bytes of every part.
    pub memory: Memory,
    /// Probability that a key never inserted is answered "present", from the bits that are set.
    pub expected_rate: f64,
    /// Mean blocks read by a key never inserted, from the loads as they are.
    pub expected_accesses_per_miss: f64,
}

impl Statistics {
    /// Share of the elements that are in the overflow list; 0 in an empty filter.
    pub fn overflow_fraction(&self) -> f64 {
        self.overflowed as f64 / self.elements.max(1) as f64
    }

    /// All memory per element; infinite in an empty filter.
    pub fn bits_per_key(&self) -> f64 {
        8.0 * self.memory.total() as f64 / self.elements as f64
    }

    /// Number of blocks at each load, over all levels.
    pub fn loads(&self) -> Vec<u64> {
        let longest = self.levels.iter().map(|level| level.loads.len()).max().unwrap_or(0);
        let mut sum = alloc::vec![0; longest];
        for level in &self.levels {
            for (sum, blocks) in sum.iter_mut().zip(&level.loads) {
                *sum += blocks;
            }
        }
        sum
    }
}

/// Bytes that a filter occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Memory {
    /// The blocks with counters and padding, or the classical filter's array.
    pub blocks: u64,
    /// The overflow list as allocated.
    pub overflow: u64,
    /// The filter's own fields.
    pub header: u64,
}

impl Memory {
    /// Everything.
    pub const fn total(&self) -> u64 {
        self.blocks + self.overflow + self.header
    }
}

/// One subtable, or the whole table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LevelStatistics {
    /// Number of blocks.
    pub blocks: u64,
    /// `loads[i]` blocks hold `i` elements. Where blocks have no counter (blocked, two-choice,
    /// one-plus-alpha) this is the number of elements that most likely set their bits. A counter
    /// ends at 2ᵇ − 1 and counts everything above as that.
    pub loads: Vec<u64>,
    /// `set_bits[s]` blocks have `s` bits set.
    pub set_bits: Vec<u64>,
}

/// What one look through a level's blocks tells.
pub(crate) struct LevelSurvey {
    level: Level,
    statistics: LevelStatistics,
    /// Mean probability that a block matches a key never inserted.
    matching: f64,
    /// Mean probability that it neither matches nor ends the lookup.
    passing: f64,
}

impl LevelSurvey {
    pub(crate) fn take<R: Rule>(blocks: &BloomBlocks, level: Level, rule: &R) -> Self {
        let match_probability = match_probabilities(blocks.data_bits(), blocks.hashes());
        let likely_load = likely_loads(blocks.data_bits(), blocks.hashes());
        let (mut loads, mut set_bits) = (Vec::new(), Vec::new());
        let (mut matching, mut passing) = (0.0, 0.0);
        for index in level.offset..level.offset + level.size {
            let found = blocks.occupancy(BlockIndex(index));
            let set = found.set_bits as usize;
            let load = if blocks.is_counted() { found.counter } else { likely_load[set] };
            tally(&mut loads, load as usize);
            tally(&mut set_bits, set);
            matching += match_probability[set];
            passing += (1.0 - match_probability[set]) * rule.passing_probability(load);
        }
        let size = level.size as f64;
        let statistics = LevelStatistics { blocks: level.size, loads, set_bits };
        Self { level, statistics, matching: matching / size, passing: passing / size }
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }

    pub(crate) fn into_statistics(self) -> LevelStatistics {
        self.statistics
    }
}

fn tally(histogram: &mut Vec<u64>, value: usize) {
    if histogram.len() <= value {
        histogram.resize(value + 1, 0);
    }
    histogram[value] += 1;
}

/// What to expect of a lookup for a key never inserted.
pub(crate) struct MissExpectation {
    pub(crate) rate: f64,
    pub(crate) accesses: f64,
}

/// Follows a miss along its probes. One sum for all schemes: each probe is reached if the one before
/// it was passed, the second and later ones only by the keys that have them.
pub(crate) fn expectation_of_a_miss<'a>(
    probes: impl Iterator<Item = &'a LevelSurvey>,
    share_beyond_the_first: f64,
) -> MissExpectation {
    let mut expectation = MissExpectation { rate: 0.0, accesses: 0.0 };
    let mut reached = 1.0;
    for (probe, survey) in probes.enumerate() {
        if probe == 1 {
            reached *= share_beyond_the_first;
        }
        expectation.accesses += reached;
        expectation.rate += reached * survey.matching;
        reached *= survey.passing;
    }
    expectation
}
