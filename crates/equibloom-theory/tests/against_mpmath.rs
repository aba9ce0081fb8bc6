//! The theory against an independent high-precision computation (`against_mpmath.py`).
//!
//! Needs Python 3 with `venv`; installs mpmath into the cargo target folder. Without them it fails and says
//! why.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "clippy.toml allows them in tests, but does not see that helpers of tests are tests"
)]

use equibloom_layout::{Blocks, Layout, Proportions};
use equibloom_theory::exact::predict;
use equibloom_theory::lower_bound::{costs, lower_bound};
use equibloom_theory::optimum;
use equibloom_theory::paper::{self, Hashes, Scheme};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const TOLERANCE: f64 = 1e-9;
/// Tolerance of values computed by quadrature or a differential equation.
const INTEGRAL_TOLERANCE: f64 = 1e-7;

/// The Python of a virtual environment that has mpmath.
fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpmath-venv");
        let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
        let has_mpmath = || {
            Command::new(&python)
                .args(["-c", "import mpmath"])
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        };
        if !has_mpmath() {
            run(Command::new("python3").args(["-m", "venv"]).arg(&folder));
            run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "mpmath==1.3.0"]));
            assert!(has_mpmath(), "mpmath is not usable in {}", folder.display());
        }
        python
    })
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) => {
            assert!(status.success(), "{command:?} failed ({status}): this test needs it")
        }
        Err(error) => panic!("{command:?} could not be started: {error}; this test needs Python 3"),
    }
}

/// Asks all questions in one process.
fn ask(questions: &[String]) -> Vec<Vec<f64>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/against_mpmath.py");
    let mut child = Command::new(python())
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the Python of the virtual environment starts");
    let mut input = child.stdin.take().expect("a pipe");
    let text = questions.join("\n") + "\n";
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("an answer");
    writer.join().expect("no panic").expect("all questions are taken");
    assert!(output.status.success(), "the script failed");
    let answers: Vec<Vec<f64>> = String::from_utf8(output.stdout)
        .expect("text")
        .lines()
        .map(|line| line.split(' ').map(|number| number.parse().expect("a number")).collect())
        .collect();
    assert_eq!(answers.len(), questions.len());
    answers
}

fn compare(question: &str, what: &str, ours: f64, theirs: f64, tolerance: f64) -> f64 {
    let error = if theirs == 0.0 { ours.abs() } else { (ours / theirs - 1.0).abs() };
    assert!(error <= tolerance, "{question}: {what}: {ours:e} is not {theirs:e} ({error:e})");
    error
}

#[test]
fn bounds_and_coins_agree() {
    let mut points = Vec::new();
    for load in [0.5, 1.0, 3.7, 8.0, 32.0, 200.0] {
        for accesses in [1.0, 1.05, 1.2, 2.0, 3.0] {
            for overflow in [0.0, 1e-4, 0.005, 0.3] {
                if accesses > 1.0 || overflow > 0.0 {
                    points.push((load, accesses, overflow));
                }
            }
        }
    }
    // Enough bits for the block's rate to be convex over all loads that carry mass.
    let block = |load: f64| (f64::max(64.0, 20.0 * load).min(32768.0).round(), 9);
    let questions: Vec<String> = points
        .iter()
        .map(|&(load, accesses, overflow)| {
            let (bits, hashes) = block(load);
            format!("bound {load} {accesses} {overflow} {bits} {hashes}")
        })
        .collect();
    let mut worst = (0.0_f64, 0.0_f64);
    for ((question, answer), &(load, accesses, overflow)) in
        questions.iter().zip(ask(&questions)).zip(&points)
    {
        let [k0, at, above, variance, rate, p] = answer[..] else {
            panic!("{question}: {answer:?}")
        };
        let bound = lower_bound(load, accesses, overflow).unwrap();
        assert_eq!(bound.k0.map(f64::from), Some(k0), "{question}");
        let h = k0 as usize;
        let absolute = |what, ours: f64, theirs: f64| {
            let holds = (ours - theirs).abs() < 1e-12 * load.max(1.0);
            assert!(holds, "{question}: {what}: {ours} is not {theirs}");
        };
        absolute("P(k0)", bound.distribution[h], at);
        absolute("P(k0+1)", bound.distribution[h + 1], above);
        let (bits, hashes) = block(load);
        let mean = bound.mean_load();
        // The variance may be a tiny difference of squares: it is accurate to their digits.
        let ours = bound.cost(costs::variance(mean)).unwrap();
        assert!((ours - variance).abs() < 1e-9 * variance.max(1e-3 * mean * mean), "{question}");
        let ours = bound.cost(costs::bloom_block(bits, hashes)).unwrap();
        worst.0 = worst.0.max(compare(question, "rate", ours, rate, TOLERANCE));
        if p >= 0.0 {
            let ours = optimum::threshold(load, accesses, overflow).unwrap().1;
            let tolerance = TOLERANCE.max(1e-13 / above);
            let error = compare(question, "p", ours, p, tolerance);
            worst.1 = worst.1.max(error / tolerance);
        }
    }
    println!("largest relative error: bounds {:e}, p {} of its tolerance", worst.0, worst.1);
}

