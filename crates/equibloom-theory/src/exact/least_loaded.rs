//! The least-loaded rule: a key goes to the candidate with the fewest set bits, the first of equals.
//!
//! **One candidate** (the blocked filter): a block's set bits after i arrivals, mixed over the binomial
//! number of arrivals. Exact.
//!
//! **Several**: a share α of the keys has d candidates, the others one. Let π(s) be the share of blocks with s
//! set bits and G(s) = Σ_{s' ≥ s} π(s')(1 − q(s')) the share of those that are at least as full and do not match
//! a key. Blocks are independent in the limit, so that a key that matches in no candidate goes to a block
//! with s set bits at the rate
//!
//! ```text
//!     r·(1 − q(s))·[ (1 − α) + α·Σ_{i<d} G(s+1)^i·G(s)^(d−1−i) ]
//!                                  the i candidates before it are fuller, those after it at least as full
//! ```
//!
//! and sets a hypergeometric number of new bits. A key that is found in its j-th candidate has passed j − 1 others,
//! and its lookup ends sooner if one of them matches by now. Let J(s) be the number of passed candidates per block
//! with s set bits, divided by 1 − q(s) (the chance that the key does not match there): matches are nested,
//! so J moves exactly as π does and only gains a source. In the end a passed candidate still does not match with
//! probability σ = Σ J(s)(1 − q(s)) / Σ j·m_j, where m_j keys passed j candidates at least, and a hit reads
//! 1 + Σ m_j·σ^j blocks: exact for two candidates, and to first order in 1 − σ for more.
//!
//! The system is integrated by the classical Runge-Kutta rule at a fixed step, over the moving window of
//! states that carry mass. (A general adaptive solver would carry all 32,769 states of a page through
//! every step; it is the oracle in the tests.)

use equibloom_layout::{Candidates, MAX_CHOICES};

use super::Prediction;
use super::arrivals::Arrivals;
use super::patterns::Patterns;
use super::window::Window;
use crate::optimum::geometric_sum;

pub(crate) fn predict(patterns: &Patterns, keys: f64, candidates: &Candidates) -> Prediction {
    let share = match candidates {
        Candidates::Anywhere { share, choices: 2.., .. } => share.get(),
        _ => 0.0,
    };
    let choices = Choices { number: candidates.choices(), share };
    let blocks = candidates.blocks() as f64;
    if share == 0.0 || keys == 0.0 {
        one_choice(patterns, keys, blocks, choices)
    } else {
        several_choices(patterns, keys, blocks, choices)
    }
}

/// A share of the keys has `choices` candidates, the others one.
#[derive(Debug, Clone, Copy)]
struct Choices {
    number: u32,
    share: f64,
}

impl Choices {
    /// Mean number of blocks that a key reads, if each ends its walk with probability `matched`. Times
    /// `matched` it is the probability that one of them does.
    fn reads(self, matched: f64) -> f64 {
        1.0 - self.share + self.share * geometric_sum(1.0 - matched, self.number)
    }

    /// Derivative of `matched · reads(matched)`.
    fn slope(self, matched: f64) -> f64 {
        let all_but_one = (1.0 - matched).powi(self.number as i32 - 1);
        1.0 - self.share + self.share * f64::from(self.number) * all_but_one
    }
}

fn one_choice(patterns: &Patterns, keys: f64, blocks: f64, choices: Choices) -> Prediction {
    let counts = Arrivals::spread(keys, blocks).number().weights();
    // Beyond this every bit is set and nothing changes.
    let last = counts.last().min(patterns.arrivals_to_fill());
    let mut set_bits = Window::certain(0);
    let mut mixture = Window::default();
    let mut moments = Moments::default();
    let (mut matched_before, mut duplicates) = (0.0, 0.0);
    for count in 0..=last {
        let matched = set_bits.mean_of(|set| patterns.matched(set)).min(1.0);
        let square = || set_bits.mean_of(|set| patterns.matched(set).powi(2));
        // The last state represents all later ones.
        let same_state = if count == last { counts.last() } else { count };
        for count in count.max(counts.first)..=same_state {
            let weight = counts.mass[count - counts.first];
            mixture.add(set_bits.first, &set_bits.mass, weight);
            duplicates += weight * (matched_before + (count.saturating_sub(last)) as f64 * matched);
            moments.add(weight, count as f64, matched, square());
        }
        matched_before += matched;
        if count < last {
            set_bits = patterns.after_arrival(&set_bits);
        }
    }
    let some = if keys > 0.0 { 1.0 } else { 0.0 };
    Prediction {
        rate: moments.matched,
        rate_deviation: (moments.unexplained_variance() / blocks).sqrt(),
        accesses_insert: some,
        accesses_hit: some,
        // An empty filter is read to the end.
        accesses_miss: choices.reads(0.0),
        stored_fraction: 1.0 - duplicates * blocks / keys.max(1.0),
        load_distributions: vec![mixture.to_vec()],
        ..Prediction::default()
    }
}

