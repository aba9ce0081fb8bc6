//! A filter as it will be built, as plain data. The core library turns it into its own parameters.

use super::block_kind::BlockKind;
use super::fingerprint_table::{FingerprintBlocks, Route, access_budget};
use super::memory::{HEADER_BYTES, bytes_of_bits, overflow_bytes, stride_bits};
use super::placement::PlacementName;
use crate::error::Error;
use crate::exact::{
    ClassicalMachine, FINGERPRINT_BLOCK_BITS, Levels, Machine, Placement, Prediction,
};
use crate::optimum::counter_bits;

/// Bits of a cache line.
const LINE_BITS: f64 = 512.0;

/// Bits that a lookup reads together before it looks whether one was unset.
const BITS_READ_TOGETHER: u32 = 3;

/// A filter, described.
#[derive(Debug, Clone, PartialEq)]
pub enum Layout {
    /// Bits anywhere in one array.
    Classical {
        /// Bits of the array.
        bits: u64,
        /// Bits per key.
        hashes: u32,
    },
    /// One block per key.
    Blocked {
        /// The table.
        blocks: Blocks,
    },
    /// One block per key, with an overflow list.
    Single {
        /// The table.
        blocks: Blocks,
        /// When a block turns a key away.
        threshold: Threshold,
        /// Hint bits of a block; 0 is the papers' rule, by the load.
        hints: u32,
        /// Most entries of the overflow list.
        overflow_capacity: u64,
    },
    /// The first of several blocks, anywhere, that has room.
    Sequential {
        /// The table.
        blocks: Blocks,
        /// When a block turns a key away.
        threshold: Threshold,
        /// Hint bits of a block; 0 is the papers' rule, by the load.
        hints: u32,
        /// Most entries of the overflow list.
        overflow_capacity: u64,
        /// Candidate blocks per key.
        choices: u32,
        /// Mean block accesses allowed per placed key; no limit if it equals `choices`.
        accesses: f64,
    },
    /// The first of several blocks, one in each subtable, that has room.
    MultiLevel {
        /// The table, all subtables together.
        blocks: Blocks,
        /// When a block turns a key away.
        threshold: Threshold,
        /// Hint bits of a block; 0 is the papers' rule, by the load.
        hints: u32,
        /// Most entries of the overflow list.
        overflow_capacity: u64,
        /// Blocks of each subtable.
        subtables: Vec<u64>,
    },
    /// The less loaded of two blocks.
    TwoChoice {
        /// The table.
        blocks: Blocks,
    },
    /// The less loaded of two blocks for a share of the keys, one block for the rest.
    OnePlusAlpha {
        /// The table.
        blocks: Blocks,
        /// Share of keys with a second choice.
        alpha: f64,
    },
    /// Blocks of fingerprints, under the same placements as those with a threshold.
    Fingerprint {
        /// The table.
        blocks: FingerprintBlocks,
        /// The candidates of a key.
        route: Route,
        /// Most entries of the overflow list.
        overflow_capacity: u64,
        /// Whether every insert is stored, so that keys can be removed.
        multiset: bool,
    },
}

/// A table of equal blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// How many.
    pub count: u64,
    /// Bits of each, its counter and hints included.
    pub bits: u32,
    /// Bits that a key sets in its block.
    pub hashes: u32,
}

/// When a block turns a key away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// A block below this load takes every key.
    pub load: u32,
    /// A block at this load takes a key with this probability.
    pub probability: f64,
}

impl Layout {
    /// The placement's name.
    pub const fn placement(&self) -> PlacementName {
        match self {
            Self::Classical { .. } => PlacementName::Classical,
            Self::Blocked { .. } => PlacementName::Blocked,
            Self::Single { .. } => PlacementName::Single,
            Self::Sequential { .. } => PlacementName::Sequential,
            Self::MultiLevel { .. } => PlacementName::MultiLevel,
            Self::TwoChoice { .. } => PlacementName::TwoChoice,
            Self::OnePlusAlpha { .. } => PlacementName::OnePlusAlpha,
            Self::Fingerprint { route, .. } => route.placement(),
        }
    }

    /// The kind of its blocks; the classical filter has none.
    pub const fn block_kind(&self) -> Option<BlockKind> {
        match self {
            Self::Classical { .. } => None,
            Self::Fingerprint { .. } => Some(BlockKind::Fingerprint),
            _ => Some(BlockKind::Bloom),
        }
    }

    /// How many blocks of how many bits there are, of either kind; the classical filter has none.
    pub const fn table(&self) -> Option<(u64, u32)> {
        match self {
            Self::Fingerprint { blocks, .. } => Some((blocks.count, FINGERPRINT_BLOCK_BITS)),
            _ => match self.blocks() {
                Some(blocks) => Some((blocks.count, blocks.bits)),
                None => None,
            },
        }
    }

