//! Keys from files, standard input and the command line: the formats and their arguments.
//!
//! | file | question |
//! |---|---|
//! | `source.rs` | where do bytes come from, and are they compressed? |
//! | `count.rs` | how many lines are there? Counted without parsing |
//! | `separated.rs`, `json_field.rs`, `table.rs`, `parquet.rs` | which records are in them, and what is a record's key? |
//! | `kind.rs` | are keys text or integers, and does the filter hold the same? |
//! | `batch.rs` | how are records passed on? Many at once, hashed, in reused buffers |
//! | `pipeline.rs` | which thread does what? One thread reads and hashes, the other works with the hashes |
//!
//! A key is text or an integer and is hashed as by the library's `insert`. The same keys as lines, cells,
//! fields or a Parquet column, compressed or not, make the same filter.

mod batch;
mod count;
mod json_field;
mod kind;
#[cfg(feature = "parquet")]
mod parquet;
mod pipeline;
mod separated;
mod source;
mod table;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::Args;
use equibloom::{KeyKind, Stable};
use indicatif::ProgressBar;

use crate::quantity;
pub(crate) use batch::{Batch, Wanted};
use kind::KeyType;
#[cfg(feature = "parquet")]
pub(crate) use kind::parse as integer;
pub(crate) use pipeline::{Consumer, for_each_batch, for_each_slab};
use separated::Separated;
use source::{Contents, Source};
use table::{Table, TableFormat};

/// Sources of keys on the command line.
#[derive(Args)]
pub(crate) struct KeyFiles {
    /// Files with keys, gzip and zstd decompressed; standard input if there are none, or for `-`.
    #[arg(value_name = "KEYFILE", value_hint = clap::ValueHint::FilePath)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

/// How files are parsed.
#[derive(Args)]
#[command(next_help_heading = "Format of the key files (lines, if nothing is said)")]
struct Reading {
    /// Keys end with a NUL byte instead of a line end, as `find -print0` writes them.
    #[arg(short = '0', long, group = "format")]
    null: bool,
    /// Keys are in this column of CSV: its name in the first row, or its number from 1.
    #[arg(long, value_name = "COLUMN", group = "format")]
    csv_column: Option<String>,
    /// Keys are in this column of tab-separated values (no quoting).
    #[arg(long, value_name = "COLUMN", group = "format")]
    tsv_column: Option<String>,
    /// Keys are in this field of the JSON object on every line, such as id or user.email (`\.` is a dot in a name).
    #[arg(long, value_name = "FIELD", group = "format")]
    json_field: Option<String>,
    /// Keys are in this column of Parquet files: text, bytes, integers, dates, timestamps or booleans. Nulls
    /// are skipped.
    #[arg(long, value_name = "COLUMN", group = "format")]
    parquet_column: Option<String>,
    /// Type of the keys. An integer differs from its digits: query a filter of integers with integers.
    #[arg(long = "type", value_name = "TYPE", value_enum, default_value_t = KeyType::Auto)]
    key_type: KeyType,
    /// The first row of CSV or TSV is data, not a header.
    #[arg(long)]
    no_header: bool,
    /// Treat empty lines and cells as keys instead of skipping them.
    #[arg(long)]
    keep_empty: bool,
    /// Skip records whose field is missing or null, instead of stopping there.
    #[arg(long)]
    skip_missing: bool,
    /// Longest line or row; a longer one is an error.
    #[arg(long, value_name = "BYTES", default_value = "64MiB", value_parser = quantity::bytes)]
    max_record: u64,
}

/// What comes from standard input, besides what the arguments name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StandardInput {
    Keys,
    Filter,
}

/// The format of records, and which part is the key.
#[derive(Debug, Clone, PartialEq)]
enum Format {
    /// The whole record, without its terminator.
    Separated(u8),
    /// A column of a table.
    Table { format: TableFormat, column: String },
    /// A field of a JSON object, by its path.
    JsonField(Vec<String>),
    /// A column of a Parquet file.
    #[cfg(feature = "parquet")]
    Parquet(String),
}

/// Keys that can be read more than once, unless they come through a pipe.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    /// Keys of the command line.
    literal: Vec<Vec<u8>>,
    sources: Vec<Source>,
    format: Format,
    key_type: KeyType,
    /// How keys are read: `Bytes` or `Integer`, decided by [`settle_kind`](Self::settle_kind).
    kind: KeyKind,
    keep_empty: bool,
    skip_missing: bool,
    max_record: u64,
}

impl KeyFiles {
    /// Adds a file before the others.
    pub(crate) fn prepend(&mut self, file: PathBuf) {
        self.files.insert(0, file);
    }

