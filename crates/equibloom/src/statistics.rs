//! Statistics of a filter's contents: elements, loads, bytes, expected rate.

use alloc::vec::Vec;

use crate::block::BlockStats;
use crate::placement::Level;

/// Statistics of a filter's contents, from a scan of the whole filter.
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
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Statistics {
    /// Inserts of keys that were absent (in a removable filter: all inserts, less the removals). Merging
    /// adds the numbers of both filters. Fingerprint blocks count what they and the list hold instead: keys
    /// with equal fingerprints count once, also after a merge, except in removable filters.
    pub elements: u64,
    /// Elements in the overflow list, copies of a key included.
    pub overflowed: u64,
    /// Elements beyond the number of keys that the filter is planned for. In an overfull filter some keys
    /// seem to be there when they come, and are not counted.
    pub beyond_plan: u64,
    /// Elements that came while the overflow list was full: stored in a block past its threshold, or in a
    /// fingerprint block whose remainders were shortened.
    pub saturated: u64,
    /// Whether the access budget is spent, so that new keys go to the overflow list.
    pub budget_spent: bool,
    /// The subtables in the order of probing, or the single table; empty for the classical filter.
    pub levels: Vec<LevelStatistics>,
    /// Bytes of each part.
    pub memory: Memory,
    /// Expected false-positive rate, computed from the set bits or stored fingerprints.
    pub expected_rate: f64,
    /// Expected mean number of blocks that a miss reads, computed from the current loads, hints or
    /// watermarks.
    pub expected_accesses_per_miss: f64,
}

impl Statistics {
    /// Share of the elements that are in the overflow list; 0 in an empty filter.
    pub fn overflow_fraction(&self) -> f64 {
        self.overflowed as f64 / self.elements.max(1) as f64
    }

    /// Total memory per element in bits; infinite in an empty filter.
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

/// Memory of a filter in bytes.
///
/// ```
/// use equibloom::Filter;
///
/// let filter = Filter::<u64>::builder().keys(1_000).rate(0.01).build()?;
/// let memory = filter.statistics().memory;
/// assert_eq!(memory.blocks, filter.parameters().design.block_bytes());
/// assert_eq!(memory.total(), filter.bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Memory {
    /// The blocks with counters, hints, watermarks and padding, or the classical filter's array.
    pub blocks: u64,
    /// The overflow list as allocated.
    pub overflow: u64,
    /// The filter's own fields.
    pub header: u64,
}

impl Memory {
    /// Sum of all parts.
    pub const fn total(&self) -> u64 {
        self.blocks + self.overflow + self.header
    }
}

/// Statistics of one subtable, or of the single table.
///
/// ```
/// use equibloom::Filter;
///
/// let mut filter = Filter::<u64>::builder().keys(1_000).rate(0.01).build()?;
/// filter.try_extend(0..1_000)?;
/// let first = &filter.statistics().levels[0];
/// assert_eq!(first.loads.iter().sum::<u64>(), first.blocks);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct LevelStatistics {
    /// Number of blocks.
    pub blocks: u64,
    /// `loads[i]` blocks hold `i` elements. Where blocks have no counter (blocked, two-choice,
    /// one-plus-alpha), the load is estimated from the set bits. A `b`-bit counter saturates at 2ᵇ − 1.
    pub loads: Vec<u64>,
    /// `set_bits[s]` blocks have `s` bits set; empty where blocks store fingerprints.
    pub set_bits: Vec<u64>,
}

/// Statistics and match probabilities of one level, from a scan of its blocks.
pub(crate) struct LevelSurvey {
    pub(crate) statistics: LevelStatistics,
    /// Mean probability that a block matches an absent key.
    pub(crate) matching: f64,
    /// Mean probability that a lookup of an absent key continues after a block.
    passing: f64,
}

impl LevelSurvey {
    /// Sums up the blocks of a level.
    pub(crate) fn take(level: Level, blocks: impl Iterator<Item = BlockStats>) -> Self {
        let (mut loads, mut set_bits) = (Vec::new(), Vec::new());
        let (mut matching, mut passing) = (0.0, 0.0);
        for stats in blocks {
            tally(&mut loads, stats.load as usize);
            if let Some(set) = stats.set_bits {
                tally(&mut set_bits, set as usize);
            }
            matching += stats.matching;
            passing += (1.0 - stats.matching) * stats.continuing;
        }
        let size = level.size as f64;
        let statistics = LevelStatistics { blocks: level.size, loads, set_bits };
        Self { statistics, matching: matching / size, passing: passing / size }
    }
}

fn tally(histogram: &mut Vec<u64>, value: usize) {
    if histogram.len() <= value {
        histogram.resize(value + 1, 0);
    }
    histogram[value] += 1;
}

/// All levels of a filter, and the expected false-positive rate and block accesses of a miss.
pub(crate) struct Survey {
    pub(crate) levels: Vec<LevelStatistics>,
    pub(crate) rate: f64,
    pub(crate) accesses: f64,
}

impl Survey {
    /// Sums over the probes of a miss, which pass the levels in turn. A probe is reached if the lookup continues
    /// after all probes before it; probes after the first exist only for a share of the keys.
    pub(crate) fn of(levels: Vec<LevelSurvey>, probes: usize, share_beyond_the_first: f64) -> Self {
        let (mut rate, mut accesses, mut reached) = (0.0, 0.0, 1.0);
        for (probe, level) in levels.iter().cycle().take(probes).enumerate() {
            if probe == 1 {
                reached *= share_beyond_the_first;
            }
            accesses += reached;
            rate += reached * level.matching;
            reached *= level.passing;
        }
        let levels = levels.into_iter().map(|level| level.statistics).collect();
        // The sum overestimates if a block has few distinct fingerprints.
        Self { levels, rate: rate.min(1.0), accesses }
    }
}
