//! Number of keys and memory, given or computed.

use equibloom_layout::HEADER_BYTES;

use super::contradiction;
use super::frontier;
use super::memory::{MOST_BYTES, MOST_KEYS, Sizing};
use super::requirements::Requirements;
use super::settle::Predicted;
use super::survey::Survey;
use crate::error::Error;

/// The requirements on keys and memory.
pub(crate) enum Sizes {
    /// Both are given, directly or by the bits per key.
    Known(Sizing),
    /// One of them follows from the rate.
    Open {
        /// The required rate.
        rate: f64,
        /// The one that is given.
        known: Known,
    },
}

/// The given size; the other one is computed.
#[derive(Clone, Copy)]
pub(crate) enum Known {
    /// The least memory for these keys.
    Keys(u64),
    /// The most keys in these bytes.
    Memory(u64),
}

impl Sizes {
    pub(crate) fn of(requirements: &Requirements) -> Result<Self, Error> {
        let Requirements { keys: given_keys, memory, bits_per_key, .. } = *requirements;
        let rate = requirements.planned_rate();
        let more = 1.0 + requirements.headroom.unwrap_or(0.0);
        let keys = given_keys.map(|keys| ((keys as f64 * more) as u64).min(MOST_KEYS));
        let sizing = match (keys, memory, bits_per_key, rate) {
            (Some(keys), Some(bytes), None, _) => Sizing { keys, bytes },
            (Some(keys), None, Some(bits), _) => {
                let bytes = keys as f64 / more * bits / 8.0;
                Sizing { keys, bytes: bytes.min(MOST_BYTES as f64) as u64 }
            }
            (None, Some(bytes), Some(bits), _) => {
                let keys = (8.0 * bytes as f64 / bits * more) as u64;
                Sizing { keys: keys.clamp(1, MOST_KEYS), bytes }
            }
            (Some(keys), None, None, Some(rate)) => {
                return Ok(Self::Open { rate, known: Known::Keys(keys) });
            }
            (None, Some(bytes), None, Some(rate)) => {
                return Ok(Self::Open { rate, known: Known::Memory(bytes) });
            }
            _ => return Err(Error::SizeNotFixed { given: given(requirements) }),
        };
        Ok(Self::Known(sizing))
    }
}

fn given(requirements: &Requirements) -> String {
    let names = [
        ("keys", requirements.keys.is_some()),
        ("memory", requirements.memory.is_some()),
        ("bits_per_key", requirements.bits_per_key.is_some()),
        ("rate", requirements.rate.is_some()),
    ];
    let given: Vec<&str> =
        names.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    match given.split_last() {
        None => "a filter of no size".to_owned(),
        Some((only, [])) => format!("{only} alone"),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

impl Known {
    /// Keys and bytes at this many bits per key for the table.
    fn sizing(self, table_bits_per_key: f64) -> Sizing {
        match self {
            Self::Keys(keys) => {
                let table = (keys as f64 * table_bits_per_key / 8.0).ceil();
                let lines = (table / 64.0).ceil().max(1.0);
                Sizing { keys, bytes: (HEADER_BYTES + 64 * lines as u64).min(MOST_BYTES) }
            }
            Self::Memory(bytes) => {
                let table = bytes.saturating_sub(HEADER_BYTES) as f64;
                let keys = (8.0 * table / table_bits_per_key) as u64;
                Sizing { keys: keys.clamp(1, MOST_KEYS), bytes }
            }
        }
    }
}

/// A usual number of bits per key.
const USUAL_BITS: f64 = 16.0;

/// The range of bits per key that is searched. One key may need a page for itself.
const FEWEST_BITS: f64 = 0.1;
const MOST_BITS: f64 = 40_000.0;

/// A size is good enough if the rate is at most this far below the required one.
const NEAR: f64 = 0.004;

/// Or if so small a share less would be too few: where blocks get another number of slots the rate falls in a step.
const NARROW: f64 = 2e-3;

/// Maximum number of sizes tried; a few are usual, because ln(rate) is nearly linear in the bits per key.
const MOST_TRIES: usize = 60;

/// The first step from the frontier's size, as a share of it, and the factor from one step to the next.
const STEP: f64 = 0.005;
const LONGER: f64 = 2.0;

/// The rate falls by a factor of about e^0.6 for every bit per key; faster is a step.
const STEEP: f64 = 1.5;

/// The least bits per key at which the best filter reaches the rate: by steps from the frontier's until one end is too
/// few and the other is enough, then by secants.
pub(crate) fn reach(
    requirements: &Requirements,
    survey: &Survey,
    rate: f64,
    known: Known,
) -> Result<(Sizing, Predicted), Error> {
    // About the number of keys.
    let keys = known.sizing(USUAL_BITS).keys as f64;
    let aim = -NEAR / 2.0;
    let mut bits = frontier::bits_for(rate * aim.exp(), keys, requirements.multiset).min(MOST_BITS);
    let mut step = (STEP * bits).max(512.0 / keys);
    // Too few bits, and enough of them, with ln(rate) − ln(required rate) there.
    let mut below: Option<(f64, f64)> = None;
    let mut enough: Option<(f64, f64)> = None;
    let mut found = None;
    for _ in 0..MOST_TRIES {
        let sizing = known.sizing(bits);
        let floor = requirements.rate_floor(sizing.keys);
        let best = survey.reaching(sizing, (rate - floor).max(0.0));
        let excess =
            best.as_ref().map_or(f64::INFINITY, |best| ((best.expected.rate + floor) / rate).ln());
        if excess <= 0.0 {
            enough = Some((bits, excess));
            found = best.map(|best| (sizing, best));
        } else {
            below = Some((bits, excess));
        }
        bits = match (below, enough) {
            (_, Some((_, excess))) if excess > -NEAR => break,
            (Some((low, _)), Some((high, _)))
                if high - low < NARROW * high || is_same(known, high, low) =>
            {
                break;
            }
            // Where blocks get another number of slots the rate falls in a step.
            (Some((low, at_low)), Some((high, at_high)))
                if at_low - at_high < STEEP * (high - low) =>
            {
                low + (high - low) * ((at_low - aim) / (at_low - at_high)).clamp(0.1, 0.9)
            }
            (Some((low, _)), Some((high, _))) => (low + high) / 2.0,
            (Some((low, _)), None) if low < MOST_BITS => (low + step).min(MOST_BITS),
            (None, Some((high, _))) if high > FEWEST_BITS => (high - step).max(FEWEST_BITS),
            _ => break,
        };
        step *= LONGER;
    }
    found.ok_or_else(|| {
        contradiction::no_size_is_enough(requirements, survey, known, known.sizing(bits), rate)
    })
}

/// Whether two numbers of bits per key give the same filter.
fn is_same(known: Known, a: f64, b: f64) -> bool {
    let (a, b) = (known.sizing(a), known.sizing(b));
    a.keys.abs_diff(b.keys) <= 1 && a.bytes.abs_diff(b.bytes) <= 64
}
