//! Filters take turns, and their answers are checked.
//!
//! In the first rounds every filter is rebuilt from the same keys, which takes longest; in later rounds only
//! filters that several threads can build are. In every round all filters look up the same keys, operation by
//! operation, so that compared measurements are about a second apart. The first filter changes from round to
//! round.
//!
//! **Inserts** are timed from allocation to the full filter: pages are untouched before, and creating the empty
//! filter counts, so that it does not matter when a filter zeroes its memory. Parts of the keys are inserted
//! alternately one by one and in batches, so that both see filters equally full. A build by several threads is
//! compared with an uninterrupted build by one.
//!
//! **The clock** of operations by one thread counts processor time where the system does, so that other
//! processes disturb less; that of builds and lookups by several threads, and of builds compared with them, is
//! the wall clock.
//!
//! **The control**, the gain of two threads in pure arithmetic, runs once in every round, between inserts and
//! lookups.
//!
//! **Checks**: no member is missed; single and batched lookups agree; Equibloom's measured rates are the
//! expected ones (4σ + 1 %).

use std::thread;

use serde::Serialize;

use crate::contestants::{Contestant, Entry, Expectation, Failure, Kind, LineUp, Many, Profile};
use crate::keys::{Keys, Workload};
use crate::measure::{Mode, Operation, Task, Times, timed, timed_alone};
use crate::second_thread;

/// Size of a race.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Size {
    pub(crate) keys: u64,
    pub(crate) bits_per_key: f64,
    pub(crate) rounds: usize,
    /// Rounds in which every filter is rebuilt; at least the first.
    pub(crate) builds: usize,
    pub(crate) lookups: u64,
    pub(crate) threads: Vec<usize>,
}

impl Size {
    /// Memory per filter.
    pub(crate) fn bytes(&self) -> u64 {
        (self.keys as f64 * self.bits_per_key / 8.0).ceil() as u64
    }
}

/// Results of a race.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Outcome {
    pub(crate) size: Size,
    pub(crate) lanes: Vec<Lane>,
    /// Time of one thread over that of two for the same arithmetic, in each round: the gain of a second thread
    /// on this machine. Empty if two threads were not requested.
    pub(crate) second_thread: Vec<f64>,
    /// Filters that could not run, and why.
    pub(crate) absent: Vec<String>,
}

/// Results of one filter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Lane {
    #[serde(flatten)]
    pub(crate) profile: Profile,
    pub(crate) bits_per_key: f64,
    /// Measured share of absent keys that were found; `None` for the limit.
    pub(crate) rate: Option<f64>,
    pub(crate) expected: Option<Expectation>,
    pub(crate) nanoseconds: Times,
    /// Nanoseconds per key of uninterrupted builds by one thread, of filters that several can build. Builds by
    /// several are uninterrupted too; alternating inserts would charge the first touch of most pages to one of
    /// the two ways.
    pub(crate) builds_by_one: Vec<f64>,
}

impl Outcome {
    pub(crate) fn lane(&self, name: &str) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.profile.name == name)
    }
}

/// One filter during the race.
struct Runner {
    entry: Entry,
    filter: Option<Box<dyn Contestant>>,
    false_positives: u64,
    misses: u64,
    /// Number of absent keys found by the first kind of lookup in this round's filter.
    found_first: Option<usize>,
    lane: Lane,
}

/// Number of parts in which keys are inserted, alternately one by one and in batches.
const PARTS: usize = 16;
/// Small filters are built several times a round, at most this often.
const MOST_BUILDS: u64 = 32;

/// Runs all entries; `progress` receives status lines.
pub(crate) fn run(
    size: &Size,
    line_up: LineUp,
    progress: &dyn Fn(&str),
) -> Result<Outcome, Failure> {
    let workload = Workload::new(size.keys, size.lookups);
    let mut runners: Vec<Runner> = line_up.entries.into_iter().map(Runner::new).collect();
    let mut second_thread = Vec::new();
    for round in 0..size.rounds {
        let number = runners.len().max(1);
        runners.rotate_left(round.min(1) % number);
        for runner in runners.iter_mut().filter(|_| round < size.builds.max(1)) {
            progress(&format!("round {}: {} is built", round + 1, runner.lane.profile.name));
            runner.named(|runner| runner.build(size, workload.members.all()))?;
        }
        progress(&format!("round {}: builds by one thread and by more", round + 1));
        for runner in &mut runners {
            runner.named(|runner| runner.build_by_threads(size, workload.members.all()))?;
        }
        if size.threads.contains(&2) {
            progress(&format!("round {}: arithmetic by one thread and by two", round + 1));
            second_thread.push(second_thread::gain(size.lookups, round));
        }
        for operation in [Operation::Miss, Operation::Hit, Operation::Mixed] {
            progress(&format!("round {}: {}", round + 1, operation.name()));
            for &threads in &size.threads {
                for mode in [Mode::Single, Mode::Batch] {
                    for runner in &mut runners {
                        let task = Task { operation, mode, threads };
                        runner.named(|runner| runner.look_up(task, &workload))?;
                    }
                }
            }
        }
    }
    // Back to the order of the entries.
    let turned = size.rounds.saturating_sub(1) % runners.len().max(1);
    runners.rotate_right(turned);
    let lanes = runners.into_iter().map(|runner| runner.named_finish(size));
    let lanes = lanes.collect::<Result<_, _>>()?;
    Ok(Outcome { size: size.clone(), lanes, second_thread, absent: line_up.absent })
}

