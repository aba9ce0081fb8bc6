//! 1+α, section 3.1: the fullest block, by the number of choices.

use equibloom_layout::{Blocks, Candidates, Layout, Proportions, Rule};
use equibloom_theory::fluid::Process;

use crate::experiments::prelude::*;
use crate::simulator::fill;
use crate::subject::filled;

const CHOICES: [u32; 8] = [1, 2, 3, 4, 5, 6, 8, 10];
/// Wide enough that a set bit is an element: hardly two share one.
const BLOCK_BITS: u32 = 4_096;

fn elements(length: Length) -> u64 {
    length.choose(20_000, 100_000, 1_000_000)
}

pub(super) fn parameters(length: Length) -> String {
    format!("n = m = {}, {} repetitions", elements(length), length.repetitions())
}

/// The mean largest load of m buckets: Σ Pr{some bucket holds i or more}, by the fluid limit.
fn expected(choices: u32, buckets: f64) -> Result<f64, Error> {
    let end = Process::new(Proportions::anywhere(choices), Rule::LeastLoaded, 1.0).end()?;
    let tails = end.loads[0].iter().rev().scan(0.0, |tail, share| {
        *tail += share;
        Some(*tail)
    });
    let tails: Vec<f64> = tails.collect();
    Ok(tails.iter().rev().skip(1).map(|tail| -(-buckets * tail).exp_m1()).sum())
}

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let (elements, repetitions) = (elements(context.length), context.length.repetitions());
    let n = elements as f64;
    let found = context.map(&CHOICES, |&choices| {
        let candidates = Candidates::anywhere(elements, choices);
        let rule = Rule::LeastLoaded;
        let simulated =
            context.repeat(&format!("largest load {choices}"), repetitions, |seed| {
                let full = fill(&candidates, rule, None, &[elements], seed).remove(0);
                Ok((full.all_loads().len() - 1) as f64)
            })?;
        let filtered =
            context.repeat(&format!("fullest block {choices}"), repetitions, |seed| {
                let layout = Layout::new(Blocks::bloom(BLOCK_BITS, 1), candidates, rule);
                let counts = filled(layout.into(), elements, seed)?.levels.swap_remove(0).set_bits;
                Ok(counts.iter().rposition(|&count| count > 0).unwrap_or(0) as f64)
            })?;
        // A largest load is one of two numbers, and which one hangs on a few buckets.
        let of = |runs: Vec<f64>| Estimate::of(runs, 0.3);
        Ok((expected(choices, n)?, [of(simulated), of(filtered)]))
    })?;
    let x: Vec<f64> = CHOICES.map(f64::from).to_vec();
    let (model, points): (Vec<f64>, Vec<[Estimate; 2]>) = found.into_iter().unzip();
    let law = |choices: u32| match choices {
        1 => n.ln() / n.ln().ln(),
        _ => n.ln().ln() / f64::from(choices).ln(),
    };
    let far = CHOICES.iter().zip(&model).skip(1).map(|(&d, model)| model - law(d));
    let mut plot = Plot::of(vec![Claim::stated(
        "1+α, 3.1",
        Claim::new(
            "largest distance of the model from ln ln n/ln d, d ≥ 2: a constant",
            1.0,
            far.fold(0.0, f64::max),
            1.5,
        ),
    )]);
    let law = CHOICES.map(law).to_vec();
    plot.series.push(Series::new("the law", Hue::Classical, Origin::Paper, &x, law));
    let curve = Series::new("least loaded of d", Hue::TwoChoice, Origin::Model, &x, model.clone());
    plot.series.push(curve.clone());
    plot.compare(&curve, "the {} lies on the fluid limit", sides(Origin::Filter, &points));
    Ok(Outcome {
        finding: format!(
            "With {elements} elements in as many blocks the fullest holds {} with one choice, {} with two and {} \
             with three.",
            short(model[0]),
            short(model[1]),
            short(model[2]),
        ),
        notes: vec![
            "One choice gives about ln n/ln ln n, d of them ln ln n/ln d + Θ(1): the second choice gains \
             nearly everything, and the paper stops at two.",
            "The filter's blocks are so wide that the number of set bits is the number of elements.",
        ],
        x: Axis::linear("choices d"),
        y: Axis::linear("elements in the fullest block"),
        plot,
        ..Outcome::default()
    })
}