/// Sums over blocks with their arrivals.
#[derive(Default)]
struct Moments {
    matched: f64,
    matched_square: f64,
    count: f64,
    count_square: f64,
    product: f64,
}

impl Moments {
    fn add(&mut self, weight: f64, count: f64, matched: f64, matched_square: f64) {
        self.matched += weight * matched;
        self.matched_square += weight * matched_square;
        self.count += weight * count;
        self.count_square += weight * count * count;
        self.product += weight * count * matched;
    }

    /// Variance of the match probability over blocks, less what the arrivals, whose sum is fixed, explain.
    fn unexplained_variance(&self) -> f64 {
        let covariance = self.product - self.matched * self.count;
        let spread = self.count_square - self.count * self.count;
        let explained = if spread > 0.0 { covariance * covariance / spread } else { 0.0 };
        (self.matched_square - self.matched * self.matched - explained).max(0.0)
    }
}

fn several_choices(patterns: &Patterns, keys: f64, blocks: f64, choices: Choices) -> Prediction {
    let per_block = keys / blocks;
    // Beyond this every bit is set and nothing changes.
    let horizon = per_block.min(patterns.arrivals_to_fill() as f64);
    let mut flow = Flow::new(patterns, choices);
    let steps = steps(horizon, choices);
    for _ in 0..steps {
        flow.advance(horizon / steps as f64);
    }
    let matched = flow.matched();
    let late = (per_block - horizon) / per_block;
    let mean = |sum: f64, last: f64| (1.0 - late) * sum / horizon + late * last;
    let Sums { present, reads, passed, passed_weighted } = flow.sums;
    let still_unmatched =
        if passed > 0.0 { flow.passed_unmatched() / passed_weighted } else { 1.0 };
    let mean_passed = if passed > 0.0 { passed_weighted / passed } else { 1.0 };
    let rate = matched * choices.reads(matched);
    Prediction {
        rate,
        rate_deviation: choices.slope(matched)
            * (flow.variance(set_bits_variance(patterns, horizon)) / blocks).sqrt(),
        accesses_insert: mean(reads, choices.reads(matched)),
        accesses_hit: 1.0 + passed / per_block * still_unmatched.powf(mean_passed),
        accesses_miss: choices.reads(matched),
        stored_fraction: 1.0 - mean(present, rate),
        load_distributions: vec![flow.distribution()],
        ..Prediction::default()
    }
}

/// Variance of the set bits of a block that has had exactly this many arrivals.
fn set_bits_variance(patterns: &Patterns, arrivals: f64) -> f64 {
    let mut set_bits = Window::certain(0);
    for _ in 0..arrivals.round() as usize {
        set_bits = patterns.after_arrival(&set_bits);
    }
    let mean = set_bits.mean_of(|set| set as f64);
    set_bits.mean_of(|set| (set as f64 - mean).powi(2))
}

/// Eight steps per key and block while a single key matters, and more where keys have many choices. Later only
/// stability matters: the rule is stable up to steps of 2.78 / |eigenvalue|, and the eigenvalues of a chain
/// with exit rates up to 1 + α(d − 1) reach twice that.
fn steps(arrivals: f64, choices: Choices) -> usize {
    let (fine, least) = (arrivals.min(128.0), choices.reads(0.0));
    ((4.0 * least).max(8.0) * fine + least * (arrivals - fine)).ceil() as usize + 32
}

