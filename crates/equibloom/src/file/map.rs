//! Filters over bytes in place: those of a mapped file, or a caller's.
#![allow(unsafe_code, reason = "no program can make sure that a file stays as it is")]

use std::path::Path;

use super::header::{BLOCKS, OVERFLOW};
use super::read::{self, Input};
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

/// The filter over a whole file in memory. Only the header is verified; bytes that cannot be used in place
/// are copied, and then everything is.
pub(super) fn over(bytes: &Bytes) -> Result<HashFilter, FileErrorKind> {
    let file = (**bytes).as_ref();
    let input = || Input::new(file, Some(file.len() as u64));
    let header = input().header()?;
    let words = |name| {
        let (offset, length) = header.place_of(name);
        if length == 0 { Some(Words::none()) } else { Words::borrowed(bytes, offset, length) }
    };
    // Files store words in little-endian order.
    match (words(BLOCKS), words(OVERFLOW)) {
        (Some(blocks), Some(overflow)) if cfg!(target_endian = "little") => {
            read::assemble(header, blocks, overflow)
        }
        _ => read::filter(input()),
    }
}
