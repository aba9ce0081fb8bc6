//! `update` and `contains`: from whatever a user calls a column to answers of the same kind.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyString};

use crate::answers::{Answers, Bitmap};
use crate::columns::{Column, arrow, numpy};
use crate::guarded::{Engine, Guarded};

/// A path as Python's `open` takes it: text, bytes, or an object with a path.
pub(crate) struct FilePath(pub(crate) PathBuf);

impl<'py> FromPyObject<'_, 'py> for FilePath {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = object.py().import("os")?.call_method1("fsdecode", (object,))?;
        text.extract().map(Self)
    }
}

/// What the keys are in.
pub(crate) enum Input<'py> {
    Array {
        array: Bound<'py, PyAny>,
        column: Column,
    },
    Arrow {
        object: Bound<'py, PyAny>,
        parts: arrow::Parts,
    },
    /// Objects of an array, where missing ones are usual.
    ArrayOfObjects {
        objects: Bound<'py, PyAny>,
        array: Bound<'py, PyAny>,
    },
    /// Any iterable.
    Objects(Bound<'py, PyAny>),
    Pandas(Bound<'py, PyAny>),
}

impl<'py> Input<'py> {
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let object = object.clone();
        if is_from(&object, "pandas")? {
            return Ok(Self::Pandas(object));
        }
        if numpy::is_array(&object)? {
            return Ok(match numpy::keys(&object)? {
                numpy::Keys::Column(column) => Self::Array { array: object, column },
                numpy::Keys::Objects(objects) => {
                    Self::ArrayOfObjects { objects: objects.into_any(), array: object }
                }
            });
        }
        if arrow::is_arrow(&object)? {
            let parts = arrow::Parts::of(&object)?;
            return Ok(Self::Arrow { object, parts });
        }
        if object.is_instance_of::<PyString>()
            || object.is_instance_of::<PyBytes>()
            || object.is_instance_of::<PyByteArray>()
        {
            return Err(PyTypeError::new_err(
                "one text or byte string is not a column of keys: ask `key in filter`, insert with add(key), or give [key]",
            ));
        }
        if is_from(&object, "polars")? {
            return Err(PyTypeError::new_err(
                "this object of polars is no column: give a Series, or use `expression.eb.isin(filter)`",
            ));
        }
        Ok(Self::Objects(object))
    }
}

/// Whether the class of an object is of this package.
fn is_from(object: &Bound<'_, PyAny>, package: &str) -> PyResult<bool> {
    let module = object.get_type().getattr(intern!(object.py(), "__module__"))?;
    let Ok(module) = module.cast_into::<PyString>() else { return Ok(false) };
    let module = module.to_string_lossy();
    Ok(module.split('.').next() == Some(package))
}

/// Python's own part of this: other libraries' columns.
fn helpers(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static HELPERS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let helpers = HELPERS
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("equibloom._columns")?.unbind()))?;
    Ok(helpers.bind(py))
}

/// A series or an index of pandas as an array or an Arrow column.
pub(crate) fn from_pandas<'py>(series: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    helpers(series.py())?.call_method1("from_pandas", (series,))
}

/// Inserts all keys of a column or an iterable; returns how many were new.
pub(crate) fn insert<F: Engine>(
    filter: &Guarded<F>,
    py: Python<'_>,
    input: Input<'_>,
    threads: usize,
) -> PyResult<u64> {
    match input {
        Input::Array { column, .. } => filter.insert_column(py, &column, threads),
        Input::Arrow { mut parts, .. } => {
            let mut new = 0;
            while let Some(column) = parts.next(&filter.hasher)? {
                new += filter.insert_column(py, &column, threads)?;
            }
            Ok(new)
        }
        Input::ArrayOfObjects { objects, .. } => {
            filter.insert_objects(py, objects.try_iter()?, true)
        }
        Input::Objects(objects) => filter.insert_objects(py, objects.try_iter()?, false),
        Input::Pandas(series) => {
            let column = from_pandas(&series)?;
            insert(filter, py, Input::of(&column)?, threads)
        }
    }
}

