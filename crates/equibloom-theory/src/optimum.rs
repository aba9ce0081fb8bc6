//! The parameters with which the papers' schemes reach the lower bound (Theorems 3 to 6).
//!
//! All three schemes place an element in the first of its buckets that holds fewer than `h`
//! elements, or exactly `h` and a coin of probability `p` agrees. A bucket reached by X ~ Poisson(λ)
//! attempts then holds X if X < h, and of j − h further attempts one is admitted unless all coins
//! fail:
//!
//! ```text
//!     f_h     = Σ_{j≥h} Pr{X = j}·(1−p)^{j−h}
//!     f_{h+1} = Σ_{j>h} Pr{X = j}·(1 − (1−p)^{j−h})
//! ```
//!
//! This is the papers' fixed-point equation without its cancellation (as printed it loses all digits
//! as p → 1), valid for p = 1 and h = 0 too. The optimum has h = k0 and f_{h+1} = P(k0 + 1); we solve
//! whichever of the two equations has the smaller right-hand side.
//!
//! **Multi-level.** Every subtable passes on the share ρ = 1 − (1−γ)/a of what reaches it, so accesses
//! and overflow are a geometric series: a = 1 + ρ + … + ρ^{d−1} and γ0 = ρ^d, whatever the load.
//!
//! **Sequential.** After s·n attempts the table is a single-choice table with s·n elements and rejects
//! an attempt with probability P(s). An element needs g = 1 + P + … + P^{d−1} attempts, so the
//! budget of a·n ends exactly with the last element if ∫₀ᵃ ds/g(P(s)) = 1, and then
//! γ0 = ∫₀ᵃ P(s)^d/g(P(s)) ds. No differential equation is needed. The integral is increasing in the
//! threshold h + p taken as one real number ({h, p = 1} is {h + 1, p = 0}), so the root is bracketed
//! first by whole thresholds, then by p.

use equibloom_layout::{Blocks, Layout, MAX_CHOICES, Overflow, Proportions, Rule, Share};

use crate::error::{Error, require};
use crate::fluid::Process;
use crate::lower_bound::{check_point, lower_bound};
use crate::poisson::{Poisson, Weights};
use crate::quadrature::Panels;
use crate::root;
use core::f64::consts::LN_2;

/// Parameters with which a scheme reaches the lower bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// A bucket below this load admits every element.
    pub threshold: u32,
    /// A bucket at the threshold admits an element with this probability.
    pub probability: f64,
    /// Fraction of the elements in the overflow list.
    pub overflow: f64,
    /// Mean bucket accesses of an insert.
    pub accesses: f64,
    /// The buckets of an element.
    pub candidates: Proportions,
}

impl Optimum {
    /// The threshold with its coin.
    pub const fn rule(&self) -> Rule {
        Rule::FirstWithRoom { below: self.threshold, coin: Share::clamped(self.probability) }
    }

    /// The filling of tables with these parameters, `load` elements per bucket in the end.
    pub const fn process(&self, load: f64) -> Process {
        let budget = Some(self.accesses);
        Process { budget, ..Process::new(self.candidates, self.rule(), load) }
    }

    /// Whether placing has to stop when the accesses are spent.
    pub fn is_limited(&self) -> bool {
        match &self.candidates {
            Proportions::Anywhere { choices, .. } => self.accesses < f64::from(*choices),
            // t0 of the proof of Theorem 5, when the accesses are spent.
            Proportions::Subtables { shares } => self.accesses * shares[0] < 1.0 - 1e-9,
        }
    }

    /// The filter with these parameters, `count` blocks and `keys` keys. Placing keys may cost `accesses · keys` in
    /// total (Theorems 4 and 5). At the least overflow, subtables spend no more than that without a budget.
    ///
    /// ```
    /// use equibloom_layout::{Blocks, Overflow, Placement, WhenFull};
    /// use equibloom_theory::optimum;
    ///
    /// let overflow = Overflow { capacity: 5_500, when_full: WhenFull::Refuse };
    /// let best = optimum::multi_level(8.0, 1.2, 3, None)?;
    /// let layout = best.layout(Blocks::bloom(256, 22), 125_000, 1_000_000, overflow);
    /// layout.check()?;
    /// assert_eq!((layout.placement(), layout.budget), (Placement::MultiLevel, None));
    /// let best = optimum::multi_level(8.0, 1.2, 3, Some(0.02))?;
    /// let layout = best.layout(Blocks::bloom(256, 22), 125_000, 1_000_000, overflow);
    /// assert_eq!(layout.budget, Some(1_200_000));
    /// let best = optimum::sequential(8.0, 1.2, 3, None)?;
    /// let layout = best.layout(Blocks::bloom(256, 22), 125_000, 1_000_000, overflow);
    /// assert_eq!(layout.budget, Some(1_200_000));
    /// # Ok::<(), equibloom_theory::Error>(())
    /// ```
    pub fn layout(&self, blocks: Blocks, count: u64, keys: u64, overflow: Overflow) -> Layout {
        let limited = self.is_limited();
        Layout::new(blocks, self.candidates.with_blocks(count), self.rule())
            .with_overflow(overflow)
            .with_budget(limited.then_some((self.accesses * keys as f64) as u64))
    }
}

