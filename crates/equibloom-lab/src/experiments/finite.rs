//! Few blocks: the distance of real filters from the limit of the papers' models.

use equibloom_theory::paper::Scheme;

use crate::evidence::{Curve, MULTI_LEVEL, Point, gather};
use crate::experiments::prelude::*;
use crate::number::power_of_ten;
use crate::subject::Subject;

/// Number of elements that represents the limit.
const MANY: u64 = 10_000_000_000;
/// From this number of blocks the exact model must hold; with fewer blocks it is a limit itself.
const ENOUGH_BLOCKS: f64 = 100.0;

fn most_blocks(length: Length) -> i32 {
    length.choose(5, 6, 6)
}

pub(super) fn parameters(length: Length) -> String {
    let most = power_of_ten(most_blocks(length));
    format!("10 to {most} blocks, in all {} blocks at each point", blocks_in_all(length))
}

fn blocks_in_all(length: Length) -> u64 {
    length.choose(200_000, 2_000_000, 40_000_000)
}

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let sizes: Vec<f64> = (2..=2 * most_blocks(context.length))
        .map(|half| 10_f64.powf(f64::from(half) / 2.0))
        .collect();
    let subject = |scheme| Subject { scheme, block_bits: 256, bits_per_element: 16.0 };
    let curve = |&(name, hue, scheme): &(&str, Hue, Scheme)| {
        let point = |&blocks: &f64| {
            let subject = subject(scheme);
            let blocks = blocks.round() as u64;
            let elements = blocks * 16;
            let repetitions = (blocks_in_all(context.length) / blocks).clamp(2, 4_000);
            Point { x: blocks as f64, subject, elements, moment: elements, repetitions, lookups: 0 }
        };
        Curve { name: name.to_owned(), hue, points: sizes.iter().map(point).collect() }
    };
    let schemes = [
        ("blocked", Hue::Blocked, Scheme::Blocked),
        ("multi-level", Hue::MultiLevel, MULTI_LEVEL),
        ("two-choice", Hue::TwoChoice, Scheme::TwoChoice),
    ];
    let curves = gather(context, schemes.iter().map(curve).collect())?;
    let (mut plot, mut findings) = (Plot::default(), Vec::new());
    for (curve, (name, _, scheme)) in curves.iter().zip(schemes) {
        let limit = subject(scheme).exact_model(MANY, MANY)?.0.rate;
        let by_elements = subject(scheme).definition_model(MANY, MANY)?.rate;
        let relative = |series: Series| {
            // Each filter is compared with its own limit.
            let limit = if series.origin == Origin::Simulation { by_elements } else { limit };
            let divide = |values: Vec<f64>| values.into_iter().map(|value| value / limit).collect();
            Series { y: divide(series.y), sigma: divide(series.sigma), ..series }
        };
        let kept = curve
            .series(|o| o.rate)
            .into_iter()
            .filter(|series| !matches!(series.origin, Origin::Paper | Origin::Definition));
        plot.series.extend(kept.map(relative));
        let enough = curve.points.iter().filter(|point| point.x >= ENOUGH_BLOCKS);
        let (model, measured): (Vec<f64>, Vec<Estimate>) =
            enough.map(|point| (point.exact.rate, point.filter.estimate(|o| o.rate))).unzip();
        let text = format!("{name}: the filter lies on the exact model from 100 blocks on");
        plot.claims.push(Claim::on_model(&text, &model, &measured));
        if let Some(Estimate { mean, sigma }) = measured.last() {
            let text = format!("{name}: rate with the most blocks, relative to the limit");
            plot.claims.push(Claim::new(text, 1.0, mean / limit, 0.01 + 4.0 * sigma / limit));
        }
        findings.push(format!("{name} {}", short(curve.filter(0, |o| o.rate) / limit)));
    }
    Ok(Outcome {
        finding: format!(
            "Ten blocks have this multiple of the limit's rate: {}.",
            findings.join(", ")
        ),
        notes: vec![
            "B = 256, 16 bits per element. Points are means over many filters; one small filter \
             may be far off. Subtables of a multi-level filter are whole blocks, at least one \
             each: with ten blocks they are not in proportion.",
            "The simulation (balanced by elements) is drawn relative to the limit of its own \
             definition.",
        ],
        x: Axis::logarithmic("number of blocks"),
        y: Axis::linear("false-positive rate relative to the limit"),
        plot,
        ..Outcome::default()
    })
}
