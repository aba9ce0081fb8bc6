//! A column of Parquet files, read by the column reader alone, without Arrow.

use std::fs::File;

use anyhow::{Context, anyhow, bail, ensure};
use equibloom::KeyKind;
use indicatif::ProgressBar;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, Int96};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::Records;
use super::batch::Batch;

/// Records per read.
const RECORDS: usize = 8 << 10;

pub(super) struct Column {
    name: String,
    column: String,
    file: SerializedFileReader<File>,
    /// The column's index among the leaves of the schema.
    index: usize,
    values: Values,
    /// The row group that is read next.
    row_group: usize,
    reader: Option<ColumnReader>,
    progress: ProgressBar,
}

/// How a column's values become keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Bytes,
    Signed,
    Unsigned,
    /// 0 or 1.
    Truth,
    /// Days since 1970.
    Dates,
    /// Multiples of this many nanoseconds since 1970.
    Timestamps(i128),
}

impl Values {
    const fn kind(self) -> KeyKind {
        if matches!(self, Self::Bytes) { KeyKind::Bytes } else { KeyKind::Integer }
    }

    /// The integer that a stored number is, read with and without its sign.
    fn integer(self, signed: i64, unsigned: u64) -> anyhow::Result<i128> {
        match self {
            Self::Unsigned => Ok(unsigned.into()),
            Self::Timestamps(unit) => nanoseconds(unit * i128::from(signed)),
            _ => Ok(signed.into()),
        }
    }
}

/// The kind of a column's values.
pub(super) fn kind_of(name: &str, file: File, column: &str) -> anyhow::Result<KeyKind> {
    Ok(open(name, file, column)?.2.kind())
}

/// A file, the column's index among the leaves of the schema, and the kind of its values.
fn open(
    name: &str,
    file: File,
    column: &str,
) -> anyhow::Result<(SerializedFileReader<File>, usize, Values)> {
    let file = SerializedFileReader::new(file)
        .map_err(|error| anyhow!("{name}: not a Parquet file, or damaged: {error}"))?;
    let (index, values) =
        find(name, column, file.metadata().file_metadata().schema_descr().columns())?;
    Ok((file, index, values))
}

impl Column {
    /// A column whose keys are read as `kind`.
    pub(super) fn new(
        name: String,
        file: File,
        column: &str,
        kind: KeyKind,
        progress: ProgressBar,
    ) -> anyhow::Result<Self> {
        let (file, index, values) = open(&name, file, column)?;
        let has_text = matches!(values, Values::Bytes | Values::Signed | Values::Unsigned);
        ensure!(
            has_text || kind == KeyKind::Integer,
            "{name}: the column `{column}` holds dates, timestamps or truth values, which have no one \
             form as text: ask a filter of integers (--type int)"
        );
        let column = column.to_owned();
        Ok(Self { name, column, file, index, values, row_group: 0, reader: None, progress })
    }

    /// The reader of the current row group, or of the next one; `None` at the end.
    fn reader(&mut self) -> anyhow::Result<Option<ColumnReader>> {
        if let Some(reader) = self.reader.take() {
            return Ok(Some(reader));
        }
        if self.row_group == self.file.num_row_groups() {
            return Ok(None);
        }
        let damaged = |error| damaged(&self.name, error);
        let group = self.file.get_row_group(self.row_group).map_err(damaged)?;
        let reader = group.get_column_reader(self.index).map_err(damaged)?;
        self.progress.inc(group.metadata().compressed_size().unsigned_abs());
        self.row_group += 1;
        Ok(Some(reader))
    }

