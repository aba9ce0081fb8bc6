//! Columns of keys: NumPy and Arrow arrays, read in place.

pub(crate) mod arrow;
mod memory;
pub(crate) mod numpy;
mod values;

use std::any::Any;

use equibloom::{KeyHash, KeyHasher, KeyKind, Stable};

use crate::keys::timestamp_out_of_range;
pub(crate) use memory::Booleans;
use memory::{Bits, Cells, Data};

/// A column of keys, or a part of one that lies together in memory.
pub(crate) struct Column {
    rows: usize,
    values: Values,
    nulls: Nulls,
    /// What the memory belongs to.
    _owner: Box<dyn Any + Send + Sync>,
}

/// How keys are stored.
enum Values {
    Integers {
        cells: Cells,
        width: Width,
        meaning: Meaning,
    },
    /// One bit each.
    Booleans(Bits),
    /// As many bytes each. NumPy's end before the zeros at their end.
    Fixed {
        cells: Cells,
        size: usize,
        is_padded: bool,
    },
    /// Bytes from one offset to the next.
    Variable {
        offsets: Cells,
        is_large: bool,
        data: Data,
    },
    /// Sixteen bytes each: a length, and the bytes themselves or where they are.
    Views {
        cells: Cells,
        buffers: Vec<Data>,
    },
    /// As many characters each, of four bytes, and zeros behind.
    Characters {
        cells: Cells,
        count: usize,
    },
    /// Numbers of values that were hashed before; `None` for a null among these.
    Dictionary {
        cells: Cells,
        width: Width,
        kind: Option<KeyKind>,
        hashes: Vec<Option<KeyHash>>,
    },
    /// Nothing but nulls.
    Nothing,
}

/// The type of an integer.
#[derive(Clone, Copy)]
enum Width {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl Width {
    const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }
}

/// What an integer of a column is as a key.
#[derive(Clone, Copy)]
enum Meaning {
    /// Itself.
    Itself,
    /// So many nanoseconds each.
    Nanoseconds(i64),
    /// Milliseconds of a date.
    MillisecondsOfDate,
}

/// Which rows have no key.
enum Nulls {
    None,
    /// A bit for each row that has one.
    Unless(Bits),
    /// The same in words, or in NumPy's masks.
    UnlessWords(Vec<u64>),
    /// The smallest integer: NumPy's "not a time".
    Smallest,
    All,
}

const MILLISECONDS_PER_DAY: i64 = 86_400_000;
const NO_KEY: KeyHash = KeyHash::from_u64(0);

/// A value that is not a key.
#[derive(Debug)]
pub(crate) struct BadValue(pub(crate) String);

impl Column {
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// The kind of its keys; `None` if all are null.
    pub(crate) const fn kind(&self) -> Option<KeyKind> {
        match &self.values {
            Values::Integers { .. } | Values::Booleans(_) => Some(KeyKind::Integer),
            Values::Dictionary { kind, .. } => *kind,
            Values::Nothing => None,
            _ => Some(KeyKind::Bytes),
        }
    }

    pub(crate) const fn has_nulls(&self) -> bool {
        !matches!(self.nulls, Nulls::None) || matches!(self.values, Values::Dictionary { .. })
    }

    /// Whether a row has a key.
    #[inline]
    fn is_key(&self, row: usize) -> bool {
        let is_key = match &self.nulls {
            Nulls::None => true,
            Nulls::Unless(bits) => bits.get(row),
            Nulls::UnlessWords(words) => words[row / 64] >> (row % 64) & 1 == 1,
            Nulls::Smallest => match self.values {
                Values::Integers { cells, .. } => cells.read::<i64>(row) != i64::MIN,
                _ => true,
            },
            Nulls::All => false,
        };
        is_key
            && match &self.values {
                Values::Dictionary { cells, width, hashes, .. } => {
                    // A number out of range is an error, and found when the row is hashed.
                    !matches!(hashes.get(index(cells, *width, row)), Some(None))
                }
                _ => true,
            }
    }

