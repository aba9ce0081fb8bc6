//! Equibloom's performance claims, judged by the measurements.
//!
//! Every number comes from the measured outcomes; claims without a measurement are not judged.

use std::fmt;

use serde::Serialize;

use crate::contestants::{DEFAULT_PLAN, FASTBLOOM, LIMIT, QFILTER, SBBF};
use crate::measure::{Mode, Operation, Spread, Task};
use crate::pareto::{Dominance, dominances};
use crate::race::{Lane, Outcome};

/// Least number of keys out of cache, and most in cache.
const OUT_OF_CACHE_KEYS: u64 = 50_000_000;
const IN_CACHE_KEYS: u64 = 1_000_000;
const BITS_PER_KEY: f64 = 16.0;

/// All claims.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Verdict {
    pub(crate) judgements: Vec<Judgement>,
    /// Peers that dominate Equibloom, by race.
    pub(crate) dominances: Vec<Dominance>,
    /// Number of comparisons made to find them.
    pub(crate) comparisons: usize,
}

/// One claim with its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Judgement {
    pub(crate) claim: String,
    pub(crate) bound: Bound,
    /// `None` if not measured.
    pub(crate) measured: Option<Spread>,
    pub(crate) holds: Option<bool>,
    /// A reference for claims that also depend on the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) control: Option<Control>,
}

/// A remark beside a judgement, measured in the same race; not judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Control {
    /// The measured ratio.
    pub(crate) what: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) measured: Spread,
}

/// Required ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
    Below(f64),
}

impl Bound {
    fn admits(self, value: f64) -> bool {
        match self {
            Self::AtMost(bound) => value <= bound,
            Self::AtLeast(bound) => value >= bound,
            Self::Below(bound) => value < bound,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(bound) => write!(f, "≤ {bound}"),
            Self::AtLeast(bound) => write!(f, "≥ {bound}"),
            Self::Below(bound) => write!(f, "< {bound}"),
        }
    }
}

impl Judgement {
    pub(crate) fn new(claim: impl Into<String>, bound: Bound, measured: Option<Spread>) -> Self {
        let holds = measured.map(|spread| bound.admits(spread.median));
        Self { claim: claim.into(), bound, measured, holds, control: None }
    }

    pub(crate) fn beside(self, control: Option<Control>) -> Self {
        Self { control, ..self }
    }
}

/// Judges a run.
pub(crate) fn judge(outcomes: &[Outcome]) -> Verdict {
    let usual = || outcomes.iter().filter(|outcome| outcome.size.bits_per_key == BITS_PER_KEY);
    let out_of_cache = usual()
        .filter(|outcome| outcome.size.keys >= OUT_OF_CACHE_KEYS)
        .min_by_key(|outcome| outcome.size.keys);
    let in_cache = usual()
        .filter(|outcome| outcome.size.keys <= IN_CACHE_KEYS)
        .max_by_key(|outcome| outcome.size.keys);
    let mut judgements = out_of_cache_judgements(Stage(out_of_cache));
    judgements.extend(in_cache_judgements(Stage(in_cache)));
    let (mut all, mut comparisons) = (Vec::new(), 0);
    for outcome in outcomes {
        let (found, compared) = dominances(outcome);
        all.extend(found);
        comparisons += compared;
    }
    Verdict { judgements, dominances: all, comparisons }
}

fn out_of_cache_judgements(stage: Stage<'_>) -> Vec<Judgement> {
    use Bound::{AtLeast, AtMost, Below};
    use Operation::{Insert, Miss};
    let ours = |operation| stage.times(DEFAULT_PLAN, operation, Mode::Batch);
    let single = |name| stage.times(name, Miss, Mode::Single);
    let at = stage.name("out of cache");
    let judgement =
        |text: &str, bound, measured| Judgement::new(format!("{at}: {text}"), bound, measured);
    let misses =
        |text: &str, bound, measured| judgement(&format!("batched misses {text}"), bound, measured);
    let inserts = |text: &str, bound, measured| {
        judgement(&format!("batched inserts {text}"), bound, measured)
    };
    let looped = |operation| stage.times(SBBF, operation, Mode::Batch);
    let plain = |operation| stage.times(SBBF, operation, Mode::Single);
    let best = |name, operation| stage.lane(name)?.nanoseconds.best(operation, 1);
    vec![
        misses("÷ (limit × lines per miss)", AtMost(1.5), stage.over_limit_by_lines()),
        misses("÷ sbbf-rs, plain", AtMost(1.0), over(ours(Miss), plain(Miss))),
        misses("÷ sbbf-rs, prefetching loop", AtMost(1.0), over(ours(Miss), looped(Miss))),
        misses(
            "of fastbloom, its best way, ÷ ours",
            AtLeast(2.0),
            over(best(FASTBLOOM, Miss), ours(Miss)),
        ),
        misses("of qfilter ÷ ours", AtLeast(2.0), over(best(QFILTER, Miss), ours(Miss))),
        judgement(
            "false positives of sbbf-rs ÷ ours",
            AtLeast(1.0),
            stage.rates(SBBF, DEFAULT_PLAN),
        ),
        inserts("÷ sbbf-rs, plain", AtMost(1.3), over(ours(Insert), plain(Insert))),
        inserts("÷ sbbf-rs, prefetching loop", AtMost(1.3), over(ours(Insert), looped(Insert))),
        inserts(
            "of fastbloom, its best way, ÷ ours",
            AtLeast(3.0),
            over(best(FASTBLOOM, Insert), ours(Insert)),
        ),
        judgement("single misses ÷ sbbf-rs", AtMost(2.0), over(single(DEFAULT_PLAN), single(SBBF))),
        judgement(
            "single misses ÷ fastbloom",
            Below(1.0),
            over(single(DEFAULT_PLAN), single(FASTBLOOM)),
        ),
        judgement(
            "single misses ÷ qfilter",
            Below(1.0),
            over(single(DEFAULT_PLAN), single(QFILTER)),
        ),
        judgement("build by one thread ÷ by two", AtLeast(1.7), stage.over_two_threads())
            .beside(stage.second_thread()),
    ]
}

