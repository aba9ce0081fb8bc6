//! The Poisson distribution with relative accuracy in both tails.
//!
//! The papers use incomplete gamma functions. Numerically these are a poor choice: `exp(j·ln λ − λ − lnΓ(j+1))`
//! loses three digits at λ = 600, and `λ·Pr{X ≥ k} − k·Pr{X > k}` cancels where it matters most. Since whole
//! distributions are needed anyway, the weights are tabulated outward from the mode by their ratio `λ/j`, down
//! to 1e-300 of it, and normalised once; every tail and partial expectation is a sum of positive terms. Nothing
//! cancels; each entry is accurate to about 1e-14 (bounds agree with mpmath to 8e-15, see
//! `tests/against_mpmath.rs`). Crates for special functions would answer one tail at a time, with differences
//! left to the caller.

/// Weights below this share of the mode are left out.
const SMALLEST_WEIGHT: f64 = 1e-300;

/// Largest supported mean: the table then has about 230,000 entries.
pub(crate) const LARGEST_MEAN: f64 = 1e7;

/// Normalised Poisson weights on the window of values that carry mass.
#[derive(Debug, Clone)]
pub(crate) struct Weights {
    pub(crate) first: usize,
    pub(crate) mass: Vec<f64>,
}

impl Weights {
    /// The weights for a `mean` in `[0, LARGEST_MEAN]`.
    pub(crate) fn new(mean: f64) -> Self {
        Self::from_ratio(mean.floor() as usize, usize::MAX, SMALLEST_WEIGHT, |j| mean / j as f64)
    }

    /// Builds outward from `mode`, where `ratio(j)` is weight(j) / weight(j − 1), up to value `last`.
    pub(crate) fn from_ratio(
        mode: usize,
        last: usize,
        cutoff: f64,
        ratio: impl Fn(usize) -> f64,
    ) -> Self {
        // Enough for the default cutoff, so that the table need not grow.
        let usual = 64 + 24 * mode.isqrt();
        let mut mass = Vec::with_capacity(usual.min(last.saturating_add(1)));
        mass.push(1.0);
        let (mut value, mut weight) = (mode, 1.0);
        while value > 0 {
            weight /= ratio(value);
            if weight < cutoff {
                break;
            }
            mass.push(weight);
            value -= 1;
        }
        let first = value;
        mass.reverse();
        let (mut value, mut weight) = (mode, 1.0);
        while value < last {
            value += 1;
            weight *= ratio(value);
            if weight < cutoff {
                break;
            }
            mass.push(weight);
        }
        let total = sum_small_first(&mass, mode - first);
        for weight in &mut mass {
            *weight /= total;
        }
        Self { first, mass }
    }

    /// Value and weight, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        self.mass.iter().enumerate().map(|(i, &weight)| (self.first + i, weight))
    }

    /// The last value with weight.
    pub(crate) fn last(&self) -> usize {
        self.first + self.mass.len() - 1
    }
}

/// Sums a unimodal list from both ends towards its mode.
fn sum_small_first(mass: &[f64], mode: usize) -> f64 {
    mass[..mode].iter().sum::<f64>() + mass[mode..].iter().rev().sum::<f64>()
}

/// A Poisson variable X with its tails and partial expectations.
#[derive(Debug, Clone)]
pub(crate) struct Poisson {
    mean: f64,
    weights: Weights,
    /// Pr{X < first + i}.
    lower: Vec<f64>,
    /// E(first + i − X)⁺.
    shortfall: Vec<f64>,
    /// E(X − first − i)⁺.
    excess: Vec<f64>,
}

impl Poisson {
    pub(crate) fn new(mean: f64) -> Self {
        let weights = Weights::new(mean);
        let length = weights.mass.len();
        let (mut lower, mut shortfall) = (vec![0.0; length + 1], vec![0.0; length + 1]);
        for i in 0..length {
            lower[i + 1] = lower[i] + weights.mass[i];
            shortfall[i + 1] = shortfall[i] + lower[i + 1];
        }
        let mut excess = vec![0.0; length + 1];
        let mut above = 0.0;
        for i in (0..length).rev() {
            excess[i] = excess[i + 1] + above;
            above += weights.mass[i];
        }
        Self { mean, weights, lower, shortfall, excess }
    }

    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// Values that carry mass are at most this.
    pub(crate) fn last(&self) -> usize {
        self.weights.last()
    }

    /// Pr{X = k}.
    pub(crate) fn mass(&self, k: usize) -> f64 {
        k.checked_sub(self.weights.first)
            .and_then(|i| self.weights.mass.get(i))
            .copied()
            .unwrap_or(0.0)
    }

    /// Pr{X < k}.
    pub(crate) fn below(&self, k: usize) -> f64 {
        self.look_up(&self.lower, k, |_| 0.0, |_| 1.0)
    }

    /// E(k − X)⁺.
    pub(crate) fn shortfall(&self, k: usize) -> f64 {
        self.look_up(&self.shortfall, k, |_| 0.0, |k| k - self.mean)
    }

    /// E(X − k)⁺.
    pub(crate) fn excess(&self, k: usize) -> f64 {
        self.look_up(&self.excess, k, |k| self.mean - k, |_| 0.0)
    }

    fn look_up(
        &self,
        table: &[f64],
        k: usize,
        before: impl Fn(f64) -> f64,
        after: impl Fn(f64) -> f64,
    ) -> f64 {
        match k.checked_sub(self.weights.first) {
            None => before(k as f64),
            Some(i) => table.get(i).copied().unwrap_or_else(|| after(k as f64)),
        }
    }
}
