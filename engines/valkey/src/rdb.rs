//! The bytes of a value: in RDB, DUMP and the chunks of SCANDUMP and AOF.
//!
//! A header of words (little-endian) with a checksum, then the files of the planned and of the growing part, as the
//! library writes them, with checksums of their own. A filter that is being loaded is its total length and the bytes so far.

use std::ffi::c_int;
use std::io::{self, Read, Write};

use xxhash_rust::xxh3::xxh3_64;

use crate::commands::options;
use crate::ffi::AofSink;
use crate::value::{Content, Growing, Loading, Planned, Reservation, Value};

/// Version of these bytes, as the server records it.
pub(crate) const VERSION: c_int = 1;

const MAGIC: u64 = u64::from_le_bytes(*b"\x89EQV\r\n\x1a\n");
const HEADER_WORDS: usize = 7;

/// Bytes of a chunk: 16 MiB, as other modules have it.
pub(crate) const CHUNK: u64 = 16 << 20;

// What a header says of the parts.
const REMOVABLE: u64 = 1 << 0;
const PLANNED: u64 = 1 << 1;
const GROWING: u64 = 1 << 2;
const LOADING: u64 = 1 << 3;

pub(crate) fn write(content: &Content, writer: &mut dyn Write) -> io::Result<()> {
    match content {
        Content::Filter(value) => write_value(value, writer),
        Content::Loading(Loading { bytes, total }) => {
            write_header([MAGIC, LOADING, *total, bytes.len() as u64, 0, 0], writer)?;
            writer.write_all(bytes)
        }
    }
}

/// The bytes of a filter.
pub(crate) fn write_value(value: &Value, mut writer: &mut dyn Write) -> io::Result<()> {
    let Reservation { rate, capacity, expansion, removable, seed } = value.reservation;
    let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
    let flags = flag(removable, REMOVABLE)
        | flag(value.planned.is_some(), PLANNED)
        | flag(value.growing.is_some(), GROWING);
    write_header([MAGIC, flags, rate.to_bits(), capacity, expansion.into(), seed], writer)?;
    if let Some(planned) = &value.planned {
        planned.write_to(&mut writer).map_err(io::Error::other)?;
    }
    if let Some(growing) = &value.growing {
        growing.write_to(&mut writer).map_err(io::Error::other)?;
    }
    Ok(())
}

fn write_header(words: [u64; HEADER_WORDS - 1], writer: &mut dyn Write) -> io::Result<()> {
    let bytes = words.map(u64::to_le_bytes);
    writer.write_all(bytes.as_flattened())?;
    writer.write_all(&xxh3_64(bytes.as_flattened()).to_le_bytes())
}

/// Reads a value, and nothing after it. Memory is allocated as bytes arrive.
pub(crate) fn read(reader: &mut dyn Read) -> Result<Content, String> {
    let mut bytes = [[0; 8]; HEADER_WORDS];
    reader.read_exact(bytes.as_flattened_mut()).map_err(|_| "the header is cut".to_owned())?;
    let words = bytes.map(u64::from_le_bytes);
    let [magic, flags, rate, capacity, expansion, seed, checksum] = words;
    if magic != MAGIC {
        return Err("the bytes are no filter of this module".into());
    }
    if checksum != xxh3_64(bytes[..HEADER_WORDS - 1].as_flattened()) {
        return Err("the header is damaged".into());
    }
    if flags == LOADING {
        let (total, length) = (rate, capacity);
        let mut bytes = Vec::new();
        reader.take(length).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if bytes.len() as u64 != length || length > total {
            return Err(format!("{} bytes of a filter, {length} expected", bytes.len()));
        }
        return Ok(Content::Loading(Loading { bytes, total }));
    }
    let reservation = Reservation {
        rate: f64::from_bits(rate),
        capacity,
        expansion: u32::try_from(expansion).unwrap_or(u32::MAX),
        removable: flags & REMOVABLE != 0,
        seed,
    };
    read_parts(reservation, flags, reader).map(Content::Filter)
}

