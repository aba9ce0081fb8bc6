//! An index that is asked.
#![allow(unsafe_code, reason = "no program can make sure that a file stays as it is")]

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use equibloom::{HashFilter, KeyHash, KeyKind, Stable, file};

use crate::draft::Drafted;
use crate::error::IndexError;
use crate::format::{self, Bytes, Slice};
use crate::key::{Key, Range};
use crate::sizing;
use crate::table::{Contents, FileEntry, Settings, StoredFilter, Table, Unit};

/// How many filters ahead a block is prefetched.
const AHEAD: usize = 16;

/// Which files may hold a key? See [the crate](crate) for an example.
pub struct Index {
    bytes: Bytes,
    table: Table,
    columns: Vec<Column>,
    numbers: HashMap<String, usize>,
    /// Files with a damaged filter, and what is wrong.
    damaged: Vec<(usize, String)>,
}

/// The units of a column, taken apart: lookups read the ranges of all units, and the filters of few.
#[derive(Default)]
struct Column {
    places: Vec<Place>,
    reaches: Vec<Reach>,
    filters: Vec<Option<HashFilter>>,
}

/// Which keys lead to a unit's filter.
enum Reach {
    /// Every key is an answer, and there is no filter.
    All,
    None,
    Within(Range),
}

/// A file or row group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The number of the file in [`Index::files`].
    pub file: usize,
    /// The number of the row group in it, if row groups are indexed and could be read; else all of the file.
    pub row_group: Option<u32>,
}

/// What a column of an index consists of.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Files or row groups with a filter.
    pub filters: u64,
    /// Those whose smallest and largest key decide alone.
    pub ranges: u64,
    /// Those without keys.
    pub empty: u64,
    /// Those that are read for every key.
    pub unknown: u64,
    /// Different keys, summed over files or row groups.
    pub keys: u64,
    /// Keys in filters.
    pub filtered_keys: u64,
    /// Bytes of filters.
    pub filter_bytes: u64,
    /// How many files a query for a missing key opens in vain, at most; without the unknown ones.
    pub false_files: f64,
}

