//! One change at a time: two that load the same file would lose the keys of the one that saves first.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;

/// The right to replace a file, until it is dropped. Saving puts a new file into the place of the locked one, so
/// that a process that waited has locked a file without a name, and must lock again.
pub(super) struct Lock {
    _file: Option<File>,
}

impl Lock {
    pub(super) fn of(path: &Path) -> anyhow::Result<Self> {
        loop {
            let file = File::open(path).with_context(|| {
                format!("{}: could not read it; check its name and permissions", path.display())
            })?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    file.lock()
                        .with_context(|| format!("{}: could not lock it", path.display()))?;
                }
                // Some file systems have no locks.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                    return Ok(Self { _file: None });
                }
                Err(TryLockError::Error(error)) => {
                    return Err(error)
                        .with_context(|| format!("{}: could not lock it", path.display()));
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
        // Opening it again tells what is wrong.
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}
