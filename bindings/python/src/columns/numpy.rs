//! NumPy arrays, by the array interface: no copy, and nothing of NumPy to compile against.

use equibloom::{KeyHash, KeyKind, Stable};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::memory::Cells;
use super::{Booleans, Column, Meaning, Nulls, Values, Width};
use crate::error::{KeyTypeError, KeyValueError};
use crate::keys::cure;

/// What NumPy says of an array.
struct Interface {
    start: usize,
    is_read_only: bool,
    rows: usize,
    stride: isize,
    /// The order of bytes, the kind and the size: `<i8`, `|S20`, `<M8[us]`.
    type_text: String,
}

impl Interface {
    fn of<'py>(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = array.py();
        let interface = array.getattr(intern!(py, "__array_interface__"))?.cast_into::<PyDict>()?;
        let get = |name: &Bound<'py, PyString>| match interface.get_item(name)? {
            Some(value) => Ok(value),
            None => Err(PyTypeError::new_err(format!(
                "the array interface has no {name:?}: give a NumPy array"
            ))),
        };
        let shape: Vec<usize> = get(intern!(py, "shape"))?.extract()?;
        let &[rows] = &shape[..] else {
            return Err(KeyTypeError::new_err(format!(
                "an array has {} dimensions, and a column has one: choose a column, or flatten it with ravel()",
                shape.len()
            )));
        };
        let type_text: String = get(intern!(py, "typestr"))?.extract()?;
        let (start, is_read_only): (usize, bool) = get(intern!(py, "data"))?.extract()?;
        let strides: Option<Vec<isize>> = match interface.get_item(intern!(py, "strides"))? {
            Some(strides) => strides.extract()?,
            None => None,
        };
        if type_text.len() < 2 || !type_text.is_ascii() {
            return Err(KeyTypeError::new_err(format!("{type_text:?} is no type of keys")));
        }
        let contiguous = || {
            let digits = type_text[2..].split('[').next().unwrap_or_default();
            let size: isize = digits.parse().unwrap_or(0);
            // Characters are counted, and have four bytes.
            if type_text.as_bytes()[1] == b'U' { 4 * size } else { size }
        };
        let stride =
            strides.and_then(|strides| strides.first().copied()).unwrap_or_else(contiguous);
        Ok(Self { start, is_read_only, rows, stride, type_text })
    }

    fn cells(&self) -> Cells {
        // SAFETY: by the array interface there are `rows` values of the type's size at these distances, as long as the array
        // lives, which the column keeps.
        unsafe { Cells::new(self.start as *const u8, self.stride, self.rows) }
    }
}

/// A column, or Python objects that have to be read one by one.
pub(crate) enum Keys<'py> {
    Column(Column),
    Objects(Bound<'py, PyList>),
}

/// Whether an object says that it is an array.
pub(crate) fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.hasattr(intern!(object.py(), "__array_interface__"))
}

/// Whether an array has a mask.
pub(crate) fn is_masked(array: &Bound<'_, PyAny>) -> bool {
    array.get_type().qualname().is_ok_and(|name| name == "MaskedArray")
}

/// The keys of an array.
pub(crate) fn keys<'py>(array: &Bound<'py, PyAny>) -> PyResult<Keys<'py>> {
    let interface = Interface::of(array)?;
    let Interface { rows, ref type_text, .. } = interface;
    let (order, size) = (type_text.as_bytes()[0], &type_text[2..]);
    let foreign = if cfg!(target_endian = "little") { b'>' } else { b'<' };
    if order == foreign {
        let order = array.getattr("dtype")?.call_method1("newbyteorder", ("=",))?;
        return keys(&array.call_method1("astype", (order,))?);
    }
    let cells = interface.cells();
    let integers = |width| Values::Integers { cells, width, meaning: Meaning::Itself };
    let mut nulls = Nulls::None;
    let values = match (type_text.as_bytes()[1], size) {
        (b'b' | b'u', "1") => integers(Width::U8),
        (b'u', "2") => integers(Width::U16),
        (b'u', "4") => integers(Width::U32),
        (b'u', "8") => integers(Width::U64),
        (b'i', "1") => integers(Width::I8),
        (b'i', "2") => integers(Width::I16),
        (b'i', "4") => integers(Width::I32),
        (b'i', "8") => integers(Width::I64),
        (b'S', size) => Values::Fixed { cells, size: number(size)?, is_padded: true },
        (b'U', count) => Values::Characters { cells, count: number(count)? },
        (b'M', unit) => {
            nulls = Nulls::Smallest;
            Values::Integers { cells, width: Width::I64, meaning: time(unit, array)? }
        }
        (b'O', _) => {
            // The list has references of its own, whatever other threads do to the array.
            return Ok(Keys::Objects(array.call_method0("tolist")?.cast_into()?));
        }
        _ => {
            let dtype = array.getattr("dtype")?;
            // Texts of any length, which only NumPy can read.
            if dtype.getattr("kind")?.extract::<char>()? == 'T' {
                return Ok(Keys::Objects(array.call_method0("tolist")?.cast_into()?));
            }
            let name: String = dtype.str()?.extract()?;
            return Err(KeyTypeError::new_err(format!(
                "an array of {name} is no column of keys: {}",
                cure(&name)
            )));
        }
    };
    if is_masked(array) {
        let is_null = mask(array)?;
        let unless = |nulls: &Nulls, row| match nulls {
            Nulls::Smallest => cells.read::<i64>(row) != i64::MIN,
            _ => true,
        };
        let mut words = vec![0; rows.div_ceil(64)];
        for (row, is_null) in is_null.into_iter().enumerate() {
            words[row / 64] |= u64::from(!is_null && unless(&nulls, row)) << (row % 64);
        }
        nulls = Nulls::UnlessWords(words);
    }
    Ok(Keys::Column(Column { rows, values, nulls, _owner: Box::new(array.clone().unbind()) }))
}

