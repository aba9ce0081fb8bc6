//! The number of hash functions, and the share of second choices, with the lowest rate.
//!
//! The textbook k = β·ln 2 is right for evenly loaded bits. A block that is fuller than average suffers
//! more from a large k than an emptier one gains, so the best k of a blocked filter is lower. The rate
//! falls and then rises with k; we walk downhill from below the textbook value.

use super::{ClassicalMachine, Levels, MOST_HASHES, Machine, Placement, Prediction};
use crate::error::Error;
use crate::minimum;

/// Where the walk starts, as a share of the textbook value.
const START: f64 = 0.8;

/// The best number of hash functions for this machine (its own `hashes` is ignored), with what to expect.
pub fn best_hashes(machine: &Machine) -> Result<(u32, Prediction), Error> {
    let blocks = match &machine.placement {
        Placement::LeastLoaded { blocks, .. } => *blocks,
        Placement::Threshold { levels: Levels::Shared { blocks, .. }, .. } => *blocks,
        Placement::Threshold { levels: Levels::Subtables(sizes), .. } => {
            sizes.iter().fold(0, |sum: u64, &blocks| sum.saturating_add(blocks))
        }
    };
    let bits_per_key = f64::from(machine.data_bits) * blocks as f64 / machine.keys.max(1) as f64;
    let most = machine.data_bits.min(MOST_HASHES);
    downhill(textbook(START * bits_per_key, most), most, |hashes| {
        Machine { hashes, ..machine.clone() }.predict()
    })
}

/// The best number of hash functions for a classical filter (its own `hashes` is ignored).
pub fn best_hashes_classical(machine: &ClassicalMachine) -> Result<(u32, Prediction), Error> {
    let bits_per_key = machine.bits as f64 / machine.keys.max(1) as f64;
    downhill(textbook(bits_per_key, MOST_HASHES), MOST_HASHES, |hashes| {
        ClassicalMachine { hashes, ..*machine }.predict()
    })
}

/// The share of second choices with the lowest rate for `blocks` blocks, where the number of hash functions
/// is `hashes`, or for each share the best one if not given.
pub fn best_second_choice(
    keys: u64,
    blocks: u64,
    data_bits: u32,
    hashes: Option<u32>,
) -> Result<(f64, u32, Prediction), Error> {
    let at = |second_choice: f64| {
        let placement = Placement::LeastLoaded { blocks, second_choice };
        let machine = Machine { keys, data_bits, hashes: hashes.unwrap_or(1), placement };
        match hashes {
            Some(hashes) => Ok((hashes, machine.predict()?)),
            None => best_hashes(&machine),
        }
    };
    let best = minimum::of_unimodal(|second_choice| Ok(at(second_choice)?.1.rate))?;
    let (hashes, prediction) = at(best)?;
    Ok((best, hashes, prediction))
}

fn textbook(bits_per_key: f64, most: u32) -> u32 {
    (bits_per_key * core::f64::consts::LN_2).round().clamp(1.0, f64::from(most.max(1))) as u32
}

/// The number of hash functions with the lowest rate, found from `start`.
fn downhill(
    start: u32,
    most: u32,
    predict: impl Fn(u32) -> Result<Prediction, Error>,
) -> Result<(u32, Prediction), Error> {
    minimum::of_whole_numbers(start, most, |hashes| {
        let prediction = predict(hashes)?;
        Ok((prediction.rate, prediction))
    })
}
