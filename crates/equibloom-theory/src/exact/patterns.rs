//! Keys as patterns of k distinct bits, matched with a block of s set bits.

use super::window::Window;

/// Numbers of new bits less likely than this are left out; smaller products would be subnormal and slow.
const NEGLIGIBLE: f64 = 1e-40;

/// Match and growth probabilities for every number of set bits.
#[derive(Debug, Clone)]
pub(crate) struct Patterns {
    bits: usize,
    hashes: usize,
    matched: Vec<f64>,
    /// The probability of 1, 2, … new bits, each for every number of set bits: long rows that the compiler vectorises.
    growth: Vec<Vec<f64>>,
}

impl Patterns {
    /// Patterns of `hashes` out of `bits` bits; `hashes` is in `1..=bits`.
    pub(crate) fn new(bits: usize, hashes: usize) -> Self {
        // C(unset, new)·C(set, k − new) / C(U, k), from each number of set bits to the next; no new bits are a match.
        let mut least =
            (0..hashes).map(|i| (hashes - i) as f64 / (bits - i) as f64).product::<f64>();
        let row = |new: usize| {
            let mut row = vec![0.0; bits + 1];
            let mut probability = least;
            for set in hashes - new..=bits - new {
                row[set] = if new > 0 && probability < NEGLIGIBLE { 0.0 } else { probability };
                let unset = bits - set;
                let (more, fewer) = (set + 1, (unset - new) as f64 / unset.max(1) as f64);
                probability *= more as f64 / (more + new - hashes) as f64 * fewer;
            }
            let unset = bits - hashes + new + 1;
            least *= unset as f64 / (new + 1) as f64;
            row
        };
        let mut rows = (0..=hashes).map(row);
        let matched = rows.next().unwrap_or_default();
        let growth = rows.collect();
        Self { bits, hashes, matched, growth }
    }

    pub(crate) const fn bits(&self) -> usize {
        self.bits
    }

    pub(crate) const fn hashes(&self) -> usize {
        self.hashes
    }

    /// q(s): all bits of a random pattern are among `set` set ones.
    pub(crate) fn matched(&self, set: usize) -> f64 {
        self.matched[set]
    }

    /// The probabilities that a random pattern sets 1, 2, … new bits, each for every number of set bits.
    pub(crate) fn growth(&self) -> impl Iterator<Item = (usize, &[f64])> {
        (1..).zip(self.growth.iter().map(Vec::as_slice))
    }

    /// Adds to `next` the mass of blocks with `first`, `first + 1`, … set bits that get new ones.
    pub(crate) fn grow(&self, first: usize, mass: &[f64], next: &mut Window) {
        let most = self.bits + 1;
        next.cover(first..(first + mass.len() + self.hashes).min(most));
        for (new, probabilities) in self.growth().take_while(|(new, _)| first + new < most) {
            let more = &mut next.mass[first + new - next.first..];
            for ((sum, mass), probability) in more.iter_mut().zip(mass).zip(&probabilities[first..])
            {
                *sum += mass * probability;
            }
        }
    }

    pub(crate) fn arrivals_to_fill(&self) -> usize {
        arrivals_to_fill(self.bits, self.hashes)
    }

    /// The number of set bits after one more arrival.
    pub(crate) fn after_arrival(&self, set_bits: &Window) -> Window {
        let matched = set_bits.iter().map(|(set, mass)| mass * self.matched(set)).collect();
        let mut next = Window { first: set_bits.first, mass: matched };
        self.grow(set_bits.first, &set_bits.mass, &mut next);
        next.trim(negligible(self.hashes));
        next
    }
}

/// After this many arrivals a bit is unset with a probability of e^-20: the block counts as full.
pub(crate) const fn arrivals_to_fill(bits: usize, hashes: usize) -> usize {
    20 * bits / hashes + 1
}

/// Mass far below the lowest rate of blocks with such patterns, about 2^-k.
pub(crate) fn negligible(hashes: usize) -> f64 {
    1e-13 * 0.5_f64.powi(hashes as i32)
}

/// The mean match probabilities for every number of keys, each of which did not match when it came.
///
/// Mean and variance of the number s of set bits follow from one key to the next. At the mean, ln q has the slope Σ 1/(s − i)
/// and the curvature −Σ 1/(s − i)², i < k; s is so nearly normal that q is lognormal.
pub(crate) struct MeanPatterns {
    pub(crate) bits: usize,
    pub(crate) hashes: usize,
    /// Mean q and q² by the number of keys.
    matched: Vec<(f64, f64)>,
    /// Mean and variance of the set bits after the last of these numbers, and the slope of ln q.
    mean: f64,
    variance: f64,
    slope: f64,
}

/// Blocks that match more than this no longer change.
const FULL: f64 = 1.0 - 1e-9;

impl MeanPatterns {
    /// Patterns of `hashes` out of `bits` bits; `hashes` is in `1..=bits`.
    pub(crate) fn new(bits: usize, hashes: usize) -> Self {
        Self { bits, hashes, matched: vec![(0.0, 0.0)], mean: 0.0, variance: 0.0, slope: 0.0 }
    }

    pub(crate) fn matched(&self, keys: usize) -> (f64, f64) {
        self.matched[keys]
    }

    /// Computes numbers of keys up to `keys`.
    pub(crate) fn resolve(&mut self, keys: usize) {
        while self.matched.len() <= keys {
            self.add_key();
        }
    }

    fn add_key(&mut self) {
        let (bits, hashes) = (self.bits as f64, self.hashes as f64);
        let matched = self.matched[self.matched.len() - 1].0;
        if matched < FULL {
            let Self { mean, variance, slope, .. } = *self;
            // New bits of any key; the keys that do not match have them all.
            let unset = 1.0 - mean / bits;
            let new = hashes * unset;
            let mixed = (unset * (1.0 - unset) - variance / (bits * bits)).max(0.0);
            let spread = hashes * mixed * (bits - hashes) / (bits - 1.0).max(1.0);
            let others = 1.0 - matched;
            let growth = new / others;
            // A block with more set bits gets fewer new ones, and more of its keys match.
            let steeper = 1.0 - hashes / bits / others + growth * matched * slope / others;
            let of_key = (spread + new * new) / others - growth * growth;
            self.mean = (mean + growth).clamp(hashes, bits);
            self.variance = (variance * steeper * steeper + of_key).max(0.0);
        }
        let (mut log, mut curvature) = (0.0, 0.0);
        self.slope = 0.0;
        for bit in 0..self.hashes {
            let left = self.mean - bit as f64;
            log += (left / (bits - bit as f64)).ln();
            self.slope += 1.0 / left;
            curvature -= 1.0 / (left * left);
        }
        let half = self.variance / 2.0;
        let square = self.slope * self.slope;
        let once = (log + half * (square + curvature)).exp();
        let twice = (2.0 * log + half * (4.0 * square + 2.0 * curvature)).exp();
        self.matched.push((once.min(1.0), twice.min(1.0)));
    }
}

#[cfg(test)]
#[path = "patterns_tests.rs"]
mod tests;
