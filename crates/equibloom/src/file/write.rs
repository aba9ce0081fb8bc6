//! Writes a filter as a stream of bytes: header, zeros up to a page boundary, section, zeros, section. The
//! last section of a filter of several parts is a file of the parts after the first.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use std::io::{self, Write};

use xxhash_rust::xxh3::Xxh3;

use super::FileErrorKind;
use super::header::{BLOCKS, Header, NEXT, OVERFLOW, Section};
use crate::hash_filter::HashFilter;
use crate::hashing::KeyKind;
use crate::parameters::Parameters;
use crate::raw::Any;
use crate::storage::Words;

/// Bytes hashed, read or written at a time: small enough to stay in the cache in between.
pub(super) const CHUNK_BYTES: usize = 1 << 18;

/// Writes a filter with the seed of its hash and the kind of its keys.
pub(super) fn filter(
    filter: &HashFilter,
    seed: u64,
    kind: KeyKind,
    writer: &mut dyn Write,
) -> Result<(), FileErrorKind> {
    let parts = filter.parts().into_iter();
    let parts: Vec<_> = parts.map(|(part, raw)| (Parameters { seed, ..part }, raw)).collect();
    parts_from(&parts, kind, writer)
}

/// The contents of a section.
enum Contents<'a> {
    Words(&'a Words),
    /// A file with the other parts.
    Next(&'a [(Parameters, &'a Any)]),
}

impl Contents<'_> {
    fn write(&self, kind: KeyKind, writer: &mut dyn Write) -> Result<(), FileErrorKind> {
        match self {
            Self::Words(words) => chunks(words)
                .try_for_each(|bytes| writer.write_all(&bytes))
                .map_err(|error| FileErrorKind::io("write", error)),
            Self::Next(parts) => parts_from(parts, kind, writer),
        }
    }
}

/// Writes a file of the first part, with a section for the others if there are any.
fn parts_from(
    parts: &[(Parameters, &Any)],
    kind: KeyKind,
    writer: &mut dyn Write,
) -> Result<(), FileErrorKind> {
    let Some(((parameters, first), others)) = parts.split_first() else { return Ok(()) };
    let first = first.contents();
    let Some((blocks, ledger)) = first.first() else { return Ok(()) };
    let (mut sections, mut contents) = (Vec::new(), Vec::new());
    for (name, content) in [
        (BLOCKS, Contents::Words(blocks)),
        (OVERFLOW, Contents::Words(&ledger.overflow.slots)),
        (NEXT, Contents::Next(others)),
    ] {
        let mut measure = Measure { length: 0, hasher: Xxh3::new() };
        content.write(kind, &mut measure)?;
        if measure.length > 0 {
            sections.push(Section::new(name, measure.length, measure.hasher.digest()));
            contents.push(content);
        }
    }
    let header = Header::new(*parameters, kind, ledger.counters(), sections)?;
    let io = |error| FileErrorKind::io("write", error);
    let head = header.encode()?;
    writer.write_all(&head).map_err(io)?;
    let mut position = head.len() as u64;
    for (section, content) in header.sections.iter().zip(contents) {
        // Less than a page.
        let gap = (section.offset - position) as usize;
        writer.write_all(&alloc::vec![0; gap]).map_err(io)?;
        content.write(kind, writer)?;
        position = section.end();
    }
    writer.flush().map_err(io)
}

/// Length and XXH3-64 of what is written.
struct Measure {
    length: u64,
    hasher: Xxh3,
}

impl Write for Measure {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.length += bytes.len() as u64;
        self.hasher.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The words as little-endian bytes; on little-endian targets without a copy.
fn chunks(words: &Words) -> impl Iterator<Item = Cow<'_, [u8]>> {
    words.native_bytes().chunks(CHUNK_BYTES).map(|chunk| {
        if cfg!(target_endian = "little") {
            return chunk.into();
        }
        let words = chunk.as_chunks().0.iter().map(|&word| u64::from_ne_bytes(word));
        words.flat_map(u64::to_le_bytes).collect()
    })
}
