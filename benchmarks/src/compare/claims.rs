//! The second edition's claims, judged by the measurements.

use super::{PRESENT, SINGLE, by_key};
use crate::contestants::SBBF;
use crate::measure::{Mode, Operation, Spread, Task};
use crate::race::{Lane, Outcome};
use crate::report::grouped;
use crate::verdict::{Bound, Judgement, Verdict, over, over_two_threads, second_thread};

const OUT_OF_CACHE: u64 = 50_000_000;
const IN_CACHE: u64 = 1_000_000;
const SIZES: [(u64, f64); 4] =
    [(OUT_OF_CACHE, 11.55), (OUT_OF_CACHE, 16.0), (IN_CACHE, 11.55), (IN_CACHE, 16.0)];

/// Claims over the first edition: keys, bits per key, layout, the largest rate, and the largest ratios of
/// misses, hits and inserts by key, one by one.
const OVER_FIRST: [(u64, f64, &str, f64, [f64; 3]); 4] = [
    (OUT_OF_CACHE, 11.55, SINGLE, 2.65e-3, [0.6, 0.7, 0.55]),
    (OUT_OF_CACHE, 11.55, PRESENT, 2.2e-3, [0.75; 3]),
    (OUT_OF_CACHE, 16.0, SINGLE, 1.4e-4, [0.7, 0.75, 0.65]),
    (IN_CACHE, 11.55, SINGLE, 2.65e-3, [0.8, 0.85, 0.8]),
];
/// Claims over every revision: batches do not become slower.
const BATCHES: [(Operation, f64); 2] = [(Operation::Miss, 1.0), (Operation::Insert, 1.1)];
const OVER_SBBF: f64 = 1.5;
/// The gain of a second thread in builds, judged where arithmetic gains as much as the machine's two cores.
const TWO_THREADS: f64 = 1.7;
const TWO_CORES: f64 = 1.8;

/// Judges a comparison.
pub(crate) fn judge(outcomes: &[Outcome], other: &str) -> Verdict {
    let judgements = judgements(outcomes, other, cfg!(other_edition = "first"));
    Verdict { judgements, dominances: vec![], comparisons: 0 }
}

fn judgements(outcomes: &[Outcome], other: &str, other_is_first: bool) -> Vec<Judgement> {
    let race = |keys, bits| {
        let size = |outcome: &&Outcome| (outcome.size.keys, outcome.size.bits_per_key);
        let outcome = outcomes.iter().find(|outcome| size(outcome) == (keys, bits));
        Race { outcome, name: format!("{} keys, {bits} bits per key", grouped(keys)) }
    };
    let mut judgements = Vec::new();
    for (keys, bits, layout, rate, ratios) in OVER_FIRST.into_iter().filter(|_| other_is_first) {
        let race = race(keys, bits);
        judgements.push(race.rate(layout, rate));
        let operations = [Operation::Miss, Operation::Hit, Operation::Insert];
        for (operation, most) in operations.into_iter().zip(ratios) {
            judgements.push(race.ratio([layout, other], Way::single(operation), most));
        }
    }
    for (keys, bits) in SIZES {
        let race = race(keys, bits);
        if keys == OUT_OF_CACHE {
            let misses = Way::single(Operation::Miss);
            judgements.push(race.ratio([SINGLE, SBBF], misses, OVER_SBBF));
        }
        for (operation, most) in BATCHES {
            for by_key in [true, false] {
                let way = Way { operation, mode: Mode::Batch, by_key };
                judgements.push(race.ratio([PRESENT, other], way, most));
            }
        }
        if keys == OUT_OF_CACHE {
            judgements.push(race.two_threads());
        }
    }
    judgements
}

/// What a ratio is about.
#[derive(Clone, Copy)]
struct Way {
    operation: Operation,
    mode: Mode,
    by_key: bool,
}

impl Way {
    const fn single(operation: Operation) -> Self {
        Self { operation, mode: Mode::Single, by_key: true }
    }
}

/// The race that a claim is about, if it was run.
struct Race<'a> {
    outcome: Option<&'a Outcome>,
    name: String,
}