/// Which values of a masked array are masked.
fn mask(array: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
    let masks = array.py().import("numpy.ma")?;
    let mask = masks.call_method1("getmaskarray", (array,))?;
    let interface = Interface::of(&mask)?;
    let cells = interface.cells();
    Ok((0..interface.rows).map(|row| cells.read::<u8>(row) != 0).collect())
}

fn number(digits: &str) -> PyResult<usize> {
    digits.parse().map_err(|_| PyValueError::new_err(format!("{digits:?} is no size of a type")))
}

/// What the numbers of `datetime64` are: `8[us]`.
fn time(unit: &str, array: &Bound<'_, PyAny>) -> PyResult<Meaning> {
    Ok(match unit {
        "8[D]" => Meaning::Itself,
        "8[h]" => Meaning::Nanoseconds(3_600_000_000_000),
        "8[m]" => Meaning::Nanoseconds(60_000_000_000),
        "8[s]" => Meaning::Nanoseconds(1_000_000_000),
        "8[ms]" => Meaning::Nanoseconds(1_000_000),
        "8[us]" => Meaning::Nanoseconds(1_000),
        "8[ns]" => Meaning::Nanoseconds(1),
        _ => {
            let name: String = array.getattr("dtype")?.str()?.extract()?;
            return Err(KeyTypeError::new_err(format!(
                "an array of {name} is no column of keys: convert it to datetime64[D] (dates) or [ns] (timestamps)"
            )));
        }
    })
}

/// The kind and hash of a scalar of NumPy; `None` if it is not a time.
pub(crate) fn scalar(
    object: &Bound<'_, PyAny>,
    hasher: &Stable,
) -> PyResult<Option<(KeyKind, KeyHash)>> {
    let column = of_scalar(object)?;
    let hashes = column.hash_all(hasher).map_err(|error| KeyValueError::new_err(error.0))?;
    Ok(column.kind().zip(hashes.first().copied().flatten()))
}

/// A scalar of NumPy as a column of one row.
pub(crate) fn of_scalar(object: &Bound<'_, PyAny>) -> PyResult<Column> {
    let array = object.py().import("numpy")?.call_method1("asarray", (object,))?;
    if array.getattr("ndim")?.extract::<usize>()? > 0 {
        return Err(KeyTypeError::new_err(
            "an array is not a key: look it up with contains(), and insert it with update()",
        ));
    }
    let Keys::Column(column) = keys(&array.call_method1("reshape", (1,))?)? else {
        return Err(KeyTypeError::new_err("an array is not a key: give its element"));
    };
    Ok(column)
}

/// A new array of booleans.
pub(crate) fn booleans<'py>(py: Python<'py>, rows: usize) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    numpy.call_method1("zeros", (rows, "bool"))
}

/// The memory of an array of booleans for so many answers.
pub(crate) fn output(array: &Bound<'_, PyAny>, rows: usize) -> PyResult<Booleans> {
    if !is_array(array)? {
        return Err(PyTypeError::new_err("out is not a NumPy array: give one of bool"));
    }
    let interface = Interface::of(array)?;
    let Interface { start, is_read_only, rows: found, stride, ref type_text } = interface;
    if type_text != "|b1" {
        return Err(PyTypeError::new_err(format!(
            "out has the type {type_text}: give an array of bool"
        )));
    }
    if is_read_only {
        return Err(PyValueError::new_err("out is read-only: give an array that can be written"));
    }
    if found != rows {
        return Err(PyValueError::new_err(format!(
            "out has {found} elements, and the column {rows}: give one of the same length"
        )));
    }
    // SAFETY: by the array interface there are `rows` bytes at these distances that may be written. The caller keeps the array.
    Ok(unsafe { Booleans::new(start as *mut u8, stride, rows) })
}

/// The bytes of any object with the buffer protocol, and the array over them that keeps them.
pub(crate) fn bytes_of(object: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    let numpy = object.py().import("numpy")?;
    // `frombuffer` refuses empty ones.
    let array = match numpy.call_method1("frombuffer", (object, "u1")) {
        Ok(array) => array,
        Err(error) if error.is_instance_of::<PyValueError>(object.py()) => {
            if object.len().is_ok_and(|length| length == 0) {
                numpy.call_method1("zeros", (0, "u1"))?
            } else {
                return Err(error);
            }
        }
        Err(error) => return Err(error),
    };
    let Interface { start, rows, .. } = Interface::of(&array)?;
    Ok(Bytes { start: start as *const u8, length: rows, _owner: array.unbind() })
}

/// Bytes of another object.
pub(crate) struct Bytes {
    start: *const u8,
    length: usize,
    _owner: Py<PyAny>,
}

// SAFETY: the bytes are only read, and belong to an object that is kept.
unsafe impl Send for Bytes {}
// SAFETY: as above.
unsafe impl Sync for Bytes {}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: so many bytes belong to the array that is kept.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}
