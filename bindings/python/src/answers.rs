//! Answers as an Arrow array of booleans, which other libraries take over without a copy.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;

use crate::columns::arrow::{Array, Schema};
use crate::columns::{Booleans, numpy};

/// A bit for each row.
#[derive(Default)]
pub(crate) struct Bitmap {
    words: Vec<u64>,
    rows: usize,
}

impl Bitmap {
    /// Appends the lowest bits of words.
    pub(crate) fn append(&mut self, words: &[u64], rows: usize) {
        let shift = self.rows % 64;
        if shift == 0 {
            self.words.extend_from_slice(words);
        } else {
            for word in words {
                if let Some(last) = self.words.last_mut() {
                    *last |= word << shift;
                }
                self.words.push(word >> (64 - shift));
            }
        }
        self.rows += rows;
        self.words.truncate(self.rows.div_ceil(64));
        // What stands behind the last row must not get between it and the next.
        if !self.rows.is_multiple_of(64)
            && let Some(last) = self.words.last_mut()
        {
            *last &= u64::MAX >> (64 - self.rows % 64);
        }
    }

    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn write(&self, out: &Booleans) {
        self.words.iter().enumerate().for_each(|(index, &word)| out.put(64 * index, word));
    }
}

/// Answers for a column: an Arrow array of booleans, null where the column was. Any library that knows the Arrow PyCapsule
/// interface takes it over: `pyarrow.array(answers)`, `polars.Series(answers)`.
#[pyclass(frozen, module = "equibloom")]
pub(crate) struct Answers {
    pub(crate) found: Arc<Bitmap>,
    /// Which rows had a key; `None` if all of them had.
    pub(crate) keys: Option<Arc<Bitmap>>,
}

impl Answers {
    pub(crate) fn rows(&self) -> usize {
        self.found.rows()
    }

    pub(crate) fn write(&self, out: &Booleans) {
        self.found.write(out);
    }
}

fn to_numpy<'py>(py: Python<'py>, bitmap: &Bitmap) -> PyResult<Bound<'py, PyAny>> {
    let array = numpy::booleans(py, bitmap.rows())?;
    bitmap.write(&numpy::output(&array, bitmap.rows())?);
    Ok(array)
}

#[pymethods]
impl Answers {
    /// The answers as a NumPy array; false where the column was null.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_numpy(py, &self.found)
    }

    /// Which rows had a key, as a NumPy array; None if all of them had.
    fn valid<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.keys.as_ref().map(|keys| to_numpy(py, keys)).transpose()
    }

    fn __len__(&self) -> usize {
        self.found.rows
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        // There is one type of truth values: what else is requested, the consumer casts.
        let _ = requested_schema;
        let schema = Schema {
            format: c"b".as_ptr(),
            name: c"".as_ptr(),
            metadata: ptr::null(),
            flags: 2, // nullable
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: Some(release_schema),
            private_data: ptr::null_mut(),
        };
        let keys =
            self.keys.as_ref().map_or(ptr::null(), |keys| keys.words.as_ptr().cast::<c_void>());
        let buffers = [keys, self.found.words.as_ptr().cast()];
        let owners = (Arc::clone(&self.found), self.keys.clone());
        let mut exported = Box::new(Exported { _owners: owners, buffers });
        let buffers = exported.buffers.as_mut_ptr();
        let array = Array {
            length: self.found.rows as i64,
            null_count: if self.keys.is_some() { -1 } else { 0 },
            offset: 0,
            n_buffers: 2,
            n_children: 0,
            buffers,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: Some(release_array),
            private_data: Box::into_raw(exported).cast(),
        };
        Ok((
            capsule(py, schema, c"arrow_schema", drop_schema)?,
            capsule(py, array, c"arrow_array", drop_array)?,
        ))
    }
}

/// What an exported array keeps.
struct Exported {
    _owners: (Arc<Bitmap>, Option<Arc<Bitmap>>),
    buffers: [*const c_void; 2],
}

fn capsule<'py, T>(
    py: Python<'py>,
    value: T,
    name: &'static CStr,
    drop: unsafe extern "C" fn(*mut ffi::PyObject),
) -> PyResult<Bound<'py, PyAny>> {
    let value = Box::into_raw(Box::new(value));
    // SAFETY: the capsule owns the value; `drop` frees it. The name is static.
    unsafe {
        let capsule = ffi::PyCapsule_New(value.cast(), name.as_ptr(), Some(drop));
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: called by the interface's rules, once, with a structure made above. Its texts are static.
    unsafe { (*schema).release = None };
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: called by the interface's rules, once, with a structure made above. Nothing in it belongs to Python, so that any
    // thread may drop it.
    unsafe {
        (*array).release = None;
        drop(Box::from_raw((*array).private_data.cast::<Exported>()));
    }
}

unsafe extern "C" fn drop_schema(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule made above.
    unsafe {
        let schema = ffi::PyCapsule_GetPointer(capsule, c"arrow_schema".as_ptr()).cast::<Schema>();
        if !schema.is_null() {
            // Its texts are static: nothing to release.
            drop(Box::from_raw(schema));
        }
    }
}

unsafe extern "C" fn drop_array(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule made above. The array in it is released here, unless a consumer has moved it away.
    unsafe {
        let array = ffi::PyCapsule_GetPointer(capsule, c"arrow_array".as_ptr()).cast::<Array>();
        if !array.is_null() {
            if let Some(release) = (*array).release {
                release(array);
            }
            drop(Box::from_raw(array));
        }
    }
}
