//! Arrow arrays, by the C data interface: what pyarrow, polars, pandas, DuckDB and others hand out without a copy.
//!
//! Read by hand rather than with `arrow-array`: a column needs three structures of the interface and a dozen types of it,
//! and the crate brings fifteen more, which take longer to compile than all else here.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use equibloom::Stable;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use super::memory::{Bits, Cells, Data};
use super::{Column, Meaning, Nulls, Values, Width};
use crate::error::{KeyTypeError, KeyValueError};
use crate::keys::cure;

/// `struct ArrowSchema`: a type.
#[repr(C)]
pub(crate) struct Schema {
    pub(crate) format: *const c_char,
    pub(crate) name: *const c_char,
    pub(crate) metadata: *const c_char,
    pub(crate) flags: i64,
    pub(crate) n_children: i64,
    pub(crate) children: *mut *mut Schema,
    pub(crate) dictionary: *mut Schema,
    pub(crate) release: Option<unsafe extern "C" fn(*mut Schema)>,
    pub(crate) private_data: *mut c_void,
}

/// `struct ArrowArray`: values.
#[repr(C)]
pub(crate) struct Array {
    pub(crate) length: i64,
    pub(crate) null_count: i64,
    pub(crate) offset: i64,
    pub(crate) n_buffers: i64,
    pub(crate) n_children: i64,
    pub(crate) buffers: *mut *const c_void,
    pub(crate) children: *mut *mut Array,
    pub(crate) dictionary: *mut Array,
    pub(crate) release: Option<unsafe extern "C" fn(*mut Array)>,
    pub(crate) private_data: *mut c_void,
}

/// `struct ArrowArrayStream`: arrays of one type, one after the other.
#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// A structure that is released when it is dropped.
struct Released<T: Releasable>(T);

/// The structures of the interface: `release` frees what one holds, and marks it as released.
trait Releasable {
    fn release(&mut self) -> &mut Option<unsafe extern "C" fn(*mut Self)>;
}

macro_rules! releasable {
    ($($type:ty)*) => {$(
        impl Releasable for $type {
            fn release(&mut self) -> &mut Option<unsafe extern "C" fn(*mut Self)> {
                &mut self.release
            }
        }
    )*};
}

releasable! { Schema Array Stream }

impl<T: Releasable> Drop for Released<T> {
    fn drop(&mut self) {
        if let Some(release) = *self.0.release() {
            // SAFETY: the structure was moved here, or filled by its producer, and is released once.
            unsafe { release(&mut self.0) };
        }
    }
}

impl<T: Releasable> Released<T> {
    /// Moves a structure out of its capsule, as the interface has it: what is left there is marked as released.
    fn taken(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<Self> {
        let capsule = capsule.cast::<PyCapsule>()?;
        // SAFETY: a capsule, and a name that ends with zero.
        let source =
            unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr()) }.cast::<T>();
        if source.is_null() {
            return Err(PyErr::fetch(capsule.py()));
        }
        // SAFETY: a capsule of this name holds this structure. The copy is the only one that is released.
        let mut taken = unsafe { ptr::read(source) };
        if taken.release().is_none() {
            return Err(PyValueError::new_err("the Arrow column was read already: get it anew"));
        }
        // SAFETY: as above.
        unsafe { *(*source).release() = None };
        Ok(Self(taken))
    }
}

// SAFETY: the interface allows any thread to use and release a structure, one at a time.
unsafe impl Send for Released<Array> {}
// SAFETY: an array is only read.
unsafe impl Sync for Released<Array> {}

/// Whether an object hands out Arrow arrays.
pub(crate) fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    Ok(object.hasattr(intern!(py, "__arrow_c_array__"))?
        || object.hasattr(intern!(py, "__arrow_c_stream__"))?)
}

/// The parts of a column, one after the other.
pub(crate) struct Parts {
    schema: Released<Schema>,
    arrays: Arrays,
}

enum Arrays {
    One(Option<Released<Array>>),
    Many(Released<Stream>),
}

