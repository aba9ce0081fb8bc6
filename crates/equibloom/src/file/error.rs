//! Errors of filter files: what is wrong, where, and the cure.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use std::io;
use std::path::{Path, PathBuf};

use equibloom_layout::LayoutError;

use super::header::MAGIC;
use crate::error::BuildError;
use crate::growing;
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
    /// The kind of error.
    pub fn kind(&self) -> &FileErrorKind {
        &self.kind
    }

    pub(super) fn into_kind(self) -> FileErrorKind {
        *self.kind
    }

    /// The file's path; `None` for a stream.
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

/// The kind of a [`FileError`]. Positions are in bytes from the start of the file.
///
/// ```
/// use equibloom::{Filter, HashFilter, file::FileErrorKind};
///
/// let mut bytes = Filter::<str>::builder().keys(10).rate(0.01).build()?.to_bytes()?;
/// bytes[30] ^= 1;
/// let error = HashFilter::from_bytes(&bytes).unwrap_err();
/// assert!(matches!(error.kind(), FileErrorKind::Checksum { part, .. } if part == "the header"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum FileErrorKind {
    /// The operating system or the stream returned an error.
    Io {
        /// The operation that failed.
        action: &'static str,
        /// The error.
        source: io::Error,
    },
    /// The path is a directory or a device and cannot be replaced.
    NotReplaceable,
    /// The file does not begin with the magic bytes of a filter file.
    NotAFilter {
        /// The first bytes, at most eight.
        found: Box<[u8]>,
    },
    /// The file has something that this library does not know, and must not ignore: another version of the
    /// format, another hash, a flag, or a section.
    Unsupported {
        /// What it is, and what is known.
        reason: String,
        /// What to do about it.
        cure: &'static str,
    },
    /// The file holds keys of another kind.
    Keys {
        /// The kind in the file.
        found: KeyKind,
        /// The kind of the requested key type.
        expected: KeyKind,
    },
    /// The file is shorter or longer than its header says.
    Length {
        /// Actual length in bytes, as far as the file could be read.
        found: u64,
        /// Expected length in bytes, as far as known.
        expected: u64,
    },
    /// A part of the file does not match its checksum.
    Checksum {
        /// The header, or a section and its place.
        part: String,
        /// The stored checksum.
        stored: u64,
        /// The checksum of the bytes read.
        computed: u64,
    },
    /// A byte between the sections is not zero.
    NotZero {
        /// Its position.
        offset: u64,
        /// Its value.
        value: u8,
    },
    /// A field of the header is out of range.
    Field {
        /// The field.
        name: &'static str,
        /// Its position.
        offset: u64,
        /// Its value.
        value: u64,
        /// The accepted values.
        accepted: String,
    },
    /// A section is missing, or its length does not match the parameters.
    SectionLength {
        /// The section's name.
        name: &'static str,
        /// Actual length; 0 if the section is missing.
        found: u64,
        /// Expected length.
        expected: u64,
    },
    /// The number of entries in the overflow list differs from the header.
    OverflowEntries {
        /// Actual number of entries.
        found: u64,
        /// Expected number of entries.
        expected: u64,
    },
    /// The parameters in the header are invalid.
    Parameters {
        /// Their position.
        offset: u64,
        /// Why they are invalid.
        source: LayoutError,
    },
    /// Memory for the filter is short.
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
            Self::NotAFilter { found } if **found == growing::MAGIC => f.write_str(
                "it holds a growing filter: load it as a `GrowingFilter`, in a program; the command reads filters \
                 that `equibloom build` or `Filter::save` has written",
            ),
            Self::NotAFilter { found } => write!(
                f,
                "not a filter file: it begins with {found:02x?}, a filter file with {MAGIC:02x?}; \
                 give a file that equibloom has written"
            ),
            Self::Unsupported { reason, cure } => write!(f, "{reason}: {cure}"),
            Self::Keys { found, expected } => write!(
                f,
                "the filter holds {found}, and was asked for {expected}: \
                 load it with the type of its keys, or as a `HashFilter`"
            ),
            Self::Length { found, expected } => write!(
                f,
                "it has {found} bytes and should have {expected}: copy it again, \
                 or build it again from its keys"
            ),
            Self::Checksum { part, stored, computed } => write!(
                f,
                "{part} is damaged: its checksum is {computed:#018x}, {stored:#018x} was written; \
                 copy the file again, or build it again from its keys"
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
            Self::Memory(error) => write!(f, "{error}; `HashFilter::open` maps the file instead"),
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
    /// The error with the path of its file.
    pub(crate) fn at(self, path: &Path) -> FileError {
        FileError { path: Some(path.to_path_buf()), kind: Box::new(self) }
    }

    pub(crate) const fn io(action: &'static str, source: io::Error) -> Self {
        Self::Io { action, source }
    }
}
