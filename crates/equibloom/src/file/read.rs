//! Reads and verifies a filter from a stream of bytes.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::ops::Range;
use std::io::{Cursor, ErrorKind, Read};

use xxhash_rust::xxh3::Xxh3;

use super::FileErrorKind;
use super::header::{self, BLOCKS, Header, NEXT, OVERFLOW, PREFIX_BYTES, Section};
use super::write::CHUNK_BYTES;
use crate::growing::{self, StoredGrowth};
use crate::hash_filter::HashFilter;
use crate::raw::Any;
use crate::storage::Words;

/// Bytes allocated for a section of a stream before the first of its bytes arrive.
const FIRST_BYTES: u64 = 1 << 20;

/// Most parts of a filter in a file.
pub(super) const MAX_PARTS: usize = 64;

/// A reader and its position.
pub(super) struct Input<'a> {
    reader: Box<dyn Read + 'a>,
    position: u64,
    /// The size, if it is a regular file.
    size: Option<u64>,
    /// The number of files that this one is a section of.
    depth: usize,
}

/// What the section with the parts after the first holds.
pub(super) enum Next {
    Filter(Box<HashFilter>),
    Growth(StoredGrowth),
}

/// A file by its first bytes.
enum Kind<'a> {
    Planned(Input<'a>),
    Growing(Input<'a>),
}

/// The bytes of a section, hashed as they are read.
struct Hashed<'a, 'b> {
    input: &'a mut Input<'b>,
    left: u64,
    hasher: Xxh3,
}

impl Read for Hashed<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = buffer.len();
        let buffer = &mut buffer[piece(self.left, most)];
        let read = self.input.reader.read(buffer)?.min(buffer.len());
        self.input.position += read as u64;
        self.left -= read as u64;
        self.hasher.update(&buffer[..read]);
        Ok(read)
    }
}

/// Reads a filter with keys of this hash into memory.
pub(super) fn filter(mut input: Input<'_>, hash: &str) -> Result<HashFilter, FileErrorKind> {
    let header = input.header()?;
    header.check_hash(hash)?;
    let (mut blocks, mut overflow) = (Words::none(), Words::none());
    let mut next = None;
    input.sections(&header, |input, section| match section.name.as_str() {
        BLOCKS => input.words(&header, section, &mut blocks),
        OVERFLOW => input.words(&header, section, &mut overflow),
        NEXT => input.nested(section, |nested| {
            next = Some(match nested.kind()? {
                Kind::Planned(nested) => Next::Filter(Box::new(filter(nested, hash)?)),
                Kind::Growing(nested) => Next::Growth(nested.growth()?),
            });
            Ok(())
        }),
        _ => input.skim(&header, section, |_| {}),
    })?;
    let mut found = Entries::new(&header);
    found.count(overflow.native_bytes());
    found.check(&header)?;
    if cfg!(target_endian = "big") {
        let words = blocks.as_flattened_mut().iter_mut().chain(overflow.as_flattened_mut());
        words.for_each(|word| *word = u64::from_le(*word));
    }
    assemble(header, blocks, overflow, next)
}

/// Reads and checks everything, and stores nothing.
pub(super) fn verify(mut input: Input<'_>) -> Result<Header, FileErrorKind> {
    let header = input.header()?;
    let mut found = Entries::new(&header);
    input.sections(&header, |input, section| match section.name.as_str() {
        OVERFLOW => input.skim(&header, section, |bytes| found.count(bytes)),
        NEXT => input.nested(section, |nested| match nested.kind()? {
            Kind::Planned(nested) => {
                let next = verify(nested)?;
                next.check_hash(&header.hash)?;
                header.check_next(&next.parameters, next.key_kind)
            }
            Kind::Growing(nested) => header.check_growth(&nested.growth()?),
        }),
        _ => input.skim(&header, section, |_| {}),
    })?;
    found.check(&header)?;
    Ok(header)
}

