//! Threads for parts of a batch.

use alloc::vec::Vec;

use crate::placement::Level;
use crate::storage::{Line, WORDS_PER_LINE};

/// Blocks of a level that one thread changes.
pub(super) struct Part<'a> {
    /// The number of the first in the whole table.
    pub(super) first: u64,
    pub(super) lines: &'a mut [Line],
}

impl<'a> Part<'a> {
    /// Divides the blocks of a level, in the lines of the whole table, into up to `count` parts. Each begins on a
    /// line.
    pub(super) fn all(
        lines: &'a mut [Line],
        words_per_block: usize,
        level: Level,
        count: usize,
    ) -> impl Iterator<Item = Self> {
        // The fewest blocks that fill whole lines.
        let unit = (WORDS_PER_LINE >> words_per_block.trailing_zeros().min(3)) as u64;
        let (first, end) = (level.offset - level.offset % unit, level.offset + level.size);
        let size = (end - first).div_ceil(count as u64).next_multiple_of(unit);
        let lines_of = |blocks| (blocks as usize * words_per_block).div_ceil(WORDS_PER_LINE);
        let parts = lines[lines_of(first)..lines_of(end)].chunks_mut(lines_of(size));
        parts.zip((first..).step_by(size as usize)).map(|(lines, first)| Self { first, lines })
    }
}

/// Runs each task in its own thread, the first one in this, as well as those for which the system has no thread.
#[cfg(feature = "std")]
pub(super) fn each_by_a_thread<T: Send, U: Send>(
    tasks: Vec<T>,
    run: impl Fn(T) -> U + Sync,
) -> Vec<U> {
    use std::sync::Mutex;

    let run = &run;
    if tasks.len() <= 1 {
        return tasks.into_iter().map(run).collect();
    }
    let mut tasks = tasks.into_iter();
    let first = tasks.next();
    // Each waits where this thread finds it, too.
    let waiting: Vec<Mutex<Option<T>>> = tasks.map(|task| Mutex::new(Some(task))).collect();
    let take = |task: &Mutex<Option<T>>| task.lock().ok().and_then(|mut task| task.take());
    std::thread::scope(|scope| {
        let spawn =
            |task| std::thread::Builder::new().spawn_scoped(scope, move || take(task).map(run));
        let workers: Vec<_> = waiting.iter().map(spawn).collect();
        let first = first.map(run);
        let others = workers.into_iter().zip(&waiting).filter_map(|(worker, task)| match worker {
            Ok(worker) => worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => take(task).map(run),
        });
        first.into_iter().chain(others).collect()
    })
}

/// Runs one task after the other.
#[cfg(not(feature = "std"))]
pub(super) fn each_by_a_thread<T, U>(tasks: Vec<T>, run: impl Fn(T) -> U) -> Vec<U> {
    tasks.into_iter().map(run).collect()
}

#[cfg(all(test, feature = "std", unix))]
mod tests;
