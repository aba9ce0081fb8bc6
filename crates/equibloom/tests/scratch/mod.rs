//! A temporary directory for one test, and how its files are opened.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]
#![allow(unsafe_code, reason = "each test knows what happens to its files")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use equibloom::file::FileError;
use equibloom::{Filter, HashFilter, StableKey};

pub struct Scratch {
    directory: PathBuf,
}

impl Scratch {
    pub fn new(name: &str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("equibloom-{name}-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        Self { directory }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Names of all files, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.directory).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.unwrap().file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Opens a file that does not change while the filter lives.
pub fn open(path: impl AsRef<Path>) -> Result<HashFilter, FileError> {
    // SAFETY: only this test knows the file, and it replaces the file or has dropped the filter by then.
    unsafe { HashFilter::open(path) }
}

/// [`open`] for keys of one type.
pub fn open_typed<K: StableKey + ?Sized>(path: impl AsRef<Path>) -> Result<Filter<K>, FileError> {
    // SAFETY: as above.
    unsafe { Filter::open(path) }
}

/// Bytes that begin at a multiple of 64.
struct Aligned {
    buffer: Vec<u8>,
    start: usize,
}

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        &self.buffer[self.start..]
    }
}

/// A filter over a file in memory, as if it were mapped.
pub fn in_place(bytes: &[u8]) -> Result<HashFilter, FileError> {
    let mut buffer: Vec<u8> = Vec::with_capacity(bytes.len() + 64);
    let start = buffer.as_ptr().align_offset(64);
    buffer.resize(start, 0);
    buffer.extend_from_slice(bytes);
    HashFilter::from_owner(Aligned { buffer, start })
}
