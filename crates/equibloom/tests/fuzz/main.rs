//! The fuzz targets' bodies on a few hundred pseudo-random inputs each, always the same ones.
//! `EQUIBLOOM_INPUTS=100000` for more.

#![cfg(all(feature = "file", target_has_atomic = "64"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod bodies;
#[path = "../random/mod.rs"]
mod random;

use std::panic::{catch_unwind, resume_unwind};
use std::path::Path;

use random::Random;

/// Inputs of each body.
fn inputs() -> u64 {
    std::env::var("EQUIBLOOM_INPUTS").map_or(400, |number| number.parse().unwrap())
}

/// Shows the input that fails: it can be given to the fuzz target as a file.
fn run(body: fn(&[u8]), mut input: impl FnMut(&mut Random) -> Vec<u8>) {
    let mut random = Random(1);
    for number in 0..inputs() {
        let bytes = input(&mut random);
        if let Err(panic) = catch_unwind(|| body(&bytes)) {
            eprintln!("input {number} of {} bytes: {bytes:02x?}", bytes.len());
            resume_unwind(panic);
        }
    }
}

fn any_bytes(random: &mut Random) -> Vec<u8> {
    (0..random.between(0, 800)).map(|_| random.word() as u8).collect()
}

#[test]
fn operations_agree_with_an_exact_multiset() {
    run(bodies::operations, any_bytes);
    let checks = bodies::CHECKS.load(std::sync::atomic::Ordering::Relaxed);
    println!("{checks} lookups of keys that the filter holds");
}

#[test]
fn a_design_is_refused_with_a_cure_or_works() {
    run(bodies::layouts, any_bytes);
}

#[test]
fn merges_in_any_order_hold_all_keys() {
    run(bodies::merges, any_bytes);
}

/// Sample files with a few bytes changed.
#[test]
fn a_changed_file_is_refused_or_works() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let folders = std::fs::read_dir(samples).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = folders
        .filter(|path| path.is_dir())
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let files: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    run(bodies::decode, |random| {
        let mut bytes = files[random.between(0, files.len() as u64 - 1) as usize].clone();
        for _ in 0..random.between(0, 5) {
            // Half of the time in the header, which has the more to say.
            let most = if random.word() & 1 == 0 { 300 } else { bytes.len() as u64 - 1 };
            let at = random.between(0, most.min(bytes.len() as u64 - 1)) as usize;
            bytes[at] = random.word() as u8;
        }
        bytes
    });
}
