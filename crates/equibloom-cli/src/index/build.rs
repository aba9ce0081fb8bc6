//! `equibloom index build` and `update`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::bail;
use equibloom_index::Settings;
use equibloom_index::lake::{self, Options, Progress, Report};
use indicatif::{HumanCount, ProgressBar};
use serde::Serialize;

use super::file;
use super::info::{self, Info};
use crate::answer::{self, Output, count};
use crate::progress;

/// Builds an index of Parquet files: a filter for each file and column.
///
/// Each filter is sized by the number of different keys in its file, and by the number of files whose ranges of keys overlap: sorted
/// files need fewer bits per key than files of random keys, and integers without gaps none. A file or column that cannot be
/// read is an answer to every key.
///
/// A build that was interrupted goes on if the same command is given again; what is finished is in a file beside the index, whose name ends in
/// .part.
///
/// Exit status: 0 if the index was written, 2 after an error.
///
/// Example: equibloom index build lake/ --column id -o lake.eqx
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Parquet files, directories of them, or patterns such as 'lake/2026-*'.
    #[arg(value_name = "LAKE", required = true, value_hint = clap::ValueHint::AnyPath)]
    lake: Vec<PathBuf>,
    /// A column with keys: text, bytes, integers, dates, timestamps or booleans; can be repeated.
    #[arg(long = "column", value_name = "COLUMN", required = true)]
    columns: Vec<String>,
    /// The index file to write.
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: PathBuf,
    /// How many files a query for a missing key may open in vain, on average. The bits per key follow.
    #[arg(long, value_name = "NUMBER", default_value_t = Settings::FALSE_FILES)]
    false_files: f64,
    /// Make a filter for each row group instead of each file.
    #[arg(long)]
    row_groups: bool,
    /// Seed of the hash.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    reading: Reading,
}

/// Updates an index: reads files that are new or have changed, and drops those that are gone.
///
/// A file has changed if its size, time or footer has. The index is replaced when the new one is complete.
///
/// Exit status: 0 if the index is up to date, 2 after an error.
///
/// Example: equibloom index update lake.eqx
#[derive(clap::Args)]
pub(crate) struct UpdateArguments {
    /// The index file.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    #[command(flatten)]
    reading: Reading,
}

#[derive(clap::Args)]
struct Reading {
    /// Threads that read files: 1 to 256 [default: number of cores].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut roots = Vec::new();
    for root in &arguments.lake {
        match root.to_str() {
            Some(root) => roots.push(root),
            None => bail!("{}: its name is no UTF-8: rename it", root.display()),
        }
    }
    let settings = Settings::new(&arguments.columns)
        .roots(roots)
        .row_groups(arguments.row_groups)
        .false_files(arguments.false_files)
        .seed(arguments.seed);
    arguments
        .reading
        .run(&arguments.output, |options| lake::build(&arguments.output, settings, options))
}

pub(crate) fn run_update(arguments: &UpdateArguments) -> anyhow::Result<()> {
    arguments.reading.run(&arguments.file, |options| lake::update(&arguments.file, options))
}

impl Reading {
    fn run(
        &self,
        path: &Path,
        build: impl FnOnce(&Options<'_>) -> Result<Report, equibloom_index::IndexError>,
    ) -> anyhow::Result<()> {
        file::refuse_standard(path)?;
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let bar = if self.output.quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let bar =
            bar.with_style(progress::style("{msg} {bar:30} {pos} of {len} files, {eta} left"));
        let bar = bar.with_message("reading");
        let progress = |done| match done {
            Progress::Planned { files } => bar.set_length(files),
            _ => bar.inc(1),
        };
        let threads = self.threads.map_or_else(cores, usize::from);
        let report = build(&Options { progress: &progress, ..Options::new(threads) });
        bar.finish_and_clear();
        let report = report.map_err(|error| file::named(path, error))?;
        for (file, reason) in &report.skipped {
            answer::warn(&format!("{file}: {reason}; it is an answer to every key until `update`"));
        }
        let index = file::open(path, true, self.output.quiet)?;
        let info = Info::of(path, &index);
        self.output.print(&Built { files: Files::from(report), info })
    }
}

#[derive(Serialize)]
struct Built {
    #[serde(flatten)]
    files: Files,
    #[serde(flatten)]
    info: Info,
}

#[derive(Serialize)]
struct Files {
    read: u64,
    kept: u64,
    resumed: u64,
    removed: u64,
    skipped: u64,
}

impl From<Report> for Files {
    fn from(report: Report) -> Self {
        let Report { read, kept, resumed, removed, skipped, .. } = report;
        Self { read, kept, resumed, removed, skipped: skipped.len() as u64 }
    }
}

impl fmt::Display for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Files { read, kept, resumed, removed, skipped } = self.files;
        info::write_head(f, &self.info)?;
        write!(f, "  read                  {}", count(read, "file"))?;
        let others = [
            (kept, "unchanged"),
            (resumed, "finished before"),
            (removed, "removed"),
            (skipped, "skipped"),
        ];
        for (number, what) in others.into_iter().filter(|(number, _)| *number > 0) {
            write!(f, ", {} {what}", HumanCount(number))?;
        }
        writeln!(f)?;
        info::write_columns(f, &self.info)
    }
}
