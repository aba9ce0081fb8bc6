//! An HTML page: the verdict, and rates against times and against memory, drawn as the lab's figures.

use std::fmt::Write;

use equibloom_lab::Error;
use equibloom_lab::estimate::Estimate;
use equibloom_lab::figure::{Axis, Claim, Figure, Hue, Origin, Series};
use equibloom_lab::plot::escape;
use equibloom_lab::report::{Files, SCRIPT, section, style};

use super::{Report, grouped};
use crate::contestants::Kind;
use crate::measure::{Operation, Spread};
use crate::pareto::dominances;
use crate::race::{Lane, Outcome};
use crate::report::{judgements, table};

const TEMPLATE: &str = include_str!("page.html");

/// The whole report as one self-contained page.
pub(crate) fn page(report: &Report) -> Result<String, Error> {
    let names = names(&report.races);
    let (mut figures, mut tables) = (String::new(), String::new());
    for race in &report.races {
        // Writing to a string cannot fail.
        let _ = write!(tables, "<div class='scroll'><pre>{}</pre></div>", escape(&table(race)));
        section(&mut figures, &rate_against_time(race, &names), Files::None)?;
    }
    for keys in sizes(&report.races) {
        section(&mut figures, &rate_against_memory(&report.races, keys, &names), Files::None)?;
    }
    let fill_in = |page: String, (name, text): (&str, &str)| page.replacen(name, text, 1);
    // The command is the only foreign text: inserted last, so that nothing in it is substituted.
    let parts = [
        ("{{style}}", &style()[..]),
        ("{{machine}}", &escape(&report.machine)),
        ("{{compiled}}", &escape(report.compiled_for)),
        ("{{version}}", report.version),
        ("{{verdict}}", &escape(&judgements(&report.verdict))),
        ("{{figures}}", &figures),
        ("{{tables}}", &tables),
        ("{{script}}", SCRIPT),
        ("{{command}}", &escape(&report.command)),
    ];
    Ok(parts.into_iter().fold(TEMPLATE.to_owned(), fill_in))
}

/// All filters of all races, so that each has one colour on the page.
fn names(races: &[Outcome]) -> Vec<&str> {
    let mut names = Vec::new();
    for lane in races.iter().flat_map(|race| &race.lanes) {
        if lane.profile.kind != Kind::Limit && !names.contains(&&lane.profile.name[..]) {
            names.push(&lane.profile.name[..]);
        }
    }
    names
}

/// The lab's palette, its colours assigned to filters in order.
const HUES: [Hue; 15] = [
    Hue::Blocked,
    Hue::OnePlusAlpha,
    Hue::Classical,
    Hue::TwoChoice,
    Hue::Sequential,
    Hue::Single,
    Hue::Value(1),
    Hue::Value(3),
    Hue::MultiLevel,
    Hue::OneSlot,
    Hue::FourSlots,
    Hue::Value(4),
    Hue::Value(0),
    Hue::Value(2),
    Hue::Value(5),
];

fn series(lane: &Lane, names: &[&str], points: &[(f64, f64)]) -> Series {
    let place = names.iter().position(|name| *name == lane.profile.name).unwrap_or(0);
    let origin = if lane.profile.kind == Kind::Ours { Origin::Filter } else { Origin::Peer };
    let x: Vec<f64> = points.iter().map(|point| point.0).collect();
    let y = points.iter().map(|point| point.1).collect();
    Series::new(&lane.profile.name, HUES[place % HUES.len()], origin, &x, y)
}

const OPERATIONS: [Operation; 3] = [Operation::Miss, Operation::Hit, Operation::Insert];

fn rate_against_time(race: &Outcome, names: &[&str]) -> Figure {
    let mut all = Vec::new();
    for (panel, operation) in OPERATIONS.into_iter().enumerate() {
        for lane in &race.lanes {
            let times = lane.nanoseconds.best(operation, 1).and_then(Spread::of);
            if let (Some(times), Some(rate)) = (times, lane.rate) {
                all.push(series(lane, names, &[(times.median, rate)]).in_panel(panel));
            }
        }
    }
    let (found, compared) = dominances(race);
    let keys = grouped(race.size.keys);
    let bits = race.size.bits_per_key;
    let finding = if found.is_empty() {
        format!("None is, in {compared} comparisons.")
    } else {
        let mut peers: Vec<&str> = found.iter().map(|dominance| &dominance.peer[..]).collect();
        peers.dedup();
        format!("In {} of {compared} comparisons one is: {}.", found.len(), peers.join(", "))
    };
    Figure {
        id: format!("time-{}-{bits}", race.size.keys).replace('.', "-"),
        source: format!("{keys} keys, {bits} bits per key"),
        title: "rate against time at equal memory".to_owned(),
        statement:
            "No filter that takes inserts is at once at most as large, at least as accurate and \
                    faster than the plan for its memory."
                .to_owned(),
        finding,
        parameters: format!(
            "Medians of {} rounds, each filter by its fastest batch interface, one thread",
            race.size.rounds
        ),
        notes: vec![
            "Lower is more accurate, further left is faster. Filters whose memory cannot be chosen \
             are shown at their own size, beside a plan of that size."
                .to_owned(),
            "The insert time of static filters is that of building them.".to_owned(),
        ],
        x: Axis::logarithmic("nanoseconds per key"),
        y: Axis::logarithmic("false-positive rate"),
        pictures: Vec::new(),
        panels: OPERATIONS.map(|operation| operation.name().to_owned()).to_vec(),
        series: all,
        claims: vec![Claim::promised(
            "Comparisons in which a peer dominates",
            0.0,
            found.len() as f64,
        )],
    }
}

