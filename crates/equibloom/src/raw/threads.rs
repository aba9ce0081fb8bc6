//! Threads for parts of a batch.

use alloc::vec::Vec;

/// Runs each task in its own thread, the first one in this.
#[cfg(feature = "std")]
pub(super) fn each_by_a_thread<T: Send, U: Send>(
    tasks: Vec<T>,
    run: impl Fn(T) -> U + Sync,
) -> Vec<U> {
    let run = &run;
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
