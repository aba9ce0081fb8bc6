//! Filters in files that can be trusted for years.
//!
//! ```
//! use equibloom::{Filter, file};
//!
//! # let directory = std::env::temp_dir().join(format!("equibloom-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory)?;
//! # let path = directory.join("customers.eqb");
//! let mut filter = Filter::builder().keys(32_000).rate(0.001).build()?;
//! filter.insert("alice@example.com")?;
//! filter.save(&path)?;
//!
//! // SAFETY: only this program knows the file, and it does not change it.
//! let opened = unsafe { Filter::open(&path) }?; // at once, however large it is
//! assert!(opened.contains("alice@example.com"));
//! let loaded = Filter::load(&path)?; // all of it, checked and in memory
//! assert!(loaded == filter);
//! assert_eq!(file::verify(&path)?.header.elements, 1);
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | | reads | checks | keeps in memory |
//! |---|---|---|---|
//! | [`Filter::load`], [`Filter::read_from`] | everything | everything | everything |
//! | [`Filter::open`] | the header | the header | the pages that are asked for, as long as there is room |
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
//! ```compile_fail,E0599
//! # use equibloom::{Filter, WithBuildHasher};
//! let hasher = WithBuildHasher::new(std::hash::RandomState::new());
//! let filter: Filter<str, _> = Filter::builder().keys(1_000).rate(0.01).build_with_hasher(hasher)?;
//! filter.save("customers.eqb")?; // no method named `save`
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod atomic;
mod design;
mod error;
mod fields;
mod header;
mod map;
mod read;
mod write;

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

pub use error::{FileError, FileErrorKind};
pub use header::{Header, Section};

use crate::error::BuildError;
use crate::filter::Filter;
use crate::hash_filter::HashFilter;
use crate::hashing::{KeyKind, Stable, StableKey};
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

/// Filters in files, typed by their keys. See [`file`](crate::file) for an example.
impl<K: StableKey + ?Sized> Filter<K> {
    /// Writes the filter to a file; see [`HashFilter::save`].
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        save(self.as_hash_filter(), self.hasher().seed(), path.as_ref())
    }

    /// Reads a filter from a file into memory, after all its checksums have been verified.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be read, is not a filter of such keys, is damaged, or is larger
    /// than memory.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        HashFilter::load(path).and_then(|filter| typed(filter).named(path))
    }

    /// Writes the filter to any stream: the same bytes as in a file.
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let mut filter = Filter::builder().keys(1_000).rate(0.001).build()?;
    /// filter.insert("alice@example.com")?;
    ///
    /// let mut bytes = Vec::new();
    /// filter.write_to(&mut bytes)?;
    /// assert!(Filter::read_from(&bytes[..])? == filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FileError`] with the stream's own error.
    pub fn write_to(&self, mut writer: impl Write) -> Result<(), FileError> {
        Ok(write::filter(self.as_hash_filter(), self.hasher().seed(), &mut writer)?)
    }

    /// Reads one filter from any stream, checked like a file, and nothing behind it. Memory is taken as
    /// the bytes come in, and not because a header promises them.
    ///
    /// # Errors
    /// [`FileError`] if the stream fails or ends early, or what it gives is not a filter of such keys or
    /// damaged.
    pub fn read_from(reader: impl Read) -> Result<Self, FileError> {
        Ok(typed(HashFilter::read_from(reader)?)?)
    }

    /// Opens a file to be asked in place; see [`HashFilter::open`].
    ///
    /// # Safety
    /// As for [`HashFilter::open`]: no program may write to the file or truncate it while it is mapped.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be opened or mapped, or its header does not belong to a filter of
    /// such keys and its size.
    #[allow(unsafe_code, reason = "no program can make sure that a file stays as it is")]
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        // SAFETY: the caller's promise.
        unsafe { HashFilter::open(path) }.and_then(|filter| typed(filter).named(path))
    }
}

/// Filters in files, whatever their keys are. The seed of the parameters is that of the hash.
impl HashFilter {
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
        save(self, self.parameters().seed, path.as_ref())
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
    /// # Errors
    /// [`FileError`] with the stream's own error.
    pub fn write_to(&self, mut writer: impl Write) -> Result<(), FileError> {
        Ok(write::filter(self, self.parameters().seed, &mut writer)?)
    }

    /// Reads one filter from any stream; see [`Filter::read_from`].
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
    /// [`verify`] reads it all.
    ///
    /// Every page is read when it is first asked for, one at a time. That is best for a file that is larger than
    /// memory, or for few questions; for very many, [`load`](Self::load) reads a file that is not in the
    /// system's cache faster.
    ///
    /// The first change to the filter copies its table into memory, and the file never sees it;
    /// [`detach`](Self::detach) does so beforehand. On big-endian machines, and for what cannot be
    /// mapped (a pipe), this is [`load`](Self::load).
    ///
    /// # Safety
    /// As long as the filter or a clone of it is [mapped](Self::is_mapped), no program may write to the file
    /// or truncate it. Otherwise the behaviour is undefined: answers may be any, and if the file becomes
    /// shorter the operating system ends the program.
    ///
    /// To remove the file or to replace it by a new one is harmless: the open filter keeps the old one.
    /// This library changes files in no other way ([`save`](Self::save)), so a file that only it writes
    /// is safe to open. If others may write to the file, [`load`](Self::load) it.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be opened or mapped, or its header does not belong to a filter
    /// of its size.
    #[allow(unsafe_code, reason = "no program can make sure that a file stays as it is")]
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        // SAFETY: the caller's promise.
        unsafe { map::open(path) }.named(path)
    }

    /// Whether any part of the filter is still [mapped](Self::open) from its file.
    pub fn is_mapped(&self) -> bool {
        let parts = self.raw().parts();
        parts.blocks.is_mapped() || parts.overflow.is_mapped()
    }

    /// Copies what is [mapped](Self::open) into memory, as the first change would. That ends the program
    /// if there is no memory, like every growing collection; this says so.
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`]; the filter is as it was.
    pub fn detach(&mut self) -> Result<(), BuildError> {
        self.raw_mut().detach()
    }
}

fn save(filter: &HashFilter, seed: u64, path: &Path) -> Result<(), FileError> {
    atomic::replace(path, |writer| write::filter(filter, seed, writer)).named(path)
}

/// The filter with keys of type `K`, if the file says nothing else.
fn typed<K: StableKey + ?Sized>(filter: HashFilter) -> Result<Filter<K>, FileErrorKind> {
    let (found, expected) = (filter.key_kind(), K::KIND);
    if found != expected && found != KeyKind::Unspecified {
        return Err(FileErrorKind::Keys { found, expected });
    }
    let hasher = Stable::with_seed(filter.parameters().seed);
    Ok(Filter::from_hash_filter(filter, hasher))
}

/// Reads the header of a filter file, and checks it against its checksum and the size of the file.
///
/// ```
/// # use equibloom::{Design, HashFilter, Parameters};
/// # let directory = std::env::temp_dir().join(format!("equibloom-inspect-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// # let path = directory.join("customers.eqb");
/// # let design = Design::Classical { bits: 1_000, hashes: 7 };
/// # HashFilter::new(&Parameters { keys: 100, seed: 3, design })?.save(&path)?;
/// let header = equibloom::file::inspect(&path)?;
/// assert_eq!((header.version, header.hash.as_str()), (2, "xxh3-128"));
/// assert_eq!(header.parameters.design.name(), "classical");
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

/// Reads a filter file through and checks everything that [`Filter::load`] does, in 64 KiB of memory.
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
