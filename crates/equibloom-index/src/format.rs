//! The file of an index: a prefix, the filters, the table (`docs/index-format.md`).

use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::IndexError;
use crate::table::{Contents, StoredFilter, Table};

/// The version of the format that this library writes, and the only one that it reads.
pub const VERSION: u64 = 1;

/// The first bytes of every index.
const MAGIC: [u8; 8] = *b"\x89EQX\r\n\x1a\n";
/// Magic, version, position, length and checksum of the table, two numbers for later versions, checksum of the prefix.
const PREFIX_BYTES: usize = 64;
/// Filters begin at multiples of a cache line, so that they are asked in place.
const LINE_BYTES: u64 = 64;

/// Bytes of an index: a mapped file, or the memory of a caller.
pub(crate) type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A part of shared bytes, which keeps them alive.
#[derive(Clone)]
pub(crate) struct Slice {
    pub(crate) bytes: Bytes,
    pub(crate) range: Range<usize>,
}

impl AsRef<[u8]> for Slice {
    fn as_ref(&self) -> &[u8] {
        (*self.bytes).as_ref().get(self.range.clone()).unwrap_or_default()
    }
}

impl fmt::Debug for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slice").field(&self.range).finish()
    }
}

/// The filters of a table, in the order of its files and their units.
pub(crate) fn filters_mut(table: &mut Table) -> impl Iterator<Item = &mut StoredFilter> {
    let units = table.files.iter_mut().flat_map(|file| &mut file.units);
    units.filter_map(|unit| match &mut unit.contents {
        Contents::Keys { filter, .. } => filter.as_mut(),
        _ => None,
    })
}

/// Writes an index. The places of the filters are set in the table.
pub(crate) fn write(mut to: impl Write, table: &mut Table, filters: &[&Slice]) -> io::Result<()> {
    let mut end = PREFIX_BYTES as u64;
    for (stored, filter) in filters_mut(table).zip(filters) {
        stored.offset = end.next_multiple_of(LINE_BYTES);
        stored.length = filter.range.len() as u64;
        end = stored.offset + stored.length;
    }
    let table = postcard::to_stdvec(table).map_err(io::Error::other)?;
    let numbers = [VERSION, end, table.len() as u64, xxh3_64(&table), 0, 0];
    let mut prefix = MAGIC.to_vec();
    prefix.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    prefix.extend(xxh3_64(&prefix).to_le_bytes());
    to.write_all(&prefix)?;
    let mut written = PREFIX_BYTES as u64;
    for filter in filters {
        let gap = written.next_multiple_of(LINE_BYTES) - written;
        to.write_all(&[0; LINE_BYTES as usize][..gap as usize])?;
        to.write_all(filter.as_ref())?;
        written += gap + filter.range.len() as u64;
    }
    to.write_all(&table)?;
    to.flush()
}

/// Reads the table of an index. Where it says that filters lie has not been checked.
pub(crate) fn read(bytes: &[u8]) -> Result<Table, IndexError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(IndexError::NotAnIndex { found: bytes.iter().copied().take(8).collect() });
    }
    let number = |place: usize| {
        let bytes = bytes.get(8 * place..).and_then(<[u8]>::first_chunk);
        bytes.map(|bytes| u64::from_le_bytes(*bytes)).ok_or_else(|| {
            IndexError::damaged(format!("it ends within its first {PREFIX_BYTES} bytes"))
        })
    };
    let version = number(1)?;
    if version != VERSION {
        return Err(IndexError::Version { found: version });
    }
    let stored = number(7)?;
    if stored != xxh3_64(&bytes[..PREFIX_BYTES - 8]) {
        return Err(IndexError::damaged("its first 64 bytes do not have their checksum"));
    }
    let (offset, length) = (number(2)?, number(3)?);
    let end = offset.checked_add(length);
    if end != Some(bytes.len() as u64) {
        return Err(IndexError::damaged(format!(
            "it has {} bytes, and its table of {length} bytes ends behind byte {offset} + {length}",
            bytes.len()
        )));
    }
    let table = &bytes[offset as usize..];
    if number(4)? != xxh3_64(table) {
        return Err(IndexError::damaged("its table does not have its checksum"));
    }
    let (table, rest) = postcard::take_from_bytes::<Table>(table)
        .map_err(|error| IndexError::damaged(format!("its table cannot be decoded ({error})")))?;
    if !rest.is_empty() {
        return Err(IndexError::damaged(format!("{} bytes behind its table", rest.len())));
    }
    table.settings.check()?;
    Ok(table)
}
