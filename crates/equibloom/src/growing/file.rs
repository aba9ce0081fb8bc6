//! Growing filters in files (`docs/format.md`, "Growing filters").
//!
//! A file is a sequence of words: a header and the listed strings with a checksum, zeros up to a line boundary, the
//! lines of the tables in their order, and a checksum of everything. Lines are as in memory, so that a mapped file
//! can be queried in place.

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::marker::PhantomData;
use core::ops::{ControlFlow, Range};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::filter::GrowingFilter;
use super::levels::{Level, Levels};
use super::map;
use super::prefix::Prefix;
use super::schedule::{MAX_STEPS, STEPS, Schedule};
#[cfg(target_has_atomic = "64")]
use super::shared::SharedGrowingFilter;
use super::table::{Previous, Table};
use crate::block::isa::ANY;
use crate::error::BuildError;
use crate::file::{FileError, FileErrorKind, atomic, opened};
use crate::hashing::{KeyKind, Stable, StableKey};
use crate::storage::{Bytes, Line, WORDS_PER_LINE};

pub(crate) const MAGIC: [u8; 8] = *b"\x89EQG\r\n\x1a\n";
const VERSION: u64 = 2;

/// A line that could not be allocated: all of its strings are listed.
const SENT_ON: Line = [0, 0, 0, 0, 0, 0, 0, 0xff << 56];

/// Words before the schedule, of the schedule, and after it.
const FIRST_WORDS: usize = 8;
const SCHEDULE_WORDS: usize = STEPS as usize + MAX_STEPS / 8;
const STATE_WORDS: usize = 6;
const HEADER_WORDS: usize = FIRST_WORDS + SCHEDULE_WORDS + STATE_WORDS;

