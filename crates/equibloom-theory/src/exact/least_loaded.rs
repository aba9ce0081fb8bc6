//! The least-loaded rule: a key goes to the candidate with fewer set bits.
//!
//! **No second choices** (the blocked filter): a block's set bits after i arrivals, mixed over the binomial
//! number of arrivals. Exact.
//!
//! **With them**, let π(s) be the share of blocks with s set bits. Blocks are independent in the limit, so a
//! key that finds its own bits in neither candidate goes to a block with s set bits at the rate
//!
//! ```text
//!     r·(1 − q(s))·[ (1 − α) + α·( Σ_{s' ≥ s} π(s')(1 − q(s')) + Σ_{s' > s} π(s')(1 − q(s')) ) ]
//!                     one choice     came as first candidate       came as second (ties to the first)
//! ```
//!
//! and sets a hypergeometric number of new bits. A lookup of a key that lies in its second block ends at the
//! first if that happens to match by now. Let J(s) be the number of such keys per first block with s set
//! bits, divided by 1 − q(s) (the chance that the key does not match there): matches are nested, so J
//! moves exactly as π does and only gains a source.
//!
//! The system is integrated by the classical Runge-Kutta rule at a fixed step, over the moving window of
//! states that carry mass. (A general adaptive solver would carry all 32,769 states of a page through
//! every step; it is the oracle in the tests.)

use super::Prediction;
use super::arrivals;
use super::patterns::Patterns;
use super::window::Window;

pub(crate) fn predict(
    patterns: &Patterns,
    keys: f64,
    blocks: f64,
    second_choice: f64,
) -> Prediction {
    if second_choice == 0.0 || keys == 0.0 {
        one_choice(patterns, keys, blocks, second_choice)
    } else {
        two_choices(patterns, keys, blocks, second_choice)
    }
}

