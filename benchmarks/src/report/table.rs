//! A table for the terminal, and the verdict in lines.

use std::fmt::Write;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

use super::grouped;
use crate::contestants::{Kind, Many};
use crate::measure::{Mode, Operation, Spread, Task};
use crate::race::{Lane, Outcome, Size};
use crate::verdict::{Control, Verdict, over_limit};

/// A line below the header, no other borders.
pub(crate) const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// All filters of one race, a table for each number of threads.
pub(crate) fn table(outcome: &Outcome) -> String {
    let Size { keys, bits_per_key, rounds, lookups, .. } = &outcome.size;
    let mut text = format!(
        "{} keys, {bits_per_key} bits per key, {} lookups of each kind, median of {rounds} \
         rounds ± half the distance between quartiles, nanoseconds per key\n",
        grouped(*keys),
        grouped(*lookups),
    );
    for &threads in &outcome.size.threads {
        let by = if threads == 1 { "one thread".to_owned() } else { format!("{threads} threads") };
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{by}:\n{}\n", of_threads(outcome, threads).trim_fmt());
    }
    for filter in &outcome.absent {
        let _ = writeln!(text, "Did not run: {filter}");
    }
    text
}

fn of_threads(outcome: &Outcome, threads: usize) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_header([
        "filter",
        "bits per\nkey",
        "\nrate",
        "insert\nsingle",
        "\nbatch",
        "miss\nsingle",
        "\nbatch",
        "hit\nsingle",
        "\nbatch",
        "mixed\nsingle",
        "\nbatch",
        "miss ÷\nlimit × lines",
        "best miss ÷\nbest peer's",
    ]);
    for lane in &outcome.lanes {
        table.add_row(row(outcome, lane, threads));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn row(outcome: &Outcome, lane: &Lane, threads: usize) -> Vec<String> {
    let mut row = vec![
        name(lane),
        format!("{:.2}", lane.bits_per_key),
        lane.rate.map_or(NOTHING.to_owned(), |rate| format!("{rate:.2e}")),
    ];
    for operation in Operation::ALL {
        for mode in [Mode::Single, Mode::Batch] {
            let times = lane.nanoseconds.of(Task { operation, mode, threads });
            row.push(with_spread(times.and_then(Spread::of), 1));
        }
    }
    let one_thread = |ratio: Option<Spread>| with_spread(ratio.filter(|_| threads == 1), 2);
    row.push(one_thread(over_limit(outcome, lane)));
    row.push(with_spread(over_best_peer(outcome, lane, threads), 2));
    row
}

pub(crate) const NOTHING: &str = "–";

fn name(lane: &Lane) -> String {
    let remark = match (lane.profile.kind, lane.profile.many) {
        (Kind::Static, _) => " (static)",
        (Kind::Peer, Many::PrefetchingLoop) => " (batch: our loop)",
        _ => "",
    };
    format!("{}{remark}", lane.profile.name)
}

fn with_spread(spread: Option<Spread>, digits: usize) -> String {
    spread.map_or(NOTHING.to_owned(), |spread| {
        format!("{:.digits$} ±{:.digits$}", spread.median, spread.half_width())
    })
}

/// Misses in the best way over those of the fastest dynamic peer.
fn over_best_peer(outcome: &Outcome, lane: &Lane, threads: usize) -> Option<Spread> {
    let best = |lane: &'_ Lane| {
        let times = lane.nanoseconds.best(Operation::Miss, threads)?;
        Some((Spread::of(times)?.median, times.to_vec()))
    };
    let peers = outcome.lanes.iter().filter(|lane| lane.profile.kind == Kind::Peer);
    let (_, fastest) = peers.filter_map(best).min_by(|a, b| a.0.total_cmp(&b.0))?;
    Spread::of_ratios(&best(lane)?.1, &fastest)
}