#[test]
fn least_overflows_of_multi_level_agree() {
    let mut points = Vec::new();
    for choices in 2..=8_u32 {
        for accesses in [1.0001, 1.05, 1.2, 1.5, 1.9, 2.5, 3.0] {
            if accesses < f64::from(choices) {
                points.push((accesses, choices));
            }
        }
    }
    let questions: Vec<String> = points.iter().map(|(a, d)| format!("multi {a} {d}")).collect();
    for ((question, answer), &(accesses, choices)) in
        questions.iter().zip(ask(&questions)).zip(&points)
    {
        let ours = optimum::multi_level(8.0, accesses, choices, None).unwrap().overflow;
        compare(question, "γ0", ours, answer[0], TOLERANCE);
    }
}

#[test]
fn least_overflows_of_sequential_agree() {
    let points = [
        (0.5, 1.2, 2),
        (0.5, 2.5, 3),
        (3.7, 1.05, 3),
        (8.0, 1.05, 3),
        (8.0, 1.2, 3),
        (8.0, 1.9, 2),
        (32.0, 1.5, 8),
        (100.0, 1.2, 4),
        (200.0, 1.1, 3),
    ];
    let ours: Vec<f64> = points
        .iter()
        .map(|&(load, accesses, choices)| {
            optimum::sequential(load, accesses, choices, None).unwrap().overflow
        })
        .collect();
    let questions: Vec<String> = points
        .iter()
        .zip(&ours)
        .map(|((load, accesses, choices), ours)| {
            format!("sequential {load} {accesses} {choices} {ours:e}")
        })
        .collect();
    for ((question, answer), ours) in questions.iter().zip(ask(&questions)).zip(ours) {
        let error = compare(question, "γ0", ours, answer[0], INTEGRAL_TOLERANCE);
        println!("{question}: {error:e}");
    }
}

