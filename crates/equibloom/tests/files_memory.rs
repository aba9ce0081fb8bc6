//! What a header promises costs nothing: memory is taken for bytes that are there.

#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]
#![allow(unsafe_code, reason = "an allocator that counts")]

mod forge;
mod samples;
mod scratch;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use equibloom::{AnyFilter, BlockTable, Parameters, Scheme, file};
use forge::{put, seal};
use scratch::{Scratch, open};

/// Bytes that are allocated, and the most there have been.
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most that was allocated at once, beyond what was there before.
fn peak<T>(run: impl FnOnce() -> T) -> (usize, T) {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let result = run();
    (MOST.load(Ordering::Relaxed) - before, result)
}

const MEBIBYTE: usize = 1 << 20;

/// One test, because the allocator counts for all threads.
#[test]
fn memory_is_taken_for_bytes_that_are_there() {
    let scratch = Scratch::new("memory");
    let path = scratch.path("filter.eqb");

    // A terabyte of blocks in a file of a few kilobytes, with everything in the header to match.
    let blocks = BlockTable { count: 10, bits: 512, hashes: 7 };
    let parameters = Parameters { keys: 100, seed: 1, scheme: Scheme::Blocked { blocks } };
    let mut bytes = Vec::new();
    AnyFilter::new(&parameters).unwrap().write_to(&mut bytes).unwrap();
    let count = 1_u64 << 34;
    put(&mut bytes, forge::FILE_LENGTH, &(4096 + 64 * count).to_le_bytes());
    put(&mut bytes, forge::SECTIONS + 32, &(64 * count).to_le_bytes());
    put(&mut bytes, forge::SECTIONS + forge::SECTION_BYTES + 4, &count.to_le_bytes());
    seal(&mut bytes);
    std::fs::write(&path, &bytes).unwrap();
    let claims = format!("should have {}", 4096 + 64 * count);
    let (most, error) = peak(|| AnyFilter::read_from(&bytes[..]).unwrap_err().to_string());
    assert!(error.contains(&claims) && most < 2 * MEBIBYTE, "{most} {error}");
    let (most, error) = peak(|| AnyFilter::load(&path).unwrap_err().to_string());
    assert!(error.contains(&claims) && most < MEBIBYTE, "{most} {error}");
    let (most, error) = peak(|| open(&path).unwrap_err().to_string());
    assert!(error.contains(&claims) && most < MEBIBYTE, "{most} {error}");
    let (most, error) = peak(|| file::verify_from(&bytes[..]).unwrap_err().to_string());
    assert!(error.contains(&claims) && most < MEBIBYTE, "{most} {error}");
    // A header of the longest length, and nothing behind it.
    put(&mut bytes, forge::HEADER_LENGTH, &(1_u32 << 20).to_le_bytes());
    let (most, _) = peak(|| AnyFilter::read_from(&bytes[..]).unwrap_err());
    assert!(most < 4 * MEBIBYTE, "{most}");

    // Sixteen mebibytes that are there.
    let blocks = BlockTable { count: 1 << 18, ..blocks };
    let parameters = Parameters { keys: 100, seed: 1, scheme: Scheme::Blocked { blocks } };
    let mut filter = AnyFilter::new(&parameters).unwrap();
    filter.insert("alice").unwrap();
    let (most, saved) = peak(|| filter.save(&path));
    saved.unwrap();
    assert!(most < MEBIBYTE, "save: {most}");
    let (most, opened) = peak(|| open(&path).unwrap());
    assert!(opened.contains("alice") && most < MEBIBYTE, "open: {most}");
    let (most, copy) = peak(|| opened.clone());
    assert!(copy.contains("alice") && most < MEBIBYTE, "a clone of an open filter: {most}");
    let (most, loaded) = peak(|| AnyFilter::load(&path).unwrap());
    assert!(loaded.contains("alice") && most < 17 * MEBIBYTE, "load: {most}");
    let (most, report) = peak(|| file::verify(&path).unwrap());
    assert!(report.bytes > 16 << 20 && most < MEBIBYTE, "verify: {most}");
    // A stream has the half that is full beside the whole, of which it touches only the other half.
    let bytes = std::fs::read(&path).unwrap();
    let (most, read) = peak(|| AnyFilter::read_from(&bytes[..]).unwrap());
    assert!(read.contains("alice") && most < 25 * MEBIBYTE, "read_from: {most}");
}