impl Runner {
    fn new(entry: Entry) -> Self {
        let lane = Lane {
            profile: entry.profile.clone(),
            bits_per_key: 0.0,
            rate: None,
            expected: None,
            nanoseconds: Times::default(),
            builds_by_one: vec![],
        };
        Self { entry, filter: None, false_positives: 0, misses: 0, found_first: None, lane }
    }

    /// Prefixes errors with the filter's name.
    fn named<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        run(self).map_err(|error| format!("{}: {error}", self.entry.profile.name).into())
    }

    /// Builds the filter on one thread, alternately one by one and in batches.
    fn build(&mut self, size: &Size, members: Keys<'_>) -> Result<(), Failure> {
        let times = self.build_often(size, members, |filter| insert_by_turns(filter, members))?;
        for (mode, time) in [Mode::Single, Mode::Batch].into_iter().zip(times) {
            let task = Task { operation: Operation::Insert, mode, threads: 1 };
            if self.takes_part_in(task) {
                self.lane.nanoseconds.push(task, time);
            }
        }
        Ok(())
    }

    /// Builds the filter without interruption, by one thread and by more, if several can.
    fn build_by_threads(&mut self, size: &Size, members: Keys<'_>) -> Result<(), Failure> {
        let many: Vec<usize> =
            size.threads.iter().copied().filter(|&threads| threads > 1).collect();
        if !self.entry.profile.parallel_inserts || many.is_empty() {
            return Ok(());
        }
        let [_, time] =
            self.build_often(size, members, |filter| insert_at_a_stretch(filter, members, 1))?;
        self.lane.builds_by_one.push(time);
        for threads in many {
            let insert =
                |filter: &mut dyn Contestant| insert_at_a_stretch(filter, members, threads);
            let [_, time] = self.build_often(size, members, insert)?;
            let task = Task { operation: Operation::Insert, mode: Mode::Batch, threads };
            self.lane.nanoseconds.push(task, time);
        }
        Ok(())
    }

    /// Builds the filter often enough to time it; returns the means of `build_once`.
    fn build_often(
        &mut self,
        size: &Size,
        members: Keys<'_>,
        insert: impl Fn(&mut dyn Contestant) -> Result<[f64; 2], Failure>,
    ) -> Result<[f64; 2], Failure> {
        self.found_first = None;
        let builds = (size.lookups / size.keys).clamp(1, MOST_BUILDS);
        let mut sums = [0.0; 2];
        for _ in 0..builds {
            let times = self.build_once(members, &insert)?;
            for (sum, time) in sums.iter_mut().zip(times) {
                *sum += time;
            }
        }
        Ok(sums.map(|sum| sum / builds as f64))
    }

    /// Builds the filter; returns nanoseconds per key one by one and batched, as far as measured.
    fn build_once(
        &mut self,
        members: Keys<'_>,
        insert: impl FnOnce(&mut dyn Contestant) -> Result<[f64; 2], Failure>,
    ) -> Result<[f64; 2], Failure> {
        // Frees the old filter's memory before the new one is allocated.
        self.filter = None;
        let (filter, making) = timed_alone(|| (self.entry.make)(members));
        let mut filter = filter?;
        let times = insert(&mut *filter)?;
        self.filter = Some(filter);
        Ok(times.map(|time| time + making / members.len() as f64))
    }

    fn takes_part_in(&self, task: Task) -> bool {
        task.mode == Mode::Single || self.entry.profile.many != Many::OneByOne
    }

    /// Times lookups and checks the answers.
    fn look_up(&mut self, task: Task, workload: &Workload) -> Result<(), Failure> {
        if !self.takes_part_in(task) {
            return Ok(());
        }
        let filter = self.filter.as_deref().ok_or("is not built")?;
        let keys = match task.operation {
            Operation::Hit => workload.hits.all(),
            Operation::Mixed => workload.mixed.all(),
            Operation::Insert | Operation::Miss => workload.misses.all(),
        };
        let look_up = || count(filter, keys, task);
        let (found, time) = if task.threads == 1 { timed_alone(look_up) } else { timed(look_up) };
        self.lane.nanoseconds.push(task, time / keys.len() as f64);
        if self.entry.profile.kind == Kind::Limit {
            return Ok(());
        }
        let members = match task.operation {
            Operation::Hit => keys.len(),
            Operation::Mixed => workload.members_in_mixed,
            Operation::Insert | Operation::Miss => 0,
        };
        if found < members {
            return Err(format!("lost {} keys", members - found).into());
        }
        if task.operation == Operation::Miss {
            let first = *self.found_first.get_or_insert(found);
            if found != first {
                return Err(
                    format!("finds {first} absent keys in one way, {found} in another").into()
                );
            }
            self.misses += keys.len() as u64;
            self.false_positives += found as u64;
        }
        Ok(())
    }

    /// The measured rate, checked against the expected one.
    fn finish(&mut self, size: &Size) -> Result<Lane, Failure> {
        let filter = self.filter.take().ok_or("is not built")?;
        self.lane.bits_per_key = 8.0 * filter.bytes() as f64 / size.keys as f64;
        self.lane.expected = filter.expectation();
        if self.misses > 0 {
            let rate = self.false_positives as f64 / self.misses as f64;
            self.lane.rate = Some(rate);
            if let Some(expected) = self.lane.expected
                && !is_as_expected(rate, expected.rate, size.lookups as f64)
            {
                let rates = format!("measures a rate of {rate:e}, expects {:e}", expected.rate);
                return Err(rates.into());
            }
        }
        Ok(self.lane.clone())
    }

    fn named_finish(mut self, size: &Size) -> Result<Lane, Failure> {
        self.named(|runner| runner.finish(size))
    }
}

