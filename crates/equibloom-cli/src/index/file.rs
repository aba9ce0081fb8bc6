//! Opens index files.

use std::path::Path;

use anyhow::{Context, anyhow, ensure};
use equibloom_index::{Index, IndexError};

use crate::filter_file::is_standard;
use crate::progress;

/// Refuses `-`.
pub(super) fn refuse_standard(path: &Path) -> anyhow::Result<()> {
    ensure!(
        !is_standard(path),
        "an index is asked in place, in its file, and not on standard input or output: give a file \
         (./- for one of that name)"
    );
    Ok(())
}

/// Maps an index and verifies it, as a whole or only its table.
pub(super) fn open(path: &Path, verifies: bool, quiet: bool) -> anyhow::Result<Index> {
    refuse_standard(path)?;
    let opened = progress::during("verifying", quiet, || {
        // SAFETY: no command writes to an index in place. If another program does so, the handler of `SIGBUS` (`signals.rs`)
        // ends the command with an error.
        unsafe { if verifies { Index::open(path) } else { Index::open_unverified(path) } }
    });
    opened.map_err(|error| named(path, error))
}

/// The error with the name of the index, which some have already.
pub(super) fn named(path: &Path, error: IndexError) -> anyhow::Error {
    let (name, message) = (path.display().to_string(), error.to_string());
    if message.contains(&name) { anyhow!(error) } else { anyhow!("{name}: {message}") }
}

/// The column that is asked: the given one, or the only one.
pub(super) fn column<'a>(
    path: &Path,
    index: &'a Index,
    column: Option<&'a str>,
) -> anyhow::Result<&'a str> {
    let columns = &index.settings().columns;
    let names = || columns.join(", ");
    match column {
        Some(column) => {
            let known = columns.iter().any(|name| name == column);
            ensure!(
                known,
                "{}: it has no column `{column}`: give one of {}, or read all files",
                path.display(),
                names()
            );
            Ok(column)
        }
        None => {
            ensure!(
                columns.len() == 1,
                "{}: it has {} columns: give one of {} by --column",
                path.display(),
                columns.len(),
                names()
            );
            columns.first().map(String::as_str).context("an index of no column")
        }
    }
}
