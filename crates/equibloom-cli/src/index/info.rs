//! `equibloom index info`: what an index is.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use equibloom::KeyKind;
use equibloom_index::{Contents, Index};
use indicatif::{DecimalBytes, HumanCount};
use serde::Serialize;

use crate::answer::{Output, count, number};

/// Shows what an index holds: files, columns, bits per key, and how many files a query opens in vain.
///
/// Exit status: 0, or 2 after an error.
///
/// Example: equibloom index info lake.eqx --json
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The index file.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let index = super::file::open(&arguments.file, false, arguments.output.quiet)?;
    arguments.output.print(&Info::of(&arguments.file, &index))
}

#[derive(Serialize)]
pub(super) struct Info {
    file: String,
    bytes: u64,
    files: u64,
    roots: Vec<String>,
    row_groups: bool,
    asked_false_files: f64,
    seed: u64,
    columns: Vec<Column>,
}

#[derive(Serialize)]
struct Column {
    name: String,
    kind: KeyKind,
    /// Different keys, summed over files or row groups.
    keys: u64,
    filters: u64,
    bits_per_key: Option<f64>,
    /// Files or row groups whose smallest and largest key decide alone.
    by_range_alone: u64,
    empty: u64,
    unknown: u64,
    /// Reasons for unknown ones, and how many have them.
    reasons: BTreeMap<String, u64>,
    false_files: f64,
}

impl Info {
    pub(super) fn of(path: &Path, index: &Index) -> Self {
        let settings = index.settings();
        let columns = settings.columns.iter().zip(0..);
        Self {
            file: path.display().to_string(),
            bytes: index.bytes(),
            files: index.files().len() as u64,
            roots: settings.roots.clone(),
            row_groups: settings.row_groups,
            asked_false_files: settings.false_files,
            seed: settings.seed,
            columns: columns.map(|(name, number)| Column::of(index, name, number)).collect(),
        }
    }
}

impl Column {
    fn of(index: &Index, name: &str, number: u32) -> Self {
        let summary = index.summary(name);
        let mut reasons = BTreeMap::new();
        for file in index.files() {
            for unit in file.units.iter().filter(|unit| unit.column == number) {
                if let Contents::Unknown { reason } = &unit.contents {
                    // Without the file's name, which reasons begin with.
                    let reason = reason.strip_prefix(&file.path).unwrap_or(reason);
                    *reasons.entry(reason.trim_start_matches(": ").to_owned()).or_default() += 1;
                }
            }
        }
        let bits = summary.filter_bytes as f64 * 8.0 / summary.filtered_keys as f64;
        Self {
            name: name.to_owned(),
            kind: index.key_kind(name),
            keys: summary.keys,
            filters: summary.filters,
            bits_per_key: (summary.filtered_keys > 0).then_some(bits),
            by_range_alone: summary.ranges,
            empty: summary.empty,
            unknown: summary.unknown,
            reasons,
            false_files: summary.false_files,
        }
    }
}

pub(super) fn write_head(f: &mut fmt::Formatter<'_>, info: &Info) -> fmt::Result {
    let Info { file, bytes, files, .. } = info;
    writeln!(f, "{file}: an index of {}, {}", count(*files, "file"), DecimalBytes(*bytes))
}

pub(super) fn write_columns(f: &mut fmt::Formatter<'_>, info: &Info) -> fmt::Result {
    let unit = if info.row_groups { "row group" } else { "file" };
    for column in &info.columns {
        let Column { name, kind, keys, filters, by_range_alone, empty, unknown, .. } = column;
        writeln!(f, "column `{name}`, {kind}")?;
        writeln!(f, "  keys                  {}", HumanCount(*keys))?;
        if let Some(bits) = column.bits_per_key {
            let filters = count(*filters, "filter");
            writeln!(f, "  filters               {filters}, {bits:.1} bits per key")?;
        }
        if *by_range_alone > 0 {
            let units = count(*by_range_alone, unit);
            writeln!(f, "  by range alone        {units}: min and max are as good as a filter")?;
        }
        if *empty > 0 {
            writeln!(f, "  without keys          {}", count(*empty, unit))?;
        }
        if *unknown > 0 {
            let units = count(*unknown, unit);
            writeln!(f, "  read for every key    {units}")?;
            for (reason, times) in &column.reasons {
                writeln!(f, "    {}: {reason}", HumanCount(*times))?;
            }
        }
        let (found, asked) = (number(column.false_files), number(info.asked_false_files));
        write!(f, "  opened in vain        {found} {unit}s per missing key, planned {asked}")?;
        // Planned rates are upper limits; a tenth more is no surprise.
        if column.false_files > 1.1 * info.asked_false_files {
            write!(f, "; `index build` makes it {asked} again")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_head(f, self)?;
        writeln!(f, "  of                    {}", self.roots.join(", "))?;
        write_columns(f, self)
    }
}