/// Answers for all keys of a column or an iterable, of the same kind as these.
pub(crate) fn contains<'py, F: Engine>(
    filter: &Guarded<F>,
    py: Python<'py>,
    input: Input<'py>,
    out: Option<&Bound<'py, PyAny>>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    match input {
        Input::Array { array, column } => {
            let (answers, memory) = output(py, out, column.rows())?;
            filter.contains_column(py, &column, threads, Some(memory))?;
            if out.is_none() && numpy::is_masked(&array) {
                return helpers(py)?.call_method1("mask_like", (array, answers));
            }
            Ok(answers)
        }
        Input::Arrow { object, parts } => {
            let answers = look_up_parts(filter, py, parts, threads)?;
            match out {
                Some(out) => {
                    answers.write(&numpy::output(out, answers.rows())?);
                    Ok(out.clone())
                }
                None => helpers(py)?.call_method1("like_arrow", (object, answers)),
            }
        }
        Input::ArrayOfObjects { objects, array } => {
            let (answers, memory) = output(py, out, objects.len()?)?;
            let mut row = 0;
            filter.contains_objects(py, objects.try_iter()?, true, |found, _, rows| {
                found
                    .iter()
                    .enumerate()
                    .for_each(|(index, &word)| memory.put(row + 64 * index, word));
                row += rows;
            })?;
            if out.is_none() && numpy::is_masked(&array) {
                return helpers(py)?.call_method1("mask_like", (array, answers));
            }
            Ok(answers)
        }
        Input::Objects(objects) => {
            let mut all = Bitmap::default();
            filter.contains_objects(py, objects.try_iter()?, false, |found, _, rows| {
                all.append(found, rows);
            })?;
            let (answers, memory) = output(py, out, all.rows())?;
            all.write(&memory);
            Ok(answers)
        }
        Input::Pandas(series) => {
            let helpers = helpers(py)?;
            let column = from_pandas(&series)?;
            let answers = contains(filter, py, Input::of(&column)?, out, threads)?;
            match out {
                Some(_) => Ok(answers),
                None => helpers.call_method1("like_pandas", (series, answers)),
            }
        }
    }
}

/// The array for answers, and its memory.
fn output<'py>(
    py: Python<'py>,
    out: Option<&Bound<'py, PyAny>>,
    rows: usize,
) -> PyResult<(Bound<'py, PyAny>, crate::columns::Booleans)> {
    let answers = match out {
        Some(out) => out.clone(),
        None => numpy::booleans(py, rows)?,
    };
    let memory = numpy::output(&answers, rows)?;
    Ok((answers, memory))
}

fn look_up_parts<F: Engine>(
    filter: &Guarded<F>,
    py: Python<'_>,
    mut parts: arrow::Parts,
    threads: usize,
) -> PyResult<Answers> {
    let (mut found, mut keys) = (Bitmap::default(), Bitmap::default());
    let mut has_nulls = false;
    while let Some(column) = parts.next(&filter.hasher)? {
        let rows = column.rows();
        found.append(&filter.contains_column(py, &column, threads, None)?, rows);
        has_nulls |= column.has_nulls();
        let words: Vec<u64> = (0..rows).step_by(64).map(|row| column.keys_from(row)).collect();
        keys.append(&words, rows);
    }
    Ok(Answers { found: Arc::new(found), keys: has_nulls.then(|| Arc::new(keys)) })
}

/// What a pickle of a filter holds: the bytes of its file, and what makes a filter of them.
pub(crate) fn reduced<'py>(
    filter: &Bound<'py, PyAny>,
    bytes: Bound<'py, PyBytes>,
    protocol: u32,
) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
    let from_bytes = filter.get_type().getattr("from_bytes")?;
    // From protocol 5 on the bytes may travel beside the pickle, without being copied.
    let bytes = match protocol {
        5.. => filter.py().import("pickle")?.getattr("PickleBuffer")?.call1((bytes,))?,
        _ => bytes.into_any(),
    };
    Ok((from_bytes, (bytes,)))
}
