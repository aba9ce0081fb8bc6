//! A block as statistics see it.

/// How full a block is, and what a key never inserted meets there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BlockStats {
    /// Keys in the block: counted, or the number that most likely set its bits.
    pub(crate) load: u32,
    /// Set bits, in a block that is a Bloom filter.
    pub(crate) set_bits: Option<u32>,
    /// Probability that the block seems to hold a stranger.
    pub(crate) matching: f64,
    /// Share of its hints that send a stranger on, in a block that gives hints.
    pub(crate) marked: Option<f64>,
}