    /// The keys to read, those of the command line first. Missing files are reported now.
    pub(crate) fn input(
        &self,
        literal: &[OsString],
        standard_input: StandardInput,
    ) -> anyhow::Result<Input> {
        let format = self.reading.format()?;
        let literal: Vec<_> = literal.iter().map(|key| key.as_encoded_bytes().to_vec()).collect();
        let mut sources = self
            .files
            .iter()
            .map(|file| Source::named(file))
            .collect::<anyhow::Result<Vec<_>>>()?;
        if literal.is_empty() && sources.is_empty() {
            sources.push(Source::StandardInput);
        }
        let standard = sources.iter().filter(|source| **source == Source::StandardInput);
        let standard = standard.count();
        ensure!(standard < 2, "`-` is given twice, but standard input can be read once");
        ensure!(
            standard == 0 || standard_input == StandardInput::Keys,
            "standard input is the filter: give the keys in a file, or by -e KEY"
        );
        let Reading { key_type, keep_empty, skip_missing, max_record, .. } = self.reading;
        let kind = KeyKind::Bytes;
        Ok(Input { literal, sources, format, key_type, kind, keep_empty, skip_missing, max_record })
    }
}

impl Reading {
    fn format(&self) -> anyhow::Result<Format> {
        let table = |delimiter, column: &String| Format::Table {
            format: TableFormat { delimiter, has_header: !self.no_header },
            column: column.clone(),
        };
        ensure!(
            self.json_field.is_some() || !self.skip_missing,
            "--skip-missing is for --json-field: leave it out"
        );
        let format = match self {
            Self { csv_column: Some(column), .. } => table(b',', column),
            Self { tsv_column: Some(column), .. } => table(b'\t', column),
            _ if self.no_header => {
                bail!("--no-header is for --csv-column and --tsv-column: leave it out")
            }
            Self { json_field: Some(field), .. } => Format::JsonField(json_field::path(field)?),
            #[cfg(feature = "parquet")]
            Self { parquet_column: Some(column), .. } => Format::Parquet(column.clone()),
            #[cfg(not(feature = "parquet"))]
            Self { parquet_column: Some(_), .. } => {
                bail!(
                    "this equibloom was built without Parquet: build it with `--features parquet`"
                )
            }
            Self { null: true, .. } => Format::Separated(0),
            _ => Format::Separated(b'\n'),
        };
        Ok(format)
    }
}

impl Input {
    /// Bytes of all files, if known: then they can also be read a second time.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.sources.iter().map(Source::bytes).sum()
    }

    /// Whether one of the files is this one.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.sources.iter().any(|source| source.is(path))
    }

    /// The terminator of printed records.
    pub(crate) fn terminator(&self) -> u8 {
        if self.format == Format::Separated(0) { 0 } else { b'\n' }
    }

    /// Reads all input and counts the keys, repeated ones included.
    pub(crate) fn count(&self, progress: &ProgressBar) -> anyhow::Result<u64> {
        let mut records = AllRecords::new(self, progress);
        let mut batch = Batch::new(Wanted::Count, Stable::default(), self);
        let mut keys = 0;
        while records.fill(&mut batch)? {
            keys += batch.count;
        }
        Ok(keys)
    }
}

/// The records of one file.
trait Records {
    /// Adds the next records to a batch that is not full, at least one unless skipped; `false` at the end.
    fn fill(&mut self, batch: &mut Batch) -> anyhow::Result<bool>;
}

/// The records of all files, one after the other.
struct AllRecords<'a> {
    input: &'a Input,
    progress: &'a ProgressBar,
    sources: std::slice::Iter<'a, Source>,
    current: Option<Box<dyn Records + 'a>>,
    /// Whether the next file is the first; only its header is printed.
    is_first: bool,
}

impl<'a> AllRecords<'a> {
    fn new(input: &'a Input, progress: &'a ProgressBar) -> Self {
        let current: Option<Box<dyn Records>> = Some(Box::new(input.literal.iter()));
        Self { input, progress, sources: input.sources.iter(), current, is_first: true }
    }

    /// Replaces the contents of a batch by the next records; `false` at the end.
    fn fill(&mut self, batch: &mut Batch) -> anyhow::Result<bool> {
        batch.clear();
        let mut found = false;
        loop {
            if let Some(current) = &mut self.current
                && current.fill(batch)?
            {
                found = true;
                if batch.wants_more() {
                    continue;
                }
                return Ok(true);
            }
            match self.sources.next() {
                Some(source) => self.current = Some(self.open(source)?),
                None => {
                    self.current = None;
                    return Ok(found);
                }
            }
        }
    }

    fn open(&mut self, source: &'a Source) -> anyhow::Result<Box<dyn Records + 'a>> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        let (name, max_record) = (source.name(), self.input.max_record);
        match &self.input.format {
            Format::Separated(separator) => {
                let contents = if *separator == 0 { Contents::Bytes } else { Contents::Lines };
                let text = source.text(self.progress, contents)?;
                Ok(Box::new(Separated::new(name, text, *separator, None, max_record)))
            }
            Format::JsonField(path) => {
                let text = source.text(self.progress, Contents::Lines)?;
                let field = json_field::Field { path, skip_missing: self.input.skip_missing };
                Ok(Box::new(Separated::new(name, text, b'\n', Some(field), max_record)))
            }
            Format::Table { format, column } => {
                let text = source.text(self.progress, Contents::Table)?;
                Ok(Box::new(Table::new(name, text, *format, column, is_first, max_record)?))
            }
            #[cfg(feature = "parquet")]
            Format::Parquet(column) => {
                let (file, kind) = (source.seekable()?, self.input.kind);
                let progress = self.progress.clone();
                Ok(Box::new(parquet::ColumnKeys::new(name, file, column, kind, progress)?))
            }
        }
    }
}
