//! Fig. 1: the distribution of elements over blocks.

use equibloom_layout::{Proportions, Rule, Share};
use equibloom_theory::exact;
use equibloom_theory::fluid::Process;
use equibloom_theory::paper::Scheme;

use super::{BLOCK_BITS, SCHEMES, subject};
use crate::experiments::prelude::*;
use crate::figure::Kind;

const BITS_PER_ELEMENT: f64 = 20.0;
/// Loads that are drawn: the mean is 25.
const SHOWN: std::ops::RangeInclusive<usize> = 5..=45;
/// Shares of blocks below this are not drawn.
const NO_SHARE: f64 = 2e-4;

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let found = context.map(&SCHEMES, |&(name, hue, scheme)| one(context, name, hue, scheme))?;
    let (mut plot, mut spreads) = (Plot::default(), Vec::new());
    for ((curve, spread), (name, ..)) in found.into_iter().zip(SCHEMES) {
        plot.series.extend(curve.series);
        plot.claims.extend(curve.claims);
        spreads.push((name, spread));
    }
    let between = spreads[0].1 > spreads[1].1 && spreads[1].1 > spreads[2].1;
    plot.claims.insert(
        0,
        Claim::stated(
            "1+α, 4",
            Claim::new(
                "1 if the spread of 1+α lies between the others'",
                1.0,
                f64::from(u8::from(between)),
                0.0,
            ),
        ),
    );
    let spreads: Vec<String> =
        spreads.iter().map(|(name, spread)| format!("{name} {}", short(*spread))).collect();
    Ok(Outcome {
        finding: format!("Standard deviation of the elements in a block: {}.", spreads.join("; ")),
        notes: vec![
            "Model and simulation count elements. The filters keep no count: their blocks are \
             shown by their set bits s, as the elements −(B/k)·ln(1 − s/B) that set so many on \
             average, with the share of blocks per element; the exact model of the set bits is \
             drawn the same way. They balance by set bits, and the number of bits that elements \
             set varies too, so the curves differ from those of the elements.",
        ],
        x: Axis::linear("elements in a block x"),
        y: Axis::linear("share of blocks D(x)"),
        plot,
        ..Outcome::default()
    })
}

/// Only where there are blocks: a row of points at zero would hide the others.
fn carrying(series: Series, model: &[f64]) -> Series {
    let keep = |values: &[f64]| {
        let pairs = values.iter().zip(model);
        pairs.filter(|(_, share)| **share > NO_SHARE).map(|(value, _)| *value).collect()
    };
    Series { x: keep(&series.x), y: keep(&series.y), sigma: keep(&series.sigma), ..series }
}

fn one(context: &Context<'_>, name: &str, hue: Hue, scheme: Scheme) -> Result<(Plot, f64), Error> {
    let (elements, repetitions) = (context.length.elements(), context.length.repetitions());
    let subject = subject(scheme, BITS_PER_ELEMENT);
    let blocks = subject.blocks(elements);

    let share = match scheme {
        Scheme::TwoChoice => Share::ALL,
        Scheme::OnePlusAlpha { alpha } => Share::clamped(alpha),
        _ => Share::NONE,
    };
    let (candidates, load) =
        (Proportions::Anywhere { choices: 2, share }, elements as f64 / blocks as f64);
    let mut limit = Process::new(candidates, Rule::LeastLoaded, load).end()?.loads.concat();
    let moment = |power: i32| -> f64 {
        limit.iter().enumerate().map(|(load, share)| (load as f64).powi(power) * share).sum()
    };
    let spread = (moment(2) - moment(1).powi(2)).max(0.0).sqrt();
    limit.resize(*SHOWN.end() + 1, 0.0);
    let model = limit[SHOWN].to_vec();
    let simulated = context.repeat(&format!("simulation {name}"), repetitions, |seed| {
        subject.simulate_loads(elements, seed)
    })?;
    let simulation = Estimate::of_loads(&simulated, &limit).split_off(*SHOWN.start());

    let exact = exact::predict(&subject.design(elements)?, elements)?;
    let exact = &exact.load_distributions[0];
    let filtered = context.repeat(&format!("filter {name}"), repetitions, |seed| {
        Ok(subject.fill_filter(elements, seed)?.levels.swap_remove(0).set_bits)
    })?;
    let filter = Estimate::of_loads(&filtered, exact);

    // Set bits converted to elements: the position of s, and the width of one s there.
    let bits = f64::from(BLOCK_BITS);
    let position = |set: f64| -bits / f64::from(subject.hashes()) * (-set / bits).ln_1p();
    let shown: Vec<(usize, f64, f64)> = (1..exact.len().saturating_sub(1))
        .map(|set| {
            (set, position(set as f64), position(set as f64 + 0.5) - position(set as f64 - 0.5))
        })
        .filter(|&(set, ..)| exact[set] > NO_SHARE)
        .collect();
    let positions: Vec<f64> = shown.iter().map(|&(_, x, _)| x).collect();
    let density = |estimate: Estimate, width: f64| Estimate {
        mean: estimate.mean / width,
        sigma: estimate.sigma / width,
    };
    let exact_density = shown.iter().map(|&(set, _, width)| exact[set] / width).collect();
    let filter_density: Vec<Estimate> =
        shown.iter().map(|&(set, _, width)| density(filter[set], width)).collect();

    let loads: Vec<f64> = SHOWN.map(|load| load as f64).collect();
    let simulated = Series::measured(name, hue, Origin::Simulation, &loads, &simulation);
    let series = vec![
        carrying(Series::new(name, hue, Origin::Paper, &loads, model.clone()), &model),
        carrying(simulated, &model),
        Series::new(name, hue, Origin::Exact, &positions, exact_density),
        Series::measured(name, hue, Origin::Filter, &positions, &filter_density),
    ];
    let claims = vec![
        Claim::on_model(
            &format!("{name}: the simulation lies on the paper's equation"),
            &model,
            &simulation,
        )
        .of_kind(Kind::Derived),
        Claim::on_model(
            &format!("{name}: the filter's set bits lie on the exact model"),
            exact,
            &filter,
        ),
    ];
    Ok((Plot { series, claims }, spread))
}
