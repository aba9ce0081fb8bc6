//! Reads filters: whole and checked, or mapped in place.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, anyhow, bail, ensure};
use equibloom::HashFilter;
use equibloom::file::{self, FileError, FileErrorKind, Header};

use super::verified::{self, Identity};
use super::{is_standard, name};
use crate::progress::{self, Unit};

/// Larger files are mapped instead of read into memory.
const LARGE: u64 = 16 << 20;
/// How often a file is opened again that was replaced meanwhile.
const TRIES: u32 = 3;

/// A filter for lookups.
pub(crate) struct Opened {
    pub(crate) filter: HashFilter,
    pub(crate) origin: Origin,
}

/// Where a filter comes from: the file that is mapped, if one is.
pub(crate) struct Origin(Option<Mapped>);

/// A file that is asked in place, and its state when it was checked.
struct Mapped {
    path: PathBuf,
    file: File,
    state: State,
}

/// What changes when a program writes to a file.
type State = (u64, Option<SystemTime>);

/// Opens a filter for lookups. Small files and standard input are read and checked. Large files are checked and mapped;
/// without `verifies` all files are mapped, and only their headers are checked.
pub(crate) fn open(path: &Path, verifies: bool, quiet: bool) -> anyhow::Result<Opened> {
    let is_regular = |file: &fs::Metadata| file.is_file() && (file.len() > LARGE || !verifies);
    if is_standard(path) || !fs::metadata(path).is_ok_and(|file| is_regular(&file)) {
        return Ok(Opened { filter: load(path, quiet)?, origin: Origin(None) });
    }
    for _ in 0..TRIES {
        let unreadable = || format!("{}: could not open it", path.display());
        let file = File::open(path).with_context(unreadable)?;
        let metadata = file.metadata().with_context(unreadable)?;
        let identity = Identity::of(&metadata);
        if verifies && !verified::has(&identity) {
            verify(path, quiet).map_err(|error| anyhow!("{}: {error}", path.display()))?;
            verified::remember(&identity);
        }
        let filter = map(path)?;
        if fs::metadata(path).is_ok_and(|now| Identity::of(&now) == identity) {
            let state = (metadata.len(), metadata.modified().ok());
            let mapped = Mapped { path: path.to_owned(), file, state };
            return Ok(Opened { filter, origin: Origin(Some(mapped)) });
        }
    }
    bail!("{}: it was changed again and again while it was opened: try later", path.display())
}

/// Maps a file.
fn map(path: &Path) -> Result<HashFilter, FileError> {
    // SAFETY: no command writes to a filter file in place. If another program does so, `Origin::check` and the
    // handler of `SIGBUS` (`signals.rs`) end the command with an error. Until then it only reads words, and
    // every bit pattern is valid.
    unsafe { HashFilter::open(path) }
}

impl Origin {
    /// Refuses the answers if the file was written to in the meantime. A file that replaced it is harmless.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let Some(Mapped { path, file, state }) = &self.0 else { return Ok(()) };
        let now = file.metadata().map(|now| (now.len(), now.modified().ok()));
        ensure!(
            now.is_ok_and(|now| now == *state),
            "{}: another program wrote to it while it was asked, so that answers may be wrong: ask again, and \
             replace filter files as a whole",
            path.display()
        );
        Ok(())
    }
}

/// Reads a filter into memory and checks all of it.
pub(crate) fn load(path: &Path, quiet: bool) -> anyhow::Result<HashFilter> {
    read(path, "reading", quiet, |reader| HashFilter::read_from(reader))
        .map_err(|error| anyhow!("{}: {error}", name(path)))
}

/// Reads a filter file and checks all of it, in little memory.
pub(crate) fn verify(path: &Path, quiet: bool) -> Result<Header, FileError> {
    read(path, "verifying", quiet, |reader| file::verify_from(reader))
}

/// The header that a filter has in a file.
pub(crate) fn header_of(filter: &HashFilter) -> anyhow::Result<Header> {
    let mut bytes = Vec::new();
    filter.write_to(&mut bytes)?;
    Ok(file::verify_from(&bytes[..])?)
}

fn read<T>(
    path: &Path,
    doing: &'static str,
    quiet: bool,
    read: impl FnOnce(&mut dyn Read) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let io = |action, source| FileErrorKind::Io { action, source };
    let mut length = None;
    let source: Box<dyn Read> = if is_standard(path) {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path).map_err(|error| io("open", error))?;
        let metadata = file.metadata().map_err(|error| io("examine", error))?;
        length = metadata.is_file().then_some(metadata.len());
        Box::new(file)
    };
    let progress = progress::bar(doing, length, Unit::Bytes, quiet);
    let mut source = progress.wrap_read(source);
    let found = read(&mut source)?;
    let expected = source.progress.position();
    let rest = source.read(&mut [0]).map_err(|error| io("read", error))?;
    progress.finish_and_clear();
    match length {
        _ if rest == 0 => Ok(found),
        Some(found) => Err(FileErrorKind::Length { found, expected }.into()),
        None => Err(io("read", io::Error::other("more bytes follow the filter")).into()),
    }
}
