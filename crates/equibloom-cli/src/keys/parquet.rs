//! A column of Parquet files.

use std::fs::File;

use anyhow::{Context, ensure};
use equibloom::KeyKind;
use equibloom_index::Key;
use equibloom_index::lake::{Column, Keys};
use indicatif::ProgressBar;

use super::Records;
use super::batch::Batch;

/// The keys of a column, row group by row group.
pub(super) struct ColumnKeys {
    name: String,
    column_name: String,
    column: Column,
    /// The row group that is read next.
    row_group: usize,
    keys: Option<Keys>,
    progress: ProgressBar,
}

/// The kind of a column's values.
pub(super) fn kind_of(name: &str, file: File, column: &str) -> anyhow::Result<KeyKind> {
    Ok(Column::open(name, file, column)?.kind())
}

impl ColumnKeys {
    /// A column whose keys are read as `kind`.
    pub(super) fn new(
        name: String,
        file: File,
        column_name: &str,
        kind: KeyKind,
        progress: ProgressBar,
    ) -> anyhow::Result<Self> {
        let column = Column::open(&name, file, column_name)?;
        ensure!(
            column.has_text() || kind == KeyKind::Integer,
            "{name}: the column `{column_name}` holds dates, timestamps or truth values, which have no one \
             form as text: ask a filter of integers (--type int)"
        );
        let column_name = column_name.to_owned();
        Ok(Self { name, column_name, column, row_group: 0, keys: None, progress })
    }

    /// The keys of the current row group, or of the next one; `None` at the end.
    fn keys(&mut self) -> anyhow::Result<Option<Keys>> {
        if let Some(keys) = self.keys.take() {
            return Ok(Some(keys));
        }
        if self.row_group == self.column.row_groups() {
            return Ok(None);
        }
        let keys = self.column.read(self.row_group)?;
        self.progress.inc(self.column.bytes(self.row_group));
        self.row_group += 1;
        Ok(Some(keys))
    }
}

impl Records for ColumnKeys {
    fn fill(&mut self, batch: &mut Batch) -> anyhow::Result<bool> {
        while let Some(mut keys) = self.keys()? {
            let add = |key: Key<'_>| match key {
                Key::Integer(value) => batch.add_integer(value),
                // The record is the key: a row's other columns are not read.
                Key::Bytes(bytes) => batch.add(0, bytes, |text| text.extend_from_slice(bytes)),
            };
            let read = keys.next(add).with_context(|| {
                format!(
                    "{}, row group {}, column `{}`",
                    self.name, self.row_group, self.column_name
                )
            })?;
            if let Some((records, values)) = read {
                // Null is a record without a value.
                batch.missing += (records - values) as u64;
                self.keys = Some(keys);
                return Ok(true);
            }
        }
        Ok(false)
    }
}
