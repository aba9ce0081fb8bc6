//! What an index says about its files: the table behind the filters.

use serde::{Deserialize, Serialize};

use crate::error::IndexError;
use crate::key::Range;

/// What an index is built from, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Settings {
    /// Where the files come from: paths, directories, globs. For programs that look for new files.
    pub roots: Vec<String>,
    /// The columns that are indexed.
    pub columns: Vec<String>,
    /// Whether each row group of a file has its own filter.
    pub row_groups: bool,
    /// How many files (or row groups) a query for a missing key may open in vain, on average.
    pub false_files: f64,
    /// Seed of the hash.
    pub seed: u64,
}

impl Settings {
    /// Files that a query opens in vain, if nothing is said.
    pub const FALSE_FILES: f64 = 0.1;

    /// One filter a file for each of these columns.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self {
            roots: Vec::new(),
            columns: columns.into_iter().map(Into::into).collect(),
            row_groups: false,
            false_files: Self::FALSE_FILES,
            seed: 0,
        }
    }

    /// With another [`false_files`](Self::false_files).
    #[must_use]
    pub fn false_files(self, false_files: f64) -> Self {
        Self { false_files, ..self }
    }

    /// With one filter per row group, or per file.
    #[must_use]
    pub fn row_groups(self, row_groups: bool) -> Self {
        Self { row_groups, ..self }
    }

    /// With another seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// With these [`roots`](Self::roots).
    #[must_use]
    pub fn roots<S: Into<String>>(self, roots: impl IntoIterator<Item = S>) -> Self {
        Self { roots: roots.into_iter().map(Into::into).collect(), ..self }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// [`IndexError::Settings`] if there is no column, or one twice, or `false_files` is not above 0.
    pub fn check(&self) -> Result<(), IndexError> {
        let refused = |reason| Err(IndexError::Settings(reason));
        if self.columns.is_empty() {
            return refused("an index of no column: name at least one".to_owned());
        }
        for (number, column) in self.columns.iter().enumerate() {
            if self.columns[..number].contains(column) {
                return refused(format!("the column `{column}` is named twice: name it once"));
            }
        }
        // Not a number is refused, too.
        if !(1e-6..=1e6).contains(&self.false_files) {
            return refused(format!(
                "{} files that a query may open in vain: give a number from 1e-6 to 1e6, such as 0.1",
                self.false_files
            ));
        }
        Ok(())
    }
}

/// The state in which a file was indexed. If it differs, the file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct State {
    /// Bytes of the file.
    pub size: u64,
    /// When it, or on Unix its metadata, was last changed, in nanoseconds since 1970; 0 if that is not known.
    pub modified: i64,
    /// XXH3-64 of the footer, with the 8 bytes behind it; 0 if there is none.
    pub footer: u64,
}

/// A file of the lake.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its path or name, as the caller gives it.
    pub path: String,
    /// Its state when it was indexed.
    pub state: State,
    /// What is known of each column, in the order of [`Settings::columns`]; of each column one for each row group, if those are
    /// indexed.
    pub units: Vec<Unit>,
}

/// What is known about one column of a file or row group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// The column's number in [`Settings::columns`].
    pub column: u32,
    /// The number of the row group in its file; `None` for the whole file.
    pub row_group: Option<u32>,
    /// Its keys.
    pub contents: Contents,
}

/// The keys of a [`Unit`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Contents {
    /// Not known: it may hold every key.
    Unknown {
        /// Why.
        reason: String,
    },
    /// None: no row has a key.
    Empty,
    /// Some keys.
    Keys {
        /// Number of different keys.
        count: u64,
        /// The smallest and the largest.
        range: Range,
        /// The filter; without one the range decides alone.
        filter: Option<StoredFilter>,
    },
}

/// Where a filter lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StoredFilter {
    /// Position of its first byte: in the index file, or while the index is drafted, among the filters of its file.
    pub offset: u64,
    /// Bytes of the filter, a whole filter file.
    pub length: u64,
    /// The false-positive rate that it was planned for.
    pub rate: f64,
}

/// The table of an index file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) settings: Settings,
    pub(crate) files: Vec<FileEntry>,
}
