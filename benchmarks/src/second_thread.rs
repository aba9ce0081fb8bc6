//! The gain of a second thread on this machine: the control for the judgement on building by two.
//!
//! Two real cores do the same arithmetic in half the time. Two hardware threads of one core, or a core that
//! other processes use, save little. A program that waits for memory may gain more; one that computes cannot.
//! So the gain is measured in the same run.
//!
//! The arithmetic keeps all units of a core busy: several independent sums in registers. A single dependency
//! chain would leave room for the other hardware thread and make a shared core look like two.

use std::hint::black_box;
use std::thread;

use crate::measure::timed;

/// Steps per lookup of a round: less than a tenth of a second for the default million lookups, next to nothing
/// in small runs.
const STEPS_PER_LOOKUP: u64 = 32;
/// Upper limit; more steps add no precision.
const MOST_STEPS: u64 = 64_000_000;
/// Independent sums: more than one core can add to in one cycle.
const SUMS: usize = 8;

/// Time of one thread over that of two for the same arithmetic: 2 if they share nothing. The order changes from
/// round to round.
pub(crate) fn gain(lookups: u64, round: usize) -> f64 {
    let steps = steps(lookups);
    let time = |threads| timed(|| by_threads(steps, threads, arithmetic)).1;
    let (one, two) = if round.is_multiple_of(2) {
        let one = time(1);
        (one, time(2))
    } else {
        let two = time(2);
        (time(1), two)
    };
    one / two
}

fn steps(lookups: u64) -> u64 {
    lookups.saturating_mul(STEPS_PER_LOOKUP).min(MOST_STEPS)
}

/// Each thread does its share of the steps, all at the same time. A single thread is spawned too, so that the
/// cost of spawning counts on both sides.
fn by_threads(steps: u64, threads: u64, work: impl Fn(u64) -> u64 + Sync) -> u64 {
    thread::scope(|scope| {
        let work = &work;
        let share = |index| steps / threads + u64::from(index < steps % threads);
        let spawn = |index| scope.spawn(move || work(share(index)));
        let threads: Vec<_> = (0..threads).map(spawn).collect();
        // Nothing in it panics. The sum keeps the compiler from dropping the work.
        threads.into_iter().map(|thread| thread.join().unwrap_or(0)).fold(0, u64::wrapping_add)
    })
}

/// Adds, rotates and exclusive ors, each sum independent.
fn arithmetic(steps: u64) -> u64 {
    let mut sums: [u64; SUMS] = black_box([1, 2, 3, 4, 5, 6, 7, 8]);
    for step in 0..steps {
        for sum in &mut sums {
            *sum = sum.wrapping_add(step).rotate_left(23) ^ step;
        }
    }
    sums.into_iter().fold(0, |all, sum| all ^ sum)
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex};
    use std::time::Duration;

    use super::*;

    #[test]
    fn all_threads_together_do_all_steps_and_none_twice() {
        for (steps, threads) in [(0, 2), (1, 1), (1, 2), (64, 2), (65, 2), (65, 1)] {
            assert_eq!(by_threads(steps, threads, |share| share), steps, "{steps} by {threads}");
        }
        let larger_half = by_threads(65, 2, |share| u64::from(share > 33));
        assert_eq!(larger_half, 0, "one of two does more than a half");
    }

    #[test]
    fn two_threads_work_at_the_same_time() {
        let (working, changed) = (Mutex::new(0), Condvar::new());
        // Each thread waits for the other. The deadline only catches a thread that never comes.
        let met = by_threads(2, 2, |_| {
            let mut count = working.lock().unwrap();
            *count += 1;
            changed.notify_all();
            let deadline = Duration::from_secs(10);
            let (count, _) =
                changed.wait_timeout_while(count, deadline, |count| *count < 2).unwrap();
            u64::from(*count == 2)
        });
        assert_eq!(met, 2);
    }

    #[test]
    fn small_runs_take_few_steps_and_large_ones_not_too_many() {
        // The last one's steps would be 2⁶⁴ + 32.
        let taken = [1, 20_000, 1_000_000, 100_000_000, (1 << 59) + 1].map(steps);
        assert_eq!(taken, [32, 640_000, 32_000_000, MOST_STEPS, MOST_STEPS]);
    }
}