/// The distinct numbers of keys.
fn sizes(races: &[Outcome]) -> Vec<u64> {
    let mut sizes: Vec<u64> = races.iter().map(|race| race.size.keys).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn rate_against_memory(races: &[Outcome], keys: u64, names: &[&str]) -> Figure {
    let of_size = || races.iter().filter(|race| race.size.keys == keys);
    let mut all = Vec::new();
    for name in names {
        let lanes: Vec<&Lane> = of_size().filter_map(|race| race.lane(name)).collect();
        let points: Vec<(f64, f64)> =
            lanes.iter().filter_map(|lane| Some((lane.bits_per_key, lane.rate?))).collect();
        if let Some(lane) = lanes.first() {
            all.push(series(lane, names, &points));
        }
    }
    let lookups = of_size().map(|race| race.size.lookups).max().unwrap_or(0);
    let promises = promises(of_size());
    Figure {
        id: format!("memory-{keys}"),
        source: format!("{} keys", grouped(keys)),
        title: "rate against memory".to_owned(),
        statement: "Plans keep what they promise.".to_owned(),
        finding: format!("{} plans, each measured once.", promises.len()),
        parameters: format!("Rates of {} lookups of absent keys", grouped(lookups)),
        notes: vec![
            "Lower is more accurate, further left is smaller. Rates too low to be seen in these \
                     lookups are missing."
                .to_owned(),
        ],
        x: Axis::linear("bits per key, everything counted"),
        y: Axis::logarithmic("false-positive rate"),
        pictures: Vec::new(),
        panels: Vec::new(),
        series: all,
        claims: vec![kept(&promises)],
    }
}

/// Planned rates with the measured ones.
fn promises<'a>(races: impl Iterator<Item = &'a Outcome>) -> Vec<(f64, Estimate)> {
    let promise = |lane: &Lane, lookups: u64| {
        let promised = lane.profile.promised_rate?;
        // Counting error plus a quarter of a per cent: four of them are 4σ + 1 %.
        let sigma = (promised / lookups as f64).sqrt() + 0.0025 * promised;
        Some((promised, Estimate { mean: lane.rate?, sigma }))
    };
    let of_race = |race: &'a Outcome| {
        race.lanes.iter().filter_map(move |lane| promise(lane, race.size.lookups))
    };
    races.flat_map(of_race).collect()
}

fn kept(promises: &[(f64, Estimate)]) -> Claim {
    let (promised, measured): (Vec<f64>, Vec<Estimate>) = promises.iter().copied().unzip();
    Claim::at_most("The rate is at most the promised one", &promised, &measured)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::{DEFAULT_PLAN, LIMIT, SBBF};
    use crate::race::made_up;
    use crate::verdict::judge;

    fn race(rate: f64) -> Outcome {
        let mut ours = made_up::lane(DEFAULT_PLAN, Kind::Ours, rate, 6.0);
        ours.profile.promised_rate = Some(1e-4);
        let sbbf = made_up::lane(SBBF, Kind::Peer, 7e-4, 8.0);
        let limit = made_up::lane(LIMIT, Kind::Limit, 0.0, 4.0);
        let mut race = made_up::outcome(1_000, vec![limit, sbbf, ours]);
        race.size.lookups = 1_000_000;
        race
    }

    #[test]
    fn promises_are_judged_with_four_deviations_and_a_per_cent() {
        // Expected 100: 40 more may come by chance, and one for the per cent.
        for (rate, keeps) in [(0.2e-4, true), (1.40e-4, true), (1.42e-4, false)] {
            assert_eq!(kept(&promises([race(rate)].iter())).agrees, keeps, "{rate}");
        }
    }

    #[test]
    fn a_page_has_every_filter_in_every_figure_and_nothing_left_to_fill_in() {
        // Enough keys to judge two threads, with the control beside it.
        let mut race = race(1e-4);
        race.size.keys = 50_000_000;
        race.second_thread = vec![1.25];
        let races = vec![race];
        let verdict = judge(&races);
        let command = "run --only '<b>' {{script}}".to_owned();
        let (machine, compiled_for, version) = ("machine".to_owned(), "target", "1");
        let report = Report { command, machine, compiled_for, version, races, verdict };
        let page = page(&report).unwrap();
        assert_eq!(page.matches("<section class='figure'").count(), 2);
        let figures = [rate_against_time(&report.races[0], &names(&report.races))];
        for figure in &figures {
            // Misses, hits and inserts of two filters; the limit is not one.
            assert_eq!(figure.series.len(), 6);
        }
        assert!(page.contains("two threads of pure arithmetic ÷ one = 1.25 (1.25 … 1.25)"));
        assert_eq!(page.matches("{{").count(), 1, "the command's own");
        assert!(page.contains("run --only &#39;&lt;b&gt;&#39; {{script}}"));
    }
}
