//! Times and their statistics.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use serde::{Serialize, Serializer};

/// The timed operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Task {
    pub(crate) operation: Operation,
    pub(crate) mode: Mode,
    pub(crate) threads: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Operation {
    Insert,
    Miss,
    Hit,
    Mixed,
}

impl Operation {
    pub(crate) const ALL: [Self; 4] = [Self::Insert, Self::Miss, Self::Hit, Self::Mixed];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Insert => "inserts",
            Self::Miss => "misses",
            Self::Hit => "hits",
            Self::Mixed => "mixed lookups",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    /// One key after the other.
    Single,
    /// In batches.
    Batch,
}

/// Runs `f`; returns its result and the nanoseconds it took.
pub(crate) fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = black_box(run());
    (result, start.elapsed().as_nanos() as f64)
}

/// [`timed`] for work of this thread only: processor time, which leaves out other processes on a busy machine.
pub(crate) fn timed_alone<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let start = processor_time();
    let (result, elapsed) = timed(run);
    let used = start.zip(processor_time()).map(|(start, end)| end - start);
    (result, used.unwrap_or(elapsed))
}

/// Nanoseconds that this thread has run, where the system counts them.
#[allow(unsafe_code, reason = "a call of the operating system")]
fn processor_time() -> Option<f64> {
    #[cfg(target_os = "linux")]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes to `time`, which is large enough.
        let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        (status == 0).then_some(time.tv_sec as f64 * 1e9 + time.tv_nsec as f64)
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Nanoseconds per key of each task, one value per round.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Times(BTreeMap<Task, Vec<f64>>);

impl Times {
    pub(crate) fn push(&mut self, task: Task, nanoseconds: f64) {
        self.0.entry(task).or_default().push(nanoseconds);
    }

    pub(crate) fn of(&self, task: Task) -> Option<&[f64]> {
        self.0.get(&task).map(|times| &times[..])
    }

    /// The faster of one by one and batched.
    pub(crate) fn best(&self, operation: Operation, threads: usize) -> Option<&[f64]> {
        let ways = [Mode::Single, Mode::Batch].map(|mode| Task { operation, mode, threads });
        let times = ways.into_iter().filter_map(|task| self.of(task));
        let median =
            |times: &[f64]| Spread::of(times).map_or(f64::INFINITY, |spread| spread.median);
        times.min_by(|a, b| median(a).total_cmp(&median(b)))
    }
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Row<'a> {
            #[serde(flatten)]
            task: &'a Task,
            #[serde(flatten)]
            spread: Option<Spread>,
            rounds: &'a [f64],
        }
        let row = |(task, rounds): (_, &'_ Vec<f64>)| (task, Spread::of(rounds));
        serializer.collect_seq(self.0.iter().map(|(task, rounds)| {
            let (task, spread) = row((task, rounds));
            Row { task, spread, rounds }
        }))
    }
}

/// Median and quartiles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) lower_quartile: f64,
    pub(crate) median: f64,
    pub(crate) upper_quartile: f64,
}

impl Spread {
    /// `None` for an empty slice.
    pub(crate) fn of(numbers: &[f64]) -> Option<Self> {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let place = share * sorted.len().checked_sub(1)? as f64;
            let low = sorted.get(place.floor() as usize)?;
            let high = sorted.get(place.ceil() as usize)?;
            Some(low + (high - low) * place.fract())
        };
        Some(Self {
            lower_quartile: quantile(0.25)?,
            median: quantile(0.5)?,
            upper_quartile: quantile(0.75)?,
        })
    }

    /// Quartiles of the ratios round by round: what slows a whole round down cancels out.
    pub(crate) fn of_ratios(dividends: &[f64], divisors: &[f64]) -> Option<Self> {
        let ratios = dividends.iter().zip(divisors).map(|(dividend, divisor)| dividend / divisor);
        Self::of(&ratios.collect::<Vec<_>>())
    }

    /// Half of the distance between the quartiles.
    pub(crate) fn half_width(&self) -> f64 {
        (self.upper_quartile - self.lower_quartile) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_the_numbers_where_there_is_none_in_the_middle() {
        let spread = |numbers: &[f64]| {
            Spread::of(numbers).map(|s| [s.lower_quartile, s.median, s.upper_quartile])
        };
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[3.0]), Some([3.0; 3]));
        assert_eq!(spread(&[4.0, 2.0]), Some([2.5, 3.0, 3.5]));
        assert_eq!(spread(&[5.0, 1.0, 4.0, 2.0, 3.0]), Some([2.0, 3.0, 4.0]));
        assert_eq!(Spread::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap().half_width(), 1.0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn waiting_is_no_processor_time() {
        let wait = std::time::Duration::from_millis(100);
        let sleep = || std::thread::sleep(wait);
        assert!(timed(sleep).1 >= wait.as_nanos() as f64);
        assert!(timed_alone(sleep).1 < wait.as_nanos() as f64 / 2.0);
        let add = || (0..1_000_000_u64).fold(0, |sum, number| black_box(sum + number));
        assert!(timed_alone(add).1 > 100_000.0);
    }

    #[test]
    fn a_slow_round_does_not_change_ratios() {
        let ours = [1.0, 10.0, 1.0];
        let theirs = [2.0, 20.0, 2.0];
        let ratios = Spread::of_ratios(&ours, &theirs).unwrap();
        assert_eq!((ratios.lower_quartile, ratios.upper_quartile), (0.5, 0.5));
    }

    #[test]
    fn the_best_way_is_that_of_the_lower_median() {
        let task = |mode| Task { operation: Operation::Miss, mode, threads: 1 };
        let mut times = Times::default();
        assert_eq!(times.best(Operation::Miss, 1), None);
        times.push(task(Mode::Single), 3.0);
        assert_eq!(times.best(Operation::Miss, 1), Some(&[3.0][..]));
        for time in [2.0, 9.0, 2.0] {
            times.push(task(Mode::Batch), time);
        }
        assert_eq!(times.best(Operation::Miss, 1), Some(&[2.0, 9.0, 2.0][..]));
        assert_eq!(times.best(Operation::Miss, 2), None);
        assert_eq!(times.best(Operation::Hit, 1), None);
    }
}
