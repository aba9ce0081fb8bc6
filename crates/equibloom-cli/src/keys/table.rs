//! A column of comma- or tab-separated values.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use anyhow::{Context, anyhow, bail, ensure};
use csv::{ByteRecord, ErrorKind, Position};

use super::Records;
use super::batch::Batch;
use super::separated::too_long;
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
    reader: csv::Reader<Limited>,
    /// Bytes that were read since the last row; rows may lie before them in the buffer.
    since_row: Rc<Cell<u64>>,
    format: TableFormat,
    /// The column with the keys, from 0.
    column: usize,
    /// The columns' names, until they are printed.
    header: Option<ByteRecord>,
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
        max_record: u64,
    ) -> anyhow::Result<Self> {
        let since_row = Rc::new(Cell::new(0));
        let text = Limited { text, since_row: Rc::clone(&since_row), most: max_record };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(format.has_header)
            .delimiter(format.delimiter)
            .quoting(format.has_quotes())
            .buffer_capacity(super::batch::TEXT_BYTES)
            .from_reader(text);
        // If it is no header, it will be read again as the first row.
        let first = reader.byte_headers().map_err(|error| unreadable_row(&name, error))?;
        let is_empty = first.is_empty();
        let column = if is_empty { 0 } else { find(&name, format, column, first)? };
        let is_printed = is_printed && format.has_header && !is_empty;
        let header = is_printed.then(|| first.clone());
        Ok(Self { name, reader, since_row, format, column, header, row: ByteRecord::new() })
    }
}

/// Text whose rows have at most so many bytes: the parser would keep any number of them in memory.
struct Limited {
    text: Box<dyn Read>,
    since_row: Rc<Cell<u64>>,
    most: u64,
}

/// The cause of the error of a row that is too long.
#[derive(Debug)]
struct TooLong(u64);

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a row has more than {} bytes", self.0)
    }
}

impl std::error::Error for TooLong {}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.since_row.get() > self.most {
            return Err(io::Error::other(TooLong(self.most)));
        }
        let read = self.text.read(buffer)?;
        self.since_row.update(|bytes| bytes + read as u64);
        Ok(read)
    }
}

/// The number of a column, by the first row.
fn find(
    name: &str,
    format: TableFormat,
    column: &str,
    first: &ByteRecord,
) -> anyhow::Result<usize> {
    if format.has_header
        && let Some(found) = first.iter().position(|name| name == column.as_bytes())
    {
        return Ok(found);
    }
    let columns = first.len();
    match column.parse::<usize>() {
        Ok(number) if (1..=columns).contains(&number) => return Ok(number - 1),
        Ok(_) => {}
        Err(_) if format.has_header => {}
        Err(_) => bail!(
            "{name}: without a header columns have no names such as `{column}`: \
             give a number from 1 to {columns}"
        ),
    }
    let names: Vec<_> = first.iter().map(String::from_utf8_lossy).collect();
    let which = if format.has_header { "its columns are" } else { "its first row is" };
    bail!(
        "{name}: there is no column `{column}`: {which} {}; give one of the names, \
         or a number from 1 to {columns}",
        names.join(", ")
    )
}

fn unreadable_row(name: &str, error: csv::Error) -> anyhow::Error {
    let line = error.position().map_or(0, Position::line);
    match error.into_kind() {
        ErrorKind::Io(error) => {
            match error.get_ref().and_then(|cause| cause.downcast_ref::<TooLong>()) {
                Some(TooLong(most)) => anyhow!(too_long(name, line, *most)),
                None => unreadable_bytes(name, error),
            }
        }
        ErrorKind::UnequalLengths { expected_len, len, .. } => anyhow!(
            "{name}, line {line}: the row has {len} cells, those before it have {expected_len}; \
             check quotes and delimiter"
        ),
        kind => anyhow!("{name}, line {line}: {kind:?}; check the table"),
    }
}

impl Records for Table {
    fn fill(&mut self, batch: &mut Batch) -> anyhow::Result<bool> {
        if let Some(header) = self.header.take() {
            batch.set_title(|text| self.format.write(&header, text));
        }
        let Self { name, reader, row, .. } = self;
        let before = batch.count;
        let mut has_more = true;
        while has_more && !batch.is_full() {
            has_more = reader.read_byte_record(row).map_err(|error| unreadable_row(name, error))?;
            self.since_row.set(0);
            if has_more {
                let key = row.get(self.column).unwrap_or_default();
                let line = row.position().map_or(0, Position::line);
                let most = reader.get_ref().most;
                ensure!(row.as_slice().len() as u64 <= most, too_long(name, line - 1, most));
                batch
                    .add(line, key, |text| self.format.write(row, text))
                    .with_context(|| format!("{name}, line {line}"))?;
            }
        }
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
