//! What a Python object is as a key: the bytes that `docs/keys.md` defines.

use std::ffi::c_char;

use equibloom::{KeyHash, KeyHasher, KeyKind, Stable};
use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyFloat, PyTuple, PyType};

use crate::columns::numpy;
use crate::error::{KeyTypeError, KeyValueError};

/// Days from year 1 to 1970, as `date.toordinal` counts.
const ORDINAL_1970: i64 = 719_163;
/// Tuples in tuples are read by recursion.
const DEEPEST: usize = 64;

unsafe extern "C" {
    // Every Python from 3.3 on exports it, and from 3.10 on it is part of the stable interface. The alternative for 3.9 makes a
    // copy of every string.
    fn PyUnicode_AsUTF8AndSize(
        text: *mut ffi::PyObject,
        size: *mut ffi::Py_ssize_t,
    ) -> *const c_char;
}

/// A key's bytes.
enum Key<'a> {
    /// An integer of up to 64 bits.
    Integer(u64),
    Wide(u128),
    Bytes(&'a [u8]),
    OwnBytes(Vec<u8>),
    Composite(Vec<u8>),
    /// A NumPy scalar, hashed as a column of one.
    Hashed(KeyKind, KeyHash),
}

/// A key's kind and hash. In filters of 128-bit integers every integer is `wide`.
#[inline]
pub(crate) fn hash(
    object: &Bound<'_, PyAny>,
    hasher: &Stable,
    wide: bool,
) -> PyResult<(KeyKind, KeyHash)> {
    Ok(match key(object, hasher, wide, 0)? {
        Key::Integer(value) => (KeyKind::Integer, hasher.hash_key(&value)),
        Key::Bytes(bytes) => (KeyKind::Bytes, hasher.hash_key(bytes)),
        Key::Wide(value) => (KeyKind::WideInteger, hasher.hash_key(&value)),
        Key::OwnBytes(bytes) => (KeyKind::Bytes, hasher.hash_key(&bytes)),
        Key::Composite(bytes) => (KeyKind::Composite, hasher.hash_key(&bytes)),
        Key::Hashed(kind, hash) => (kind, hash),
    })
}

/// A key of an index: an integer or bytes.
pub(crate) fn with_value<T>(
    object: &Bound<'_, PyAny>,
    then: impl FnOnce(equibloom_index::Key<'_>) -> T,
) -> PyResult<T> {
    use equibloom_index::Key as Value;
    // The hash of a scalar of NumPy is left alone.
    let key = key(object, &Stable::default(), false, 0)?;
    match key {
        // As its 64 bits, which stand for one integer with and one without a sign.
        Key::Integer(bits) => Ok(then(Value::Integer(bits.into()))),
        Key::Bytes(bytes) => Ok(then(Value::Bytes(bytes))),
        Key::OwnBytes(bytes) => Ok(then(Value::Bytes(&bytes))),
        Key::Hashed(..) => {
            let mut then = Some(then);
            let mut answer = None;
            let column = numpy::of_scalar(object)?;
            let read = column.for_each_key(|value| {
                answer = value.and_then(|value| then.take().map(|then| then(value)));
            });
            read.map_err(|error| KeyValueError::new_err(error.0))?;
            answer.ok_or_else(|| not_a_key(object))
        }
        Key::Wide(_) | Key::Composite(_) => Err(KeyTypeError::new_err(
            "columns of files have no tuples: give int, str, bytes, bool, date, datetime, UUID or an IP address",
        )),
    }
}

/// The kind and hash of what most keys are, without detours: integers of up to 63 bits, text and bytes. `None` for others.
#[inline(always)]
pub(crate) fn hash_at_once(
    object: &Bound<'_, PyAny>,
    hasher: &Stable,
) -> Option<(KeyKind, KeyHash)> {
    let pointer = object.as_ptr();
    // SAFETY: `object` is a live object, and the thread is attached to the interpreter. It is an `int` where it is read as one,
    // which leaves no error behind, and a `str` where it is read as one, whose bytes live as long as it.
    unsafe {
        if ffi::PyLong_CheckExact(pointer) != 0 {
            let mut overflow = 0;
            let value = ffi::PyLong_AsLongLongAndOverflow(pointer, &mut overflow);
            return (overflow == 0).then(|| (KeyKind::Integer, hasher.hash_key(&value)));
        }
        if ffi::PyUnicode_CheckExact(pointer) != 0 {
            let mut size = 0;
            let start = PyUnicode_AsUTF8AndSize(pointer, &mut size);
            if start.is_null() {
                // Told again by the way that reports errors.
                ffi::PyErr_Clear();
                return None;
            }
            let bytes = std::slice::from_raw_parts(start.cast::<u8>(), size as usize);
            return Some((KeyKind::Bytes, hasher.hash_key(bytes)));
        }
        if ffi::PyBytes_CheckExact(pointer) != 0 {
            let bytes = object.cast_unchecked::<PyBytes>().as_bytes();
            return Some((KeyKind::Bytes, hasher.hash_key(bytes)));
        }
    }
    None
}

#[inline]
fn key<'a>(
    object: &'a Bound<'_, PyAny>,
    hasher: &Stable,
    wide: bool,
    depth: usize,
) -> PyResult<Key<'a>> {
    let pointer = object.as_ptr();
    // SAFETY: `object` is a live object, and the thread is attached to the interpreter.
    let (is_int, is_text, is_bytes) = unsafe {
        (
            ffi::PyLong_CheckExact(pointer) != 0,
            ffi::PyUnicode_CheckExact(pointer) != 0,
            ffi::PyBytes_CheckExact(pointer) != 0,
        )
    };
    if is_int && !wide {
        integer(object)
    } else if is_text {
        text(object).map(Key::Bytes)
    } else if is_bytes {
        // SAFETY: checked to be `bytes`.
        Ok(Key::Bytes(unsafe { object.cast_unchecked::<PyBytes>() }.as_bytes()))
    } else {
        other(object, hasher, wide, depth)
    }
}

