//! Writes a filter as a stream of bytes: header and sections, with zeros before large sections. The last section
//! of a filter of several parts is a file of the parts after the first; the part that grows is the last.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use std::io::{self, Write};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::header::{BLOCKS, Header, NEXT, OVERFLOW, Section};
use super::{FileError, FileErrorKind, atomic};
use crate::error::BuildError;
use crate::growing::Growth;
use crate::hash_filter::HashFilter;
use crate::hashing::KeyKind;
use crate::parameters::Parameters;
use crate::raw::Any;
use crate::storage::Words;

/// Bytes hashed, read or written at a time: small enough to stay in the cache in between.
pub(super) const CHUNK_BYTES: usize = 1 << 18;

/// A filter with what a file says of its keys: the name of their hash, its seed, and their kind.
pub(super) struct Named<'a> {
    pub(super) filter: &'a HashFilter,
    pub(super) hash: &'a str,
    pub(super) seed: u64,
    pub(super) kind: KeyKind,
}

impl Named<'_> {
    pub(super) fn save(&self, path: &Path) -> Result<(), FileError> {
        atomic::replace(path, |file| self.write(file)).map_err(|error| error.at(path))
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, FileErrorKind> {
        let mut bytes = Vec::new();
        let stored: u64 = self.filter.raw.contents().iter().map(|(blocks, _)| blocks.bytes()).sum();
        let reserved = usize::try_from(stored).ok().map(|stored| bytes.try_reserve(stored));
        if !matches!(reserved, Some(Ok(()))) {
            return Err(FileErrorKind::Memory(BuildError::OutOfMemory { bytes: stored }));
        }
        self.write(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn write(&self, writer: &mut dyn Write) -> Result<(), FileErrorKind> {
        // From the last part to the first: a header has the checksum of the parts after it.
        let growth = self.filter.raw.growth();
        let mut next = growth.map(|growth| Contents::Growth(growth, self.seed, self.kind));
        for (part, raw) in self.filter.parts().into_iter().rev() {
            next = self.prepared(Parameters { seed: self.seed, ..part }, raw, next)?;
        }
        next.map_or(Ok(()), |file| file.write(writer))
    }

    /// The file of a part, with a section for the parts after it if there are any.
    fn prepared<'a>(
        &self,
        parameters: Parameters,
        part: &'a Any,
        next: Option<Contents<'a>>,
    ) -> Result<Option<Contents<'a>>, FileErrorKind> {
        let Some(&(blocks, ledger)) = part.contents().first() else { return Ok(next) };
        let (mut sections, mut contents) = (Vec::new(), Vec::new());
        for (name, content) in [
            (BLOCKS, Some(Contents::Words(blocks))),
            (OVERFLOW, Some(Contents::Words(&ledger.overflow.slots))),
            (NEXT, next),
        ] {
            let Some(content) = content else { continue };
            let mut measure = Measure { length: 0, hasher: Xxh3::new() };
            content.write(&mut measure)?;
            if measure.length > 0 {
                sections.push(Section::new(name, measure.length, measure.hasher.digest()));
                contents.push(content);
            }
        }
        let (header, bytes) =
            Header::new(self.hash, parameters, self.kind, ledger.counters(), sections)?;
        Ok(Some(Contents::Next(Box::new(Prepared { header, bytes, contents }))))
    }
}

/// A file of which everything is known.
struct Prepared<'a> {
    header: Header,
    /// Those of the header.
    bytes: Vec<u8>,
    /// Of each section.
    contents: Vec<Contents<'a>>,
}

impl Prepared<'_> {
    fn write(&self, writer: &mut dyn Write) -> Result<(), FileErrorKind> {
        let io = |error| FileErrorKind::io("write", error);
        writer.write_all(&self.bytes).map_err(io)?;
        let mut position = self.header.header_length;
        for (section, content) in self.header.sections.iter().zip(&self.contents) {
            // Less than a line.
            let gap = (section.offset - position) as usize;
            writer.write_all(&alloc::vec![0; gap]).map_err(io)?;
            content.write(writer)?;
            position = section.end();
        }
        writer.flush().map_err(io)
    }
}

/// The contents of a section.
enum Contents<'a> {
    Words(&'a Words),
    /// A file with this part and those after it.
    Next(Box<Prepared<'a>>),
    /// The part that grows, the seed of its keys' hash and their kind.
    Growth(&'a Growth, u64, KeyKind),
}

impl Contents<'_> {
    fn write(&self, writer: &mut dyn Write) -> Result<(), FileErrorKind> {
        match self {
            Self::Words(words) => chunks(words)
                .try_for_each(|bytes| writer.write_all(&bytes))
                .map_err(|error| FileErrorKind::io("write", error)),
            Self::Next(file) => file.write(writer),
            Self::Growth(growth, seed, kind) => growth.write(*seed, *kind, writer),
        }
    }
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
