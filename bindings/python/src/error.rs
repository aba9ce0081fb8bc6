//! What the library's errors are in Python.

use equibloom::file::{FileError, FileErrorKind};
use equibloom::{BuildError, FullError, MergeError, PlanError, RemoveError};
use pyo3::exceptions::{PyKeyError, PyMemoryError, PyOSError, PyTypeError, PyValueError};
use pyo3::{Bound, PyAny, PyErr, create_exception};

create_exception!(
    equibloom,
    KeyTypeError,
    PyTypeError,
    "An object or a column that is not a key, or keys of another kind than the filter's."
);
create_exception!(
    equibloom,
    KeyValueError,
    PyValueError,
    "A value that is no key although its type is: an integer or a timestamp of more than 64 bits."
);
create_exception!(
    equibloom,
    RequirementsError,
    PyValueError,
    "Requirements that are incomplete, invalid or contradictory; it names the one to change."
);
create_exception!(
    equibloom,
    FilterFileError,
    PyValueError,
    "Bytes or a file that are not a filter, or damaged, or of another format version."
);
create_exception!(
    equibloom,
    FilterMergeError,
    PyValueError,
    "Filters that cannot be united: other seeds, other kinds of keys, or removable ones of other plans."
);

pub(crate) fn build(error: BuildError) -> PyErr {
    match error {
        BuildError::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        _ => RequirementsError::new_err(error.to_string()),
    }
}

pub(crate) fn plan(error: PlanError) -> PyErr {
    match error {
        PlanError::Build(error) => build(error),
        _ => RequirementsError::new_err(error.to_string()),
    }
}

pub(crate) fn full(error: FullError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

pub(crate) fn merge(error: MergeError) -> PyErr {
    match error {
        MergeError::Build(error) => build(error),
        _ => FilterMergeError::new_err(error.to_string()),
    }
}

/// An error of the operating system is the `OSError` of its number, with the file's name; everything else is wrong with the
/// bytes.
pub(crate) fn file(error: FileError) -> PyErr {
    let path = error.path().map(|path| path.as_os_str().to_owned());
    match error.kind() {
        FileErrorKind::Io { action, source } => match (source.raw_os_error(), path) {
            (Some(number), Some(path)) => {
                let message = format!("could not {action} it: {source}");
                PyOSError::new_err((number, message, path))
            }
            // The bytes end too early.
            _ => FilterFileError::new_err(error.to_string()),
        },
        FileErrorKind::NotReplaceable => PyOSError::new_err(error.to_string()),
        FileErrorKind::Memory(_) => PyMemoryError::new_err(error.to_string()),
        _ => FilterFileError::new_err(error.to_string()),
    }
}

/// `NotPresent` as sets say it: a `KeyError` of the key.
pub(crate) fn remove(error: &RemoveError, key: &Bound<'_, PyAny>) -> PyErr {
    match error {
        RemoveError::NotPresent => PyKeyError::new_err(key.clone().unbind()),
        _ => PyTypeError::new_err(format!("{error}; make the filter with removable=True")),
    }
}