impl Index {
    /// Maps an index and verifies all of it.
    ///
    /// Where a filter is damaged, its file is an answer for every key.
    ///
    /// # Safety
    /// As long as the index or a draft with files of it lives, no program may write to the file or truncate it. Programs that replace it,
    /// as [`Draft::save`](crate::Draft::save) does, do no harm.
    ///
    /// # Errors
    /// [`IndexError`] if the file cannot be mapped, or its table is damaged: then all files must be read.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self, IndexError> {
        // SAFETY: the caller's promise.
        Self::over(unsafe { map(path.as_ref()) }?, true)
    }

    /// [`open`](Self::open) that verifies the table and the headers of the filters, for a file that was verified before.
    ///
    /// # Safety
    /// As for `open`.
    ///
    /// # Errors
    /// As `open`.
    pub unsafe fn open_unverified(path: impl AsRef<Path>) -> Result<Self, IndexError> {
        // SAFETY: the caller's promise.
        Self::over(unsafe { map(path.as_ref()) }?, false)
    }

    /// Reads an index into memory and verifies all of it.
    ///
    /// # Errors
    /// [`IndexError`] if the file cannot be read, or its table is damaged: then all files must be read.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, IndexError> {
        let path = path.as_ref();
        Self::from_bytes(std::fs::read(path).map_err(IndexError::io(path, "read"))?)
    }

    /// An index over its bytes in memory, verified.
    ///
    /// # Errors
    /// [`IndexError`] if its table is damaged: then all files must be read.
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Self, IndexError> {
        Self::over(Arc::new(bytes), true)
    }

    fn over(bytes: Bytes, verifies: bool) -> Result<Self, IndexError> {
        let table = format::read((*bytes).as_ref())?;
        let mut columns = Vec::new();
        columns.resize_with(table.settings.columns.len(), Column::default);
        let mut index =
            Self { bytes, columns, numbers: HashMap::new(), damaged: Vec::new(), table };
        for number in 0..index.table.files.len() {
            index.add(number, verifies)?;
        }
        Ok(index)
    }

    /// Prepares the units of a file for lookups.
    fn add(&mut self, number: usize, verifies: bool) -> Result<(), IndexError> {
        let file = &self.table.files[number];
        let mut columns_seen = vec![false; self.columns.len()];
        for unit in &file.units {
            let column = self.columns.get_mut(unit.column as usize).ok_or_else(|| {
                IndexError::damaged(format!("{}: a unit of column {}", file.path, unit.column))
            })?;
            columns_seen[unit.column as usize] = true;
            column.places.push(Place { file: number, row_group: unit.row_group });
            let (reach, filter) = match &unit.contents {
                Contents::Unknown { .. } => (Reach::All, None),
                Contents::Empty => (Reach::None, None),
                Contents::Keys { range, filter: None, .. } => (Reach::Within(range.clone()), None),
                Contents::Keys { range, filter: Some(stored), .. } => {
                    let opened =
                        open_filter(&self.bytes, stored, range, self.table.settings.seed, verifies);
                    match opened {
                        Ok(filter) => (Reach::Within(range.clone()), Some(filter)),
                        Err(reason) => {
                            self.damaged.push((number, reason));
                            (Reach::All, None)
                        }
                    }
                }
            };
            column.reaches.push(reach);
            column.filters.push(filter);
        }
        // Of a file with row groups there may be none.
        if !self.table.settings.row_groups && columns_seen.contains(&false) {
            return Err(IndexError::damaged(format!("{}: not all columns are there", file.path)));
        }
        if self.numbers.insert(file.path.clone(), number).is_some() {
            return Err(IndexError::damaged(format!("{}: it is there twice", file.path)));
        }
        Ok(())
    }

    /// The settings that the index was built with.
    pub const fn settings(&self) -> &Settings {
        &self.table.settings
    }

    /// The files, by their numbers, sorted by path.
    pub fn files(&self) -> &[FileEntry] {
        &self.table.files
    }

    /// The number of the file with this path.
    pub fn file(&self, path: &str) -> Option<usize> {
        self.numbers.get(path).copied()
    }

    /// Files with damaged filters, and what is wrong. They are answers for every key.
    pub fn damaged(&self) -> &[(usize, String)] {
        &self.damaged
    }

    /// Bytes of the index.
    pub fn bytes(&self) -> u64 {
        (*self.bytes).as_ref().len() as u64
    }

    /// The kind of a column's keys; unspecified if the column is not known or files disagree.
    pub fn key_kind(&self, column: &str) -> KeyKind {
        let mut kinds = self.units(column).filter_map(|unit| match &unit.contents {
            Contents::Keys { range, .. } => Some(range.kind()),
            _ => None,
        });
        match kinds.next() {
            Some(kind) if kinds.all(|other| other == kind) => kind,
            _ => KeyKind::Unspecified,
        }
    }

    fn column_number(&self, column: &str) -> Option<usize> {
        self.table.settings.columns.iter().position(|name| name == column)
    }

    fn units(&self, column: &str) -> impl Iterator<Item = &Unit> {
        let column = self.column_number(column).map(|number| number as u32);
        let units = self.table.files.iter().flat_map(|file| &file.units);
        units.filter(move |unit| Some(unit.column) == column)
    }

    /// What the column consists of.
    pub fn summary(&self, column: &str) -> Summary {
        let mut summary = Summary::default();
        let mut weights = Vec::new();
        for unit in self.units(column) {
            match &unit.contents {
                Contents::Unknown { .. } => summary.unknown += 1,
                Contents::Empty => summary.empty += 1,
                Contents::Keys { count, range, filter } => {
                    summary.keys += count;
                    let gaps = range.gaps(*count);
                    weights.push((Some(range), filter.map_or(gaps, |filter| filter.rate * gaps)));
                    if let Some(filter) = filter {
                        summary.filters += 1;
                        summary.filtered_keys += count;
                        summary.filter_bytes += filter.length;
                    } else {
                        summary.ranges += 1;
                    }
                }
            }
        }
        summary.false_files = sizing::largest_overlap(weights);
        summary
    }

    /// The files or row groups that may hold a key in this column, in the order of [`files`](Self::files): all that hold it, and
    /// few others.
    pub fn find(&self, column: &str, key: Key<'_>) -> impl Iterator<Item = Place> + use<> {
        let mut found = Vec::new();
        match self.column_number(column) {
            Some(number) => self.columns[number].find(key, self.hasher(), &mut found),
            None => found.extend(self.everything()),
        }
        found.into_iter()
    }

    /// [`find`](Self::find) for many keys: `found` gets each place and the number of a key that it may hold, place by place.
    pub fn find_many(&self, column: &str, keys: &[Key<'_>], mut found: impl FnMut(Place, usize)) {
        if let Some(number) = self.column_number(column) {
            return self.columns[number].find_many(keys, self.hasher(), &mut found);
        }
        for place in self.everything() {
            (0..keys.len()).for_each(|key| found(place, key));
        }
    }

    /// All files, as the answer where nothing is known.
    fn everything(&self) -> impl Iterator<Item = Place> + use<> {
        (0..self.table.files.len()).map(|file| Place { file, row_group: None })
    }

    fn hasher(&self) -> Stable {
        Stable::with_seed(self.table.settings.seed)
    }

    /// A file for a draft; `None` if a filter of it is damaged.
    pub(crate) fn drafted(&self, number: usize) -> Option<Drafted> {
        let entry = self.table.files.get(number)?.clone();
        if self.damaged.iter().any(|(file, _)| *file == number) {
            return None;
        }
        let stored = entry.units.iter().filter_map(|unit| match &unit.contents {
            Contents::Keys { filter, .. } => filter.as_ref(),
            _ => None,
        });
        let filters = stored.map(|stored| slice(&self.bytes, stored)).collect::<Option<_>>()?;
        Some(Drafted { entry, filters })
    }
}

