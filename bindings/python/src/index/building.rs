//! Builds and updates in a thread of their own, while this one looks for signals and reports progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use equibloom_index::IndexError;
use equibloom_index::lake::{Options, Progress, Report};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::failed;
use crate::calls::FilePath;

/// Between two looks for signals.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs a build until it is done, or a signal or an error of `progress` ends it.
pub(super) fn run(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
    build: impl FnOnce(&Options<'_>) -> Result<Report, IndexError> + Send,
) -> PyResult<Report> {
    let progress = progress.map(|progress| progress.clone().unbind());
    let (done, planned, stop) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let count = |step| match step {
        Progress::Planned { files } => planned.store(files, Ordering::Relaxed),
        _ => {
            done.fetch_add(1, Ordering::Relaxed);
        }
    };
    let options = Options { threads, progress: &count, stop: &|| stop.load(Ordering::Relaxed) };
    let look = |py: Python<'_>| {
        py.check_signals()?;
        if let Some(progress) = &progress {
            let counts = (done.load(Ordering::Relaxed), planned.load(Ordering::Relaxed));
            progress.call1(py, counts)?;
        }
        Ok::<(), PyErr>(())
    };
    let (built, interrupted) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            let options = &options;
            // The receiver lives as long as the thread, so that sending cannot fail.
            scope.spawn(move || drop(sender.send(build(options))));
            let mut interrupted = None;
            loop {
                match receiver.recv_timeout(PAUSE) {
                    Ok(built) => return (Some(built), interrupted),
                    // The thread has ended without a result.
                    Err(RecvTimeoutError::Disconnected) => return (None, interrupted),
                    Err(RecvTimeoutError::Timeout) if interrupted.is_none() => {
                        interrupted = Python::attach(look).err();
                        stop.store(interrupted.is_some(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    });
    if let Some(interrupted) = interrupted {
        return Err(interrupted);
    }
    let report = built.unwrap_or(Err(IndexError::Stopped)).map_err(failed)?;
    look(py)?;
    Ok(report)
}

/// What a build has done, as a dictionary.
pub(super) fn report<'py>(
    py: Python<'py>,
    report: Option<&Report>,
) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    if let Some(report) = report {
        answer.set_item("files", report.files)?;
        answer.set_item("read", report.read)?;
        answer.set_item("kept", report.kept)?;
        answer.set_item("resumed", report.resumed)?;
        answer.set_item("removed", report.removed)?;
        answer.set_item("skipped", report.skipped.clone())?;
    }
    Ok(answer)
}

/// One text, or several.
pub(super) fn texts(object: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if object.is_instance_of::<PyString>() {
        return Ok(vec![object.extract()?]);
    }
    object.try_iter()?.map(|text| text?.extract()).collect()
}

/// One path, or several.
pub(super) fn paths(object: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let text = |object: &Bound<'_, PyAny>| {
        let FilePath(path) = object.extract()?;
        path.into_os_string().into_string().map_err(|path| {
            let message = format!("{}: its name is no UTF-8: rename it", path.display());
            pyo3::exceptions::PyValueError::new_err(message)
        })
    };
    if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? {
        return Ok(vec![text(object)?]);
    }
    object.try_iter()?.map(|path| text(&path?)).collect()
}
