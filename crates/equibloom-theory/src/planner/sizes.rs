//! Number of keys and memory, given or computed.

use equibloom_layout::HEADER_BYTES;

use super::contradiction;
use super::frontier;
use super::memory::{LINE_BYTES, MOST_BYTES, MOST_KEYS, Sizing};
use super::requirements::Requirements;
use super::search::SMALL;
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
        let Requirements { keys: given_keys, memory, bits_per_key, rate, .. } = *requirements;
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

/// The range of bits per key that is searched. One key may need a page for itself.
const FEWEST_BITS: f64 = 0.1;
const MOST_BITS: f64 = 40_000.0;

/// A size is good enough if the rate is at most this far below the required one.
const NEAR: f64 = 0.004;

/// Or if so small a share less would be too few: where blocks get another number of slots the rate falls in a step.
const NARROW: f64 = 1e-3;

/// Maximum number of sizes tried; a few are usual, because ln(rate) is nearly linear in the bits per key.
const MOST_TRIES: usize = 60;

/// The least bits per key at which the best filter reaches the rate: first roughly, then exactly.
pub(crate) fn reach(
    requirements: &Requirements,
    survey: &Survey,
    rate: f64,
    known: Known,
) -> Result<(Sizing, Predicted), Error> {
    let mut bits =
        frontier::bits_for((1.0 - NEAR / 2.0) * rate, requirements.multiset).min(MOST_BITS);
    let mut found = None;
    for rough in [true, false] {
        // Too few bits, and enough of them, with ln(rate) − ln(required rate) there.
        let mut below = (FEWEST_BITS, f64::INFINITY);
        let mut enough: Option<(f64, f64)> = None;
        found = None;
        for _ in 0..MOST_TRIES {
            let sizing = known.sizing(bits);
            let best = survey.search(sizing, rough);
            let excess = best.as_ref().map_or(f64::INFINITY, |best| {
                ((best.expected.rate + requirements.rate_floor(sizing.keys)) / rate).ln()
            });
            if excess <= 0.0 {
                enough = Some((bits, excess));
                found = best.map(|best| (sizing, best));
            } else {
                below = (bits, excess);
            }
            if let Some((high, excess)) = enough
                && (excess > -NEAR
                    || high - below.0 < NARROW * high
                    || is_same(known, high, below.0))
            {
                break;
            }
            if bits >= MOST_BITS && enough.is_none() {
                break;
            }
            let line = 512.0 / sizing.keys as f64;
            bits = next(below, enough, rate, requirements.multiset, line);
        }
        bits = enough.map_or(bits, |(bits, _)| bits);
        if known.sizing(bits).bytes > SMALL * LINE_BYTES {
            break;
        }
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

/// By the frontier's slope while one end is unknown, then by the secant, never too near an end.
fn next(
    below: (f64, f64),
    enough: Option<(f64, f64)>,
    rate: f64,
    multiset: bool,
    line: f64,
) -> f64 {
    let aim = -NEAR / 2.0;
    // As many bits more as on the frontier.
    let difference = |excess: f64| {
        let lower = rate * (aim - excess).clamp(-30.0, 30.0).exp();
        frontier::bits_for(lower, multiset) - frontier::bits_for(rate, multiset)
    };
    match enough {
        None if below.1.is_finite() => {
            (below.0 + difference(below.1).max(line.max(0.01))).min(2.0 * below.0).min(MOST_BITS)
        }
        None => (4.0 * below.0).min(MOST_BITS),
        Some((high, at_high)) if below.1.is_finite() => {
            let width = high - below.0;
            let share = (below.1 - aim) / (below.1 - at_high);
            below.0 + width * share.clamp(0.02, 0.98)
        }
        Some((high, at_high)) => {
            (high + difference(at_high).min(-line.max(0.01))).max(below.0 + 0.3 * (high - below.0))
        }
    }
}
