//! Why an index could not be read, built or written.

use std::io;
use std::path::{Path, PathBuf};

use equibloom::file::FileError;
use equibloom::{BuildError, FullError, PlanError};

/// Why an index could not be read, built or written. A caller that gets one reads all files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The operating system returned an error.
    #[error("{}: could not {action} it: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// The error.
        source: io::Error,
    },
    /// The bytes are no index.
    #[error(
        "not an index: it begins with {found:02x?}; give a file that `equibloom index build` wrote"
    )]
    NotAnIndex {
        /// The first bytes.
        found: Vec<u8>,
    },
    /// The version is another.
    #[error(
        "version {found} of the index format, and this library reads version {}: build it again",
        crate::VERSION
    )]
    Version {
        /// The version of the file.
        found: u64,
    },
    /// A part of the index is damaged, so that nothing in it can be trusted.
    #[error("damaged: {reason}; read all files, and build the index again")]
    Damaged {
        /// What is wrong.
        reason: String,
    },
    /// A filter could not be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A filter could not be made.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A filter had no room for its keys.
    #[error(transparent)]
    Full(#[from] FullError),
    /// A filter or the index could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file has another number of units than the index has columns, or a path twice.
    #[error("{path}: {reason}")]
    Entry {
        /// The file of the lake.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// Settings that cannot work.
    #[error("{0}")]
    Settings(String),
    /// Another program builds the same index.
    #[error("{}: another program builds this index: wait for it, or end it", path.display())]
    Locked {
        /// The journal of the build.
        path: PathBuf,
    },
    /// The caller of a build wanted it to stop.
    #[error("stopped: the same build goes on from here")]
    Stopped,
}

impl IndexError {
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_path_buf(), action, source }
    }

    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self::Damaged { reason: reason.into() }
    }
}
