//! What the fuzz targets do with their bytes: plain functions, so that tests run them where libFuzzer is
//! missing.

#![allow(dead_code, unreachable_pub, reason = "each fuzz target uses one of them")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod decode;
mod input;
mod layouts;
mod merges;
mod operations;

pub use decode::decode;
pub use layouts::layouts;
pub use merges::merges;
pub use operations::{CHECKS, operations};