/// The claims, line by line.
pub(crate) fn judgements(verdict: &Verdict) -> String {
    let mut text = String::from("Claims (medians and quartiles of the rounds' ratios)\n");
    for judgement in &verdict.judgements {
        let bound = judgement.bound;
        let _ = match (&judgement.measured, judgement.holds) {
            (Some(measured), Some(holds)) => writeln!(
                text,
                "  {:<14} {} = {}, must be {bound}",
                if holds { "holds" } else { "DOES NOT HOLD" },
                judgement.claim,
                quartiles(measured),
            ),
            (Some(measured), None) => writeln!(
                text,
                "  {:<14} {} = {}, should be {bound}",
                "not judged",
                judgement.claim,
                quartiles(measured),
            ),
            _ => writeln!(text, "  {:<14} {}, must be {bound}", "not measured", judgement.claim),
        };
        if let Some(Control { what, meaning, measured }) = &judgement.control {
            let _ =
                writeln!(text, "  {:<14} {what} = {}: {meaning}", "control", quartiles(measured),);
        }
    }
    if verdict.comparisons == 0 {
        return text;
    }
    let _ = writeln!(
        text,
        "Filters that take inserts and are at once at most as large, at least as accurate and faster \
         than the plan for their memory, in {} comparisons: {}",
        verdict.comparisons,
        if verdict.dominances.is_empty() { "none" } else { "" }
    );
    for dominance in &verdict.dominances {
        let _ = writeln!(
            text,
            "  {}: {} {} of {} keys at {:.2} bits per key, {:.2} times as fast as {} (rates {:.1e} and {:.1e})",
            dominance.peer,
            if dominance.mode == Mode::Single { "single" } else { "many" },
            dominance.operation.name(),
            grouped(dominance.keys),
            dominance.bits_per_key,
            dominance.ratio.median,
            dominance.plan,
            dominance.peer_rate,
            dominance.plan_rate,
        );
    }
    text
}

/// The median, and the quartiles in brackets.
pub(crate) fn quartiles(spread: &Spread) -> String {
    let Spread { lower_quartile, median, upper_quartile } = *spread;
    // A rate, not a ratio of times.
    if median < 0.01 {
        return format!("{median:.2e}");
    }
    format!("{median:.2} ({lower_quartile:.2} … {upper_quartile:.2})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::{DEFAULT_PLAN, LIMIT, SBBF};
    use crate::race::made_up;
    use crate::verdict::judge;

    fn outcome() -> Outcome {
        let mut sbbf = made_up::lane(SBBF, Kind::Peer, 7e-4, 8.0);
        sbbf.profile.many = Many::PrefetchingLoop;
        let ours = made_up::lane(DEFAULT_PLAN, Kind::Ours, 1e-4, 6.0);
        let limit = made_up::lane(LIMIT, Kind::Limit, 0.0, 4.0);
        made_up::outcome(50_000_000, vec![limit, sbbf, ours])
    }

    #[test]
    fn a_row_has_rates_times_and_ratios() {
        let text = table(&outcome());
        let line = |name: &str| text.lines().find(|line| line.trim().starts_with(name)).unwrap();
        let ours: Vec<&str> = line("equibloom").split_whitespace().collect();
        assert_eq!(ours[..4], ["equibloom", "16.00", "1.00e-4", "6.0"]);
        // Against the limit, and against sbbf-rs.
        assert_eq!(ours[ours.len() - 4..], ["1.50", "±0.00", "0.75", "±0.00"]);
        assert!(line("sbbf-rs").contains("(batch: our loop)"));
    }

    #[test]
    fn lines_say_what_holds_and_what_does_not() {
        let text = judgements(&judge(&[outcome()]));
        let line = |words: &str| text.lines().find(|line| line.contains(words)).unwrap().trim();
        assert!(line("limit × lines").starts_with("holds "), "{text}");
        assert!(line("limit × lines").ends_with("= 1.50 (1.50 … 1.50), must be ≤ 1.5"), "{text}");
        assert!(line("of qfilter").starts_with("not measured "));
        assert!(text.contains("in 8 comparisons: none"));
        assert!(!text.contains("control"), "{text}");
    }

    #[test]
    fn the_control_stands_behind_the_judgement_on_two_threads() {
        let mut outcome = outcome();
        outcome.second_thread = vec![1.36, 1.21, 1.07];
        let text = judgements(&judge(&[outcome]));
        let behind =
            text.lines().skip_while(|line| !line.contains("by one thread ÷ by two")).nth(1);
        assert_eq!(
            behind.unwrap(),
            "  control        two threads of pure arithmetic ÷ one = 1.21 (1.14 … 1.29): what a second thread \
             gives on this machine",
        );
    }
}
