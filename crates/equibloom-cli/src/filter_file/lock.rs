//! An exclusive lock on a filter file: without it, concurrent commands would overwrite each other's keys.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;

/// Permission to replace a file, until dropped. Saving puts a new file in place of the locked one; a process
/// that waited then holds a lock on an unlinked file and must lock again.
pub(crate) struct Lock {
    _file: Option<File>,
}

impl Lock {
    pub(crate) fn of(path: &Path) -> anyhow::Result<Self> {
        loop {
            let file = File::open(path).with_context(|| {
                format!("{}: could not read it; check its name and permissions", path.display())
            })?;
            match file.lock() {
                // Some file systems do not support locks.
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    return Ok(Self { _file: None });
                }
                locked => {
                    locked.with_context(|| format!("{}: could not lock it", path.display()))?;
                }
            }
            if is_at(&file, path) {
                return Ok(Self { _file: Some(file) });
            }
        }
    }
}

/// Whether an open file is still the one of that name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        // Opening it again reports the error.
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}