    /// A bit for each row that has a key: of this row and those behind it.
    pub(crate) fn keys_from(&self, row: usize) -> u64 {
        let count = (self.rows - row).min(64);
        let all = u64::MAX >> (64 - count.max(1));
        if !self.has_nulls() {
            return all;
        }
        (0..count).fold(0, |word, index| word | u64::from(self.is_key(row + index)) << index)
    }

    /// Hashes rows. Where there is no key, the hash means nothing.
    pub(crate) fn hash(
        &self,
        hasher: &Stable,
        first: usize,
        hashes: &mut [KeyHash],
    ) -> Result<(), BadValue> {
        match &self.values {
            Values::Integers { cells, width, meaning } => {
                self.hash_integers(cells, *width, *meaning, hasher, first, hashes)
            }
            Values::Booleans(bits) => {
                self.each(first, hashes, |row| Ok(hasher.hash_key(&bits.get(row))))
            }
            &Values::Fixed { cells, size, is_padded } => self.each(first, hashes, |row| {
                let bytes = cells.bytes(row, size);
                Ok(hasher.hash_key(if is_padded { without_zeros(bytes) } else { bytes }))
            }),
            Values::Variable { offsets, is_large: false, data } => {
                self.each(first, hashes, |row| {
                    let (start, end) = (offsets.read::<i32>(row), offsets.read::<i32>(row + 1));
                    Ok(hasher.hash_key(range(data, start.into(), end.into(), row)?))
                })
            }
            Values::Variable { offsets, is_large: true, data } => {
                self.each(first, hashes, |row| {
                    let (start, end) = (offsets.read::<i64>(row), offsets.read::<i64>(row + 1));
                    Ok(hasher.hash_key(range(data, start, end, row)?))
                })
            }
            Values::Views { cells, buffers } => self.each(first, hashes, |row| {
                Ok(hasher.hash_key(view(cells.bytes(row, 16), buffers, row)?))
            }),
            &Values::Characters { cells, count } => {
                let mut text = String::new();
                self.each(first, hashes, |row| {
                    read_characters(cells.bytes(row, 4 * count), &mut text, row)?;
                    Ok(hasher.hash_key(text.as_str()))
                })
            }
            Values::Dictionary { cells, width, hashes: known, .. } => {
                self.each(first, hashes, |row| {
                    let index = index(cells, *width, row);
                    match known.get(index) {
                        Some(hash) => Ok(hash.unwrap_or(NO_KEY)),
                        None => Err(BadValue(format!(
                            "row {row} is value {index} of a dictionary of {}: the array is damaged",
                            known.len()
                        ))),
                    }
                })
            }
            Values::Nothing => Ok(()),
        }
    }

    fn hash_integers(
        &self,
        cells: &Cells,
        width: Width,
        meaning: Meaning,
        hasher: &Stable,
        first: usize,
        hashes: &mut [KeyHash],
    ) -> Result<(), BadValue> {
        macro_rules! itself {
            ($type:ty) => {
                self.each(first, hashes, |row| Ok(hasher.hash_key(&cells.read::<$type>(row))))
            };
        }
        match (meaning, width) {
            (Meaning::Itself, Width::I8) => itself!(i8),
            (Meaning::Itself, Width::I16) => itself!(i16),
            (Meaning::Itself, Width::I32) => itself!(i32),
            (Meaning::Itself, Width::I64) => itself!(i64),
            (Meaning::Itself, Width::U8) => itself!(u8),
            (Meaning::Itself, Width::U16) => itself!(u16),
            (Meaning::Itself, Width::U32) => itself!(u32),
            (Meaning::Itself, Width::U64) => itself!(u64),
            (Meaning::Nanoseconds(unit), _) => self.each(first, hashes, |row| {
                let value = cells.read::<i64>(row);
                let nanoseconds = value.checked_mul(unit).ok_or_else(|| {
                    let seconds = i128::from(value) * i128::from(unit) / 1_000_000_000;
                    BadValue(format!("row {row}: {}", timestamp_out_of_range(seconds)))
                })?;
                Ok(hasher.hash_key(&nanoseconds))
            }),
            (Meaning::MillisecondsOfDate, _) => self.each(first, hashes, |row| {
                Ok(hasher.hash_key(&cells.read::<i64>(row).div_euclid(MILLISECONDS_PER_DAY)))
            }),
        }
    }

