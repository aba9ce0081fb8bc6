//! Divides the memory between blocks and overflow list.
//!
//! The list's size depends on how many keys the blocks reject, and that on how many blocks fit beside the list.
//! Both are settled by iteration: each round takes the list's size from the exact model.

use equibloom_layout::{Blocks, Design, Overflow};

use super::memory::{Sizing, overflow_list};
use crate::error::Error;
use crate::exact::{Prediction, predict};

/// Rounds until the sizes are settled; the list is so much smaller than the blocks that two or three are enough
/// for any sensible filter.
const ROUNDS: usize = 12;

/// A filter and its expected properties.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Predicted {
    pub(crate) design: Design,
    pub(crate) expected: Prediction,
}

impl Predicted {
    pub(crate) fn new(design: impl Into<Design>, keys: u64) -> Result<Self, Error> {
        let design = design.into();
        let expected = predict(&design, keys)?;
        Ok(Self { design, expected })
    }
}

impl From<(Design, Prediction)> for Predicted {
    fn from((design, expected): (Design, Prediction)) -> Self {
        Self { design, expected }
    }
}

/// The filter whose blocks and overflow list together fill the memory. `design` makes it from a number of
/// blocks and a list; the first guess of the list is for a share `overflow` of the keys.
pub(crate) fn settle(
    sizing: &Sizing,
    kind: Blocks,
    overflow: f64,
    design: impl Fn(u64, Overflow) -> Result<Design, Error>,
) -> Result<Predicted, Error> {
    let keys = sizing.keys as f64;
    let mut list = overflow_list(overflow * keys + 6.0 * (overflow * keys).sqrt());
    for round in 0..ROUNDS {
        let blocks = sizing.blocks(kind.stride_bits(), list.bytes())?;
        let found = Predicted::new(design(blocks, list)?, sizing.keys)?;
        let needed = overflow_list(found.expected.overflow_most * keys).capacity;
        let room = list.capacity;
        // Finally a list that is a little too large is better than none.
        let wasted = room.saturating_sub(needed);
        if needed <= room && (wasted <= 8 + room / 100 || round > ROUNDS / 2) {
            return Ok(found);
        }
        list.capacity = if needed > room { needed.saturating_add(needed / 200) } else { needed };
    }
    Err(Error::OutOfRange {
        argument: "memory",
        value: sizing.bytes as f64,
        accepted: "enough for the keys that the blocks reject: they do not fit beside them".into(),
    })
}
