//! Beyond the papers: hints and fingerprint blocks against the papers' schemes and the classical filter, all in
//! the same memory.

use equibloom::{Filter, Parameters};
use equibloom_layout::{BlockKind, Design, Placement};
use equibloom_theory::exact::Prediction;
use equibloom_theory::paper::{self, Hashes};
use equibloom_theory::planner::{self, Requirements, paper_design};

use super::Outcome;
use crate::context::{Context, Length};
use crate::error::Error;
use crate::estimate::Estimate;
use crate::evidence::MULTI_LEVEL;
use crate::figure::{Axis, Claim, Hue, Origin, Series};
use crate::number::short;

const BLOCK_BITS: u32 = 512;
/// Memory per key, everything counted; fingerprint blocks need at least 9.
const BITS_PER_KEY: [f64; 12] =
    [9.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 24.0, 28.0, 32.0, 36.0, 40.0];
/// Number of keys for the promises below.
const PROMISED_KEYS: u64 = 10_000_000;
/// Bits per key, and the highest rate of fingerprint blocks there.
const FINGERPRINT_PROMISES: [(f64, f64); 11] = [
    (9.0, 1.14e-2),
    (10.0, 6.02e-3),
    (11.0, 3.17e-3),
    (12.0, 1.66e-3),
    (14.0, 4.53e-4),
    (16.0, 1.25e-4),
    (20.0, 1.11e-5),
    (24.0, 7.15e-7),
    (28.0, 5.53e-8),
    (32.0, 5.86e-9),
    (40.0, 7.07e-11),
];
/// The same for Bloom blocks with hints.
const HINTED_PROMISES: [(f64, f64); 3] = [(24.0, 2.9e-5), (32.0, 9.5e-7), (40.0, 3.4e-8)];

fn repetitions(length: Length) -> u64 {
    length.choose(2, 4, 20)
}

pub(super) fn parameters(length: Length) -> String {
    format!(
        "B = {BLOCK_BITS}, n = {} keys, {} repetitions; promises: n = {PROMISED_KEYS}",
        length.elements(),
        repetitions(length)
    )
}

/// A filter in the comparison.
#[derive(Clone, Copy)]
enum ComparedFilter {
    Paper(&'static str, Hue, paper::Scheme),
    Hinted,
    Fingerprint,
}

const FILTERS: [ComparedFilter; 5] = [
    ComparedFilter::Paper("classical", Hue::Classical, paper::Scheme::Classical),
    ComparedFilter::Paper("blocked", Hue::Blocked, paper::Scheme::Blocked),
    ComparedFilter::Paper("multi-level of the papers", Hue::MultiLevel, MULTI_LEVEL),
    ComparedFilter::Hinted,
    ComparedFilter::Fingerprint,
];

impl ComparedFilter {
    const fn name(self) -> &'static str {
        match self {
            Self::Paper(name, ..) => name,
            Self::Hinted => "multi-level with hints",
            Self::Fingerprint => "fingerprint blocks",
        }
    }

    const fn hue(self) -> Hue {
        match self {
            Self::Paper(_, hue, _) => hue,
            Self::Hinted => Hue::OnePlusAlpha,
            Self::Fingerprint => Hue::TwoChoice,
        }
    }

    /// The filter for this many keys in this memory.
    fn design(self, keys: u64, bits_per_key: f64) -> Result<(Design, Prediction), Error> {
        let memory = (keys as f64 * bits_per_key / 8.0) as u64;
        let requirements = Requirements {
            keys: Some(keys),
            memory: Some(memory),
            block_bits: Some(BLOCK_BITS),
            placement: Some(Placement::MultiLevel),
            accesses_miss: Some(1.2),
            ..Requirements::default()
        };
        let requirements = match self {
            Self::Paper(_, _, scheme) => {
                return Ok(paper_design(scheme, keys, memory, BLOCK_BITS, Hashes::Paper)?);
            }
            Self::Hinted => Requirements { block: Some(BlockKind::Bloom), ..requirements },
            Self::Fingerprint => {
                Requirements { block: Some(BlockKind::Fingerprint), ..requirements }
            }
        };
        let plan = planner::plan(&requirements)?;
        Ok((plan.design, plan.expected))
    }
}

/// One filter at one size: prediction and measurement.
struct Point {
    expected: Prediction,
    rate: Estimate,
    miss: Estimate,
}