    /// Hint bits of a block.
    pub const fn hints(&self) -> u32 {
        match self {
            Self::Single { hints, .. }
            | Self::Sequential { hints, .. }
            | Self::MultiLevel { hints, .. } => *hints,
            Self::Fingerprint { blocks, .. } => blocks.hints,
            _ => 0,
        }
    }

    /// The table of Bloom blocks; classical filters and fingerprints have none.
    pub const fn blocks(&self) -> Option<Blocks> {
        match self {
            Self::Classical { .. } | Self::Fingerprint { .. } => None,
            Self::Blocked { blocks }
            | Self::Single { blocks, .. }
            | Self::Sequential { blocks, .. }
            | Self::MultiLevel { blocks, .. }
            | Self::TwoChoice { blocks }
            | Self::OnePlusAlpha { blocks, .. } => Some(*blocks),
        }
    }

    /// Bits that a key sets; of a fingerprint, none.
    pub const fn hashes(&self) -> u32 {
        match self {
            Self::Fingerprint { .. } => 0,
            Self::Classical { hashes, .. } => *hashes,
            Self::Blocked { blocks }
            | Self::Single { blocks, .. }
            | Self::Sequential { blocks, .. }
            | Self::MultiLevel { blocks, .. }
            | Self::TwoChoice { blocks }
            | Self::OnePlusAlpha { blocks, .. } => blocks.hashes,
        }
    }

    /// The same filter with another number of bits that a key sets. Fingerprints set none.
    #[must_use]
    pub fn with_hashes(mut self, number: u32) -> Self {
        match &mut self {
            Self::Fingerprint { .. } => {}
            Self::Classical { hashes, .. } => *hashes = number,
            Self::Blocked { blocks }
            | Self::Single { blocks, .. }
            | Self::Sequential { blocks, .. }
            | Self::MultiLevel { blocks, .. }
            | Self::TwoChoice { blocks }
            | Self::OnePlusAlpha { blocks, .. } => blocks.hashes = number,
        }
        self
    }

    /// The same filter with another number of hint bits, where blocks can have any. Without hints it cannot be a
    /// multiset.
    #[must_use]
    pub fn with_hints(mut self, number: u32) -> Self {
        match &mut self {
            Self::Single { hints, .. }
            | Self::Sequential { hints, .. }
            | Self::MultiLevel { hints, .. } => *hints = number,
            Self::Fingerprint { blocks, multiset, .. } => {
                blocks.hints = number;
                *multiset &= number > 0;
            }
            _ => {}
        }
        self
    }

    /// The threshold and the overflow list's capacity, where there are any. Blocks of fingerprints turn keys away
    /// when their slots are full.
    pub const fn threshold(&self) -> Option<(Threshold, u64)> {
        match self {
            Self::Single { threshold, overflow_capacity, .. }
            | Self::Sequential { threshold, overflow_capacity, .. }
            | Self::MultiLevel { threshold, overflow_capacity, .. } => {
                Some((*threshold, *overflow_capacity))
            }
            Self::Fingerprint { blocks, overflow_capacity, .. } => {
                Some((Threshold { load: blocks.slots, probability: 0.0 }, *overflow_capacity))
            }
            _ => None,
        }
    }

    /// Largest number of accesses of one key: blocks, or bits of a classical filter.
    pub fn most_accesses(&self) -> u32 {
        match self {
            Self::Classical { hashes, .. } => *hashes,
            Self::Blocked { .. } | Self::Single { .. } => 1,
            Self::Sequential { choices, .. } => *choices,
            Self::MultiLevel { subtables, .. } => subtables.len() as u32,
            Self::TwoChoice { .. } | Self::OnePlusAlpha { .. } => 2,
            Self::Fingerprint { route, .. } => route.most_accesses(),
        }
    }

    /// All memory: blocks with padding, overflow list as allocated, header.
    pub fn bytes(&self) -> u64 {
        let table = match (self, self.table()) {
            (Self::Classical { bits, .. }, _) => *bits,
            (_, Some((count, bits))) => count.saturating_mul(stride_bits(bits)),
            (_, None) => 0,
        };
        let overflow = self.threshold().map_or(0, |(_, capacity)| overflow_bytes(capacity));
        bytes_of_bits(table).saturating_add(overflow).saturating_add(HEADER_BYTES)
    }