/// An integer of up to 64 bits. `object` is an `int` or has `__index__`.
fn integer<'a>(object: &Bound<'_, PyAny>) -> PyResult<Key<'a>> {
    let mut overflow = 0;
    // SAFETY: `object` is a live object, and the thread is attached to the interpreter.
    let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(object.as_ptr(), &mut overflow) };
    if overflow > 0 {
        return object.extract().map(Key::Integer).map_err(|error| too_large(object, error, "64"));
    }
    if overflow < 0 {
        return Err(too_large(object, PyOverflowError::new_err(()), "64"));
    }
    if value == -1
        && let Some(error) = PyErr::take(object.py())
    {
        return Err(error);
    }
    Ok(Key::Integer(value.cast_unsigned()))
}

fn wide_integer<'a>(object: &Bound<'_, PyAny>) -> PyResult<Key<'a>> {
    let value = match object.extract::<i128>() {
        Ok(value) => value.cast_unsigned(),
        Err(_) => object.extract().map_err(|error| too_large(object, error, "128"))?,
    };
    Ok(Key::Wide(value))
}

#[cold]
fn too_large(object: &Bound<'_, PyAny>, error: PyErr, bits: &str) -> PyErr {
    if !error.is_instance_of::<PyOverflowError>(object.py()) {
        return error;
    }
    let cure = if bits == "64" {
        "make a filter with kind=\"wide-integer\" for integers of up to 128 bits, or use text"
    } else {
        "use text or bytes"
    };
    // The number itself may have millions of digits.
    KeyValueError::new_err(format!("an integer has more than {bits} bits: {cure}"))
}

/// Text as UTF-8, which Python keeps with the string if it is not ASCII.
fn text<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    let mut size = 0;
    // SAFETY: `object` is a `str`, and the thread is attached to the interpreter.
    let start = unsafe { PyUnicode_AsUTF8AndSize(object.as_ptr(), &mut size) };
    if start.is_null() {
        // Half of a surrogate pair has no UTF-8.
        return Err(PyErr::fetch(object.py()));
    }
    // SAFETY: the bytes belong to the string, which lives as long as `'a`, and never change.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), size as usize) })
}

