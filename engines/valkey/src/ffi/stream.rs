//! Values as streams in an RDB: strings of at most 1 MiB, and an empty one at the end. So neither saving nor loading
//! needs a copy of the whole value.

use std::ffi::{c_char, c_longlong};
use std::io::{self, BufWriter, Read, Write};
use std::slice;

use super::api::{api, raw};
use super::context::Name;

const CHUNK: usize = 1 << 20;

struct RdbStrings(*mut raw::Io);

impl Write for RdbStrings {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(CHUNK)];
        // An empty string would be the end.
        if !bytes.is_empty() {
            // SAFETY: the server's RDB, while it saves the value.
            unsafe { (api().SaveStringBuffer)(self.0, bytes.as_ptr().cast(), bytes.len()) };
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a value to an RDB.
pub(super) fn save(rdb: *mut raw::Io, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut writer = BufWriter::with_capacity(CHUNK, RdbStrings(rdb));
    let written = write(&mut writer).and_then(|()| writer.flush());
    drop(writer);
    // Without its end the value is refused when it is loaded. The server itself notices what fails in the RDB.
    if written.is_ok() {
        // SAFETY: as above.
        unsafe { (api().SaveStringBuffer)(rdb, c"".as_ptr(), 0) };
    }
}

/// Reads a value from an RDB.
pub(super) struct RdbReader {
    rdb: *mut raw::Io,
    chunk: *mut c_char,
    length: usize,
    read: usize,
    at_end: bool,
}

impl RdbReader {
    pub(super) fn new(rdb: *mut raw::Io) -> Self {
        Self { rdb, chunk: std::ptr::null_mut(), length: 0, read: 0, at_end: false }
    }

    fn free(&mut self) {
        // SAFETY: a string of the server's allocator, which allocates all of the module's memory; null is ignored.
        unsafe { super::alloc::free(self.chunk.cast()) };
        self.chunk = std::ptr::null_mut();
    }
}

impl Read for RdbReader {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if self.read == self.length && !self.at_end {
            self.free();
            // SAFETY: the server's RDB, while it loads the value.
            self.chunk = unsafe { (api().LoadStringBuffer)(self.rdb, &mut self.length) };
            self.read = 0;
            // SAFETY: as above.
            if self.chunk.is_null() || unsafe { (api().IsIOError)(self.rdb) } != 0 {
                (self.length, self.at_end) = (0, true);
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the payload is cut"));
            }
            self.at_end = self.length == 0;
        }
        if self.at_end {
            return Ok(0);
        }
        // SAFETY: the string has `length` bytes.
        let chunk = unsafe { slice::from_raw_parts(self.chunk.cast::<u8>(), self.length) };
        let copied = target.len().min(self.length - self.read);
        target[..copied].copy_from_slice(&chunk[self.read..][..copied]);
        self.read += copied;
        Ok(copied)
    }
}

impl Drop for RdbReader {
    fn drop(&mut self) {
        self.free();
    }
}

/// An AOF that is rewritten.
pub(crate) struct AofSink<'a> {
    pub(super) aof: *mut raw::Io,
    pub(super) name: Name<'a>,
}

impl AofSink<'_> {
    /// Writes `EB.LOADCHUNK name position chunk`.
    pub(crate) fn load_chunk(&self, position: i64, chunk: &[u8]) {
        // SAFETY: the format: a string, a number, bytes and their length.
        unsafe {
            let (command, format) = (c"EB.LOADCHUNK".as_ptr(), c"slb".as_ptr());
            let (start, length): (*const c_char, usize) = (chunk.as_ptr().cast(), chunk.len());
            let position: c_longlong = position;
            (api().EmitAOF)(self.aof, command, format, self.name.raw, position, start, length);
        }
    }
}
