//! The class `IndexDraft`: an index of files that other programs read.

use std::sync::{Mutex, MutexGuard, PoisonError};

use equibloom_index::{Contents, Draft, KeySet, Range, Settings, State, sizing};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::keys::for_each_column;
use super::{Index, building, failed};
use crate::calls::{FilePath, Input};
use crate::columns::Column;
use crate::error::KeyValueError;
use crate::keys::with_value;

/// An index of files that another program reads: of a table in an object store, say.
///
/// >>> import numpy
/// >>> from equibloom import Index, IndexDraft
/// >>> draft = IndexDraft("id")
/// >>> draft.add("monday", 10_000, [numpy.arange(0, 2_000, 2)], [0.001])
/// >>> draft.add("tuesday", 20_000, [numpy.arange(1, 2_000, 2)], [0.001])
/// >>> index = Index.from_bytes(draft.to_bytes())
/// >>> index.find("id", 7, check=False), index.files
/// (['tuesday'], {'monday': 10000, 'tuesday': 20000})
///
/// What the index says holds for files of these names and sizes, as long as they do not change: the caller reads all others.
///
/// Parameters
/// ----------
/// columns : str or list of str
///     The names of the columns.
/// false_files : float
///     How many files a query for a missing key may open in vain, on average: `rate` computes with it.
/// seed : int
///     The seed of the hash.
/// roots : list of str
///     Where the files come from, for programs that look for new ones.
#[pyclass(frozen, module = "equibloom")]
pub(crate) struct IndexDraft(Mutex<Draft>);

impl IndexDraft {
    fn lock(&self) -> MutexGuard<'_, Draft> {
        // A draft is whole after every call.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl IndexDraft {
    #[new]
    #[pyo3(signature = (columns, *, false_files = 0.1, seed = 0, roots = Vec::new()))]
    fn new(
        columns: &Bound<'_, PyAny>,
        false_files: f64,
        seed: u64,
        roots: Vec<String>,
    ) -> PyResult<Self> {
        let settings = Settings::new(building::texts(columns)?);
        let settings = settings.false_files(false_files).seed(seed).roots(roots);
        settings.check().map_err(failed)?;
        Ok(Self(Mutex::new(Draft::new(settings))))
    }

    /// The rate of a column's filters, so that a query for a missing key opens `false_files` files in vain: for the files of the
    /// draft, and others of which the smallest and the largest key are given, or None.
    fn rate(
        &self,
        column: &str,
        ranges: Vec<Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)>>,
    ) -> PyResult<f64> {
        let mut all = Vec::new();
        for bounds in ranges {
            all.push(match bounds {
                Some((least, most)) => {
                    let mut range = with_value(&least, Range::of)?;
                    let is_of_one_kind = with_value(&most, |key| range.extend(key))?;
                    is_of_one_kind.then_some(range)
                }
                None => None,
            });
        }
        let draft = self.lock();
        let number = draft.settings().columns.iter().position(|name| name == column);
        for unit in draft.entries().flat_map(|file| &file.units) {
            match &unit.contents {
                Contents::Keys { range, .. } if Some(unit.column as usize) == number => {
                    all.push(Some(range.clone()));
                }
                _ => {}
            }
        }
        let false_files = draft.settings().false_files;
        Ok(sizing::rate(all.iter().map(Option::as_ref), false_files))
    }

    /// Adds a file with its name, its size, and for each column the keys, an array of NumPy or Arrow, and the rate of its filter. Nulls
    /// are no keys.
    fn add(
        &self,
        py: Python<'_>,
        name: &str,
        size: u64,
        keys: Vec<Bound<'_, PyAny>>,
        rates: Vec<f64>,
    ) -> PyResult<()> {
        if keys.len() != rates.len() {
            return Err(PyValueError::new_err(format!(
                "{} columns and {} rates: give as many",
                keys.len(),
                rates.len()
            )));
        }
        if let Some(rate) = rates.iter().find(|&&rate| !(rate > 0.0 && rate <= 1.0)) {
            return Err(PyValueError::new_err(format!(
                "a rate is {rate}: give a number above 0 and up to 1, such as 0.001"
            )));
        }
        let seed = self.lock().settings().seed;
        let mut built = Vec::new();
        for (column, rate) in keys.iter().zip(rates) {
            let mut set = KeySet::new(seed);
            for_each_column(py, Input::of(column)?, &mut |part: &Column| {
                py.detach(|| {
                    part.for_each_key(|key| key.into_iter().for_each(|key| set.insert(key)))
                })
                .map_err(|error| KeyValueError::new_err(error.0))
            })?;
            built.push(py.detach(|| set.finish(rate)).map_err(failed)?);
        }
        self.lock().add(name, state(size), built).map_err(failed)
    }

    /// Adds a file that is read for every key, for this reason.
    fn add_unknown(&self, name: &str, size: u64, reason: &str) -> PyResult<()> {
        self.lock().add_unknown(name, state(size), reason).map_err(failed)
    }

    /// Takes a file from another index with the same columns and seed; returns whether it is there with this size, and whole.
    fn keep(&self, index: &Index, name: &str, size: u64) -> PyResult<bool> {
        let index = &index.now().index;
        match index.file(name) {
            Some(number) if index.files()[number].state == state(size) => {
                self.lock().keep(index, number).map_err(failed)
            }
            _ => Ok(false),
        }
    }

    /// The bytes of the index.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.lock().to_bytes()).map_err(failed)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the index, and replaces an older one as a whole or not at all.
    fn save(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        let FilePath(path) = path;
        py.detach(|| self.lock().save(path)).map_err(failed)
    }

    /// Number of files.
    fn __len__(&self) -> usize {
        self.lock().len()
    }
}

/// A file that never changes has no time.
fn state(size: u64) -> State {
    State { size, ..State::default() }
}
