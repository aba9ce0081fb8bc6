//! Files that a build has finished, on the disk: after a kill the next build goes on from them.
#![allow(unsafe_code, reason = "the journal is mapped, and locked by this program")]

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3Default;

use crate::draft::{Draft, Drafted};
use crate::error::IndexError;
use crate::format::{Bytes, Slice};
use crate::key_set::Built;
use crate::table::{Contents, FileEntry, Settings, State};

/// Suffix of a journal's name, behind that of its index.
const SUFFIX: &str = ".part";
/// Lengths of entry and filters, and the checksum of both.
const RECORD_HEADER: usize = 24;

/// Finished files of a build that is under way, in a file beside the index: `lake.eqx.part`.
///
/// Each record has a checksum, so that a torn one, at the end, is cut off. The first says with which settings and rates the files
/// were indexed; a journal of others is begun anew.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    settings: Settings,
    /// The state of each file, and where its record is.
    finished: HashMap<String, (State, usize)>,
    end: u64,
}

impl Journal {
    /// The journal of an index that will be at this path: what an interrupted build left there, or a new one. `rates` are those of each
    /// column's filters.
    ///
    /// # Errors
    /// [`IndexError::Locked`] while another program builds the index, [`IndexError::Io`] if the journal cannot be written.
    pub fn open(index: &Path, settings: &Settings, rates: &[f64]) -> Result<Self, IndexError> {
        let mut path = index.as_os_str().to_owned();
        path.push(SUFFIX);
        let path = PathBuf::from(path);
        let file = lock(&path)?;
        let plan = postcard::to_stdvec(&(settings, rates)).unwrap_or_default();
        let mut journal =
            Self { path, file, settings: settings.clone(), finished: HashMap::new(), end: 0 };
        journal.recover(&plan)?;
        Ok(journal)
    }

    /// Finds whole records of the same plan and cuts off the rest.
    fn recover(&mut self, plan: &[u8]) -> Result<(), IndexError> {
        let bytes = self.map()?;
        let bytes = (*bytes).as_ref();
        let mut records = records(bytes);
        if let Some((_, entry, _)) = records.next().filter(|(_, entry, _)| *entry == plan) {
            self.end = (RECORD_HEADER + entry.len()) as u64;
            for (start, entry, filters) in records {
                let Ok(entry) = postcard::from_bytes::<FileEntry>(entry) else { break };
                self.finished.insert(entry.path, (entry.state, start));
                self.end = filters.end as u64;
            }
        }
        self.file.set_len(self.end).map_err(IndexError::io(&self.path, "cut"))?;
        if self.end == 0 {
            self.write(plan, &[])?;
        }
        Ok(())
    }

    /// Whether the file was finished in this state.
    pub fn has(&self, path: &str, state: State) -> bool {
        self.finished.get(path).is_some_and(|(finished, _)| *finished == state)
    }

    /// Appends a finished file; see [`Draft::add`].
    ///
    /// # Errors
    /// [`IndexError::Entry`] for a wrong number of units, [`IndexError::Io`] if the journal cannot be written.
    pub fn add(
        &mut self,
        path: &str,
        state: State,
        built: impl IntoIterator<Item = Built>,
    ) -> Result<(), IndexError> {
        self.put(Drafted::new(&self.settings, path, state, built)?)
    }

    /// Appends a file that may hold every key; see [`Draft::add_unknown`].
    ///
    /// # Errors
    /// [`IndexError::Io`] if the journal cannot be written.
    pub fn add_unknown(
        &mut self,
        path: &str,
        state: State,
        reason: &str,
    ) -> Result<(), IndexError> {
        self.put(Drafted::unknown(&self.settings, path, state, reason))
    }

    fn put(&mut self, Drafted { entry, filters }: Drafted) -> Result<(), IndexError> {
        let start = self.end as usize;
        let bytes = postcard::to_stdvec(&entry).map_err(|error| IndexError::Entry {
            path: entry.path.clone(),
            reason: error.to_string(),
        })?;
        self.write(&bytes, &filters)?;
        self.finished.insert(entry.path, (entry.state, start));
        Ok(())
    }

