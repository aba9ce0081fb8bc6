//! A filter that any thread of Python may use: behind a lock, for a part of a column at a time.
//!
//! A `SharedFilter` would need no lock, but keys cannot be removed from one, and one thread fills a plain filter twice as fast. The
//! lock is shared by lookups, and held by an insert for a few thousand keys at most; hashing and reading of columns
//! happen outside. No thread ever waits for it while it is attached to the interpreter.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use equibloom::{BuildError, FullError, KeyHash, KeyKind, RemoveError, Stable};
use pyo3::prelude::*;

use crate::columns::{BadValue, Booleans, Column};
use crate::error::{self, FilterMergeError, KeyValueError};
use crate::keys;
use crate::kind::Kind;
use crate::lock::{Announced, Lock};

/// Keys that are hashed, and then inserted or looked up, at once.
const AT_ONCE: usize = 2_048;
/// Rows of a thread's task: about a millisecond.
const SLICE: usize = 1 << 17;

/// What the filters have in common.
pub(crate) trait Engine: Send + Sync {
    fn insert(&mut self, hash: KeyHash) -> Result<bool, Failure>;
    fn insert_many(&mut self, hashes: &[KeyHash], threads: usize) -> Result<u64, Failure>;
    fn contains(&self, hash: KeyHash) -> bool;
    /// Answers replace the contents of `found`, 64 a word.
    fn contains_many(&self, hashes: &[KeyHash], found: &mut Vec<u64>);
    fn remove(&mut self, hash: KeyHash) -> Result<(), RemoveError>;
}

/// Why keys could not be inserted or looked up, found without the interpreter.
pub(crate) enum Failure {
    Value(BadValue),
    Full(FullError),
    Build(BuildError),
}

impl From<BadValue> for Failure {
    fn from(error: BadValue) -> Self {
        Self::Value(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Value(BadValue(message)) => KeyValueError::new_err(message),
            Failure::Full(failure) => error::full(failure),
            Failure::Build(failure) => error::build(failure),
        }
    }
}

/// A filter, the kind of its keys, and how these are hashed.
pub(crate) struct Guarded<F> {
    lock: Lock<F>,
    pub(crate) kind: Kind,
    pub(crate) hasher: Stable,
}

impl<F: Engine> Guarded<F> {
    pub(crate) fn new(filter: F, kind: Kind, seed: u64) -> Self {
        Self { lock: Lock::new(filter), kind, hasher: Stable::with_seed(seed) }
    }

    /// Reads the filter, detached if it has to wait.
    #[inline]
    pub(crate) fn read<T: Send>(&self, py: Python<'_>, read: impl Fn(&F) -> T + Send + Sync) -> T {
        if let Some(filter) = self.lock.try_read() {
            return read(&filter);
        }
        py.detach(|| read(&self.lock.read()))
    }

    /// Changes the filter, detached if it has to wait.
    #[inline]
    pub(crate) fn write<T: Send>(
        &self,
        py: Python<'_>,
        mut write: impl FnMut(&mut F) -> T + Send,
    ) -> T {
        if let Some(mut filter) = self.lock.try_write(py) {
            return write(&mut filter);
        }
        let announced = self.lock.announce(py);
        py.detach(|| write(&mut self.lock.write(&announced)))
    }

    /// Reads all of the filter, detached.
    pub(crate) fn scan<T: Send>(&self, py: Python<'_>, scan: impl FnOnce(&F) -> T + Send) -> T {
        py.detach(|| scan(&self.lock.read()))
    }