    /// Hashes each row that has a key.
    #[inline]
    fn each(
        &self,
        first: usize,
        hashes: &mut [KeyHash],
        mut hash: impl FnMut(usize) -> Result<KeyHash, BadValue>,
    ) -> Result<(), BadValue> {
        assert!(first + hashes.len() <= self.rows, "rows come from a range that was checked");
        if !self.has_nulls() {
            for (index, slot) in hashes.iter_mut().enumerate() {
                *slot = hash(first + index)?;
            }
            return Ok(());
        }
        for (index, slot) in hashes.iter_mut().enumerate() {
            let row = first + index;
            *slot = if self.is_key(row) { hash(row)? } else { NO_KEY };
        }
        Ok(())
    }

    /// Hashes all rows; `None` where there is no key.
    fn hash_all(&self, hasher: &Stable) -> Result<Vec<Option<KeyHash>>, BadValue> {
        let mut hashes = vec![NO_KEY; self.rows];
        self.hash(hasher, 0, &mut hashes)?;
        let hashes = hashes.into_iter().enumerate();
        Ok(hashes.map(|(row, hash)| self.is_key(row).then_some(hash)).collect())
    }
}

fn index(cells: &Cells, width: Width, row: usize) -> usize {
    // A negative number is beyond every dictionary.
    match width {
        Width::I8 => cells.read::<i8>(row) as usize,
        Width::I16 => cells.read::<i16>(row) as usize,
        Width::I32 => cells.read::<i32>(row) as usize,
        Width::I64 => cells.read::<i64>(row) as usize,
        Width::U8 => cells.read::<u8>(row).into(),
        Width::U16 => cells.read::<u16>(row).into(),
        Width::U32 => cells.read::<u32>(row) as usize,
        Width::U64 => cells.read::<u64>(row) as usize,
    }
}

#[inline]
fn range(data: &Data, start: i64, end: i64, row: usize) -> Result<&[u8], BadValue> {
    if start < 0 || end < start {
        return Err(BadValue(format!(
            "row {row} ends at byte {end}, before it begins at {start}: the array is damaged"
        )));
    }
    Ok(data.bytes(start as usize, (end - start) as usize))
}

/// The bytes of a view: those behind the length if they are at most twelve, or in a buffer.
#[inline]
fn view<'a>(cell: &'a [u8], buffers: &'a [Data], row: usize) -> Result<&'a [u8], BadValue> {
    let number = |at: usize| cell[at..].first_chunk().map_or(-1, |four| i32::from_le_bytes(*four));
    let length = number(0);
    if (0..=12).contains(&length) {
        return Ok(&cell[4..4 + length as usize]);
    }
    let (buffer, start) = (number(8), number(12));
    match usize::try_from(buffer).ok().and_then(|buffer| buffers.get(buffer)) {
        Some(data) if length >= 0 => {
            range(data, start.into(), i64::from(start) + i64::from(length), row)
        }
        _ => Err(BadValue(format!(
            "row {row} has {length} bytes in buffer {buffer} of {}: the array is damaged",
            buffers.len()
        ))),
    }
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    let length = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..length]
}

fn read_characters(bytes: &[u8], text: &mut String, row: usize) -> Result<(), BadValue> {
    text.clear();
    for character in bytes.as_chunks().0 {
        let number = u32::from_ne_bytes(*character);
        let Some(character) = char::from_u32(number) else {
            return Err(BadValue(format!(
                "row {row} has the code point {number:#x}, which has no UTF-8: repair the text"
            )));
        };
        text.push(character);
    }
    text.truncate(text.trim_end_matches('\0').len());
    Ok(())
}
