//! Bytes as a filter file: no panic, `load` and `verify` agree, and accepted filters work.

#[path = "../../forge/mod.rs"]
mod forge;

use equibloom::{HashFilter, file};

/// Tries the bytes unchanged, and again with correct checksums, which no fuzzer guesses.
pub fn decode(bytes: &[u8]) {
    try_file(bytes);
    let mut sealed = bytes.to_vec();
    forge::seal(&mut sealed);
    try_file(&sealed);
}

fn try_file(bytes: &[u8]) {
    let verified = file::verify_from(bytes);
    let Ok(filter) = HashFilter::read_from(bytes) else {
        let is_other_hash = |header: file::Header| header.hash != "xxh3-128";
        assert!(verified.map_or(true, is_other_hash), "load refuses what verify accepts");
        return;
    };
    assert!(verified.is_ok(), "verify refuses what load accepts");
    let mut again = Vec::new();
    filter.write_to(&mut again).unwrap();
    assert!(HashFilter::read_from(&again[..]).is_ok_and(|read| read == filter));
    forge::exercise(&filter);
}