fn one_choice(patterns: &Patterns, keys: f64, blocks: f64, second_choice: f64) -> Prediction {
    let counts = arrivals::spread(keys, blocks);
    // Past this every bit is set and nothing changes.
    let last = counts.last().min(patterns.arrivals_to_fill());
    let mut set_bits = Window::certain(0);
    let mut mixture = Window::default();
    let mut moments = Moments::default();
    let (mut matched_before, mut duplicates) = (0.0, 0.0);
    for count in 0..=last {
        let matched = set_bits.mean_of(|set| patterns.matched(set)).min(1.0);
        let square = || set_bits.mean_of(|set| patterns.matched(set).powi(2));
        // The last state stands for all that come after it.
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
        accesses_miss: 1.0 + second_choice,
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

fn two_choices(patterns: &Patterns, keys: f64, blocks: f64, second_choice: f64) -> Prediction {
    let per_block = keys / blocks;
    // Past this every bit is set and nothing changes.
    let horizon = per_block.min(patterns.arrivals_to_fill() as f64);
    let mut flow = Flow::new(patterns, second_choice);
    let steps = steps(horizon, second_choice);
    for _ in 0..steps {
        flow.advance(horizon / steps as f64);
    }
    let matched = flow.matched();
    let late = (per_block - horizon) / per_block;
    let early = 1.0 - late;
    let mean_matched = early * flow.matched_sum / horizon + late * matched;
    let mean_square = early * flow.matched_square_sum / horizon + late * matched * matched;
    let second_hits = flow.hits_in_second() / per_block;
    Prediction {
        rate: matched + second_choice * matched * (1.0 - matched),
        rate_deviation: (1.0 + second_choice * (1.0 - 2.0 * matched)).abs()
            * (flow.variance(set_bits_variance(patterns, horizon)) / blocks).sqrt(),
        accesses_insert: 1.0 + second_choice * (1.0 - mean_matched),
        accesses_hit: 1.0 + second_hits,
        accesses_miss: 1.0 + second_choice * (1.0 - matched),
        stored_fraction: 1.0 - mean_matched - second_choice * (mean_matched - mean_square),
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

/// Eight steps per key and block while a single key matters. Later only stability does: the rule stands
/// 2.78 / |eigenvalue|, and the eigenvalues of a chain left at rates up to 1 + α reach 2(1 + α).
fn steps(arrivals: f64, second_choice: f64) -> usize {
    let fine = arrivals.min(128.0);
    (8.0 * fine + (1.0 + second_choice) * (arrivals - fine)).ceil() as usize + 32
}

/// Adds what flows from each source with its probability to the target beside it.
fn flow_along(sources: &[f64], probabilities: &[f64], targets: &mut [f64]) {
    for ((target, source), probability) in targets.iter_mut().zip(sources).zip(probabilities) {
        *target += source * probability;
    }
}

/// States with less mass than this are outside the window.
const NEGLIGIBLE: f64 = 1e-22;

/// π, J and two running sums, with room for the Runge-Kutta stages.
struct Flow<'a> {
    patterns: &'a Patterns,
    second_choice: f64,
    /// `by_new_bits[i][s]` is the probability of i + 1 new bits: long rows that the compiler vectorises.
    by_new_bits: Vec<Vec<f64>>,
    /// Shares of blocks by set bits, and J of the module's text.
    blocks: Vec<f64>,
    elsewhere: Vec<f64>,
    /// ∫ M and ∫ M² over the arrivals, M the match probability.
    matched_sum: f64,
    matched_square_sum: f64,
    /// The window of states with mass.
    low: usize,
    high: usize,
    stage: Stage,
    slope: Stage,
    sum: Stage,
}

/// One value or slope of everything that flows.
#[derive(Clone)]
struct Stage {
    blocks: Vec<f64>,
    elsewhere: Vec<f64>,
    matched: f64,
}

impl<'a> Flow<'a> {
    fn new(patterns: &'a Patterns, second_choice: f64) -> Self {
        let zeros = vec![0.0; patterns.bits() + 1];
        let stage = Stage { blocks: zeros.clone(), elsewhere: zeros.clone(), matched: 0.0 };
        let mut blocks = zeros.clone();
        blocks[0] = 1.0;
        let new_bits = |new: usize| {
            let of_set = |set| patterns.growth(set).get(new).copied().unwrap_or(0.0);
            (0..=patterns.bits()).map(of_set).collect()
        };
        Self {
            patterns,
            second_choice,
            by_new_bits: (0..patterns.hashes()).map(new_bits).collect(),
            blocks,
            elsewhere: zeros,
            matched_sum: 0.0,
            matched_square_sum: 0.0,
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
        self.sum.elsewhere[range.clone()].fill(0.0);
        let (mut matched, mut matched_square) = (0.0, 0.0);
        let stages = [(0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)];
        for (offset, weight) in stages {
            for s in range.clone() {
                let step = offset * arrivals;
                self.stage.blocks[s] = self.blocks[s] + step * self.slope.blocks[s];
                self.stage.elsewhere[s] = self.elsewhere[s] + step * self.slope.elsewhere[s];
            }
            self.compute_slope(range.start, range.end);
            matched += weight * self.slope.matched;
            matched_square += weight * self.slope.matched.powi(2);
            for s in range.clone() {
                self.sum.blocks[s] += weight * self.slope.blocks[s];
                self.sum.elsewhere[s] += weight * self.slope.elsewhere[s];
            }
        }
        for s in range.clone() {
            self.blocks[s] += arrivals * self.sum.blocks[s];
            self.elsewhere[s] += arrivals * self.sum.elsewhere[s];
        }
        self.matched_sum += arrivals * matched;
        self.matched_square_sum += arrivals * matched_square;
        self.shrink_window(range.end);
    }

    fn shrink_window(&mut self, end: usize) {
        self.high = end - 1;
        while self.high > self.low && self.blocks[self.high] < NEGLIGIBLE {
            (self.blocks[self.high], self.elsewhere[self.high]) = (0.0, 0.0);
            self.high -= 1;
        }
        while self.low < self.high && self.blocks[self.low] < NEGLIGIBLE {
            (self.blocks[self.low], self.elsewhere[self.low]) = (0.0, 0.0);
            (self.stage.blocks[self.low], self.slope.blocks[self.low]) = (0.0, 0.0);
            self.low += 1;
        }
    }

    /// Derivative of the stage with respect to the arrivals per block.
    fn compute_slope(&mut self, low: usize, end: usize) {
        let Self { patterns, by_new_bits, stage, slope, second_choice, .. } = self;
        slope.blocks[low..end].fill(0.0);
        slope.elsewhere[low..end].fill(0.0);
        let all: f64 = stage.blocks[low..end].iter().sum();
        let matched: f64 = (low..end).map(|s| stage.blocks[s] * patterns.matched(s)).sum();
        let all_unmatched = all - matched;
        slope.matched = matched;
        // Unmatched blocks with more set bits than s.
        let mut fuller = 0.0;
        for s in (low..end).rev() {
            let here = stage.blocks[s] * (1.0 - patterns.matched(s));
            let as_full = fuller + here;
            let chosen = (1.0 - *second_choice) + *second_choice * (as_full + fuller);
            let lighter = all_unmatched - as_full;
            slope.elsewhere[s] += *second_choice * stage.blocks[s] * (lighter + matched);
            // From here on the stage holds what flows out.
            stage.blocks[s] *= chosen;
            stage.elsewhere[s] *= chosen;
            let leaves = 1.0 - patterns.matched(s);
            slope.blocks[s] -= leaves * stage.blocks[s];
            slope.elsewhere[s] -= leaves * stage.elsewhere[s];
            fuller = as_full;
        }
        for (new, probabilities) in (1..).zip(by_new_bits.iter()) {
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
            flow_along(&stage.elsewhere[sources], probabilities, &mut slope.elsewhere[targets]);
        }
    }

    fn mean_of(&self, f: impl Fn(usize) -> f64) -> f64 {
        (self.low..=self.high).map(|s| self.blocks[s] * f(s)).sum()
    }

    fn matched(&self) -> f64 {
        self.mean_of(|s| self.patterns.matched(s))
    }

    /// Keys per block that are found in their second block only.
    fn hits_in_second(&self) -> f64 {
        (self.low..=self.high).map(|s| self.elsewhere[s] * (1.0 - self.patterns.matched(s))).sum()
    }

    /// Variance of a block's part in the mean of q. The keys are so evenly spread that the sum of the set
    /// bits varies only by how many bits keys share (`set_bits_variance` per block); what q varies beyond a
    /// linear function of the set bits averages out as if blocks were independent.
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

// The oracle is the solver.
#[cfg(all(test, feature = "papers"))]
#[path = "least_loaded_tests.rs"]
mod tests;