fn read_parts(
    reservation: Reservation,
    flags: u64,
    mut reader: &mut dyn Read,
) -> Result<Value, String> {
    let Reservation { rate, capacity, expansion, removable, seed } = reservation;
    let is_valid = rate > 0.0
        && rate < 1.0
        && capacity > 0
        && expansion <= options::MAX_EXPANSION
        && flags & (PLANNED | GROWING) != 0
        && flags & !(REMOVABLE | PLANNED | GROWING) == 0
        && !(removable && flags & PLANNED != 0 && flags & GROWING != 0);
    if !is_valid {
        return Err("the header has values that no filter has".into());
    }
    let mut planned = None;
    if flags & PLANNED != 0 {
        let filter = Planned::read_from(&mut reader).map_err(|error| error.to_string())?;
        let parameters = filter.parameters();
        if parameters.seed != seed || parameters.design.is_multiset() != removable {
            return Err("the planned part belongs to another filter".into());
        }
        planned = Some(filter);
    }
    let mut growing = None;
    if flags & GROWING != 0 {
        let filter = Growing::read_from(&mut reader).map_err(|error| error.to_string())?;
        if filter.hasher().seed() != seed || filter.is_removable() != removable {
            return Err("the growing part belongs to another filter".into());
        }
        growing = Some(filter);
    }
    Ok(Value::of_parts(reservation, planned, growing))
}

/// Reads a value from an RDB, to its end.
pub(crate) fn load(mut reader: impl Read, version: c_int) -> Result<Content, String> {
    if version != VERSION {
        return Err(format!(
            "version {version} of the bytes is unknown, {VERSION} is known; a newer module may know it"
        ));
    }
    let content = read(&mut reader)?;
    match reader.read(&mut [0]) {
        Ok(0) => Ok(content),
        Ok(_) => Err("there are bytes after the filter".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads all bytes of a filter.
pub(crate) fn read_all(bytes: &[u8]) -> Result<Value, String> {
    match load(bytes, VERSION)? {
        Content::Filter(value) => Ok(value),
        Content::Loading(_) => Err("the bytes are a filter that was being loaded".into()),
    }
}

/// What comes before the chunks: magic, and the number of bytes of all chunks.
pub(crate) fn announcement(total: u64) -> [u8; 16] {
    let words = [MAGIC.to_le_bytes(), total.to_le_bytes()];
    let mut bytes = [0; 16];
    bytes.copy_from_slice(words.as_flattened());
    bytes
}

/// Reads that; `None` if it is something else.
pub(crate) fn announced(bytes: &[u8]) -> Option<u64> {
    let (words, []) = bytes.as_chunks::<8>() else { return None };
    let [magic, total] = *words else { return None };
    (u64::from_le_bytes(magic) == MAGIC).then_some(u64::from_le_bytes(total))
}

/// Number of bytes of a filter.
pub(crate) fn length(value: &Value) -> u64 {
    let mut window = Window { from: u64::MAX, to: u64::MAX, at: 0, bytes: Vec::new() };
    // Nothing is stored, so that nothing can fail.
    let _ = write_value(value, &mut window);
    window.at
}

/// One chunk of a filter's bytes: at most [`CHUNK`] from `from` on. The filter is written anew, up to the chunk's end:
/// no copy of it is kept, and a filter that changes between two chunks is found to be damaged when it is loaded.
pub(crate) fn chunk(value: &Value, from: u64) -> Vec<u8> {
    let to = from.saturating_add(CHUNK);
    let mut window = Window { from, to, at: 0, bytes: Vec::new() };
    // The only error is that of a window that has all it needs.
    let _ = write_value(value, &mut window);
    window.bytes
}

/// Keeps a part of what is written, and stops behind it.
struct Window {
    from: u64,
    to: u64,
    at: u64,
    bytes: Vec<u8>,
}

impl Write for Window {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.at >= self.to {
            return Err(io::Error::other("the chunk is complete"));
        }
        let end = self.at + bytes.len() as u64;
        let (from, to) = (self.from.clamp(self.at, end), self.to.clamp(self.at, end));
        self.bytes.extend_from_slice(&bytes[(from - self.at) as usize..(to - self.at) as usize]);
        self.at = end;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a value to an AOF, as commands.
pub(crate) fn rewrite(content: &Content, aof: &AofSink<'_>) {
    let mut position = 1;
    let (total, mut chunks): (u64, Box<dyn FnMut(u64) -> Vec<u8>>) = match content {
        Content::Filter(value) => (length(value), Box::new(|from| chunk(value, from))),
        Content::Loading(loading) => {
            let mut chunks = loading.bytes.chunks(CHUNK as usize);
            (loading.total, Box::new(move |_| chunks.next().unwrap_or_default().to_vec()))
        }
    };
    aof.load_chunk(position, &announcement(total));
    loop {
        let chunk = chunks(position as u64 - 1);
        if chunk.is_empty() {
            return;
        }
        position += chunk.len() as i64;
        aof.load_chunk(position, &chunk);
    }
}