impl<'a> Race<'a> {
    fn lane(&self, name: &str) -> Option<&'a Lane> {
        self.outcome?.lane(name)
    }

    fn rate(&self, layout: &str, most: f64) -> Judgement {
        let rate = self.lane(layout).and_then(|lane| Spread::of(&[lane.rate?]));
        Judgement::new(format!("{}: rate of {layout}", self.name), Bound::AtMost(most), rate)
    }

    /// `ours` over `theirs`.
    fn ratio(&self, [ours, theirs]: [&str; 2], way: Way, most: f64) -> Judgement {
        let Way { operation, mode, by_key: is_by_key } = way;
        let task = Task { operation, mode, threads: 1 };
        let times = |name: &str| {
            let name = if is_by_key { by_key(name) } else { name.to_owned() };
            self.lane(&name).and_then(|lane| lane.nanoseconds.of(task))
        };
        let mode = if mode == Mode::Single { "one by one" } else { "in batches" };
        let form = if is_by_key { "by key" } else { "by hash" };
        let what = format!("{} {form} {mode}", operation.name());
        let claim = format!("{}: {what}, {ours} ÷ {theirs}", self.name);
        Judgement::new(claim, Bound::AtMost(most), over(times(ours), times(theirs)))
    }

    fn two_threads(&self) -> Judgement {
        let claim = format!("{}: build by one thread ÷ by two", self.name);
        let control = self.outcome.and_then(second_thread);
        let ratio = self.lane(PRESENT).and_then(over_two_threads);
        let mut judgement = Judgement::new(claim, Bound::AtLeast(TWO_THREADS), ratio);
        if control.as_ref().is_none_or(|control| control.measured.median < TWO_CORES) {
            judgement.holds = None;
        }
        judgement.beside(control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::Kind;
    use crate::race::made_up;

    /// A race at 16 bits per key in which all present times are `present`, all others 10.
    fn race(present: f64, second_thread: f64) -> Outcome {
        let mut lanes = Vec::new();
        for name in [PRESENT, SINGLE, SBBF, "old"] {
            let time = if name.starts_with(PRESENT) { present } else { 10.0 };
            for name in [name.to_owned(), by_key(name)] {
                lanes.push(made_up::lane(&name, Kind::Ours, 1.3e-4, time));
            }
        }
        let by_two = Task { operation: Operation::Insert, mode: Mode::Batch, threads: 2 };
        lanes[0].nanoseconds.push(by_two, present / 1.6);
        let mut outcome = made_up::outcome(OUT_OF_CACHE, lanes);
        outcome.second_thread = vec![second_thread];
        outcome
    }

    fn holding(judgements: &[Judgement], words: &str) -> Vec<Option<bool>> {
        let about = judgements.iter().filter(|judgement| judgement.claim.contains(words));
        about.map(|judgement| judgement.holds).collect()
    }

    #[test]
    fn claims_are_judged_at_their_size_layout_and_bound() {
        let found = judgements(&[race(7.2, 1.9)], "old", true);
        let at = "50,000,000 keys, 16 bits per key: ";
        let of = |words: &str| holding(&found, &format!("{at}{words}"));
        assert_eq!(of("rate of present, single"), [Some(true)]);
        // Misses at most 0.7, hits 0.75, inserts 0.65.
        assert_eq!(of("misses by key one by one, present, single ÷ old"), [Some(false)]);
        assert_eq!(of("hits by key one by one, present, single ÷ old"), [Some(true)]);
        assert_eq!(of("inserts by key one by one, present, single ÷ old"), [Some(false)]);
        assert_eq!(of("misses by key one by one, present, single ÷ sbbf-rs"), [Some(true)]);
        assert_eq!(of("misses by key in batches, present ÷ old"), [Some(true)]);
        assert!(holding(&found, "11.55").iter().all(Option::is_none));
        let slower = judgements(&[race(10.5, 1.9)], "old", true);
        let of = |words: &str| holding(&slower, &format!("{at}{words}"));
        assert_eq!(of("misses by hash in batches, present ÷ old"), [Some(false)]);
        assert_eq!(of("inserts by hash in batches, present ÷ old"), [Some(true)]);
    }

    #[test]
    fn builds_by_two_are_judged_on_two_cores_only() {
        let words = "16 bits per key: build by one thread ÷ by two";
        let shared = judgements(&[race(8.0, 1.5)], "old", true);
        assert_eq!(holding(&shared, words)[0], None);
        let two = judgements(&[race(8.0, 1.9)], "old", true);
        assert_eq!(holding(&two, words)[0], Some(false));
    }

    #[test]
    fn other_revisions_are_not_measured_by_the_claims_over_the_first() {
        let found = judgements(&[race(8.0, 1.9)], "old", false);
        let of = |words: &str| holding(&found, words);
        assert!(of("hits").is_empty() && of("rate of").is_empty());
        assert_eq!(of("keys, 16 bits per key: inserts by key in batches")[0], Some(true));
    }
}
