//! The files of a lake, and their states.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use walkdir::{DirEntry, WalkDir};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::IndexError;
use crate::index::Index;
use crate::table::State;

/// How names of Parquet files end.
const EXTENSIONS: [&str; 3] = ["parquet", "parq", "pq"];
/// The length of the footer, and the last bytes of every Parquet file.
const TAIL_BYTES: u64 = 8;

/// The files of a lake, sorted, by their absolute paths: the given files, and those below given directories whose names end in `.parquet`,
/// `.parq` or `.pq`. A root that does not exist is a glob, such as `lake/2026-*`.
///
/// As in Spark, names in directories that begin with a dot or (without `=` in them) with an underscore are skipped.
///
/// # Errors
/// [`IndexError`] if a directory cannot be read, a pattern is wrong, or a path is no UTF-8.
pub fn list(roots: &[String]) -> Result<Vec<String>, IndexError> {
    let mut files = Vec::new();
    for root in roots {
        let root = std::path::absolute(root).map_err(IndexError::io(Path::new(root), "find"))?;
        if root.exists() {
            add(&root, &mut files)?;
            continue;
        }
        let pattern = text(&root)?;
        let found = glob::glob(&pattern).map_err(|error| {
            IndexError::Settings(format!("{pattern}: not a pattern of files: {error}"))
        })?;
        for path in found {
            let path = path.map_err(|error| {
                let path = error.path().to_path_buf();
                IndexError::io(&path, "read")(error.into())
            })?;
            add(&path, &mut files)?;
        }
    }
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

/// Adds a file, or those below a directory.
fn add(root: &Path, files: &mut Vec<String>) -> Result<(), IndexError> {
    if !root.is_dir() {
        files.push(text(root)?);
        return Ok(());
    }
    let is_shown = |entry: &DirEntry| entry.depth() == 0 || !is_hidden(entry);
    for entry in WalkDir::new(root).follow_links(true).into_iter().filter_entry(is_shown) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(root).to_path_buf();
            IndexError::io(&path, "read")(error.into())
        })?;
        let extension = entry.path().extension().and_then(|extension| extension.to_str());
        let is_parquet = extension
            .is_some_and(|found| EXTENSIONS.iter().any(|one| found.eq_ignore_ascii_case(one)));
        if is_parquet && !entry.file_type().is_dir() {
            files.push(text(entry.path())?);
        }
    }
    Ok(())
}

fn is_hidden(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    name.starts_with('.') || name.starts_with('_') && !name.contains('=')
}

fn text(path: &Path) -> Result<String, IndexError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        IndexError::Settings(format!("{}: its name is no UTF-8: rename it", path.display()))
    })
}

/// The state of a Parquet file now.
///
/// # Errors
/// [`IndexError::Io`] if it cannot be read.
pub fn state(path: &str) -> Result<State, IndexError> {
    let path = Path::new(path);
    let mut file = File::open(path).map_err(IndexError::io(path, "open"))?;
    let state = without_footer(&file.metadata().map_err(IndexError::io(path, "examine"))?);
    let footer = footer(&mut file, state.size).map_err(IndexError::io(path, "read"))?;
    Ok(State { footer, ..state })
}

fn without_footer(metadata: &fs::Metadata) -> State {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    // Until 2262.
    let modified = modified.map_or(0, |time| time.as_nanos() as i64);
    State { size: metadata.len(), modified: modified.max(inode_changed(metadata)), footer: 0 }
}

/// When the file or its metadata was last changed: programs can set the time of the former, but not of the latter.
#[cfg(unix)]
fn inode_changed(metadata: &fs::Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;
    metadata.ctime().saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn inode_changed(_: &fs::Metadata) -> i64 {
    0
}

/// The time of a file advances in steps of up to 10 ms: another change within the step would not be seen.
const STEP: Duration = Duration::from_millis(20);

/// Waits until a change of a file that was in this state will have another time.
pub(super) fn settle(state: State) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let then = Duration::from_nanos(state.modified.try_into().unwrap_or(0));
    if now.saturating_sub(then) < STEP {
        thread::sleep(STEP);
    }
}

/// XXH3-64 of the footer; 0 if there is none.
fn footer(file: &mut File, size: u64) -> std::io::Result<u64> {
    let Some(end) = size.checked_sub(TAIL_BYTES) else { return Ok(0) };
    let mut tail = [0; TAIL_BYTES as usize];
    file.seek(SeekFrom::Start(end))?;
    file.read_exact(&mut tail)?;
    let [a, b, c, d, magic @ ..] = tail;
    let length = u32::from_le_bytes([a, b, c, d]).into();
    let Some(start) = end.checked_sub(length).filter(|_| magic == *b"PAR1") else { return Ok(0) };
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(length + TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(xxh3_64(&bytes))
}

/// Which files of a lake an index can speak for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Freshness {
    /// For each of [`Index::files`], whether it is there and unchanged.
    pub known: Vec<bool>,
    /// Files that are new or have changed: they are answers for every key.
    pub unknown: Vec<String>,
}

impl Freshness {
    /// All files of the index, taken as unchanged, and no others.
    pub fn unchecked(index: &Index) -> Self {
        Self { known: vec![true; index.files().len()], unknown: Vec::new() }
    }
}

/// Compares an index with the files that are there now, by path, size and time: that of the last change, or on Unix of the last
/// change of the file or its metadata, if that is later.
///
/// # Errors
/// As [`list`]: the lake cannot be read. [`IndexError::Settings`] for an index of other files than [`build`](super::build) finds: all of
/// them would seem to be gone.
pub fn check(index: &Index) -> Result<Freshness, IndexError> {
    Ok(check_files(index, list(roots(index)?)?))
}

/// The roots of an index of directories: those of a table in a store, say, are no paths.
pub(super) fn roots(index: &Index) -> Result<&[String], IndexError> {
    let roots = &index.settings().roots;
    if roots.is_empty() || roots.iter().any(|root| !Path::new(root).is_absolute()) {
        return Err(IndexError::Settings(
            "the index is not of directories, so that it cannot be compared with them: ask it without a check, and read the \
             files that it does not know"
                .to_owned(),
        ));
    }
    Ok(roots)
}

/// [`check`] for these files, by their absolute paths, instead of those of the index's roots.
pub fn check_files(index: &Index, files: impl IntoIterator<Item = String>) -> Freshness {
    let mut known = vec![false; index.files().len()];
    let mut unknown = Vec::new();
    for path in files {
        let now = fs::metadata(PathBuf::from(&path)).map(|metadata| without_footer(&metadata));
        let number = index.file(&path);
        let is_same = number.zip(now.ok()).is_some_and(|(number, now)| {
            let then = index.files()[number].state;
            (then.size, then.modified) == (now.size, now.modified)
        });
        match number.filter(|_| is_same) {
            Some(number) => known[number] = true,
            None => unknown.push(path),
        }
    }
    Freshness { known, unknown }
}
