//! A column of Parquet files as keys, read by the column reader alone, without Arrow.

use std::fs::File;

use equibloom::KeyKind;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, Int96};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescriptor;

use crate::key::{Key, Range};

/// Records per read.
const RECORDS: usize = 8 << 10;

/// Why a column of a Parquet file could not be read, with the file's name and the cure.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ColumnError(String);

impl ColumnError {
    /// A file that could not be opened.
    pub(super) fn new(name: &str, error: &std::io::Error) -> Self {
        Self(format!("{name}: could not open it: {error}"))
    }
}

macro_rules! bail {
    ($($message:tt)*) => { return Err(ColumnError(format!($($message)*))) };
}

/// A column whose values can be keys.
pub struct Column {
    name: String,
    column: String,
    file: SerializedFileReader<File>,
    /// The column's index among the leaves of the schema.
    index: usize,
    values: Values,
}

/// How a column's values become keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// The integer that a stored number is, read with and without its sign.
    fn integer(self, signed: i64, unsigned: u64) -> Result<i128, ColumnError> {
        match self {
            Self::Unsigned => Ok(unsigned.into()),
            Self::Timestamps(unit) => nanoseconds(unit * i128::from(signed)),
            _ => Ok(signed.into()),
        }
    }
}

impl Column {
    /// The column of this name in an open file, whose name is used in errors.
    ///
    /// # Errors
    /// [`ColumnError`] if the file is damaged, or has no such column, or its values cannot be keys.
    pub fn open(name: &str, file: File, column: &str) -> Result<Self, ColumnError> {
        let file = SerializedFileReader::new(file).map_err(|error| {
            ColumnError(format!("{name}: not a Parquet file, or damaged: {error}"))
        })?;
        let leaves = file.metadata().file_metadata().schema_descr().columns();
        let (index, values) = find(name, column, leaves)?;
        Ok(Self { name: name.to_owned(), column: column.to_owned(), file, index, values })
    }

    /// The kind of the keys.
    pub const fn kind(&self) -> KeyKind {
        if matches!(self.values, Values::Bytes) { KeyKind::Bytes } else { KeyKind::Integer }
    }

    /// Whether the values have one form as text: they are text, bytes, or plain integers.
    pub const fn has_text(&self) -> bool {
        matches!(self.values, Values::Bytes | Values::Signed | Values::Unsigned)
    }

    /// Number of row groups in the file.
    pub fn row_groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// The range of the keys in a row group by the file's statistics: a hint, which may be missing or wrong.
    pub fn hint(&self, row_group: usize) -> Option<Range> {
        let group = self.file.metadata().row_groups().get(row_group)?;
        let statistics = group.columns().get(self.index)?.statistics()?;
        let integer = |signed: i64, unsigned: u64| self.values.integer(signed, unsigned).ok();
        let bounds = match statistics {
            Statistics::Int32(bounds) => [bounds.min_opt()?, bounds.max_opt()?]
                .map(|&bound| integer(bound.into(), bound.cast_unsigned().into())),
            Statistics::Int64(bounds) => [bounds.min_opt()?, bounds.max_opt()?]
                .map(|&bound| integer(bound, bound.cast_unsigned())),
            Statistics::Boolean(_) => [Some(0), Some(1)],
            _ if matches!(self.values, Values::Bytes) => {
                let (least, most) = (statistics.min_bytes_opt()?, statistics.max_bytes_opt()?);
                let mut range = Range::of(Key::Bytes(least));
                range.extend(Key::Bytes(most));
                return Some(range);
            }
            _ => return None,
        };
        let [least, most] = bounds;
        Some(Range::Integers { least: least?, most: most? })
    }

    /// Compressed bytes of a row group's column.
    pub fn bytes(&self, row_group: usize) -> u64 {
        let group = self.file.metadata().row_groups().get(row_group);
        let column = group.and_then(|group| group.columns().get(self.index));
        column.map_or(0, |column| column.compressed_size().unsigned_abs())
    }

