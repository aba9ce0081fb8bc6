//! Files that an index will have.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use equibloom::file::{self, FileErrorKind};

use crate::error::IndexError;
use crate::format::{self, Bytes, Slice};
use crate::index::Index;
use crate::key_set::Built;
use crate::table::{Contents, FileEntry, Settings, State, Table};

/// Files that an index will have: new ones, and those kept from an older index.
#[derive(Debug)]
pub struct Draft {
    settings: Settings,
    files: BTreeMap<String, Drafted>,
}

/// A file, and the bytes of the filters of its units, in their order.
#[derive(Debug, Clone)]
pub(crate) struct Drafted {
    pub(crate) entry: FileEntry,
    pub(crate) filters: Vec<Slice>,
}

impl Drafted {
    pub(crate) fn new(
        settings: &Settings,
        path: &str,
        state: State,
        built: impl IntoIterator<Item = Built>,
    ) -> Result<Self, IndexError> {
        let columns = settings.columns.len();
        let (mut units, mut filters) = (Vec::new(), Vec::new());
        for (number, built) in built.into_iter().enumerate() {
            let row_group = settings.row_groups.then_some((number / columns) as u32);
            units.push(built.unit((number % columns) as u32, row_group));
            if matches!(built.contents, Contents::Keys { filter: Some(_), .. }) {
                let length = built.filter.len();
                let bytes: Bytes = Arc::new(built.filter);
                filters.push(Slice { bytes, range: 0..length });
            }
        }
        let is_whole = if settings.row_groups {
            units.len().is_multiple_of(columns)
        } else {
            units.len() == columns
        };
        if !is_whole {
            let reason = format!("{} units for {columns} columns: give one for each", units.len());
            return Err(IndexError::Entry { path: path.to_owned(), reason });
        }
        Ok(Self { entry: FileEntry { path: path.to_owned(), state, units }, filters })
    }

    /// A file that could not be read.
    pub(crate) fn unknown(settings: &Settings, path: &str, state: State, reason: &str) -> Self {
        let built = settings.columns.iter().zip(0..);
        let units = built.map(|(_, column)| Built::unknown(reason).unit(column, None)).collect();
        let entry = FileEntry { path: path.to_owned(), state, units };
        Self { entry, filters: Vec::new() }
    }
}

impl Draft {
    /// No files.
    pub fn new(settings: Settings) -> Self {
        Self { settings, files: BTreeMap::new() }
    }

    /// The settings.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Adds a file: one unit for each column; with row groups, one for each column of the first row group, then of the next.
    ///
    /// # Errors
    /// [`IndexError::Entry`] for another number of units, or a path that is in the draft.
    pub fn add(
        &mut self,
        path: &str,
        state: State,
        built: impl IntoIterator<Item = Built>,
    ) -> Result<(), IndexError> {
        self.put(Drafted::new(&self.settings, path, state, built)?)
    }

    /// Adds a file that may hold every key, because of this.
    ///
    /// # Errors
    /// [`IndexError::Entry`] for a path that is in the draft.
    pub fn add_unknown(
        &mut self,
        path: &str,
        state: State,
        reason: &str,
    ) -> Result<(), IndexError> {
        self.put(Drafted::unknown(&self.settings, path, state, reason))
    }

    /// Adds a file of another index with the same columns, row groups and seed, as it is there; `false` if one of its filters is
    /// damaged, so that it must be read again.
    ///
    /// # Errors
    /// [`IndexError::Entry`] for a path that is in the draft, or [`IndexError::Settings`] for an index with other settings.
    pub fn keep(&mut self, index: &Index, file: usize) -> Result<bool, IndexError> {
        let (ours, theirs) = (&self.settings, index.settings());
        if (&ours.columns, ours.row_groups, ours.seed)
            != (&theirs.columns, theirs.row_groups, theirs.seed)
        {
            let reason = "its columns, row groups or seed are not those of the draft";
            return Err(IndexError::Settings(format!("a file of another index: {reason}")));
        }
        match index.drafted(file) {
            Some(drafted) => self.put(drafted).map(|()| true),
            None => Ok(false),
        }
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether there is a file with this path.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The files, sorted by path.
    pub fn entries(&self) -> impl Iterator<Item = &FileEntry> {
        self.files.values().map(|drafted| &drafted.entry)
    }

    pub(crate) fn put(&mut self, drafted: Drafted) -> Result<(), IndexError> {
        match self.files.entry(drafted.entry.path.clone()) {
            Entry::Vacant(place) => {
                place.insert(drafted);
                Ok(())
            }
            Entry::Occupied(place) => Err(IndexError::Entry {
                path: place.key().clone(),
                reason: "the file is added twice: add it once".to_owned(),
            }),
        }
    }

    /// Writes the index and replaces an older one as a whole, or not at all.
    ///
    /// # Errors
    /// [`IndexError`] if it cannot be written; an older one is unchanged.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), IndexError> {
        Ok(file::replace(path, |file| {
            let written = self.write(std::io::BufWriter::with_capacity(1 << 20, file));
            written.map_err(|source| FileErrorKind::Io { action: "write", source }.into())
        })?)
    }

    /// The bytes of the index.
    ///
    /// # Errors
    /// [`IndexError`] if the settings cannot work.
    pub fn to_bytes(&self) -> Result<Vec<u8>, IndexError> {
        self.settings.check()?;
        let mut bytes = Vec::new();
        let written = self.write(&mut bytes);
        written.map_err(IndexError::io(Path::new("memory"), "write"))?;
        Ok(bytes)
    }

    fn write(&self, to: impl Write) -> std::io::Result<()> {
        let mut files: Vec<FileEntry> = Vec::new();
        let mut filters = Vec::new();
        for Drafted { entry, filters: own } in self.files.values() {
            files.push(entry.clone());
            filters.extend(own);
        }
        let mut table = Table { settings: self.settings.clone(), files };
        format::write(to, &mut table, &filters)
    }
}
