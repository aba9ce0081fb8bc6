//! The lower bound on the cost of any balancing scheme (Theorems 1 and 2).
//!
//! Read the `a·n` bucket accesses as `a·n` balls thrown at random, so that a bucket is hit by
//! X ~ Poisson(λ), λ = a·r. All but `(1 − γ)·n` of the balls are then taken away again, always from a
//! fullest bucket: no online scheme can do better, whatever its convex cost. What remains is X cut
//! off at a level between k0 and k0 + 1:
//!
//! ```text
//!     E min(X, k0) < r(1−γ) ≤ E min(X, k0 + 1)
//!     P(i) = Pr{X = i} for i < k0;  P(k0+1) = surplus(k0);  P(k0) = Pr{X = k0} − surplus(k0 + 1)
//!     surplus(k) = r(1−γ) − E min(X, k)
//! ```
//!
//! which is the papers' definition with `e0`, `p0` and the gamma functions taken out. The surplus is a
//! small difference of large numbers as printed. It has two harmless forms,
//! `E(k − X)⁺ − (k − r(1−γ))` and `E(X − k)⁺ − r(a − 1 + γ)`; we take the one whose parts are smaller
//! (the first below the mean of X, the second above).
//!
//! At a = 1, γ = 0 nothing is taken away and k0 is infinite: the bound is then X itself.

use crate::error::{Error, require};
use crate::poisson::{LARGEST_MEAN, Poisson};

/// Probabilities below this do not count as carrying mass when a cost function is checked.
///
/// An unbounded distribution (infinite k0) reaches loads where the false-positive rate of a block is no longer
/// convex, with negligible probabilities.
pub const NEGLIGIBLE_MASS: f64 = 1e-12;

/// Probabilities below this are left off the end of an unbounded distribution.
const SMALLEST_LISTED: f64 = 1e-40;

/// The distribution of loads no scheme can beat, for every convex non-decreasing cost.
#[derive(Debug, Clone, PartialEq)]
pub struct LowerBound {
    /// The load up to which the Poisson distribution is kept; `None` when it is infinite.
    pub k0: Option<u32>,
    /// Σ i·Pr{X = i} over i ≤ k0.
    pub e0: f64,
    /// Pr{X ≤ k0}.
    pub p0: f64,
    /// Probability of load i.
    pub distribution: Vec<f64>,
}

/// The lower bound for `load` elements per bucket, `accesses` bucket accesses per element on average,
/// and a fraction `overflow` of the elements kept elsewhere.
///
/// By Theorem 2 it also holds for several hash distributions whose mixture is uniform.
pub fn lower_bound(load: f64, accesses: f64, overflow: f64) -> Result<LowerBound, Error> {
    check_point(load, accesses, overflow)?;
    let arrivals = Poisson::new(accesses * load);
    let removed = accesses - 1.0 + overflow;
    if removed == 0.0 {
        return Ok(unbounded(&arrivals));
    }
    let surplus = Surplus { arrivals: &arrivals, load, overflow, removed: load * removed };
    let k0 = surplus.last_positive();
    let mut distribution: Vec<f64> = (0..k0).map(|i| arrivals.mass(i)).collect();
    // The clamps only remove rounding noise.
    distribution.push((arrivals.mass(k0) - surplus.at(k0 + 1)).max(0.0));
    distribution.push(surplus.at(k0).max(0.0));
    Ok(LowerBound {
        k0: Some(k0 as u32),
        e0: arrivals.mean() * arrivals.below(k0),
        p0: arrivals.below(k0 + 1),
        distribution,
    })
}

/// A distribution of hash values over the buckets, and the share of all bucket accesses that use it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HashDistribution<'a> {
    /// Share k_p of the accesses.
    pub share: f64,
    /// Probability f_p(i) of each bucket.
    pub buckets: &'a [f64],
}

