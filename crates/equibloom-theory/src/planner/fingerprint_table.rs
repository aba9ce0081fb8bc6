//! A table of fingerprint blocks, as plain data.

use super::placement::PlacementName;
use crate::exact::{FingerprintMachine, Levels};

/// A table of equal blocks of 512 bits that hold fingerprints:
/// hints + lists + slots × (1 + remainder bits) ≤ 512.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FingerprintBlocks {
    /// How many.
    pub count: u64,
    /// Keys that a block holds.
    pub slots: u32,
    /// Lists in which a block's remainders stand.
    pub lists: u32,
    /// Bits of a remainder.
    pub remainder_bits: u32,
    /// Hint bits.
    pub hints: u32,
}

/// The candidate blocks of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Route {
    /// One block anywhere.
    Single,
    /// Several blocks anywhere, tried in order.
    Sequential {
        /// Candidate blocks per key.
        choices: u32,
        /// Mean block accesses allowed per placed key; no limit if it equals `choices`.
        accesses: f64,
    },
    /// One block in each subtable, tried in order.
    MultiLevel {
        /// Blocks of each subtable.
        subtables: Vec<u64>,
    },
}

impl FingerprintBlocks {
    /// The filter with `keys` keys, planned for `planned`.
    pub(crate) fn machine(
        &self,
        route: &Route,
        multiset: bool,
        planned: u64,
        keys: u64,
    ) -> FingerprintMachine {
        let Self { count, slots, lists, remainder_bits, hints } = *self;
        let (levels, access_budget) = match route {
            Route::Single => (Levels::Shared { blocks: count, choices: 1 }, None),
            Route::Sequential { choices, accesses } => (
                Levels::Shared { blocks: count, choices: *choices },
                access_budget(*choices, *accesses, planned),
            ),
            Route::MultiLevel { subtables } => (Levels::Subtables(subtables.clone()), None),
        };
        FingerprintMachine {
            keys,
            slots,
            lists,
            remainder_bits,
            hints,
            levels,
            multiset,
            access_budget,
        }
    }
}

impl Route {
    /// The placement's name.
    pub const fn placement(&self) -> PlacementName {
        match self {
            Self::Single => PlacementName::Single,
            Self::Sequential { .. } => PlacementName::Sequential,
            Self::MultiLevel { .. } => PlacementName::MultiLevel,
        }
    }

    /// Largest number of blocks that one key reads.
    pub fn most_accesses(&self) -> u32 {
        match self {
            Self::Single => 1,
            Self::Sequential { choices, .. } => *choices,
            Self::MultiLevel { subtables } => subtables.len() as u32,
        }
    }
}

/// Accesses that placing all keys may cost; no limit where each may use all its choices.
pub(crate) fn access_budget(choices: u32, accesses: f64, planned: u64) -> Option<u64> {
    (accesses < f64::from(choices)).then_some((accesses * planned as f64) as u64)
}