    /// A reader of the keys of a row group.
    ///
    /// # Errors
    /// [`ColumnError`] if there is no such row group, or it is damaged.
    pub fn read(&self, row_group: usize) -> Result<Keys, ColumnError> {
        let damaged = |error| damaged(&self.name, error);
        let group = self.file.get_row_group(row_group).map_err(damaged)?;
        let reader = group.get_column_reader(self.index).map_err(damaged)?;
        let (name, column) = (self.name.clone(), self.column.clone());
        Ok(Keys { name, column, values: self.values, reader })
    }
}

/// The keys of a row group.
pub struct Keys {
    name: String,
    column: String,
    values: Values,
    reader: ColumnReader,
}

impl Keys {
    /// Passes on the keys of the next records; returns the numbers of records and of keys, which are fewer if there are nulls.
    /// `None` at the end.
    ///
    /// # Errors
    /// [`ColumnError`] if the file is damaged or a timestamp is no key, and what `each` returns.
    pub fn next<E: From<ColumnError>>(
        &mut self,
        mut each: impl FnMut(Key<'_>) -> Result<(), E>,
    ) -> Result<Option<(usize, usize)>, E> {
        let Self { name, column, values, reader } = self;
        let counts = match reader {
            ColumnReader::BoolColumnReader(reader) => {
                read(name, reader, |&truth| each(Key::Integer(truth.into())))
            }
            ColumnReader::Int32ColumnReader(reader) => read(name, reader, |&number| {
                let value = values.integer(number.into(), number.cast_unsigned().into())?;
                each(Key::Integer(value))
            }),
            ColumnReader::Int64ColumnReader(reader) => read(name, reader, |&number| {
                each(Key::Integer(values.integer(number, number.cast_unsigned())?))
            }),
            ColumnReader::Int96ColumnReader(reader) => {
                read(name, reader, |moment| each(Key::Integer(nanoseconds(of_int96(moment))?)))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                read(name, reader, |bytes| each(Key::Bytes(bytes.data())))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                read(name, reader, |bytes| each(Key::Bytes(bytes.data())))
            }
            _ => {
                let changed = format!("{name}: the column `{column}` has changed its type");
                return Err(ColumnError(changed).into());
            }
        };
        counts.map(|counts| (counts.0 > 0).then_some(counts))
    }
}

/// Passes on the values of the next records; returns the numbers of records and values.
fn read<T: DataType, E: From<ColumnError>>(
    name: &str,
    reader: &mut ColumnReaderImpl<T>,
    each: impl FnMut(&T::T) -> Result<(), E>,
) -> Result<(usize, usize), E> {
    let (mut values, mut levels) = (Vec::with_capacity(RECORDS), Vec::new());
    let (records, ..) = reader
        .read_records(RECORDS, Some(&mut levels), None, &mut values)
        .map_err(|error| damaged(name, error))?;
    values.iter().try_for_each(each)?;
    Ok((records, values.len()))
}

fn damaged(name: &str, error: impl std::fmt::Display) -> ColumnError {
    ColumnError(format!(
        "{name}: could not read on: {error}; it is damaged or packed in an unknown way"
    ))
}

/// Nanoseconds since 1970, if they fit into 64 bits.
fn nanoseconds(value: i128) -> Result<i128, ColumnError> {
    if i64::try_from(value).is_err() {
        bail!(
            "a timestamp is {} seconds from 1970, and timestamps are keys from 1677 to 2262: \
             correct it, or give another column",
            value / 1_000_000_000
        );
    }
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
) -> Result<(usize, Values), ColumnError> {
    let Some(index) = leaves.iter().position(|leaf| leaf.path().string() == column) else {
        let names: Vec<_> = leaves.iter().map(|leaf| leaf.path().string()).collect();
        bail!("{file}: there is no column `{column}`: give one of {}", names.join(", "));
    };
    let leaf = &leaves[index];
    if leaf.max_rep_level() > 0 {
        bail!(
            "{file}: the column `{column}` has lists in it: give one with a single value in every row"
        );
    }
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
