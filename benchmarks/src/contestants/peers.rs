//! Filters of other libraries.
//!
//! | crate | keys are given as | many at once |
//! |---|---|---|
//! | sbbf-rs | 64-bit hashes | our loop: the Parquet format defines the block of a hash, and the crate exposes its memory |
//! | fastbloom | 64-bit hashes | our loop, for the first bit only: its position follows from the hash, and the crate exposes its memory |
//! | qfilter | 64-bit hashes | no: the memory is private |
//! | bloomfilter | the hash as a key, hashed once more | no: the second hash is private |
//! | parquet | the hash as a key, hashed once more | no: the memory is private |
//! | cuckoofilter | the hash as a key, with an identity hasher | no: the memory is private |
//! | xorf | 64-bit hashes, all at once | no: static, for comparison only |
//!
//! Each gets the largest size that fits the memory. qfilter and cuckoofilter have a power of two of slots: they
//! get the largest that fits, or the smallest that holds the keys.

use std::hash::Hasher;

use cuckoofilter::CuckooFilter;
use parquet::bloom_filter::Sbbf;
use sbbf_rs_safe::Filter as SplitBlock;
use xorf::{BinaryFuse8, BinaryFuse16};

use super::prefetch::prefetch;
use super::{Contestant, Entry, FASTBLOOM, Failure, Kind, Many, Profile, QFILTER, SBBF};
use crate::keys::Keys;

/// Prefetch distance of the loop, in keys.
const AHEAD: usize = 32;

/// A peer's operations on a hash.
pub(super) trait Peer: Send + Sync {
    const MANY: Many = Many::OneByOne;
    fn bytes(&self) -> u64;
    /// Returns whether there was room for it.
    fn insert(&mut self, hash: u64) -> bool;
    fn contains(&self, hash: u64) -> bool;
    /// Prefetches the memory of the hash, where its address is known.
    fn ask_for(&self, _hash: u64) {}
}

pub(super) struct Lane<P>(pub(super) P);

impl<P: Peer> Lane<P> {
    #[inline(always)]
    fn insert(&mut self, hash: u64) -> Result<(), Failure> {
        if self.0.insert(hash) { Ok(()) } else { Err("refuses keys before it is full".into()) }
    }
}

impl<P: Peer> Contestant for Lane<P> {
    fn bytes(&self) -> u64 {
        self.0.bytes() + size_of::<P>() as u64
    }

    fn insert_each(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        keys.short.iter().try_for_each(|&hash| self.insert(hash))
    }

    fn insert_batch(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        for (index, &hash) in keys.short.iter().enumerate() {
            if let Some(&ahead) = keys.short.get(index + AHEAD) {
                self.0.ask_for(ahead);
            }
            self.insert(hash)?;
        }
        Ok(())
    }

    fn count_each(&self, keys: Keys<'_>) -> usize {
        keys.short.iter().filter(|&&hash| self.0.contains(hash)).count()
    }

    fn count_batch(&self, keys: Keys<'_>) -> usize {
        let mut found = 0;
        for (index, &hash) in keys.short.iter().enumerate() {
            if let Some(&ahead) = keys.short.get(index + AHEAD) {
                self.0.ask_for(ahead);
            }
            found += usize::from(self.0.contains(hash));
        }
        found
    }
}

/// All peers, for this many keys and bytes.
pub(super) fn entries(keys: u64, bytes: u64) -> Result<Vec<Entry>, Failure> {
    let (items, bits) = (usize::try_from(keys)?, usize::try_from(bytes * 8)?);
    let bytes = usize::try_from(bytes)?;
    Ok(vec![
        peer(SBBF, move || Ok(split_block(bytes))),
        // The constructor that takes any size copies a bitmap; the copy counts as insert time.
        peer("parquet", move || Ok(Sbbf::new(&vec![0; bytes.next_multiple_of(SPLIT_BLOCK_BYTES)]))),
        peer(FASTBLOOM, move || {
            Ok(fastbloom::BloomFilter::with_num_bits(bits).expected_items(items))
        }),
        peer("bloomfilter", move || Ok(bloomfilter::Bloom::<u64>::new(bytes, items)?)),
        peer(QFILTER, move || Ok(qfilter::Filter::new(keys, quotient_rate(keys, bits as u64)?)?)),
        peer("cuckoofilter", move || {
            Ok(CuckooFilter::<Passing>::with_capacity(cuckoo_slots(items)))
        }),
        fuse::<BinaryFuse8>("xorf, fuse 8"),
        fuse::<BinaryFuse16>("xorf, fuse 16"),
    ])
}

fn peer<P: Peer + 'static>(name: &str, make: impl Fn() -> Result<P, Failure> + 'static) -> Entry {
    let profile = profile(name, Kind::Peer, P::MANY);
    Entry { profile, make: Box::new(move |_| Ok(Box::new(Lane(make()?)))) }
}

pub(super) fn profile(name: &str, kind: Kind, many: Many) -> Profile {
    let (promised_rate, rival) = (None, None);
    Profile { name: name.to_owned(), kind, many, parallel_inserts: false, promised_rate, rival }
}

const SPLIT_BLOCK_BYTES: usize = 32;

