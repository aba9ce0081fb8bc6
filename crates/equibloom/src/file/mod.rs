//! Filters in files that can be trusted for years.
//!
//! ```
//! use equibloom::{AnyFilter, BlockTable, Parameters, Scheme, file};
//!
//! # let directory = std::env::temp_dir().join(format!("equibloom-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory)?;
//! # let path = directory.join("customers.eqb");
//! let blocks = BlockTable { count: 1_000, bits: 512, hashes: 11 };
//! let parameters = Parameters { keys: 32_000, seed: 0, scheme: Scheme::Blocked { blocks } };
//! let mut filter = AnyFilter::new(&parameters)?;
//! filter.insert("alice@example.com")?;
//! filter.save(&path)?;
//!
//! let opened = AnyFilter::open(&path)?; // at once, however large it is
//! assert!(opened.contains("alice@example.com"));
//! let loaded = AnyFilter::load(&path)?; // all of it, checked and in memory
//! assert!(loaded == filter);
//! assert_eq!(file::verify(&path)?.header.elements, 1);
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | | reads | checks | keeps in memory |
//! |---|---|---|---|
//! | [`AnyFilter::load`], [`AnyFilter::read_from`] | everything | everything | everything |
//! | [`AnyFilter::open`] | the header | the header | the pages that are asked for, as long as there is room |
//! | [`inspect`] | the header | the header | the header |
//! | [`verify`], [`verify_from`] | everything | everything | 64 KiB |
//!
//! The format is described in `docs/format.md`, exactly enough for other languages. A file names its
//! version, the hash, its seed and the kind of its keys; it has a checksum over the header and over every section, and all
//! bytes beside those are zero, so that no bit can change unnoticed. Blocks and overflow list lie in it
//! as they lie in memory, which is why a mapped file can be asked in place.
//!
//! Only filters that hash by [`Stable`](crate::Stable) can be saved: any other hasher is a part of its program and
//! unknown to whoever reads the file. For other filters `save` is not there at compile time:
//!
//! ```compile_fail
//! # use equibloom::{AnyFilter, BlockTable, Parameters, Scheme, WithBuildHasher};
//! # let blocks = BlockTable { count: 1_000, bits: 512, hashes: 11 };
//! # let parameters = Parameters { keys: 32_000, seed: 0, scheme: Scheme::Blocked { blocks } };
//! let hasher = WithBuildHasher::new(std::hash::RandomState::new());
//! let filter = AnyFilter::with_hasher(&parameters, hasher)?;
//! filter.save("customers.eqb")?; // no method named `save`
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod atomic;
mod error;
mod fields;
mod header;
mod map;
mod read;
mod scheme;
mod write;

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

pub use error::{FileError, FileErrorKind};
pub use header::{Header, Section};

use crate::error::BuildError;
use crate::filter::AnyFilter;
use crate::raw::FromParts;
use error::Named;
use read::Input;

/// The version of the format that this library writes, and the only one that it reads: those before it were
/// never published.
pub const VERSION: u32 = 2;

/// What [`verify`] has found out about a file that is whole.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Report {
    /// What the header says.
    pub header: Header,
    /// Bytes that were read and checked: all there are.
    pub bytes: u64,
}

