//! A growing table that threads share.
//!
//! The hash space is divided by the hash's first bits into shards. Each is a table of its own behind a lock and
//! grows by itself, so that no insert waits for more than a few inserts into one shard. A shard holds
//! the strings without those bits, in a table of as many steps fewer: together the shards are as large as one
//! table, and their strings as long.
//!
//! **Copies while the table is in use.** Strings are in the order of hashes in every table, whatever its geometry. So
//! a copy goes through the hash space from first to last and locks a shard for the lists of one block at a time.
//! How far it has come is a position in the hash space: a shard may grow in between. A key that is
//! in the table all the while has a string there when its list is copied.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::{ControlFlow, Deref, DerefMut, Range};
use std::sync::PoisonError;

use super::levels::Levels;
use super::moving::Piece;
use super::prefix::Prefix;
use super::schedule::{STEPS, Schedule};
use super::table::{GrowthWork, Table};
use crate::error::BuildError;
use crate::hashing::{INSERTED_AT_ONCE, KeyHash};
use crate::raw::Insertion;
use crate::storage::sync::RwLock;

/// `log2` of the number of shards. With 32, eight threads seldom meet, and an empty filter takes less than 64 KiB.
const SHARD_BITS: u32 = if cfg!(all(test, loom)) { 1 } else { 5 };

const SHARDS: usize = 1 << SHARD_BITS;

/// Keys of a batch that are ordered by their shards at once.
const BATCH: usize = INSERTED_AT_ONCE;

/// A table and its lock, on cache lines of their own.
#[repr(align(64))]
struct Shard(RwLock<Table>);

impl Shard {
    fn new(table: Table) -> Self {
        Self(RwLock::new(table))
    }

    /// A table whose thread panicked is whole: its code does not panic.
    #[inline]
    fn read(&self) -> impl Deref<Target = Table> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn write(&self) -> impl DerefMut<Target = Table> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A growing table for many threads.
pub(crate) struct Sharded {
    /// Of one table for the whole hash space.
    schedule: Arc<Schedule>,
    removable: bool,
    shards: Box<[Shard]>,
}

/// The shard of a key, and its hash there.
#[inline(always)]
fn place(key: KeyHash) -> (usize, KeyHash) {
    let key = u128::from(key);
    ((key >> (u128::BITS - SHARD_BITS)) as usize, KeyHash::from(key << SHARD_BITS))
}

impl Sharded {
    /// An empty table for a rate, with memory for some keys; `None` for a rate that it cannot have.
    pub(crate) fn new(rate: f64, keys: u64, removable: bool) -> Option<Result<Self, BuildError>> {
        Some(Self::of_schedule(Schedule::new(rate, keys)?, removable))
    }

    fn of_schedule(schedule: Schedule, removable: bool) -> Result<Self, BuildError> {
        Levels::new(schedule.first()).check_memory()?;
        let (of_shard, schedule) = (Arc::new(schedule.of_shard(SHARD_BITS)), Arc::new(schedule));
        let shard = |_| Table::new(of_shard.clone(), removable).map(Shard::new);
        let shards = (0..SHARDS).map(shard).collect::<Result<_, _>>()?;
        Ok(Self { schedule, removable, shards })
    }

    #[inline(always)]
    fn shard(&self, number: usize) -> &Shard {
        &self.shards[number % SHARDS]
    }

    /// Whether every insert is stored, so that keys can be removed.
    pub(crate) const fn is_removable(&self) -> bool {
        self.removable
    }

    /// Inserts a key. If memory is short, nothing has been stored.
    #[inline]
    pub(crate) fn insert(&self, key: KeyHash) -> Result<Insertion, BuildError> {
        let (shard, key) = place(key);
        self.shard(shard).write().insert(Prefix::of_key(key))
    }

    /// Whether the key may have been inserted.
    #[inline]
    pub(crate) fn contains(&self, key: KeyHash) -> bool {
        let (shard, key) = place(key);
        self.shard(shard).read().contains(Prefix::of_key(key))
    }

    /// Removes one copy of a key; returns whether there was one.
    pub(crate) fn remove(&self, key: KeyHash) -> bool {
        let (shard, key) = place(key);
        self.shard(shard).write().remove(Prefix::of_key(key))
    }

