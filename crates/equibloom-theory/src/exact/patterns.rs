//! Keys as patterns of k distinct bits, matched with a block of s set bits.

use super::window::Window;
use crate::poisson::Weights;

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
        let matched = (0..=bits).map(|set| match_probability(bits, hashes, set)).collect();
        let mut growth = vec![vec![0.0; bits + 1]; hashes];
        for (set, new_bits) in (0..=bits).map(|set| new_bits(bits, hashes, set)).enumerate() {
            for (new, probability) in new_bits.iter().filter(|(new, _)| *new > 0) {
                growth[new - 1][set] = probability;
            }
        }
        Self { bits, hashes, matched, growth }
    }

    pub(crate) fn bits(&self) -> usize {
        self.bits
    }

    pub(crate) fn hashes(&self) -> usize {
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

    /// After this many arrivals a bit is unset with a probability of e^-20: the block counts as full.
    pub(crate) fn arrivals_to_fill(&self) -> usize {
        20 * self.bits / self.hashes + 1
    }

    /// The number of set bits after one more arrival.
    pub(crate) fn after_arrival(&self, set_bits: &Window) -> Window {
        let matched = set_bits.iter().map(|(set, mass)| mass * self.matched(set)).collect();
        let mut next = Window { first: set_bits.first, mass: matched };
        self.grow(set_bits.first, &set_bits.mass, &mut next);
        next.trim_below(self.negligible());
        next
    }

    /// Mass far below the lowest rate of blocks with such patterns, about 2^-k.
    pub(crate) fn negligible(&self) -> f64 {
        1e-13 * 0.5_f64.powi(self.hashes as i32)
    }

    /// The number of set bits after one more key that does not match.
    pub(crate) fn after_new_key(&self, set_bits: &Window) -> Window {
        let full = set_bits.get(self.bits);
        let others = set_bits.iter().filter(|&(set, _)| set < self.bits);
        let others: Vec<f64> = others.map(|(set, mass)| mass / (1.0 - self.matched(set))).collect();
        let mut next = Window::default();
        self.grow(set_bits.first, &others, &mut next);
        next.add(self.bits, &[1.0], full);
        next.trim();
        next
    }
}

/// C(set, hashes) / C(bits, hashes).
fn match_probability(bits: usize, hashes: usize, set: usize) -> f64 {
    if set < hashes {
        return 0.0;
    }
    (0..hashes).map(|i| (set - i) as f64 / (bits - i) as f64).product()
}

/// Hypergeometric number of pattern bits that fall on unset ones.
fn new_bits(bits: usize, hashes: usize, set: usize) -> Weights {
    let unset = bits - set;
    let least = hashes.saturating_sub(set);
    let most = hashes.min(unset);
    let mode = ((hashes + 1) * (unset + 1) / (bits + 2)).clamp(least, most);
    Weights::from_ratio(mode, most, NEGLIGIBLE, |new| {
        // Infinite at the least possible number, which ends the table there.
        let ways = (hashes - new + 1) as f64 * (unset - new + 1) as f64;
        ways / (new as f64 * (set + new - hashes) as f64)
    })
}