/// Within 4σ + 1 %, σ for this many distinct keys, plus one.
fn is_as_expected(rate: f64, expected: f64, lookups: f64) -> bool {
    let (found, mean) = (rate * lookups, expected * lookups);
    (found - mean).abs() <= 4.0 * mean.sqrt() + 0.01 * mean + 1.0
}

/// Inserts part after part, alternately one by one and batched; returns nanoseconds per key of both.
fn insert_by_turns(filter: &mut dyn Contestant, keys: Keys<'_>) -> Result<[f64; 2], Failure> {
    let mut sums = [(0.0, 0); 2];
    for (index, part) in keys.split(PARTS).enumerate() {
        // Forth and back, so that both ways see the same mean fill.
        let way = [0, 1, 1, 0][index % 4];
        let (done, time) = match way {
            0 => timed_alone(|| filter.insert_each(part)),
            _ => timed_alone(|| filter.insert_batch(part)),
        };
        done?;
        let (sum, inserted) = &mut sums[way];
        *sum += time;
        *inserted += part.len();
    }
    Ok(sums.map(|(sum, inserted)| sum / inserted.max(1) as f64))
}

/// Inserts all keys on this many threads; returns nanoseconds per key as the batched time.
fn insert_at_a_stretch(
    filter: &mut dyn Contestant,
    keys: Keys<'_>,
    threads: usize,
) -> Result<[f64; 2], Failure> {
    let (done, time) = timed(|| filter.insert_parallel(keys, threads));
    done?;
    Ok([0.0, time / keys.len() as f64])
}

/// Looks keys up, one part per thread.
fn count(filter: &dyn Contestant, keys: Keys<'_>, task: Task) -> usize {
    let look_up = |keys| match task.mode {
        Mode::Single => filter.count_each(keys),
        Mode::Batch => filter.count_batch(keys),
    };
    if task.threads == 1 {
        return look_up(keys);
    }
    thread::scope(|scope| {
        let spawn = |keys| scope.spawn(move || look_up(keys));
        let threads: Vec<_> = keys.split(task.threads).map(spawn).collect();
        // A thread that panicked counts as nothing found, which the check notices.
        threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum()
    })
}

/// Invented results for tests of the reports.
#[cfg(test)]
pub(crate) mod made_up {
    use super::*;

    /// A lane with equal times everywhere.
    pub(crate) fn lane(name: &str, kind: Kind, rate: f64, nanoseconds: f64) -> Lane {
        let mut times = Times::default();
        for operation in Operation::ALL {
            for mode in [Mode::Single, Mode::Batch] {
                times.push(Task { operation, mode, threads: 1 }, nanoseconds);
            }
        }
        let profile = Profile {
            name: name.to_owned(),
            kind,
            many: Many::Call,
            parallel_inserts: false,
            promised_rate: None,
            rival: None,
        };
        let rate = (kind != Kind::Limit).then_some(rate);
        let builds_by_one = vec![nanoseconds];
        Lane {
            profile,
            bits_per_key: 16.0,
            rate,
            expected: None,
            nanoseconds: times,
            builds_by_one,
        }
    }

