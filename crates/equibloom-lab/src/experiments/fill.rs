//! False positives while filters fill, from empty to 20 % past their capacity.

use equibloom_theory::optimum;
use equibloom_theory::paper::Scheme;

use crate::evidence::{Curve, MULTI_LEVEL, Point, SEQUENTIAL, gather};
use crate::experiments::prelude::*;
use crate::subject::Subject;

/// Smaller rates are checked but not drawn: they cannot be distinguished from zero.
const SMALLEST_DRAWN: f64 = 1e-11;

/// Every scheme in blocks of 256 bits at 24 bits per element, observed at several fills.
pub(super) fn curves(
    context: &Context<'_>,
    fills: &[f64],
    lookups: u64,
) -> Result<Vec<Curve>, Error> {
    let overflow = optimum::multi_level(8.0, 1.2, 3, None)?.overflow;
    let schemes = [
        ("classical", Hue::Classical, Scheme::Classical),
        ("blocked", Hue::Blocked, Scheme::Blocked),
        ("single", Hue::Single, Scheme::Single { overflow }),
        ("sequential", Hue::Sequential, SEQUENTIAL),
        ("multi-level", Hue::MultiLevel, MULTI_LEVEL),
        ("two-choice", Hue::TwoChoice, Scheme::TwoChoice),
        ("1+α, α = 0.3", Hue::OnePlusAlpha, Scheme::OnePlusAlpha { alpha: 0.3 }),
    ];
    let curve = |(name, hue, scheme): (&str, Hue, Scheme)| {
        let subject = Subject { scheme, block_bits: 256, bits_per_element: 24.0 };
        let point = |&fill: &f64| {
            let full = Point::full(context, 100.0 * fill, subject);
            Point { moment: (fill * full.elements as f64).round() as u64, lookups, ..full }
        };
        Curve { name: name.to_owned(), hue, points: fills.iter().map(point).collect() }
    };
    Ok(schemes.into_iter().map(curve).collect())
}

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let fills: Vec<f64> = (1..=12).map(|tenth| f64::from(tenth) / 10.0).collect();
    let curves = gather(context, curves(context, &fills, 0)?)?;
    let mut plot = Plot::default();
    for curve in &curves {
        plot.claims.extend(curve.on_models(&curve.name, |o| o.rate));
        let first = curve.points.iter().position(|point| point.exact.rate > SMALLEST_DRAWN);
        plot.series.extend(curve.series_from(first.unwrap_or(fills.len()), |o| o.rate));
    }
    let filter = |curve: usize, point: usize| short(curves[curve].filter(point, |o| o.rate));
    let finding = format!(
        "From full to 20 % past capacity the rate of blocked goes from {} to {}, of multi-level \
         from {} to {}: a threshold holds the rate and sends the rest to the overflow list.",
        filter(1, 9),
        filter(1, 11),
        filter(4, 9),
        filter(4, 11),
    );
    Ok(Outcome {
        finding,
        notes: vec![
            "B = 256, 24 bits per element, 17 hash functions. The overflow lists are as large as \
             needed: past capacity they hold up to a fifth of the elements, which costs memory \
             and an access.",
            "The sequential filter has spent its access budget at 100 %; what comes later goes \
             to the overflow list unseen. Rates below 10⁻¹¹ are not drawn.",
            "Two-choice and 1+α: the library balances by set bits (exact model, filter), the \
             papers by elements (dotted, simulation).",
        ],
        x: Axis::linear("fill [% of the capacity]"),
        y: Axis::logarithmic("false-positive rate"),
        plot,
        ..Outcome::default()
    })
}
