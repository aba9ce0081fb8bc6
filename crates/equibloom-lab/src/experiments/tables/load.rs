//! `cuckoo-load`: displacements per insertion, and rehashes per table, by the load.

use equibloom_tables::{CuckooMap, Trace};
use equibloom_theory::cuckoo;

use super::{AsItIs, cuckoo_tables, entries_at};
use crate::experiments::prelude::*;
use crate::figure::Kind;
use crate::simulator::{Cuckoo, words};

/// Slots of the small tables for rehashes: two tables of 100.
pub(super) const SMALL: u64 = 200;
/// Entries in the stash at which the maps rehash for the first time.
const STASH: usize = 4;

const ONE_SLOT: [f64; 10] = [0.05, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.475, 0.49];
const FOUR_SLOTS: [f64; 10] = [0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];

/// The bound is drawn up to this load in half per cents; beyond it would compress the other curves.
const DRAWN_TO: u32 = 90;

fn slots(length: Length) -> u64 {
    length.choose(200_000, 1_000_000, 2_000_000)
}

pub(super) fn builds(length: Length) -> u64 {
    length.choose(1_000, 5_000, 100_000)
}

pub(crate) fn parameters(length: Length) -> String {
    format!(
        "displacements: tables of {} slots, {} repetitions; rehashes: tables of {SMALL} slots, {} \
         builds at each point",
        slots(length),
        length.repetitions(),
        builds(length)
    )
}

fn map<const SLOTS: usize>(slots: u64) -> Result<CuckooMap<u64, (), AsItIs, SLOTS>, Error> {
    let tables = cuckoo_tables(slots / 2 / SLOTS as u64)?;
    Ok(CuckooMap::from_table(tables, AsItIs::default()))
}

/// Displacements per insert since the table was empty, after each number of entries; and the number of
/// rehashes.
fn map_displacements<const SLOTS: usize>(
    slots: u64,
    moments: &[u64],
    seed: u64,
) -> Result<(Vec<f64>, u64), Error> {
    let mut map = map::<SLOTS>(slots)?;
    let mut keys = words(seed);
    let at = |&moment: &u64| {
        let missing = moment as usize - map.len();
        map.extend(keys.by_ref().take(missing).map(|key| (key, ())));
        map.history().displacements as f64 / moment as f64
    };
    let displacements = moments.iter().map(at).collect();
    Ok((displacements, map.history().rehashes))
}

fn simulated_displacements(slots: u64, per_bucket: usize, moments: &[u64], seed: u64) -> Vec<f64> {
    let mut tables = Cuckoo::new(slots / 2 / per_bucket as u64, per_bucket, seed);
    let (mut inserted, mut stash_limit) = (0, STASH);
    let at = |&moment: &u64| {
        (inserted..moment).for_each(|_| insert(&mut tables, &mut stash_limit));
        inserted = moment;
        tables.displacements as f64 / moment as f64
    };
    moments.iter().map(at).collect()
}

/// Inserts an element by the rehash rule of the library's maps: when the stash is too long, before the next insert;
/// and if that does not help, again when the stash is twice as long.
fn insert(tables: &mut Cuckoo, stash_limit: &mut usize) {
    if tables.stashed > *stash_limit {
        tables.rehash();
        *stash_limit = (*stash_limit).max(2 * tables.stashed);
    }
    tables.insert();
}

/// Rehashes of a map filled with this many entries.
fn map_rehashes<const SLOTS: usize>(entries: u64, seed: u64) -> Result<f64, Error> {
    let mut map = map::<SLOTS>(SMALL)?;
    map.extend(words(seed).take(entries as usize).map(|key| (key, ())));
    Ok(map.history().rehashes as f64)
}

fn simulated_rehashes<const SLOTS: usize>(entries: u64, seed: u64) -> Result<f64, Error> {
    let mut tables = Cuckoo::new(SMALL / 2 / SLOTS as u64, SLOTS, seed);
    let mut stash_limit = STASH;
    (0..entries).for_each(|_| insert(&mut tables, &mut stash_limit));
    Ok(tables.rehashes as f64)
}

/// Rehashes of the slides' tables, which have no stash.
pub(super) fn slides_rehashes(entries: u64, seed: u64) -> Result<f64, Error> {
    use equibloom_tables::Outcome as End;
    let mut trace = Trace::new(SMALL / 2)?;
    let mut rehashes = 0;
    for key in words(seed).take(entries as usize) {
        if let End::Rehashed { functions } = trace.insert(key).outcome {
            rehashes = functions;
        }
    }
    Ok(rehashes as f64)
}

