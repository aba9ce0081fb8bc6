//! Filters in files, with checksums and a versioned format.
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
//! // SAFETY: no other program uses the file, and this one does not change it.
//! let opened = unsafe { Filter::open(&path) }?; // at once, however large it is
//! assert!(opened.contains("alice@example.com"));
//! let loaded = Filter::load(&path)?; // all of it, checked and in memory
//! assert!(loaded == filter);
//! assert_eq!(file::verify(&path)?.counters.elements, 1);
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | | reads | checks | keeps in memory |
//! |---|---|---|---|
//! | [`Filter::load`], [`read_from`](Filter::read_from), [`from_bytes`](Filter::from_bytes) | everything | everything | everything |
//! | [`Filter::open`], [`Mapped::open`], below 1 MiB | everything | everything | everything |
//! | … from 1 MiB on | the header | the header | the pages that lookups read |
//! | [`Filter::from_owner`] | the header | the header | the caller's bytes |
//! | [`inspect`] | the header | the header | the header |
//! | [`verify`], [`verify_from`] | everything | everything | 256 KiB |
//!
//! `docs/format.md` specifies the format, in enough detail for other languages. A file records its version,
//! the hash, its seed and the kind of its keys. The header and every section have a checksum, and all other
//! bytes are zero, so that every changed bit is detected. Blocks and overflow list have the same layout as
//! in memory, so that a mapped file can be queried in place.
//!
//! A filter can be saved if its hasher has a name: [`Stable`], or another [`NamedHasher`]. For other filters
//! `save` does not exist:
//!
//! ```compile_fail,E0599
//! # use equibloom::{Filter, WithBuildHasher};
//! let hasher = WithBuildHasher::new(std::hash::RandomState::new());
//! let filter: Filter<str, _> = Filter::builder().keys(1_000).rate(0.01).build_with_hasher(hasher)?;
//! filter.save("customers.eqb")?; // no method named `save`
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod atomic;
mod design;
mod error;
mod fields;
mod header;
mod map;
mod mapped;
mod read;
#[cfg(feature = "serde")]
mod serialise;
mod write;

use alloc::sync::Arc;
use alloc::vec::Vec;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

pub use error::{FileError, FileErrorKind};
pub use header::{Header, Section};
pub use mapped::Mapped;

pub(crate) use map::MAPPED_BYTES;

pub use crate::raw::Counters;

use crate::error::BuildError;
use crate::filter::Filter;
use crate::growing::Growth;
use crate::hash_filter::HashFilter;
use crate::hashing::{KeyKind, NamedHasher, Stable, StableKey};
#[cfg(target_has_atomic = "64")]
use crate::shared::SharedFilter;
use crate::storage::Bytes;
use read::Input;
use write::Named;

/// The format version that this library writes, and the only one that it reads: earlier versions were never
/// published.
pub const VERSION: u32 = 4;

/// Replaces a file as [`HashFilter::save`] does, by what `write` writes; for example, a filter with progress shown.
///
/// ```
/// use equibloom::{Filter, file};
///
/// # let path = std::env::temp_dir().join(format!("equibloom-replace-{}", std::process::id()));
/// let filter: Filter<u64> = Filter::builder().keys(1_000).rate(0.001).build()?;
/// file::replace(&path, |file| filter.write_to(file))?;
/// assert!(Filter::load(&path)? == filter);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FileError`] that `write` returns or of the replacement; the old file is unchanged.
pub fn replace(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut File) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let path = path.as_ref();
    let write = |file: &mut File| write(file).map_err(FileError::into_kind);
    atomic::replace(path, write).map_err(|error| error.at(path))
}

