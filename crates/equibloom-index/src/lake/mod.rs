//! Indexes of Parquet files: which files there are, and which of them are to be read.
//!
//! | file | question |
//! |---|---|
//! | `files.rs` | which files are in the lake, and in which state? |
//! | `column.rs` | which keys are in a column of a file? |
//! | `build.rs` | which files are read, by which thread, and how does a killed build go on? |

mod build;
mod column;
mod files;

pub use build::{Options, Progress, Report, build, update};
pub use column::{Column, ColumnError, Keys};
pub use files::{Freshness, check, check_files, list, state};
