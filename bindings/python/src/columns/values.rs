//! The keys of a column themselves, where their hashes are not enough: an index compares them with ranges.

use equibloom_index::Key;

use super::{
    BadValue, Column, MILLISECONDS_PER_DAY, Meaning, Values, Width, range, read_characters, view,
    without_zeros,
};
use crate::keys::timestamp_out_of_range;

impl Column {
    /// Whether there are values: of a dictionary only hashes are kept.
    pub(crate) const fn has_values(&self) -> bool {
        !matches!(self.values, Values::Dictionary { .. })
    }

    /// Passes on the key of each row, or `None` for a null.
    pub(crate) fn for_each_key(
        &self,
        mut each: impl FnMut(Option<Key<'_>>),
    ) -> Result<(), BadValue> {
        let mut text = String::new();
        for row in 0..self.rows {
            if !self.is_key(row) {
                each(None);
                continue;
            }
            let bytes = match &self.values {
                Values::Integers { cells, width, meaning } => {
                    let value = match width {
                        Width::I8 => cells.read::<i8>(row).into(),
                        Width::I16 => cells.read::<i16>(row).into(),
                        Width::I32 => cells.read::<i32>(row).into(),
                        Width::I64 => cells.read::<i64>(row).into(),
                        Width::U8 => cells.read::<u8>(row).into(),
                        Width::U16 => cells.read::<u16>(row).into(),
                        Width::U32 => cells.read::<u32>(row).into(),
                        Width::U64 => cells.read::<u64>(row).into(),
                    };
                    each(Some(Key::Integer(meaning.of(value, row)?)));
                    continue;
                }
                Values::Booleans(bits) => {
                    each(Some(Key::Integer(bits.get(row).into())));
                    continue;
                }
                &Values::Fixed { cells, size, is_padded } => {
                    let bytes = cells.bytes(row, size);
                    each(Some(Key::Bytes(if is_padded { without_zeros(bytes) } else { bytes })));
                    continue;
                }
                Values::Variable { offsets, is_large: false, data } => {
                    let (start, end) = (offsets.read::<i32>(row), offsets.read::<i32>(row + 1));
                    range(data, start.into(), end.into(), row)?
                }
                Values::Variable { offsets, is_large: true, data } => {
                    range(data, offsets.read::<i64>(row), offsets.read::<i64>(row + 1), row)?
                }
                Values::Views { cells, buffers } => {
                    each(Some(Key::Bytes(view(cells.bytes(row, 16), buffers, row)?)));
                    continue;
                }
                &Values::Characters { cells, count } => {
                    read_characters(cells.bytes(row, 4 * count), &mut text, row)?;
                    text.as_bytes()
                }
                Values::Dictionary { .. } | Values::Nothing => {
                    return Err(BadValue(format!("row {row} has no value: decode the column")));
                }
            };
            each(Some(Key::Bytes(bytes)));
        }
        Ok(())
    }
}

impl Meaning {
    fn of(self, value: i128, row: usize) -> Result<i128, BadValue> {
        match self {
            Self::Itself => Ok(value),
            Self::MillisecondsOfDate => Ok(value.div_euclid(MILLISECONDS_PER_DAY.into())),
            Self::Nanoseconds(unit) => {
                let nanoseconds = value * i128::from(unit);
                if i64::try_from(nanoseconds).is_err() {
                    let why = timestamp_out_of_range(nanoseconds / 1_000_000_000);
                    return Err(BadValue(format!("row {row}: {why}")));
                }
                Ok(nanoseconds)
            }
        }
    }
}