/// The same by simulation, and the accesses of the last rehash: all buckets emptied, all elements placed.
pub(super) fn simulated_slides_rehashes(entries: u64, seed: u64) -> (f64, Option<f64>) {
    let mut tables = Cuckoo::new(SMALL / 2, 1, seed);
    let mut cost = None;
    for number in 1..=entries {
        tables.insert();
        while tables.stashed > 0 {
            let before = tables.displacements;
            tables.rehash();
            cost = Some((SMALL + number + tables.displacements - before) as f64);
        }
    }
    (tables.rehashes as f64, cost)
}

/// The values at each load, from the repetitions' values at all of them.
fn estimates(runs: &[Vec<f64>]) -> Vec<Estimate> {
    let points = runs.first().map_or(0, Vec::len);
    (0..points).map(|at| Estimate::of(runs.iter().map(|run| run[at]), 0.0)).collect()
}

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let mut plot = Plot::default();
    let (one_x, one_slot, _) = displacements::<1>(context, "one slot", &ONE_SLOT)?;
    let (four_x, four_slots, four_rehashes) =
        displacements::<4>(context, "four slots", &FOUR_SLOTS)?;
    let loads: Vec<f64> = (1..=DRAWN_TO).map(|step| f64::from(step) / 200.0).collect();
    let bound = |loads: &[f64]| -> Result<Vec<f64>, Error> {
        loads.iter().map(|&load| Ok(cuckoo::mean_insertion_cost_bound(load)? - 1.0)).collect()
    };
    let drawn = bound(&loads)?;
    plot.series.push(Series::new("bound, one slot", Hue::Classical, Origin::Model, &loads, drawn));
    for (sides, name, hue, loads) in [
        (&one_slot, "one slot", Hue::OneSlot, &one_x),
        (&four_slots, "four slots", Hue::FourSlots, &four_x),
    ] {
        let what = format!("{name}: displacements of the map");
        plot.claims.push(if hue == Hue::FourSlots {
            // The map checks for room first; the simulation's walk is random.
            let random: Vec<f64> = sides[0].iter().map(|estimate| estimate.mean).collect();
            Claim::at_most(&format!("{what} are not above the random walk's"), &random, &sides[1])
        } else {
            Claim::same(&format!("{what} are the simulation's"), &sides[0], &sides[1])
        });
        for (origin, side) in [Origin::Simulation, Origin::Map].into_iter().zip(sides) {
            plot.series.push(Series::measured(name, hue, origin, loads, side));
        }
    }
    for (what, side) in ["the simulation", "the map"].into_iter().zip(&one_slot) {
        let text = format!("one slot: {what} displaces at most −ln(1 − c)/c − 1");
        plot.claims.push(Claim::at_most(&text, &bound(&one_x)?, side).of_kind(Kind::Derived));
    }
    plot.claims.push(Claim::new(
        "four slots: rehashes of all large maps on the way to 95 %",
        0.0,
        four_rehashes as f64,
        0.0,
    ));
    let rehashes = rehashes(context, &mut plot)?;
    let last = |side: &[Estimate]| side.last().map_or(0.0, |estimate| estimate.mean);
    let bound_at_end = bound(&one_x)?.last().copied().unwrap_or_default();
    let finding = format!(
        "Filled to {} one slot a bucket displaces {} entries per insert (bound {}), four slots \
         filled to {} displace {}. With 200 slots at {} the slides' tables rehash {} times per \
         build and maps with a stash of four {} times; with four slots a bucket {} times at {}.",
        short(one_x[one_x.len() - 1]),
        short(last(&one_slot[1])),
        short(bound_at_end),
        short(four_x[four_x.len() - 1]),
        short(last(&four_slots[1])),
        short(rehashes[0].0),
        short(rehashes[0].1),
        short(rehashes[1].1),
        short(rehashes[2].1),
        short(rehashes[2].0),
    );
    Ok(Outcome {
        finding,
        notes: vec![
            "Displacements are means over all inserts since the table was empty. The bound for one \
             slot is the mean size of the component an insert comes to, less one; there is none for \
             four slots. Walks are given up after 500 steps. With four slots the simulation's walk is \
             random; the map puts an entry into the roomier of its buckets, and moves one whose other \
             bucket has room, which spares it most steps.",
            "The slides rehash when one element finds no place: then the rehashes are a geometric \
             series of the probability of a second cycle. The library's maps first fill a stash of \
             four. Rehashes become rare with the size of the table (see cuckoo-graph), so they are \
             counted in small ones.",
        ],
        x: Axis::linear("load, share of the slots filled"),
        y: Axis::linear("displacements; rehashes").of_each_panel(),
        panels: vec!["displacements per insert", "rehashes per build, 200 slots"],
        plot,
        ..Outcome::default()
    })
}

/// Simulation and map.
type Sides = [Vec<Estimate>; 2];

