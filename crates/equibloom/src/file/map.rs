//! A filter whose words are the pages of its file.
#![allow(unsafe_code, reason = "no program can make sure that a file stays as it is")]

use std::fs::File;
use std::path::Path;

use super::header::{BLOCKS, Header, OVERFLOW};
use super::read::{self, Input};
use super::{FileErrorKind, input};
use crate::hash_filter::HashFilter;
use crate::memory::{Mapping, Words, map};

/// Maps a file after a look at its header.
///
/// # Safety
/// As long as the filter or a clone of it lives, the file neither changes nor shrinks.
pub(super) unsafe fn open(path: &Path) -> Result<HashFilter, FileErrorKind> {
    let file = File::open(path).map_err(|error| FileErrorKind::io("open", error))?;
    let metadata = file.metadata().map_err(|error| FileErrorKind::io("look up", error))?;
    // Words lie in the file as on a little-endian machine.
    if cfg!(target_endian = "big") || !metadata.is_file() {
        drop(file);
        return input(path).and_then(read::filter);
    }
    let header = Input::sized(&file, metadata.len()).header()?;
    // SAFETY: the caller's promise. The words keep the mapping alive, and nothing else does.
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
    // The header's check has seen to boundaries and lengths, unless the file has changed since.
    let (found, expected) = (mapping.len() as u64, header.file_length);
    Words::mapped(mapping, offset, length).ok_or(FileErrorKind::Length { found, expected })
}