/// The filter of a checked header, the words of its sections, and the parts after the first.
pub(super) fn assemble(
    header: Header,
    blocks: Words,
    overflow: Words,
    next: Option<Next>,
) -> Result<HashFilter, FileErrorKind> {
    match &next {
        Some(Next::Filter(next)) => header.check_next(next.parameters(), next.key_kind())?,
        Some(Next::Growth(next)) => header.check_growth(next)?,
        None => {}
    }
    let Header { parameters, counters, key_kind, .. } = header;
    let (found, expected) = (blocks.bytes(), parameters.design.block_bytes());
    // The header's check has compared the lengths.
    let mismatch = FileErrorKind::SectionLength { name: BLOCKS, found, expected };
    let raw = Any::over(&parameters.design, blocks, overflow, counters).ok_or(mismatch)?;
    let filter = HashFilter::over(parameters, raw, key_kind);
    Ok(match next {
        None => filter,
        Some(Next::Filter(next)) => filter.followed_by(*next),
        Some(Next::Growth(growth)) => filter.with_growth(Some(growth.growth)),
    })
}

/// Counts the entries of the overflow list: nonzero slots.
struct Entries {
    found: u64,
    /// Bytes of slots that have not been seen.
    left: u64,
}

impl Entries {
    const fn new(header: &Header) -> Self {
        Self { found: 0, left: header.slot_bytes() }
    }

    /// Counts those of the section's next chunk.
    fn count(&mut self, chunk: &[u8]) {
        let slots = &chunk[piece(self.left, chunk.len())];
        self.left -= slots.len() as u64;
        let entries = slots.chunks_exact(8).filter(|slot| slot.iter().any(|&byte| byte != 0));
        self.found += entries.count() as u64;
    }

    fn check(&self, header: &Header) -> Result<(), FileErrorKind> {
        let (found, expected) = (self.found, header.counters.overflow_entries);
        if found == expected {
            return Ok(());
        }
        Err(FileErrorKind::OverflowEntries { found, expected })
    }
}

impl<'a> Input<'a> {
    /// A file of `size` bytes, or a stream of unknown length.
    pub(super) fn new(reader: impl Read + 'a, size: Option<u64>) -> Self {
        Self { reader: Box::new(reader), position: 0, size, depth: 0 }
    }