/// The single-choice scheme (Theorem 3), with `load` elements per bucket.
pub fn single(load: f64, overflow: f64) -> Result<Optimum, Error> {
    at_point(load, 1.0, overflow, Proportions::anywhere(1))
}

/// The sequential scheme (Theorem 4): `choices` buckets anywhere, at most `accesses` on average.
///
/// Without `overflow` the least overflow of the optimality region is found.
pub fn sequential(
    load: f64,
    accesses: f64,
    choices: u32,
    overflow: Option<f64>,
) -> Result<Optimum, Error> {
    check_budget(load, accesses, choices, overflow)?;
    let least = least_overflow_sequential(load, accesses, choices);
    check_region(least, accesses, choices, overflow, |overflow| {
        root::increasing(1.0, f64::from(choices), |accesses| {
            least_overflow_sequential(load, accesses, choices) - overflow
        })
    })?;
    at_point(load, accesses, overflow.unwrap_or(least), Proportions::anywhere(choices))
}

/// The multi-level scheme (Theorems 5 and 6): one bucket in each of `choices` subtables.
///
/// Without `overflow` the least overflow of the optimality region is found.
pub fn multi_level(
    load: f64,
    accesses: f64,
    choices: u32,
    overflow: Option<f64>,
) -> Result<Optimum, Error> {
    check_budget(load, accesses, choices, overflow)?;
    let passed_at_least = passed_on(accesses, choices);
    let least = passed_at_least.powi(choices as i32);
    check_region(least, accesses, choices, overflow, |overflow| {
        geometric_sum(overflow.powf(1.0 / f64::from(choices)), choices)
    })?;
    let (passed, overflow) = match overflow {
        None => (passed_at_least, least),
        Some(overflow) => ((accesses - 1.0 + overflow) / accesses, overflow),
    };
    at_point(load, accesses, overflow, Proportions::geometric(passed, choices)?)
}

/// The papers' number of hash functions: round(β·ln 2), at least 1. (The text says r·ln 2.)
pub fn paper_hashes(bits_per_key: f64) -> u32 {
    (bits_per_key * LN_2).round().clamp(1.0, f64::from(MOST_HASHES)) as u32
}

/// Largest number of hash functions in the papers' model.
pub(crate) const MOST_HASHES: u32 = 4096;

fn check_budget(
    load: f64,
    accesses: f64,
    choices: u32,
    overflow: Option<f64>,
) -> Result<(), Error> {
    let in_range = (1..=MAX_CHOICES).contains(&choices);
    require(in_range, "choices", f64::from(choices), format!("between 1 and {MAX_CHOICES}"))?;
    let most = f64::from(choices);
    let affordable = accesses == 1.0 || (accesses > 1.0 && accesses < most);
    let accepted = if choices == 1 {
        "1 when there is one choice".to_owned()
    } else {
        format!("at least 1 and below the number of choices, {choices}")
    };
    require(affordable, "accesses", accesses, accepted)?;
    check_point(load, accesses, overflow.unwrap_or(0.0))
}

fn check_region(
    least_overflow: f64,
    accesses: f64,
    choices: u32,
    overflow: Option<f64>,
    most_accesses: impl Fn(f64) -> f64,
) -> Result<(), Error> {
    match overflow {
        // The edge itself, as printed by this crate or by the papers' tables, is inside.
        Some(overflow) if overflow < least_overflow * (1.0 - 1e-9) => {
            Err(Error::OutsideOptimalityRegion {
                accesses,
                overflow,
                choices,
                least_overflow,
                most_accesses: most_accesses(overflow),
            })
        }
        _ => Ok(()),
    }
}

fn at_point(
    load: f64,
    accesses: f64,
    overflow: f64,
    candidates: Proportions,
) -> Result<Optimum, Error> {
    let (threshold, probability) = threshold(load, accesses, overflow)?;
    Ok(Optimum { threshold, probability, overflow, accesses, candidates })
}

