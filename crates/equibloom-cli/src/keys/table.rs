//! A column of comma- or tab-separated values.

use std::io::Read;

use anyhow::{Context, bail};
use csv::{ByteRecord, ErrorKind, Position};

use super::Records;
use super::batch::Batch;
use super::source::unreadable_bytes;

/// Delimiter and header of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TableFormat {
    pub(super) delimiter: u8,
    /// Whether the first row has the columns' names.
    pub(super) has_header: bool,
}

pub(super) struct Table {
    name: String,
    reader: csv::Reader<Box<dyn Read>>,
    format: TableFormat,
    /// The column with the keys, from 0.
    column: usize,
    /// The columns' names, until they are printed.
    header: Option<ByteRecord>,
    /// A row that was read ahead.
    waiting: Option<ByteRecord>,
    row: ByteRecord,
}

impl Table {
    /// Finds the column. The header is passed on if it `is_printed`.
    pub(super) fn new(
        name: String,
        text: Box<dyn Read>,
        format: TableFormat,
        column: &str,
        is_printed: bool,
    ) -> anyhow::Result<Self> {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .delimiter(format.delimiter)
            .quoting(format.has_quotes())
            .buffer_capacity(super::batch::TEXT_BYTES)
            .from_reader(text);
        let (row, header, waiting) = (ByteRecord::new(), None, None);
        let mut table = Self { name, reader, format, column: 0, header, waiting, row };
        let mut first = ByteRecord::new();
        if table.read(&mut first)? {
            table.column = table.find(column, &first)?;
            if !format.has_header {
                table.waiting = Some(first);
            } else if is_printed {
                table.header = Some(first);
            }
        }
        Ok(table)
    }

    fn find(&self, column: &str, first: &ByteRecord) -> anyhow::Result<usize> {
        if self.format.has_header
            && let Some(found) = first.iter().position(|name| name == column.as_bytes())
        {
            return Ok(found);
        }
        let columns = first.len();
        match column.parse::<usize>() {
            Ok(number) if (1..=columns).contains(&number) => return Ok(number - 1),
            Ok(_) => {}
            Err(_) if self.format.has_header => {}
            Err(_) => bail!(
                "{}: without a header columns have no names such as `{column}`: \
                 give a number from 1 to {columns}",
                self.name
            ),
        }
        let names: Vec<_> = first.iter().map(String::from_utf8_lossy).collect();
        let which = if self.format.has_header { "its columns are" } else { "its first row is" };
        bail!(
            "{}: there is no column `{column}`: {which} {}; give one of the names, \
             or a number from 1 to {columns}",
            self.name,
            names.join(", ")
        )
    }

    fn read(&mut self, row: &mut ByteRecord) -> anyhow::Result<bool> {
        let error = match self.reader.read_byte_record(row) {
            Ok(more) => return Ok(more),
            Err(error) => error,
        };
        let line = error.position().map_or(0, Position::line);
        match error.into_kind() {
            ErrorKind::Io(error) => Err(unreadable_bytes(&self.name, error)),
            ErrorKind::UnequalLengths { expected_len, len, .. } => bail!(
                "{}, line {line}: the row has {len} cells, those before it have {expected_len}; \
                 check quotes and delimiter",
                self.name
            ),
            kind => bail!("{}, line {line}: {:?}; check the table", self.name, kind),
        }
    }
}

impl Records for Table {
    fn fill(&mut self, batch: &mut Batch) -> anyhow::Result<bool> {
        if let Some(header) = self.header.take() {
            batch.set_title(|text| self.format.write(&header, text));
        }
        let before = batch.count;
        let mut row = std::mem::take(&mut self.row);
        let mut has_more = true;
        while has_more && !batch.is_full() {
            has_more = match self.waiting.take() {
                Some(waiting) => {
                    row = waiting;
                    true
                }
                None => self.read(&mut row)?,
            };
            if has_more {
                let key = row.get(self.column).unwrap_or_default();
                let line = || row.position().map_or(0, Position::line);
                batch
                    .add(key, |text| self.format.write(&row, text))
                    .with_context(|| format!("{}, line {}", self.name, line()))?;
            }
        }
        self.row = row;
        // A header without rows is printed too.
        Ok(has_more || batch.count > before || !batch.title.is_empty())
    }
}

impl TableFormat {
    /// Tab-separated values have no quotes: their cells contain neither tabs nor line ends.
    const fn has_quotes(self) -> bool {
        self.delimiter != b'\t'
    }

    /// Writes a row, quoted where necessary.
    fn write(self, row: &ByteRecord, text: &mut Vec<u8>) {
        for (column, cell) in row.iter().enumerate() {
            if column > 0 {
                text.push(self.delimiter);
            }
            let is_special = |&byte: &u8| byte == self.delimiter || b"\"\r\n".contains(&byte);
            let is_alone_and_empty = row.len() == 1 && cell.is_empty();
            if self.has_quotes() && (is_alone_and_empty || cell.iter().any(is_special)) {
                text.push(b'"');
                for &byte in cell {
                    text.push(byte);
                    if byte == b'"' {
                        text.push(b'"');
                    }
                }
                text.push(b'"');
            } else {
                text.extend_from_slice(cell);
            }
        }
        text.push(b'\n');
    }
}
