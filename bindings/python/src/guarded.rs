//! A filter that any thread of Python may use: behind a lock, for a part of a column at a time.
//!
//! A `SharedFilter` would need no lock, but keys cannot be removed from one, and one thread fills a plain filter twice as fast. The
//! lock is shared by lookups, and held by an insert for a few thousand keys at most; hashing and reading of columns
//! happen outside. No thread ever waits for it while it is attached to the interpreter.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use equibloom::{BuildError, FullError, KeyHash, KeyKind, RemoveError, Stable};
use pyo3::prelude::*;

use crate::columns::{BadValue, Booleans, Column};
use crate::error::{self, FilterMergeError, KeyValueError};
use crate::keys;
use crate::kind::Kind;

/// Keys that are hashed, and then inserted or looked up, at once.
const AT_ONCE: usize = 2_048;
/// Rows per thread between two looks for signals: some milliseconds.
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
    lock: RwLock<F>,
    pub(crate) kind: Kind,
    pub(crate) hasher: Stable,
}

impl<F: Engine> Guarded<F> {
    pub(crate) fn new(filter: F, kind: Kind, seed: u64) -> Self {
        Self { lock: RwLock::new(filter), kind, hasher: Stable::with_seed(seed) }
    }

    // A filter is whole after every call of the library, so that a poisoned lock means nothing.
    fn shared(&self) -> RwLockReadGuard<'_, F> {
        self.lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn own(&self) -> RwLockWriteGuard<'_, F> {
        self.lock.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the filter, detached if it has to wait.
    #[inline]
    pub(crate) fn read<T: Send>(&self, py: Python<'_>, read: impl Fn(&F) -> T + Send + Sync) -> T {
        match self.lock.try_read() {
            Ok(filter) => read(&filter),
            Err(TryLockError::Poisoned(filter)) => read(&filter.into_inner()),
            Err(TryLockError::WouldBlock) => py.detach(|| read(&self.shared())),
        }
    }

    /// Changes the filter, detached if it has to wait.
    #[inline]
    pub(crate) fn write<T: Send>(
        &self,
        py: Python<'_>,
        mut write: impl FnMut(&mut F) -> T + Send,
    ) -> T {
        match self.lock.try_write() {
            Ok(mut filter) => write(&mut filter),
            Err(TryLockError::Poisoned(filter)) => write(&mut filter.into_inner()),
            Err(TryLockError::WouldBlock) => py.detach(|| write(&mut self.own())),
        }
    }

    /// Reads all of the filter, detached.
    pub(crate) fn scan<T: Send>(&self, py: Python<'_>, scan: impl FnOnce(&F) -> T + Send) -> T {
        py.detach(|| scan(&self.shared()))
    }

    /// Changes all of the filter, detached.
    pub(crate) fn change<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut F) -> T + Send,
    ) -> T {
        py.detach(|| change(&mut self.own()))
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
                let ours = self.shared();
                compare(&ours, &other.shared())
            } else {
                let theirs = other.shared();
                compare(&self.shared(), &theirs)
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
        py.detach(|| {
            if (&raw const *self) < (&raw const *other) {
                let mut ours = self.own();
                combine(&mut ours, &other.shared())
            } else {
                let theirs = other.shared();
                combine(&mut self.own(), &theirs)
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

    #[inline(always)]
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
        let mut new = 0;
        for start in (0..column.rows()).step_by(SLICE * threads) {
            let end = column.rows().min(start + SLICE * threads);
            new += py.detach(|| self.insert_rows(column, start, end, threads))?;
            py.check_signals()?;
        }
        Ok(new)
    }

    fn insert_rows(
        &self,
        column: &Column,
        start: usize,
        end: usize,
        threads: usize,
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
            return self.own().insert_many(&hashes, threads);
        }
        let mut new = 0;
        for row in (start..end).step_by(AT_ONCE) {
            hashes.resize(AT_ONCE.min(end - row), KeyHash::from_u64(0));
            column.hash(&self.hasher, row, &mut hashes)?;
            keep_keys(column, row, &mut hashes);
            new += self.own().insert_many(&hashes, 1)?;
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
        let slices = found.chunks_mut(SLICE * threads / 64);
        for (index, words) in slices.enumerate() {
            let start = index * SLICE * threads;
            py.detach(|| {
                let size = words.len().div_ceil(threads).next_multiple_of(AT_ONCE / 64);
                let parts = words.chunks_mut(size).enumerate();
                in_threads(parts.collect(), |(index, words)| {
                    self.look_up(column, start + index * size * 64, words, out)
                })
            })
            .map_err(Failure::Value)?;
            py.check_signals()?;
        }
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
            self.shared().contains_many(hashes, &mut found);
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
        let others = workers.into_iter().map(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        others.fold(first, Result::and)
    })
}
