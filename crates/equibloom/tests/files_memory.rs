//! A header cannot cause large allocations: memory is allocated only for bytes that exist.

#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]
#![allow(unsafe_code, reason = "an allocator that counts")]

mod forge;
mod scratch;

use std::alloc::{self, GlobalAlloc, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use equibloom::{Blocks, Filter, Layout, Parameters, file};
use forge::put;
use scratch::{Scratch, open_typed};

/// Allocated bytes, and their maximum.
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: alloc::Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: alloc::Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: alloc::Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The maximum allocated at once, beyond what was allocated before.
fn peak<T>(run: impl FnOnce() -> T) -> (usize, T) {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let result = run();
    (MOST.load(Ordering::Relaxed) - before, result)
}

const MEBIBYTE: usize = 1 << 20;

/// One test, because the allocator counts for all threads.
#[test]
#[cfg_attr(target_endian = "big", ignore = "big-endian machines do not map files")]
fn memory_is_allocated_only_for_existing_bytes() {
    let scratch = Scratch::new("memory");
    let path = scratch.path("filter.eqb");

    // A terabyte of blocks in a file of a few kilobytes, with a consistent header.
    let filter = |count| -> Filter<str> {
        let design = Layout::blocked(Blocks::bloom(512, 7), count).into();
        Filter::new(&Parameters { keys: 100, seed: 1, design }).unwrap()
    };
    let count = 1_u64 << 34;
    let (mut bytes, start) = forge::with_block_count(&filter(10).to_bytes().unwrap(), count);
    std::fs::write(&path, &bytes).unwrap();
    let claims = format!("should have {}", start + 64 * count);
    let (most, error) = peak(|| Filter::<str>::read_from(&bytes[..]).unwrap_err().to_string());
    assert!(error.contains(&claims) && most < 2 * MEBIBYTE, "{most} {error}");
    let (most, error) = peak(|| Filter::<str>::load(&path).unwrap_err().to_string());
    assert!(error.contains(&claims) && most < MEBIBYTE, "{most} {error}");
    let (most, error) = peak(|| open_typed::<str>(&path).unwrap_err().to_string());
    assert!(error.contains(&claims) && most < MEBIBYTE, "{most} {error}");
    let (most, error) = peak(|| file::verify_from(&bytes[..]).unwrap_err().to_string());
    assert!(error.contains(&claims) && most < MEBIBYTE, "{most} {error}");
    // A header of the longest length, and nothing behind it.
    put(&mut bytes, forge::HEADER_LENGTH, &u16::MAX.to_le_bytes());
    let (most, _) = peak(|| Filter::<str>::read_from(&bytes[..]).unwrap_err());
    assert!(most < 4 * MEBIBYTE, "{most}");

    // Sixteen mebibytes that exist.
    let mut filter = filter(1 << 18);
    filter.insert("alice").unwrap();
    let (most, saved) = peak(|| filter.save(&path));
    saved.unwrap();
    assert!(most < MEBIBYTE, "save: {most}");
    let (most, opened) = peak(|| open_typed::<str>(&path).unwrap());
    assert!(opened.contains("alice") && most < MEBIBYTE, "open: {most}");
    let (most, copy) = peak(|| opened.clone());
    assert!(copy.contains("alice") && most < MEBIBYTE, "a clone of an open filter: {most}");
    let (most, loaded) = peak(|| Filter::<str>::load(&path).unwrap());
    assert!(loaded.contains("alice") && most < 17 * MEBIBYTE, "load: {most}");
    let (most, report) = peak(|| file::verify(&path).unwrap());
    assert!(report.file_length > 16 << 20 && most < MEBIBYTE, "verify: {most}");
    // A stream has the full half beside the whole, of which it touches only the other half.
    let bytes = std::fs::read(&path).unwrap();
    let (most, read) = peak(|| Filter::<str>::read_from(&bytes[..]).unwrap());
    assert!(read.contains("alice") && most < 25 * MEBIBYTE, "read_from: {most}");
}