impl<K: StableKey + ?Sized> GrowingFilter<K> {
    /// Writes the filter to a file, which is replaced as a whole or not at all.
    ///
    /// ```
    /// # let directory = std::env::temp_dir().join(format!("equibloom-growing-{}", std::process::id()));
    /// # std::fs::create_dir_all(&directory)?;
    /// # let path = directory.join("visitors.eqg");
    /// use equibloom::{Filter, GrowingFilter};
    ///
    /// let mut filter = Filter::<u64>::builder().rate(0.01).build_growing()?;
    /// filter.try_extend(0..10_000)?;
    /// filter.save(&path)?;
    ///
    /// let mut filter = GrowingFilter::<u64>::load(&path)?;
    /// filter.try_extend(10_000..20_000)?;
    /// assert!((0..20_000).all(|key| filter.contains(&key)));
    /// # std::fs::remove_dir_all(&directory)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be written; the old one is unchanged then.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = path.as_ref();
        atomic::replace(path, |file| self.write(file)).map_err(|error| error.at(path))
    }

    /// Reads a filter from a file, and checks all of it.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be read, is not a growing filter of such keys, or is damaged.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let read = opened(path).and_then(|(file, size)| Self::read(file, size));
        read.map_err(|error| error.at(path))
    }

    /// Writes the filter to any stream: the same bytes as in a file.
    ///
    /// # Errors
    /// [`FileError`] with the stream's own error.
    pub fn write_to(&self, writer: impl Write) -> Result<(), FileError> {
        Ok(self.write(writer)?)
    }

    /// Reads a filter from any stream, and nothing after it.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn read_from(reader: impl Read) -> Result<Self, FileError> {
        Ok(Self::read(reader, None)?)
    }

    /// The bytes of a file of this filter.
    ///
    /// ```
    /// use equibloom::{Filter, GrowingFilter};
    ///
    /// let mut filter = Filter::<u64>::builder().rate(0.01).build_growing()?;
    /// filter.try_extend(0..1_000)?;
    /// assert!(GrowingFilter::from_bytes(&filter.to_bytes()?)? == filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FileError`] if memory is short.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        let stored = self.bytes();
        if usize::try_from(stored).is_err() || bytes.try_reserve(stored as usize).is_err() {
            return Err(FileErrorKind::Memory(BuildError::OutOfMemory { bytes: stored }).into());
        }
        self.write(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a filter from exactly [its bytes](Self::to_bytes).
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        Ok(Self::read(bytes, Some(bytes.len() as u64))?)
    }

    /// Maps a file for lookups in place. Nothing is copied but what is listed, and the file may be larger than
    /// memory. Only the header is verified: damage elsewhere gives wrong answers, and no worse. A file below 1 MiB is
    /// [loaded](Self::load) instead.
    ///
    /// A change to the filter copies the 16 KiB around it into memory, and the file stays unchanged;
    /// [`detach`](Self::detach) copies everything. On big-endian targets, and for files that cannot be mapped (a
    /// pipe), this is [`load`](Self::load). [`Mapped`](crate::file::Mapped) notices when the file was replaced.
    ///
    /// # Safety
    /// As for [`HashFilter::open`](crate::HashFilter::open): no program may write to the file or truncate it while it
    /// is mapped. Replacing it, as [`save`](Self::save) does, is harmless.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be opened or mapped, or its header is damaged or does not match its size or
    /// the type of the keys.
    #[allow(unsafe_code, reason = "no program can guarantee that a file stays unchanged")]
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        // SAFETY: the caller's promise.
        let contents = unsafe { map::open(path) };
        contents.and_then(Self::typed).map_err(|error| error.at(path))
    }

    /// A filter over the bytes of a file in memory, in place, as by [`open`](Self::open). Bytes that do not begin at a
    /// multiple of 64, and all bytes on big-endian targets, are copied at once, and verified.
    ///
    /// # Errors
    /// [`FileError`] if the bytes are no filter of such keys, or there is no memory to copy them.
    pub fn from_owner(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Self, FileError> {
        let bytes: Bytes = Arc::new(bytes);
        Ok(map::over(&bytes, 0, (*bytes).as_ref()).and_then(Self::typed)?)
    }

    /// Whether any part of the filter is still in its file, or in its owner's memory.
    pub fn is_mapped(&self) -> bool {
        self.table.is_mapped()
    }

    /// Copies [mapped](Self::is_mapped) parts into memory. Changes would do the same, part by part, but abort the
    /// program if memory is short.
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`]; the filter is the same.
    pub fn detach(&mut self) -> Result<(), BuildError> {
        self.table.detach()
    }

    fn write(&self, writer: impl Write) -> Result<(), FileErrorKind> {
        let kind = if K::KIND == KeyKind::Unspecified { self.key_kind } else { K::KIND };
        write_table(&self.table, self.rate, self.hasher.seed(), kind, writer)
    }

    fn read(reader: impl Read, size: Option<u64>) -> Result<Self, FileErrorKind> {
        Contents::read(reader, size).and_then(Self::typed)
    }

    /// Checks that the file's kind of keys is that of `K`, if both are stated.
    fn typed(contents: Contents) -> Result<Self, FileErrorKind> {
        let Contents { table, rate, seed, kind: found } = contents;
        if ![found, KeyKind::Unspecified].contains(&K::KIND) && found != KeyKind::Unspecified {
            return Err(FileErrorKind::Keys { found, expected: K::KIND });
        }
        let (table, hasher) = (Box::new(table), Stable::with_seed(seed));
        Ok(Self { table, rate, hasher, key_kind: found, key: PhantomData })
    }
}

/// Shared growing filters in files. Each is written from a [`snapshot`](SharedGrowingFilter::snapshot), so that
/// threads go on using it, and is read as a [`GrowingFilter`].
///
/// ```
/// use equibloom::{Filter, GrowingFilter};
///
/// let shared = Filter::<u64>::builder().rate(0.01).build_shared_growing()?;
/// shared.insert(&5)?;
/// let mut bytes = Vec::new();
/// shared.write_to(&mut bytes)?;
/// assert!(GrowingFilter::<u64>::read_from(&bytes[..])?.into_shared()?.contains(&5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(target_has_atomic = "64")]
impl<K: StableKey + ?Sized> SharedGrowingFilter<K> {
    /// Writes a snapshot to a file, which is replaced as a whole or not at all.
    ///
    /// # Errors
    /// [`FileError`] if memory for the snapshot is short or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = path.as_ref();
        let copy = self.snapshot().map_err(|error| FileErrorKind::Memory(error).at(path))?;
        copy.save(path)
    }

    /// Writes a snapshot to any stream: the same bytes as in a file.
    ///
    /// # Errors
    /// [`FileError`] if memory for the snapshot is short, or with the stream's own error.
    pub fn write_to(&self, writer: impl Write) -> Result<(), FileError> {
        self.snapshot().map_err(FileErrorKind::Memory)?.write_to(writer)
    }

    /// The bytes of a file of a snapshot.
    ///
    /// # Errors
    /// [`FileError`] if memory is short.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        self.snapshot().map_err(FileErrorKind::Memory)?.to_bytes()
    }
}

