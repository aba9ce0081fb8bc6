//! Number of keys and memory, given or computed.

use equibloom_layout::HEADER_BYTES;

use super::contender::Contender;
use super::contradiction;
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
        let Requirements { keys, memory, bits_per_key, rate, .. } = *requirements;
        let sizing = match (keys, memory, bits_per_key, rate) {
            (Some(keys), Some(bytes), None, _) => Sizing { keys, bytes },
            (Some(keys), None, Some(bits), _) => {
                Sizing { keys, bytes: (keys as f64 * bits / 8.0).min(MOST_BYTES as f64) as u64 }
            }
            (None, Some(bytes), Some(bits), _) => {
                let keys = (8.0 * bytes as f64 / bits) as u64;
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

/// ln(rate) falls by about this much for every bit per key: 0.48 for the classical filter, less with blocks.
const USUAL_SLOPE: f64 = 0.4;

/// A size is good enough if the rate is at most this far below the required one.
const NEAR: f64 = 0.003;

/// Maximum number of sizes tried; a few are usual, because ln(rate) is nearly linear in the bits per key.
const MOST_TRIES: usize = 60;

/// The least bits per key at which the best filter reaches the rate.
pub(crate) fn reach(requirements: &Requirements, rate: f64, known: Known) -> Result<Survey, Error> {
    let all = Contender::of(requirements)?;
    let mut contenders = all.clone();
    // Too few bits, and enough of them, with ln(rate) − ln(required rate) there.
    let mut below = (FEWEST_BITS, f64::INFINITY);
    let mut enough: Option<(f64, f64)> = None;
    let mut bits = (rate.ln() / -USUAL_SLOPE).clamp(1.0, MOST_BITS);
    for _ in 0..MOST_TRIES {
        let sizing = known.sizing(bits);
        let survey = Survey::near_best(&contenders, requirements.limits(), sizing, CONTENTION);
        let excess = survey.best().map_or(f64::INFINITY, |best| {
            ((best.expected.rate + requirements.rate_floor(sizing.keys)) / rate).ln()
        });
        if excess <= 0.0 {
            enough = Some((bits, excess));
        } else {
            below = (bits, excess);
        }
        if let Some((high, excess)) = enough
            && (excess > -NEAR || high - below.0 < 1e-4 * high || is_same(known, high, below.0))
        {
            break;
        }
        if bits >= MOST_BITS && enough.is_none() {
            break;
        }
        contenders = those_in_contention(&all, &survey);
        bits = next(below, enough, rate);
    }
    let Some((bits, _)) = enough else {
        let survey = Survey::take(requirements, &all, known.sizing(bits));
        return Err(contradiction::no_memory_is_enough(requirements, &survey, rate));
    };
    Ok(Survey::take(requirements, &all, known.sizing(bits)))
}

/// Whether two numbers of bits per key give the same filter.
fn is_same(known: Known, a: f64, b: f64) -> bool {
    let (a, b) = (known.sizing(a), known.sizing(b));
    a.keys.abs_diff(b.keys) <= 1 && a.bytes.abs_diff(b.bytes) <= 64
}

/// By a typical slope while one end is unknown, then by the secant, never too near an end.
fn next(below: (f64, f64), enough: Option<(f64, f64)>, rate: f64) -> f64 {
    let aim = -NEAR / 2.0;
    match enough {
        None if below.1.is_finite() => {
            let step = (below.1 - aim) / USUAL_SLOPE;
            (below.0 + step.max(0.05)).min(2.0 * below.0).min(MOST_BITS)
        }
        None => (4.0 * below.0).min(MOST_BITS),
        Some((high, at_high)) if below.1.is_finite() => {
            let width = high - below.0;
            let share = (below.1 - aim) / (below.1 - at_high);
            below.0 + width * share.clamp(0.02, 0.98)
        }
        Some((high, at_high)) => {
            // Towards fewer bits, with the slope from the origin, where the rate is 1.
            let slope = (at_high + rate.ln()) / high;
            let step = (at_high - aim) / slope.min(-0.01);
            (high - step.abs().max(0.05))
                .max((below.0 + high) / 2.0 - high / 4.0)
                .max(below.0 * 1.001)
        }
    }
}

/// Filters within this factor of the best are followed to the next size.
const CONTENTION: f64 = 2.0;

fn those_in_contention(all: &[Contender], survey: &Survey) -> Vec<Contender> {
    let Some(best) = survey.best() else { return all.to_vec() };
    let most = CONTENTION * best.expected.rate;
    let near = survey.found().filter(|found| found.expected.rate <= most);
    near.map(Predicted::contender).collect()
}