impl Column {
    fn find(&self, key: Key<'_>, hasher: Stable, found: &mut Vec<Place>) {
        let Some(hash) = key.hash(hasher) else {
            found.extend(&self.places);
            return;
        };
        // The answers by ranges, of which those by filters are kept.
        let reached: Vec<u32> = (0..)
            .zip(&self.reaches)
            .filter(|(_, reach)| reach.holds(key))
            .map(|(unit, _)| unit)
            .collect();
        let prefetch = |place: usize| {
            if let Some(Some(filter)) = reached.get(place).map(|&unit| &self.filters[unit as usize])
            {
                filter.prefetch(hash);
            }
        };
        (0..AHEAD).for_each(prefetch);
        for (place, &unit) in reached.iter().enumerate() {
            prefetch(place + AHEAD);
            let unit = unit as usize;
            // A key of another kind is not among the hashed ones.
            let is_asked = self.reaches[unit].has_kind(key.kind());
            let holds = |filter: &HashFilter| !is_asked || filter.contains(hash);
            if self.filters[unit].as_ref().is_none_or(holds) {
                found.push(self.places[unit]);
            }
        }
    }

    fn find_many(&self, keys: &[Key<'_>], hasher: Stable, found: &mut impl FnMut(Place, usize)) {
        let hashes: Vec<Option<KeyHash>> = keys.iter().map(|key| key.hash(hasher)).collect();
        let unhashed = hashes.iter().any(Option::is_none);
        let hashes: Vec<KeyHash> =
            hashes.into_iter().map(|hash| hash.unwrap_or(KeyHash::from_u64(0))).collect();
        let kind = keys.first().map(Key::kind);
        let has_one_kind = !unhashed && keys.iter().all(|key| Some(key.kind()) == kind);
        let mut words = Vec::new();
        for unit in 0..self.places.len() {
            let (reach, place) = (&self.reaches[unit], self.places[unit]);
            match &self.filters[unit] {
                Some(filter) if has_one_kind && kind.is_some_and(|kind| reach.has_kind(kind)) => {
                    filter.contains_batch_bitmap(&hashes, &mut words);
                    for_each_bit(&words, |key| {
                        if reach.holds(keys[key]) {
                            found(place, key);
                        }
                    });
                }
                filter => {
                    for (number, key) in keys.iter().enumerate() {
                        let is_asked = reach.has_kind(key.kind()) && key.hash(hasher).is_some();
                        let holds =
                            |filter: &HashFilter| !is_asked || filter.contains(hashes[number]);
                        if reach.holds(*key) && filter.as_ref().is_none_or(holds) {
                            found(place, number);
                        }
                    }
                }
            }
        }
    }
}

impl Reach {
    fn holds(&self, key: Key<'_>) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Within(range) => range.may_hold(key),
        }
    }

    fn has_kind(&self, kind: KeyKind) -> bool {
        matches!(self, Self::Within(range) if range.kind() == kind)
    }
}

fn for_each_bit(words: &[u64], mut then: impl FnMut(usize)) {
    for (number, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            then(64 * number + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

/// A filter that is asked in place, or what is wrong with it.
fn open_filter(
    bytes: &Bytes,
    stored: &StoredFilter,
    range: &Range,
    seed: u64,
    verifies: bool,
) -> Result<HashFilter, String> {
    let slice = slice(bytes, stored).ok_or_else(|| {
        format!("a filter of {} bytes at {} ends behind the index", stored.length, stored.offset)
    })?;
    if verifies {
        file::verify_from(slice.as_ref()).map_err(|error| error.to_string())?;
    }
    let filter = HashFilter::from_owner(slice).map_err(|error| error.to_string())?;
    if filter.parameters().seed != seed || filter.key_kind() != range.kind() {
        return Err("a filter of another seed or kind of keys".to_owned());
    }
    Ok(filter)
}

fn slice(bytes: &Bytes, stored: &StoredFilter) -> Option<Slice> {
    let start = usize::try_from(stored.offset).ok()?;
    let end = start.checked_add(usize::try_from(stored.length).ok()?)?;
    let is_there = end <= (**bytes).as_ref().len();
    is_there.then(|| Slice { bytes: bytes.clone(), range: start..end })
}

/// Maps a file.
///
/// # Safety
/// While the mapping lives, the file must neither change nor shrink.
unsafe fn map(path: &Path) -> Result<Bytes, IndexError> {
    let file = File::open(path).map_err(IndexError::io(path, "open"))?;
    // SAFETY: any bytes can be read as such; the caller promises that they do not change.
    let mapping = unsafe { memmap2::Mmap::map(&file) }.map_err(IndexError::io(path, "map"))?;
    Ok(Arc::new(mapping))
}

/// Shows what it is for, not its contents.
impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index")
            .field("settings", &self.table.settings)
            .field("files", &self.table.files.len())
            .finish_non_exhaustive()
    }
}
