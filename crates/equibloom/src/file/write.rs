//! Writes a filter as a stream of bytes: header, zeros up to a page boundary, section, zeros, section.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use std::io::{self, Write};

use xxhash_rust::xxh3::Xxh3;

use super::FileErrorKind;
use super::header::{BLOCKS, Header, OVERFLOW, Section};
use crate::hash_filter::HashFilter;
use crate::hashing::KeyKind;
use crate::parameters::Parameters;
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
    let (blocks, ledger) = filter.raw.contents();
    let (mut sections, mut contents) = (Vec::new(), Vec::new());
    for (name, words) in [(BLOCKS, blocks), (OVERFLOW, &ledger.overflow.slots)] {
        if words.bytes() > 0 {
            sections.push(Section::new(name, words.bytes(), checksum(words)));
            contents.push(words);
        }
    }
    let parameters = Parameters { seed, ..*filter.parameters() };
    let header = Header::new(parameters, kind, ledger.counters(), sections)?;
    write(&header.encode()?, header.sections.iter().zip(contents), writer)
        .map_err(|error| FileErrorKind::io("write", error))
}

fn write<'a>(
    head: &[u8],
    sections: impl Iterator<Item = (&'a Section, &'a Words)>,
    writer: &mut dyn Write,
) -> io::Result<()> {
    writer.write_all(head)?;
    let mut position = head.len() as u64;
    for (section, words) in sections {
        // Less than a page.
        let gap = (section.offset - position) as usize;
        writer.write_all(&alloc::vec![0; gap])?;
        chunks(words).try_for_each(|bytes| writer.write_all(&bytes))?;
        position = section.end();
    }
    writer.flush()
}

/// XXH3-64 of the words in little-endian order.
fn checksum(words: &Words) -> u64 {
    let mut hasher = Xxh3::new();
    chunks(words).for_each(|bytes| hasher.update(&bytes));
    hasher.digest()
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