pub(super) fn write_table(
    table: &Table,
    rate: f64,
    seed: u64,
    kind: KeyKind,
    writer: impl Write,
) -> Result<(), FileErrorKind> {
    let kind = KeyKind::ALL.iter().take_while(|&&other| other != kind).count() as u64;
    let lines = table.lines();
    let bytes = lines_start(table.listed.len()) + 64 * lines + 8;

    let mut sink = Sink { writer: BufWriter::new(writer), hasher: Xxh3::new(), written: 0 };
    let removable = u64::from(table.removable);
    let (lists, widths, first_step) = table.schedule.to_numbers();
    let flags = u64::from(first_step) << 1 | removable;
    sink.put(&[u64::from_le_bytes(MAGIC)])?;
    sink.put(&[VERSION, bytes, seed, kind, rate.to_bits(), flags, table.elements])?;
    sink.put(&lists.map(u64::from))?;
    for widths in widths.as_chunks().0 {
        sink.put(&[u64::from_le_bytes(*widths)])?;
    }
    let previous = table.previous.as_deref();
    let step = previous.map_or(0, |previous| 1 + u64::from(previous.levels.geometry.step));
    let next = previous.map_or(0, |previous| previous.next);
    let current = table.current.geometry.step.into();
    sink.put(&[current, step, next, table.strings, table.listed.len(), lines])?;
    for (string, copies) in table.listed.iter() {
        let bits = string.to_bits();
        sink.put(&[(bits >> 64) as u64, bits as u64, copies])?;
    }
    sink.put_checksum()?;
    while sink.written % 64 != 0 {
        sink.put(&[0])?;
    }
    for (levels, lists) in table.parts() {
        for line in levels.lines(lists) {
            sink.put(line.unwrap_or(&SENT_ON))?;
        }
    }
    sink.put_checksum()?;
    sink.writer.flush().map_err(|error| FileErrorKind::io("write", error))
}

/// Where the lines begin, behind so many listed strings.
const fn lines_start(listed: u64) -> u64 {
    let end = (HEADER_WORDS as u64 + 1).saturating_add(listed.saturating_mul(3)).saturating_mul(8);
    end.saturating_add(63) & !63
}

/// What a file holds.
pub(super) struct Contents {
    pub(super) table: Table,
    pub(super) rate: f64,
    pub(super) seed: u64,
    pub(super) kind: KeyKind,
}

impl Contents {
    /// Reads everything, and checks it.
    pub(super) fn read(reader: impl Read, size: Option<u64>) -> Result<Self, FileErrorKind> {
        let mut source = Source::new(BufReader::with_capacity(1 << 16, reader));
        let mut contents = source.header(size)?;
        let table = &mut contents.table;
        table.for_each_level(|level, blocks| {
            level.lines.skip_to(blocks.start);
            for block in blocks {
                level.lines.extend_to(block).map_err(FileErrorKind::Memory)?;
                let words = source.words()?;
                if !level.shape.is_valid(ANY, &words) {
                    let (offset, number) = (source.read - 64, block as u64);
                    return Err(field("a block", offset, number, "one with valid strings"));
                }
                if let Some(line) = level.lines.get_mut(block) {
                    *line = words;
                }
            }
            Ok(())
        })?;
        source.checksum("the file")?;
        // Only now is it known that the contents are what was written.
        let mut strings = 0;
        let _: ControlFlow<Infallible> = table.for_each(|_, copies| {
            strings += u64::from(copies == 1);
            ControlFlow::Continue(())
        });
        let listed = table.listed.iter().filter(|&(_, copies)| copies == 1).count() as u64;
        if strings - listed != table.strings {
            let accepted = format!("{}, as many as in the tables,", strings - listed);
            return Err(field("the number of strings", 320, table.strings, &accepted));
        }
        Ok(contents)
    }
}

