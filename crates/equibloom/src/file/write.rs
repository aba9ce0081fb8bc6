//! Writes a filter as a stream of bytes: header, zeros up to a page boundary, section, zeros, section.

use alloc::vec::Vec;
use std::io::{self, Write};

use xxhash_rust::xxh3::Xxh3;

use super::FileErrorKind;
use super::header::{BLOCKS, Header, OVERFLOW, Section};
use crate::hash_filter::HashFilter;
use crate::hashing::KeyKind;
use crate::parameters::Parameters;
use crate::raw::Parts;
use crate::storage::Words;

/// Bytes hashed, read or written at a time: small enough to stay in the cache in between.
pub(super) const CHUNK_BYTES: usize = 1 << 18;

/// Writes a filter with the seed of its hash and the kind of its keys.
pub(super) fn filter<W: Write + ?Sized>(
    filter: &HashFilter,
    seed: u64,
    kind: KeyKind,
    writer: &mut W,
) -> Result<(), FileErrorKind> {
    let Parts { blocks, overflow, counters } = filter.raw.parts();
    let parts: Vec<(&str, &Words)> = [(BLOCKS, blocks), (OVERFLOW, overflow)]
        .into_iter()
        .filter(|(_, words)| words.bytes() > 0)
        .collect();
    let sections: Vec<_> =
        parts.iter().map(|(name, words)| (*name, words.bytes(), checksum(words))).collect();
    let parameters = Parameters { seed, ..*filter.parameters() };
    let header = Header::new(parameters, kind, counters, &sections)?;
    let head = header.encode()?;
    let words = parts.into_iter().map(|(_, words)| words);
    write(&head, header.sections.iter().zip(words), writer)
        .map_err(|error| FileErrorKind::io("write", error))
}

fn write<'a, W: Write + ?Sized>(
    head: &[u8],
    sections: impl Iterator<Item = (&'a Section, &'a Words)>,
    writer: &mut W,
) -> io::Result<()> {
    writer.write_all(head)?;
    let mut position = head.len() as u64;
    for (section, words) in sections {
        // Less than a page.
        let gap = (section.offset - position) as usize;
        writer.write_all(&alloc::vec![0; gap])?;
        for_each_chunk(words, |bytes| writer.write_all(bytes))?;
        position = section.end();
    }
    writer.flush()
}

/// XXH3-64 of the words in little-endian order.
fn checksum(words: &Words) -> u64 {
    let mut hasher = Xxh3::new();
    // The closure never fails.
    let _: Result<(), core::convert::Infallible> = for_each_chunk(words, |bytes| {
        hasher.update(bytes);
        Ok(())
    });
    hasher.digest()
}

/// Visits the words as little-endian bytes; on little-endian targets without a copy.
fn for_each_chunk<E>(
    words: &Words,
    mut visit: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    if cfg!(target_endian = "little") {
        return words.native_bytes().chunks(CHUNK_BYTES).try_for_each(visit);
    }
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    for word in words.iter() {
        chunk.extend(word.to_le_bytes());
        if chunk.len() == CHUNK_BYTES {
            visit(&chunk)?;
            chunk.clear();
        }
    }
    visit(&chunk)
}