    /// Which kind of filter it is.
    fn kind(mut self) -> Result<Kind<'a>, FileErrorKind> {
        let mut start = Vec::from(growing::MAGIC);
        let read = self.read_up_to(&mut start)?;
        start.truncate(read);
        let is_growing = start == growing::MAGIC;
        let reader = Box::new(Cursor::new(start).chain(self.reader));
        let input = Self { reader, position: 0, ..self };
        Ok(if is_growing { Kind::Growing(input) } else { Kind::Planned(input) })
    }

    /// The part that grows.
    fn growth(self) -> Result<StoredGrowth, FileErrorKind> {
        StoredGrowth::read(self.reader, self.size)
    }

    /// Reads and checks the header.
    pub(super) fn header(&mut self) -> Result<Header, FileErrorKind> {
        let mut bytes = alloc::vec![0; PREFIX_BYTES];
        let read = self.read_up_to(&mut bytes)?;
        let length = header::length(&bytes[..read])?;
        if let Some(found) = self.size.filter(|&size| size < length) {
            return Err(FileErrorKind::Length { found, expected: length });
        }
        bytes.resize(length as usize, 0);
        self.fill(&mut bytes[PREFIX_BYTES..], length)?;
        let header = Header::decode(&bytes)?;
        match self.size {
            Some(found) if found != header.file_length => {
                Err(FileErrorKind::Length { found, expected: header.file_length })
            }
            _ => Ok(header),
        }
    }

    /// Reads to the end of the file, and calls `read` at the beginning of every section.
    fn sections(
        &mut self,
        header: &Header,
        mut read: impl FnMut(&mut Self, &Section) -> Result<(), FileErrorKind>,
    ) -> Result<(), FileErrorKind> {
        for section in &header.sections {
            self.zeros(section.offset, header)?;
            read(self, section)?;
        }
        self.zeros(header.file_length, header)
    }

    /// Reads a section that is itself a file, and checks it.
    fn nested(
        &mut self,
        section: &Section,
        read: impl FnOnce(Input<'_>) -> Result<(), FileErrorKind>,
    ) -> Result<(), FileErrorKind> {
        let depth = self.depth + 1;
        if depth >= MAX_PARTS {
            let reason = format!("it has more than {MAX_PARTS} parts");
            return Err(FileErrorKind::Unsupported {
                reason,
                cure: "build it again from its keys",
            });
        }
        let size = self.size.map(|_| section.length);
        let mut hashed = Hashed { input: self, left: section.length, hasher: Xxh3::new() };
        read(Input { reader: Box::new(&mut hashed), position: 0, size, depth })?;
        if hashed.left > 0 {
            let (found, expected) = (section.length, section.length - hashed.left);
            return Err(FileErrorKind::Length { found, expected });
        }
        check(section, hashed.hasher.digest())
    }

    /// Reads up to a position and checks that all bytes are zero.
    fn zeros(&mut self, end: u64, header: &Header) -> Result<(), FileErrorKind> {
        let mut buffer = [0; 4096];
        while self.position < end {
            let start = self.position;
            let piece = &mut buffer[piece(end - start, 4096)];
            self.fill(piece, header.file_length)?;
            if let Some(at) = piece.iter().position(|&byte| byte != 0) {
                let (offset, value) = (start + at as u64, piece[at]);
                return Err(FileErrorKind::NotZero { offset, value });
            }
        }
        Ok(())
    }

    /// Reads a section into memory as its bytes arrive, and checks it.
    fn words(
        &mut self,
        header: &Header,
        section: &Section,
        words: &mut Words,
    ) -> Result<(), FileErrorKind> {
        let zeroed = |bytes: u64| Words::zeroed(bytes / 8).map_err(FileErrorKind::Memory);
        // A file's size is known; a stream's header is only a claim.
        let first = if self.size.is_some() { section.length } else { FIRST_BYTES };
        *words = zeroed(section.length.min(first))?;
        let mut hasher = Xxh3::new();
        let mut filled = 0;
        while filled < section.length {
            if filled == words.bytes() {
                // Untouched pages cost nothing, so old and new memory together take no more than the
                // section.
                let mut larger = zeroed(section.length.min(2 * filled))?;
                larger.native_bytes_mut()[..filled as usize].copy_from_slice(words.native_bytes());
                *words = larger;
            }
            let rest = &mut words.native_bytes_mut()[filled as usize..];
            let length = rest.len() as u64;
            let rest = &mut rest[piece(length, CHUNK_BYTES)];
            self.fill(rest, header.file_length)?;
            hasher.update(rest);
            filled += rest.len() as u64;
        }
        check(section, hasher.digest())
    }

    /// Reads a section in chunks and checks it.
    fn skim(
        &mut self,
        header: &Header,
        section: &Section,
        mut look: impl FnMut(&[u8]),
    ) -> Result<(), FileErrorKind> {
        let mut buffer = Vec::new();
        let mut hasher = Xxh3::new();
        let mut left = section.length;
        while left > 0 {
            buffer.resize(piece(left, CHUNK_BYTES).end, 0);
            self.fill(&mut buffer, header.file_length)?;
            hasher.update(&buffer);
            look(&buffer);
            left -= buffer.len() as u64;
        }
        check(section, hasher.digest())
    }

    /// Fills the buffer from a file that should have `expected` bytes.
    fn fill(&mut self, buffer: &mut [u8], expected: u64) -> Result<(), FileErrorKind> {
        if self.read_up_to(buffer)? == buffer.len() {
            Ok(())
        } else {
            Err(FileErrorKind::Length { found: self.position, expected })
        }
    }

    /// Fills the buffer until it is full or the input ends.
    fn read_up_to(&mut self, buffer: &mut [u8]) -> Result<usize, FileErrorKind> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                // A larger count would be a bug in the reader.
                Ok(read) => filled = buffer.len().min(filled + read),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(FileErrorKind::io("read", error)),
            }
        }
        self.position += filled as u64;
        Ok(filled)
    }
}

/// The range of the next chunk: `left` bytes, at most `most`.
fn piece(left: u64, most: usize) -> Range<usize> {
    0..usize::try_from(left).map_or(most, |left| left.min(most))
}

/// Refuses a section that does not match its checksum.
pub(super) fn check(section: &Section, computed: u64) -> Result<(), FileErrorKind> {
    if section.checksum == computed {
        return Ok(());
    }
    let end = section.end();
    let part = format!("section \"{}\" (bytes {} to {end})", section.name, section.offset);
    Err(FileErrorKind::Checksum { part, stored: section.checksum, computed })
}