/// Filters in files, with any hasher that has a name. See [`file`](crate::file) for an example.
impl<K: ?Sized, H: NamedHasher<K>> Filter<K, H> {
    /// Writes the filter to a file; see [`HashFilter::save`].
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        self.as_named().save(path.as_ref())
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
        Ok(self.as_named().write(&mut writer)?)
    }

    /// The bytes of a file of this filter.
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let mut filter = Filter::builder().keys(3).rate(0.001).build()?;
    /// filter.insert("alice@example.com")?;
    /// let bytes = filter.to_bytes()?;
    /// assert!(bytes.len() < 200);
    /// assert!(Filter::from_bytes(&bytes)? == filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FileError`] if memory is short.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        Ok(self.as_named().to_bytes()?)
    }

    /// [`load`](Self::load) for a hasher other than [`Stable`]. The name of the hash in the file must be
    /// [its own](NamedHasher::NAME).
    ///
    /// # Errors
    /// As `load`.
    pub fn load_named(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let read = input(path).and_then(|input| read::filter(input, H::NAME));
        read.and_then(typed).map_err(|error| error.at(path))
    }

    /// [`read_from`](Self::read_from) for a hasher other than [`Stable`].
    ///
    /// # Errors
    /// As `read_from`.
    pub fn read_named(reader: impl Read) -> Result<Self, FileError> {
        Ok(read::filter(Input::new(reader, None), H::NAME).and_then(typed)?)
    }

    fn as_named(&self) -> Named<'_> {
        const { assert!(H::NAME.len() <= fields::NAME_BYTES, "a hasher's name is too long") };
        let (filter, seed) = (self.as_hash_filter(), self.hasher().seed());
        Named { filter, hash: H::NAME, seed, kind: H::KIND }
    }
}

/// Filters in files, typed by their keys. See [`file`](crate::file) for an example.
impl<K: StableKey + ?Sized> Filter<K> {
    /// Reads a filter from a file into memory and verifies all its checksums.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be read, is not a filter of such keys, is damaged, or is larger
    /// than memory.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        HashFilter::load(path).and_then(|filter| typed(filter).map_err(|error| error.at(path)))
    }

    /// Reads one filter from any stream, with the checks of [`load`](Self::load), and nothing after it.
    /// Memory is allocated as bytes arrive, not as the header claims.
    ///
    /// # Errors
    /// [`FileError`] if the stream fails or ends early, or its bytes are damaged or no filter of such keys.
    pub fn read_from(reader: impl Read) -> Result<Self, FileError> {
        Ok(typed(HashFilter::read_from(reader)?)?)
    }

    /// Reads a filter from exactly [its bytes](Self::to_bytes), with the checks of [`load`](Self::load).
    ///
    /// # Errors
    /// [`FileError`] if the bytes are damaged or no filter of such keys.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        Ok(typed(HashFilter::from_bytes(bytes)?)?)
    }

    /// Opens a file for lookups in place; see [`HashFilter::open`].
    ///
    /// # Safety
    /// As for [`HashFilter::open`]: no program may write to the file or truncate it while it is mapped.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be opened or mapped, or its header does not match its size or the
    /// type of the keys.
    #[allow(unsafe_code, reason = "no program can guarantee that a file stays unchanged")]
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        // SAFETY: the caller's promise.
        unsafe { HashFilter::open(path) }
            .and_then(|filter| typed(filter).map_err(|error| error.at(path)))
    }

    /// A filter over the bytes of a file in memory, in place; see [`HashFilter::from_owner`].
    ///
    /// ```
    /// use equibloom::Filter;
    ///
    /// let mut filter = Filter::builder().keys(100_000).rate(0.001).build()?;
    /// filter.insert("alice@example.com")?;
    /// let bytes = filter.to_bytes()?;
    ///
    /// let borrowed: Filter<str> = Filter::from_owner(bytes)?;
    /// assert!(borrowed == filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FileError`] if the bytes are no filter of such keys.
    pub fn from_owner(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Self, FileError> {
        Ok(typed(HashFilter::from_owner(bytes)?)?)
    }
}

/// Shared filters in files. Each is written from a [`snapshot`](SharedFilter::snapshot), so that threads go on
/// using it, and as much memory again is needed meanwhile.
///
/// ```
/// use equibloom::{Filter, SharedFilter};
///
/// let shared: SharedFilter<u64> = Filter::builder().keys(1_000).rate(0.001).build()?.into_shared()?;
/// shared.insert(&5)?;
/// assert!(Filter::<u64>::from_bytes(&shared.to_bytes()?)?.contains(&5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(target_has_atomic = "64")]
impl<K: ?Sized, H: NamedHasher<K> + Clone> SharedFilter<K, H> {
    /// Writes a snapshot to a file and replaces an existing one atomically; see [`HashFilter::save`].
    ///
    /// # Errors
    /// [`FileError`] if memory for the snapshot is short or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = path.as_ref();
        let copy = self.snapshot().map_err(|error| FileErrorKind::Memory(error).at(path))?;
        copy.save(path)
    }

    /// Writes a snapshot to any stream: the same bytes as in a file.
    ///
    /// # Errors
    /// [`FileError`] if memory for the snapshot is short, or with the stream's own error.
    pub fn write_to(&self, writer: impl Write) -> Result<(), FileError> {
        self.snapshot().map_err(FileErrorKind::Memory)?.write_to(writer)
    }

    /// The bytes of a file of a snapshot.
    ///
    /// # Errors
    /// [`FileError`] if memory is short.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        self.snapshot().map_err(FileErrorKind::Memory)?.to_bytes()
    }
}

