//! The soak of `examples/soak.rs`, in short: a second process maps the file of a filter that grows, is used by
//! threads and is saved meanwhile.
#![cfg(all(feature = "planner", feature = "file", target_has_atomic = "64"))]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

#[path = "../examples/soak.rs"]
#[allow(dead_code, reason = "its main is that of the example")]
mod soak;

/// The second process is this test binary, with this test and a file.
const READER: &str = "the_second_process";

#[test]
fn no_key_is_lost_while_a_filter_grows_and_is_saved() {
    let mut reader = Command::new(env::current_exe().unwrap());
    reader.args(["--exact", READER, "--nocapture"]);
    let lost = soak::soak(300_000, 2_000_000, Duration::from_millis(5), reader).unwrap();
    assert_eq!(lost, 0);
}

#[test]
fn the_second_process() {
    if let Ok(path) = env::var(soak::READER) {
        soak::read(Path::new(&path)).unwrap();
    }
}
