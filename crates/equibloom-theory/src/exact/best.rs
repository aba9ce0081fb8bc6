//! The number of hashes, and the share of second choices, with the lowest rate.
//!
//! The textbook k = β·ln 2 is right for evenly loaded bits. A block that is fuller than average suffers
//! more from a large k than an emptier one gains, so the best k of a blocked filter is lower. The rate
//! falls and then rises with k; we walk downhill from below the textbook value.

use core::f64::consts::LN_2;

use equibloom_layout::{Blocks, Design, Layout, Share};

use super::{Prediction, predict};
use crate::error::Error;
use crate::minimum;

/// Where the walk starts, as a share of the textbook value.
const START: f64 = 0.8;

/// The same filter with the number of hashes that has the lowest rate, and what to expect of it.
pub fn best_hashes(design: &Design, keys: u64) -> Result<(Design, Prediction), Error> {
    let (bits, start) = match design {
        Design::Classical { bits, .. } => (*bits as f64, 1.0),
        Design::Blocked(layout) => {
            (f64::from(layout.data_bits()) * layout.candidates.blocks() as f64, START)
        }
        Design::List { .. } => return Ok((*design, predict(design, keys)?)),
    };
    best_hashes_from(design, keys, (start * bits / keys.max(1) as f64 * LN_2).round() as u32)
}

/// The same, searched from `start`.
pub(crate) fn best_hashes_from(
    design: &Design,
    keys: u64,
    start: u32,
) -> Result<(Design, Prediction), Error> {
    let most = design.max_hashes().max(1);
    let (_, best) = minimum::of_whole_numbers(start.clamp(1, most), most, |hashes| {
        let design = design.with_hashes(hashes);
        let expected = predict(&design, keys)?;
        Ok((expected.rate, (design, expected)))
    })?;
    Ok(best)
}

/// The share of keys with a second choice that has the lowest rate for `blocks` blocks, with `hashes` hash
/// functions, or the best number for each share if not given. Returns it with that number and the prediction.
pub fn best_second_choice(
    keys: u64,
    blocks: u64,
    block_bits: u32,
    hashes: Option<u32>,
) -> Result<(f64, u32, Prediction), Error> {
    let at = |share: f64| {
        let kind = Blocks::bloom(block_bits, hashes.unwrap_or(1));
        let design = Layout::one_plus_alpha(kind, blocks, Share::new(share)?).into();
        match hashes {
            Some(_) => Ok((design, predict(&design, keys)?)),
            None => best_hashes(&design, keys),
        }
    };
    let best = minimum::of_unimodal(|share| Ok(at(share)?.1.rate))?;
    let (design, expected) = at(best)?;
    Ok((best, design.hashes(), expected))
}