    pub(crate) fn outcome(keys: u64, lanes: Vec<Lane>) -> Outcome {
        let threads = vec![1];
        let size = Size { keys, bits_per_key: 16.0, rounds: 1, builds: 1, lookups: 1, threads };
        Outcome { size, lanes, second_thread: vec![], absent: vec![] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A filter with prescribed answers.
    struct Liar {
        misses_members: bool,
        batch_finds: usize,
        expects: f64,
    }

    impl Contestant for Liar {
        fn bytes(&self) -> u64 {
            1
        }

        fn insert_each(&mut self, _keys: Keys<'_>) -> Result<(), Failure> {
            Ok(())
        }

        fn count_each(&self, keys: Keys<'_>) -> usize {
            keys.full.iter().filter(|&&key| is_member(key) && !self.misses_members).count()
        }

        fn count_batch(&self, keys: Keys<'_>) -> usize {
            self.count_each(keys) + self.batch_finds
        }

        fn expectation(&self) -> Option<Expectation> {
            Some(Expectation { rate: self.expects, lines_per_miss: 1.0 })
        }
    }

    fn is_member(key: equibloom::KeyHash) -> bool {
        Workload::new(100, 1).members.all().full.contains(&key)
    }

    fn race_of(misses_members: bool, batch_finds: usize, expects: f64) -> Result<Outcome, Failure> {
        race_by(vec![1, 2], misses_members, batch_finds, expects)
    }

    fn race_by(
        threads: Vec<usize>,
        misses_members: bool,
        batch_finds: usize,
        expects: f64,
    ) -> Result<Outcome, Failure> {
        let profile = made_up::lane("liar", Kind::Peer, 0.0, 0.0).profile;
        let profile = Profile { parallel_inserts: true, ..profile };
        let make = move |_: Keys<'_>| {
            let liar = Liar { misses_members, batch_finds, expects };
            Ok(Box::new(liar) as Box<dyn Contestant>)
        };
        let size =
            Size { keys: 100, bits_per_key: 16.0, rounds: 3, builds: 2, lookups: 60, threads };
        run(
            &size,
            LineUp { entries: vec![Entry { profile, make: Box::new(make) }], absent: vec![] },
            &|_| (),
        )
    }

    #[test]
    fn wrong_answers_end_the_race() {
        assert!(race_of(false, 0, 0.0).is_ok());
        let lost = race_of(true, 0, 0.0).unwrap_err().to_string();
        assert_eq!(lost, "liar: lost 60 keys");
        let ways = race_of(false, 1, 0.0).unwrap_err().to_string();
        assert_eq!(ways, "liar: finds 0 absent keys in one way, 1 in another");
        let rate = race_of(false, 0, 0.5).unwrap_err().to_string();
        assert_eq!(rate, "liar: measures a rate of 0e0, expects 5e-1");
    }

    #[test]
    fn every_task_is_timed_once_a_round_and_inserts_by_one_once_a_build() {
        let outcome = race_of(false, 0, 0.0).unwrap();
        let lane = outcome.lane("liar").unwrap();
        for operation in Operation::ALL {
            for mode in [Mode::Single, Mode::Batch] {
                for threads in [1, 2] {
                    let times = lane.nanoseconds.of(Task { operation, mode, threads });
                    // Several threads insert in batches.
                    let expected = match (operation, mode, threads) {
                        (Operation::Insert, Mode::Single, 2) => None,
                        (Operation::Insert, _, 1) => Some(2),
                        _ => Some(3),
                    };
                    assert_eq!(
                        times.map(<[f64]>::len),
                        expected,
                        "{operation:?} {mode:?} {threads}"
                    );
                }
            }
        }
        assert_eq!((lane.rate, lane.bits_per_key), (Some(0.0), 0.08));
        assert_eq!(lane.builds_by_one.len(), 3);
        let by_one_only = race_by(vec![1], false, 0, 0.0).unwrap();
        assert!(by_one_only.lane("liar").unwrap().builds_by_one.is_empty());
    }

    #[test]
    fn what_a_second_thread_gives_is_measured_once_a_round_where_there_is_one() {
        for (threads, measured) in
            [(vec![1, 2], 3), (vec![1, 2, 4], 3), (vec![1], 0), (vec![1, 4], 0)]
        {
            let outcome = race_by(threads.clone(), false, 0, 0.0).unwrap();
            assert_eq!(outcome.second_thread.len(), measured, "{threads:?}");
            assert!(outcome.second_thread.iter().all(|&gain| gain > 0.0 && gain.is_finite()));
        }
    }
}
