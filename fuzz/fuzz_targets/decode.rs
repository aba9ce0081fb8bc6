//! Random bytes as a filter file: no panic, `load` and `verify` agree, and accepted filters work.
//!
//! Every input is tried unchanged, and again with correct checksums, which no fuzzer guesses.

#![no_main]

#[path = "../../crates/equibloom/tests/forge/mod.rs"]
mod forge;

use equibloom::{HashFilter, file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    decode(bytes);
    let mut sealed = bytes.to_vec();
    forge::seal(&mut sealed);
    decode(&sealed);
});

fn decode(bytes: &[u8]) {
    let verified = file::verify_from(bytes);
    let Ok(filter) = HashFilter::read_from(bytes) else {
        assert!(verified.is_err(), "load refuses what verify accepts");
        return;
    };
    assert!(verified.is_ok(), "verify refuses what load accepts");
    let mut again = Vec::new();
    filter.write_to(&mut again).expect("a vector takes everything");
    assert!(HashFilter::read_from(&again[..]).is_ok_and(|read| read == filter));
    forge::exercise(&filter);
}
