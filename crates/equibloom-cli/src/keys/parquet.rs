//! A column of Parquet files, by the column reader alone: no Arrow is needed for one column.

use std::fs::File;
use std::io::Write;

use anyhow::{anyhow, bail, ensure};
use indicatif::ProgressBar;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::Records;
use super::batch::Batch;

/// Records that are read at once.
const RECORDS: usize = 8 << 10;

pub(super) struct Column {
    name: String,
    column: String,
    file: SerializedFileReader<File>,
    /// The column's place among the leaves of the schema.
    index: usize,
    numbers: Numbers,
    skip_missing: bool,
    /// The row group that is read next.
    row_group: usize,
    reader: Option<ColumnReader>,
    progress: ProgressBar,
}

/// Whether whole numbers have a sign.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Signed,
    Unsigned,
}

impl Column {
    pub(super) fn new(
        name: String,
        file: File,
        column: &str,
        skip_missing: bool,
        progress: ProgressBar,
    ) -> anyhow::Result<Self> {
        let file = SerializedFileReader::new(file)
            .map_err(|error| anyhow!("{name}: not a Parquet file, or damaged: {error}"))?;
        let (index, numbers) =
            find(&name, column, file.metadata().file_metadata().schema_descr().columns())?;
        Ok(Self {
            name,
            column: column.to_owned(),
            file,
            index,
            numbers,
            skip_missing,
            row_group: 0,
            reader: None,
            progress,
        })
    }

    fn damaged(&self, error: impl std::fmt::Display) -> anyhow::Error {
        anyhow!(
            "{}: could not read on: {error}; it is damaged or packed in an unknown way",
            self.name
        )
    }

    /// The reader of the current row group, or of the next one; none at the end.
    fn reader(&mut self) -> anyhow::Result<Option<ColumnReader>> {
        if let Some(reader) = self.reader.take() {
            return Ok(Some(reader));
        }
        if self.row_group == self.file.num_row_groups() {
            return Ok(None);
        }
        let group = self.file.get_row_group(self.row_group).map_err(|error| self.damaged(error))?;
        let reader = group.get_column_reader(self.index).map_err(|error| self.damaged(error))?;
        self.progress.inc(group.metadata().compressed_size().unsigned_abs());
        self.row_group += 1;
        Ok(Some(reader))
    }

    /// Adds the next records of a row group; `false` at its end.
    fn add(&mut self, reader: &mut ColumnReader, batch: &mut Batch) -> anyhow::Result<bool> {
        let mut text = Vec::new();
        let read = match (reader, self.numbers) {
            (ColumnReader::Int32ColumnReader(reader), Numbers::Signed) => {
                read(reader, |&number| add_number(batch, &mut text, number))
            }
            (ColumnReader::Int32ColumnReader(reader), Numbers::Unsigned) => {
                read(reader, |number| add_number(batch, &mut text, number.cast_unsigned()))
            }
            (ColumnReader::Int64ColumnReader(reader), Numbers::Signed) => {
                read(reader, |&number| add_number(batch, &mut text, number))
            }
            (ColumnReader::Int64ColumnReader(reader), Numbers::Unsigned) => {
                read(reader, |number| add_number(batch, &mut text, number.cast_unsigned()))
            }
            (ColumnReader::ByteArrayColumnReader(reader), _) => {
                read(reader, |bytes| add_bytes(batch, bytes.data()))
            }
            (ColumnReader::FixedLenByteArrayColumnReader(reader), _) => {
                read(reader, |bytes| add_bytes(batch, bytes.data()))
            }
            _ => bail!("{}: the column `{}` has changed its type", self.name, self.column),
        };
        let read = read.map_err(|error| self.damaged(error))?;
        ensure!(
            self.skip_missing || read.values == read.records,
            "{}, row group {}: the column `{}` is null in some rows: pass over them by --skip-missing",
            self.name,
            self.row_group,
            self.column
        );
        Ok(read.records > 0)
    }
}

impl Records for Column {
    fn fill(&mut self, batch: &mut Batch) -> anyhow::Result<bool> {
        while let Some(mut reader) = self.reader()? {
            if self.add(&mut reader, batch)? {
                self.reader = Some(reader);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// How much was read: null is a record without a value.
struct Read {
    records: usize,
    values: usize,
}

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    add: impl FnMut(&T::T),
) -> Result<Read, ParquetError> {
    let (mut values, mut levels) = (Vec::with_capacity(RECORDS), Vec::new());
    let (records, ..) = reader.read_records(RECORDS, Some(&mut levels), None, &mut values)?;
    values.iter().for_each(add);
    Ok(Read { records, values: values.len() })
}

fn add_number(batch: &mut Batch, text: &mut Vec<u8>, number: impl std::fmt::Display) {
    text.clear();
    // Writing to memory does not fail.
    let _ = write!(text, "{number}");
    add_bytes(batch, text);
}

/// A record is its key: the rest of a row is in other columns.
fn add_bytes(batch: &mut Batch, key: &[u8]) {
    batch.add(key, |text| text.extend_from_slice(key));
}

/// The leaf of this name, if its values can be keys.
fn find(
    file: &str,
    column: &str,
    leaves: &[parquet::schema::types::ColumnDescPtr],
) -> anyhow::Result<(usize, Numbers)> {
    let Some(index) = leaves.iter().position(|leaf| leaf.path().string() == column) else {
        let names: Vec<_> = leaves.iter().map(|leaf| leaf.path().string()).collect();
        bail!("{file}: there is no column `{column}`: give one of {}", names.join(", "));
    };
    let leaf = &leaves[index];
    ensure!(
        leaf.max_rep_level() == 0,
        "{file}: the column `{column}` has lists in it: give one with a single value in every row"
    );
    match numbers(leaf) {
        Some(numbers) => Ok((index, numbers)),
        None => bail!(
            "{file}: the column `{column}` is of type {}{}: give one of text, bytes or whole numbers",
            leaf.physical_type(),
            leaf.logical_type_ref().map(|logical| format!(" ({logical:?})")).unwrap_or_default()
        ),
    }
}

/// How a leaf's numbers are read; none if its values are not text, bytes or whole numbers.
fn numbers(leaf: &ColumnDescriptor) -> Option<Numbers> {
    let by_converted = || match leaf.converted_type() {
        ConvertedType::NONE
        | ConvertedType::INT_8
        | ConvertedType::INT_16
        | ConvertedType::INT_32
        | ConvertedType::INT_64 => Some(Numbers::Signed),
        ConvertedType::UINT_8
        | ConvertedType::UINT_16
        | ConvertedType::UINT_32
        | ConvertedType::UINT_64 => Some(Numbers::Unsigned),
        _ => None,
    };
    match leaf.physical_type() {
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => match leaf.logical_type_ref() {
            Some(LogicalType::Decimal { .. } | LogicalType::Float16) => None,
            _ if leaf.converted_type() == ConvertedType::DECIMAL => None,
            _ => Some(Numbers::Signed),
        },
        Type::INT32 | Type::INT64 => match leaf.logical_type_ref() {
            Some(LogicalType::Integer(number)) if number.is_signed => Some(Numbers::Signed),
            Some(LogicalType::Integer(_)) => Some(Numbers::Unsigned),
            Some(_) => None,
            None => by_converted(),
        },
        _ => None,
    }
}