    fn write(&mut self, entry: &[u8], filters: &[Slice]) -> Result<(), IndexError> {
        let mut sum = Xxh3Default::new();
        sum.update(entry);
        filters.iter().for_each(|filter| sum.update(filter.as_ref()));
        let length: usize = filters.iter().map(|filter| filter.range.len()).sum();
        let header = [entry.len() as u64, length as u64, sum.digest()].map(u64::to_le_bytes);
        let mut record = header.concat();
        record.extend(entry);
        filters.iter().for_each(|filter| record.extend(filter.as_ref()));
        let written = self.file.seek(SeekFrom::Start(self.end));
        written
            .and_then(|_| self.file.write_all(&record))
            .map_err(IndexError::io(&self.path, "write"))?;
        self.end += record.len() as u64;
        Ok(())
    }

    /// Puts the finished files that are wanted in the state that `wanted` says into a draft.
    ///
    /// # Errors
    /// [`IndexError`] if the journal cannot be read, or a file is in the draft.
    pub fn draft(
        &self,
        draft: &mut Draft,
        wanted: impl Fn(&str) -> Option<State>,
    ) -> Result<(), IndexError> {
        let bytes = self.map()?;
        let mut finished: Vec<_> = self.finished.iter().collect();
        finished.sort_unstable_by_key(|(_, (_, start))| *start);
        for (path, (state, start)) in finished {
            if wanted(path) != Some(*state) {
                continue;
            }
            let all = (*bytes).as_ref();
            let record = record(all, *start).ok_or_else(|| IndexError::Entry {
                path: path.clone(),
                reason: "its record in the journal has changed: build again".to_owned(),
            })?;
            let (_, entry, filters) = record;
            let entry: FileEntry = postcard::from_bytes(entry)
                .map_err(|error| IndexError::damaged(format!("the journal: {error}")))?;
            let mut at = filters.start;
            let mut slices = Vec::new();
            for unit in &entry.units {
                if let Contents::Keys { filter: Some(stored), .. } = &unit.contents {
                    let end = at + stored.length as usize;
                    slices.push(Slice { bytes: bytes.clone(), range: at..end });
                    at = end;
                }
            }
            draft.put(Drafted { entry, filters: slices })?;
        }
        Ok(())
    }

    fn map(&self) -> Result<Bytes, IndexError> {
        // SAFETY: the journal is locked, and this program changes no byte of a record that it has written.
        let mapping = unsafe { memmap2::Mmap::map(&self.file) };
        Ok(Arc::new(mapping.map_err(IndexError::io(&self.path, "map"))?))
    }

    /// Removes the journal, once its index is saved.
    ///
    /// # Errors
    /// [`IndexError::Io`] if it cannot be removed.
    pub fn remove(self) -> Result<(), IndexError> {
        fs::remove_file(&self.path).map_err(IndexError::io(&self.path, "remove"))
    }
}

/// A record: where it begins, its entry, and where its filters lie.
type Record<'a> = (usize, &'a [u8], std::ops::Range<usize>);

/// The whole record at this position.
fn record(bytes: &[u8], start: usize) -> Option<Record<'_>> {
    let rest = bytes.get(start..)?;
    let number = |place: usize| {
        let bytes = rest.get(8 * place..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    };
    let (entry, filters) = (usize::try_from(number(0)?).ok()?, usize::try_from(number(1)?).ok()?);
    let length = entry.checked_add(filters)?;
    let contents = rest.get(RECORD_HEADER..)?.get(..length)?;
    let mut sum = Xxh3Default::new();
    sum.update(contents);
    if sum.digest() != number(2)? {
        return None;
    }
    let filters_start = start + RECORD_HEADER + entry;
    Some((start, &contents[..entry], filters_start..filters_start + filters))
}

/// The whole records from the beginning on.
fn records(bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let mut end = 0;
    std::iter::from_fn(move || {
        let record = record(bytes, end)?;
        end = record.2.end;
        Some(record)
    })
}

/// Opens and locks the journal. One that another program has removed meanwhile is opened again.
fn lock(path: &Path) -> Result<File, IndexError> {
    loop {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(IndexError::io(path, "open"))?;
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => {
                return Err(IndexError::Locked { path: path.to_path_buf() });
            }
            Err(fs::TryLockError::Error(error)) if error.kind() != ErrorKind::Unsupported => {
                return Err(IndexError::io(path, "lock")(error));
            }
            _ => {}
        }
        if is_at(&file, path) {
            return Ok(file);
        }
    }
}

/// Whether an open file is still the one of that name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}
