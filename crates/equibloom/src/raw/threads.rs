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

/// Runs each task in its own thread, the first one in this.
#[cfg(feature = "std")]
pub(super) fn each_by_a_thread<T: Send, U: Send>(
    tasks: Vec<T>,
    run: impl Fn(T) -> U + Sync,
) -> Vec<U> {
    let run = &run;
    if tasks.len() <= 1 {
        return tasks.into_iter().map(run).collect();
    }
    let mut tasks = tasks.into_iter();
    let first = tasks.next();
    std::thread::scope(|scope| {
        let workers: Vec<_> = tasks.map(|task| scope.spawn(move || run(task))).collect();
        let first = first.map(run);
        let others = workers.into_iter().map(|worker| worker.join());
        let others =
            others.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        first.into_iter().chain(others).collect()
    })
}

/// Runs one task after the other.
#[cfg(not(feature = "std"))]
pub(super) fn each_by_a_thread<T, U>(tasks: Vec<T>, run: impl Fn(T) -> U) -> Vec<U> {
    tasks.into_iter().map(run).collect()
}
