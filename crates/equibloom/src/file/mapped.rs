//! A mapped file that another program replaces from time to time.

use core::fmt;
use core::ops::Deref;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{FileError, FileErrorKind};
use crate::filter::Filter;
use crate::hash_filter::HashFilter;
use crate::hashing::StableKey;

/// A filter in a file that is queried in place, and that another program replaces from time to time: a
/// service saves its [`SharedFilter`](crate::SharedFilter) every minute, and others query it. `F` is a
/// [`Filter`](crate::Filter), a [`GrowingFilter`](crate::GrowingFilter) or a [`HashFilter`](crate::HashFilter).
///
/// ```
/// use equibloom::{Filter, file::Mapped};
///
/// # let directory = std::env::temp_dir().join(format!("equibloom-mapped-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// # let path = directory.join("seen.eqb");
/// let mut filter = Filter::builder().keys(1_000).rate(0.001).build()?;
/// filter.save(&path)?;
///
/// // SAFETY: the file is only ever replaced, by `save`.
/// let mut seen: Mapped<Filter<str>> = unsafe { Mapped::open(&path) }?;
/// assert!(!seen.contains("alice@example.com"));
///
/// filter.insert("alice@example.com")?;
/// filter.save(&path)?;
/// assert!(seen.reload_if_changed()?);
/// assert!(seen.contains("alice@example.com"));
/// assert!(!seen.reload_if_changed()?); // nothing new
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mapped<F> {
    path: PathBuf,
    file: Identity,
    filter: F,
}

/// A filter that can be opened in place. Public, but out of reach: what types these are is settled here.
pub trait Open: Sized {
    /// Opens a file.
    ///
    /// # Safety
    /// While the filter or a clone of it lives, the file must neither change nor shrink.
    #[allow(unsafe_code, reason = "no program can guarantee that a file stays unchanged")]
    unsafe fn open_in_place(path: &Path) -> Result<Self, FileError>;
}

macro_rules! opened_in_place {
    ($([$($key:ident)?] $filter:ty;)*) => {$(
        #[allow(unsafe_code, reason = "no program can guarantee that a file stays unchanged")]
        impl$(<$key: StableKey + ?Sized>)? Open for $filter {
            unsafe fn open_in_place(path: &Path) -> Result<Self, FileError> {
                // SAFETY: the caller's promise.
                unsafe { Self::open(path) }
            }
        }
    )*};
}

opened_in_place! {
    [] HashFilter;
    [K] Filter<K>;
    [K] crate::GrowingFilter<K>;
}

impl<F: Open> Mapped<F> {
    /// Opens a file; see [`HashFilter::open`](crate::HashFilter::open).
    ///
    /// # Safety
    /// No program may write to the file or truncate it, nor to one that replaces it later. Replacing it as a
    /// whole, as [`HashFilter::save`] does, is what this type is for.
    ///
    /// # Errors
    /// As [`HashFilter::open`].
    #[allow(unsafe_code, reason = "no program can guarantee that a file stays unchanged")]
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref().to_path_buf();
        // Before the file is opened: if it is replaced in between, the next reload finds out.
        let file = Identity::at(&path)?;
        // SAFETY: the caller's promise.
        let filter = unsafe { F::open_in_place(&path) }?;
        Ok(Self { path, file, filter })
    }

    /// Opens the file again if another one has taken its place; returns whether it has.
    ///
    /// # Errors
    /// As [`open`](Self::open); the filter stays what it was.
    #[allow(unsafe_code, reason = "the promise of `open`")]
    pub fn reload_if_changed(&mut self) -> Result<bool, FileError> {
        let is_changed = Identity::at(&self.path)? != self.file;
        if is_changed {
            // SAFETY: the promise that the caller of `open` has given for the files that replace the first.
            *self = unsafe { Self::open(&self.path) }?;
        }
        Ok(is_changed)
    }
}

impl<F> Deref for Mapped<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.filter
    }
}

/// Implemented by hand, without what distinguishes the file.
impl<F: fmt::Debug> fmt::Debug for Mapped<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, filter, .. } = self;
        f.debug_struct("Mapped").field("path", path).field("filter", filter).finish()
    }
}

/// What distinguishes a file from one that replaces it.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    /// Device and inode, where there are such. An inode may be used again, but hardly at the same time.
    number: (u64, u64),
    length: u64,
    modified: Option<SystemTime>,
}

impl Identity {
    fn at(path: &Path) -> Result<Self, FileError> {
        let metadata = fs::metadata(path);
        let metadata = metadata.map_err(|error| FileErrorKind::io("examine", error).at(path));
        metadata.map(|metadata| Self::of(&metadata))
    }

    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let number = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let number = (0, 0);
        Self { number, length: metadata.len(), modified: metadata.modified().ok() }
    }
}
