#![doc = include_str!("../README.md")]
//!
//! # Where to look
//! - [`KeySet`] collects the keys of one column of a file, and makes its [`Unit`].
//! - [`Draft`] collects files, from an older [`Index`] or new ones, and writes an index.
//! - [`Index`] answers, from a mapped file or from memory.
//! - [`Journal`] keeps finished files on the disk while an index is built, so that a killed build goes on.
//! - [`sizing`] computes the rate of the filters from the number of files that a query may open in vain.
#![cfg_attr(feature = "lake", doc = "- [`lake`] builds and updates indexes of Parquet files.")]
#![cfg_attr(
    not(feature = "lake"),
    doc = "- The feature `lake` builds and updates indexes of Parquet files."
)]
//!
//! # Promises
//! - No row is lost. A file that has changed or that the index does not know is to be read by the caller ([`State`] says which they
//!   are). A column that is not in the index, a key of another kind than the file's, a filter that is damaged: the
//!   file is among the answers.
//! - The same files give the same bytes, in any order and by any number of threads.

mod draft;
mod error;
mod format;
mod index;
mod journal;
mod key;
mod key_set;
#[cfg(feature = "lake")]
pub mod lake;
pub mod sizing;
mod table;

pub use draft::Draft;
pub use error::IndexError;
pub use format::VERSION;
pub use index::{Index, Place, Summary};
pub use journal::Journal;
pub use key::{Key, Range};
pub use key_set::{Built, KeySet};
pub use table::{Contents, FileEntry, Settings, State, StoredFilter, Unit};
