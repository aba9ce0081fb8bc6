//! Remembers which large files were found whole, so that a query need not read them through again.
//!
//! A text file in the user's cache directory has a line for each: device, inode, size and times. A file that was
//! changed or replaced has another line. Without such a directory, or where files have no inodes, nothing is
//! remembered.

use std::fs::{self, Metadata};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Lines kept.
const MOST: usize = 1_000;
/// A file that was changed this many seconds ago may be changed again without another time.
const SETTLED_SECONDS: i64 = 2;

/// A file and its state, as a line of the cache.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Identity {
    line: String,
    /// Seconds since 1970 of the last change of the file or its metadata; `None` without inodes.
    changed: Option<i64>,
}

impl Identity {
    #[cfg(unix)]
    pub(super) fn of(file: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let modified = format!("{}.{:09}", file.mtime(), file.mtime_nsec());
        let changed = format!("{}.{:09}", file.ctime(), file.ctime_nsec());
        let (device, inode, bytes) = (file.dev(), file.ino(), file.len());
        let line = format!("{device} {inode} {bytes} {modified} {changed}");
        Self { line, changed: Some(file.ctime()) }
    }

    #[cfg(not(unix))]
    pub(super) fn of(file: &Metadata) -> Self {
        Self { line: format!("{} {:?}", file.len(), file.modified().ok()), changed: None }
    }

    fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        self.changed.is_some_and(|changed| changed + SETTLED_SECONDS <= now as i64)
    }
}

/// Whether this file was found whole.
pub(super) fn has(identity: &Identity) -> bool {
    identity.changed.is_some() && lines().lines().any(|line| line == identity.line)
}

/// Remembers that this file is whole. If that fails, it is verified again the next time.
pub(super) fn remember(identity: &Identity) {
    if let Some(path) = path().filter(|_| identity.is_settled()) {
        let lines = lines();
        let known = lines.lines().filter(|line| *line != identity.line);
        let known = known.rev().take(MOST - 1).collect::<Vec<_>>().into_iter().rev();
        let text: String =
            known.chain([identity.line.as_str()]).flat_map(|line| [line, "\n"]).collect();
        let _ =
            fs::create_dir_all(path.parent().unwrap_or(&path)).and_then(|()| replace(&path, &text));
    }
}

fn replace(path: &PathBuf, text: &str) -> std::io::Result<()> {
    // Two commands at once: one line may be lost, none is mangled.
    let new = path.with_extension(std::process::id().to_string());
    fs::write(&new, text).and_then(|()| fs::rename(&new, path))
}

fn lines() -> String {
    path().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default()
}

fn path() -> Option<PathBuf> {
    let directory =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = directory("XDG_CACHE_HOME").or_else(|| Some(directory("HOME")?.join(".cache")))?;
    Some(cache.join("equibloom").join("verified"))
}
