//! The papers' filters, with the papers' parameters, in a given memory.

use equibloom_layout::{Blocks, Design, MAX_HASHES};

use super::memory::Sizing;
use super::requirements::Requirements;
use super::settle::{Predicted, settle};
use crate::error::Error;
use crate::exact::{Prediction, best_hashes_from};
use crate::optimum::paper_hashes;
use crate::paper::{Hashes, Scheme};

/// A scheme of the papers at its optimal parameters, in `memory` bytes with everything counted, and its
/// properties by the exact model.
///
/// The papers do not count the overflow list; here it counts, with padding and header.
///
/// ```
/// use equibloom_theory::paper::{Hashes, Scheme};
/// use equibloom_theory::planner::paper_design;
///
/// let scheme = Scheme::MultiLevel { accesses: 1.2, choices: 3, overflow: None };
/// let (design, expected) = paper_design(scheme, 1_000_000, 3_000_000, 256, Hashes::Paper)?;
/// assert!(design.bytes() <= 3_000_000);
/// assert!((1.19..1.21).contains(&expected.accesses_insert));
/// # Ok::<(), equibloom_theory::Error>(())
/// ```
pub fn paper_design(
    scheme: Scheme,
    keys: u64,
    memory: u64,
    block_bits: u32,
    hashes: Hashes,
) -> Result<(Design, Prediction), Error> {
    Requirements {
        keys: Some(keys),
        memory: Some(memory),
        block_bits: Some(block_bits),
        ..Requirements::default()
    }
    .check()?;
    let sizing = Sizing { keys, bytes: memory };
    let number = match hashes {
        Hashes::Given(hashes) => hashes,
        Hashes::Paper | Hashes::Best => paper_hashes(sizing.bits_per_key()).min(MAX_HASHES),
    };
    let blocks = Blocks::bloom(block_bits, number);
    let found = if scheme == Scheme::Classical {
        let bits = sizing.classical_bits()?;
        Predicted::new(Design::Classical { bits, hashes: number }, keys)?
    } else {
        let alone = sizing.blocks(blocks.stride_bits(), 0)?;
        let optimum = scheme.optimum(keys as f64 / alone as f64)?;
        // The optimum depends on the load, and so on the size of the overflow list.
        settle(&sizing, blocks, optimum.map_or(0.0, |optimum| optimum.overflow), |count, list| {
            let design = scheme.design(blocks, count, keys, list)?;
            let is_given = matches!(hashes, Hashes::Given(_));
            let most = if is_given { number } else { design.max_hashes() };
            Ok(design.with_hashes(number.min(most)))
        })?
    };
    match hashes {
        Hashes::Best => best_hashes_from(&found.design, keys, number),
        Hashes::Given(_) | Hashes::Paper => Ok((found.design, found.expected)),
    }
}
