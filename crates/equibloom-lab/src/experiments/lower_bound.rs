//! Balanced Fig. 2, energy Fig. 1: the distribution of loads that no scheme can beat.

use equibloom_layout::{Blocks, Design, Layout, Proportions, Rule, Share};
use equibloom_theory::exact;
use equibloom_theory::lower_bound::lower_bound;
use equibloom_theory::paper::Scheme;

use crate::experiments::prelude::*;
use crate::figure::Kind;
use crate::simulator::offline_bound;
use crate::subject::{Subject, filled};

const LOAD: u64 = 8;
const ACCESSES: [f64; 3] = [1.0, 1.1, 1.2];
const LARGEST_SHOWN: usize = 20;
/// Wide blocks with few hash functions: no key is apparently present, so that only loads matter.
const BLOCK_BITS: u32 = 512;

pub(super) fn parameters(length: Length) -> String {
    format!("r = 8, γ = 0, n = {}, {} repetitions", length.elements(), length.repetitions())
}

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let found = context.map(&[0, 1, 2], |&index| one(context, index))?;
    let bound =
        |accesses, load: usize| Ok::<_, Error>(lower_bound(8.0, accesses, 0.0)?.distribution[load]);
    let mut plot = Plot::of(vec![
        Claim::derived("a = 1.1: P(9), where the tail is cut", 0.238134, bound(1.1, 9)?, 1e-6),
        Claim::derived("a = 1.1: P(10)", 0.279585, bound(1.1, 10)?, 1e-6),
        Claim::derived("a = 1.2: P(8), where the tail is cut", 0.185636, bound(1.2, 8)?, 1e-6),
        Claim::derived("a = 1.2: P(9)", 0.555935, bound(1.2, 9)?, 1e-6),
        Claim::derived("a = 1: P(8) of the Poisson distribution", 0.139587, bound(1.0, 8)?, 1e-6),
    ]);
    let finding = format!(
        "Loads above 10 are {} of all at a = 1, none at a = 1.2; the offline process, run as \
         defined, and the filters give the same distributions.",
        short(lower_bound(8.0, 1.0, 0.0)?.distribution[11..].iter().sum()),
    );
    for curve in found {
        plot.series.extend(curve.series);
        plot.claims.extend(curve.claims);
    }
    Ok(Outcome {
        finding,
        notes: vec![
            "The bound belongs to an offline process: a·n balls are thrown, then (a − 1)·n taken \
             away from the fullest buckets. That is what is simulated.",
            "Filters cannot have a > 1 and γ = 0. The multi-level filters drawn need an overflow \
             of 0.08 % (a = 1.1) and 0.5 % (a = 1.2); their exact model is drawn beside the \
             bound.",
            "At a = 1 and γ = 0 the paper's k₀ is infinite and the bound is the Poisson \
             distribution (erratum 3).",
        ],
        x: Axis::linear("elements in a bucket i"),
        y: Axis::linear("share of buckets P(i)"),
        plot,
        ..Outcome::default()
    })
}

fn one(context: &Context<'_>, index: usize) -> Result<Plot, Error> {
    let accesses = ACCESSES[index];
    let (name, hue) = (format!("a = {accesses}"), Hue::Value(index as u8));
    let (elements, repetitions) = (context.length.elements(), context.length.repetitions());
    let buckets = elements / LOAD;

    let bound = padded(&lower_bound(LOAD as f64, accesses, 0.0)?.distribution);
    let offline = context.repeat(&format!("offline {name}"), repetitions, |seed| {
        Ok(offline_bound(elements, buckets, accesses, 0.0, seed))
    })?;
    let offline = Estimate::of_loads(&offline, &bound);

    let design = filter(accesses, elements)?;
    let exact = exact_loads(&design, elements)?;
    let filters = context.repeat(&format!("filter {name}"), repetitions, |seed| {
        Ok(filled(design, elements, seed)?.loads())
    })?;
    let filters = Estimate::of_loads(&filters, &exact);

    let x: Vec<f64> = (0..=LARGEST_SHOWN).map(|load| load as f64).collect();
    let measured = |origin, points: &[Estimate]| Series::measured(&name, hue, origin, &x, points);
    let claims = vec![
        Claim::on_model(&format!("{name}: the offline process gives the bound"), &bound, &offline)
            .of_kind(Kind::Derived),
        Claim::on_model(
            &format!("{name}: the filter's loads lie on the exact model"),
            &exact,
            &filters,
        ),
    ];
    let series = vec![
        measured(Origin::Simulation, &offline),
        measured(Origin::Filter, &filters),
        Series::new(&name, hue, Origin::Paper, &x, bound),
        Series::new(&name, hue, Origin::Exact, &x, exact),
    ];
    Ok(Plot { series, claims })
}

/// A filter whose loads follow the bound as closely as an online scheme can.
fn filter(accesses: f64, elements: u64) -> Result<Design, Error> {
    let scheme = Scheme::MultiLevel { accesses, choices: 3, overflow: None };
    let bits_per_element = f64::from(BLOCK_BITS) / LOAD as f64;
    if accesses > 1.0 {
        return Subject { scheme, block_bits: BLOCK_BITS, bits_per_element }.design(elements);
    }
    // A threshold that is never reached: a blocked filter that counts.
    let rule = Rule::FirstWithRoom { below: 100, coin: Share::ALL };
    Ok(Layout::single(Blocks::bloom(BLOCK_BITS, 40), elements / LOAD, rule).into())
}

/// The exact model's loads over all subtables.
fn exact_loads(design: &Design, elements: u64) -> Result<Vec<f64>, Error> {
    let levels = exact::predict(design, elements)?.load_distributions;
    let shares = match design.layout().map(|layout| layout.candidates.proportions()) {
        Some(Proportions::Subtables { shares }) => shares.to_vec(),
        _ => vec![1.0],
    };
    let mut loads = vec![0.0; LARGEST_SHOWN + 1];
    for (level, share) in levels.iter().zip(shares) {
        for (load, probability) in loads.iter_mut().zip(level) {
            *load += share * probability;
        }
    }
    Ok(loads)
}

fn padded(distribution: &[f64]) -> Vec<f64> {
    (0..=LARGEST_SHOWN).map(|load| distribution.get(load).copied().unwrap_or(0.0)).collect()
}
