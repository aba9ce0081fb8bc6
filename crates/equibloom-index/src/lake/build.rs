//! Builds and updates indexes of Parquet files.

use std::fs::File;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::column::{Column, ColumnError};
use super::files::{list, roots, settle, state};
use crate::draft::Draft;
use crate::error::IndexError;
use crate::index::Index;
use crate::journal::Journal;
use crate::key::{Key, Range};
use crate::key_set::{Built, KeySet};
use crate::sizing;
use crate::table::{Contents, Settings, State};

/// How files are read.
pub struct Options<'a> {
    /// Threads that read files, each one a file.
    pub threads: usize,
    /// Called with what has been done.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Asked every few thousand rows whether to end with [`IndexError::Stopped`].
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Options<'_> {
    /// So many threads, without progress, to the end.
    pub const fn new(threads: usize) -> Self {
        Self { threads, progress: &|_| (), stop: &|| false }
    }
}

/// What has been done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// So many files will be read.
    Planned {
        /// Their number.
        files: u64,
    },
    /// One of them has been read.
    Read,
}

/// What was done with the files of the lake.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Files in the index.
    pub files: u64,
    /// Files that were read.
    pub read: u64,
    /// Files taken from the older index.
    pub kept: u64,
    /// Files that a build had finished before it was interrupted.
    pub resumed: u64,
    /// Files of the older index that are not there any more.
    pub removed: u64,
    /// Files that changed while they were read, or vanished, with the reason. The index does not know them, so that they are read for every key.
    pub skipped: Vec<(String, String)>,
}

/// Builds an index of the files below the [roots](Settings::roots), beginning with what an interrupted build has left beside it.
///
/// A file or column that cannot be read is in the index as unknown.
///
/// # Errors
/// [`IndexError`] if the settings cannot work, no file is found, another program builds the index, or it cannot be written.
pub fn build(
    path: impl AsRef<Path>,
    settings: Settings,
    options: &Options<'_>,
) -> Result<Report, IndexError> {
    settings.check()?;
    let roots = settings.roots.iter().map(|root| {
        // A later update finds the same files from another directory.
        let root = std::path::absolute(root).map_err(IndexError::io(Path::new(root), "find"))?;
        root.into_os_string().into_string().map_err(|root| {
            IndexError::Settings(format!("{}: its name is no UTF-8: rename it", root.display()))
        })
    });
    let roots = roots.collect::<Result<Vec<_>, _>>()?;
    for root in &roots {
        if list(std::slice::from_ref(root))?.is_empty() {
            let reason = "there is no Parquet file: give files, directories or patterns";
            return Err(IndexError::Settings(format!("{root}: {reason}")));
        }
    }
    Work { settings: Settings { roots, ..settings }, old: None, options }.run(path.as_ref())
}

/// Brings an index up to date: reads files that are new or have changed, by path, size, time and footer, and drops those that are gone.
/// The old index is replaced when the new one is complete.
///
/// # Errors
/// As [`build`]; or if the index cannot be read or is damaged.
pub fn update(path: impl AsRef<Path>, options: &Options<'_>) -> Result<Report, IndexError> {
    let path = path.as_ref();
    let old = Index::load(path)?;
    roots(&old)?;
    Work { settings: old.settings().clone(), old: Some(old), options }.run(path)
}

struct Work<'a> {
    settings: Settings,
    old: Option<Index>,
    options: &'a Options<'a>,
}

/// A file to be read.
struct Task {
    path: String,
    state: State,
}

