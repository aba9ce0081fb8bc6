//! Errors while figures are made.

use std::path::PathBuf;

/// Why a figure, or the report, could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no figure of this name.
    #[error("there is no figure `{id}`; the figures are {}", known.join(", "))]
    UnknownFigure {
        /// The requested name.
        id: String,
        /// The existing names.
        known: Vec<&'static str>,
    },
    /// No run shows what a figure draws.
    #[error("no run shows what {figure} draws: search more seeds")]
    NoSuchRun {
        /// The figure.
        figure: &'static str,
    },
    /// A file or directory could not be written.
    #[error("cannot write {}: {source}; give a directory with room that can be written", path.display())]
    Write {
        /// Its path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A model refused its arguments.
    #[error(transparent)]
    Theory(#[from] equibloom_theory::Error),
    /// A filter could not be made, for example for lack of memory.
    #[error(transparent)]
    Build(#[from] equibloom::BuildError),
    /// A hash table could not be made.
    #[error(transparent)]
    Table(#[from] equibloom_tables::TableError),
    /// A filter rejected a key.
    #[error(transparent)]
    Full(#[from] equibloom::FullError),
    /// A figure could not be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}