    /// Inserts keys, those of a shard under one lock, and those of one shard in order; returns how many were new.
    pub(crate) fn insert_batch(&self, keys: &[KeyHash]) -> Result<u64, BuildError> {
        let mut new = 0;
        for keys in keys.chunks(BATCH) {
            for (shard, hashes, _) in Batch::new(keys).shards() {
                let mut table = self.shard(shard).write();
                let before = table.elements;
                let inserted = table.insert_batch(hashes);
                new += table.elements - before;
                inserted?;
            }
        }
        Ok(new)
    }

    /// Calls `answer` with the answers for each 64 keys, and the number of these. The keys of a shard are looked up
    /// under one lock.
    pub(crate) fn contains_batch(&self, keys: &[KeyHash], mut answer: impl FnMut(u64, usize)) {
        for keys in keys.chunks(BATCH) {
            let mut answers = [0; BATCH / 64];
            for (shard, hashes, mut numbers) in Batch::new(keys).shards() {
                self.shard(shard).read().contains_batch(hashes, |word, count| {
                    let (these, later) = numbers.split_at(count);
                    for (bit, &number) in these.iter().enumerate() {
                        answers[usize::from(number / 64)] |= (word >> bit & 1) << (number % 64);
                    }
                    numbers = later;
                });
            }
            keys.chunks(64).zip(answers).for_each(|(keys, word)| answer(word, keys.len()));
        }
    }

    /// Inserts of new keys, less removals.
    pub(crate) fn elements(&self) -> u64 {
        self.shards.iter().map(|shard| shard.read().elements).sum()
    }

    /// Bytes of blocks, of listed strings, and of everything else.
    pub(crate) fn bytes(&self) -> [u64; 3] {
        let (mut blocks, mut listed) = (0, 0);
        for shard in &self.shards {
            let table = shard.read();
            blocks += table.bytes();
            listed += table.listed.bytes();
        }
        [blocks, listed, (size_of::<Self>() + size_of_val(&*self.shards)) as u64]
    }

    /// The most that one insert did besides storing its key.
    pub(crate) fn longest_insert(&self) -> GrowthWork {
        let longest = |shard: &Shard| shard.read().longest;
        self.shards.iter().map(longest).fold(GrowthWork::default(), GrowthWork::max)
    }

    /// Removes all keys.
    pub(crate) fn clear(&mut self) {
        self.shards.iter().for_each(|shard| shard.write().clear());
    }

    /// Inserts all strings of a table, each under a lock of its own.
    pub(super) fn merge(&self, other: &Table) -> Result<(), BuildError> {
        // Strings that stand for no key of their own were copied when the table grew.
        let mut uncounted = other.elements;
        let merged = other.for_each(|string, copies| {
            let mut merged = Ok(());
            string.extended(SHARD_BITS, &mut |part| {
                let mut table = self.shard(part.list(SHARD_BITS) as usize).write();
                if merged.is_ok() {
                    merged = table.merge_string(part.after(SHARD_BITS), copies);
                    let counted = copies.min(uncounted);
                    table.elements += counted;
                    uncounted -= counted;
                }
            });
            merged.map_or_else(ControlFlow::Break, ControlFlow::Continue)
        });
        if let ControlFlow::Break(error) = merged {
            return Err(error);
        }
        self.shard(0).write().elements += uncounted;
        Ok(())
    }

    /// One table of all keys whose inserts have returned when the copy begins, and perhaps of some that are inserted
    /// meanwhile.
    pub(super) fn snapshot(&self) -> Result<Table, BuildError> {
        let mut margin = 0;
        loop {
            let mut elements = 0;
            let mut step = 0;
            for shard in &self.shards {
                let table = shard.read();
                elements += table.elements;
                step = step.max(table.current.geometry.step);
            }
            let step = u64::from(step + SHARD_BITS * STEPS) + margin;
            // No table has so many steps.
            let geometry = self.schedule.geometry_at(step);
            let geometry = geometry.ok_or(BuildError::OutOfMemory { bytes: u64::MAX })?;
            let mut copy =
                Table::over(self.schedule.clone(), self.removable, Levels::new(geometry));
            copy.current.allocate()?;
            copy.elements = elements;
            if self.copy_to(&mut copy) {
                return Ok(copy);
            }
            // The shards have outgrown the copy before it was made. The next one has room for more.
            margin += 1;
        }
    }

