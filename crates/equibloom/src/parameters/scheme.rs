//! The kinds of filter.

use alloc::vec::Vec;

use super::{BlockTable, FingerprintTable, MAX_HASHES, Overflow, Threshold};

/// The filters of the papers, and one that goes past them.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "kebab-case")
)]
pub enum Scheme {
    /// Bloom's filter: `hashes` bits anywhere in one array. With `hashes = 1` the one-hash filter
    /// of the slides.
    Classical {
        /// Size of the array in bits; any number.
        bits: u64,
        /// Bits per key.
        hashes: u32,
    },
    /// One block per key, as full as it gets.
    Blocked {
        /// The table of blocks.
        blocks: BlockTable,
    },
    /// One block per key; what it turns away goes to the overflow list.
    Single {
        /// The table of blocks.
        blocks: BlockTable,
        /// When a block turns a key away.
        threshold: Threshold,
        /// Bits of a block that remember whom it turned away; 0 as in the papers.
        hints: u32,
        /// Where those keys go.
        overflow: Overflow,
    },
    /// The first of `choices` blocks, each anywhere in the table, that has room.
    Sequential {
        /// The table of blocks.
        blocks: BlockTable,
        /// When a block turns a key away.
        threshold: Threshold,
        /// Bits of a block that remember whom it turned away; 0 as in the papers.
        hints: u32,
        /// Where keys go that every block turned away, or that came when the accesses were spent.
        overflow: Overflow,
        /// Candidate blocks per key.
        choices: u32,
        /// Mean block accesses allowed per placed key: after `accesses × keys` of them in all, new
        /// keys go to the overflow list. At `choices` or above the budget never binds.
        accesses: f64,
    },
    /// The first of several blocks, one in each subtable, that has room.
    MultiLevel {
        /// The table of blocks; the subtables divide it.
        blocks: BlockTable,
        /// When a block turns a key away.
        threshold: Threshold,
        /// Bits of a block that remember whom it turned away; 0 as in the papers.
        hints: u32,
        /// Where keys go that every block turned away.
        overflow: Overflow,
        /// Blocks of each subtable, in the order they are tried.
        subtables: Vec<u64>,
    },
    /// The less loaded of two blocks.
    TwoChoice {
        /// The table of blocks.
        blocks: BlockTable,
    },
    /// The less loaded of two blocks for a share `alpha` of the keys, one block for the others.
    OnePlusAlpha {
        /// The table of blocks.
        blocks: BlockTable,
        /// Share of keys with a second choice, from 0 to 1.
        alpha: f64,
    },
    /// The first block with a free slot, where blocks store fingerprints of keys instead of bits.
    Fingerprint {
        /// The table of blocks.
        blocks: FingerprintTable,
        /// Which blocks a key may go to.
        route: Route,
        /// Where keys go that find no free slot.
        overflow: Overflow,
        /// Whether every insert is stored, that of a key that seems to be there too: then keys can be
        /// removed again. Needs at least one hint, and no more than one candidate in a table.
        multiset: bool,
    },
}

/// The blocks that a key may go to, in the order they are tried.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "kebab-case")
)]
pub enum Route {
    /// One block, anywhere.
    Single,
    /// Several blocks, each anywhere in the table.
    Sequential {
        /// Candidate blocks per key.
        choices: u32,
        /// Mean block accesses allowed per placed key, as in [`Scheme::Sequential`].
        accesses: f64,
    },
    /// One block in each of several subtables.
    MultiLevel {
        /// Blocks of each subtable, in the order they are tried.
        subtables: Vec<u64>,
    },
}

impl Scheme {
    /// A classical filter of `bits` with the best number of hashes for `keys`: `bits / keys × ln 2`,
    /// rounded.
    ///
    /// ```
    /// use equibloom::Scheme;
    ///
    /// assert_eq!(Scheme::classical(8_000, 1_000), Scheme::Classical { bits: 8_000, hashes: 6 });
    /// assert_eq!(Scheme::classical(100, 1_000), Scheme::Classical { bits: 100, hashes: 1 });
    /// ```
    pub fn classical(bits: u64, keys: u64) -> Self {
        let best = bits as f64 / keys.max(1) as f64 * core::f64::consts::LN_2;
        // The cast rounds down and stops at the type's ends.
        let hashes = ((best + 0.5) as u32).clamp(1, MAX_HASHES);
        Self::Classical { bits, hashes }
    }

    /// The scheme's name, as the command line and its JSON spell it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Classical { .. } => "classical",
            Self::Blocked { .. } => "blocked",
            Self::Single { .. } => "single",
            Self::Sequential { .. } => "sequential",
            Self::MultiLevel { .. } => "multi-level",
            Self::TwoChoice { .. } => "two-choice",
            Self::OnePlusAlpha { .. } => "one-plus-alpha",
            Self::Fingerprint { .. } => "fingerprint",
        }
    }
}
