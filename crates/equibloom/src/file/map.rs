//! Filters over bytes in place: those of a mapped file, or a caller's.
#![allow(unsafe_code, reason = "no program can make sure that a file stays as it is")]

use std::path::Path;

use super::header::{BLOCKS, NEXT, OVERFLOW};
use super::read::{self, Input, MAX_PARTS};
use super::{FileErrorKind, opened};
use crate::hash_filter::HashFilter;
use crate::storage::{Bytes, Words, map};

/// Maps a file and checks its header.
///
/// # Safety
/// While the filter or a clone of it lives, the file must neither change nor shrink.
pub(super) unsafe fn open(path: &Path) -> Result<HashFilter, FileErrorKind> {
    let (file, size) = opened(path)?;
    // Files store words in little-endian order.
    if cfg!(target_endian = "big") || size.is_none() {
        return read::filter(Input::new(file, size));
    }
    // SAFETY: the caller's promise. Only the words keep the mapping alive.
    let mapping = unsafe { map(&file) }.map_err(|error| FileErrorKind::io("map", error))?;
    over(&mapping)
}

/// The filter over a whole file in memory. Only headers are verified; bytes that cannot be used in place are
/// copied, and then everything is.
pub(super) fn over(bytes: &Bytes) -> Result<HashFilter, FileErrorKind> {
    match part_over(bytes, 0, (**bytes).as_ref(), 0)? {
        // Files store words in little-endian order.
        Some(filter) if cfg!(target_endian = "little") => Ok(filter),
        _ => {
            let file = (**bytes).as_ref();
            read::filter(Input::new(file, Some(file.len() as u64)))
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
    let words = |name| {
        let (offset, length) = header.place_of(name);
        if length == 0 {
            Some(Words::none())
        } else {
            Words::borrowed(bytes, start + offset, length)
        }
    };
    let (Some(blocks), Some(overflow)) = (words(BLOCKS), words(OVERFLOW)) else { return Ok(None) };
    let (offset, length) = header.place_of(NEXT);
    let next = match file.get(offset as usize..(offset + length) as usize) {
        Some(next) if length > 0 && depth + 1 < MAX_PARTS => {
            let Some(next) = part_over(bytes, start + offset, next, depth + 1)? else {
                return Ok(None);
            };
            Some(next)
        }
        // The whole file is read, and refused.
        _ if length > 0 => return Ok(None),
        _ => None,
    };
    read::assemble(header, blocks, overflow, next).map(Some)
}