fn field(name: &'static str, offset: u64, value: u64, accepted: &str) -> FileErrorKind {
    FileErrorKind::Field { name, offset, value, accepted: accepted.into() }
}

impl Table {
    /// Number of lines of all levels that hold strings.
    fn lines(&self) -> u64 {
        self.parts().map(|(levels, lists)| levels.blocks_with(&lists)).sum()
    }

    /// Calls `visit` with each level, in the order of the file, and those of its blocks that hold strings.
    pub(super) fn for_each_level<E>(
        &mut self,
        mut visit: impl FnMut(&mut Level, Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let parts: Vec<_> = self.parts().map(|(_, lists)| lists).collect();
        // The current table has no part before its first block is filled.
        let has_part = self.previous.as_ref().is_none_or(|previous| previous.next > 0);
        let current = core::iter::once(&mut self.current).filter(|_| has_part);
        let previous = self.previous.as_deref_mut().map(|previous| &mut previous.levels);
        for (levels, lists) in current.chain(previous).zip(parts) {
            for level in &mut levels.levels {
                let blocks = level.blocks_with(&lists, levels.geometry.list_bits);
                visit(level, blocks)?;
            }
        }
        Ok(())
    }

    pub(super) fn is_mapped(&self) -> bool {
        self.parts().any(|(levels, _)| levels.levels.iter().any(|level| level.lines.is_mapped()))
    }

    pub(super) fn detach(&mut self) -> Result<(), BuildError> {
        self.for_each_level(|level, _| level.lines.detach())
    }
}

/// A stream that words are written to.
struct Sink<W> {
    writer: W,
    hasher: Xxh3,
    /// Bytes written.
    written: u64,
}

impl<W: Write> Sink<W> {
    fn put(&mut self, words: &[u64]) -> Result<(), FileErrorKind> {
        for words in words.chunks(WORDS_PER_LINE) {
            let mut bytes = [[0; 8]; WORDS_PER_LINE];
            bytes.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
            let bytes = bytes[..words.len()].as_flattened();
            self.hasher.update(bytes);
            self.writer.write_all(bytes).map_err(|error| FileErrorKind::io("write", error))?;
            self.written += bytes.len() as u64;
        }
        Ok(())
    }