/// Everything but plain integers, text and bytes.
#[inline(never)]
fn other<'a>(
    object: &'a Bound<'_, PyAny>,
    hasher: &Stable,
    wide: bool,
    depth: usize,
) -> PyResult<Key<'a>> {
    let py = object.py();
    let pointer = object.as_ptr();
    // SAFETY: `object` is a live object, and the thread is attached to the interpreter.
    let (is_int, is_text, is_bytes) = unsafe {
        (
            ffi::PyLong_Check(pointer) != 0,
            ffi::PyUnicode_Check(pointer) != 0,
            ffi::PyBytes_Check(pointer) != 0,
        )
    };
    if is_int {
        return if wide { wide_integer(object) } else { integer(object) };
    }
    if is_text {
        return text(object).map(Key::Bytes);
    }
    if is_bytes {
        // SAFETY: checked to be `bytes`.
        return Ok(Key::Bytes(unsafe { object.cast_unchecked::<PyBytes>() }.as_bytes()));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return composite(tuple, hasher, depth).map(Key::Composite);
    }
    if object.is_instance_of::<PyFloat>() || is_missing(object)? {
        return Err(not_a_key(object));
    }
    let types = Types::get(py)?;
    if types.is(object, &types.bytes_like)? {
        let copy = py.get_type::<PyBytes>().call1((object,))?;
        return Ok(Key::OwnBytes(copy.extract()?));
    }
    if types.is(object, &types.datetime)? {
        return timestamp(object, types).map(|value| Key::Integer(value.cast_unsigned()));
    }
    if types.is(object, &types.date)? {
        let ordinal: i64 = object.call_method0(intern!(py, "toordinal"))?.extract()?;
        return Ok(Key::Integer((ordinal - ORDINAL_1970).cast_unsigned()));
    }
    if types.is(object, &types.uuid)? {
        return Ok(Key::OwnBytes(object.getattr(intern!(py, "bytes"))?.extract()?));
    }
    if types.is(object, &types.ipv4)? || types.is(object, &types.ipv6)? {
        return Ok(Key::OwnBytes(object.getattr(intern!(py, "packed"))?.extract()?));
    }
    // SAFETY: `object` is a live object, and the thread is attached to the interpreter.
    if unsafe { ffi::PyIndex_Check(pointer) } != 0 {
        // SAFETY: as above; a null pointer is an error that `from_owned_ptr_or_err` fetches.
        let number = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyNumber_Index(pointer)) };
        match number {
            Ok(number) if wide => return wide_integer(&number),
            Ok(number) => return integer(&number),
            // NumPy's scalars and arrays of other types have an index that is an error.
            Err(error) if !numpy::is_array(object)? => return Err(error),
            Err(_) => {}
        }
    }
    // NumPy's own scalars: datetime64, bool, float32 and the like.
    if numpy::is_array(object)?
        && let Some((kind, hash)) = numpy::scalar(object, hasher)?
    {
        return Ok(Key::Hashed(kind, hash));
    }
    Err(not_a_key(object))
}

/// The lengths and bytes of a tuple's elements.
fn composite(tuple: &Bound<'_, PyTuple>, hasher: &Stable, depth: usize) -> PyResult<Vec<u8>> {
    if depth == DEEPEST {
        return Err(KeyValueError::new_err(format!(
            "tuples are nested more than {DEEPEST} deep: flatten them"
        )));
    }
    let mut bytes = Vec::new();
    let mut add = |element: &[u8]| {
        bytes.extend_from_slice(&(element.len() as u64).to_le_bytes());
        bytes.extend_from_slice(element);
    };
    for element in tuple.iter() {
        match key(&element, hasher, false, depth + 1)? {
            Key::Integer(value) => add(&value.to_le_bytes()),
            Key::Wide(value) => add(&value.to_le_bytes()),
            Key::Bytes(element) => add(element),
            Key::OwnBytes(element) | Key::Composite(element) => add(&element),
            Key::Hashed(..) => return Err(not_a_key(&element)),
        }
    }
    Ok(bytes)
}