/// Filters in files, for any type of keys. The seed of the parameters is that of the hash.
impl HashFilter {
    /// Writes the filter to a file and replaces an existing one atomically: a reader, or a restart after a
    /// crash, sees the old file or the new one, whole.
    ///
    /// The new file is written to the same directory, synced to the disk, and renamed. Its temporary name
    /// begins with a dot and the file's name and ends in `.equibloom-tmp`. On an error the temporary file
    /// is removed and the old file is unchanged; that of a killed program is removed by the next save to the
    /// same path (it is locked while its program lives). The old file's owner and permissions are kept, or it is not
    /// replaced. If the path is a symbolic link, its target is replaced.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        self.as_named().save(path.as_ref())
    }

    /// Reads a filter from a file into memory and verifies all its checksums.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be read, is not a filter, is damaged, or is larger than memory.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let read = input(path).and_then(|input| read::filter(input, Stable::NAME));
        read.map_err(|error| error.at(path))
    }

    /// Writes the filter to any stream: the same bytes as in a file.
    ///
    /// # Errors
    /// [`FileError`] with the stream's own error.
    pub fn write_to(&self, mut writer: impl Write) -> Result<(), FileError> {
        Ok(self.as_named().write(&mut writer)?)
    }

    /// The bytes of a file of this filter.
    ///
    /// # Errors
    /// [`FileError`] if memory is short.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        Ok(self.as_named().to_bytes()?)
    }

    /// Reads one filter from any stream; see [`Filter::read_from`].
    ///
    /// # Errors
    /// [`FileError`] if the stream fails or ends early, or its bytes are damaged or no filter.
    pub fn read_from(reader: impl Read) -> Result<Self, FileError> {
        Ok(read::filter(Input::new(reader, None), Stable::NAME)?)
    }

    /// Reads a filter from exactly [its bytes](Self::to_bytes), with the checks of [`load`](Self::load).
    ///
    /// # Errors
    /// [`FileError`] if the bytes are damaged or no filter.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        Ok(read::filter(Input::new(bytes, Some(bytes.len() as u64)), Stable::NAME)?)
    }

    /// Maps a file for lookups in place. The first lookup reads the header and one block, and the file may be
    /// larger than memory. A file below 1 MiB is [loaded](Self::load) instead, which takes less than a millisecond:
    /// so it is verified, and what happens to it later does not matter.
    ///
    /// Of a mapped file only the header and sections below 4 KiB are verified. Damage elsewhere gives wrong answers,
    /// and no worse; [`verify`] checks the whole file.
    ///
    /// Every page is read on first use, one at a time. That suits files larger than memory, or few lookups.
    /// For many lookups, [`load`](Self::load) reads an uncached file faster.
    ///
    /// The first change to the filter copies its table into memory, and the file stays unchanged;
    /// [`detach`](Self::detach) does so beforehand. On big-endian targets, and for files that cannot be
    /// mapped (a pipe), this is [`load`](Self::load).
    ///
    /// # Safety
    /// As long as the filter or a clone of it is [mapped](Self::is_mapped), no program may write to the
    /// file or truncate it. Otherwise the behaviour is undefined: answers may be wrong, and if the file
    /// becomes shorter the operating system kills the program.
    ///
    /// Removing or replacing the file is harmless: the open filter keeps the old one. This library changes
    /// files in no other way ([`save`](Self::save)), so a file that only it writes is safe to open. If
    /// others may write to the file, [`load`](Self::load) it.
    ///
    /// # Errors
    /// [`FileError`] if the file cannot be opened or mapped, or its header does not match its size.
    #[allow(unsafe_code, reason = "no program can guarantee that a file stays unchanged")]
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        // SAFETY: the caller's promise.
        unsafe { map::open(path) }.map_err(|error| error.at(path))
    }

    /// A filter over the bytes of a file in memory: a static array, a buffer of another library, shared
    /// memory. They are used in place, and dropped with the last filter that uses them.
    ///
    /// As with [`open`](Self::open), only the header is verified ([`verify_from`] checks all bytes), and the
    /// first change copies the table. Sections below 4 KiB, bytes that do not begin at a multiple of 64, and all
    /// bytes on big-endian targets are copied at once, and verified.
    ///
    /// # Errors
    /// [`FileError`] if the bytes are not exactly a filter, or there is no memory to copy them.
    pub fn from_owner(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Self, FileError> {
        let bytes: Bytes = Arc::new(bytes);
        Ok(map::over(&bytes)?)
    }

    /// Whether any part of the filter is still [mapped](Self::open) from its file, or
    /// [in its owner's memory](Self::from_owner).
    pub fn is_mapped(&self) -> bool {
        let planned = self.raw.contents();
        planned.iter().any(|(blocks, ledger)| blocks.is_mapped() || ledger.is_mapped())
            || self.raw.growth().is_some_and(Growth::is_mapped)
    }

    /// Copies [mapped](Self::is_mapped) parts into memory. The first change of a part would do the same, but abort
    /// the program if memory is short.
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`]; the filter is unchanged.
    pub fn detach(&mut self) -> Result<(), BuildError> {
        self.raw.detach()
    }

    fn as_named(&self) -> Named<'_> {
        let (seed, kind) = (self.parameters().seed, self.key_kind());
        Named { filter: self, hash: Stable::NAME, seed, kind }
    }
}

/// Checks that the file's kind of keys is that of the hasher.
fn typed<K: ?Sized, H: NamedHasher<K>>(filter: HashFilter) -> Result<Filter<K, H>, FileErrorKind> {
    let (found, expected) = (filter.key_kind(), H::KIND);
    if found != expected && found != KeyKind::Unspecified {
        return Err(FileErrorKind::Keys { found, expected });
    }
    let hasher = H::with_seed(filter.parameters().seed);
    Ok(Filter::from_hash_filter(filter, hasher))
}

/// Reads the header of a filter file and checks its checksum and the size of the file.
///
/// ```
/// # use equibloom::{Design, HashFilter, Parameters};
/// # let directory = std::env::temp_dir().join(format!("equibloom-inspect-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// # let path = directory.join("customers.eqb");
/// # let design = Design::Classical { bits: 1_000, hashes: 7 };
/// # HashFilter::new(&Parameters { keys: 100, seed: 3, design })?.save(&path)?;
/// let header = equibloom::file::inspect(&path)?;
/// assert_eq!((header.version, header.hash.as_str()), (4, "xxh3-128"));
/// assert_eq!(header.parameters.design.name(), "classical");
/// assert_eq!(header.sections[0].name, "blocks");
/// assert_eq!(header.sections[0].offset, header.header_length);
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FileError`] if the file cannot be read or its header is invalid or does not match its size.
pub fn inspect(path: impl AsRef<Path>) -> Result<Header, FileError> {
    let path = path.as_ref();
    input(path).and_then(|mut input| input.header()).map_err(|error| error.at(path))
}

/// Reads a whole filter file with the checks of [`Filter::load`], in 256 KiB of memory; returns its header.
/// See [`file`](crate::file) for an example.
///
/// # Errors
/// [`FileError`] with the first problem and its position.
pub fn verify(path: impl AsRef<Path>) -> Result<Header, FileError> {
    let path = path.as_ref();
    input(path).and_then(read::verify).map_err(|error| error.at(path))
}

/// [`verify`] for any stream.
///
/// ```
/// let error = equibloom::file::verify_from(&b"key,value\n1,2\n3,4\n"[..]).unwrap_err();
/// assert!(error.to_string().contains("not a filter file"));
/// ```
///
/// # Errors
/// [`FileError`] with the first problem and its position.
pub fn verify_from(reader: impl Read) -> Result<Header, FileError> {
    Ok(read::verify(Input::new(reader, None))?)
}

fn input(path: &Path) -> Result<Input<'static>, FileErrorKind> {
    opened(path).map(|(file, size)| Input::new(file, size))
}

/// A file, opened for reading. Only a regular file has a size to check against.
pub(crate) fn opened(path: &Path) -> Result<(File, Option<u64>), FileErrorKind> {
    let file = File::open(path).map_err(|error| FileErrorKind::io("open", error))?;
    let metadata = file.metadata().map_err(|error| FileErrorKind::io("examine", error))?;
    Ok((file, metadata.is_file().then_some(metadata.len())))
}
