//! `equibloom index find`: the files that may hold keys.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use equibloom::{KeyKind, Stable};
use equibloom_index::lake::{self, Freshness};
use equibloom_index::{Index, Key, Place};
use serde_json::{Value, json};

use crate::answer;
use crate::keys::{self, Batch, KeyFiles, StandardInput, Wanted};
use crate::progress::{self, Unit};

const EXAMPLES: &str = "Examples:
  equibloom index find lake.eqx -e 4711
  equibloom index find lake.eqx --column email -e alice@example.com
  equibloom index find lake.eqx keys.txt -l";

/// Prints the files, or files and row groups, that may hold each key.
///
/// Each line has the key, the file and, if row groups are indexed, the number of the row group from 0 on, with tabs between them. For one key
/// on the command line, or with -l, the key is left out.
///
/// The files are compared with those that are there now, by size and time. New and changed files are answers to every
/// key; those that are gone are to none.
///
/// Exit status: 0 if a file was found, 1 if none was, 2 after an error: then read all files.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The index file.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// A key to look up; can be repeated. Standard input is then not read, unless given as `-`.
    #[arg(short = 'e', long = "key", value_name = "KEY", allow_hyphen_values = true)]
    literal: Vec<OsString>,
    /// The column, if the index has several.
    #[arg(long, value_name = "COLUMN")]
    column: Option<String>,
    /// Print each file that may hold any of the keys once, without keys.
    #[arg(short = 'l', long = "files")]
    once: bool,
    /// Print JSON: a list of objects with key, file and row group.
    #[arg(long)]
    json: bool,
    /// Do not look whether files are new, changed or gone: for lakes whose files never change.
    #[arg(long)]
    no_check: bool,
    /// Check no more of the index than its table.
    #[arg(long)]
    no_verify: bool,
    #[command(flatten)]
    key_files: KeyFiles,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<bool> {
    let mut input = arguments.key_files.input(&arguments.literal, StandardInput::Keys)?;
    let index = super::file::open(&arguments.file, !arguments.no_verify, true)?;
    let column = super::file::column(&arguments.file, &index, arguments.column.as_deref())?;
    let kind = input.settle_kind(Some((&arguments.file, index.key_kind(column))))?;
    for (file, reason) in index.damaged() {
        let path = &index.files()[*file].path;
        answer::warn(&format!(
            "the filter of {path} is damaged, and the file an answer to every key: {reason}"
        ));
    }
    let freshness =
        if arguments.no_check { Freshness::unchecked(&index) } else { lake::check(&index)? };
    let shows_keys = !arguments.once && arguments.literal.len() != 1;
    let lake = Lake { index: &index, column, kind, freshness };
    let mut printed = Printed { shows_keys, json: arguments.json, found: false, rows: Vec::new() };
    let mut places = Vec::new();
    let bar = progress::bar("looking up", input.bytes(), Unit::Bytes, true);
    let mut look_up = |batch: &Batch| {
        if arguments.once {
            lake.find(batch, |place, _| places.push(place))?;
            places.sort_unstable();
            places.dedup();
        } else {
            lake.print(batch, &mut printed)?;
        }
        Ok(ControlFlow::Continue(()))
    };
    keys::for_each_batch(&input, Wanted::Keys, Stable::default(), &bar, &mut look_up)?;
    if arguments.once {
        let text = places.iter().map(|&place| lake.row(place, None));
        printed.print(text.chain(lake.unknown_rows(None)))?;
    }
    printed.finish()
}

/// An index, and what is known of the files now.
struct Lake<'a> {
    index: &'a Index,
    column: &'a str,
    /// How keys are read.
    kind: KeyKind,
    freshness: Freshness,
}

/// A line of the output.
struct Row {
    key: Option<String>,
    file: String,
    row_group: Option<u32>,
}

impl Lake<'_> {
    /// Looks up the keys of a batch in files that are known.
    fn find(&self, batch: &Batch, mut found: impl FnMut(Place, usize)) -> anyhow::Result<()> {
        let integers = self.kind == KeyKind::Integer;
        let keys = batch.records().map(|(_, key)| {
            Ok(if integers { Key::from(keys::integer(key)?) } else { Key::Bytes(key) })
        });
        let keys = keys.collect::<anyhow::Result<Vec<_>>>()?;
        self.index.find_many(self.column, &keys, |place, key| {
            if self.freshness.known[place.file] {
                found(place, key);
            }
        });
        Ok(())
    }

    /// Prints what a batch leads to, key by key.
    fn print(&self, batch: &Batch, printed: &mut Printed) -> anyhow::Result<()> {
        let mut found = Vec::new();
        self.find(batch, |place, key| found.push((key, place)))?;
        found.sort_unstable();
        let mut found = found.into_iter().peekable();
        let mut rows = Vec::new();
        for (number, (_, key)) in batch.records().enumerate() {
            let key = printed.shows_keys.then(|| String::from_utf8_lossy(key).into_owned());
            while let Some((_, place)) = found.next_if(|(of, _)| *of == number) {
                rows.push(self.row(place, key.clone()));
            }
            rows.extend(self.unknown_rows(key));
        }
        printed.print(rows)
    }

    fn row(&self, place: Place, key: Option<String>) -> Row {
        let file = self.index.files()[place.file].path.clone();
        Row { key, file, row_group: place.row_group }
    }

    /// Files that are new or have changed.
    fn unknown_rows(&self, key: Option<String>) -> impl Iterator<Item = Row> {
        let row =
            move |file: &String| Row { key: key.clone(), file: file.clone(), row_group: None };
        self.freshness.unknown.iter().map(row)
    }
}

struct Printed {
    shows_keys: bool,
    json: bool,
    found: bool,
    /// Of JSON, which is one list.
    rows: Vec<Value>,
}

impl Printed {
    fn print(&mut self, rows: impl IntoIterator<Item = Row>) -> anyhow::Result<()> {
        let mut text = String::new();
        for Row { key, file, row_group } in rows {
            self.found = true;
            if self.json {
                let mut row = json!({ "file": file });
                if let Some(key) = key {
                    row["key"] = key.into();
                }
                if let Some(row_group) = row_group {
                    row["row_group"] = row_group.into();
                }
                self.rows.push(row);
                continue;
            }
            let key = key.map(|key| key + "\t").unwrap_or_default();
            let row_group = row_group.map(|group| format!("\t{group}")).unwrap_or_default();
            writeln!(text, "{key}{file}{row_group}")?;
        }
        if text.is_empty() { Ok(()) } else { answer::write(&text) }
    }

    fn finish(self) -> anyhow::Result<bool> {
        if self.json {
            answer::write(&(serde_json::to_string_pretty(&self.rows)? + "\n"))?;
        }
        Ok(self.found)
    }
}
