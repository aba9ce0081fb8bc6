//! How many keys go on from level to level, and how much that varies from one filter to the next.
//!
//! What a level sends on depends on how many keys come and on how they fall on its blocks:
//! Var(out) = E Var(out | in) + Var E(out | in). Both are averaged over `in` at a few nodes (Gauss-Hermite): a small
//! last level that is nearly full sends on far more after many arrivals than it saves after few.
//!
//! **The tail.** What comes to the list has a longer tail than normal and Poisson variables. Take both causes as
//! functions of standard normal variables: `in` of a, the fall of b. The most likely way to a rare outcome is the
//! shortest vector (a, b) that leads there, and its length is the distance in standard deviations (the first-order
//! method of structural reliability). So the number at a distance is the largest on the circle a² + b² = distance².

/// The distance, in standard deviations, beyond which are less than 1e-9 of all filters. That is 6.0 for a normal
/// variable; in simulations down to 1e-5 the numbers were at most two above those of the model at 1.03 times the distance.
pub(crate) const FAR: f64 = 6.2;

/// What a level sends on is linear in its arrivals if they vary by less than this share.
const LINEAR: f64 = 0.01;

/// With so small a deviation, as a share of that of a block's arrivals, three nodes are enough.
const SMOOTH: f64 = 0.3;

/// Nodes and weights that average a function of a normal variable exactly up to the fifth and the ninth power
/// (Gauss-Hermite): the middle, and pairs at this many standard deviations.
type Nodes = (f64, &'static [(f64, f64)]);
const THREE: Nodes = (2.0 / 3.0, &[(1.732_050_807_568_877_2, 1.0 / 6.0)]);
const FIVE: Nodes = (
    0.533_333_333_333_333_3,
    &[
        (1.355_626_179_974_266, 0.222_075_922_005_613),
        (2.856_970_013_872_806, 0.011_257_411_327_721),
    ],
);

/// What a rare block sends on or has free is at most about the standard deviation of a block's arrivals. (Where no block
/// has free slots, the variance is that of the number of equal entries.)
const MOST_SKEW: f64 = 8.0;

/// What blocks send on after a number of arrivals, which fall on them at random.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentOn {
    pub(crate) mean: f64,
    /// Without the part that comes from the number of arrivals.
    pub(crate) variance: f64,
    /// The third central moment over the variance, about.
    pub(crate) skew: f64,
}

impl SentOn {
    /// What a block sends on that has this mean number of free slots. If blocks seldom send on, or seldom have free slots,
    /// that number is about a Poisson variable times what such a block sends on or has free.
    pub(crate) fn new(mean: f64, variance: f64, free: f64) -> Self {
        let skew = if mean > 0.0 { variance / mean.min(free) } else { 0.0 };
        Self { mean, variance, skew: skew.min(MOST_SKEW) }
    }

    /// What so many such blocks send on, to which a fixed number of keys comes in all: as two blocks' arrivals correlate
    /// by −1 / (blocks − 1), the squares of these correlate too.
    pub(crate) fn times(self, blocks: f64) -> Self {
        let correlated = blocks / (blocks - 1.0).max(1.0);
        let variance = blocks * correlated * self.variance;
        Self { mean: blocks * self.mean, variance, skew: self.skew }
    }

    /// The number at so many standard deviations, by its first three moments (Cornish and Fisher).
    fn at(&self, deviations: f64) -> f64 {
        let Self { mean, variance, skew } = *self;
        mean + deviations * variance.sqrt() + deviations * deviations / 6.0 * skew
    }
}

/// The number of keys that come to a level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flow {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
    /// The number at a distance; of no use if that is 0.
    pub(crate) most: f64,
    distance: f64,
}

impl Flow {
    /// A fixed number of keys. The tail is followed at this distance, if it is not 0.
    pub(crate) const fn of(keys: f64, distance: f64) -> Self {
        Self { mean: keys, variance: 0.0, most: keys, distance }
    }

    /// The number at so many standard deviations: a parabola through `most`.
    fn at(&self, deviations: f64) -> f64 {
        let Self { mean, variance, most, distance } = *self;
        let deviation = variance.sqrt();
        let bend = if distance > 0.0 {
            ((most - mean) / distance - deviation).max(0.0) / distance
        } else {
            0.0
        };
        mean + deviations * deviation + (deviations * deviations - 1.0) * bend
    }

    /// What a level sends on. `usual` is what it sends on after the mean number of arrivals, `slope` how that grows with
    /// each; `sent_on` gives it for any number.
    pub(crate) fn through(
        &self,
        blocks: f64,
        usual: SentOn,
        slope: f64,
        mut sent_on: impl FnMut(f64) -> SentOn,
    ) -> Self {
        let Self { mean: arriving, variance: varies, distance, .. } = *self;
        if varies <= (LINEAR * arriving).powi(2) {
            let out = SentOn { variance: usual.variance + varies * slope * slope, ..usual };
            let most = out.at(distance);
            return Self { mean: out.mean, variance: out.variance, most, distance };
        }
        let is_smooth = varies < SMOOTH * SMOOTH * arriving * blocks;
        let (weight, pairs) = if is_smooth { THREE } else { FIVE };
        let mut after = |deviations: f64| sent_on(self.at(deviations).max(0.0));
        let (mut mean, mut square, mut most) = (0.0, 0.0, 0.0_f64);
        let mut add = |sent: SentOn, weight: f64| {
            mean += weight * sent.mean;
            square += weight * (sent.mean * sent.mean + sent.variance);
        };
        add(usual, weight);
        let mut last = (0.0, usual);
        for &(deviations, weight) in pairs {
            let next = (deviations, after(deviations));
            add(next.1, weight);
            add(after(-deviations), weight);
            if distance > 0.0 {
                most = most.max(largest_between(last, next, distance));
            }
            last = next;
        }
        if distance > 0.0 {
            most = most.max(largest_between(last, (distance, after(distance)), distance));
        }
        Self { mean, variance: (square - mean * mean).max(0.0), most, distance }
    }
}

/// Steps between two nodes.
const STEPS: u32 = 4;

/// The largest number on a part of the circle, from one a and what is sent on there to another.
fn largest_between(from: (f64, SentOn), to: (f64, SentOn), distance: f64) -> f64 {
    let steps = (0..=STEPS).map(|step| {
        let between = |from: f64, to: f64| from + (to - from) * f64::from(step) / f64::from(STEPS);
        let a = between(from.0, to.0);
        let deviation = between(from.1.variance.sqrt(), to.1.variance.sqrt());
        let out = SentOn {
            mean: between(from.1.mean, to.1.mean),
            variance: deviation * deviation,
            skew: between(from.1.skew, to.1.skew),
        };
        out.at((distance * distance - a * a).max(0.0).sqrt())
    });
    steps.fold(0.0, f64::max)
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