impl Work<'_> {
    fn run(&self, path: &Path) -> Result<Report, IndexError> {
        let mut report = Report::default();
        let mut draft = Draft::new(self.settings.clone());
        let mut tasks = Vec::new();
        for path in list(&self.settings.roots)? {
            let state = match state(&path) {
                Ok(state) => state,
                Err(error) => {
                    report.skipped.push((path, error.to_string()));
                    continue;
                }
            };
            if self.keep(&path, state, &mut draft)? {
                report.kept += 1;
            } else {
                tasks.push(Task { path, state });
            }
        }
        let rates = self.rates(&draft, &tasks);
        let mut journal = Journal::open(path, &self.settings, &rates)?;
        let wanted = tasks.iter().map(|task| (task.path.clone(), task.state)).collect();
        let wanted: std::collections::HashMap<String, State> = wanted;
        tasks.retain(|task| !journal.has(&task.path, task.state));
        report.resumed = (wanted.len() - tasks.len()) as u64;
        // The largest first, so that no thread has one left at the end.
        tasks.sort_by_key(|task| std::cmp::Reverse(task.state.size));
        let skipped = self.read_all(&tasks, &rates, &mut journal)?;
        report.read = (tasks.len() - skipped.len()) as u64;
        report.skipped.extend(skipped);
        journal.draft(&mut draft, |path| wanted.get(path).copied())?;
        report.files = draft.len() as u64;
        if let Some(old) = &self.old {
            let there = |path: &str| {
                draft.has(path) || report.skipped.iter().any(|(skipped, _)| skipped == path)
            };
            let gone = old.files().iter().filter(|file| !there(&file.path));
            report.removed = gone.count() as u64;
        }
        draft.save(path)?;
        journal.remove()?;
        Ok(report)
    }

    /// Takes a file from the old index, if it is the same.
    fn keep(&self, path: &str, state: State, draft: &mut Draft) -> Result<bool, IndexError> {
        let Some(old) = &self.old else { return Ok(false) };
        match old.file(path) {
            Some(number) if old.files()[number].state == state => draft.keep(old, number),
            _ => Ok(false),
        }
    }

    /// The rate of each column's filters.
    fn rates(&self, draft: &Draft, tasks: &[Task]) -> Vec<f64> {
        let columns = self.settings.columns.iter().zip(0..);
        let rate = |(column, number): (&String, u32)| {
            let kept = draft.entries().flat_map(|file| &file.units).filter_map(|unit| match &unit
                .contents
            {
                Contents::Keys { range, .. } if unit.column == number => Some(range.clone()),
                _ => None,
            });
            let mut ranges: Vec<Option<Range>> = kept.map(Some).collect();
            for task in tasks {
                ranges.extend(self.hints(task, column));
            }
            sizing::rate(ranges.iter().map(Option::as_ref), self.settings.false_files)
        };
        columns.map(rate).collect()
    }

    /// The ranges of the units of a file, as its statistics tell.
    fn hints(&self, task: &Task, column: &str) -> Vec<Option<Range>> {
        let opened = File::open(&task.path).ok();
        let opened = opened.and_then(|file| Column::open(&task.path, file, column).ok());
        // Will be unknown.
        let Some(column) = opened else { return Vec::new() };
        let hints = (0..column.row_groups()).map(|group| column.hint(group));
        if self.settings.row_groups {
            return hints.collect();
        }
        let union = hints.reduce(|one, other| match (one?, other?) {
            (Range::Integers { least: a, most: b }, Range::Integers { least: c, most: d }) => {
                Some(Range::Integers { least: a.min(c), most: b.max(d) })
            }
            (Range::Bytes { least: a, most: b }, Range::Bytes { least: c, most: d }) => {
                Some(Range::Bytes { least: a.min(c), most: b.max(d) })
            }
            _ => None,
        });
        union.into_iter().collect()
    }

    /// Reads files into the journal, by several threads; returns those that have changed meanwhile.
    fn read_all(
        &self,
        tasks: &[Task],
        rates: &[f64],
        journal: &mut Journal,
    ) -> Result<Vec<(String, String)>, IndexError> {
        (self.options.progress)(Progress::Planned { files: tasks.len() as u64 });
        let next = AtomicUsize::new(0);
        let results = Mutex::new((journal, Vec::new(), None));
        let work = || {
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                settle(task.state);
                let built = match state(&task.path) {
                    Ok(now) if now == task.state => self.built(task, rates),
                    // It is told below.
                    _ => Ok(Vec::new()),
                };
                // Another thread would have ended the program by a panic.
                let mut results = results.lock().unwrap_or_else(|locked| locked.into_inner());
                let (journal, skipped, failed) = &mut *results;
                let now = state(&task.path);
                let stored = match (built, now) {
                    (Ok(built), Ok(now)) if now == task.state => {
                        journal.add(&task.path, now, built)
                    }
                    (Err(Failure::Column(reason)), Ok(now)) if now == task.state => {
                        journal.add_unknown(&task.path, now, &reason.to_string())
                    }
                    (Err(Failure::Index(error)), _) => Err(error),
                    (_, now) => {
                        let changed = "it changed while it was read".to_owned();
                        let reason = now.err().map_or(changed, |error| error.to_string());
                        skipped.push((task.path.clone(), reason));
                        Ok(())
                    }
                };
                if let Err(error) = stored {
                    failed.get_or_insert(error);
                    next.store(tasks.len(), Ordering::Relaxed);
                }
                drop(results);
                (self.options.progress)(Progress::Read);
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.options.threads.min(tasks.len()) {
                // A thread that cannot be had leaves its files to the others.
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        let (_, skipped, failed) =
            results.into_inner().unwrap_or_else(|locked| locked.into_inner());
        failed.map_or(Ok(skipped), Err)
    }

    /// The units of a file. A column that cannot be read is unknown; if its row groups cannot be told, the file is.
    fn built(&self, task: &Task, rates: &[f64]) -> Result<Vec<Built>, Failure> {
        let columns: Vec<Result<Column, ColumnError>> = self
            .settings
            .columns
            .iter()
            .map(|name| {
                let file = File::open(&task.path);
                let opened = file.map_err(|error| ColumnError::new(&task.path, &error));
                opened.and_then(|file| Column::open(&task.path, file, name))
            })
            .collect();
        if !self.settings.row_groups {
            let units = columns.into_iter().zip(rates).map(|(column, &rate)| match column {
                Ok(column) => self.unit(&column, 0..column.row_groups(), rate),
                Err(error) => Ok(Built::unknown(error.to_string())),
            });
            return units.collect();
        }
        let groups = columns.iter().flatten().map(Column::row_groups).next();
        let Some(groups) = groups else {
            let error = columns.into_iter().find_map(Result::err);
            return Err(error.map_or_else(
                || IndexError::Settings("an index of no column".to_owned()).into(),
                Failure::Column,
            ));
        };
        let mut units = Vec::new();
        for group in 0..groups {
            for (column, &rate) in columns.iter().zip(rates) {
                units.push(match column {
                    Ok(column) => self.unit(column, group..group + 1, rate)?,
                    Err(error) => Built::unknown(error.to_string()),
                });
            }
        }
        Ok(units)
    }

    fn unit(
        &self,
        column: &Column,
        row_groups: std::ops::Range<usize>,
        rate: f64,
    ) -> Result<Built, Failure> {
        let mut keys = KeySet::new(self.settings.seed);
        let read = row_groups.into_iter().try_for_each(|group| {
            let mut reader = column.read(group).map_err(Failure::Column)?;
            let mut insert = |key: Key<'_>| {
                keys.insert(key);
                Ok::<(), ColumnError>(())
            };
            while reader.next(&mut insert).map_err(Failure::Column)?.is_some() {
                if (self.options.stop)() {
                    return Err(IndexError::Stopped.into());
                }
            }
            Ok(())
        });
        match read {
            Err(Failure::Column(error)) => keys.set_unknown(error.to_string()),
            read => read?,
        }
        Ok(keys.finish(rate)?)
    }
}

/// Why a file has no units.
enum Failure {
    /// It is to be read for every key.
    Column(ColumnError),
    /// The build cannot go on.
    Index(IndexError),
}

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}
