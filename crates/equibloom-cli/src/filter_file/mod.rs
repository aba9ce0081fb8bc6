//! Filter files, and `-` for standard input and output.
//!
//! | file | question |
//! |---|---|
//! | `input.rs` | how is a filter read, and is it whole? |
//! | `verified.rs` | which large files were found whole before? |
//! | `target.rs` | where is a filter written, and how is an older file replaced? |
//! | `lock.rs` | which command may replace a file now? |

mod input;
mod lock;
mod target;
mod verified;

use std::path::Path;

pub(crate) use input::{Opened, Origin, header_of, load, open, verify};
pub(crate) use lock::Lock;
pub(crate) use target::Target;

/// Whether this argument stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// The name of an input in messages.
pub(crate) fn name(path: &Path) -> String {
    if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() }
}
