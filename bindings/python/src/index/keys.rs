//! The keys of one call, taken from Python's objects so that an index is asked without the interpreter's lock.

use std::ops::Range;

use equibloom::Stable;
use equibloom_index::{Key, Place};
use pyo3::prelude::*;

use super::SLICE;
use crate::calls::{self, Input};
use crate::columns::Column;
use crate::error::{KeyTypeError, KeyValueError};
use crate::keys::{is_missing, with_value};

/// Keys by rows; some rows have none.
#[derive(Default)]
pub(super) struct Keys {
    bytes: Vec<u8>,
    rows: Vec<Option<Stored>>,
}

enum Stored {
    Integer(i128),
    Bytes(Range<usize>),
}

impl Keys {
    pub(super) fn of_key(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut keys = Self::default();
        with_value(object, |key| keys.push(Some(key)))?;
        Ok(keys)
    }

    pub(super) fn of_column(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut keys = Self::default();
        match Input::of(object)? {
            Input::Objects(objects) | Input::ArrayOfObjects { objects, .. } => {
                for object in objects.try_iter()? {
                    let object = object?;
                    if is_missing(&object)? {
                        keys.push(None);
                    } else {
                        with_value(&object, |key| keys.push(Some(key)))?;
                    }
                }
            }
            input => for_each_column(object.py(), input, &mut |column: &Column| {
                let read = column.for_each_key(|key| keys.push(key));
                read.map_err(|error| KeyValueError::new_err(error.0))
            })?,
        }
        Ok(keys)
    }

    fn push(&mut self, key: Option<Key<'_>>) {
        self.rows.push(key.map(|key| match key {
            Key::Integer(value) => Stored::Integer(value),
            Key::Bytes(bytes) => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(bytes);
                Stored::Bytes(start..self.bytes.len())
            }
        }));
    }

    pub(super) const fn rows(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn is_key(&self, row: usize) -> bool {
        self.rows[row].is_some()
    }

    pub(super) fn has_keys(&self) -> bool {
        self.rows.iter().any(Option::is_some)
    }

    fn key(&self, stored: &Stored) -> Key<'_> {
        match stored {
            Stored::Integer(value) => Key::Integer(*value),
            Stored::Bytes(range) => Key::Bytes(&self.bytes[range.clone()]),
        }
    }

    /// Passes on each place and the row of a key that it may hold.
    pub(super) fn look_up(
        &self,
        py: Python<'_>,
        index: &equibloom_index::Index,
        column: &str,
        mut found: impl FnMut(Place, usize) + Send,
    ) -> PyResult<()> {
        for first in (0..self.rows.len()).step_by(SLICE) {
            py.check_signals()?;
            let rows = first..self.rows.len().min(first + SLICE);
            py.detach(|| {
                let keys = rows.filter_map(|row| Some((row, self.key(self.rows[row].as_ref()?))));
                let (rows, keys): (Vec<usize>, Vec<Key<'_>>) = keys.unzip();
                match keys[..] {
                    // The filters of one key are prefetched.
                    [key] => index.find(column, key).for_each(|place| found(place, rows[0])),
                    _ => index.find_many(column, &keys, |place, key| found(place, rows[key])),
                }
            });
        }
        Ok(())
    }
}

/// Passes on the parts of an array or an Arrow column.
pub(super) fn for_each_column(
    py: Python<'_>,
    input: Input<'_>,
    each: &mut impl FnMut(&Column) -> PyResult<()>,
) -> PyResult<()> {
    match input {
        Input::Array { column, .. } => each(&column),
        Input::Arrow { mut parts, .. } => {
            while let Some(column) = parts.next(py, &Stable::default())? {
                if !column.has_values() {
                    return Err(KeyTypeError::new_err(
                        "a column of a dictionary or of categories: decode it, for example with cast()",
                    ));
                }
                each(&column)?;
            }
            Ok(())
        }
        Input::Pandas(series) => {
            for_each_column(py, Input::of(&calls::from_pandas(&series)?)?, each)
        }
        Input::Objects(_) | Input::ArrayOfObjects { .. } => Err(KeyTypeError::new_err(
            "Python objects are no column of an index: give an array of NumPy or Arrow",
        )),
    }
}
