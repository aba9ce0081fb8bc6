//! How a filter is doing: elements, loads, bytes, and the rate to expect from what it holds now.

use alloc::vec::Vec;

use crate::block::BlockArray;
use crate::placement::{Choose, Level};

/// The state of a filter, found by looking through all of it.
///
/// ```
/// use equibloom::{Blocks, Filter, Layout, Parameters};
///
/// let design = Layout::blocked(Blocks::bloom(512, 11), 1_000).into();
/// let mut filter = Filter::new(&Parameters { keys: 32_000, seed: 1, design })?;
/// filter.try_extend(0..32_000_u64)?;
/// let statistics = filter.statistics();
/// assert!(statistics.bits_per_key() < 16.3);
/// assert!((0.0005..0.0015).contains(&statistics.expected_rate));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Statistics {
    /// Inserts that found their key absent, or all of them in a filter that stores every insert, less
    /// the removals. Merging adds the numbers of both filters.
    pub elements: u64,
    /// Elements in the overflow list.
    pub overflowed: u64,
    /// Elements that came when the overflow list was full, and went into a block all the same, or,
    /// where blocks have only so many slots, made the list grow.
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
    /// The blocks with counters, hints and padding, or the classical filter's array.
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
    /// `set_bits[s]` blocks have `s` bits set; empty where blocks store fingerprints.
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
    pub(crate) fn take<R: Choose, B: BlockArray>(blocks: &B, level: Level, rule: &R) -> Self {
        let (mut loads, mut set_bits) = (Vec::new(), Vec::new());
        let (mut matching, mut passing) = (0.0, 0.0);
        for stats in blocks.block_stats(level) {
            tally(&mut loads, stats.load as usize);
            if let Some(set) = stats.set_bits {
                tally(&mut set_bits, set as usize);
            }
            matching += stats.matching;
            let reachable = stats.marked.unwrap_or_else(|| rule.continuing_probability(stats.load));
            passing += (1.0 - stats.matching) * reachable;
        }
        let size = level.size as f64;
        let statistics = LevelStatistics { blocks: level.size, loads, set_bits };
        Self { level, statistics, matching: matching / size, passing: passing / size }
    }

    /// Keys in the level, where blocks count them.
    pub(crate) fn stored(&self) -> u64 {
        self.statistics.loads.iter().zip(0..).map(|(&blocks, load)| blocks * load).sum()
    }

    /// Raises the mean probability that a block matches by that of another reason for it.
    pub(crate) fn add_matching(&mut self, probability: f64) {
        self.matching += (1.0 - self.matching) * probability.min(1.0);
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
    // Levels overlap in blocks with few different fingerprints.
    expectation.rate = expectation.rate.min(1.0);
    expectation
}
