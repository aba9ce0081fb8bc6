//! Filters over bytes in place: those of a mapped file, or a caller's.
#![allow(unsafe_code, reason = "no program can make sure that a file stays as it is")]

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::header::{BLOCKS, Header, IN_PLACE_BYTES, NEXT, OVERFLOW};
use super::read::{self, Input, MAX_PARTS, Next};
use super::{FileErrorKind, opened};
use crate::growing::{self, StoredGrowth};
use crate::hash_filter::HashFilter;
use crate::hashing::Stable;
use crate::storage::{Bytes, Words, map};

/// A file with fewer bytes is read: that takes less than a millisecond, finds all damage, and leaves nothing that
/// depends on the file.
pub(crate) const MAPPED_BYTES: u64 = 1 << 20;

/// Maps a file and checks its header.
///
/// # Safety
/// While the filter or a clone of it lives, the file must neither change nor shrink.
pub(super) unsafe fn open(path: &Path) -> Result<HashFilter, FileErrorKind> {
    let (file, size) = opened(path)?;
    // Files store words in little-endian order.
    if cfg!(target_endian = "big") || size.is_none_or(|size| size < MAPPED_BYTES) {
        return read::filter(Input::new(file, size), Stable::NAME);
    }
    // SAFETY: the caller's promise. Only the words keep the mapping alive.
    let mapping = unsafe { map(&file) }.map_err(|error| FileErrorKind::io("map", error))?;
    over(&mapping)
}

/// The filter over a whole file in memory. Only headers and small sections are verified; bytes that cannot be used
/// in place are copied, and then everything is.
pub(super) fn over(bytes: &Bytes) -> Result<HashFilter, FileErrorKind> {
    match part_over(bytes, 0, (**bytes).as_ref(), 0)? {
        // Files store words in little-endian order.
        Some(filter) if cfg!(target_endian = "little") => Ok(filter),
        _ => {
            let file = (**bytes).as_ref();
            read::filter(Input::new(file, Some(file.len() as u64)), Stable::NAME)
        }
    }
}

/// The filter over a file that is a part of these bytes; `None` if it cannot be used in place.
fn part_over(
    bytes: &Bytes,
    start: u64,
    file: &[u8],
    depth: usize,
) -> Result<Option<HashFilter>, FileErrorKind> {
    let header = Input::new(file, Some(file.len() as u64)).header()?;
    header.check_hash(Stable::NAME)?;
    let (Some(blocks), Some(overflow)) =
        (words(bytes, start, &header, BLOCKS)?, words(bytes, start, &header, OVERFLOW)?)
    else {
        return Ok(None);
    };
    let mut next = None;
    if let Some(section) = header.section(NEXT) {
        let file = file.get(section.offset as usize..section.end() as usize);
        // A file of too many parts is read as a whole, and refused.
        let Some(file) = file.filter(|_| depth + 1 < MAX_PARTS) else { return Ok(None) };
        let start = start + section.offset;
        let found = if file.starts_with(&growing::MAGIC) {
            Some(Next::Growth(StoredGrowth::over(bytes, start, file)?))
        } else {
            part_over(bytes, start, file, depth + 1)?.map(|next| Next::Filter(next.into()))
        };
        let Some(found) = found else { return Ok(None) };
        next = Some(found);
    }
    read::assemble(header, blocks, overflow, next).map(Some)
}

/// The words of a section: in place, or copied if it is small; `None` if it cannot be used in place.
fn words(
    bytes: &Bytes,
    start: u64,
    header: &Header,
    name: &str,
) -> Result<Option<Words>, FileErrorKind> {
    let Some(section) = header.section(name) else { return Ok(Some(Words::none())) };
    let (offset, length) = (start + section.offset, section.length);
    if length >= IN_PLACE_BYTES {
        return Ok(Words::borrowed(bytes, offset, length));
    }
    let range = offset as usize..(offset + length) as usize;
    let Some(stored) = (**bytes).as_ref().get(range) else { return Ok(None) };
    read::check(section, xxh3_64(stored))?;
    let mut words = Words::zeroed(length / 8).map_err(FileErrorKind::Memory)?;
    words.native_bytes_mut()[..stored.len()].copy_from_slice(stored);
    Ok(Some(words))
}
