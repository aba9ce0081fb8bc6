use equibloom_layout::{Candidates, Share};

use super::{Patterns, predict};
use ode_solvers::{DVector, Dop853, OutputType, System};

/// The equations of the module's documentation, summed naively, for an adaptive solver.
struct Naive {
    patterns: Patterns,
    choices: u32,
    share: f64,
}

fn candidates(choices: u32, share: f64) -> Candidates {
    Candidates::Anywhere { blocks: 1_000_000, choices, share: Share::clamped(share) }
}

impl System<f64, DVector<f64>> for Naive {
    fn system(&self, _arrivals: f64, share: &DVector<f64>, slope: &mut DVector<f64>) {
        let unmatched = |s: usize| share[s] * (1.0 - self.patterns.matched(s));
        slope.fill(0.0);
        for s in 0..share.len() {
            let as_full: f64 = (s..share.len()).map(unmatched).sum();
            let fuller: f64 = (s + 1..share.len()).map(unmatched).sum();
            let candidate = |before: u32| {
                fuller.powi(before as i32) * as_full.powi((self.choices - 1 - before) as i32)
            };
            let chosen =
                1.0 - self.share + self.share * (0..self.choices).map(candidate).sum::<f64>();
            for (new, probabilities) in
                self.patterns.growth().filter(|(new, _)| s + new < share.len())
            {
                slope[s] -= share[s] * chosen * probabilities[s];
                slope[s + new] += share[s] * chosen * probabilities[s];
            }
        }
    }
}

#[test]
fn fixed_steps_agree_with_an_adaptive_solver() {
    for (bits, hashes, load, choices, share) in [
        (64, 6, 8.0, 2, 0.5),
        (64, 17, 2.7, 2, 1.0),
        (256, 6, 32.0, 2, 1.0),
        (256, 17, 10.6, 2, 0.1),
        (64, 6, 8.0, 3, 1.0),
        (256, 6, 32.0, 16, 0.4),
    ] {
        let patterns = Patterns::new(bits, hashes);
        let fast = predict(&patterns, load * 1e6, &candidates(choices, share));
        let mut start = DVector::zeros(bits + 1);
        start[0] = 1.0;
        let naive = Naive { patterns: patterns.clone(), choices, share };
        let mut solver = Dop853::from_param(
            naive,
            0.0,
            load,
            load,
            start,
            1e-10,
            1e-16,
            0.9,
            0.0,
            0.333,
            6.0,
            load,
            0.0,
            100_000,
            u32::MAX,
            OutputType::Sparse,
        );
        solver.integrate().unwrap();
        let end = solver.y_out().last().unwrap();
        let matched: f64 = end.iter().enumerate().map(|(s, p)| p * patterns.matched(s)).sum();
        let rate = (1.0 - share) * matched + share * (1.0 - (1.0 - matched).powi(choices as i32));
        assert!((fast.rate / rate - 1.0).abs() < 1e-5, "{bits} {hashes}: {} {rate}", fast.rate);
        for (s, share) in end.iter().enumerate() {
            let ours = fast.load_distributions[0].get(s).copied().unwrap_or(0.0);
            assert!((ours - share).abs() < 1e-6, "{s}: {ours} {share}");
        }
    }
}

#[test]
fn long_steps_in_large_blocks_are_stable_and_keep_their_mass() {
    for (choices, share) in [(2, 0.01), (2, 0.3), (2, 1.0), (16, 1.0)] {
        let p = predict(&Patterns::new(8192, 6), 1e6 * 1024.0, &candidates(choices, share));
        let total: f64 = p.load_distributions[0].iter().sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        let one_block = p.rate / p.accesses_miss;
        // With 16 choices fewer keys are stored, because more are apparently present.
        assert!(one_block > 0.017 && one_block < 0.03, "{one_block}");
    }
}