impl Parts {
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let one = intern!(py, "__arrow_c_array__");
        if object.hasattr(one)? {
            let capsules = object.call_method0(one)?.cast_into::<PyTuple>()?;
            let schema = Released::taken(&capsules.get_item(0)?, c"arrow_schema")?;
            let array = Released::taken(&capsules.get_item(1)?, c"arrow_array")?;
            return Ok(Self { schema, arrays: Arrays::One(Some(array)) });
        }
        let capsule = object.call_method0(intern!(py, "__arrow_c_stream__"))?;
        let mut stream = Released::<Stream>::taken(&capsule, c"arrow_array_stream")?;
        let mut schema = Released(Schema::empty());
        let Some(get_schema) = stream.0.get_schema else { return Err(damaged_stream()) };
        // SAFETY: the stream has not been released, and the schema is a place for one.
        let status = unsafe { get_schema(&mut stream.0, &mut schema.0) };
        stream.check(status)?;
        Ok(Self { schema, arrays: Arrays::Many(stream) })
    }

    /// The next part; `None` after the last one. There may be any number of small ones, so that signals are looked for.
    pub(crate) fn next(&mut self, py: Python<'_>, hasher: &Stable) -> PyResult<Option<Column>> {
        py.check_signals()?;
        let array = match &mut self.arrays {
            Arrays::One(array) => array.take(),
            Arrays::Many(stream) => {
                let mut array = Released(Array::empty());
                let Some(get_next) = stream.0.get_next else { return Err(damaged_stream()) };
                // SAFETY: the stream has not been released, and the array is a place for one.
                let status = unsafe { get_next(&mut stream.0, &mut array.0) };
                stream.check(status)?;
                // The end is an array that is released already.
                array.0.release.is_some().then_some(array)
            }
        };
        let Some(array) = array else { return Ok(None) };
        let array = Arc::new(array);
        // SAFETY: schema and array come from one producer, and the column keeps the array.
        unsafe { column(&self.schema.0, &array.0, 0, array.0.length, &array, hasher) }.map(Some)
    }
}

impl Released<Stream> {
    fn check(&mut self, status: c_int) -> PyResult<()> {
        if status == 0 {
            return Ok(());
        }
        let mut reason = format!("error {status}");
        if let Some(get_last_error) = self.0.get_last_error {
            // SAFETY: the last call returned an error, and the text is valid until the next one.
            unsafe {
                let text = get_last_error(&mut self.0);
                if !text.is_null() {
                    reason = CStr::from_ptr(text).to_string_lossy().into_owned();
                }
            }
        }
        // Ctrl-C in Python code that makes the parts.
        if reason.contains("KeyboardInterrupt") {
            return Err(PyKeyboardInterrupt::new_err(()));
        }
        Err(PyValueError::new_err(format!("the column's own library could not read it: {reason}")))
    }
}

