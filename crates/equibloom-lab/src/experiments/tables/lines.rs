//! `table-lines`: buckets and cache lines read by lookups, for every map, by its load.

use equibloom_layout::Share;
use equibloom_tables::{
    BalancedMap, BucketPlan, Cuckoo, CuckooMap, LookupStatistics, Map, RawTable, TableStatistics,
};
use equibloom_theory::optimum::{self, Optimum};

use super::AsItIs;
use super::reads::{self, HitsAndMisses, Reads};
use crate::experiments::prelude::*;
use crate::simulator::{Buckets, Lookups, look_up, words};

const LOAD: f64 = 6.0;
const ACCESSES: f64 = 1.2;
const CHOICES: u32 = 3;
const ALPHA: Share = Share::clamped(0.3);
/// Shares of a map's capacity at which it is measured.
const FILLS: [f64; 6] = [0.1, 0.3, 0.5, 0.7, 0.85, 1.0];
/// Lookups of absent keys in each simulated table.
const SIMULATED_MISSES: u64 = 50_000;
/// Lookups of absent keys behind a map's statistics.
const MISSES: f64 = 131_072.0;

fn repetitions(length: Length) -> u64 {
    length.choose(2, 4, 20)
}

pub(crate) fn parameters(length: Length) -> String {
    format!("n = {} entries of 16 bytes, {} repetitions", length.elements(), repetitions(length))
}

