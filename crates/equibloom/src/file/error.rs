//! What can be wrong with a file, where, and what helps.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use std::io;
use std::path::{Path, PathBuf};

use equibloom_layout::LayoutError;

use super::VERSION;
use super::header::{HASH, MAGIC};
use crate::error::BuildError;
use crate::hashing::KeyKind;

/// Why a filter could not be written to a file or read from one.
///
/// ```
/// use equibloom::{HashFilter, file::FileErrorKind};
///
/// let error = HashFilter::load("no/such/file").unwrap_err();
/// assert!(matches!(error.kind(), FileErrorKind::Io { .. }));
/// assert!(error.to_string().starts_with("no/such/file: could not open it"));
/// assert!(core::error::Error::source(&error).is_some_and(|cause| cause.is::<std::io::Error>()));
/// ```
#[derive(Debug)]
pub struct FileError {
    path: Option<PathBuf>,
    kind: Box<FileErrorKind>,
}

impl FileError {
    /// What is wrong.
    pub fn kind(&self) -> &FileErrorKind {
        &self.kind
    }

    /// The file, unless it was a stream.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        self.kind.fmt(f)
    }
}

impl core::error::Error for FileError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.kind.source()
    }
}

impl From<FileErrorKind> for FileError {
    fn from(kind: FileErrorKind) -> Self {
        Self { path: None, kind: Box::new(kind) }
    }
}

/// Adds a file's name to what is wrong with it.
pub(super) trait Named<T> {
    fn named(self, path: &Path) -> Result<T, FileError>;
}

impl<T> Named<T> for Result<T, FileErrorKind> {
    fn named(self, path: &Path) -> Result<T, FileError> {
        self.map_err(|kind| FileError { path: Some(path.to_path_buf()), kind: Box::new(kind) })
    }
}

/// What is wrong with a file. Positions are in bytes from its beginning.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileErrorKind {
    /// The operating system, or the stream, says no.
    Io {
        /// What was tried.
        action: &'static str,
        /// What came back.
        source: io::Error,
    },
    /// A directory or a device stands where a file should be replaced.
    NotReplaceable,
    /// It begins differently.
    NotAFilter {
        /// The first bytes, at most eight.
        found: Box<[u8]>,
    },
    /// It was written by another version of the library.
    Version {
        /// The version it has.
        found: u32,
    },
    /// It uses something that this library does not know and that cannot be ignored.
    Flags {
        /// Where they stand.
        offset: u64,
        /// The flags it has.
        found: u64,
        /// The flags that are known.
        known: u64,
    },
    /// Its keys are hashed by a function that this library does not have.
    Hash {
        /// The name of the hash.
        found: String,
    },
    /// It holds other keys than were asked for.
    Keys {
        /// The keys that it holds.
        found: KeyKind,
        /// The keys that were asked for.
        expected: KeyKind,
    },
    /// It has a section that is necessary and unknown.
    UnknownSection {
        /// The section's name.
        name: String,
    },
    /// It is shorter than it says, or longer.
    Length {
        /// The bytes it has, or had until it ended.
        found: u64,
        /// The bytes it should have, as far as that is known.
        expected: u64,
    },
    /// The header is not what was written.
    HeaderChecksum {
        /// The checksum that was written.
        stored: u64,
        /// The checksum of what is there.
        computed: u64,
    },
    /// A section is not what was written.
    SectionChecksum {
        /// The section's name.
        name: String,
        /// Where it begins.
        offset: u64,
        /// How long it is.
        length: u64,
        /// The checksum that was written.
        stored: u64,
        /// The checksum of what is there.
        computed: u64,
    },
    /// Between the sections there is something.
    NotZero {
        /// Where.
        offset: u64,
        /// What is there.
        value: u8,
    },
    /// A number in the header makes no sense.
    Field {
        /// What the number means.
        name: &'static str,
        /// Where it stands.
        offset: u64,
        /// The number.
        value: u64,
        /// What would be accepted.
        accepted: String,
    },
    /// A section is missing, or has another length than the parameters ask for.
    SectionLength {
        /// The section's name.
        name: &'static str,
        /// The length it has; 0 if there is none.
        found: u64,
        /// The length it should have.
        expected: u64,
    },
    /// The overflow list has other entries than the header says.
    OverflowEntries {
        /// Entries that were counted.
        found: u64,
        /// Entries there should be.
        expected: u64,
    },
    /// The parameters in the header make no sense.
    Parameters {
        /// Where they stand.
        offset: u64,
        /// What is wrong with them.
        source: LayoutError,
    },
    /// There is not enough memory for the filter.
    Memory(BuildError),
}