    /// Copies all strings to an empty table. Returns `false` if a shard has become too large for that.
    fn copy_to(&self, copy: &mut Table) -> bool {
        let kernels = copy.kernels;
        let geometry = copy.current.geometry;
        let list_bits = geometry.list_bits - SHARD_BITS;
        for block in 0..geometry.blocks() {
            let lists = copy.current.lists_of(block);
            let mut at = lists.start;
            while at < lists.end {
                let shard = at >> list_bits;
                let first = shard << list_bits;
                let end = lists.end.min(first + (1 << list_bits));
                let before = (at - lists.start) as u32;
                let piece = Piece { lists: at - first..end - first, list_bits, block, before };
                let source = self.shard(shard as usize).read();
                if !fits(&source.current, &copy.current) {
                    return false;
                }
                kernels.gather(copy, &source, &piece);
                at = end;
            }
            kernels.fill_block(copy, block);
        }
        true
    }

    /// Shares the strings of a table.
    pub(super) fn from_table(table: &Table) -> Result<Self, BuildError> {
        let schedule = Arc::new(table.schedule.of_shard(SHARD_BITS));
        let step = table.current.geometry.step.saturating_sub(SHARD_BITS * STEPS);
        // No table has so many steps.
        let geometry = schedule.geometry_at(step.into());
        let geometry = geometry.ok_or(BuildError::OutOfMemory { bytes: u64::MAX })?;
        let mut uncounted = table.elements;
        let mut shards = Vec::new();
        for number in 0..SHARDS as u64 {
            let mut shard = Table::over(schedule.clone(), table.removable, Levels::new(geometry));
            shard.current.allocate()?;
            for block in 0..geometry.blocks() {
                let Range { start, end } = shard.current.lists_of(block);
                let first = number << geometry.list_bits;
                let (lists, list_bits) =
                    (first + start..first + end, geometry.list_bits + SHARD_BITS);
                let piece = Piece { lists, list_bits, block, before: 0 };
                let kernels = shard.kernels;
                kernels.gather(&mut shard, table, &piece);
                kernels.fill_block(&mut shard, block);
            }
            let listed: u64 = shard.listed.iter().map(|(_, copies)| copies).sum();
            let is_last = number + 1 == SHARDS as u64;
            shard.elements =
                if is_last { uncounted } else { uncounted.min(shard.strings + listed) };
            uncounted -= shard.elements;
            shards.push(Shard::new(shard));
        }
        Ok(Self {
            schedule: table.schedule.clone(),
            removable: table.removable,
            shards: shards.into(),
        })
    }
}

/// Whether the strings of a shard fit into a table of the whole hash space.
fn fits(shard: &Levels, table: &Levels) -> bool {
    shard.geometry.list_bits + SHARD_BITS <= table.geometry.list_bits
        && shard.lengths().end + SHARD_BITS <= table.lengths().end
        // The other levels have room for as many more as one step has.
        && shard.geometry.step + SHARD_BITS * STEPS <= table.geometry.step + 1
}

/// Keys of a batch, ordered by their shards.
struct Batch {
    /// Their hashes in the shards.
    hashes: [KeyHash; BATCH],
    /// Their numbers in the batch.
    numbers: [u16; BATCH],
    /// Where the keys of each shard end.
    ends: [u16; SHARDS],
}

impl Batch {
    /// For at most [`BATCH`] keys.
    fn new(keys: &[KeyHash]) -> Self {
        let mut ends = [0; SHARDS];
        keys.iter().for_each(|&key| ends[place(key).0] += 1);
        let mut before = 0;
        for end in &mut ends {
            before += core::mem::replace(end, before);
        }
        let (mut hashes, mut numbers) = ([KeyHash::from_u64(0); BATCH], [0; BATCH]);
        for (number, &key) in (0..).zip(keys) {
            let (shard, hash) = place(key);
            let at = usize::from(ends[shard]);
            (hashes[at], numbers[at]) = (hash, number);
            ends[shard] += 1;
        }
        Self { hashes, numbers, ends }
    }

    /// The shards that have keys, and their keys: hashes and numbers.
    fn shards(&self) -> impl Iterator<Item = (usize, &[KeyHash], &[u16])> {
        let mut start = 0;
        let shards = self.ends.iter().enumerate().map(move |(shard, &end)| {
            let keys = core::mem::replace(&mut start, usize::from(end))..usize::from(end);
            (shard, &self.hashes[keys.clone()], &self.numbers[keys])
        });
        shards.filter(|(_, hashes, _)| !hashes.is_empty())
    }
}

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