    /// Writes the checksum of all that was written.
    fn put_checksum(&mut self) -> Result<(), FileErrorKind> {
        self.put(&[self.hasher.digest()])
    }
}

/// A stream that words are read from.
pub(super) struct Source<R> {
    reader: R,
    hasher: Xxh3,
    /// Bytes read, and bytes that there should be.
    pub(super) read: u64,
    bytes: u64,
}

impl<R: Read> Source<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, hasher: Xxh3::new(), read: 0, bytes: HEADER_WORDS as u64 * 8 }
    }

    fn words<const N: usize>(&mut self) -> Result<[u64; N], FileErrorKind> {
        let mut words = [[0; 8]; N];
        let bytes = words.as_flattened_mut();
        self.reader.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                FileErrorKind::Length { found: self.read, expected: self.bytes }
            }
            _ => FileErrorKind::io("read", error),
        })?;
        self.read += bytes.len() as u64;
        self.hasher.update(bytes);
        Ok(words.map(u64::from_le_bytes))
    }

    /// Reads a checksum of all that was read.
    fn checksum(&mut self, part: &str) -> Result<(), FileErrorKind> {
        let computed = self.hasher.digest();
        let [stored] = self.words()?;
        let part = part.into();
        if stored == computed {
            Ok(())
        } else {
            Err(FileErrorKind::Checksum { part, stored, computed })
        }
    }

    /// Reads everything before the lines: the table has none yet. `size` is that of the file, if it is known.
    pub(super) fn header(&mut self, size: Option<u64>) -> Result<Contents, FileErrorKind> {
        let [magic] = self.words()?;
        if magic != u64::from_le_bytes(MAGIC) {
            let reason =
                format!("it begins with {:02x?}, not as a growing filter", magic.to_le_bytes());
            let cure = "load other filters with `Filter::load`";
            return Err(FileErrorKind::Unsupported { reason, cure });
        }
        let [version, bytes, seed, kind, rate, flags, elements] = self.words()?;
        if version != VERSION {
            let reason =
                format!("version {version} of growing filters, this library knows {VERSION}");
            return Err(FileErrorKind::Unsupported { reason, cure: "update equibloom" });
        }
        if let Some(found) = size.filter(|&found| found != bytes) {
            return Err(FileErrorKind::Length { found, expected: bytes });
        }
        self.bytes = bytes;
        let known = usize::try_from(kind).ok().and_then(|kind| KeyKind::ALL.get(kind)).copied();
        let kind = known.ok_or_else(|| field("the kind of the keys", 32, kind, "a known kind"))?;
        if !(0.0..=1.0).contains(&f64::from_bits(rate)) {
            return Err(field("the rate", 40, rate, "the bits of a number from 0 to 1"));
        }
        let table = self.table(flags, elements)?;
        Ok(Contents { table, rate: f64::from_bits(rate), seed, kind })
    }

    /// Reads the schedule, the state and the listed strings, up to the lines.
    fn table(&mut self, flags: u64, elements: u64) -> Result<Table, FileErrorKind> {
        let lists =
            self.words::<{ STEPS as usize }>()?.map(|lists| u32::try_from(lists).unwrap_or(0));
        let mut widths = [0; MAX_STEPS];
        for widths in widths.as_chunks_mut::<8>().0 {
            let [word] = self.words()?;
            *widths = word.to_le_bytes();
        }
        let first_step = u32::try_from(flags >> 1).unwrap_or(u32::MAX);
        let schedule = Schedule::from_numbers(lists, widths, first_step)
            .ok_or_else(|| field("the schedule", 64, flags, "one of valid sizes and widths"))?;

        let [step, previous, next, strings, listed, lines] = self.words()?;
        let geometry = |step: u64, offset| {
            let geometry = schedule.geometry_at(step);
            geometry.ok_or_else(|| field("a step", offset, step, "a step of the schedule"))
        };
        let mut table = Table::over(schedule, flags & 1 == 1, Levels::new(geometry(step, 296)?));
        (table.strings, table.elements) = (strings, elements);
        if let Some(previous) = previous.checked_sub(1) {
            let levels = Levels::new(geometry(previous, 304)?);
            let list_bits = table.current.geometry.list_bits;
            let is_before = previous < step && list_bits - levels.geometry.list_bits <= 1;
            if !is_before || next >= table.current.geometry.blocks() {
                return Err(field("the previous step", 304, previous, "the step before"));
            }
            let boundary = table.current.lists_of(next).start << (u64::BITS - list_bits);
            table.previous = Some(Box::new(Previous { levels, next, boundary }));
        }
        let expected = table.lines();
        if lines != expected {
            return Err(field("the number of lines", 336, lines, &format!("{expected}")));
        }
        let start = lines_start(listed);
        let expected = start.saturating_add(lines.saturating_mul(64)).saturating_add(8);
        if self.bytes != expected {
            return Err(FileErrorKind::Length { found: self.bytes, expected });
        }

        for _ in 0..listed {
            let [high, low, copies] = self.words()?;
            let string = Prefix::from_bits(u128::from(high) << 64 | u128::from(low));
            let string = string.filter(|&string| {
                table.levels_of(string).lengths().contains(&string.length()) && copies > 0
            });
            let refused =
                || field("a listed string", self.read - 24, copies, "a string of the table");
            table.listed.insert(string.ok_or_else(refused)?, copies);
        }
        self.checksum("the header")?;
        while self.read < start {
            self.words::<1>()?;
        }
        Ok(table)
    }
}