    /// What to expect once `keys` keys are inserted, by the exact model.
    ///
    /// ```
    /// use equibloom_theory::planner::{Blocks, Layout};
    ///
    /// let blocks = Blocks { count: 10_000, bits: 512, hashes: 8 };
    /// let expected = Layout::Blocked { blocks }.predict(320_000)?;
    /// assert!((8e-4..1e-3).contains(&expected.rate));
    /// # Ok::<(), equibloom_theory::Error>(())
    /// ```
    pub fn predict(&self, keys: u64) -> Result<Prediction, Error> {
        self.predict_filled(keys, keys)
    }

    /// What to expect of a filter planned for `planned` keys once it has `keys`: an access budget is a
    /// multiple of the plan.
    pub fn predict_filled(&self, planned: u64, keys: u64) -> Result<Prediction, Error> {
        let least_loaded = |blocks: &Blocks, second_choice| {
            let placement = Placement::LeastLoaded { blocks: blocks.count, second_choice };
            Machine { keys, data_bits: blocks.bits, hashes: blocks.hashes, placement }
        };
        let with_threshold =
            |blocks: &Blocks, threshold: &Threshold, hints: u32, levels, budget| {
                let placement = Placement::Threshold {
                    levels,
                    threshold: threshold.load,
                    probability: threshold.probability,
                    hints,
                    access_budget: budget,
                };
                let taken = counter_bits(threshold.load).saturating_add(hints);
                let data_bits = blocks.bits.saturating_sub(taken);
                Machine { keys, data_bits, hashes: blocks.hashes, placement }
            };
        let shared = |blocks: &Blocks, choices| Levels::Shared { blocks: blocks.count, choices };
        match self {
            Self::Classical { bits, hashes } => {
                return ClassicalMachine { keys, bits: *bits, hashes: *hashes }.predict();
            }
            Self::Blocked { blocks } => least_loaded(blocks, 0.0),
            Self::TwoChoice { blocks } => least_loaded(blocks, 1.0),
            Self::OnePlusAlpha { blocks, alpha } => least_loaded(blocks, *alpha),
            Self::Single { blocks, threshold, hints, .. } => {
                with_threshold(blocks, threshold, *hints, shared(blocks, 1), None)
            }
            Self::Sequential { blocks, threshold, hints, choices, accesses, .. } => {
                let budget = access_budget(*choices, *accesses, planned);
                with_threshold(blocks, threshold, *hints, shared(blocks, *choices), budget)
            }
            Self::MultiLevel { blocks, threshold, hints, subtables, .. } => {
                let levels = Levels::Subtables(subtables.clone());
                with_threshold(blocks, threshold, *hints, levels, None)
            }
            Self::Fingerprint { blocks, route, multiset, .. } => {
                return blocks.machine(route, *multiset, planned, keys).predict();
            }
        }
        .predict()
    }

    /// Mean cache lines of 512 bits that a miss touches in the table (the overflow list apart).
    ///
    /// A block that lies within a line costs one line per access. Of a larger one a lookup touches only the
    /// lines of the bits it reads, three at a time until one is unset, and of the counter where there is
    /// one. Every bit of a classical filter is a line of its own.
    pub fn lines_per_miss(&self, keys: u64, accesses_miss: f64) -> f64 {
        let Some(blocks) = self.blocks() else { return accesses_miss };
        let stride = stride_bits(blocks.bits) as f64;
        if (LINE_BITS / stride).fract() == 0.0 {
            return accesses_miss;
        }
        // Blocks that do not fill whole lines start anywhere in one.
        let whole = (stride / LINE_BITS).fract() == 0.0;
        let lines = if whole { stride / LINE_BITS } else { 1.0 + (stride - 64.0) / LINE_BITS };
        let load = keys as f64 / blocks.count as f64;
        let unset = (1.0 - f64::from(blocks.hashes) / f64::from(blocks.bits)).powf(load);
        let elsewhere: f64 = 1.0 - 1.0 / lines;
        let (mut touched, mut beside_counter) = (0.0, 0.0);
        for bit in 0..blocks.hashes {
            let reached = (1.0 - unset).powi((bit - bit % BITS_READ_TOGETHER) as i32);
            touched += reached * elsewhere.powi(bit as i32);
            let last =
                bit % BITS_READ_TOGETHER == BITS_READ_TOGETHER - 1 || bit + 1 == blocks.hashes;
            if last {
                let ends_here = reached * (1.0 - (1.0 - unset).powi(BITS_READ_TOGETHER as i32));
                beside_counter += ends_here * elsewhere.powi(bit as i32 + 1);
            }
        }
        let counter = if self.threshold().is_some() { beside_counter } else { 0.0 };
        accesses_miss * (touched + counter)
    }
}
