//! Growing filters in files (`docs/format.md`, "Growing filters").
//!
//! A file is a sequence of words: a header, the listed strings, the lines of the tables in their order, a checksum.

use alloc::format;
use alloc::string::String;
use core::convert::Infallible;
use core::marker::PhantomData;
use core::ops::ControlFlow;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::filter::GrowingFilter;
use super::levels::Levels;
use super::prefix::Prefix;
use super::schedule::{MAX_STEPS, STEPS, Schedule};
#[cfg(target_has_atomic = "64")]
use super::shared::SharedGrowingFilter;
use super::table::{Previous, Table};
use crate::block::isa::ANY;
use crate::file::{FileError, FileErrorKind, atomic, opened};
use crate::hashing::{KeyKind, Stable, StableKey};
use crate::storage::Line;

const MAGIC: [u8; 8] = *b"\x89EQG\r\n\x1a\n";
const VERSION: u64 = 1;

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

    /// Reads a filter from any stream, or from bytes: `read_from(&bytes[..])`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn read_from(reader: impl Read) -> Result<Self, FileError> {
        Ok(Self::read(reader, None)?)
    }

    fn write(&self, writer: impl Write) -> Result<(), FileErrorKind> {
        let Self { table, rate, hasher, .. } = self;
        let kinds = KeyKind::ALL.iter();
        let kind = kinds.take_while(|&&kind| kind != K::KIND).count() as u64;
        let lines: u64 = table.parts().map(|(levels, lists)| levels.blocks_with(&lists)).sum();
        let bytes = 8 * (HEADER_WORDS as u64 + 3 * table.listed.len() + 8 * lines + 1);

        let mut sink = Sink { writer: BufWriter::new(writer), hasher: Xxh3::new() };
        let removable = u64::from(table.removable);
        let (lists, widths, first_step) = table.schedule.to_numbers();
        let flags = u64::from(first_step) << 1 | removable;
        let first = [VERSION, bytes, hasher.seed(), kind, rate.to_bits(), flags, table.elements];
        sink.put(&[u64::from_le_bytes(MAGIC)])?;
        sink.put(&first)?;
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
        for (levels, lists) in table.parts() {
            for line in levels.lines(&lists) {
                sink.put(line.unwrap_or(&SENT_ON))?;
            }
        }
        let checksum = sink.hasher.digest();
        sink.put(&[checksum])?;
        sink.writer.flush().map_err(|error| FileErrorKind::io("write", error))
    }

    fn read(reader: impl Read, size: Option<u64>) -> Result<Self, FileErrorKind> {
        let reader = BufReader::with_capacity(1 << 16, reader);
        let mut source =
            Source { reader, hasher: Xxh3::new(), read: 0, bytes: HEADER_WORDS as u64 * 8 };
        let [magic] = source.words()?;
        if magic != u64::from_le_bytes(MAGIC) {
            let reason =
                format!("it begins with {:02x?}, not as a growing filter", magic.to_le_bytes());
            let cure = "load other filters with `Filter::load`";
            return Err(FileErrorKind::Unsupported { reason, cure });
        }
        let [version, bytes, seed, kind, rate, flags, elements] = source.words()?;
        if version != VERSION {
            let reason =
                format!("version {version} of growing filters, this library knows {VERSION}");
            return Err(FileErrorKind::Unsupported { reason, cure: "update equibloom" });
        }
        if let Some(found) = size.filter(|&found| found != bytes) {
            return Err(FileErrorKind::Length { found, expected: bytes });
        }
        source.bytes = bytes;
        let found = usize::try_from(kind).ok().and_then(|kind| KeyKind::ALL.get(kind)).copied();
        let found = found.ok_or_else(|| field("the kind of the keys", 32, kind, "a known kind"))?;
        if found != K::KIND && found != KeyKind::Unspecified {
            return Err(FileErrorKind::Keys { found, expected: K::KIND });
        }
        if !(0.0..=1.0).contains(&f64::from_bits(rate)) {
            return Err(field("the rate", 40, rate, "the bits of a number from 0 to 1"));
        }
        let table = read_table(&mut source, flags, elements)?;
        let computed = source.hasher.digest();
        let [stored] = source.words()?;
        if stored != computed {
            let part = String::from("the file");
            return Err(FileErrorKind::Checksum { part, stored, computed });
        }
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
        let (rate, hasher) = (f64::from_bits(rate), Stable::with_seed(seed));
        Ok(Self { table, rate, hasher, key: PhantomData })
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
}