fn in_cache_judgements(stage: Stage<'_>) -> Vec<Judgement> {
    use Operation::{Hit, Miss};
    let at = stage.name("in cache");
    let single = |name, operation| stage.times(name, operation, Mode::Single);
    let single_over =
        |operation| over(single(DEFAULT_PLAN, operation), single(FASTBLOOM, operation));
    let batched = |name| stage.times(name, Miss, Mode::Batch);
    let ours = batched(DEFAULT_PLAN);
    [
        ("batched misses ÷ sbbf-rs, plain", Bound::AtMost(2.0), over(ours, single(SBBF, Miss))),
        (
            "batched misses ÷ sbbf-rs, prefetching loop",
            Bound::AtMost(2.0),
            over(ours, batched(SBBF)),
        ),
        ("single misses ÷ fastbloom", Bound::AtMost(1.0), single_over(Miss)),
        ("single hits ÷ fastbloom", Bound::AtMost(1.0), single_over(Hit)),
    ]
    .into_iter()
    .map(|(text, bound, measured)| Judgement::new(format!("{at}: {text}"), bound, measured))
    .collect()
}

pub(crate) fn over(dividends: Option<&[f64]>, divisors: Option<&[f64]>) -> Option<Spread> {
    Spread::of_ratios(dividends?, divisors?)
}

/// The race that a claim is about, if it was run.
#[derive(Clone, Copy)]
struct Stage<'a>(Option<&'a Outcome>);

impl<'a> Stage<'a> {
    fn name(self, what: &str) -> String {
        match self.0 {
            Some(outcome) => format!("{what} ({} keys)", crate::report::grouped(outcome.size.keys)),
            None => what.to_owned(),
        }
    }

    fn lane(self, name: &str) -> Option<&'a Lane> {
        self.0?.lane(name)
    }

    fn times(self, name: &str, operation: Operation, mode: Mode) -> Option<&'a [f64]> {
        self.lane(name)?.nanoseconds.of(Task { operation, mode, threads: 1 })
    }

    fn over_limit_by_lines(self) -> Option<Spread> {
        over_limit(self.0?, self.lane(DEFAULT_PLAN)?)
    }

    fn rates(self, dividend: &str, divisor: &str) -> Option<Spread> {
        Spread::of_ratios(&[self.lane(dividend)?.rate?], &[self.lane(divisor)?.rate?])
    }

    fn over_two_threads(self) -> Option<Spread> {
        over_two_threads(self.lane(DEFAULT_PLAN)?)
    }

    fn second_thread(self) -> Option<Control> {
        second_thread(self.0?)
    }
}

/// A filter's builds by one thread over those by two.
pub(crate) fn over_two_threads(lane: &Lane) -> Option<Spread> {
    let by_two = Task { operation: Operation::Insert, mode: Mode::Batch, threads: 2 };
    over(Some(&lane.builds_by_one), lane.nanoseconds.of(by_two))
}

/// The control for builds by two threads.
pub(crate) fn second_thread(outcome: &Outcome) -> Option<Control> {
    Some(Control {
        what: "two threads of pure arithmetic ÷ one",
        meaning: "what a second thread gives on this machine",
        measured: Spread::of(&outcome.second_thread)?,
    })
}