/// The threshold h and the coin p that give a bucket reached by `accesses · load` attempts the distribution of
/// the lower bound, at any point, whether a scheme with these choices can reach it or not.
pub fn threshold(load: f64, accesses: f64, overflow: f64) -> Result<(u32, f64), Error> {
    let bound = lower_bound(load, accesses, overflow)?;
    let Some(threshold) = bound.k0 else {
        return Err(Error::InfiniteThreshold { accesses, overflow });
    };
    let h = threshold as usize;
    let (at_threshold, above) = (bound.distribution[h], bound.distribution[h + 1]);
    let attempts = Weights::new(accesses * load);
    let probability = if above <= at_threshold {
        root::increasing(0.0, 1.0, |p| share_above(&attempts, h, p) - above)
    } else {
        root::increasing(0.0, 1.0, |p| at_threshold - share_at(&attempts, h, p))
    };
    Ok((threshold, probability))
}

/// Attempts beyond the threshold with their weights: (j − h, Pr{X = j}) for j ≥ h.
fn beyond(attempts: &Weights, h: usize) -> impl Iterator<Item = (i32, f64)> {
    attempts
        .iter()
        .skip(h.saturating_sub(attempts.first))
        .map(move |(j, mass)| ((j - h) as i32, mass))
}

/// f_h: the share of buckets that hold exactly h.
pub(crate) fn share_at(attempts: &Weights, h: usize, p: f64) -> f64 {
    beyond(attempts, h).map(|(extra, mass)| mass * (1.0 - p).powi(extra)).sum()
}

/// f_{h+1}: the share of buckets that hold h + 1.
pub(crate) fn share_above(attempts: &Weights, h: usize, p: f64) -> f64 {
    let log_fail = (-p).ln_1p();
    beyond(attempts, h)
        .filter(|&(extra, _)| extra > 0)
        .map(|(extra, mass)| mass * -(f64::from(extra) * log_fail).exp_m1())
        .sum()
}

/// (1−p)·f_h + f_{h+1}: the share of attempts that are rejected.
pub(crate) fn rejected(attempts: &Weights, h: usize, p: f64) -> f64 {
    let fail = 1.0 - p;
    let mut all_fail = 1.0;
    beyond(attempts, h)
        .map(|(_, mass)| {
            let term = mass * (1.0 - p * all_fail);
            all_fail *= fail;
            term
        })
        .sum()
}

/// 1 + x + … + x^{terms − 1}.
pub(crate) fn geometric_sum(x: f64, terms: u32) -> f64 {
    (0..terms).fold(0.0, |sum, _| sum.mul_add(x, 1.0))
}

/// ρ with 1 + ρ + … + ρ^{d−1} = a.
fn passed_on(accesses: f64, choices: u32) -> f64 {
    if accesses == 1.0 {
        return 0.0;
    }
    // Without the leading 1, so that accesses just above 1 keep their digits.
    root::increasing(0.0, 1.0, |rho| rho * geometric_sum(rho, choices - 1) - (accesses - 1.0))
}

/// γ0 of the sequential scheme.
fn least_overflow_sequential(load: f64, accesses: f64, choices: u32) -> f64 {
    if accesses <= 1.0 {
        return 0.0;
    }
    if accesses >= f64::from(choices) {
        return 1.0;
    }
    let budget = Budget::new(load, accesses, choices);
    let (mut h, mut too_high) = (0, Poisson::new(accesses * load).last() + 2);
    while too_high - h > 1 {
        let middle = h + (too_high - h) / 2;
        if budget.elements(middle, 0.0) <= 1.0 { h = middle } else { too_high = middle }
    }
    let p = root::increasing(0.0, 1.0, |p| budget.elements(h, p) - 1.0);
    budget.overflow(h, p)
}

/// The accesses of the sequential scheme as nodes of an integral over the attempts s in [0, a].
pub(crate) struct Budget {
    nodes: Vec<(f64, Weights)>,
    choices: u32,
}

impl Budget {
    pub(crate) fn new(load: f64, accesses: f64, choices: u32) -> Self {
        let panels = Panels::over_attempts(accesses * load);
        let nodes =
            panels.nodes(0.0, accesses).map(|(s, width)| (width, Weights::new(s * load))).collect();
        Self { nodes, choices }
    }

    /// ∫₀ᵃ f(P(s))/g(P(s)) ds.
    fn integral(&self, h: usize, p: f64, f: impl Fn(f64) -> f64) -> f64 {
        let terms = self.nodes.iter().map(|(width, attempts)| {
            let away = rejected(attempts, h, p);
            width * f(away) / geometric_sum(away, self.choices)
        });
        terms.sum()
    }

    /// Share of the elements after which the accesses are spent; 1 at γ0, less above.
    pub(crate) fn elements(&self, h: usize, p: f64) -> f64 {
        self.integral(h, p, |_| 1.0)
    }

    /// Share of the elements that all their buckets reject until then.
    pub(crate) fn overflow(&self, h: usize, p: f64) -> f64 {
        self.integral(h, p, |away| away.powi(self.choices as i32))
    }
}

#[cfg(test)]
#[path = "optimum_tests.rs"]
mod tests;
