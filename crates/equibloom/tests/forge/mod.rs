//! Forged files, made from `docs/format.md` alone, and all operations on a filter.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use equibloom::{HashFilter, KeyHash, KeyHasher, Stable};
use xxhash_rust::xxh3::xxh3_64;

pub const HEADER_LENGTH: usize = 12;
pub const FLAGS: usize = 16;
pub const FILE_LENGTH: usize = 24;
pub const CHECKSUM: usize = 32;
pub const HASH: usize = 40;
pub const SEED: usize = 56;
pub const SPENT: usize = 96;
pub const SECTION_COUNT: usize = 100;
pub const OVERFLOW_ENTRIES: usize = 104;
pub const OVERFLOW_CAPACITY: usize = 112;
pub const KEY_KIND: usize = 120;
pub const SECTIONS: usize = 128;
pub const SECTION_BYTES: usize = 48;

/// Sets the number of blocks in the header of a file of the blocked filter with 512-bit blocks.
pub fn put_block_count(bytes: &mut [u8], count: u64) {
    put(bytes, FILE_LENGTH, &(4096 + 64 * count).to_le_bytes());
    put(bytes, SECTIONS + 32, &(64 * count).to_le_bytes());
    // Behind the tags of design, blocks and candidates, and the three fields of the blocks.
    put(bytes, SECTIONS + SECTION_BYTES + 24, &count.to_le_bytes());
    seal(bytes);
}

pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).map(|field| u32::from_le_bytes(field.try_into().unwrap()))
}

pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8).map(|field| u64::from_le_bytes(field.try_into().unwrap()))
}

pub fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + field.len()) {
        place.copy_from_slice(field);
    }
}

/// The range of a section, if the file is long enough for it.
pub fn section(bytes: &[u8], index: usize) -> Option<std::ops::Range<usize>> {
    let at = SECTIONS + index * SECTION_BYTES;
    let offset = usize::try_from(u64_at(bytes, at + 24)?).ok()?;
    let length = usize::try_from(u64_at(bytes, at + 32)?).ok()?;
    let end = offset.checked_add(length)?;
    (end <= bytes.len()).then_some(offset..end)
}

/// Corrects all checksums, as far as the file has sections and a header.
pub fn seal(bytes: &mut [u8]) {
    let sections = u32_at(bytes, SECTION_COUNT).unwrap_or(0).min(100) as usize;
    for index in 0..sections {
        if let Some(range) = section(bytes, index) {
            let checksum = xxh3_64(&bytes[range]);
            put(bytes, SECTIONS + index * SECTION_BYTES + 40, &checksum.to_le_bytes());
        }
    }
    let length = u32_at(bytes, HEADER_LENGTH).unwrap_or(0) as usize;
    put(bytes, CHECKSUM, &[0; 8]);
    if let Some(header) = bytes.get(..length) {
        let checksum = xxh3_64(header);
        put(bytes, CHECKSUM, &checksum.to_le_bytes());
    }
}

/// Runs all operations on a filter with arbitrary contents: answers may be wrong, but every call returns.
pub fn exercise(filter: &HashFilter) {
    let mut filter = filter.clone();
    let hashes: Vec<KeyHash> = (0..50_u64).map(|key| Stable::default().hash_key(&key)).collect();
    let _ = format!("{filter:?}");
    let _ = hashes.iter().filter(|&&hash| filter.contains(hash)).count();
    let _ = filter.statistics();
    let other = filter.clone();
    for &hash in &hashes[..20] {
        let _ = filter.insert(hash);
    }
    for &hash in &hashes[10..30] {
        let _ = filter.remove(hash);
    }
    let _ = filter.merge(&other);
    let _ = filter.folded(2);
    let _ = filter.statistics();
    let mut bytes = Vec::new();
    filter.write_to(&mut bytes).unwrap();
    filter.clear();
    let _ = filter.insert(hashes[1]);
}