/// Numbers of entries at these loads.
fn moments<const SLOTS: usize>(slots: u64, loads: &[f64]) -> Result<Vec<u64>, Error> {
    let buckets = slots / 2 / SLOTS as u64;
    loads.iter().map(|&load| entries_at::<SLOTS>(load, buckets)).collect()
}

/// The loads at these numbers of entries.
fn loads(moments: &[u64], slots: u64) -> Vec<f64> {
    moments.iter().map(|&moment| moment as f64 / slots as f64).collect()
}

fn displacements<const SLOTS: usize>(
    context: &Context<'_>,
    name: &str,
    wanted: &[f64],
) -> Result<(Vec<f64>, Sides, u64), Error> {
    let (slots, repetitions) = (slots(context.length), context.length.repetitions());
    let moments = moments::<SLOTS>(slots, wanted)?;
    let simulated = context.repeat(&format!("simulation {name}"), repetitions, |seed| {
        Ok(simulated_displacements(slots, SLOTS, &moments, seed))
    })?;
    let runs = context.repeat(&format!("map {name}"), repetitions, |seed| {
        map_displacements::<SLOTS>(slots, &moments, seed)
    })?;
    let rehashes = runs.iter().map(|(_, rehashes)| rehashes).sum();
    let measured: Vec<Vec<f64>> =
        runs.into_iter().map(|(displacements, _)| displacements).collect();
    Ok((loads(&moments, slots), [estimates(&simulated), estimates(&measured)], rehashes))
}

/// Number of rehashes of a build with this many entries and a seed.
type Build = fn(u64, u64) -> Result<f64, Error>;

/// Small tables for rehashes.
struct Small {
    name: &'static str,
    hue: Hue,
    moments: Vec<u64>,
    /// By simulation, and in the library.
    builds: [Build; 2],
}

/// The slides' tables first, for which there is a model.
fn small_tables() -> Result<[Small; 3], Error> {
    let small = |name, hue, moments, builds| Small { name, hue, moments, builds };
    let (one, four) = (moments::<1>(SMALL, &ONE_SLOT)?, moments::<4>(SMALL, &FOUR_SLOTS)?);
    let simulated: Build = |entries, seed| Ok(simulated_slides_rehashes(entries, seed).0);
    let slides = [simulated, slides_rehashes];
    Ok([
        small("slides: one slot, no stash", Hue::Value(1), one.clone(), slides),
        small("one slot", Hue::OneSlot, one, [simulated_rehashes::<1>, map_rehashes::<1>]),
        small("four slots", Hue::FourSlots, four, [simulated_rehashes::<4>, map_rehashes::<4>]),
    ])
}

/// Draws and checks the rehashes of the small tables; returns those at each one's highest load, with that load.
fn rehashes(context: &Context<'_>, plot: &mut Plot) -> Result<Vec<(f64, f64)>, Error> {
    let tables = small_tables()?;
    let builds = builds(context.length);
    let point = |small: &Small, &entries: &u64| {
        let side = |what: &str, build: Build| {
            let name = format!("{what} {} {entries}", small.name);
            let runs = context.repeat(&name, builds, |seed| build(entries, seed))?;
            Ok::<_, Error>(Estimate::of_counts(&runs, builds))
        };
        Ok([side("simulated rehashes", small.builds[0])?, side("rehashes", small.builds[1])?])
    };
    let found = context.map_curves(&tables, |small| &small.moments, point)?;
    let mut at_the_end = Vec::new();
    for (Small { name, hue, moments, .. }, points) in tables.iter().zip(found) {
        let sides @ [(_, simulated), (_, built)] = &sides(Origin::Map, &points);
        let x = loads(moments, SMALL);
        if *hue == tables[0].hue {
            let model = |loads: &[f64]| -> Result<Vec<f64>, Error> {
                loads.iter().map(|&load| Ok(cuckoo::rehashes(load, SMALL / 2)?)).collect()
            };
            let drawn: Vec<f64> = (10..=98).map(|entries| f64::from(entries) / 200.0).collect();
            let curve = Series::new(name, *hue, Origin::Model, &drawn, model(&drawn)?);
            plot.series.push(curve.in_panel(1));
            for (what, side) in [("simulation's", simulated), ("tables'", built)] {
                let text = format!("{name}: the {what} rehashes lie on the model");
                plot.claims.push(Claim::on_model(&text, &model(&x)?, side));
            }
        } else {
            let text = format!("{name}: rehashes of the map are the simulation's");
            plot.claims.push(Claim::same(&text, simulated, built));
        }
        for (origin, side) in sides {
            plot.series.push(Series::measured(name, *hue, *origin, &x, side).in_panel(1));
        }
        at_the_end.extend(x.last().copied().zip(built.last().map(|estimate| estimate.mean)));
    }
    Ok(at_the_end)
}
