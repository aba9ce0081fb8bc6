//! The server's C interface, and the only unsafe code of the module.
//!
//! The functions that are needed are declared by hand ([`api`]): a second to build, no libclang, and the same file
//! loads into Redis 7.0 and later and Valkey, because each function is asked for by name when the module is loaded. Everything
//! outside this folder is safe Rust. Each function that the server calls catches panics: a panic that left the
//! module would end the server.

mod alloc;
mod api;
mod command;
mod config;
mod context;
mod data_type;
mod info;
mod key;
mod load;
mod stream;

pub(crate) use alloc::allocated;
pub(crate) use command::{Command, Keys, Spec};
pub(crate) use config::{AtomicString, Number, Text};
pub(crate) use context::{Arguments, Context, Flag, Name, Word};
pub(crate) use info::InfoSection;
pub(crate) use key::WriteKey;
pub(crate) use load::Loader;
pub(crate) use stream::AofSink;

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A C string; zero bytes are left out.
fn c_string(text: &str) -> CString {
    let bytes: Vec<u8> = text.bytes().filter(|&byte| byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

/// Runs what the server called. After a panic, the server gets `otherwise` and goes on.
fn guarded<T>(otherwise: T, run: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(otherwise)
}