/// A filter's batched misses over the limit for the lines it reads.
pub(crate) fn over_limit(outcome: &Outcome, lane: &Lane) -> Option<Spread> {
    let task = Task { operation: Operation::Miss, mode: Mode::Batch, threads: 1 };
    let lines = lane.expected.map_or(1.0, |expected| expected.lines_per_miss);
    let limit = outcome.lane(LIMIT)?.nanoseconds.of(task)?;
    let limit: Vec<f64> = limit.iter().map(|time| time * lines).collect();
    Spread::of_ratios(lane.nanoseconds.of(task)?, &limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::{Expectation, Kind};
    use crate::measure::Times;
    use crate::race::made_up;

    fn run(keys: u64, limit: f64, ours: f64, sbbf: f64) -> Verdict {
        let mut plan = made_up::lane(DEFAULT_PLAN, Kind::Ours, 1e-4, ours);
        plan.expected = Some(Expectation { rate: 1e-4, lines_per_miss: 1.25 });
        let lanes = vec![
            made_up::lane(LIMIT, Kind::Limit, 0.0, limit),
            plan,
            made_up::lane(SBBF, Kind::Peer, 7e-4, sbbf),
        ];
        judge(&[made_up::outcome(keys, lanes)])
    }

    fn judgement<'a>(verdict: &'a Verdict, words: &str) -> &'a Judgement {
        verdict.judgements.iter().find(|judgement| judgement.claim.contains(words)).unwrap()
    }

    #[test]
    fn the_limit_counts_once_for_each_line() {
        let verdict = run(50_000_000, 4.0, 7.4, 10.0);
        let claim = judgement(&verdict, "limit × lines");
        assert!((claim.measured.unwrap().median - 7.4 / (4.0 * 1.25)).abs() < 1e-12);
        assert_eq!(claim.holds, Some(true));
        assert_eq!(judgement(&run(50_000_000, 4.0, 7.6, 10.0), "limit × lines").holds, Some(false));
    }

    #[test]
    fn ratios_are_judged_in_their_direction() {
        let slower = run(50_000_000, 4.0, 10.0, 9.0);
        assert_eq!(judgement(&slower, "batched misses ÷ sbbf-rs, plain").holds, Some(false));
        assert_eq!(judgement(&slower, "batched inserts ÷ sbbf-rs, plain").holds, Some(true));
        assert_eq!(judgement(&slower, "false positives of sbbf-rs").holds, Some(true));
        let faster = run(50_000_000, 4.0, 8.0, 9.0);
        assert_eq!(judgement(&faster, "batched misses ÷ sbbf-rs, plain").holds, Some(true));
        for (bound, below, at, above) in [
            (Bound::AtMost(1.0), true, true, false),
            (Bound::AtLeast(1.0), false, true, true),
            (Bound::Below(1.0), true, false, false),
        ] {
            assert_eq!([0.9, 1.0, 1.1].map(|value| bound.admits(value)), [below, at, above]);
        }
    }

    #[test]
    fn in_cache_each_way_of_sbbf_is_judged_by_itself() {
        let mut sbbf = made_up::lane(SBBF, Kind::Peer, 7e-4, 0.0);
        sbbf.nanoseconds = Times::default();
        for (mode, time) in [(Mode::Single, 4.0), (Mode::Batch, 6.0)] {
            sbbf.nanoseconds.push(Task { operation: Operation::Miss, mode, threads: 1 }, time);
        }
        let plan = made_up::lane(DEFAULT_PLAN, Kind::Ours, 1e-4, 9.0);
        let verdict = judge(&[made_up::outcome(1_000_000, vec![plan, sbbf])]);
        let of = |way| judgement(&verdict, &format!("keys): batched misses ÷ sbbf-rs, {way}"));
        let (plain, looped) = (of("plain"), of("prefetching loop"));
        assert_eq!((plain.measured.unwrap().median, plain.holds), (2.25, Some(false)));
        assert_eq!((looped.measured.unwrap().median, looped.holds), (1.5, Some(true)));
    }

    #[test]
    fn only_the_build_by_two_has_a_control_and_that_changes_no_judgement() {
        let lanes = || {
            let mut plan = made_up::lane(DEFAULT_PLAN, Kind::Ours, 1e-4, 6.0);
            let (operation, mode) = (Operation::Insert, Mode::Batch);
            plan.nanoseconds.push(Task { operation, mode, threads: 2 }, 4.0);
            vec![plan]
        };
        let without = judge(&[made_up::outcome(50_000_000, lanes())]);
        assert!(without.judgements.iter().all(|judgement| judgement.control.is_none()));
        let mut race = made_up::outcome(50_000_000, lanes());
        race.second_thread = vec![1.3, 1.1, 1.2];
        let with = judge(&[race]);
        for (with, without) in with.judgements.iter().zip(&without.judgements) {
            let is_build = with.claim.ends_with("build by one thread ÷ by two");
            assert_eq!(with.control.is_some(), is_build, "{}", with.claim);
            assert_eq!((with.measured, with.holds), (without.measured, without.holds));
        }
        let build = judgement(&with, "by two");
        assert_eq!((build.measured.unwrap().median, build.holds), (1.5, Some(false)));
        assert_eq!(build.control.as_ref().unwrap().measured.median, 1.2);
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        let small = run(1_000_000, 4.0, 10.0, 9.0);
        assert_eq!(judgement(&small, "limit × lines").holds, None);
        assert_eq!(
            judgement(&small, "in cache (1,000,000 keys): batched misses").holds,
            Some(true)
        );
        // fastbloom was not run.
        assert_eq!(judgement(&small, "single misses ÷ fastbloom").holds, None);
        assert!(judge(&[]).judgements.iter().all(|judgement| judgement.holds.is_none()));
    }
}
