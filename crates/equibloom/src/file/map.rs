//! Filters mapped from files.
#![allow(unsafe_code, reason = "no program can make sure that a file stays as it is")]

use std::fs::File;
use std::path::Path;

use super::header::{BLOCKS, Header, OVERFLOW};
use super::read::{self, Input};
use super::{FileErrorKind, input};
use crate::hash_filter::HashFilter;
use crate::storage::{Mapping, Words, map};

/// Maps a file and checks its header.
///
/// # Safety
/// While the filter or a clone of it lives, the file must neither change nor shrink.
pub(super) unsafe fn open(path: &Path) -> Result<HashFilter, FileErrorKind> {
    let file = File::open(path).map_err(|error| FileErrorKind::io("open", error))?;
    let metadata = file.metadata().map_err(|error| FileErrorKind::io("look up", error))?;
    // The file stores words in little-endian order.
    if cfg!(target_endian = "big") || !metadata.is_file() {
        drop(file);
        return input(path).and_then(read::filter);
    }
    let header = Input::sized(&file, metadata.len()).header()?;
    // SAFETY: the caller's promise. Only the words keep the mapping alive.
    let mapping = unsafe { map(&file) }.map_err(|error| FileErrorKind::io("map", error))?;
    let blocks = words(&mapping, &header, BLOCKS)?;
    let overflow = words(&mapping, &header, OVERFLOW)?;
    read::assemble(header, blocks, overflow)
}

fn words(mapping: &Mapping, header: &Header, name: &str) -> Result<Words, FileErrorKind> {
    let (offset, length) = header.place_of(name);
    if length == 0 {
        return Ok(Words::none());
    }
    // The header's check has verified alignment and lengths, unless the file has changed since.
    let (found, expected) = (mapping.len() as u64, header.file_length);
    Words::mapped(mapping, offset, length).ok_or(FileErrorKind::Length { found, expected })
}
