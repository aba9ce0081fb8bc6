//! Equibloom's filters as a module of Valkey and Redis: `BF.*` commands as clients know them, the same and more as
//! `EB.*`. The README says how to use it.
//!
//! - [`value`]: what a key holds, a filter or one that is being loaded.
//! - [`commands`]: one file for each group of commands.
//! - [`rdb`]: the bytes of a value, in RDB, AOF and chunks. [`replication`]: what replicas get.
//! - [`config`], [`info`]: options and the section of INFO.
//! - [`ffi`]: the server's C interface, and the only unsafe code.

mod commands;
mod config;
#[allow(unsafe_code, reason = "the server's interface is C")]
mod ffi;
mod info;
mod rdb;
mod replication;
mod reply;
mod value;

/// Version of the module, as the server lists it: 0.1.0.
const MODULE_VERSION: std::ffi::c_int = 1_00;

/// The prefix of the commands that are always there.
const OWN_PREFIX: &str = "EB";

/// Registers options and commands.
fn load(loader: &ffi::Loader<'_>) -> Result<(), String> {
    config::register(loader)?;
    commands::register(loader)
}