/// The lower bound for several hash distributions (Theorem 2): that of Theorem 1, if together they reach all buckets
/// equally often, Σ k_p·f_p(i) = 1/m.
///
/// # Errors
/// The offending bucket, if they do not; the share or distribution that is none.
pub fn lower_bound_of_distributions(
    load: f64,
    accesses: f64,
    overflow: f64,
    distributions: &[HashDistribution<'_>],
) -> Result<LowerBound, Error> {
    let near = |value: f64, expected: f64| (value - expected).abs() <= MIXTURE_ROUNDING * expected;
    let buckets = distributions.first().map_or(0, |first| first.buckets.len());
    require(
        buckets > 0,
        "number of buckets",
        buckets as f64,
        "at least 1, in at least 1 distribution",
    )?;
    let mut mixture = vec![0.0; buckets];
    for (number, HashDistribution { share, buckets: of_bucket }) in distributions.iter().enumerate()
    {
        let length = of_bucket.len() as f64;
        let wanted = format!("{buckets} in every distribution, also in number {number}");
        require(of_bucket.len() == buckets, "number of buckets", length, wanted)?;
        let wanted = || format!("between 0 and 1, also for distribution {number}");
        require((0.0..=1.0).contains(share), "share of the accesses", *share, wanted())?;
        if let Some(&odd) = of_bucket.iter().find(|&&chance| !(0.0..=1.0).contains(&chance)) {
            require(false, "probability of a bucket", odd, wanted())?;
        }
        let sum: f64 = of_bucket.iter().sum();
        let wanted = format!("1 in every distribution, also in number {number}");
        require(near(sum, 1.0), "sum of the probabilities", sum, wanted)?;
        mixture.iter_mut().zip(*of_bucket).for_each(|(sum, chance)| *sum += share * chance);
    }
    let shares: f64 = distributions.iter().map(|distribution| distribution.share).sum();
    require(near(shares, 1.0), "sum of the shares", shares, "1")?;
    let uniform = 1.0 / buckets as f64;
    if let Some(odd) = mixture.iter().position(|&chance| !near(chance, uniform)) {
        let wanted = format!(
            "1/m = {uniform} in every bucket, also in bucket {odd}: change shares or distributions"
        );
        require(false, "probability of a bucket over all accesses", mixture[odd], wanted)?;
    }
    lower_bound(load, accesses, overflow)
}

/// Tolerance for probabilities that were rounded.
const MIXTURE_ROUNDING: f64 = 1e-6;

/// Refuses points outside the (load, accesses, overflow) space.
pub(crate) fn check_point(load: f64, accesses: f64, overflow: f64) -> Result<(), Error> {
    require(
        load > 0.0 && load <= LARGEST_MEAN,
        "load",
        load,
        format!("above 0 and at most {LARGEST_MEAN:e}"),
    )?;
    require((0.0..1.0).contains(&overflow), "overflow", overflow, "at least 0 and below 1")?;
    require(
        accesses > 0.0 && accesses * load <= LARGEST_MEAN,
        "accesses",
        accesses,
        format!("above 0, and accesses · load at most {LARGEST_MEAN:e}"),
    )?;
    require(
        accesses - 1.0 + overflow >= 0.0,
        "accesses",
        accesses,
        format!(
            "at least {}, because an element that is not in the overflow list needs one access",
            1.0 - overflow
        ),
    )
}

fn unbounded(arrivals: &Poisson) -> LowerBound {
    let mut distribution: Vec<f64> = (0..=arrivals.last()).map(|i| arrivals.mass(i)).collect();
    while distribution.len() > 1 && distribution.last().is_some_and(|&mass| mass < SMALLEST_LISTED)
    {
        distribution.pop();
    }
    LowerBound { k0: None, e0: arrivals.mean(), p0: 1.0, distribution }
}

/// r(1−γ) − E min(X, k): how much load is left to place once every bucket is cut off at k.
struct Surplus<'a> {
    arrivals: &'a Poisson,
    load: f64,
    overflow: f64,
    /// r(a − 1 + γ).
    removed: f64,
}

