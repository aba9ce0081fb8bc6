//! The classical Bloom filter: k independent draws over one array of bits.

use super::Prediction;
use crate::error::{Error, require};
use crate::quadrature::Panels;

/// A classical Bloom filter with its keys; an access is the read of one bit position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassicalMachine {
    /// Number of distinct keys inserted.
    pub keys: u64,
    /// Number of bits.
    pub bits: u64,
    /// Bit positions drawn per key, with replacement.
    pub hashes: u32,
}

/// Most hash functions: more have no use.
const MOST_HASHES: u32 = 1 << 16;

impl ClassicalMachine {
    /// What to expect of this filter.
    pub fn predict(&self) -> Result<Prediction, Error> {
        require(self.bits > 0, "bits", self.bits as f64, "at least 1")?;
        require(
            (1..=MOST_HASHES).contains(&self.hashes),
            "hashes",
            f64::from(self.hashes),
            format!("between 1 and {MOST_HASHES}"),
        )?;
        let keys = self.keys as f64;
        let hashes = f64::from(self.hashes);
        let end = self.after(keys);
        let some = if self.keys > 0 { 1.0 } else { 0.0 };
        let apparent: f64 = Panels::new(8)
            .nodes(0.0, 1.0)
            .map(|(share, width)| width * self.after(share * keys).rate(hashes))
            .sum();
        let miss =
            if end.fill < 1.0 { (1.0 - end.fill.powf(hashes)) / (1.0 - end.fill) } else { hashes };
        Ok(Prediction {
            rate: end.rate(hashes),
            rate_deviation: hashes * end.fill.powf(hashes - 1.0) * end.deviation,
            accesses_insert: hashes * some,
            accesses_hit: hashes * some,
            accesses_miss: miss,
            stored_fraction: 1.0 - apparent * some,
            ..Prediction::default()
        })
    }

    /// Share of set bits after `keys` keys.
    fn after(&self, keys: f64) -> Fill {
        let bits = self.bits as f64;
        let draws = keys * f64::from(self.hashes);
        if self.bits == 1 {
            return Fill { fill: if draws > 0.0 { 1.0 } else { 0.0 }, deviation: 0.0 };
        }
        let unset_log = draws * (-1.0 / bits).ln_1p();
        let unset = unset_log.exp();
        // Var(unset bits)/bits² = u₂(1 − 1/m) + u/m − u², u₂ the chance that two given bits are unset.
        let both_log = draws * (-2.0 / bits).ln_1p();
        let dependence = unset * unset * (both_log - 2.0 * unset_log).exp_m1();
        let both = unset * unset + dependence;
        let variance = dependence + (unset - both) / bits;
        Fill { fill: -unset_log.exp_m1(), deviation: variance.max(0.0).sqrt() }
    }
}

/// Mean and deviation of the share of set bits.
struct Fill {
    fill: f64,
    deviation: f64,
}

impl Fill {
    /// E (set share)^k, to second order in its small deviation.
    fn rate(&self, hashes: f64) -> f64 {
        if self.fill == 0.0 {
            return 0.0;
        }
        let relative = self.deviation / self.fill;
        let correction = 1.0 + hashes * (hashes - 1.0) / 2.0 * relative * relative;
        (self.fill.powf(hashes) * correction).min(1.0)
    }
}
