//! Atomic replacement of a file.
//!
//! A killed program leaves its temporary file behind. A temporary file is locked as long as its program lives, and the
//! next save to the same path removes those that are not locked.

use alloc::format;
use alloc::string::String;
use core::sync::atomic::{AtomicU64, Ordering};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process;

use super::FileErrorKind;

/// Suffix of temporary files.
const SUFFIX: &str = "equibloom-tmp";
/// Bytes of the original name in a temporary name: with number and suffix it stays below the common limit
/// of 255.
const MOST_NAME_BYTES: usize = 150;
const KEEP_OWNER: &str =
    "keep the owner and group (have its owner write it, or choose another path) of";
/// Maximum number of names tried.
const TRIES: u32 = 1_000;

/// Writes a temporary file in the same directory, syncs it, and renames it to `path`.
pub(crate) fn replace(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), FileErrorKind>,
) -> Result<(), FileErrorKind> {
    let path = &target(path)?;
    remove_left_behind(path);
    let (mut unfinished, mut file) = Unfinished::beside(path)?;
    if let Ok(old) = fs::metadata(path) {
        if !old.is_file() {
            return Err(FileErrorKind::NotReplaceable);
        }
        keep_owner(&file, &old).map_err(|error| FileErrorKind::io(KEEP_OWNER, error))?;
        let kept = file.set_permissions(old.permissions());
        kept.map_err(|error| FileErrorKind::io("keep the permissions of", error))?;
    }
    write(&mut file)?;
    file.sync_all().map_err(|error| FileErrorKind::io("force to the disk", error))?;
    fs::rename(&unfinished.path, path).map_err(|error| FileErrorKind::io("replace", error))?;
    unfinished.is_in_place = true;
    // Not before: without its lock the file would count as left behind.
    drop(file);
    sync_directory(path)
}

/// Gives the new file to the old one's owner and group.
#[cfg(unix)]
fn keep_owner(new: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let ours = new.metadata()?;
    if (ours.uid(), ours.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(new, Some(old.uid()), Some(old.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Resolves a symbolic link.
fn target(path: &Path) -> Result<PathBuf, FileErrorKind> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => {
            fs::canonicalize(path).map_err(|error| FileErrorKind::io("follow the link", error))
        }
        _ => Ok(path.to_path_buf()),
    }
}

/// Syncs the directory, so that the rename is on the disk.
fn sync_directory(path: &Path) -> Result<(), FileErrorKind> {
    if !cfg!(unix) {
        return Ok(());
    }
    // Some file systems cannot sync directories, and some directories are writable but not readable.
    use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    let action = "force to the disk the directory of the new file, and have written";
    let directory = File::open(directory_of(path)).and_then(|directory| directory.sync_all());
    match directory.map_err(|error| (error.kind(), error)) {
        Ok(()) | Err((InvalidInput | Unsupported | PermissionDenied, _)) => Ok(()),
        Err((_, error)) => Err(FileErrorKind::io(action, error)),
    }
}

/// The beginning of the names of a file's temporary files.
fn prefix(path: &Path) -> Result<String, FileErrorKind> {
    let name = path.file_name().ok_or(FileErrorKind::NotReplaceable)?.to_string_lossy();
    let end = name.char_indices().map(|(start, char)| start + char.len_utf8());
    let end = end.take_while(|&end| end <= MOST_NAME_BYTES).last().unwrap_or(0);
    Ok(format!(".{}.", &name[..end]))
}

/// Removes the temporary files of killed programs. What cannot be removed stays.
fn remove_left_behind(path: &Path) {
    let (Ok(prefix), Ok(entries)) = (prefix(path), fs::read_dir(directory_of(path))) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_temporary = |name: &str| {
            let number = name.strip_prefix(&prefix)?.strip_suffix(SUFFIX)?.strip_suffix('.')?;
            Some(number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
        };
        // Its program has it locked.
        if name.to_str().and_then(is_temporary) == Some(true)
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A temporary file, removed on drop unless it was renamed.
#[derive(Debug)]
struct Unfinished {
    path: PathBuf,
    is_in_place: bool,
}

impl Unfinished {
    fn beside(path: &Path) -> Result<(Self, File), FileErrorKind> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let prefix = prefix(path)?;
        let mut tries = 0;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{prefix}{}-{number}.{SUFFIX}", process::id());
            let path = directory_of(path).join(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    // Some file systems have no locks; there, temporary files are left behind.
                    let is_locked = file.lock().is_ok();
                    // Another program may have taken it for one that was left behind before it was locked.
                    if !is_locked || path.exists() {
                        return Ok((Self { path, is_in_place: false }, file));
                    }
                }
                // Left behind by an earlier process with the same id.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && tries < TRIES => {
                    tries += 1;
                }
                Err(error) => return Err(FileErrorKind::io("create a file beside", error)),
            }
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_in_place {
            // The original error is more useful than a failure to remove the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}
