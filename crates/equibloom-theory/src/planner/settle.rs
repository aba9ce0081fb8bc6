//! Blocks and overflow list share the memory: how much each gets.
//!
//! The list's size depends on how many keys the blocks turn away, and that on how many blocks the list leaves
//! room for. Both are settled by trying: each round asks the exact model how much room the list needs.

use super::contender::Contender;
use super::layout::{Blocks, Layout};
use super::memory::{Sizing, capacity, overflow_bytes};
use crate::error::Error;
use crate::exact::Prediction;

/// Rounds until the sizes are settled; the list is so much smaller than the blocks that two or three are enough
/// wherever a filter makes sense.
const ROUNDS: usize = 12;

/// A layout with what to expect of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) layout: Layout,
    pub(crate) expected: Prediction,
}

impl Candidate {
    pub(crate) fn new(layout: Layout, keys: u64) -> Result<Self, Error> {
        let expected = layout.predict(keys)?;
        Ok(Self { layout, expected })
    }

    /// What it stands for.
    pub(crate) fn contender(&self) -> Contender {
        Contender { placement: self.layout.placement(), block: self.layout.block_kind() }
    }
}

/// The filter whose blocks and overflow list together fill the memory. `layout` makes it of a table and the
/// capacity of a list; the first guess of the list is for a share `overflow` of the keys.
pub(crate) fn settle(
    sizing: &Sizing,
    block_bits: u32,
    hashes: u32,
    overflow: f64,
    layout: impl Fn(Blocks, u64) -> Result<Layout, Error>,
) -> Result<Candidate, Error> {
    let keys = sizing.keys as f64;
    let mut room = capacity(overflow * keys, (overflow * keys).sqrt());
    for round in 0..ROUNDS {
        let count = sizing.blocks(block_bits, overflow_bytes(room))?;
        let blocks = Blocks { count, bits: block_bits, hashes };
        let candidate = Candidate::new(layout(blocks, room)?, sizing.keys)?;
        let expected = &candidate.expected;
        let needed =
            capacity(expected.overflow_fraction * keys, expected.overflow_deviation * keys);
        // In the end a list that is a little too large is better than none.
        let wasted = room.saturating_sub(needed);
        if needed <= room && (wasted <= 8 + room / 100 || round > ROUNDS / 2) {
            return Ok(candidate);
        }
        room = if needed > room { needed.saturating_add(needed / 200) } else { needed };
    }
    Err(Error::OutOfRange {
        argument: "memory",
        value: sizing.bytes as f64,
        accepted: "enough for the keys that the blocks turn away: they do not fit beside them"
            .into(),
    })
}
