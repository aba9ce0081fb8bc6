//! The Python package `equibloom`: membership filters for scalars, NumPy and Arrow.
//!
//! The way of a column: `calls.rs` finds out what it is, `columns/` reads it in place, `guarded.rs` hashes it in parts and asks
//! the library under a lock, `answers.rs` hands the answers out. A scalar goes from `keys.rs` to `guarded.rs`.
//! Indexes of files have the folder `index/`.

mod answers;
mod calls;
mod columns;
mod error;
mod filter;
mod growing;
mod guarded;
mod index;
mod keys;
mod kind;
mod plan;
mod requirements;

use pyo3::prelude::*;

/// What `equibloom/__init__.py` exports.
#[pymodule(gil_used = false)]
fn _equibloom(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<filter::Filter>()?;
    module.add_class::<growing::GrowingFilter>()?;
    module.add_class::<index::Index>()?;
    module.add_class::<index::IndexDraft>()?;
    module.add_class::<plan::Plan>()?;
    module.add_function(wrap_pyfunction!(plan::plan, module)?)?;
    module.add_class::<answers::Answers>()?;
    module.add("KeyTypeError", py.get_type::<error::KeyTypeError>())?;
    module.add("KeyValueError", py.get_type::<error::KeyValueError>())?;
    module.add("RequirementsError", py.get_type::<error::RequirementsError>())?;
    module.add("FilterFileError", py.get_type::<error::FilterFileError>())?;
    module.add("IndexFileError", py.get_type::<index::IndexFileError>())?;
    module.add("FilterMergeError", py.get_type::<error::FilterMergeError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