    /// Adds the next records of a row group; `false` at its end.
    fn add(&mut self, reader: &mut ColumnReader, batch: &mut Batch) -> anyhow::Result<bool> {
        let (name, values) = (&self.name, self.values);
        let read = match reader {
            ColumnReader::BoolColumnReader(reader) => {
                read(name, reader, |&truth| batch.add_integer(truth.into()))
            }
            ColumnReader::Int32ColumnReader(reader) => read(name, reader, |&number| {
                batch.add_integer(values.integer(number.into(), number.cast_unsigned().into())?)
            }),
            ColumnReader::Int64ColumnReader(reader) => read(name, reader, |&number| {
                batch.add_integer(values.integer(number, number.cast_unsigned())?)
            }),
            ColumnReader::Int96ColumnReader(reader) => {
                read(name, reader, |moment| batch.add_integer(nanoseconds(of_int96(moment))?))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                read(name, reader, |bytes| add_bytes(batch, bytes.data()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                read(name, reader, |bytes| add_bytes(batch, bytes.data()))
            }
            _ => bail!("{name}: the column `{}` has changed its type", self.column),
        };
        let (records, values) = read.with_context(|| {
            format!("{name}, row group {}, column `{}`", self.row_group, self.column)
        })?;
        // Null is a record without a value.
        batch.missing += (records - values) as u64;
        Ok(records > 0)
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

/// Adds the values of the next records; returns the numbers of records and values.
fn read<T: DataType>(
    name: &str,
    reader: &mut ColumnReaderImpl<T>,
    add: impl FnMut(&T::T) -> anyhow::Result<()>,
) -> anyhow::Result<(usize, usize)> {
    let (mut values, mut levels) = (Vec::with_capacity(RECORDS), Vec::new());
    let (records, ..) = reader
        .read_records(RECORDS, Some(&mut levels), None, &mut values)
        .map_err(|error| damaged(name, error))?;
    values.iter().try_for_each(add)?;
    Ok((records, values.len()))
}

fn damaged(name: &str, error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("{name}: could not read on: {error}; it is damaged or packed in an unknown way")
}

/// The record is the key: a row's other columns are not read.
fn add_bytes(batch: &mut Batch, key: &[u8]) -> anyhow::Result<()> {
    batch.add(0, key, |text| text.extend_from_slice(key))
}

/// Nanoseconds since 1970, if they fit into 64 bits.
fn nanoseconds(value: i128) -> anyhow::Result<i128> {
    ensure!(
        i64::try_from(value).is_ok(),
        "a timestamp is {} seconds from 1970, and timestamps are keys from 1677 to 2262: \
         correct it, or give another column",
        value / 1_000_000_000
    );
    Ok(value)
}

/// Legacy timestamps (INT96): nanoseconds of the day and its Julian number.
fn of_int96(moment: &Int96) -> i128 {
    const DAY: i128 = 86_400_000_000_000;
    const JULIAN_1970: i128 = 2_440_588;
    let [low, high, day] = *moment.data() else { return 0 };
    (i128::from(day) - JULIAN_1970) * DAY + (i128::from(high) << 32) + i128::from(low)
}

/// The leaf of this name, if its values can be keys.
fn find(
    file: &str,
    column: &str,
    leaves: &[parquet::schema::types::ColumnDescPtr],
) -> anyhow::Result<(usize, Values)> {
    let Some(index) = leaves.iter().position(|leaf| leaf.path().string() == column) else {
        let names: Vec<_> = leaves.iter().map(|leaf| leaf.path().string()).collect();
        bail!("{file}: there is no column `{column}`: give one of {}", names.join(", "));
    };
    let leaf = &leaves[index];
    ensure!(
        leaf.max_rep_level() == 0,
        "{file}: the column `{column}` has lists in it: give one with a single value in every row"
    );
    match values(leaf) {
        Some(values) => Ok((index, values)),
        None => bail!(
            "{file}: the column `{column}` is of type {}{}, which is not a key: give one of text, bytes, \
             integers, dates, timestamps or truth values",
            leaf.physical_type(),
            leaf.logical_type_ref().map(|logical| format!(" ({logical:?})")).unwrap_or_default()
        ),
    }
}

/// How a leaf's values become keys; `None` for types that cannot, such as floats and decimals.
fn values(leaf: &ColumnDescriptor) -> Option<Values> {
    let timestamps = |unit| {
        Values::Timestamps(match unit {
            TimeUnit::MILLIS => 1_000_000,
            TimeUnit::MICROS => 1_000,
            TimeUnit::NANOS => 1,
        })
    };
    let by_converted = || match leaf.converted_type() {
        ConvertedType::NONE
        | ConvertedType::INT_8
        | ConvertedType::INT_16
        | ConvertedType::INT_32
        | ConvertedType::INT_64 => Some(Values::Signed),
        ConvertedType::UINT_8
        | ConvertedType::UINT_16
        | ConvertedType::UINT_32
        | ConvertedType::UINT_64 => Some(Values::Unsigned),
        ConvertedType::DATE => Some(Values::Dates),
        ConvertedType::TIMESTAMP_MILLIS => Some(timestamps(TimeUnit::MILLIS)),
        ConvertedType::TIMESTAMP_MICROS => Some(timestamps(TimeUnit::MICROS)),
        _ => None,
    };
    match leaf.physical_type() {
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => match leaf.logical_type_ref() {
            Some(LogicalType::Decimal { .. } | LogicalType::Float16) => None,
            _ if leaf.converted_type() == ConvertedType::DECIMAL => None,
            _ => Some(Values::Bytes),
        },
        Type::BOOLEAN => Some(Values::Truth),
        Type::INT32 | Type::INT64 => match leaf.logical_type_ref() {
            Some(LogicalType::Integer(number)) if number.is_signed => Some(Values::Signed),
            Some(LogicalType::Integer(_)) => Some(Values::Unsigned),
            Some(LogicalType::Date) => Some(Values::Dates),
            Some(LogicalType::Timestamp(timestamp)) => Some(timestamps(timestamp.unit)),
            Some(_) => None,
            None => by_converted(),
        },
        Type::INT96 => Some(Values::Timestamps(1)),
        Type::FLOAT | Type::DOUBLE => None,
    }
}
