//! The four figures of the 1+α paper, with its Table 2: B = 500, k = round(c·ln 2), no counter.

pub(super) mod best;
pub(super) mod distributions;

use equibloom_theory::paper::{self, Hashes, Scheme};

use crate::evidence::{Curve, Evidence, Point, gather};
use crate::experiments::prelude::*;
use crate::subject::Subject;

const BLOCK_BITS: u32 = 500;
const ALPHA: f64 = 0.3;

/// Why there are two exact models here.
const BY_ELEMENTS_OR_BITS: &str = "The paper balances by elements: its model and the simulation \
     do so too, and the dotted curve is the model of that rule with exact bits. The library's \
     filters count no elements and balance by set bits, which is what the exact model (solid) \
     and the filters show. The simulation must lie on the dotted curve, the filter on the solid \
     one.";

/// Algorithm and memory are the paper's.
const NO_COUNTER: &str = "As in the paper no bits are charged for a counter; charging seven \
     would move the best α at c = 14 from 0.22 to 0. Algorithms 1–4 print “for i = 0 to k”; it \
     is k probes (erratum 10).";

fn subject(scheme: Scheme, bits_per_element: f64) -> Subject {
    Subject { scheme, block_bits: BLOCK_BITS, bits_per_element }
}

fn paper_rate(scheme: Scheme, bits_per_element: f64) -> Result<f64, Error> {
    Ok(subject(scheme, bits_per_element).paper_model()?.rate)
}

/// The three schemes of the paper's figures.
const SCHEMES: [(&str, Hue, Scheme); 3] = [
    ("blocked", Hue::Blocked, Scheme::Blocked),
    ("1+α, α = 0.3", Hue::OnePlusAlpha, Scheme::OnePlusAlpha { alpha: ALPHA }),
    ("power of two", Hue::TwoChoice, Scheme::TwoChoice),
];

pub(super) fn rates(context: &Context<'_>) -> Result<Outcome, Error> {
    let curves = SCHEMES.map(|(name, hue, scheme)| {
        let point = |c: u32| Point::full(context, f64::from(c), subject(scheme, f64::from(c)));
        Curve { name: name.to_owned(), hue, points: (1..=40).map(point).collect() }
    });
    let curves = gather(context, curves.into())?;

    // The smallest c from which one scheme is below another, by the paper's model.
    let (mut overtakes, mut best_from, mut best_to) = (0, 0, 0);
    for c in 1..=40_u32 {
        let rate = |scheme| paper_rate(scheme, f64::from(c));
        let (blocked, two) = (rate(Scheme::Blocked)?, rate(Scheme::TwoChoice)?);
        let mixed = rate(Scheme::OnePlusAlpha { alpha: ALPHA })?;
        if overtakes == 0 && two < blocked {
            overtakes = c;
        }
        if mixed < blocked && mixed < two {
            best_from = if best_from == 0 { c } else { best_from };
            best_to = c;
        }
    }
    let printed = |text: &str, expected: f64, found: u32| {
        Claim::printed("1+α, 4", format!("paper model: {text}"), expected, found.into(), 1.0)
    };
    let claims = vec![
        printed("power of two is below blocked from c = 17 on", 17.0, overtakes),
        printed("α = 0.3 is the best of the three from c = 13 on", 13.0, best_from),
        printed("α = 0.3 is the best of the three up to c = 20", 20.0, best_to),
    ];
    let mut plot = Plot::of(claims);
    curves.iter().for_each(|curve| plot.add(curve, |o| o.rate));
    let rate = |point: &Evidence| point.simulation.estimate(|o| o.rate).mean;
    let first_below = curves[0]
        .points
        .iter()
        .zip(&curves[2].points)
        .find(|(blocked, two)| rate(two) < rate(blocked))
        .map_or(0.0, |(point, _)| point.x);
    let finding = format!(
        "Power of two overtakes blocked at c = {overtakes} in the model and c = {first_below} in \
         the simulation; at c = 40 the filters measure blocked {}, power of two {}.",
        short(curves[0].filter(39, |o| o.rate)),
        short(curves[2].filter(39, |o| o.rate)),
    );
    Ok(Outcome {
        finding,
        notes: vec![BY_ELEMENTS_OR_BITS, NO_COUNTER],
        x: Axis::linear("bits per element c [bits]"),
        y: Axis::logarithmic("false-positive rate"),
        plot,
        ..Outcome::default()
    })
}

pub(super) fn by_alpha(context: &Context<'_>) -> Result<Outcome, Error> {
    /// Bits per element, and the best α that the paper prints.
    const PUBLISHED: [(u32, f64); 3] = [(16, 0.3), (18, 0.4), (20, 0.5)];
    let curve = |(index, &(c, _)): (usize, &(u32, f64))| {
        let point = |tenth: u32| {
            let alpha = f64::from(tenth) / 10.0;
            let scheme = Scheme::OnePlusAlpha { alpha };
            Point::full(context, alpha, subject(scheme, f64::from(c)))
        };
        let points = (0..=10).map(point).collect();
        Curve { name: format!("c = {c}"), hue: Hue::Value(index as u8), points }
    };
    let curves = gather(context, PUBLISHED.iter().enumerate().map(curve).collect())?;
    let (mut plot, mut found) = (Plot::default(), Vec::new());
    for (curve, (c, published)) in curves.iter().zip(PUBLISHED) {
        let (alpha, rate) = paper::best_alpha(BLOCK_BITS, f64::from(c), Hashes::Paper)?;
        let blocked = paper_rate(Scheme::Blocked, f64::from(c))?;
        found.push(format!(
            "{} at c = {c} (rate {} of blocked)",
            short(alpha),
            short(rate.rate / blocked)
        ));
        let text = format!("paper model: the best α at c = {c}");
        plot.claims.push(Claim::printed("1+α, 4", text, published, alpha, 0.1));
        // Everything relative to the rate at α = 0 from the same source; measurements relative to their model,
        // so that the noise of two measurements does not mix.
        for series in curve.series(|o| o.rate) {
            let base = match series.origin {
                Origin::Simulation => curve.points[0].definition.rate,
                Origin::Filter => curve.points[0].exact.rate,
                _ => series.y[0],
            };
            let divide = |values: Vec<f64>| values.into_iter().map(|value| value / base).collect();
            plot.series.push(Series { y: divide(series.y), sigma: divide(series.sigma), ..series });
        }
    }
    for curve in &curves {
        plot.claims.extend(curve.on_models(&curve.name, |o| o.rate));
    }
    Ok(Outcome {
        finding: format!("By the paper's model the best α is {}.", found.join(", ")),
        notes: vec![BY_ELEMENTS_OR_BITS],
        x: Axis::linear("share of elements with two choices α"),
        y: Axis::linear("false-positive rate relative to α = 0"),
        plot,
        ..Outcome::default()
    })
}
