//! Writes Parquet files for tests.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

/// The cells of a column.
#[derive(Clone, Copy)]
pub(crate) enum Cells<'a> {
    Int32(&'a [i32]),
    Dates(&'a [i32]),
    Int64(&'a [i64]),
    Uint64(&'a [u64]),
    Milliseconds(&'a [i64]),
    Text(&'a [String]),
    Float(&'a [f64]),
    /// Each a list of one integer.
    Lists(&'a [i64]),
    Nulls(usize),
}

impl Cells<'_> {
    fn schema(self, name: &str) -> String {
        match self {
            Self::Int32(_) => format!("required int32 {name};"),
            Self::Dates(_) => format!("required int32 {name} (DATE);"),
            Self::Int64(_) => format!("required int64 {name};"),
            Self::Uint64(_) => format!("required int64 {name} (INTEGER(64, false));"),
            Self::Milliseconds(_) => format!("required int64 {name} (TIMESTAMP(MILLIS, true));"),
            Self::Text(_) => format!("required binary {name} (STRING);"),
            Self::Float(_) => format!("required double {name};"),
            Self::Lists(_) => format!("repeated int64 {name};"),
            Self::Nulls(_) => format!("optional int64 {name};"),
        }
    }

    fn len(self) -> usize {
        match self {
            Self::Int32(cells) | Self::Dates(cells) => cells.len(),
            Self::Int64(cells) | Self::Milliseconds(cells) | Self::Lists(cells) => cells.len(),
            Self::Uint64(cells) => cells.len(),
            Self::Text(cells) => cells.len(),
            Self::Float(cells) => cells.len(),
            Self::Nulls(cells) => cells,
        }
    }
}

/// Writes a file with these columns, and so many rows in a row group.
pub(crate) fn write(path: &Path, columns: &[(&str, Cells<'_>)], group_rows: usize) {
    let fields: String = columns.iter().map(|(name, cells)| cells.schema(name)).collect();
    let schema = Arc::new(parse_message_type(&format!("message rows {{ {fields} }}")).unwrap());
    // Without dictionaries, files of as many keys have the same size.
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let rows = columns[0].1.len();
    for start in (0..rows).step_by(group_rows) {
        let range = start..rows.min(start + group_rows);
        let mut group = writer.next_row_group().unwrap();
        for (_, cells) in columns {
            let range = range.clone();
            match *cells {
                Cells::Int32(cells) | Cells::Dates(cells) => {
                    put::<Int32Type>(&mut group, &cells[range], None, None)
                }
                Cells::Int64(cells) | Cells::Milliseconds(cells) => {
                    put::<Int64Type>(&mut group, &cells[range], None, None);
                }
                Cells::Uint64(cells) => {
                    let cells: Vec<i64> =
                        cells[range].iter().map(|cell| cell.cast_signed()).collect();
                    put::<Int64Type>(&mut group, &cells, None, None);
                }
                Cells::Text(cells) => {
                    let cells: Vec<ByteArray> =
                        cells[range].iter().map(|cell| cell.as_str().into()).collect();
                    put::<ByteArrayType>(&mut group, &cells, None, None);
                }
                Cells::Float(cells) => put::<DoubleType>(&mut group, &cells[range], None, None),
                Cells::Lists(cells) => {
                    let (ones, zeros) = (vec![1; range.len()], vec![0; range.len()]);
                    put::<Int64Type>(&mut group, &cells[range], Some(&ones), Some(&zeros));
                }
                Cells::Nulls(_) => {
                    put::<Int64Type>(&mut group, &[], Some(&vec![0; range.len()]), None);
                }
            }
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    definitions: Option<&[i16]>,
    repetitions: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, definitions, repetitions).unwrap();
    column.close().unwrap();
}

/// Random numbers of 60 bits, the same for the same stream: SplitMix64.
pub(crate) fn random(stream: u64) -> impl Iterator<Item = i64> {
    let mut state = stream.wrapping_mul(0x2545_f491_4f6c_dd1d);
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) >> 4) as i64
    })
}
