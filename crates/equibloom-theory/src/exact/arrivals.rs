//! The number of keys that arrive at one block.

use core::f64::consts::TAU;

use crate::poisson::{LARGEST_MEAN, Weights};

/// Shares of blocks below this are left out.
const NEGLIGIBLE: f64 = 1e-24;

/// The same where they are visited in order: below the mean in standard deviations, above it as a share of the largest.
const DEVIATIONS: f64 = 7.0;
const NEGLIGIBLE_ABOVE: f64 = 1e-6;

/// Keys that arrive at a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrivals {
    mean: f64,
    /// The number of blocks over which a fixed number of keys is spread; infinite if that number is random.
    blocks: f64,
}

impl Arrivals {
    /// `total` keys spread at random over `blocks` blocks, seen from one block: binomial, so that small tables are
    /// exact too.
    pub(crate) fn spread(total: f64, blocks: f64) -> Self {
        Self { mean: total / blocks, blocks }
    }

    /// Arrivals of a block at a random time, when `mean` are expected.
    pub(crate) const fn poisson(mean: f64) -> Self {
        Self { mean, blocks: f64::INFINITY }
    }

    /// The number of arrivals.
    pub(crate) fn number(&self) -> Binomial {
        Binomial { mean: self.mean, variance: self.mean * (1.0 - 1.0 / self.blocks) }
    }

    /// The number of different values, if each arrival has one of `values`. Mean and variance are exact.
    ///
    /// One value is missing with probability E (1 − 1/M)^n, two with E (1 − 2/M)^n.
    pub(crate) fn different(&self, values: f64) -> Binomial {
        let Self { mean, blocks } = *self;
        // The logarithm of the first, and of the second over its square.
        let (one, dependence) = if blocks.is_finite() {
            let (total, cells) = (mean * blocks, values * blocks);
            (total * (-1.0 / cells).ln_1p(), total * (-1.0 / (cells - 1.0).powi(2)).ln_1p())
        } else {
            (-mean / values, 0.0)
        };
        let missing = values * one.exp();
        let variance = missing * (missing * dependence.exp_m1() - (one + dependence).exp_m1());
        Binomial { mean: -values * one.exp_m1(), variance: variance.max(0.0) }
    }
}

/// The Poisson distribution with this mean.
pub(crate) fn poisson(mean: f64) -> Weights {
    Arrivals::poisson(mean).number().weights()
}

/// The binomial distribution with a mean and a variance, Poisson if they are equal. The number of trials need not be
/// whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binomial {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
}

impl Binomial {
    /// Large, or without spread: all weight is at the mean.
    fn is_certain(&self) -> bool {
        self.variance <= 1e-9 * self.mean || self.mean > LARGEST_MEAN
    }

    fn mode(&self) -> f64 {
        (self.mean + 1.0 - self.variance / self.mean).floor()
    }

    /// The weight of j over that of j − 1: with N trials and odds o, (N − j + 1)·o / j.
    fn ratio(&self) -> impl Fn(f64) -> f64 + use<> {
        let of_first = self.mean * (self.mean / self.variance);
        let odds = (self.mean / self.variance - 1.0).max(0.0);
        move |j| (of_first - odds * (j - 1.0)) / j
    }

    pub(crate) fn weights(&self) -> Weights {
        if self.is_certain() {
            let part = self.mean.fract();
            return Weights { first: self.mean as usize, mass: vec![1.0 - part, part] };
        }
        let ratio = self.ratio();
        Weights::from_ratio(self.mode() as usize, usize::MAX, NEGLIGIBLE, |j| ratio(j as f64))
    }

    /// Visits all values from `from` on that have weight, in order.
    pub(crate) fn visit_from(&self, from: f64, mut visit: impl FnMut(f64, f64)) {
        if self.is_certain() {
            let (low, part) = (self.mean.floor(), self.mean.fract());
            for (value, weight) in [(low, 1.0 - part), (low + 1.0, part)] {
                if value >= from {
                    visit(value, weight);
                }
            }
            return;
        }
        let ratio = self.ratio();
        let mut value = from.max((self.mean - DEVIATIONS * self.variance.sqrt()).floor());
        let mut weight = self.weight(value);
        let mut largest = weight;
        while weight > NEGLIGIBLE_ABOVE * largest {
            visit(value, weight);
            value += 1.0;
            weight *= ratio(value);
            largest = largest.max(weight);
        }
    }

    /// The weight of one value above 0, by Stirling's formula: nothing cancels for any number of trials (Loader's
    /// saddle-point expansion).
    fn weight(&self, value: f64) -> f64 {
        let Self { mean, variance } = *self;
        let of_successes = stirling_error(value) + deviance(value, mean);
        if variance >= mean {
            return (-of_successes).exp() / (TAU * value).sqrt();
        }
        let trials = mean * (mean / (mean - variance));
        let failures = trials - value;
        if failures < 1e-9 * trials {
            let all = (trials * (mean / trials).ln()).exp();
            return if failures < -1e-9 * trials { 0.0 } else { all };
        }
        let of_failures = stirling_error(failures) + deviance(failures, trials - mean);
        let exponent = stirling_error(trials) - of_successes - of_failures;
        exponent.exp() * (trials / (TAU * value * failures)).sqrt()
    }
}

/// ln x! less Stirling's formula.
fn stirling_error(x: f64) -> f64 {
    if x < 10.0 {
        return stirling_error(x + 1.0) + (x + 0.5) * (1.0 / x).ln_1p() - 1.0;
    }
    let square = 1.0 / (x * x);
    let small = (1.0 / 1260.0 - square / 1680.0) * square;
    (1.0 / 12.0 - (1.0 / 360.0 - small) * square) / x
}

/// x ln(x/mean) + mean − x.
fn deviance(x: f64, mean: f64) -> f64 {
    x * ((x - mean) / mean).ln_1p() + mean - x
}
