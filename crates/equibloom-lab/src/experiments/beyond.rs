//! Beyond the papers: hints and fingerprint blocks against the papers' schemes and the classical filter, all in
//! the same memory.

use equibloom_layout::{BlockKind, Design, Placement};
use equibloom_theory::exact::Prediction;
use equibloom_theory::paper::{self, Hashes};
use equibloom_theory::planner::{self, Requirements, paper_design};

use crate::evidence::MULTI_LEVEL;
use crate::experiments::prelude::*;
use crate::subject::filled;

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
struct ComparedFilter {
    name: &'static str,
    hue: Hue,
    kind: Kind,
}

enum Kind {
    /// With the papers' parameters.
    Paper(paper::Scheme),
    /// Multi-level with these blocks, as the planner finds it.
    Planned(BlockKind),
}

const FILTERS: [ComparedFilter; 5] = {
    use Kind::{Paper, Planned};
    const fn filter(name: &'static str, hue: Hue, kind: Kind) -> ComparedFilter {
        ComparedFilter { name, hue, kind }
    }
    [
        filter("classical", Hue::Classical, Paper(paper::Scheme::Classical)),
        filter("blocked", Hue::Blocked, Paper(paper::Scheme::Blocked)),
        filter("multi-level of the papers", Hue::MultiLevel, Paper(MULTI_LEVEL)),
        filter("multi-level with hints", Hue::OnePlusAlpha, Planned(BlockKind::Bloom)),
        filter("fingerprint blocks", Hue::TwoChoice, Planned(BlockKind::Fingerprint)),
    ]
};
const HINTED: &ComparedFilter = &FILTERS[3];
const FINGERPRINT: &ComparedFilter = &FILTERS[4];

impl ComparedFilter {
    /// The filter for this many keys in this memory.
    fn design(&self, keys: u64, bits_per_key: f64) -> Result<(Design, Prediction), Error> {
        let memory = (keys as f64 * bits_per_key / 8.0) as u64;
        let block = match self.kind {
            Kind::Planned(block) => block,
            Kind::Paper(scheme) => {
                return Ok(paper_design(scheme, keys, memory, BLOCK_BITS, Hashes::Paper)?);
            }
        };
        let plan = planner::plan(&Requirements {
            keys: Some(keys),
            memory: Some(memory),
            block_bits: Some(BLOCK_BITS),
            placement: Some(Placement::MultiLevel),
            accesses_miss: Some(1.2),
            block: Some(block),
            ..Requirements::default()
        })?;
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
    filter: &ComparedFilter,
    bits_per_key: f64,
) -> Result<Point, Error> {
    let keys = context.length.elements();
    let (design, expected) = filter.design(keys, bits_per_key)?;
    let name = format!("beyond {} {bits_per_key}", filter.name);
    let runs = context.repeat(&name, repetitions(context.length), |seed| {
        let statistics = filled(design, keys, seed)?;
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
    let found = context.map_curves(
        &FILTERS,
        |_| &BITS_PER_KEY,
        |filter, &bits| measure(context, filter, bits),
    )?;
    let mut plot = Plot::of(promises(context)?);
    for (ComparedFilter { name, hue, .. }, points) in FILTERS.iter().zip(&found) {
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
            let exact =
                Series::new(name, *hue, Origin::Exact, &BITS_PER_KEY, model).in_panel(panel);
            plot.series.push(exact.clone());
            let text = format!("{name}, {what}: the {{}} lies on the exact model");
            plot.compare(&exact, &text, [(Origin::Filter, measured)]);
        }
    }
    let at_16 = |filter: usize| &found[filter][4];
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
        plot,
        ..Outcome::default()
    })
}

/// Promises for ten million keys, by the exact model.
fn promises(context: &Context<'_>) -> Result<Vec<Claim>, Error> {
    let promised: Vec<(&ComparedFilter, f64, f64)> = FINGERPRINT_PROMISES
        .iter()
        .map(|&(bits, rate)| (FINGERPRINT, bits, rate))
        .chain(HINTED_PROMISES.iter().map(|&(bits, rate)| (HINTED, bits, rate)))
        .collect();
    context.map(&promised, |&(filter, bits, most)| {
        let expected = filter.design(PROMISED_KEYS, bits)?.1;
        let what = format!("{}, {bits} bits: rate at most", filter.name);
        Ok(Claim::promised(what, most, expected.rate))
    })
}
