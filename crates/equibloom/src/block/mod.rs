//! Shapes of blocks. A block is a small set, read by one memory access.
//!
//! A shape has no words: it is a description, and functions on a block of any [`Storage`]. They are generic
//! over the [target](isa::Target), and inlined into the entry points that are compiled for each ISA.
//!
//! [`Storage`]: crate::storage::Storage

mod bloom;
pub(crate) mod code;
pub(crate) mod fields;
pub(crate) mod fingerprint;
pub(crate) mod isa;
pub(crate) mod occupancy;
mod pattern;

pub(crate) use bloom::BloomShape;
pub(crate) use equibloom_layout::placement::{BlockIndex, BlockView};
pub(crate) use fingerprint::FingerprintShape;

/// The result of a quick membership test of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// The block does not hold the key.
    No,
    /// The block holds the key, or a key indistinguishable from it.
    Yes,
    /// Unknown: a slower test decides.
    Perhaps,
}

/// Statistics of one block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BlockStats {
    /// Number of keys: counted, or estimated from the set bits.
    pub(crate) load: u32,
    /// Number of set bits of a Bloom block.
    pub(crate) set_bits: Option<u32>,
    /// Probability that the block matches an absent key.
    pub(crate) matching: f64,
    /// Probability that a lookup of an absent key that the block does not match continues.
    pub(crate) continuing: f64,
}
