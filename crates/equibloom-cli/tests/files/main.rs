//! The commands on key files and filter files, run as processes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod answers;
mod changes;
mod crashes;
mod formats;
mod full_disk;
mod index;
mod kinds;
mod manual;
mod ownership;
mod random;
mod real_data;
mod refusals;
mod scratch;
mod several;
mod streams;
mod trust;
mod words;
