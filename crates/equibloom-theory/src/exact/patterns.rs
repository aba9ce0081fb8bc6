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
    /// `hashes` entries per number of set bits: the probability of 1, 2, … new bits.
    growth: Vec<f64>,
}

impl Patterns {
    /// Patterns of `hashes` out of `bits` bits; `hashes` is in `1..=bits`.
    pub(crate) fn new(bits: usize, hashes: usize) -> Self {
        let matched = (0..=bits).map(|set| match_probability(bits, hashes, set)).collect();
        let mut growth = vec![0.0; (bits + 1) * hashes];
        for (set, row) in growth.chunks_exact_mut(hashes).enumerate() {
            for (new, probability) in new_bits(bits, hashes, set).iter() {
                if new > 0 {
                    row[new - 1] = probability;
                }
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

    /// Entry i is the probability that a random pattern sets i + 1 new bits.
    pub(crate) fn growth(&self, set: usize) -> &[f64] {
        let row = &self.growth[set * self.hashes..(set + 1) * self.hashes];
        &row[..self.hashes.min(self.bits - set)]
    }

    /// After this many arrivals a bit is unset with a probability of e^-20: the block counts as full.
    pub(crate) fn arrivals_to_fill(&self) -> usize {
        20 * self.bits / self.hashes + 1
    }

    /// An empty window with room for one more key.
    fn room_behind(&self, set_bits: &Window) -> Window {
        Window { first: 0, mass: Vec::with_capacity(set_bits.mass.len() + self.hashes) }
    }

    /// The number of set bits after one more arrival.
    pub(crate) fn after_arrival(&self, set_bits: &Window) -> Window {
        let Window { first, mass } = set_bits;
        let mut next = vec![0.0; mass.len() + self.hashes];
        for (index, &mass) in mass.iter().enumerate() {
            let (matched, growth) = (self.matched(first + index), self.growth(first + index));
            let (same, more) = next[index..].split_at_mut(1);
            same[0] += mass * matched;
            for (sum, probability) in more.iter_mut().zip(growth) {
                *sum += mass * probability;
            }
        }
        let mut next = Window { first: *first, mass: next };
        next.trim_below(self.negligible());
        next
    }

    /// Mass far below the lowest rate of blocks with such patterns, about 2^-k.
    pub(crate) fn negligible(&self) -> f64 {
        1e-13 * 0.5_f64.powi(self.hashes as i32)
    }

    /// The number of set bits after one more key that does not match.
    pub(crate) fn after_new_key(&self, set_bits: &Window) -> Window {
        let mut next = self.room_behind(set_bits);
        for (set, mass) in set_bits.iter() {
            if set == self.bits {
                next.add(set, &[1.0], mass);
            } else {
                next.add(set + 1, self.growth(set), mass / (1.0 - self.matched(set)));
            }
        }
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