/// Nanoseconds since 1970 of a `datetime`. One without a time zone counts as UTC.
fn timestamp(object: &Bound<'_, PyAny>, types: &Types) -> PyResult<i64> {
    let py = object.py();
    let offset = object.call_method0(intern!(py, "utcoffset"))?;
    let zone = pyo3::types::PyDict::new(py);
    zone.set_item(intern!(py, "tzinfo"), py.None())?;
    let naive = object.call_method(intern!(py, "replace"), (), Some(&zone))?;
    let mut since = naive.sub(types.epoch.bind(py))?;
    if !offset.is_none() {
        since = since.sub(offset)?;
    }
    let part =
        |object: &Bound<'_, PyAny>, name| -> PyResult<i128> { object.getattr(name)?.extract() };
    let days = part(&since, intern!(py, "days"))?;
    let seconds = part(&since, intern!(py, "seconds"))?;
    let microseconds = part(&since, intern!(py, "microseconds"))?;
    // pandas' timestamps have more digits.
    let name = intern!(py, "nanosecond");
    let nanosecond = if object.hasattr(name)? { part(object, name)? } else { 0 };
    let value = ((days * 86_400 + seconds) * 1_000_000 + microseconds) * 1_000 + nanosecond;
    i64::try_from(value)
        .map_err(|_| KeyValueError::new_err(timestamp_out_of_range(value / 1_000_000_000)))
}

pub(crate) fn timestamp_out_of_range(seconds: i128) -> String {
    format!(
        "a timestamp is {seconds} seconds from 1970, and timestamps are keys from 1677 to 2262: correct it, or use its date"
    )
}

/// Why an object is not a key, with the cure.
#[cold]
fn not_a_key(object: &Bound<'_, PyAny>) -> PyErr {
    let name =
        object.get_type().qualname().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    if object.is_none() {
        return KeyTypeError::new_err(
            "None is not a key: leave missing values out (columns skip their nulls by themselves)",
        );
    }
    KeyTypeError::new_err(format!("{name} is not a key: {}", cure(&name)))
}

/// What to do about a type that is not a key.
pub(crate) fn cure(type_name: &str) -> &'static str {
    if type_name.contains("float") || type_name == "Decimal" || type_name.contains("decimal") {
        "equal numbers may have different bytes; use integers (cents, say) or the text you mean"
    } else if type_name.contains("time") || type_name.contains("duration") {
        "use dates, timestamps, or an integer of a unit that you choose"
    } else {
        "give int, str, bytes, bool, date, datetime, UUID, an IP address, or a tuple of these"
    }
}

/// Whether an object of a column of objects stands for a missing value: None, NaN, pandas' NA and NaT.
pub(crate) fn is_missing(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if object.is_none() {
        return Ok(true);
    }
    // SAFETY: `object` is a live object, and the thread is attached to the interpreter.
    let is_usual = unsafe {
        ffi::PyLong_CheckExact(object.as_ptr()) != 0
            || ffi::PyUnicode_CheckExact(object.as_ptr()) != 0
    };
    if is_usual {
        return Ok(false);
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(float.value().is_nan());
    }
    let name = object.get_type().qualname()?;
    let name = name.to_string_lossy();
    Ok(name == "NAType" || name == "NaTType")
}

/// Types of the standard library, looked up once.
struct Types {
    bytes_like: Py<PyTuple>,
    datetime: Py<PyType>,
    date: Py<PyType>,
    uuid: Py<PyType>,
    ipv4: Py<PyType>,
    ipv6: Py<PyType>,
    /// 1970, without a time zone.
    epoch: Py<PyAny>,
}

impl Types {
    fn get(py: Python<'_>) -> PyResult<&'static Self> {
        static TYPES: PyOnceLock<Types> = PyOnceLock::new();
        TYPES.get_or_try_init(py, || {
            let find = |module: &str, name: &str| -> PyResult<Py<PyType>> {
                Ok(py.import(module)?.getattr(name)?.cast_into::<PyType>()?.unbind())
            };
            let builtin = |name| find("builtins", name);
            let datetime = find("datetime", "datetime")?;
            Ok(Self {
                bytes_like: PyTuple::new(py, [builtin("bytearray")?, builtin("memoryview")?])?
                    .unbind(),
                epoch: datetime.bind(py).call1((1970, 1, 1))?.unbind(),
                datetime,
                date: find("datetime", "date")?,
                uuid: find("uuid", "UUID")?,
                ipv4: find("ipaddress", "IPv4Address")?,
                ipv6: find("ipaddress", "IPv6Address")?,
            })
        })
    }

    fn is<T>(&self, object: &Bound<'_, PyAny>, class: &Py<T>) -> PyResult<bool> {
        object.is_instance(class.bind(object.py()).as_any())
    }
}
