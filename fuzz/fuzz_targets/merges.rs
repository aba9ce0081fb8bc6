#![no_main]

#[path = "../../crates/equibloom/tests/fuzz/bodies/mod.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bodies::merges(bytes));