/// Filters of any kind in files. See [`file`](crate::file) for an example.
impl AnyFilter {
    /// Writes the filter to a file, which replaces the one of that name all at once: a reader, or the
    /// next start after a crash, sees the old file or the new one, whole.
    ///
    /// It is written beside the old one, under a name that begins with a dot and the file's name and
    /// ends in `.equibloom-tmp`, forced to the disk, and renamed. On an error that file is removed and
    /// the old one untouched; a program that is killed in between leaves it behind. The old file's
    /// permissions are kept. If the path is a symbolic link, the file it points to is replaced.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = path.as_ref();
        atomic::replace(path, |writer| write::filter(self, writer)).named(path)
    }

    /// Reads a filter from a file into memory, after all its checksums have been verified.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be read, is not a filter, is damaged, or is larger than memory.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        input(path).and_then(read::filter).named(path)
    }

    /// Writes the filter to any stream: the same bytes as in a file.
    ///
    /// ```
    /// use equibloom::{AnyFilter, Parameters, Scheme};
    ///
    /// let scheme = Scheme::Classical { bits: 1_000, hashes: 7 };
    /// let mut filter = AnyFilter::new(&Parameters { keys: 100, seed: 3, scheme })?;
    /// filter.insert("alice@example.com")?;
    ///
    /// let mut bytes = Vec::new();
    /// filter.write_to(&mut bytes)?;
    /// assert!(AnyFilter::read_from(&bytes[..])? == filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FileError`] with the stream's own error.
    pub fn write_to(&self, mut writer: impl Write) -> Result<(), FileError> {
        Ok(write::filter(self, &mut writer)?)
    }

    /// Reads one filter from any stream, checked like a file, and nothing behind it. Memory is taken as
    /// the bytes come in, and not because a header promises them.
    ///
    /// # Errors
    /// [`FileError`] if the stream fails or ends early, or what it gives is not a filter or damaged.
    pub fn read_from(reader: impl Read) -> Result<Self, FileError> {
        Ok(read::filter(Input::stream(reader))?)
    }

    /// Opens a file to be asked in place: nothing is copied, and the first answer reads the header and one
    /// block. The file can be larger than memory.
    ///
    /// Only the header is verified. If the rest is damaged, answers may be wrong, and nothing worse;
    /// [`verify`] reads it all. The file must not be changed in place while it is open: answers would be
    /// any, and if it became shorter the operating system would end the program. To
    /// [replace](Self::save) it is harmless, the open filter keeps the old one.
    ///
    /// Every page is read when it is first asked for, one at a time. That is best for a file that is larger than
    /// memory, or for few questions; for very many, [`load`](Self::load) reads a file that is not in the
    /// system's cache faster.
    ///
    /// The first change to the filter copies its table into memory, and the file never sees it;
    /// [`detach`](Self::detach) does so beforehand. On big-endian machines, and for what cannot be
    /// mapped (a pipe), this is [`load`](Self::load).
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be opened or mapped, or its header does not belong to a filter
    /// of its size.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        map::open(path).named(path)
    }

    /// Whether any part of the filter is still [mapped](Self::open) from its file.
    ///
    /// ```
    /// use equibloom::{AnyFilter, Parameters, Scheme};
    ///
    /// let scheme = Scheme::Classical { bits: 1_000, hashes: 7 };
    /// let filter = AnyFilter::new(&Parameters { keys: 100, seed: 3, scheme })?;
    /// assert!(!filter.is_mapped());
    /// # Ok::<(), equibloom::BuildError>(())
    /// ```
    pub fn is_mapped(&self) -> bool {
        let parts = self.raw().parts();
        parts.blocks.is_mapped() || parts.overflow.is_mapped()
    }

    /// Copies what is [mapped](Self::open) into memory, as the first change would. That ends the program
    /// if there is no memory, like every growing collection; this says so.
    ///
    /// ```
    /// # use equibloom::{AnyFilter, Parameters, Scheme};
    /// # let directory = std::env::temp_dir().join(format!("equibloom-detach-{}", std::process::id()));
    /// # std::fs::create_dir_all(&directory)?;
    /// # let path = directory.join("customers.eqb");
    /// # let scheme = Scheme::Classical { bits: 1_000, hashes: 7 };
    /// # AnyFilter::new(&Parameters { keys: 100, seed: 3, scheme })?.save(&path)?;
    /// let mut filter = AnyFilter::open(&path)?;
    /// filter.detach()?;
    /// filter.insert("alice@example.com")?;
    /// assert!(!filter.is_mapped());
    /// # std::fs::remove_dir_all(&directory)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`]; the filter is as it was.
    pub fn detach(&mut self) -> Result<(), BuildError> {
        self.raw_mut().detach()
    }
}

/// Reads the header of a filter file, and checks it against its checksum and the size of the file.
///
/// ```
/// # use equibloom::{AnyFilter, Parameters, Scheme};
/// # let directory = std::env::temp_dir().join(format!("equibloom-inspect-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// # let path = directory.join("customers.eqb");
/// # let scheme = Scheme::Classical { bits: 1_000, hashes: 7 };
/// # AnyFilter::new(&Parameters { keys: 100, seed: 3, scheme })?.save(&path)?;
/// let header = equibloom::file::inspect(&path)?;
/// assert_eq!((header.version, header.hash.as_str()), (2, "xxh3-128"));
/// assert_eq!(header.parameters.scheme.name(), "classical");
/// assert_eq!(header.sections[0].name, "blocks");
/// assert_eq!(header.sections[0].offset, 4096);
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FileError`] if the file cannot be read or its header is not that of a filter file of this size.
pub fn inspect(path: impl AsRef<Path>) -> Result<Header, FileError> {
    let path = path.as_ref();
    input(path).and_then(|mut input| input.header()).named(path)
}

/// Reads a filter file through and checks everything that [`AnyFilter::load`] does, in 64 KiB of memory.
/// See [`file`](crate::file) for an example.
///
/// # Errors
/// [`FileError`] with the first thing that is wrong, and where.
pub fn verify(path: impl AsRef<Path>) -> Result<Report, FileError> {
    let path = path.as_ref();
    input(path).and_then(read::verify).named(path)
}

/// [`verify`] for any stream.
///
/// ```
/// let error = equibloom::file::verify_from(&b"key,value\n1,2\n3,4\n"[..]).unwrap_err();
/// assert!(error.to_string().contains("not a filter file"));
/// ```
///
/// # Errors
/// [`FileError`] with the first thing that is wrong, and where.
pub fn verify_from(reader: impl Read) -> Result<Report, FileError> {
    Ok(read::verify(Input::stream(reader))?)
}

/// A file to be read from its beginning. What is not a regular file has no size to check against.
fn input(path: &Path) -> Result<Input<File>, FileErrorKind> {
    let file = File::open(path).map_err(|error| FileErrorKind::io("open", error))?;
    let metadata = file.metadata().map_err(|error| FileErrorKind::io("look up", error))?;
    Ok(if metadata.is_file() { Input::sized(file, metadata.len()) } else { Input::stream(file) })
}