fn measure(
    context: &Context<'_>,
    filter: ComparedFilter,
    bits_per_key: f64,
) -> Result<Point, Error> {
    let keys = context.length.elements();
    let (design, expected) = filter.design(keys, bits_per_key)?;
    let name = format!("beyond {} {bits_per_key}", filter.name());
    let runs = context.repeat(&name, repetitions(context.length), |seed| {
        let mut filter = Filter::new(&Parameters { keys, seed, design })?;
        filter.try_extend(0..keys)?;
        let statistics = filter.statistics();
        Ok((statistics.expected_rate, statistics.expected_accesses_per_miss))
    })?;
    let blocks = design.bytes() as f64 * 8.0 / f64::from(BLOCK_BITS);
    let beyond_one = (expected.accesses_miss - 1.0).clamp(0.0, 1.0);
    Ok(Point {
        rate: Estimate::of(runs.iter().map(|run| run.0), expected.rate_deviation),
        miss: Estimate::of(runs.iter().map(|run| run.1), (beyond_one / blocks).sqrt()),
        expected,
    })
}

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let jobs: Vec<(ComparedFilter, f64)> =
        FILTERS.into_iter().flat_map(|filter| BITS_PER_KEY.map(|bits| (filter, bits))).collect();
    let points = context.map(&jobs, |&(filter, bits)| measure(context, filter, bits))?;
    let curves: Vec<(ComparedFilter, &[Point])> =
        FILTERS.into_iter().zip(points.chunks(BITS_PER_KEY.len())).collect();

    let (mut series, mut claims) = (Vec::new(), promises(context)?);
    for (filter, points) in &curves {
        let (name, hue) = (filter.name(), filter.hue());
        let model = |value: fn(&Prediction) -> f64| -> Vec<f64> {
            points.iter().map(|point| value(&point.expected)).collect()
        };
        let measured =
            |value: fn(&Point) -> Estimate| -> Vec<Estimate> { points.iter().map(value).collect() };
        let panels = [
            ("rate", model(|expected| expected.rate), measured(|point| point.rate)),
            ("miss", model(|expected| expected.accesses_miss), measured(|point| point.miss)),
        ];
        for (panel, (what, model, measured)) in panels.into_iter().enumerate() {
            let what = format!("{name}, {what}: the filter lies on the exact model");
            claims.push(Claim::on_model(&what, &model, &measured));
            let exact = Series::new(name, hue, Origin::Exact, &BITS_PER_KEY, model);
            let filter = Series::measured(name, hue, Origin::Filter, &BITS_PER_KEY, &measured);
            series.extend([exact, filter].map(|series| series.in_panel(panel)));
        }
    }
    let at_16 = |curve: usize| &curves[curve].1[4];
    let (classical, fingerprint) = (at_16(0), at_16(4));
    let finding = format!(
        "At 16 bits per key fingerprint blocks measure {} at {} blocks per miss, the classical \
         filter {} at {} bits; hints bring the papers' multi-level from {} blocks per miss to {}.",
        short(fingerprint.rate.mean),
        short(fingerprint.miss.mean),
        short(classical.rate.mean),
        short(classical.miss.mean),
        short(at_16(2).miss.mean),
        short(at_16(3).miss.mean),
    );
    Ok(Outcome {
        finding,
        notes: vec![
            "All memory is counted: blocks, counters, hints, watermarks, the overflow list as allocated, the \
             header. The papers' filters have their own parameters (1.2 accesses per insert, three \
             choices), hints and fingerprints those of the planner for at most 1.2 blocks per miss.",
            "Rates are read off the filters' bits and fingerprints. The classical filter reads one \
             bit per access.",
        ],
        x: Axis::linear("bits per key, everything counted"),
        y: Axis::logarithmic("").of_each_panel(),
        panels: vec!["false-positive rate", "blocks read per miss"],
        series,
        claims,
        ..Outcome::default()
    })
}

/// Promises for ten million keys, by the exact model.
fn promises(context: &Context<'_>) -> Result<Vec<Claim>, Error> {
    let promised: Vec<(ComparedFilter, f64, f64)> = FINGERPRINT_PROMISES
        .iter()
        .map(|&(bits, rate)| (ComparedFilter::Fingerprint, bits, rate))
        .chain(HINTED_PROMISES.iter().map(|&(bits, rate)| (ComparedFilter::Hinted, bits, rate)))
        .collect();
    let kept = context.map(&promised, |&(filter, bits, most)| {
        let expected = filter.design(PROMISED_KEYS, bits)?.1;
        let what = format!("{}, {bits} bits: rate at most", filter.name());
        Ok(Claim::promised(what, most, expected.rate))
    })?;
    Ok(kept)
}