#[test]
fn rates_of_the_papers_agree() {
    let mut cases = Vec::new();
    for bits in [64, 256, 512, 4096, 32768_u32] {
        for bits_per_key in [8.0, 16.0, 24.0, 40.0] {
            if f64::from(bits) / bits_per_key > 300.0 {
                continue;
            }
            cases.push(("classical", Scheme::Classical, bits, bits_per_key, 0.0, 1));
            cases.push(("blocked", Scheme::Blocked, bits, bits_per_key, 0.0, 1));
            let single = Scheme::Single { overflow: 0.005 };
            cases.push(("single", single, bits, bits_per_key, 0.005, 1));
            for (accesses, choices) in [(1.2, 3), (1.7, 6)] {
                let scheme = Scheme::MultiLevel { accesses, choices, overflow: None };
                cases.push(("multi-rate", scheme, bits, bits_per_key, accesses, choices));
            }
        }
    }
    let questions: Vec<String> = cases
        .iter()
        .map(|(kind, _, bits, bits_per_key, a, d)| format!("{kind} {bits} {bits_per_key} {a} {d}"))
        .collect();
    for ((question, answer), &(_, scheme, bits, bits_per_key, ..)) in
        questions.iter().zip(ask(&questions)).zip(&cases)
    {
        let ours = paper::rate(scheme, bits, bits_per_key, Hashes::Paper).unwrap().rate;
        compare(question, "rate", ours, answer[0], TOLERANCE);
    }
}

#[test]
fn rates_of_one_plus_alpha_agree() {
    let cases = [
        (500_u32, 18.0, 0.4),
        (500, 40.0, 1.0),
        (64, 8.0, 1.0),
        (256, 24.0, 0.1),
        (512, 12.0, 0.5),
    ];
    let questions: Vec<String> =
        cases.iter().map(|(bits, beta, alpha)| format!("alpha {bits} {beta} {alpha}")).collect();
    for ((question, answer), &(bits, beta, alpha)) in
        questions.iter().zip(ask(&questions)).zip(&cases)
    {
        let ours =
            paper::rate(Scheme::OnePlusAlpha { alpha }, bits, beta, Hashes::Paper).unwrap().rate;
        let error = compare(question, "rate", ours, answer[0], INTEGRAL_TOLERANCE);
        println!("{question}: {error:e}");
    }
}

#[test]
fn exact_rates_of_the_blocked_filter_agree() {
    let mut cases = Vec::new();
    for bits in [64_u32, 256, 512, 4096, 32768] {
        for (bits_per_key, hashes) in [(4.0, 3_u32), (8.0, 5), (16.0, 9), (40.0, 16)] {
            for blocks in [3_u64, 1000, 10_000_000] {
                let keys = (blocks as f64 * f64::from(bits) / bits_per_key).round() as u64;
                cases.push((bits, hashes, keys, blocks));
            }
        }
    }
    let questions: Vec<String> = cases
        .iter()
        .map(|(bits, hashes, keys, blocks)| format!("exact {bits} {hashes} {keys} {blocks}"))
        .collect();
    for ((question, answer), &(bits, hashes, keys, blocks)) in
        questions.iter().zip(ask(&questions)).zip(&cases)
    {
        let layout = Layout::blocked(Blocks::bloom(bits, hashes), blocks);
        let ours = predict(&layout.into(), keys).unwrap().rate;
        compare(question, "rate", ours, answer[0], TOLERANCE);
    }
}

#[test]
fn optimal_parameters_are_valid_or_refused() {
    for load in [0.5, 0.9, 1.0, 2.0, 5.5, 17.0, 64.0, 133.3, 200.0] {
        for accesses in [1.0, 1.001, 1.05, 1.1, 1.3, 1.7, 2.0, 2.6, 3.0] {
            for choices in 1..=8_u32 {
                if accesses > 1.0 && accesses >= f64::from(choices) {
                    continue;
                }
                for overflow in [0.0, 1e-6, 0.01, 0.1, 0.3] {
                    match optimum::multi_level(load, accesses, choices, Some(overflow)) {
                        Ok(optimum) => {
                            assert!((0.0..=1.0).contains(&optimum.probability));
                            let Proportions::Subtables { shares } = optimum.candidates else {
                                panic!("{optimum:?}");
                            };
                            let total: f64 = shares.iter().sum();
                            assert!((total - 1.0).abs() < 1e-12);
                        }
                        Err(
                            equibloom_theory::Error::OutsideOptimalityRegion { .. }
                            | equibloom_theory::Error::InfiniteThreshold { .. },
                        ) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            }
        }
    }
}
