//! The class `GrowingFilter`.

use equibloom::file::FileError;
use equibloom::{Filter, GrowingFilter as Growing, KeyHash, KeyKind, RemoveError, StableKey};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyTuple};

use crate::calls::{self, FilePath, Input};
use crate::columns::numpy;
use crate::error;
use crate::guarded::{Engine, Failure, Guarded};
use crate::kind::Kind;
use crate::lookup::Class;
use crate::requirements::{real, threads, whole};

/// Keys of a kind that is known only once the first one comes.
pub(crate) struct AnyKey;

impl StableKey for AnyKey {
    const KIND: KeyKind = KeyKind::Unspecified;

    fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
        then(&[])
    }
}

impl Engine for Growing<AnyKey> {
    #[inline]
    fn insert(&mut self, hash: KeyHash) -> Result<bool, Failure> {
        Ok(self.insert_hash(hash).map_err(Failure::Build)?.is_new())
    }

    fn insert_many(&mut self, hashes: &[KeyHash], threads: usize) -> Result<u64, Failure> {
        // One thread inserts: where a key goes depends on those before it.
        let _ = threads;
        self.insert_hashes(hashes).map_err(Failure::Build)
    }

    #[inline]
    fn contains(&self, hash: KeyHash) -> bool {
        self.contains_hash(hash)
    }

    fn contains_many(&self, hashes: &[KeyHash], found: &mut Vec<u64>) {
        self.contains_hashes_bitmap(hashes, found);
    }

    fn remove(&mut self, hash: KeyHash) -> Result<(), RemoveError> {
        self.remove_hash(hash)
    }
}

/// An approximate set of any number of keys: it grows with them, and keeps its false-positive rate.
///
/// >>> from equibloom import GrowingFilter
/// >>> seen = GrowingFilter(rate=0.01)
/// >>> seen.update(range(100_000)) > 99_000
/// True
/// >>> 99_999 in seen
/// True
///
/// At 1 % it takes about 17 bits per key, where a Filter that is planned for them takes 9. It is used like a Filter.
///
/// Parameters
/// ----------
/// rate : float
///     The largest share of absent keys that may be found all the same; 0.01 by default.
/// keys : int
///     How many keys it has memory for at first.
/// removable : bool
///     Whether keys can be removed. Every insert is stored then, also of a key that is there.
/// seed : int
///     The seed of the hash.
/// kind : str
///     The kind of the keys, if not the first key is to decide: "bytes", "integer", "wide-integer" or "composite".
#[pyclass(frozen, module = "equibloom")]
pub(crate) struct GrowingFilter {
    guarded: Guarded<Growing<AnyKey>>,
    rate: f64,
    is_removable: bool,
}

impl GrowingFilter {
    fn over(filter: Growing<AnyKey>, kind: Kind) -> Self {
        let (rate, is_removable) = (filter.rate(), filter.is_removable());
        let seed = filter.hasher().seed();
        Self { guarded: Guarded::new(filter, kind, seed), rate, is_removable }
    }

    fn read(filter: Result<Growing<AnyKey>, FileError>) -> PyResult<Self> {
        let filter = filter.map_err(error::file)?;
        let kind = Kind::stated(filter.key_kind(), !filter.is_empty());
        Ok(Self::over(filter, kind))
    }

    fn state_kind(&self, py: Python<'_>) {
        let kind = self.guarded.kind.get();
        if self.guarded.read(py, |filter| filter.key_kind() != kind) {
            self.guarded.write(py, |filter| filter.set_key_kind(kind));
        }
    }

    fn unite(&self, other: &Self, py: Python<'_>) -> PyResult<()> {
        if std::ptr::eq(self, other) {
            return Ok(());
        }
        self.guarded.claim_for_union(&other.guarded, py)?;
        let merged = self.guarded.combine(&other.guarded, py, |ours, theirs| ours.merge(theirs));
        merged.map_err(error::merge)
    }
}

impl Class for GrowingFilter {
    type Engine = Growing<AnyKey>;

    #[inline]
    fn guarded(&self) -> &Guarded<Growing<AnyKey>> {
        &self.guarded
    }
}

#[pymethods]
impl GrowingFilter {
    #[new]
    #[pyo3(signature = (rate = None, *, keys = None, removable = false, seed = 0, kind = None))]
    fn new(
        rate: Option<&Bound<'_, PyAny>>,
        keys: Option<&Bound<'_, PyAny>>,
        removable: bool,
        seed: u64,
        kind: Option<&str>,
    ) -> PyResult<Self> {
        let rate = rate.map_or(Ok(0.01), |rate| real("rate", rate))?;
        let mut builder = Filter::<AnyKey>::builder().rate(rate).seed(seed);
        if let Some(keys) = keys {
            builder = builder.keys(whole("keys", keys)?);
        }
        if removable {
            builder = builder.removable();
        }
        let filter = builder.build_growing().map_err(error::plan)?;
        Ok(Self::over(filter, Kind::named(kind)?))
    }

