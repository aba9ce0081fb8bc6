//! Filters over a caller's bytes.

#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use equibloom::{Blocks, Design, Filter, Layout, Overflow, Parameters, Rule, WhenFull};

/// Bytes at a chosen distance from a multiple of 64. Tells when it is dropped.
struct Owner {
    buffer: Vec<u8>,
    start: usize,
    is_gone: Arc<AtomicBool>,
}

impl Owner {
    fn new(bytes: &[u8], distance: usize) -> (Self, Arc<AtomicBool>) {
        let mut buffer: Vec<u8> = Vec::with_capacity(bytes.len() + 128);
        let start = buffer.as_ptr().align_offset(64) + distance;
        buffer.resize(start, 0);
        buffer.extend_from_slice(bytes);
        let is_gone = Arc::new(AtomicBool::new(false));
        (Self { buffer, start, is_gone: is_gone.clone() }, is_gone)
    }
}

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.buffer[self.start..]
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.is_gone.store(true, Ordering::Relaxed);
    }
}

fn filter(design: Design) -> (Filter<u64>, Vec<u8>) {
    let mut filter = Filter::new(&Parameters { keys: 1_000, seed: 1, design }).unwrap();
    filter.try_extend(0..1_000_u64).unwrap();
    let mut bytes = Vec::new();
    filter.write_to(&mut bytes).unwrap();
    (filter, bytes)
}

/// With keys in the overflow list, so that both sections are there and change.
fn layout() -> Layout {
    Layout::single(Blocks::bloom(512, 7), 80, Rule::below(14))
        .with_overflow(Overflow { capacity: 500, when_full: WhenFull::Refuse })
}

#[test]
fn bytes_are_used_in_place_and_dropped_with_the_last_filter() {
    for design in [layout().into(), Design::Classical { bits: 40_000, hashes: 5 }] {
        let (filter, bytes) = filter(design);
        let (owner, is_gone) = Owner::new(&bytes, 0);
        let borrowed: Filter<u64> = Filter::from_owner(owner).unwrap();
        let in_place = cfg!(target_endian = "little");
        assert_eq!(borrowed.as_hash_filter().is_mapped(), in_place);
        assert!(borrowed == filter);
        assert!((0..1_000).all(|key| borrowed.contains(&key)));
        let clone = borrowed.clone();
        drop(borrowed);
        assert_eq!(is_gone.load(Ordering::Relaxed), !in_place);
        let by_thread = std::thread::spawn(move || (0..1_000).all(|key| clone.contains(&key)));
        assert!(by_thread.join().unwrap());
        assert!(is_gone.load(Ordering::Relaxed));
    }
}

#[test]
fn the_first_change_copies_the_bytes_and_leaves_them_as_they_are() {
    let (mut filter, bytes) = filter(layout().into());
    let before = bytes;
    let owner: &'static Owner = Box::leak(Box::new(Owner::new(&before, 0).0));
    let bytes = owner.as_ref();
    let mut borrowed: Filter<u64> = Filter::from_owner(bytes).unwrap();
    assert_eq!(borrowed.as_hash_filter().is_mapped(), cfg!(target_endian = "little"));
    assert_eq!(borrowed.try_extend(1_000..1_200_u64), filter.try_extend(1_000..1_200_u64));
    assert!(!borrowed.as_hash_filter().is_mapped());
    assert!(borrowed == filter);
    assert_eq!(bytes, before);
}

#[test]
fn bytes_between_multiples_of_64_are_copied_and_verified() {
    let (filter, mut bytes) = filter(layout().into());
    for distance in [1, 8, 63] {
        let (owner, is_gone) = Owner::new(&bytes, distance);
        let copied: Filter<u64> = Filter::from_owner(owner).unwrap();
        assert!(copied == filter && !copied.as_hash_filter().is_mapped());
        assert!(is_gone.load(Ordering::Relaxed));
    }
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let (owner, _) = Owner::new(&bytes, 8);
    assert!(Filter::<u64>::from_owner(owner).is_err());
}

#[test]
fn bytes_that_are_no_filter_are_refused() {
    let (_, bytes) = filter(layout().into());
    let refusal = |bytes: &[u8]| Filter::<u64>::from_owner(bytes.to_vec()).unwrap_err().to_string();
    assert!(refusal(b"key,value\n1,2\n").contains("not a filter file"));
    for length in [0, 100, bytes.len() / 2, bytes.len() - 1] {
        assert!(!refusal(&bytes[..length]).is_empty());
    }
    let longer = [&bytes[..], &[0]].concat();
    let said = refusal(&longer);
    assert!(said.contains(&longer.len().to_string()), "{said}");
    assert!(Filter::<str>::from_owner(bytes).unwrap_err().to_string().contains("keys"));
}
