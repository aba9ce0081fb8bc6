//! The class `Filter`.

use std::sync::OnceLock;

use equibloom::file::FileError;
use equibloom::{HashFilter, KeyHash, Parameters, RemoveError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::calls::{self, FilePath, Input};
use crate::columns::{Column, numpy};
use crate::error;
use crate::guarded::{Engine, Failure, Guarded};
use crate::kind::Kind;
use crate::lookup::Class;
use crate::requirements::{Arguments, Requirements, threads};

/// Keys that are inserted between two looks for signals.
const SLICE: usize = 1 << 17;

/// A filter of a planned size.
pub(crate) struct Planned {
    filter: HashFilter,
    /// Whether its words are in a file or in memory of another object. They are copied before the first change.
    is_mapped: bool,
}

impl Planned {
    fn new(parameters: &Parameters) -> PyResult<Self> {
        let filter = HashFilter::new(parameters).map_err(error::build)?;
        Ok(Self { filter, is_mapped: false })
    }

    fn changed(&mut self) -> Result<&mut HashFilter, Failure> {
        if self.is_mapped {
            self.filter.detach().map_err(Failure::Build)?;
            self.is_mapped = false;
        }
        Ok(&mut self.filter)
    }
}

impl Engine for Planned {
    #[inline]
    fn insert(&mut self, hash: KeyHash) -> Result<bool, Failure> {
        Ok(self.changed()?.insert(hash).map_err(Failure::Full)?.is_new())
    }

    fn insert_many(&mut self, hashes: &[KeyHash], threads: usize) -> Result<u64, Failure> {
        self.changed()?.insert_parallel(hashes, threads).map_err(Failure::Full)
    }

    #[inline]
    fn contains(&self, hash: KeyHash) -> bool {
        self.filter.contains(hash)
    }

    fn contains_many(&self, hashes: &[KeyHash], found: &mut Vec<u64>) {
        self.filter.contains_batch_bitmap(hashes, found);
    }

    fn remove(&mut self, hash: KeyHash) -> Result<(), RemoveError> {
        // Without memory for a copy the library aborts; what is removed from a mapped file is small.
        self.filter.remove(hash)
    }
}

/// An approximate set of keys of a planned size: no false negatives, few false positives.
///
/// Say two of how many keys there will be, the false-positive rate, and the memory; the planner chooses the rest.
///
/// >>> from equibloom import Filter
/// >>> seen = Filter(keys=100_000, rate=0.001)
/// >>> seen.add("alice@example.com")
/// True
/// >>> "alice@example.com" in seen, "bob@example.com" in seen
/// (True, False)
///
/// A filter holds one kind of keys (integers, or text and bytes, or tuples), which the first key decides. Integers of all widths,
/// booleans, dates and timestamps are integers; the same key has the same bytes in every language.
///
/// Any number of threads may use a filter. Columns are looked up and inserted without the interpreter's lock.
///
/// Parameters
/// ----------
/// keys : int
///     How many different keys there will be.
/// rate : float
///     The largest share of absent keys that may be found all the same.
/// memory : int
///     The most bytes that the filter may take, everything counted.
/// bits_per_key : float
///     The same per key, in bits.
/// removable : bool
///     Whether keys can be removed. Every insert is stored then, also of a key that is there.
/// seed : int
///     The seed of the hash. Only filters of one seed can be united. For untrusted keys give a random one.
/// kind : str
///     The kind of the keys, if not the first key is to decide: "bytes", "integer", "wide-integer" (128 bits) or "composite".
/// headroom : float
///     Plan for so large a share of keys more: 0.2 for a fifth.
/// accesses_miss : float
///     The most blocks that looking up an absent key may read on average; 1.2 by default.
/// mergeable : bool
///     Whether filters of parts of the keys are to be united into one as good as a filter of all of them.
/// one_by_one : bool
///     Prefer a filter with faster lookups of single keys, where keys and memory are given.
/// smallest : bool
///     Take no more memory than the rate needs. Otherwise a filter may be up to a tenth larger where lookups are much faster
///     then: at 1 %, three times as fast for a twentieth more. Rust and the command line plan the smallest.
#[pyclass(frozen, module = "equibloom")]
pub(crate) struct Filter {
    guarded: Guarded<Planned>,
    parameters: Parameters,
    /// Predicted when it is first asked for.
    rate: OnceLock<f64>,
}

impl Filter {
    fn empty(parameters: Parameters, kind: Kind) -> PyResult<Self> {
        Ok(Self::over(Planned::new(&parameters)?, kind))
    }

    fn over(planned: Planned, kind: Kind) -> Self {
        let parameters = *planned.filter.parameters();
        Self {
            guarded: Guarded::new(planned, kind, parameters.seed),
            parameters,
            rate: OnceLock::new(),
        }
    }

    /// A filter from a file or bytes.
    fn read(filter: Result<HashFilter, FileError>) -> PyResult<Self> {
        let filter = filter.map_err(error::file)?;
        let kind = Kind::stated(filter.key_kind(), !filter.is_empty());
        let is_mapped = filter.is_mapped();
        Ok(Self::over(Planned { filter, is_mapped }, kind))
    }

    /// Writes the kind of the keys into the filter, for its file.
    fn state_kind(&self, py: Python<'_>) {
        let kind = self.guarded.kind.get();
        if self.guarded.read(py, |planned| planned.filter.key_kind() != kind) {
            self.guarded.write(py, |planned| planned.filter.set_key_kind(kind));
        }
    }

    fn planned_rate(&self, py: Python<'_>) -> PyResult<f64> {
        if let Some(&rate) = self.rate.get() {
            return Ok(rate);
        }
        let parameters = self.guarded.read(py, |planned| *planned.filter.parameters());
        let predicted = py.detach(|| parameters.predict(parameters.keys));
        let rate = predicted
            .map_err(|failure| error::RequirementsError::new_err(failure.to_string()))?
            .rate;
        Ok(*self.rate.get_or_init(|| rate))
    }

    /// Adds the keys of another filter.
    fn unite(&self, other: &Self, py: Python<'_>) -> PyResult<()> {
        if std::ptr::eq(self, other) {
            return Ok(());
        }
        self.guarded.claim_for_union(&other.guarded, py)?;
        let kind = self.guarded.kind.get();
        self.state_kind(py);
        let merged = self.guarded.combine(&other.guarded, py, |ours, theirs| {
            let Planned { filter, .. } = ours;
            if theirs.filter.key_kind() == kind {
                return filter.merge(&theirs.filter);
            }
            // Its kind is stated only when it is saved.
            let mut copy = theirs.filter.clone();
            copy.set_key_kind(kind);
            filter.merge(&copy)
        });
        merged.map_err(error::merge)
    }
}

/// The mean rate of a filter while it was filled up to a share of its keys, as a multiple of its planned rate.
///
/// Of fingerprints the rate rises with their number. In Bloom blocks half of the bits are set at the end, and all `hashes`
/// bits of a key must be.
fn mean_of_past_rates(hashes: u32, share: f64) -> f64 {
    if hashes == 0 {
        return share / 2.0;
    }
    let rate = |share: f64| (2.0 * (1.0 - (-share).exp2())).powi(hashes as i32);
    // Simpson's rule.
    (4.0 * rate(share / 2.0) + rate(share)) / 6.0
}

impl Class for Filter {
    type Engine = Planned;

    #[inline]
    fn guarded(&self) -> &Guarded<Planned> {
        &self.guarded
    }
}

#[pymethods]
impl Filter {
    #[new]
    #[pyo3(signature = (
        keys = None, rate = None, *, memory = None, bits_per_key = None, removable = false, seed = 0, kind = None,
        headroom = None, accesses_miss = None, mergeable = false, one_by_one = false, smallest = false,
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn new<'py>(
        py: Python<'py>,
        keys: Option<&Bound<'py, PyAny>>,
        rate: Option<&Bound<'py, PyAny>>,
        memory: Option<&Bound<'py, PyAny>>,
        bits_per_key: Option<&Bound<'py, PyAny>>,
        removable: bool,
        seed: u64,
        kind: Option<&str>,
        headroom: Option<&Bound<'py, PyAny>>,
        accesses_miss: Option<&Bound<'py, PyAny>>,
        mergeable: bool,
        one_by_one: bool,
        smallest: bool,
    ) -> PyResult<Self> {
        let requirements = Requirements::new(&Arguments {
            keys,
            rate,
            memory,
            bits_per_key,
            accesses_miss,
            headroom,
            removable,
            mergeable,
            one_by_one,
            smallest,
        })?;
        Self::empty(requirements.parameters(py, seed)?, Kind::named(kind)?)
    }

    /// A filter of these keys: a column, or any iterable.
    ///
    /// >>> from equibloom import Filter
    /// >>> Filter.from_keys(["alice", "bob"], rate=0.001)
    /// <equibloom.Filter for 2 keys, with 2 of them (text or bytes)>
    ///
    /// The filter has room for as many keys as there are rows; keys and headroom say otherwise.
    #[staticmethod]
    #[pyo3(signature = (
        keys, rate = None, *, memory = None, bits_per_key = None, removable = false, seed = 0, kind = None,
        headroom = None, accesses_miss = None, mergeable = false, one_by_one = false, smallest = false, capacity = None, threads = None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn from_keys<'py>(
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        rate: Option<&Bound<'py, PyAny>>,
        memory: Option<&Bound<'py, PyAny>>,
        bits_per_key: Option<&Bound<'py, PyAny>>,
        removable: bool,
        seed: u64,
        kind: Option<&str>,
        headroom: Option<&Bound<'py, PyAny>>,
        accesses_miss: Option<&Bound<'py, PyAny>>,
        mergeable: bool,
        one_by_one: bool,
        smallest: bool,
        capacity: Option<&Bound<'py, PyAny>>,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let requirements = Requirements::new(&Arguments {
            keys: capacity,
            rate,
            memory,
            bits_per_key,
            accesses_miss,
            headroom,
            removable,
            mergeable,
            one_by_one,
            smallest,
        })?
        .or_rate(0.01);
        let threads = threads.map_or(Ok(1), self::threads)?;
        let input = Input::of(keys)?;
        let build = |rows: u64| {
            let parameters = requirements.for_keys(rows.max(1)).parameters(py, seed)?;
            Self::empty(parameters, Kind::named(kind)?)
        };
        if let Ok(rows) = keys.len() {
            let filter = build(rows as u64)?;
            calls::insert(&filter.guarded, py, input, threads)?;
            return Ok(filter);
        }
        // How many there are is known at the end: what they become is kept until then.
        let waiting = build(1)?.guarded;
        match input {
            Input::Arrow { mut parts, .. } => {
                let mut columns: Vec<Column> = Vec::new();
                while let Some(column) = parts.next(py, &waiting.hasher)? {
                    columns.push(column);
                }
                let rows: usize = columns.iter().map(Column::rows).sum();
                let filter = build(rows as u64)?;
                for column in &columns {
                    filter.guarded.insert_column(py, column, threads)?;
                }
                Ok(filter)
            }
            Input::Objects(objects) => {
                let hashes = waiting.hash_objects(py, objects.try_iter()?)?;
                let filter = build(hashes.len() as u64)?;
                if !waiting.kind.is_undecided() {
                    filter.guarded.kind.claim(waiting.kind.get())?;
                }
                for hashes in hashes.chunks(SLICE * threads) {
                    filter.guarded.change(py, |planned| planned.insert_many(hashes, threads))?;
                    py.check_signals()?;
                }
                Ok(filter)
            }
            // Arrays and series have a length.
            _ => Err(PyTypeError::new_err("the column has no length: give an array or a list")),
        }
    }

    /// Inserts a key; returns whether it was new. (A few new keys seem to be there already.)
    fn add(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.guarded.insert(key)
    }

    /// The 128-bit hash of a key in this filter, by docs/keys.md: to compare with another program.
    ///
    /// >>> from equibloom import Filter
    /// >>> hex(Filter(keys=1_000, rate=0.01).hash_of("abc"))
    /// '0x6b05ab6733a618578af5f94892f3950'
    fn hash_of(&self, key: &Bound<'_, PyAny>) -> PyResult<u128> {
        self.guarded.hash_for_lookup(key).map(u128::from)
    }

    /// Inserts all keys of columns or iterables; returns how many were new. Nulls are skipped.
    ///
    /// >>> import numpy
    /// >>> from equibloom import Filter
    /// >>> Filter(keys=1_000, rate=0.001).update(numpy.arange(500), numpy.arange(600))
    /// 600
    #[pyo3(signature = (*columns, threads = None))]
    fn update(
        &self,
        py: Python<'_>,
        columns: &Bound<'_, PyTuple>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let threads = threads.map_or(Ok(1), self::threads)?;
        let mut new = 0;
        for column in columns.iter() {
            new += calls::insert(&self.guarded, py, Input::of(&column)?, threads)?;
        }
        Ok(new)
    }

    /// Looks up all keys of a column: a NumPy array, an Arrow array, a series of pandas or polars, or any iterable.
    ///
    /// The answers are of the same kind: booleans of pyarrow for an array of pyarrow, a series for a series, and a
    /// NumPy array for everything else. Nulls stay null, where there are such, and are false in NumPy arrays.
    ///
    /// >>> import numpy
    /// >>> from equibloom import Filter
    /// >>> seen = Filter.from_keys([1, 2, 3], rate=1e-6)
    /// >>> seen.contains(numpy.array([3, 4, 5]))
    /// array([ True, False, False])
    ///
    /// Parameters
    /// ----------
    /// out : numpy.ndarray
    ///     An array of bool that takes the answers, and is returned.
    /// threads : int
    ///     How many threads may work on a large column; 1 by default.
    #[pyo3(signature = (column, *, out = None, threads = None))]
    fn contains<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let threads = threads.map_or(Ok(1), self::threads)?;
        calls::contains(&self.guarded, py, Input::of(column)?, out, threads)
    }

    /// Removes one copy of a key from a removable filter. Remove only keys that were inserted.
    ///
    /// Raises KeyError if the key is certainly not there.
    fn remove(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        self.guarded.remove(key)?.map_err(|failure| error::remove(&failure, key))
    }

    /// Removes one copy of a key from a removable filter; returns whether it was there.
    fn discard(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        match self.guarded.remove(key)? {
            Ok(()) => Ok(true),
            Err(RemoveError::NotPresent) => Ok(false),
            Err(failure) => Err(error::remove(&failure, key)),
        }
    }

    /// Removes all keys. The kind of the keys stays.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        Ok(self.guarded.change(py, |planned| planned.changed().map(HashFilter::clear))?)
    }

    /// A copy, which has a life of its own.
    fn copy(&self, py: Python<'_>) -> Self {
        let kind = self.guarded.kind.copied();
        let planned = self.guarded.scan(py, |Planned { filter, is_mapped }| Planned {
            filter: filter.clone(),
            is_mapped: *is_mapped,
        });
        Self::over(planned, kind)
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, memo: &Bound<'_, PyAny>) -> Self {
        // Nothing in it is shared with other objects.
        let _ = memo;
        self.copy(py)
    }

    fn __or__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        let both = self.copy(py);
        both.unite(other.get(), py)?;
        Ok(Py::new(py, both)?.into_any())
    }

    fn __ior__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<()> {
        self.unite(other.get(), py)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> Py<PyAny> {
        let Ok(other) = other.cast::<Self>() else { return py.NotImplemented() };
        let other = other.get();
        let is_equal = std::ptr::eq(self, other) || {
            self.state_kind(py);
            other.state_kind(py);
            self.guarded.compare(&other.guarded, py, |ours, theirs| ours.filter == theirs.filter)
        };
        pyo3::types::PyBool::new(py, is_equal).to_owned().into_any().unbind()
    }

    fn __bool__(&self, py: Python<'_>) -> bool {
        self.guarded.read(py, |planned| !planned.filter.is_empty())
    }

    /// The estimated number of different keys: those that were stored, and those that seemed to be there when they came.
    /// In a removable filter, the inserts less the removals.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let elements = self.guarded.read(py, |planned| planned.filter.len());
        if elements == 0 || self.parameters.design.is_multiset() {
            return Ok(elements as usize);
        }
        let share = elements as f64 / self.parameters.keys.max(1) as f64;
        let mean = mean_of_past_rates(self.parameters.design.hashes(), share);
        let uncounted = (self.planned_rate(py)? * mean).min(0.5);
        Ok((elements as f64 / (1.0 - uncounted)).round() as usize)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, elements) = self
            .guarded
            .read(py, |planned| (planned.filter.parameters().keys, planned.filter.len()));
        let kind = self.guarded.kind.get();
        match elements {
            0 => format!("<equibloom.Filter for {keys} keys, empty>"),
            _ => format!("<equibloom.Filter for {keys} keys, with {elements} of them ({kind})>"),
        }
    }

    /// How many keys the filter is planned for.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> u64 {
        self.guarded.read(py, |planned| planned.filter.parameters().keys)
    }

    /// The false-positive rate with as many keys as planned.
    #[getter]
    fn rate(&self, py: Python<'_>) -> PyResult<f64> {
        self.planned_rate(py)
    }

    /// The expected false-positive rate of the present contents, from a scan of the whole filter.
    #[getter]
    fn rate_now(&self, py: Python<'_>) -> f64 {
        self.guarded.scan(py, |planned| planned.filter.statistics().expected_rate)
    }

    /// Bytes of the filter, everything counted.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> u64 {
        self.guarded.scan(py, |Planned { filter, .. }| {
            if filter.part_count() == 1 && !filter.is_over_capacity() {
                return filter.parameters().design.bytes();
            }
            filter.statistics().memory.total()
        })
    }

    /// Whether there are more keys than planned, so that the rate is above the planned one, or soon will be.
    #[getter]
    fn is_over_capacity(&self, py: Python<'_>) -> bool {
        self.guarded.read(py, |planned| planned.filter.is_over_capacity())
    }

    /// Whether keys can be removed.
    #[getter]
    fn removable(&self) -> bool {
        self.parameters.design.is_multiset()
    }

    /// The seed of the hash.
    #[getter]
    fn seed(&self) -> u64 {
        self.parameters.seed
    }

    /// The kind of the keys; None as long as there are none.
    #[getter]
    fn kind(&self) -> Option<&'static str> {
        self.guarded.kind.name()
    }

    /// The bytes of a file of this filter.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.state_kind(py);
        let bytes = self.guarded.scan(py, |planned| planned.filter.to_bytes());
        Ok(PyBytes::new(py, &bytes.map_err(error::file)?))
    }

    /// A filter from the bytes of its file: bytes, or anything else with the buffer protocol. All of them are checked.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes = numpy::bytes_of(data)?;
        Self::read(py.detach(|| HashFilter::from_bytes(bytes.as_ref())))
    }

    /// A filter over the bytes of its file, in place: of a memoryview, shared memory, a memory map, an array.
    ///
    /// Nothing is copied before the first change, and only the header is checked. The bytes must not change while the filter
    /// is in use.
    #[staticmethod]
    fn from_buffer(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes = numpy::bytes_of(data)?;
        Self::read(py.detach(|| HashFilter::from_owner(bytes)))
    }

    /// Writes the filter to a file, which is replaced as a whole or not at all.
    fn save(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        self.state_kind(py);
        self.guarded.scan(py, |planned| planned.filter.save(&path.0)).map_err(error::file)
    }

    /// Reads a filter from a file into memory, and checks all of it.
    #[staticmethod]
    fn load(py: Python<'_>, path: FilePath) -> PyResult<Self> {
        Self::read(py.detach(|| HashFilter::load(&path.0)))
    }

    /// Maps a file and looks keys up in place: at once, however large it is. The first change copies it into memory.
    ///
    /// No program may write to the file or truncate it while it is open; replacing it as save() does is harmless.
    /// Files below 1 MiB are loaded instead.
    #[staticmethod]
    fn open(py: Python<'_>, path: FilePath) -> PyResult<Self> {
        // SAFETY: the caller's promise, as documented.
        Self::read(py.detach(|| unsafe { HashFilter::open(&path.0) }))
    }

    /// Pickled as the bytes of its file, so that other versions of Python and of this package read it.
    fn __reduce_ex__<'py>(
        slf: &Bound<'py, Self>,
        protocol: u32,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let bytes = slf.get().to_bytes(slf.py())?;
        calls::reduced(slf.as_any(), bytes, protocol)
    }
}