    /// Changes all of the filter, detached.
    pub(crate) fn change<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut F) -> T + Send,
    ) -> T {
        let announced = self.lock.announce(py);
        py.detach(|| change(&mut self.lock.write(&announced)))
    }

    /// Reads two filters, detached. The one that is first in memory is locked first, so that no two threads wait for each
    /// other.
    pub(crate) fn compare<T: Send>(
        &self,
        other: &Self,
        py: Python<'_>,
        compare: impl FnOnce(&F, &F) -> T + Send,
    ) -> T {
        py.detach(|| {
            if (&raw const *self) < (&raw const *other) {
                let ours = self.lock.read();
                compare(&ours, &other.lock.read())
            } else {
                let theirs = other.lock.read();
                compare(&self.lock.read(), &theirs)
            }
        })
    }

    /// Changes this filter by another one, detached; locked in the same order.
    pub(crate) fn combine<T: Send>(
        &self,
        other: &Self,
        py: Python<'_>,
        combine: impl FnOnce(&mut F, &F) -> T + Send,
    ) -> T {
        let announced = self.lock.announce(py);
        py.detach(|| {
            if (&raw const *self) < (&raw const *other) {
                let mut ours = self.lock.write(&announced);
                combine(&mut ours, &other.lock.read())
            } else {
                let theirs = other.lock.read();
                combine(&mut self.lock.write(&announced), &theirs)
            }
        })
    }

    /// Checks that the keys of another filter can be added to those of this one.
    pub(crate) fn claim_for_union(&self, other: &Self, py: Python<'_>) -> PyResult<()> {
        if other.kind.is_undecided() {
            return Ok(());
        }
        let claimed = self.kind.claim(other.kind.get());
        claimed.map_err(|failure| FilterMergeError::new_err(failure.value(py).to_string()))
    }

    /// A key's hash, once its kind is known to fit.
    #[inline(always)]
    pub(crate) fn hash_for_lookup(&self, key: &Bound<'_, PyAny>) -> PyResult<KeyHash> {
        if let Some((kind, hash)) = keys::hash_at_once(key, &self.hasher)
            && self.kind.is(kind)
        {
            return Ok(hash);
        }
        let (kind, hash) = keys::hash(key, &self.hasher, self.is_wide())?;
        self.kind.check(kind)?;
        Ok(hash)
    }

    #[inline(always)]
    fn hash_for_insert(&self, key: &Bound<'_, PyAny>) -> PyResult<KeyHash> {
        if let Some((kind, hash)) = keys::hash_at_once(key, &self.hasher)
            && self.kind.is(kind)
        {
            return Ok(hash);
        }
        let (kind, hash) = keys::hash(key, &self.hasher, self.is_wide())?;
        self.kind.claim(kind)?;
        Ok(hash)
    }

    fn is_wide(&self) -> bool {
        self.kind.get() == KeyKind::WideInteger
    }

    /// Whether a key is there, if its type is one of the usual ones, no thread changes the filter, and nothing is wrong.
    #[inline(always)]
    pub(crate) fn contains_at_once(&self, key: &Bound<'_, PyAny>) -> Option<bool> {
        let (kind, hash) = keys::hash_at_once(key, &self.hasher)?;
        if !self.kind.is(kind) {
            return None;
        }
        // SAFETY: the library asks memory, and nothing else.
        unsafe { self.lock.attached(key.py()) }.map(|filter| filter.contains(hash))
    }

    pub(crate) fn contains(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let hash = self.hash_for_lookup(key)?;
        Ok(self.read(key.py(), |filter| filter.contains(hash)))
    }

    #[inline]
    pub(crate) fn insert(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let hash = self.hash_for_insert(key)?;
        Ok(self.write(key.py(), |filter| filter.insert(hash))?)
    }

    pub(crate) fn remove(&self, key: &Bound<'_, PyAny>) -> PyResult<Result<(), RemoveError>> {
        let hash = self.hash_for_lookup(key)?;
        Ok(self.write(key.py(), |filter| filter.remove(hash)))
    }

    /// Inserts the keys of an iterator, some thousand at a time; returns how many were new. Missing ones are skipped.
    pub(crate) fn insert_objects<'py>(
        &self,
        py: Python<'py>,
        objects: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
        skips_missing: bool,
    ) -> PyResult<u64> {
        let mut hashes = Vec::with_capacity(AT_ONCE);
        let mut new = 0;
        let mut insert = |hashes: &mut Vec<KeyHash>| -> PyResult<()> {
            new += self.write(py, |filter| filter.insert_many(hashes, 1))?;
            hashes.clear();
            py.check_signals()
        };
        for object in objects {
            let object = object?;
            if skips_missing && keys::is_missing(&object)? {
                continue;
            }
            hashes.push(self.hash_for_insert(&object)?);
            if hashes.len() == AT_ONCE {
                insert(&mut hashes)?;
            }
        }
        insert(&mut hashes)?;
        Ok(new)
    }

    /// The hashes of the keys of an iterator; the first key decides the kind.
    pub(crate) fn hash_objects<'py>(
        &self,
        py: Python<'py>,
        objects: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    ) -> PyResult<Vec<KeyHash>> {
        let mut hashes = Vec::new();
        for object in objects {
            hashes.push(self.hash_for_insert(&object?)?);
            if hashes.len() % AT_ONCE == 0 {
                py.check_signals()?;
            }
        }
        Ok(hashes)
    }

    /// Looks up the keys of an iterator. Calls `answer` with a word of answers and one of which objects are keys.
    pub(crate) fn contains_objects<'py>(
        &self,
        py: Python<'py>,
        mut objects: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
        skips_missing: bool,
        mut answer: impl FnMut(&[u64], &[u64], usize),
    ) -> PyResult<()> {
        let mut hashes = Vec::with_capacity(AT_ONCE);
        let mut is_key = Vec::new();
        loop {
            hashes.clear();
            is_key.clear();
            is_key.resize(AT_ONCE / 64, 0);
            for object in objects.by_ref().take(AT_ONCE) {
                let object = object?;
                if skips_missing && keys::is_missing(&object)? {
                    hashes.push(KeyHash::from_u64(0));
                    continue;
                }
                let row = hashes.len();
                is_key[row / 64] |= 1_u64 << (row % 64);
                hashes.push(self.hash_for_lookup(&object)?);
            }
            if hashes.is_empty() {
                return Ok(());
            }
            let mut found = self.read(py, |filter| {
                let mut found = Vec::with_capacity(AT_ONCE / 64);
                filter.contains_many(&hashes, &mut found);
                found
            });
            for (found, is_key) in found.iter_mut().zip(&is_key) {
                *found &= is_key;
            }
            answer(&found, &is_key[..found.len()], hashes.len());
            py.check_signals()?;
        }
    }

    /// Inserts the keys of a column; returns how many were new.
    pub(crate) fn insert_column(
        &self,
        py: Python<'_>,
        column: &Column,
        threads: usize,
    ) -> PyResult<u64> {
        let Some(kind) = column.kind().filter(|_| column.rows() > 0) else { return Ok(0) };
        self.kind.claim(kind)?;
        let announced = self.lock.announce(py);
        py.detach(|| {
            let (mut new, mut signals) = (0, Signals::new());
            for start in (0..column.rows()).step_by(SLICE * threads) {
                let end = column.rows().min(start + SLICE * threads);
                new += self.insert_rows(column, start, end, threads, &announced)?;
                signals.look()?;
            }
            Ok(new)
        })
    }

    fn insert_rows(
        &self,
        column: &Column,
        start: usize,
        end: usize,
        threads: usize,
        announced: &Announced<'_>,
    ) -> Result<u64, Failure> {
        let mut hashes =
            vec![KeyHash::from_u64(0); if threads > 1 { end - start } else { AT_ONCE }];
        if threads > 1 {
            let size = hashes.len().div_ceil(threads).max(AT_ONCE);
            let parts = hashes.chunks_mut(size).enumerate();
            in_threads(parts.collect(), |(index, part)| {
                column.hash(&self.hasher, start + index * size, part)
            })?;
            keep_keys(column, start, &mut hashes);
            return self.lock.write(announced).insert_many(&hashes, threads);
        }
        let mut new = 0;
        for row in (start..end).step_by(AT_ONCE) {
            hashes.resize(AT_ONCE.min(end - row), KeyHash::from_u64(0));
            column.hash(&self.hasher, row, &mut hashes)?;
            keep_keys(column, row, &mut hashes);
            new += self.lock.write(announced).insert_many(&hashes, 1)?;
        }
        Ok(new)
    }

    /// Looks up the keys of a column; a bit for each row, unset where there is no key. The answers are also written to `out`.
    pub(crate) fn contains_column(
        &self,
        py: Python<'_>,
        column: &Column,
        threads: usize,
        out: Option<Booleans>,
    ) -> PyResult<Vec<u64>> {
        let rows = column.rows();
        let mut found = vec![0; rows.div_ceil(64)];
        let Some(kind) = column.kind().filter(|_| rows > 0) else { return Ok(found) };
        self.kind.check(kind)?;
        let part = rows.div_ceil(threads).next_multiple_of(AT_ONCE).min(SLICE);
        let parts = found.chunks_mut(part / 64).enumerate();
        share_out(py, parts, threads.min(rows.div_ceil(part)), |(index, words)| {
            self.look_up(column, index * part, words, out)
        })?;
        Ok(found)
    }

    fn look_up(
        &self,
        column: &Column,
        start: usize,
        words: &mut [u64],
        out: Option<Booleans>,
    ) -> Result<(), BadValue> {
        let mut hashes = [KeyHash::from_u64(0); AT_ONCE];
        let mut found = Vec::with_capacity(AT_ONCE / 64);
        for (index, words) in words.chunks_mut(AT_ONCE / 64).enumerate() {
            let first = start + index * AT_ONCE;
            let hashes = &mut hashes[..AT_ONCE.min(column.rows() - first)];
            column.hash(&self.hasher, first, hashes)?;
            self.lock.read().contains_many(hashes, &mut found);
            for (index, (word, found)) in words.iter_mut().zip(&found).enumerate() {
                let row = first + 64 * index;
                *word = if column.has_nulls() { found & column.keys_from(row) } else { *found };
                if let Some(out) = out {
                    out.put(row, *word);
                }
            }
        }
        Ok(())
    }
}