/// Adds the flow from each source with its probability to the adjacent target.
fn flow_along(sources: &[f64], probabilities: &[f64], targets: &mut [f64]) {
    for ((target, source), probability) in targets.iter_mut().zip(sources).zip(probabilities) {
        *target += source * probability;
    }
}

/// States with less mass than this are outside the window.
const NEGLIGIBLE: f64 = 1e-22;

/// Events of keys while they arrive, or so far, per block.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// Keys that are apparently present.
    present: f64,
    /// Blocks that they read.
    reads: f64,
    /// Σ m_j and Σ j·m_j as defined above.
    passed: f64,
    passed_weighted: f64,
}

impl Sums {
    fn add(&mut self, other: &Self, weight: f64) {
        self.present += weight * other.present;
        self.reads += weight * other.reads;
        self.passed += weight * other.passed;
        self.passed_weighted += weight * other.passed_weighted;
    }
}

/// π, J and running sums, with room for the Runge-Kutta stages.
struct Flow<'a> {
    patterns: &'a Patterns,
    choices: Choices,
    /// Shares of blocks by set bits, and J as defined above.
    blocks: Vec<f64>,
    passed: Vec<f64>,
    sums: Sums,
    /// G as defined above.
    as_full: Vec<f64>,
    /// The window of states with mass.
    low: usize,
    high: usize,
    stage: Stage,
    slope: Stage,
    sum: Stage,
}

/// One value or slope of all quantities.
#[derive(Clone)]
struct Stage {
    blocks: Vec<f64>,
    passed: Vec<f64>,
    sums: Sums,
}

impl<'a> Flow<'a> {
    fn new(patterns: &'a Patterns, choices: Choices) -> Self {
        let zeros = vec![0.0; patterns.bits() + 1];
        let sums = Sums::default();
        let stage = Stage { blocks: zeros.clone(), passed: zeros.clone(), sums };
        let mut blocks = zeros.clone();
        blocks[0] = 1.0;
        Self {
            patterns,
            choices,
            blocks,
            passed: zeros,
            sums,
            as_full: vec![0.0; patterns.bits() + 2],
            low: 0,
            high: 0,
            stage: stage.clone(),
            slope: stage.clone(),
            sum: stage,
        }
    }

    /// One Runge-Kutta step of `arrivals` keys per block.
    fn advance(&mut self, arrivals: f64) {
        let reach = 4 * self.patterns.hashes();
        let range = self.low..(self.high + reach).min(self.patterns.bits()) + 1;
        self.sum.blocks[range.clone()].fill(0.0);
        self.sum.passed[range.clone()].fill(0.0);
        let stages = [(0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)];
        for (offset, weight) in stages {
            for s in range.clone() {
                let step = offset * arrivals;
                self.stage.blocks[s] = self.blocks[s] + step * self.slope.blocks[s];
                self.stage.passed[s] = self.passed[s] + step * self.slope.passed[s];
            }
            self.compute_slope(range.start, range.end);
            self.sums.add(&self.slope.sums, arrivals * weight);
            for s in range.clone() {
                self.sum.blocks[s] += weight * self.slope.blocks[s];
                self.sum.passed[s] += weight * self.slope.passed[s];
            }
        }
        for s in range.clone() {
            self.blocks[s] += arrivals * self.sum.blocks[s];
            self.passed[s] += arrivals * self.sum.passed[s];
        }
        self.shrink_window(range.end);
    }

    fn shrink_window(&mut self, end: usize) {
        self.high = end - 1;
        while self.high > self.low && self.blocks[self.high] < NEGLIGIBLE {
            (self.blocks[self.high], self.passed[self.high]) = (0.0, 0.0);
            self.high -= 1;
        }
        while self.low < self.high && self.blocks[self.low] < NEGLIGIBLE {
            (self.blocks[self.low], self.passed[self.low]) = (0.0, 0.0);
            (self.stage.blocks[self.low], self.slope.blocks[self.low]) = (0.0, 0.0);
            self.low += 1;
        }
    }