    /// Inserts a key; returns whether it was new. (A few new keys seem to be there already.)
    fn add(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.guarded.insert(key)
    }

    /// The 128-bit hash of a key in this filter; see Filter.hash_of.
    fn hash_of(&self, key: &Bound<'_, PyAny>) -> PyResult<u128> {
        self.guarded.hash_for_lookup(key).map(u128::from)
    }

    /// Inserts all keys of columns or iterables; returns how many were new. Nulls are skipped. See Filter.update; several threads
    /// only hash the keys.
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

    /// Looks up all keys of a column; see Filter.contains.
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

    /// Removes all keys. The filter is as small as at first; the kind of the keys stays.
    fn clear(&self, py: Python<'_>) {
        self.guarded.change(py, Growing::clear);
    }

    /// A copy, which has a life of its own.
    fn copy(&self, py: Python<'_>) -> Self {
        let kind = self.guarded.kind.copied();
        Self::over(self.guarded.scan(py, Growing::clone), kind)
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
        let is_equal = std::ptr::eq(self, other)
            || self.guarded.kind.get() == other.guarded.kind.get()
                && self.guarded.compare(&other.guarded, py, |ours, theirs| ours == theirs);
        PyBool::new(py, is_equal).to_owned().into_any().unbind()
    }

    fn __bool__(&self, py: Python<'_>) -> bool {
        self.guarded.read(py, |filter| !filter.is_empty())
    }

    /// The number of keys that were new when they came; a few seemed to be there already. Uniting adds the numbers of both.
    fn __len__(&self, py: Python<'_>) -> usize {
        self.guarded.read(py, Growing::len) as usize
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (rate, elements) = (self.rate, self.guarded.read(py, Growing::len));
        let kind = self.guarded.kind.get();
        match elements {
            0 => format!("<equibloom.GrowingFilter at a rate of {rate:?}, empty>"),
            _ => format!(
                "<equibloom.GrowingFilter at a rate of {rate:?}, with {elements} keys ({kind})>"
            ),
        }
    }

    /// The false-positive rate that the filter keeps.
    #[getter]
    fn rate(&self) -> f64 {
        self.rate
    }

    /// The expected false-positive rate of the present contents, from a scan of the whole filter.
    #[getter]
    fn rate_now(&self, py: Python<'_>) -> f64 {
        self.guarded.scan(py, |filter| filter.statistics().expected_rate)
    }

    /// Bytes of the filter, everything counted.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> u64 {
        self.guarded.read(py, Growing::bytes)
    }

    /// Whether keys can be removed.
    #[getter]
    fn removable(&self) -> bool {
        self.is_removable
    }

    /// The seed of the hash.
    #[getter]
    fn seed(&self) -> u64 {
        self.guarded.hasher.seed()
    }

    /// The kind of the keys; None as long as there are none.
    #[getter]
    fn kind(&self) -> Option<&'static str> {
        self.guarded.kind.name()
    }

    /// The bytes of a file of this filter.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.state_kind(py);
        let bytes = self.guarded.scan(py, |filter| filter.to_bytes());
        Ok(PyBytes::new(py, &bytes.map_err(error::file)?))
    }

    /// A filter from the bytes of its file: bytes, or anything else with the buffer protocol. All of them are checked.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes = numpy::bytes_of(data)?;
        Self::read(py.detach(|| Growing::from_bytes(bytes.as_ref())))
    }

    /// A filter over the bytes of its file, in place; see Filter.from_buffer.
    #[staticmethod]
    fn from_buffer(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes = numpy::bytes_of(data)?;
        Self::read(py.detach(|| Growing::from_owner(bytes)))
    }

    /// Writes the filter to a file, which is replaced as a whole or not at all.
    fn save(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        self.state_kind(py);
        self.guarded.scan(py, |filter| filter.save(&path.0)).map_err(error::file)
    }

    /// Reads a filter from a file into memory, and checks all of it.
    #[staticmethod]
    fn load(py: Python<'_>, path: FilePath) -> PyResult<Self> {
        Self::read(py.detach(|| Growing::load(&path.0)))
    }

    /// Maps a file and looks keys up in place; see Filter.open.
    #[staticmethod]
    fn open(py: Python<'_>, path: FilePath) -> PyResult<Self> {
        // SAFETY: the caller's promise, as documented.
        Self::read(py.detach(|| unsafe { Growing::open(&path.0) }))
    }

    /// Pickled as the bytes of its file.
    fn __reduce_ex__<'py>(
        slf: &Bound<'py, Self>,
        protocol: u32,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let bytes = slf.get().to_bytes(slf.py())?;
        calls::reduced(slf.as_any(), bytes, protocol)
    }
}
