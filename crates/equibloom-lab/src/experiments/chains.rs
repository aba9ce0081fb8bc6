//! Energy, section VIII: how many elements of a chain a query walks over.

use equibloom_tables::{BalancedMap, BucketPlan};
use equibloom_theory::lower_bound::lower_bound;
use equibloom_theory::optimum;

use super::Outcome;
use super::names::ENERGY;
use super::tables::AsItIs;
use crate::context::Context;
use crate::error::Error;
use crate::estimate::Estimate;
use crate::figure::{Axis, Claim, Hue, Kind, Origin, Series};
use crate::number::short;
use crate::simulator::{fill, words};

const LOAD: f64 = 6.0;
const CHOICES: u32 = 3;
const PANELS: [&str; 4] =
    ["mean of a miss", "variance of a miss", "mean of a hit", "variance of a hit"];

/// Means and variances of the elements walked over, in the order of the panels, from the weights of the chains'
/// lengths. A miss goes over the whole chain of a random bucket. A hit ends at its element, which is equally likely to
/// be any, and stands anywhere in its chain.
fn walked(weights: &[f64]) -> [f64; 4] {
    let mean = |value: fn(f64) -> f64, weight: fn(f64) -> f64| {
        let terms = weights.iter().enumerate().map(|(length, share)| (length as f64, share));
        let sum = |value: &dyn Fn(f64) -> f64| {
            terms.clone().map(|(l, share)| share * value(l)).sum::<f64>()
        };
        sum(&|l| weight(l) * value(l)) / sum(&weight)
    };
    let moments = |first: f64, second: f64| [first, second - first * first];
    let [miss, of_miss] = moments(mean(|l| l, |_| 1.0), mean(|l| l * l, |_| 1.0));
    let places = |l: f64| (l + 1.0) * (2.0 * l + 1.0) / 6.0;
    let [hit, of_hit] = moments(mean(|l| (l + 1.0) / 2.0, |l| l), mean(places, |l| l));
    [miss, of_miss, hit, of_hit]
}

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let steps: Vec<f64> = (0..=8).map(|step| 1.0 + 0.05 * f64::from(step)).collect();
    let (entries, repetitions) = (context.length.elements(), context.length.choose(4, 4, 40));
    let buckets = (entries as f64 / LOAD).ceil() as u64;
    let found = context.map(&steps, |&accesses| {
        // One access and no overflow is the plain table: it never rejects.
        let (best, overflow) = match accesses {
            1.0 => (None, 0.0),
            _ => {
                let best = optimum::multi_level(LOAD, accesses, CHOICES, None)?;
                let overflow = best.overflow;
                (Some(best), overflow)
            }
        };
        let plan = match &best {
            Some(best) => BucketPlan::optimal(LOAD, best)?,
            None => BucketPlan::single(LOAD, equibloom_layout::Rule::below(64)),
        };
        let bound = walked(&lower_bound(LOAD, accesses, overflow)?.distribution);
        let weights = |counts: &[u64]| counts.iter().map(|&count| count as f64).collect::<Vec<_>>();
        let candidates = plan.proportions.with_blocks(buckets);
        let simulated = context.repeat(&format!("chains {accesses}"), repetitions, |seed| {
            let full = fill(&candidates, plan.rule, None, &[entries], seed).remove(0);
            Ok(walked(&weights(&full.all_loads())))
        })?;
        let mapped =
            context.repeat(&format!("chains of maps {accesses}"), repetitions, |seed| {
                let entries = entries as usize;
                let mut map = BalancedMap::with_plan_and_hasher(entries, plan, AsItIs::default())?;
                map.extend(words(seed).take(entries).map(|key| (key, ())));
                Ok(walked(&weights(&map.statistics().sizes)))
            })?;
        Ok((bound, [simulated, mapped]))
    })?;
    let (mut series, mut claims) = (Vec::new(), Vec::new());
    for (panel, name) in PANELS.iter().enumerate() {
        let bound: Vec<f64> = found.iter().map(|(bound, _)| bound[panel]).collect();
        let hue = Hue::MultiLevel;
        let curve = Series::new("bound", Hue::Classical, Origin::Paper, &steps, bound.clone());
        series.push(curve.in_panel(panel));
        for (side, origin) in [Origin::Simulation, Origin::Map].into_iter().enumerate() {
            let point = |(bound, runs): &([f64; 4], [Vec<[f64; 4]>; 2])| {
                // The means of m values have a deviation of √(variance/m), their variances one of about √(2/m).
                let variance = bound[panel | 1];
                let floor = if panel % 2 == 0 { variance.sqrt() } else { variance * 2_f64.sqrt() };
                let floor = floor / (buckets as f64).sqrt();
                Estimate::of(runs[side].iter().map(|run| run[panel]), floor)
            };
            let measured: Vec<Estimate> = found.iter().map(point).collect();
            let text = format!("{name}: the {} reaches the bound", origin.name());
            let kind = Kind::against_model(origin);
            claims.push(Claim::on_model(&text, &bound, &measured).of_kind(kind));
            let points = Series::measured(ENERGY.multi_level, hue, origin, &steps, &measured);
            series.push(points.in_panel(panel));
        }
    }
    let [plain, balanced] = [0, 4].map(|step| found[step].0);
    claims.insert(
        0,
        Claim::stated(
            "Energy, VIII",
            Claim::derived("mean of a miss: the mean load r", LOAD, plain[0], 1e-9),
        ),
    );
    Ok(Outcome {
        finding: format!(
            "At r = 6 the chain that a miss walks over has a variance of {} with one access and of {} \
             with 1.2; a hit takes {} and {} elements on average, with variances {} and {}.",
            short(plain[1]),
            short(balanced[1]),
            short(plain[2]),
            short(balanced[2]),
            short(plain[3]),
            short(balanced[3]),
        ),
        notes: vec![
            "As in the paper a query is for one bucket: absent elements cost its whole chain, present ones \
             half of it on average. The cost is quadratic: i² − E(O)² for the variance of a miss, i(i + 1)/2 for \
             the elements that all hits in a chain of i walk over. Both are convex, so Theorem 1 bounds them.",
            "The map keeps a bucket's entries side by side instead of in a linked list: what is counted is \
             the number of entries up to the one that is found.",
        ],
        x: Axis::linear("mean bucket accesses of an insert a"),
        y: Axis::linear("elements walked over").of_each_panel(),
        panels: PANELS.to_vec(),
        series,
        claims,
        ..Outcome::default()
    })
}