fn field(name: &'static str, offset: u64, value: u64, accepted: &str) -> FileErrorKind {
    FileErrorKind::Field { name, offset, value, accepted: accepted.into() }
}

/// Reads the schedule, the state, the listed strings and the lines.
fn read_table(
    source: &mut Source<impl Read>,
    flags: u64,
    elements: u64,
) -> Result<Table, FileErrorKind> {
    let lists =
        source.words::<{ STEPS as usize }>()?.map(|lists| u32::try_from(lists).unwrap_or(0));
    let mut widths = [0; MAX_STEPS];
    for widths in widths.as_chunks_mut::<8>().0 {
        let [word] = source.words()?;
        *widths = word.to_le_bytes();
    }
    let first_step = u32::try_from(flags >> 1).unwrap_or(u32::MAX);
    let schedule = Schedule::from_numbers(lists, widths, first_step)
        .ok_or_else(|| field("the schedule", 64, flags, "one of valid sizes and widths"))?;

    let [step, previous, next, strings, listed, lines] = source.words()?;
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
        table.previous = Some(alloc::boxed::Box::new(Previous { levels, next, boundary }));
    }
    let expected: u64 = table.parts().map(|(levels, lists)| levels.blocks_with(&lists)).sum();
    if lines != expected {
        return Err(field("the number of lines", 336, lines, &format!("{expected}")));
    }

    for _ in 0..listed {
        let [high, low, copies] = source.words()?;
        let string = Prefix::from_bits(u128::from(high) << 64 | u128::from(low));
        let string = string.filter(|&string| {
            table.levels_of(string).lengths().contains(&string.length()) && copies > 0
        });
        let refused =
            || field("a listed string", source.read - 24, copies, "a string of the table");
        table.listed.insert(string.ok_or_else(refused)?, copies);
    }
    let parts: alloc::vec::Vec<_> = table.parts().map(|(_, lists)| lists).collect();
    let Table { current, previous, .. } = &mut table;
    let previous = previous.as_deref_mut().map(|previous| &mut previous.levels);
    // The current table has no part before its first block is filled.
    let has_part = next > 0 || previous.is_none();
    let tables = core::iter::once(current).filter(|_| has_part);
    for (levels, lists) in tables.chain(previous).zip(parts) {
        for level in &mut levels.levels {
            let blocks = level.blocks_with(&lists, levels.geometry.list_bits);
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
        }
    }
    Ok(table)
}

/// A stream that words are written to.
struct Sink<W> {
    writer: W,
    hasher: Xxh3,
}

impl<W: Write> Sink<W> {
    fn put(&mut self, words: &[u64]) -> Result<(), FileErrorKind> {
        for word in words {
            let bytes = word.to_le_bytes();
            self.hasher.update(&bytes);
            self.writer.write_all(&bytes).map_err(|error| FileErrorKind::io("write", error))?;
        }
        Ok(())
    }
}

/// A stream that words are read from.
struct Source<R> {
    reader: R,
    hasher: Xxh3,
    /// Bytes read, and bytes that there should be.
    read: u64,
    bytes: u64,
}

impl<R: Read> Source<R> {
    fn words<const N: usize>(&mut self) -> Result<[u64; N], FileErrorKind> {
        let mut words = [0; N];
        for word in &mut words {
            let mut bytes = [0; 8];
            self.reader.read_exact(&mut bytes).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => {
                    FileErrorKind::Length { found: self.read, expected: self.bytes }
                }
                _ => FileErrorKind::io("read", error),
            })?;
            self.read += 8;
            self.hasher.update(&bytes);
            *word = u64::from_le_bytes(bytes);
        }
        Ok(words)
    }
}