impl fmt::Display for FileErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { action, source } => write!(f, "could not {action} it: {source}"),
            Self::NotReplaceable => f.write_str(
                "it is not a regular file and cannot be replaced: give the name of a file, \
                 or write to an open stream with `write_to`",
            ),
            Self::NotAFilter { found } => write!(
                f,
                "not a filter file: it begins with {found:02x?}, a filter file with {MAGIC:02x?}; \
                 give a file that equibloom has written"
            ),
            Self::Version { found } => {
                let cure = if *found > VERSION {
                    "update equibloom"
                } else {
                    "build the file again from its keys"
                };
                write!(
                    f,
                    "version {found} of the format, and this library reads version {VERSION}: {cure}"
                )
            }
            Self::Keys { found, expected } => write!(
                f,
                "the filter holds {found}, and was asked for {expected}: \
                 load it with the type of its keys, or as a `HashFilter`"
            ),
            Self::Flags { offset, found, known } => write!(
                f,
                "the flags at byte {offset} are {found:#x}, of which this library knows {known:#x}: \
                 update equibloom"
            ),
            Self::Hash { found } => write!(
                f,
                "its keys are hashed by \"{found}\", and this library knows \"{HASH}\": \
                 ask it with a program that knows that hash"
            ),
            Self::UnknownSection { name } => write!(
                f,
                "section \"{name}\" is necessary and unknown to this library: update equibloom"
            ),
            Self::Length { found, expected } => write!(
                f,
                "it has {found} bytes and should have {expected}: copy it again, \
                 or build it again from its keys"
            ),
            Self::HeaderChecksum { stored, computed } => write!(
                f,
                "the header is damaged: its checksum is {computed:#018x}, {stored:#018x} was written; \
                 copy the file again, or build it again from its keys"
            ),
            Self::SectionChecksum { name, offset, length, stored, computed } => write!(
                f,
                "section \"{name}\" (bytes {offset} to {}) is damaged: its checksum is {computed:#018x}, \
                 {stored:#018x} was written; copy the file again, or build it again from its keys",
                offset + length
            ),
            Self::NotZero { offset, value } => write!(
                f,
                "byte {offset} belongs to no section and is {value:#04x} instead of 0: \
                 copy the file again, or build it again from its keys"
            ),
            Self::Field { name, offset, value, accepted } => write!(
                f,
                "{name} at byte {offset} is {value}: {accepted} was expected; \
                 the file is damaged or forged"
            ),
            Self::SectionLength { name, found, expected } => write!(
                f,
                "section \"{name}\" has {found} bytes, and a filter of these parameters needs {expected}: \
                 the file is damaged or forged"
            ),
            Self::OverflowEntries { found, expected } => write!(
                f,
                "section \"overflow\" has {found} entries, the header says {expected}: \
                 the file is damaged or forged"
            ),
            Self::Parameters { offset, source } => write!(
                f,
                "the parameters at byte {offset} describe no filter ({source}): \
                 the file is damaged or forged"
            ),
            Self::Memory(error) => write!(f, "{error}; `HashFilter::open` needs next to none"),
        }
    }
}

impl core::error::Error for FileErrorKind {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Parameters { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl FileErrorKind {
    pub(super) const fn io(action: &'static str, source: io::Error) -> Self {
        Self::Io { action, source }
    }
}
