//! Statistics of one block.

/// Load and match probabilities of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BlockStats {
    /// Number of keys: counted, or estimated from the set bits.
    pub(crate) load: u32,
    /// Number of set bits of a Bloom block.
    pub(crate) set_bits: Option<u32>,
    /// Probability that the block matches an absent key.
    pub(crate) matching: f64,
    /// Share of its hints that are set, if it has any.
    pub(crate) hints_set: Option<f64>,
}