/// Leaves out the hashes of rows without a key.
fn keep_keys(column: &Column, first: usize, hashes: &mut Vec<KeyHash>) {
    if !column.has_nulls() {
        return;
    }
    let (mut row, mut is_key) = (first, 0);
    hashes.retain(|_| {
        if (row - first).is_multiple_of(64) {
            is_key = column.keys_from(row);
        }
        let keeps = is_key >> ((row - first) % 64) & 1 == 1;
        row += 1;
        keeps
    });
}

/// Looks for signals, so that Ctrl-C ends long work: ten times a second, because a thread that works detached may have to wait
/// for the interpreter.
struct Signals {
    last: Instant,
}

impl Signals {
    const EVERY: Duration = Duration::from_millis(100);

    fn new() -> Self {
        Self { last: Instant::now() }
    }

    fn look(&mut self) -> PyResult<()> {
        if self.last.elapsed() < Self::EVERY {
            return Ok(());
        }
        let result = Python::attach(|py| py.check_signals());
        self.last = Instant::now();
        result
    }
}

/// Runs tasks in threads until none is left, or one fails, or a signal comes. This thread takes tasks as the others do, and looks
/// for signals between its own. It waits for the others only at the end: on a busy machine they differ in speed.
fn share_out<T>(
    py: Python<'_>,
    tasks: impl Iterator<Item = T> + Send,
    threads: usize,
    run: impl Fn(T) -> Result<(), BadValue> + Sync,
) -> PyResult<()> {
    let tasks = Mutex::new(Some(tasks));
    let left = || tasks.lock().unwrap_or_else(PoisonError::into_inner);
    let next = || left().as_mut().and_then(Iterator::next);
    let work = |after_each: &mut dyn FnMut() -> PyResult<()>| {
        let mut result = Ok(());
        while let Some(task) = next() {
            result =
                run(task).map_err(|error| Failure::from(error).into()).and_then(|()| after_each());
            if result.is_err() {
                // Nothing is left for anyone.
                *left() = None;
            }
        }
        result
    };
    py.detach(|| {
        let mut signals = Signals::new();
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                (1..threads).map(|_| scope.spawn(|| work(&mut || Ok(())))).collect();
            let first = work(&mut || signals.look());
            workers.into_iter().fold(first, |result, worker| result.and(joined(worker)))
        })
    })
}

/// The result of a thread that ends.
fn joined<T>(worker: std::thread::ScopedJoinHandle<'_, T>) -> T {
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Runs each task in a thread of its own, the first one in this.
fn in_threads<T: Send>(
    tasks: Vec<T>,
    run: impl Fn(T) -> Result<(), BadValue> + Sync,
) -> Result<(), BadValue> {
    let mut tasks = tasks.into_iter();
    let Some(first) = tasks.next() else { return Ok(()) };
    if tasks.len() == 0 {
        return run(first);
    }
    let run = &run;
    std::thread::scope(|scope| {
        let workers: Vec<_> = tasks.map(|task| scope.spawn(move || run(task))).collect();
        let first = run(first);
        workers.into_iter().map(joined).fold(first, Result::and)
    })
}
