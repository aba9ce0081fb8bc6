//! The classical Bloom filter: k independent draws over one array of bits. An access is the read of one bit.

use super::Prediction;
use crate::quadrature::Panels;

pub(crate) fn predict(keys: f64, bits: u64, hashes: u32) -> Prediction {
    let hashes = f64::from(hashes);
    let after = |keys: f64| Fill::after(keys * hashes, bits as f64);
    let end = after(keys);
    let some = if keys > 0.0 { 1.0 } else { 0.0 };
    let apparent: f64 = Panels::new(8)
        .nodes(0.0, 1.0)
        .map(|(share, width)| width * after(share * keys).rate(hashes))
        .sum();
    let miss =
        if end.share < 1.0 { (1.0 - end.share.powf(hashes)) / (1.0 - end.share) } else { hashes };
    Prediction {
        rate: end.rate(hashes),
        rate_deviation: hashes * end.share.powf(hashes - 1.0) * end.deviation,
        accesses_insert: hashes * some,
        accesses_hit: hashes * some,
        accesses_miss: miss,
        stored_fraction: 1.0 - apparent * some,
        ..Prediction::default()
    }
}

/// Mean and deviation of the share of set bits.
struct Fill {
    share: f64,
    deviation: f64,
}

impl Fill {
    /// After `draws` draws over `bits` bits.
    fn after(draws: f64, bits: f64) -> Self {
        if bits == 1.0 {
            return Self { share: if draws > 0.0 { 1.0 } else { 0.0 }, deviation: 0.0 };
        }
        let unset_log = draws * (-1.0 / bits).ln_1p();
        let unset = unset_log.exp();
        // Var(unset bits)/bits² = u₂(1 − 1/m) + u/m − u², u₂ the chance that two given bits are unset.
        let both_log = draws * (-2.0 / bits).ln_1p();
        let dependence = unset * unset * (both_log - 2.0 * unset_log).exp_m1();
        let both = unset * unset + dependence;
        let variance = dependence + (unset - both) / bits;
        Self { share: -unset_log.exp_m1(), deviation: variance.max(0.0).sqrt() }
    }

    /// E (set share)^k, to second order in its small deviation: its logarithm is nearly normal.
    fn rate(&self, hashes: f64) -> f64 {
        if self.share == 0.0 {
            return 0.0;
        }
        let relative = self.deviation / self.share;
        let correction = (hashes * (hashes - 1.0) / 2.0 * relative * relative).exp();
        (self.share.powf(hashes) * correction).min(1.0)
    }
}
