//! The papers' filters, with the papers' parameters, as machines in a given memory.

use super::layout::{Blocks, Layout, Threshold};
use super::memory::{MOST_HASHES, Sizing, divide};
use super::search::best_hashes;
use super::settle::{Candidate, settle};
use super::wishes::Wishes;
use crate::error::{Error, require};
use crate::exact::Prediction;
use crate::optimum::{self, Optimum, paper_hashes};
use crate::paper::{Hashes, Scheme};

/// A scheme of the papers at its optimal parameters, in `memory` bytes with everything counted, and what to
/// expect of it by the exact model.
///
/// The papers leave the overflow list out of the memory; here it is in, and so are padding and header.
///
/// ```
/// use equibloom_theory::paper::{Hashes, Scheme};
/// use equibloom_theory::planner::paper_layout;
///
/// let scheme = Scheme::MultiLevel { accesses: 1.2, choices: 3, overflow: None };
/// let (layout, expected) = paper_layout(scheme, 1_000_000, 3_000_000, 256, Hashes::Paper)?;
/// assert!(layout.bytes() <= 3_000_000);
/// assert!((1.19..1.21).contains(&expected.accesses_insert));
/// # Ok::<(), equibloom_theory::Error>(())
/// ```
pub fn paper_layout(
    scheme: Scheme,
    keys: u64,
    memory: u64,
    block_bits: u32,
    hashes: Hashes,
) -> Result<(Layout, Prediction), Error> {
    let wishes = Wishes {
        keys: Some(keys),
        memory: Some(memory),
        block_bits: Some(block_bits),
        ..Wishes::default()
    };
    wishes.check()?;
    let sizing = Sizing { keys, bytes: memory };
    // A counter has at most 16 bits.
    let room = ((block_bits - 16) / 2).min(MOST_HASHES);
    let room = if scheme == Scheme::Classical { MOST_HASHES } else { room };
    let number = match hashes {
        Hashes::Given(hashes) => {
            let holds = (1..=room).contains(&hashes);
            require(holds, "hashes", f64::from(hashes), format!("between 1 and {room}"))?;
            hashes
        }
        Hashes::Paper | Hashes::Best => paper_hashes(sizing.bits_per_key()).min(room),
    };
    let found = Papers { sizing, block_bits, hashes: number }.layout(scheme)?;
    let found = match hashes {
        Hashes::Best => best_hashes(&found.layout, keys, number, room)?,
        _ => found,
    };
    Ok((found.layout, found.expected))
}

/// Most keys that a block's counter tells apart, less one.
const MOST_LOAD: u32 = u16::MAX as u32 - 1;

struct Papers {
    sizing: Sizing,
    block_bits: u32,
    hashes: u32,
}

impl Papers {
    fn layout(&self, scheme: Scheme) -> Result<Candidate, Error> {
        let blocks = || -> Result<Blocks, Error> {
            let count = self.sizing.blocks(self.block_bits, 0)?;
            Ok(Blocks { count, bits: self.block_bits, hashes: self.hashes })
        };
        let layout = match scheme {
            Scheme::Classical => {
                Layout::Classical { bits: self.sizing.classical_bits()?, hashes: self.hashes }
            }
            Scheme::Blocked => Layout::Blocked { blocks: blocks()? },
            Scheme::TwoChoice => Layout::TwoChoice { blocks: blocks()? },
            Scheme::OnePlusAlpha { alpha } => Layout::OnePlusAlpha { blocks: blocks()?, alpha },
            Scheme::Single { overflow } => {
                return self.with_threshold(
                    |load| optimum::single(load, overflow),
                    |blocks, threshold, overflow_capacity, _| {
                        Ok(Layout::Single { blocks, threshold, hints: 0, overflow_capacity })
                    },
                );
            }
            Scheme::Sequential { accesses, choices, overflow } => {
                return self.with_threshold(
                    |load| optimum::sequential(load, accesses, choices, overflow),
                    |blocks, threshold, overflow_capacity, _| {
                        Ok(Layout::Sequential {
                            blocks,
                            threshold,
                            hints: 0,
                            overflow_capacity,
                            choices,
                            accesses,
                        })
                    },
                );
            }
            Scheme::MultiLevel { accesses, choices, overflow } => {
                return self.with_threshold(
                    |load| optimum::multi_level(load, accesses, choices, overflow),
                    |blocks, threshold, overflow_capacity, optimum| {
                        let subtables = divide(blocks.count, &optimum.subtables)?;
                        Ok(Layout::MultiLevel {
                            blocks,
                            threshold,
                            hints: 0,
                            overflow_capacity,
                            subtables,
                        })
                    },
                );
            }
        };
        Candidate::new(layout, self.sizing.keys)
    }

    /// The optimum depends on the load, and so on the room that the overflow list takes.
    fn with_threshold(
        &self,
        optimum_at: impl Fn(f64) -> Result<Optimum, Error>,
        layout: impl Fn(Blocks, Threshold, u64, &Optimum) -> Result<Layout, Error>,
    ) -> Result<Candidate, Error> {
        let keys = self.sizing.keys as f64;
        let unshared = self.sizing.blocks(self.block_bits, 0)?;
        let overflow = optimum_at(keys / unshared as f64)?.overflow;
        settle(&self.sizing, self.block_bits, self.hashes, overflow, |blocks, capacity| {
            let optimum = optimum_at(keys / blocks.count as f64)?;
            require(
                optimum.threshold <= MOST_LOAD,
                "load",
                keys / blocks.count as f64,
                format!(
                    "lower: the threshold would be {}, above {MOST_LOAD} keys a block",
                    optimum.threshold
                ),
            )?;
            let threshold = Threshold { load: optimum.threshold, probability: optimum.probability };
            layout(blocks, threshold, capacity, &optimum)
        })
    }
}
