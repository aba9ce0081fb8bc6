//! A table of one race: times of all filters, and ratios of the present edition to the other.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};

use super::{PRESENT, SINGLE, by_key};
use crate::contestants::{LIMIT, SBBF};
use crate::measure::{Mode, Operation, Spread, Task};
use crate::race::{Lane, Outcome, Size};
use crate::report::{NOTHING, STYLE, grouped, quartiles};
use crate::verdict::over;

/// Nanoseconds per key and ratios, for every operation.
pub(crate) fn table(outcome: &Outcome, other: &str) -> String {
    let Size { keys, bits_per_key, rounds, builds, lookups, .. } = &outcome.size;
    let mut text = format!(
        "{} keys, {bits_per_key} bits per key, {} lookups of each kind, nanoseconds per key: medians of \
         {rounds} rounds (inserts: {}), ratios with quartiles\n",
        grouped(*keys),
        grouped(*lookups),
        builds.min(rounds),
    );
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", rows(outcome, other).trim_fmt());
    if let Some(gain) = Spread::of(&outcome.second_thread) {
        let _ = writeln!(text, "Two threads of pure arithmetic ÷ one: {}", quartiles(&gain));
    }
    for filter in &outcome.absent {
        let _ = writeln!(text, "Did not run: {filter}");
    }
    text
}

fn rows(outcome: &Outcome, other: &str) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    let columns = [LIMIT, SBBF, other, PRESENT, SINGLE];
    let ratio = format!("÷ {other}");
    table.set_header(["", LIMIT, SBBF, other, PRESENT, &ratio, SINGLE, &ratio]);
    let lanes = |name: fn(&str) -> String| columns.map(|column| outcome.lane(&name(column)));
    let by_hash = lanes(str::to_owned);
    let numbers = |number: &dyn Fn(&Lane) -> Option<String>| {
        let [limit, sbbf, other, present, single] =
            by_hash.map(|lane| lane.and_then(number).unwrap_or(NOTHING.to_owned()));
        [limit, sbbf, other, present, String::new(), single, String::new()]
    };
    let bits = numbers(&|lane| Some(format!("{:.2}", lane.bits_per_key)));
    let rates = numbers(&|lane| lane.rate.map(|rate| format!("{rate:.2e}")));
    table.add_row([vec!["bits per key".to_owned()], bits.to_vec()].concat());
    table.add_row([vec!["rate".to_owned()], rates.to_vec()].concat());
    for (form, lanes) in [("by key", lanes(by_key)), ("by hash", by_hash)] {
        for (mode, way) in [(Mode::Single, "one by one"), (Mode::Batch, "batches")] {
            for operation in [Operation::Miss, Operation::Hit, Operation::Insert] {
                let task = Task { operation, mode, threads: 1 };
                let name = format!("{}, {form}, {way}", operation.name());
                let times = lanes.map(|lane| lane.and_then(|lane| lane.nanoseconds.of(task)));
                table.add_row(row(name, times));
            }
        }
    }
    let by_two = Task { operation: Operation::Insert, mode: Mode::Batch, threads: 2 };
    let builds =
        |lane: &'_ Lane| Some(lane.builds_by_one.clone()).filter(|times| !times.is_empty());
    let by_one = by_hash.map(|lane| lane.and_then(builds));
    let by_two = by_hash.map(|lane| lane.and_then(|lane| lane.nanoseconds.of(by_two)));
    table.add_row(row(
        "build, by hash, one thread".to_owned(),
        by_one.each_ref().map(Option::as_deref),
    ));
    table.add_row(row("build, by hash, two threads".to_owned(), by_two));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The times of one operation, in the order of the columns.
fn row(name: String, times: [Option<&[f64]>; 5]) -> Vec<String> {
    let [limit, sbbf, other, present, single] = times;
    let median = |times: Option<&[f64]>| {
        let spread = times.and_then(Spread::of);
        spread.map_or(NOTHING.to_owned(), |spread| format!("{:.1}", spread.median))
    };
    let ratio = |times| over(times, other).map_or(NOTHING.to_owned(), |ratio| quartiles(&ratio));
    vec![
        name,
        median(limit),
        median(sbbf),
        median(other),
        median(present),
        ratio(present),
        median(single),
        ratio(single),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::Kind;
    use crate::race::made_up;

    #[test]
    fn ratios_stand_beside_the_times_they_are_of() {
        let lanes = [
            (LIMIT, Kind::Limit, 2.0),
            ("old", Kind::Ours, 8.0),
            ("old, by key", Kind::Ours, 10.0),
            (PRESENT, Kind::Ours, 4.0),
            ("present, by key", Kind::Ours, 9.0),
        ];
        let lanes = lanes.map(|(name, kind, time)| made_up::lane(name, kind, 1e-3, time)).to_vec();
        let text = table(&made_up::outcome(50_000, lanes), "old");
        let words = |start: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.trim().starts_with(start)).unwrap();
            line.trim()[start.len()..].split_whitespace().map(str::to_owned).collect()
        };
        assert_eq!(
            words("misses, by key, one by one"),
            ["–", "–", "10.0", "9.0", "0.90", "(0.90", "…", "0.90)", "–", "–"]
        );
        assert_eq!(
            words("hits, by hash, batches"),
            ["2.0", "–", "8.0", "4.0", "0.50", "(0.50", "…", "0.50)", "–", "–"]
        );
        assert_eq!(words("rate"), ["–", "–", "1.00e-3", "1.00e-3", "–"]);
    }
}
