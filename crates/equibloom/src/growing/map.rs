//! Growing filters over bytes in place: those of a mapped file, or a caller's.
#![allow(unsafe_code, reason = "no program can make sure that a file stays as it is")]

use std::path::Path;

use super::file::{Contents, Source};
use crate::file::{FileErrorKind, MAPPED_BYTES, opened};
use crate::storage::{Bytes, map};

/// Maps a file and checks its header.
///
/// # Safety
/// While the table or a clone of it lives, the file must neither change nor shrink.
pub(super) unsafe fn open(path: &Path) -> Result<Contents, FileErrorKind> {
    let (file, size) = opened(path)?;
    if size.is_none_or(|size| size < MAPPED_BYTES) {
        return Contents::read(file, size);
    }
    // SAFETY: the caller's promise. Only the lines keep the mapping alive.
    let mapping = unsafe { map(&file) }.map_err(|error| FileErrorKind::io("map", error))?;
    over(&mapping, 0, (*mapping).as_ref())
}

/// The contents of a whole file that begins at this offset of the bytes. Only the header is verified; bytes that cannot
/// be used in place are copied, and then everything is.
pub(super) fn over(bytes: &Bytes, start: u64, file: &[u8]) -> Result<Contents, FileErrorKind> {
    let size = Some(file.len() as u64);
    let mut source = Source::new(file);
    let mut contents = source.header(size)?;
    let mut offset = start + source.read;
    let borrowed = contents.table.for_each_level(|level, blocks| {
        let start = offset;
        offset += blocks.len() as u64 * 64;
        level.lines.borrow(blocks, bytes, start)
    });
    match borrowed {
        // Files store words in little-endian order.
        Ok(()) if cfg!(target_endian = "little") => Ok(contents),
        _ => Contents::read(file, size),
    }
}
