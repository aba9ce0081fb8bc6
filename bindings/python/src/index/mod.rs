//! The class `Index`: which files of a lake may hold a key.

mod building;
mod draft;
mod keys;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use equibloom_index::lake::{self, Freshness, Report};
use equibloom_index::{Contents, IndexError, Place, Settings};
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::calls::FilePath;
use crate::columns::numpy;
use crate::error;
use crate::requirements::threads;
use keys::Keys;

pub(crate) use draft::IndexDraft;

create_exception!(
    equibloom,
    IndexFileError,
    PyValueError,
    "Bytes or a file that are not an index, or damaged, or of another format version: read all files."
);

/// Keys that are looked up between two looks for signals.
const SLICE: usize = 1 << 13;

/// An error of the operating system is an `OSError`, a damaged index an `IndexFileError`.
fn failed(error: IndexError) -> PyErr {
    match error {
        IndexError::Io { path, action, source } => match source.raw_os_error() {
            Some(number) => {
                let message = format!("could not {action} it: {source}");
                PyOSError::new_err((number, message, path.into_os_string()))
            }
            None => PyOSError::new_err(format!("{}: {source}", path.display())),
        },
        IndexError::NotAnIndex { .. } | IndexError::Version { .. } | IndexError::Damaged { .. } => {
            IndexFileError::new_err(error.to_string())
        }
        IndexError::Locked { .. } => PyOSError::new_err(error.to_string()),
        IndexError::Plan(error) => error::plan(error),
        IndexError::Build(error) => error::build(error),
        IndexError::Full(error) => error::full(error),
        IndexError::File(error) => error::file(error),
        IndexError::Stopped => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// An index of the files of a lake: which of them may hold a key?
///
/// It has a filter for each file and column, all in one file that is mapped. A key is hashed once, and thousands of filters are
/// asked for it in some microseconds.
///
/// >>> import pathlib, tempfile, pyarrow, pyarrow.parquet
/// >>> from equibloom import Index
/// >>> directory = pathlib.Path(tempfile.mkdtemp())
/// >>> (directory / "lake").mkdir()
/// >>> for number in range(3):
/// ...     table = pyarrow.table({"id": range(1_000 * number, 1_000 * number + 1_100)})
/// ...     pyarrow.parquet.write_table(table, directory / "lake" / f"{number}.parquet")
/// >>> index = Index.build(directory / "lake", "id", directory / "lake.eqx")
/// >>> [pathlib.Path(file).name for file in index.find("id", 1_050)]
/// ['0.parquet', '1.parquet']
/// >>> index
/// <equibloom.Index of 3 files, id: 3,300 keys>
///
/// No row is lost: files that are new or have changed, columns that the index does not have, keys of another kind than a
/// file's, and files whose filter is damaged are among the answers. The keys must be of the column's type: a date is no
/// timestamp, and the text of a UUID not the UUID. `equibloom.lake` sees to that, and hands the files to engines.
///
/// As long as an index is open, no program may write into its file; `update` and `build` replace it.
#[pyclass(frozen, module = "equibloom")]
pub(crate) struct Index {
    path: Option<PathBuf>,
    opened: RwLock<Arc<Opened>>,
}

struct Opened {
    index: equibloom_index::Index,
    report: Option<Report>,
}

impl Index {
    fn new(index: equibloom_index::Index, path: Option<PathBuf>, report: Option<Report>) -> Self {
        Self { path, opened: RwLock::new(Arc::new(Opened { index, report })) }
    }

    fn now(&self) -> Arc<Opened> {
        // Nothing that holds the lock can panic.
        self.opened.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Opens the file of an index.
fn opened(py: Python<'_>, path: &PathBuf, verify: bool) -> PyResult<equibloom_index::Index> {
    let open = || {
        // SAFETY: the caller promises, by the documentation of the class, that the file is replaced and never written to. A program
        // that breaks the promise gets wrong answers or a signal, as with any mapped file.
        unsafe {
            if verify {
                equibloom_index::Index::open(path)
            } else {
                equibloom_index::Index::open_unverified(path)
            }
        }
    };
    py.detach(open).map_err(failed)
}

/// What is known of the files of a lake now, or of those that the index was built from.
fn freshness(
    py: Python<'_>,
    index: &equibloom_index::Index,
    check: bool,
    lake: Option<&Bound<'_, PyAny>>,
) -> PyResult<Freshness> {
    if let Some(lake) = lake {
        let roots = building::paths(lake)?;
        let check = || lake::list(&roots).map(|files| lake::check_files(index, files));
        return py.detach(check).map_err(failed);
    }
    if !check {
        return Ok(Freshness::unchecked(index));
    }
    py.detach(|| lake::check(index)).map_err(failed)
}

/// Files, or files and row groups, as Python's objects.
struct Names<'a, 'py> {
    py: Python<'py>,
    index: &'a equibloom_index::Index,
    texts: Vec<Option<Bound<'py, PyString>>>,
}

impl<'a, 'py> Names<'a, 'py> {
    fn new(py: Python<'py>, index: &'a equibloom_index::Index) -> Self {
        Self { py, index, texts: vec![None; index.files().len()] }
    }

    fn place(&mut self, place: Place) -> PyResult<Bound<'py, PyAny>> {
        let path = || PyString::new(self.py, &self.index.files()[place.file].path);
        let text = self.texts[place.file].get_or_insert_with(path).clone();
        self.entry(text, place.row_group)
    }

    fn unknown(&self, path: &str) -> PyResult<Bound<'py, PyAny>> {
        self.entry(PyString::new(self.py, path), None)
    }

    fn entry(
        &self,
        text: Bound<'py, PyString>,
        row_group: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.index.settings().row_groups {
            return Ok((text, row_group).into_pyobject(self.py)?.into_any());
        }
        Ok(text.into_any())
    }
}

/// Whether an object is a column of keys, and not one key.
fn is_column(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if numpy::is_array(object)? {
        return Ok(object.getattr("ndim")?.extract::<usize>()? > 0);
    }
    use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyTuple};
    let is_key = object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
        || object.is_instance_of::<PyMemoryView>()
        || object.is_instance_of::<PyTuple>();
    Ok(!is_key && (object.hasattr("__iter__")? || crate::columns::arrow::is_arrow(object)?))
}

#[pymethods]
impl Index {
    /// Builds an index of Parquet files: a filter for each file and column.
    ///
    /// >>> from equibloom import Index
    /// >>> Index.build("no/such/directory", "id", "lake.eqx")
    /// Traceback (most recent call last):
    ///     ...
    /// ValueError: ...
    ///
    /// A build that was interrupted, by Ctrl-C or a kill, goes on if it is called again with the same arguments.
    ///
    /// Parameters
    /// ----------
    /// lake : path or list of paths
    ///     Parquet files, directories of them, or patterns such as "lake/2026-*".
    /// columns : str or list of str
    ///     The columns with keys: text, bytes, integers, dates, timestamps or booleans.
    /// path : path
    ///     The index file to write.
    /// false_files : float
    ///     How many files a query for a missing key may open in vain, on average. The bits per key follow.
    /// row_groups : bool
    ///     Make a filter for each row group instead of each file.
    /// seed : int
    ///     The seed of the hash.
    /// threads : int
    ///     How many threads read files; by default one for each processor.
    /// progress : callable
    ///     Called a few times per second with the numbers of files that have been read and that will be.
    #[staticmethod]
    #[pyo3(signature = (
        lake, columns, path, false_files = 0.1, row_groups = false, *, seed = 0, threads = None,
        progress = None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn build(
        py: Python<'_>,
        lake: &Bound<'_, PyAny>,
        columns: &Bound<'_, PyAny>,
        path: FilePath,
        false_files: f64,
        row_groups: bool,
        seed: u64,
        threads: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let FilePath(path) = path;
        let threads = threads.map_or_else(processors, self::threads)?;
        let settings = Settings::new(building::texts(columns)?)
            .roots(building::paths(lake)?)
            .false_files(false_files)
            .row_groups(row_groups)
            .seed(seed);
        let report =
            building::run(py, threads, progress, |options| lake::build(&path, settings, options))?;
        let index = opened(py, &path, true)?;
        Ok(Self::new(index, Some(path), Some(report)))
    }

    /// The Parquet files of a lake, by their absolute paths: given files, and those below given directories.
    ///
    /// Names in directories that begin with a dot or (without "=" in them) with an underscore are skipped.
    #[staticmethod]
    fn list(py: Python<'_>, lake: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let roots = building::paths(lake)?;
        py.detach(|| lake::list(&roots)).map_err(failed)
    }

    /// Opens an index; it is mapped, not loaded.
    ///
    /// It is verified: where a filter is damaged, its file is an answer to every key. With verify=False only its table is, for a file
    /// that was verified before.
    #[staticmethod]
    #[pyo3(signature = (path, *, verify = true))]
    fn open(py: Python<'_>, path: FilePath, verify: bool) -> PyResult<Self> {
        let FilePath(path) = path;
        Ok(Self::new(opened(py, &path, verify)?, Some(path), None))
    }

    /// An index over bytes, which are copied: of a file in an object store, say.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes = numpy::bytes_of(data)?;
        let bytes: Vec<u8> = bytes.as_ref().to_vec();
        let index = py.detach(|| equibloom_index::Index::from_bytes(bytes)).map_err(failed)?;
        Ok(Self::new(index, None, None))
    }

    /// The files that may hold a key; for a column of keys, a list of them for each row. If row groups are indexed, pairs of a file and
    /// a row group; of files that are not known, the row group is None.
    ///
    /// The files are compared with those that are there now, by size and time: new and changed files are among the answers, and those
    /// that are gone are not. With check=False they are not compared, for lakes whose files never change. With a lake (files,
    /// directories or patterns) the answers are among its files.
    #[pyo3(signature = (column, keys, *, check = true, lake = None))]
    fn find<'py>(
        &self,
        py: Python<'py>,
        column: &str,
        keys: &Bound<'py, PyAny>,
        check: bool,
        lake: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let Opened { index, .. } = &*self.now();
        let is_column = is_column(keys)?;
        let keys = if is_column { Keys::of_column(keys)? } else { Keys::of_key(keys)? };
        let fresh = freshness(py, index, check, lake)?;
        let mut found: Vec<Vec<Place>> = vec![Vec::new(); keys.rows()];
        keys.look_up(py, index, column, |place, row| {
            if fresh.known[place.file] {
                found[row].push(place);
            }
        })?;
        let mut names = Names::new(py, index);
        let unknown = fresh.unknown.iter().map(|path| names.unknown(path));
        let unknown = unknown.collect::<PyResult<Vec<_>>>()?;
        let answers = PyList::empty(py);
        for (row, places) in found.into_iter().enumerate() {
            let answer = PyList::empty(py);
            for place in places {
                answer.append(names.place(place)?)?;
            }
            if keys.is_key(row) {
                unknown.iter().try_for_each(|file| answer.append(file))?;
            }
            if !is_column {
                return Ok(answer);
            }
            answers.append(answer)?;
        }
        Ok(answers)
    }

    /// The files that may hold any of the keys of a column, each once: what `find` returns for its rows, united.
    #[pyo3(signature = (column, keys, *, check = true, lake = None))]
    fn find_any<'py>(
        &self,
        py: Python<'py>,
        column: &str,
        keys: &Bound<'py, PyAny>,
        check: bool,
        lake: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let Opened { index, .. } = &*self.now();
        let keys = if is_column(keys)? { Keys::of_column(keys)? } else { Keys::of_key(keys)? };
        let fresh = freshness(py, index, check, lake)?;
        let mut places = Vec::new();
        let mut sorted = 0;
        keys.look_up(py, index, column, |place, _| {
            if fresh.known[place.file] && places.last() != Some(&place) {
                places.push(place);
            }
            // Each slice of keys leads to the same places again.
            if places.len() > 2 * sorted + SLICE {
                places.sort_unstable();
                places.dedup();
                sorted = places.len();
            }
        })?;
        places.sort_unstable();
        places.dedup();
        let mut names = Names::new(py, index);
        let answer = PyList::empty(py);
        for place in places {
            answer.append(names.place(place)?)?;
        }
        if keys.has_keys() {
            for path in &fresh.unknown {
                answer.append(names.unknown(path)?)?;
            }
        }
        Ok(answer)
    }

    /// Reads files that are new or have changed, and drops those that are gone; returns what was done. The index file is replaced when
    /// the new one is complete.
    #[pyo3(signature = (*, threads = None, progress = None))]
    fn update<'py>(
        &self,
        py: Python<'py>,
        threads: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Some(path) = &self.path else {
            return Err(PyValueError::new_err(
                "an index of bytes has no file: open one to update it",
            ));
        };
        let threads = threads.map_or_else(processors, self::threads)?;
        let report = building::run(py, threads, progress, |options| lake::update(path, options))?;
        let index = opened(py, path, true)?;
        let now = Arc::new(Opened { index, report: Some(report) });
        *self.opened.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&now);
        building::report(py, now.report.as_ref())
    }

    /// Reads the index file again and verifies every byte. Returns the files whose filters are damaged, with the reason; an empty
    /// list if the index is whole.
    fn verify<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, String)>> {
        match &self.path {
            Some(path) => Ok(damaged(&opened(py, path, true)?)),
            None => Ok(damaged(&self.now().index)),
        }
    }

    /// What the index holds: files, bytes, and for each column the keys, filters, bits per key, and files that are read for every key.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Opened { index, .. } = &*self.now();
        let settings = index.settings();
        let info = PyDict::new(py);
        info.set_item("bytes", index.bytes())?;
        info.set_item("files", index.files().len())?;
        info.set_item("roots", &settings.roots)?;
        info.set_item("row_groups", settings.row_groups)?;
        info.set_item("asked_false_files", settings.false_files)?;
        info.set_item("seed", settings.seed)?;
        let columns = PyDict::new(py);
        for name in &settings.columns {
            let summary = index.summary(name);
            let bits = summary.filter_bytes as f64 * 8.0 / summary.filtered_keys as f64;
            let column = PyDict::new(py);
            column.set_item("kind", index.key_kind(name).to_string())?;
            column.set_item("keys", summary.keys)?;
            column.set_item("filters", summary.filters)?;
            column.set_item("bits_per_key", (summary.filtered_keys > 0).then_some(bits))?;
            column.set_item("by_range_alone", summary.ranges)?;
            column.set_item("empty", summary.empty)?;
            column.set_item("unknown", summary.unknown)?;
            column.set_item("false_files", summary.false_files)?;
            columns.set_item(name, column)?;
        }
        info.set_item("columns", columns)?;
        Ok(info)
    }

    /// Why files are read for every key of a column: a list of files and reasons.
    fn unknown(&self, column: &str) -> Vec<(String, String)> {
        let Opened { index, .. } = &*self.now();
        let number = index.settings().columns.iter().position(|name| name == column);
        let mut unknown = Vec::new();
        for file in index.files() {
            for unit in file.units.iter().filter(|unit| Some(unit.column as usize) == number) {
                if let Contents::Unknown { reason } = &unit.contents {
                    unknown.push((file.path.clone(), reason.clone()));
                }
            }
        }
        unknown
    }

    /// What the last build or update did; None if the index was only opened.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let now = self.now();
        now.report.as_ref().map(|report| building::report(py, Some(report))).transpose()
    }

    /// The files, sorted by path, and their sizes when they were indexed.
    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = PyDict::new(py);
        for file in self.now().index.files() {
            files.set_item(&file.path, file.state.size)?;
        }
        Ok(files)
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.now().index.settings().columns.clone()
    }

    /// Where the files come from.
    #[getter]
    fn roots(&self) -> Vec<String> {
        self.now().index.settings().roots.clone()
    }

    /// Whether row groups are indexed.
    #[getter]
    fn row_groups(&self) -> bool {
        self.now().index.settings().row_groups
    }

    /// The index file; None for an index of bytes.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let path = self.path.as_ref().map(|path| path.as_os_str().into_pyobject(py));
        Ok(path.transpose()?.map(Bound::into_any))
    }

    /// Number of files.
    fn __len__(&self) -> usize {
        self.now().index.files().len()
    }

    fn __repr__(&self) -> String {
        let Opened { index, .. } = &*self.now();
        let columns = index.settings().columns.iter().map(|name| {
            let summary = index.summary(name);
            let bits = summary.filter_bytes as f64 * 8.0 / summary.filtered_keys as f64;
            let keys = format!("{name}: {} keys", grouped(summary.keys));
            if summary.filtered_keys > 0 { format!("{keys} in {bits:.1} bits") } else { keys }
        });
        let columns: Vec<String> = columns.collect();
        let files = grouped(index.files().len() as u64);
        format!("<equibloom.Index of {files} files, {}>", columns.join(", "))
    }
}

fn damaged(index: &equibloom_index::Index) -> Vec<(String, String)> {
    let damaged = index.damaged().iter();
    damaged.map(|(file, reason)| (index.files()[*file].path.clone(), reason.clone())).collect()
}

fn processors() -> PyResult<usize> {
    Ok(std::thread::available_parallelism().map_or(1, usize::from))
}

/// A number with commas: 1,000,000.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