/// The constructor takes a number of keys and whole bits per key: one byte for each of `bytes` keys.
pub(super) fn split_block(bytes: usize) -> SplitBlock {
    SplitBlock::new(8, bytes)
}

impl Peer for SplitBlock {
    const MANY: Many = Many::PrefetchingLoop;

    fn bytes(&self) -> u64 {
        self.as_bytes().len() as u64
    }

    #[inline(always)]
    fn insert(&mut self, hash: u64) -> bool {
        self.insert_hash(hash);
        true
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    #[inline(always)]
    fn ask_for(&self, hash: u64) {
        let memory = self.as_bytes();
        let blocks = (memory.len() / SPLIT_BLOCK_BYTES) as u64;
        let block = ((hash >> 32) * blocks) >> 32;
        prefetch(&memory[block as usize * SPLIT_BLOCK_BYTES]);
    }
}

impl Peer for Sbbf {
    fn bytes(&self) -> u64 {
        (self.num_blocks() * SPLIT_BLOCK_BYTES) as u64
    }

    #[inline(always)]
    fn insert(&mut self, hash: u64) -> bool {
        Self::insert(self, &hash);
        true
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.check(&hash)
    }
}

impl Peer for fastbloom::BloomFilter {
    const MANY: Many = Many::PrefetchingLoop;

    fn bytes(&self) -> u64 {
        self.num_bits() as u64 / 8
    }

    #[inline(always)]
    fn insert(&mut self, hash: u64) -> bool {
        self.insert_hash(hash);
        true
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    #[inline(always)]
    fn ask_for(&self, hash: u64) {
        let bit = (u128::from(hash) * self.num_bits() as u128) >> 64;
        prefetch(&self.as_slice()[bit as usize / 64]);
    }
}

impl Peer for bloomfilter::Bloom<u64> {
    fn bytes(&self) -> u64 {
        self.len() / 8
    }

    #[inline(always)]
    fn insert(&mut self, hash: u64) -> bool {
        self.set(&hash);
        true
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.check(&hash)
    }
}

impl Peer for qfilter::Filter {
    fn bytes(&self) -> u64 {
        self.memory_usage() as u64
    }

    #[inline(always)]
    fn insert(&mut self, hash: u64) -> bool {
        self.insert_fingerprint(false, hash).is_ok()
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.contains_fingerprint(hash)
    }
}

/// The rate of the largest quotient filter that fits into this many bits, with at least one bit per remainder.
fn quotient_rate(keys: u64, bits: u64) -> Result<f64, Failure> {
    // Rate and storage per slot with one-bit remainders; each further bit halves the rate and adds one bit.
    let specs = qfilter::filter_specs(keys, 0.5)?;
    let spare = bits.saturating_sub(8 * specs.memory_bytes_max as u64);
    let slots = specs.memory_bytes_max as f64 * 8.0 / specs.bits_per_item;
    Ok(0.5_f64.powi(1 + (spare as f64 / slots) as i32))
}

impl Peer for CuckooFilter<Passing> {
    fn bytes(&self) -> u64 {
        self.memory_usage() as u64 - size_of::<Self>() as u64
    }

    #[inline(always)]
    fn insert(&mut self, hash: u64) -> bool {
        self.add(&hash).is_ok()
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        Self::contains(self, &hash)
    }
}

/// Slots for this many keys: above nine tenths full it begins to lose keys.
fn cuckoo_slots(keys: usize) -> usize {
    (keys.saturating_mul(10) / 9 + 1).next_power_of_two()
}

/// Passes 64-bit hashes through, and spreads the single bytes that cuckoofilter also hashes.
#[derive(Default)]
struct Passing(u64);

impl Hasher for Passing {
    #[inline(always)]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let spread = (self.0 ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 = spread.rotate_left(32);
        }
    }

    /// The length of a fixed-size array is constant.
    #[inline(always)]
    fn write_usize(&mut self, _length: usize) {}

    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// A static filter, built once from all hashes.
trait Fuse: xorf::Filter<u64> + Send + Sync + Sized + 'static {
    /// Bits of a fingerprint.
    const BYTES: usize;
    fn build(hashes: &[u64]) -> Result<Self, &'static str>;
}

impl Fuse for BinaryFuse8 {
    const BYTES: usize = 1;

    fn build(hashes: &[u64]) -> Result<Self, &'static str> {
        Self::try_from(hashes)
    }
}

impl Fuse for BinaryFuse16 {
    const BYTES: usize = 2;

    fn build(hashes: &[u64]) -> Result<Self, &'static str> {
        Self::try_from(hashes)
    }
}

struct Built<F>(F);

fn fuse<F: Fuse>(name: &str) -> Entry {
    let profile = profile(name, Kind::Static, Many::OneByOne);
    Entry { profile, make: Box::new(|keys| Ok(Box::new(Built(F::build(keys.short)?)))) }
}

impl<F: Fuse> Contestant for Built<F> {
    fn bytes(&self) -> u64 {
        (self.0.len() * F::BYTES + size_of::<F>()) as u64
    }

    /// A static filter already holds them.
    fn insert_each(&mut self, _keys: Keys<'_>) -> Result<(), Failure> {
        Ok(())
    }

    fn count_each(&self, keys: Keys<'_>) -> usize {
        keys.short.iter().filter(|&hash| self.0.contains(hash)).count()
    }
}