impl Schema {
    const fn empty() -> Self {
        Self {
            format: ptr::null(),
            name: ptr::null(),
            metadata: ptr::null(),
            flags: 0,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

impl Array {
    const fn empty() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null_mut(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }

    /// A buffer; null if there is none.
    ///
    /// # Safety
    /// The array has not been released.
    unsafe fn buffer(&self, index: i64) -> *const u8 {
        if index >= self.n_buffers || self.buffers.is_null() {
            return ptr::null();
        }
        // SAFETY: there are `n_buffers` of them.
        unsafe { (*self.buffers.add(index as usize)).cast() }
    }
}

fn damaged_stream() -> PyErr {
    PyValueError::new_err("the Arrow stream is damaged: make it again")
}

/// The rows of an array as a column: `rows` from `first` on, besides the array's own offset.
///
/// # Safety
/// The array is of the schema's type, and belongs to `owner`.
unsafe fn column(
    schema: &Schema,
    array: &Array,
    first: i64,
    rows: i64,
    owner: &Arc<Released<Array>>,
    hasher: &Stable,
) -> PyResult<Column> {
    if schema.format.is_null()
        || array.length < 0
        || array.offset < 0
        || first.saturating_add(rows) > array.length
    {
        return Err(PyValueError::new_err("the Arrow array is damaged: make it again"));
    }
    // SAFETY: a text that ends with zero.
    let format = unsafe { CStr::from_ptr(schema.format) }.to_string_lossy();
    let start = (array.offset + first) as usize;
    let rows = rows as usize;
    // SAFETY: the array has not been released.
    let (validity, second) = unsafe { (array.buffer(0), array.buffer(1)) };
    // SAFETY: by the interface a buffer has as many values of its type as offset and length together.
    let cells = |size| unsafe { Cells::new(second, size as isize, start + rows) }.skip(start);
    let has_nulls = array.null_count != 0 && !validity.is_null();
    let nulls = match has_nulls {
        // SAFETY: the validity has a bit for each row.
        true => Nulls::Unless(unsafe { Bits::new(validity, start) }),
        false => Nulls::None,
    };

    if format == "+s" {
        // A table, as DuckDB and polars stream it. Its one column is meant.
        if schema.n_children != 1 || array.n_children != 1 || has_nulls {
            return Err(KeyTypeError::new_err(format!(
                "a table of {} columns is no column of keys: choose one of them",
                schema.n_children
            )));
        }
        // SAFETY: there is one child, of the type that the schema's child says.
        return unsafe {
            let (schema, array) = (&**schema.children, &**array.children);
            column(schema, array, start as i64, rows as i64, owner, hasher)
        };
    }
    let values = if schema.dictionary.is_null() {
        if rows > 0 && second.is_null() && !["n", "w:0"].contains(&&*format) {
            return Err(PyValueError::new_err("the Arrow array has no values: make it again"));
        }
        // SAFETY: the array is of this type.
        unsafe { values(&format, array, cells, second, start, rows) }?
    } else {
        let Some(width) = integer(&format).filter(|_| !array.dictionary.is_null()) else {
            return Err(PyValueError::new_err("the Arrow dictionary is damaged: make it again"));
        };
        // SAFETY: a dictionary is an array of the type that the schema's dictionary says.
        let dictionary = unsafe {
            let (schema, array) = (&*schema.dictionary, &*array.dictionary);
            column(schema, array, 0, array.length, owner, hasher)
        }?;
        let hashes =
            dictionary.hash_all(hasher).map_err(|error| KeyValueError::new_err(error.0))?;
        Values::Dictionary { cells: cells(width.bytes()), width, kind: dictionary.kind(), hashes }
    };
    let nulls = if matches!(values, Values::Nothing) { Nulls::All } else { nulls };
    Ok(Column { rows, values, nulls, _owner: Box::new(Arc::clone(owner)) })
}

/// The values of a type that is not a dictionary.
///
/// # Safety
/// The array is of this type.
unsafe fn values(
    format: &str,
    array: &Array,
    cells: impl Fn(usize) -> Cells,
    second: *const u8,
    start: usize,
    rows: usize,
) -> PyResult<Values> {
    if let Some(width) = integer(format) {
        let cells = cells(width.bytes());
        return Ok(Values::Integers { cells, width, meaning: Meaning::Itself });
    }
    let moments = |meaning| Values::Integers { cells: cells(8), width: Width::I64, meaning };
    // There is one offset more than rows; an empty array may have none.
    let variable = |is_large: bool| {
        let size = if is_large { 8 } else { 4 };
        // SAFETY: by the interface, the third buffer has the bytes that the offsets in the second lead to.
        unsafe {
            let offsets = Cells::new(second, size, start + rows + 1).skip(start);
            Values::Variable { offsets, is_large, data: Data::new(array.buffer(2)) }
        }
    };
    Ok(match format {
        "n" => Values::Nothing,
        // SAFETY: a bit for each row.
        "b" => Values::Booleans(unsafe { Bits::new(second, start) }),
        "u" | "z" => variable(false),
        "U" | "Z" => variable(true),
        "vu" | "vz" => {
            // The last buffer has the sizes of those before it.
            // SAFETY: these are the buffers of the array.
            let buffers =
                (2..array.n_buffers - 1).map(|index| unsafe { Data::new(array.buffer(index)) });
            Values::Views { cells: cells(16), buffers: buffers.collect() }
        }
        "tdD" => Values::Integers { cells: cells(4), width: Width::I32, meaning: Meaning::Itself },
        "tdm" => moments(Meaning::MillisecondsOfDate),
        _ if format.starts_with("tss:") => moments(Meaning::Nanoseconds(1_000_000_000)),
        _ if format.starts_with("tsm:") => moments(Meaning::Nanoseconds(1_000_000)),
        _ if format.starts_with("tsu:") => moments(Meaning::Nanoseconds(1_000)),
        _ if format.starts_with("tsn:") => moments(Meaning::Nanoseconds(1)),
        _ => match format.strip_prefix("w:").and_then(|size| size.parse().ok()) {
            Some(size) => Values::Fixed { cells: cells(size), size, is_padded: false },
            None => {
                let name = name(format);
                return Err(KeyTypeError::new_err(format!(
                    "an Arrow array of {name} is no column of keys: {}",
                    cure(name)
                )));
            }
        },
    })
}

fn integer(format: &str) -> Option<Width> {
    Some(match format {
        "c" => Width::I8,
        "C" => Width::U8,
        "s" => Width::I16,
        "S" => Width::U16,
        "i" => Width::I32,
        "I" => Width::U32,
        "l" => Width::I64,
        "L" => Width::U64,
        _ => return None,
    })
}

/// The name of a type that is not one of keys.
fn name(format: &str) -> &str {
    match format.as_bytes() {
        b"e" | b"f" | b"g" => "floats",
        [b'd', ..] => "decimals",
        [b't', b't', ..] => "times of day",
        [b't', b'D', ..] => "durations",
        [b't', b'i', ..] => "intervals of time",
        b"+l" | b"+L" | b"+vl" | b"+vL" => "lists",
        [b'+', b'w', ..] => "lists",
        b"+m" => "maps",
        [b'+', b'u', ..] => "unions",
        b"+r" => "runs",
        _ => format,
    }
}