/// A kind of map: name, colour and table.
type Kind = (&'static str, Hue, Table);

enum Table {
    Balanced(BucketPlan),
    OneSlot,
    FourSlots,
}

fn kinds() -> Result<[Kind; 7], Error> {
    let multi_level = optimum::multi_level(LOAD, ACCESSES, CHOICES, None)?;
    let sequential = optimum::sequential(LOAD, ACCESSES, CHOICES, None)?;
    let single = optimum::single(LOAD, multi_level.overflow)?;
    let optimal =
        |best: &Optimum| Ok::<_, Error>(Table::Balanced(BucketPlan::optimal(LOAD, best)?));
    let less_loaded =
        |slots, share| Table::Balanced(BucketPlan::one_plus_alpha(LOAD, slots, share));
    Ok([
        ("single", Hue::Single, optimal(&single)?),
        ("sequential", Hue::Sequential, optimal(&sequential)?),
        ("multi-level", Hue::MultiLevel, optimal(&multi_level)?),
        ("two-choice", Hue::TwoChoice, less_loaded(8, Share::ALL)),
        ("1+α, α = 0.3", Hue::OnePlusAlpha, less_loaded(12, ALPHA)),
        ("cuckoo, one slot", Hue::OneSlot, Table::OneSlot),
        ("cuckoo, four slots", Hue::FourSlots, Table::FourSlots),
    ])
}

impl Table {
    /// Maximum number of buckets a lookup may read.
    fn choices(&self) -> usize {
        match self {
            Self::Balanced(plan) => plan.choices() as usize,
            Self::OneSlot | Self::FourSlots => 2,
        }
    }

    /// Whether there is nothing to simulate: a single bucket, or both buckets of a cuckoo table, which are read
    /// at once.
    fn is_certain(&self) -> bool {
        self.choices() == 1 || !matches!(self, Self::Balanced(_))
    }

    /// A map for `entries`, measured after each of `moments`.
    fn statistics(
        &self,
        entries: u64,
        moments: &[u64],
        seed: u64,
    ) -> Result<Vec<TableStatistics>, Error> {
        let (entries, hasher) = (entries as usize, AsItIs::default());
        Ok(match self {
            Self::Balanced(plan) => {
                watch(BalancedMap::with_plan_and_hasher(entries, *plan, hasher)?, moments, seed)
            }
            Self::OneSlot => {
                let load = Cuckoo::<(), 1>::MAX_LOAD;
                let map = CuckooMap::<_, _, _, 1>::with_load_and_hasher(entries, load, hasher)?;
                watch(map, moments, seed)
            }
            Self::FourSlots => {
                let load = Cuckoo::<(), 4>::MAX_LOAD;
                let map = CuckooMap::<_, _, _, 4>::with_load_and_hasher(entries, load, hasher)?;
                watch(map, moments, seed)
            }
        })
    }

    /// The theory's result with `arrivals` entries per bucket, if there is one.
    fn model(&self, arrivals: f64) -> Result<Option<HitsAndMisses>, Error> {
        Ok(match self {
            Self::FourSlots => None,
            Self::OneSlot => Some(reads::one_slot_cuckoo(2.0 * arrivals)),
            Self::Balanced(plan) => Some(reads::of_plan(plan, arrivals)?),
        })
    }

    /// Mean buckets by simulation.
    fn simulate(&self, moments: &[u64], statistics: &TableStatistics, seed: u64) -> Vec<Lookups> {
        let Self::Balanced(plan) = self else {
            return moments.iter().map(|_| Lookups { hit: 2.0, miss: 2.0 }).collect();
        };
        let buckets = Buckets {
            candidates: plan.proportions.with_blocks(statistics.buckets as u64),
            rule: plan.rule,
            slots: plan.slots,
            classes: reads::classes(plan.slots as usize) as u64,
        };
        look_up(&buckets, moments, SIMULATED_MISSES, seed)
    }
}

/// Fills a map and takes its statistics after each of `moments`.
fn watch<T: RawTable<Entry = (u64, u64)>>(
    mut map: Map<u64, u64, T, AsItIs>,
    moments: &[u64],
    seed: u64,
) -> Vec<TableStatistics> {
    let mut keys = words(seed);
    let at = |&moment: &u64| {
        let missing = moment as usize - map.len();
        map.extend(keys.by_ref().take(missing).map(|key| (key, key)));
        map.statistics()
    };
    moments.iter().map(at).collect()
}

/// All results for one kind of map.
struct Found {
    loads: Vec<f64>,
    /// Moment by moment, where there is a model.
    models: Option<Vec<HitsAndMisses>>,
    /// Repetition by repetition, moment by moment.
    simulated: Vec<Vec<Lookups>>,
    maps: Vec<Vec<TableStatistics>>,
}

fn find(context: &Context<'_>, (name, _, table): &Kind) -> Result<Found, Error> {
    let (entries, repetitions) = (context.length.elements(), repetitions(context.length));
    let moments = FILLS.map(|fill| (fill * entries as f64).round() as u64);
    let maps = context.repeat(&format!("table lines map {name}"), repetitions, |seed| {
        table.statistics(entries, &moments, seed)
    })?;
    let full = &maps[0][FILLS.len() - 1];
    let simulation = format!("table lines simulation {name}");
    let simulated = context
        .repeat(&simulation, repetitions, |seed| Ok(table.simulate(&moments, full, seed)))?;
    let slots = (full.buckets * full.slots) as f64;
    let model = |&moment: &u64| table.model(moment as f64 / full.buckets as f64).transpose();
    let models: Option<Result<Vec<_>, Error>> = moments.iter().map(model).collect();
    let loads = moments.map(|moment| 100.0 * moment as f64 / slots).into();
    Ok(Found { loads, models: models.transpose()?, simulated, maps })
}

/// Hits or misses.
#[derive(Clone, Copy)]
struct Operation {
    name: &'static str,
    /// 0 or 1, as in [`HitsAndMisses`].
    index: usize,
}

impl Operation {
    fn lookups(self, map: &TableStatistics) -> &LookupStatistics {
        [&map.hits, &map.misses][self.index]
    }

    /// Lookups behind each statistic.
    fn count(self, map: &TableStatistics) -> f64 {
        [map.entries as f64, MISSES][self.index]
    }
}

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let kinds = kinds()?;
    let found = context.map(&kinds, |kind| find(context, kind))?;
    let (mut series, mut claims, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    for (kind, found) in kinds.iter().zip(&found) {
        for (index, name) in ["hit", "miss"].into_iter().enumerate() {
            let operation = Operation { name, index };
            one(kind, found, operation, &mut series, &mut claims);
        }
        let (name, _, table) = kind;
        let all = || found.maps.iter().flatten().flat_map(|map| [&map.hits, &map.misses]);
        let most = all().map(|lookups| lookups.buckets.max).max().unwrap_or(0);
        let text = format!("{name}: most buckets that a lookup read, d");
        claims.push(Claim::new(text, table.choices() as f64, most as f64, 0.0));
        let full = &found.maps[0][FILLS.len() - 1];
        let [hit, miss] = [&full.hits, &full.misses].map(|lookups| short(lookups.lines.mean));
        findings.push(format!("{name} {hit}/{miss}"));
    }
    Ok(Outcome {
        finding: format!(
            "Full maps read so many cache lines per hit/miss: {}.",
            findings.join(", ")
        ),
        notes: vec![
            "Entries are 16 bytes; r = 6 entries a bucket when full, a = 1.2, d = 3 for sequential \
             and multi-level; two-choice has 8 slots a bucket, 1+α has 12. The stash is not \
             counted: a lookup that has read all its buckets may search it, too.",
            "A miss reads the header of a bucket and goes on only if the bucket rejected an entry \
             of its key's class; a hit reads the entry's line, too. Tags that agree by chance add a line \
             with probability 0.4 % for each entry.",
            "A cuckoo table reads both buckets of a key at once, before it knows which of them has \
             the entry. Lines are not simulated.",
        ],
        x: Axis::linear("slots filled [%]"),
        y: Axis::linear("buckets or lines read").of_each_panel(),
        panels: vec![
            "buckets per hit, mean",
            "lines per hit, mean",
            "lines per hit, 99th of 100",
            "buckets per miss, mean",
            "lines per miss, mean",
            "lines per miss, 99th of 100",
        ],
        plot: Plot { series, claims },
        ..Outcome::default()
    })
}

/// Draws and checks the hits or misses of one kind of map, in three panels.
fn one(
    (name, hue, table): &Kind,
    found: &Found,
    operation: Operation,
    series: &mut Vec<Series>,
    claims: &mut Vec<Claim>,
) {
    let Operation { name: what, index } = operation;
    let models: Option<Vec<&Reads>> =
        found.models.as_ref().map(|models| models.iter().map(|model| &model[index]).collect());
    // One lookup varies as in the model; without a model, as a choice between two buckets.
    let deviation = |at: usize| {
        let each = models.as_ref().map_or(0.5, |models| models[at].deviation());
        each / operation.count(&found.maps[0][at]).sqrt()
    };
    let estimates = |value: fn(&LookupStatistics) -> f64| -> Vec<Estimate> {
        let at = |at| {
            let values = found.maps.iter().map(|map| value(operation.lookups(&map[at])));
            Estimate::of(values, deviation(at))
        };
        (0..FILLS.len()).map(at).collect()
    };
    let buckets = estimates(|lookups| lookups.buckets.mean);
    let mean_lines = estimates(|lookups| lookups.lines.mean);
    let simulated = |at: usize| {
        let runs = found.simulated.iter().map(|run| [run[at].hit, run[at].miss][index]);
        Estimate::of(runs, deviation(at) * (MISSES / SIMULATED_MISSES as f64).sqrt())
    };
    let simulation: Vec<Estimate> = (0..FILLS.len()).map(simulated).collect();
    let text = |claim: &str| format!("{name}, {what}: {claim}");
    let is_certain = table.is_certain();
    let panel = 3 * index;
    if let Some(models) = &models {
        let means: Vec<f64> = models.iter().map(|model| model.mean()).collect();
        let model_lines: Vec<f64> = models.iter().map(|model| model.lines).collect();
        let simulated = (!is_certain).then_some(("the simulation's buckets", &simulation));
        for (what, measured) in simulated.into_iter().chain([("the map's buckets", &buckets)]) {
            let what = text(&format!("{what} lie on the model"));
            claims.push(Claim::on_model(&what, &means, measured));
        }
        claims.push(Claim::on_model(&text("lines lie on the model"), &model_lines, &mean_lines));
        claims.push(Claim::new(
            text(
                "points where the 99th of 100 lookups reads more or fewer buckets than the model's",
            ),
            0.0,
            surprising_tails(found, operation, models) as f64,
            0.0,
        ));
        let line = |y| Series::new(name, *hue, Origin::Model, &found.loads, y);
        series.push(line(means).in_panel(panel));
        series.push(line(model_lines).in_panel(panel + 1));
    } else {
        let claim = match is_certain {
            true => "the map reads both buckets",
            false => "the map's buckets are the simulation's",
        };
        claims.push(Claim::same(&text(claim), &simulation, &buckets));
    }
    let points = |origin, y: &[Estimate]| Series::measured(name, *hue, origin, &found.loads, y);
    if !is_certain {
        series.push(points(Origin::Simulation, &simulation).in_panel(panel));
    }
    series.push(points(Origin::Map, &buckets).in_panel(panel));
    series.push(points(Origin::Map, &mean_lines).in_panel(panel + 1));
    let tail = found.maps[0].iter().map(|map| operation.lookups(map).lines.p99 as f64).collect();
    let tail = Series::new(name, *hue, Origin::Map, &found.loads, tail);
    series.push(tail.in_panel(panel + 2));
}

/// Points at which the 99th percentile of the buckets read differs from the model's, within 4σ of the share of
/// lookups that read no more.
fn surprising_tails(found: &Found, operation: Operation, models: &[&Reads]) -> usize {
    let is_surprising = |(model, map): &(&&Reads, &TableStatistics)| {
        let at_most = |buckets: usize| -> f64 { model.buckets.iter().take(buckets).sum() };
        let p99 = operation.lookups(map).buckets.p99;
        let allowed = 4.0 * (0.99 * 0.01 / operation.count(map)).sqrt() + 0.01 * 0.01;
        at_most(p99) < 0.99 - allowed || at_most(p99 - 1) > 0.99 + allowed
    };
    models.iter().zip(&found.maps[0]).filter(is_surprising).count()
}
