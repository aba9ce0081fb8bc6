//! `key in filter`: the interpreter's slot, written by hand.
//!
//! The wrapper that pyo3 makes counts attachments and looks after references that other threads have dropped, which takes
//! longer than the lookup. Integers, text and bytes need none of that. All else, errors too, goes the way of
//! `Guarded::contains`.

use std::ffi::c_int;
use std::panic::catch_unwind;

use pyo3::exceptions::PySystemError;
use pyo3::impl_::pyclass::{PyClassImpl, PyClassItems};
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use pyo3::{Borrowed, PyClass, ffi};

use crate::filter::Filter;
use crate::growing::GrowingFilter;
use crate::guarded::{Engine, Guarded};

/// A class over a filter.
pub(crate) trait Class: PyClass<Frozen = True> + Sync {
    type Engine: Engine;

    fn guarded(&self) -> &Guarded<Self::Engine>;
}

/// # Safety
/// Called by the interpreter, for its slot `sq_contains`.
unsafe extern "C" fn contains<C: Class>(
    filter: *mut ffi::PyObject,
    key: *mut ffi::PyObject,
) -> c_int {
    let answer = catch_unwind(|| {
        // SAFETY: the interpreter calls the slot of a class with an instance of it, in a thread that is attached, and keeps both
        // objects.
        let (filter, key) = unsafe {
            let py = Python::assume_attached();
            (Borrowed::from_ptr(py, filter).cast_unchecked::<C>(), Borrowed::from_ptr(py, key))
        };
        match filter.get().guarded().contains_at_once(&key) {
            Some(found) => found.into(),
            None => with_detours(filter, key),
        }
    });
    answer.unwrap_or_else(|_| {
        Python::attach(|py| {
            PySystemError::new_err("a lookup panicked: please report it").restore(py)
        });
        -1
    })
}

#[cold]
#[inline(never)]
fn with_detours<C: Class>(filter: Borrowed<'_, '_, C>, key: Borrowed<'_, '_, PyAny>) -> c_int {
    Python::attach(|py| match filter.get().guarded().contains(&key) {
        Ok(found) => found.into(),
        Err(error) => {
            error.restore(py);
            -1
        }
    })
}

macro_rules! slot {
    ($($class:ty)*) => {$(
        pyo3::inventory::submit! {
            type Inventory = <$class as PyClassImpl>::Inventory;
            Inventory::new(PyClassItems {
                methods: &[],
                slots: &[ffi::PyType_Slot {
                    slot: ffi::Py_sq_contains,
                    pfunc: contains::<$class> as *mut _,
                }],
            })
        }
    )*};
}

slot! { Filter GrowingFilter }
