//! Number of keys and memory, given or computed.

use equibloom_layout::{BlockKind, HEADER_BYTES};

use super::contradiction;
use super::frontier;
use super::memory::{MOST_BYTES, MOST_KEYS, Sizing};
use super::requirements::{CACHE_LINE_BITS, Requirements};
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
                let lines = (table_bits_per_key / self.least_change(table_bits_per_key)).round();
                Sizing { keys, bytes: (HEADER_BYTES + 64 * lines as u64).min(MOST_BYTES) }
            }
            Self::Memory(bytes) => {
                let table = bytes.saturating_sub(HEADER_BYTES) as f64;
                let keys = (8.0 * table / table_bits_per_key) as u64;
                Sizing { keys: keys.clamp(1, MOST_KEYS), bytes }
            }
        }
    }

    /// The nearest number of bits per key for whole cache lines.
    fn rounded(self, table_bits_per_key: f64) -> f64 {
        let Self::Keys(_) = self else { return table_bits_per_key };
        let line = self.least_change(table_bits_per_key);
        (table_bits_per_key / line).round().max(1.0) * line
    }

    /// The change of the bits per key that makes the smallest other filter: by a cache line, or by a key.
    fn least_change(self, table_bits_per_key: f64) -> f64 {
        match self {
            Self::Keys(keys) => f64::from(CACHE_LINE_BITS) / keys as f64,
            Self::Memory(_) => table_bits_per_key / self.sizing(table_bits_per_key).keys as f64,
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

/// The rate falls by a factor of about e^0.55 for every bit per key.
const SLOPE: f64 = 0.55;

/// Faster is a step: blocks get another number of slots.
const STEEP: f64 = 1.5;

/// The frontier knows such steps and is this near, as a share of the bits; each further try may go farther by a factor.
const NEARBY: f64 = 0.0075;
const FARTHER: f64 = 2.0;

/// The least bits per key at which the best filter reaches the rate: from the frontier's number by the usual slope until
/// one number is too few and the other is enough, then by secants.
pub(crate) fn reach(
    requirements: &Requirements,
    survey: &Survey,
    rate: f64,
    known: Known,
) -> Result<(Sizing, Predicted), Error> {
    // About the number of keys.
    let keys = known.sizing(USUAL_BITS).keys as f64;
    let aim = -NEAR / 2.0;
    let likely = frontier::bits_for(rate * aim.exp(), keys, requirements.multiset);
    let mut bits = known.rounded(likely.min(MOST_BITS));
    let mut farthest = NEARBY * bits;
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
        // The frontier is of fingerprint blocks.
        let most = match best.as_ref().and_then(|best| best.design.block_kind()) {
            Some(BlockKind::Bloom) => f64::INFINITY,
            _ => farthest,
        };
        let least = known.least_change(bits);
        let change = ((excess - aim).abs() / SLOPE).min(most).max(least);
        farthest *= FARTHER;
        if excess <= 0.0 {
            enough = Some((bits, excess));
            found = best.map(|best| (sizing, best));
        } else {
            below = Some((bits, excess));
        }
        let next = match (below, enough) {
            (_, Some((_, excess))) if excess > -NEAR => break,
            (Some((low, at_low)), Some((high, at_high))) => {
                let between = high - low;
                if between < (NARROW * high).max(1.99 * least) {
                    break;
                }
                let share = match at_low - at_high < STEEP * between {
                    true => ((at_low - aim) / (at_low - at_high)).clamp(0.1, 0.9),
                    false => 0.5,
                };
                (low + share * between).max(low + least).min(high - least)
            }
            (Some((low, _)), None) => (low + change).min(MOST_BITS),
            (None, Some((high, _))) => (high - change).max(FEWEST_BITS),
            (None, None) => break,
        };
        let next = known.rounded(next);
        if next == bits {
            break;
        }
        bits = next;
    }
    found.ok_or_else(|| {
        contradiction::no_size_is_enough(requirements, survey, known, known.sizing(bits), rate)
    })
}