impl Surplus<'_> {
    fn at(&self, k: usize) -> f64 {
        if (k as f64) <= self.arrivals.mean() {
            // r(1−γ) − k with a single rounding, so that a tiny surplus keeps its digits.
            let placed_above = (-self.load).mul_add(self.overflow, self.load - k as f64);
            self.arrivals.shortfall(k) + placed_above
        } else {
            self.arrivals.excess(k) - self.removed
        }
    }

    /// The largest k with a positive surplus; it decreases in k, is r(1−γ) at 0 and negative past
    /// the last value with mass.
    fn last_positive(&self) -> usize {
        let (mut positive, mut not) = (0, self.arrivals.last() + 2);
        while not - positive > 1 {
            let middle = positive + (not - positive) / 2;
            if self.at(middle) > 0.0 {
                positive = middle;
            } else {
                not = middle;
            }
        }
        positive
    }
}

impl LowerBound {
    /// The least possible mean cost per bucket, for a cost given as a function of the load.
    ///
    /// The cost must be convex and non-decreasing over the loads that carry mass.
    pub fn cost(&self, cost: impl Fn(u32) -> f64) -> Result<f64, Error> {
        let costs: Vec<f64> = (0..self.distribution.len()).map(|load| cost(load as u32)).collect();
        let carries = |&mass: &f64| mass > NEGLIGIBLE_MASS;
        let from = self.distribution.iter().position(carries).unwrap_or(0);
        let to = self.distribution.iter().rposition(carries).unwrap_or(0);
        check_cost(&costs[from..=to], from)?;
        let cost =
            self.distribution.iter().zip(&costs).map(|(mass, cost)| mass * cost).sum::<f64>();
        require(cost.is_finite(), "cost", cost, "finite at every load with a probability")?;
        Ok(cost)
    }

    /// The least possible largest load: the limit of (E Lᑫ)^(1/q). `None` when it is infinite.
    pub fn max_load(&self) -> Option<u32> {
        self.k0?;
        self.distribution.iter().rposition(|&mass| mass > 0.0).map(|load| load as u32)
    }

    /// The least possible variance of the load.
    pub fn variance(&self) -> Result<f64, Error> {
        self.cost(costs::variance(self.mean_load()))
    }

    /// The mean load per bucket, r(1−γ).
    pub fn mean_load(&self) -> f64 {
        self.distribution.iter().enumerate().map(|(load, mass)| load as f64 * mass).sum()
    }
}

/// Differences may be negative by rounding only: by this share of the largest cost.
const COST_ROUNDING: f64 = 1e-13;

fn check_cost(costs: &[f64], first: usize) -> Result<(), Error> {
    let to = (first + costs.len() - 1) as u32;
    let unfit = |property, index: usize, width: usize| Error::UnfitCost {
        property,
        load: (first + index) as u32,
        costs: costs[index..index + width].to_vec(),
        from: first as u32,
        to,
    };
    if let Some(index) = costs.iter().position(|cost| !cost.is_finite()) {
        return Err(unfit("finite", index, 1));
    }
    let slack = |costs: &[f64]| {
        COST_ROUNDING * costs.iter().fold(0.0_f64, |largest, cost| largest.max(cost.abs()))
    };
    if let Some(index) = costs.windows(2).position(|c| c[1] - c[0] < -slack(c)) {
        return Err(unfit("non-decreasing", index, 2));
    }
    if let Some(index) = costs.windows(3).position(|c| c[2] - 2.0 * c[1] + c[0] < -4.0 * slack(c)) {
        return Err(unfit("convex", index, 3));
    }
    Ok(())
}

/// Costs the papers use.
pub mod costs {
    /// False-positive rate of a Bloom block of `bits` bits with `hashes` hash functions, in the
    /// papers' form (1 − e^{−ki/B})^k.
    ///
    /// It is convex only up to a load of (B/k)·ln k. For the papers' schemes with a counter, `bits`
    /// is B − b.
    pub fn bloom_block(bits: f64, hashes: u32) -> impl Fn(u32) -> f64 {
        let per_load = f64::from(hashes) / bits;
        move |load| (-(-per_load * f64::from(load)).exp_m1()).powi(hashes as i32)
    }

    /// i² − mean²: its mean is the variance of the load.
    pub fn variance(mean: f64) -> impl Fn(u32) -> f64 {
        move |load| f64::from(load).powi(2) - mean * mean
    }
}

#[cfg(test)]
#[path = "lower_bound_tests.rs"]
mod tests;