    /// Derivative of the stage with respect to the arrivals per block.
    fn compute_slope(&mut self, low: usize, end: usize) {
        let Self { patterns, stage, slope, as_full, choices, .. } = self;
        as_full[end] = 0.0;
        let mut matched = 0.0;
        for s in (low..end).rev() {
            let here = stage.blocks[s] * patterns.matched(s);
            matched += here;
            as_full[s] = as_full[s + 1] + (stage.blocks[s] - here);
        }
        let unmatched = as_full[low];
        let reads = choices.reads(matched);
        slope.sums = Sums { present: matched * reads, reads, ..Sums::default() };
        // By j: the probability that a key with a candidate of s set bits among its first j is stored in
        // another one of these, which is emptier.
        let mut stored_below = [0.0; MAX_CHOICES as usize];
        for s in low..end {
            let leaves = 1.0 - patterns.matched(s);
            // G(s+1)^i·G(s)^(d−1−i), from i = 0 on.
            let first = (1..choices.number).fold(1.0, |power, _| power * as_full[s]);
            let ratio = if as_full[s] > 0.0 { as_full[s + 1] / as_full[s] } else { 0.0 };
            let (mut term, mut chosen) = (first, 0.0);
            // Keys that pass their first j candidates, one of which is a block with s set bits.
            let (mut passed, mut passed_weighted) = (0.0, 0.0);
            let mut unmatched_before = 1.0;
            for (j, stored_below) in (1..choices.number).zip(&mut stored_below) {
                let pass = choices.share * (unmatched_before - *stored_below - first);
                passed += pass;
                passed_weighted += f64::from(j) * pass;
                *stored_below += first - term;
                unmatched_before *= unmatched;
                chosen += term;
                term *= ratio;
            }
            let here = stage.blocks[s] * leaves;
            slope.sums.passed += here * passed;
            slope.sums.passed_weighted += here * passed_weighted;
            slope.passed[s] = stage.blocks[s] * passed_weighted;
            // From here on the stage holds the outflow.
            let chosen = 1.0 - choices.share + choices.share * (chosen + term);
            stage.blocks[s] *= chosen;
            stage.passed[s] *= chosen;
            slope.blocks[s] = -leaves * stage.blocks[s];
            slope.passed[s] -= leaves * stage.passed[s];
        }
        for (new, probabilities) in patterns.growth() {
            if low + new >= end {
                break;
            }
            let sources = low..end - new;
            let targets = low + new..end;
            let probabilities = &probabilities[sources.clone()];
            flow_along(
                &stage.blocks[sources.clone()],
                probabilities,
                &mut slope.blocks[targets.clone()],
            );
            flow_along(&stage.passed[sources], probabilities, &mut slope.passed[targets]);
        }
    }

    fn mean_of(&self, f: impl Fn(usize) -> f64) -> f64 {
        (self.low..=self.high).map(|s| self.blocks[s] * f(s)).sum()
    }

    fn matched(&self) -> f64 {
        self.mean_of(|s| self.patterns.matched(s))
    }

    /// Passed candidates that still do not match their key, per block.
    fn passed_unmatched(&self) -> f64 {
        (self.low..=self.high).map(|s| self.passed[s] * (1.0 - self.patterns.matched(s))).sum()
    }

    /// Variance of a block's part in the mean of q. The keys are so evenly spread that the sum of the set bits
    /// varies only by the bits that keys share (`set_bits_variance` per block); deviations of q from a linear
    /// function of the set bits average out as if blocks were independent.
    fn variance(&self, set_bits_variance: f64) -> f64 {
        let mean = self.matched();
        let mean_set = self.mean_of(|s| s as f64);
        let variance = self.mean_of(|s| (self.patterns.matched(s) - mean).powi(2));
        let spread = self.mean_of(|s| (s as f64 - mean_set).powi(2));
        let covariance =
            self.mean_of(|s| (self.patterns.matched(s) - mean) * (s as f64 - mean_set));
        let slope = if spread > 0.0 { covariance / spread } else { 0.0 };
        (variance - slope * covariance).max(0.0) + slope * slope * set_bits_variance
    }

    fn distribution(&self) -> Vec<f64> {
        self.blocks[..=self.high].iter().map(|mass| mass.max(0.0)).collect()
    }
}

// The oracle is an adaptive solver.
#[cfg(all(test, feature = "papers"))]
#[path = "least_loaded_tests.rs"]
mod tests;
