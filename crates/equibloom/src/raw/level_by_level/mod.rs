//! Many keys at once, level by level, with the bytes of one insert after the other.
//!
//! What happens to a key at a block depends only on the keys that reached the block before it. So all keys
//! can pass the first level, in order, before the rejected ones pass the next: a simple step for each key,
//! without a walk. And a level can be divided among threads by blocks: each thread scans all keys in order
//! and handles those of its own blocks. At the end, one thread adds the remaining keys to the overflow
//! list.
//!
//! ```text
//! for each slab of keys:
//!     for each level:
//!         divide the table among the threads; each of them:
//!             for each chunk of the slab:
//!                 list the pending keys of its blocks
//!                 insert them, or keep them pending
//!     add the keys still pending to the overflow list
//! ```
//!
//! *Slabs* bound the memory beside the filter. They change nothing: a level receives the keys of the first
//! slab before those of the second, in whatever order the levels run. *Chunks* stay in a cache between the
//! two steps. Every thread scans every key: a small part of an insert.
//!
//! This needs levels that share no block. Where they do (sequential, two-choice, one-plus-alpha), the keys
//! are inserted one by one. The same applies once the overflow list is full: then keys are refused, or
//! saturate blocks, in order. A slab that might fill the list keeps a [journal](scratch::Journal), by which it is undone.

mod pass;
mod scratch;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::Balanced;
use super::ledger::{Ledger, Record};
use super::threads::{Part, each_by_a_thread};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::overflow::ListFull;
use crate::placement::Choose;
use equibloom_layout::WhenFull;
pub(super) use pass::pass;
pub(super) use scratch::{PendingKeys, Scratch};

/// How keys are divided into batches. Affects time and memory only.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchSizes {
    /// Keys that pass all levels together.
    slab: usize,
    /// Maximum words of a slab's journal: if it is kept, slabs are smaller.
    journal: usize,
    /// With fewer keys per worker, fewer workers are started and no scratch is allocated.
    thread: usize,
}

impl BatchSizes {
    /// Slabs take some tenths of a second, so that threads rarely wait for one that is slowed down for a
    /// moment, and have 4 MiB of pending keys; a worker takes at least a tenth of a millisecond; a journal
    /// has 4 MiB.
    pub(super) const COMMON: Self = Self { slab: 1 << 24, journal: 1 << 19, thread: 1 << 11 };
}

impl<R: Choose> Balanced<R> {
    /// Inserts keys as if one by one, with up to `threads` threads; returns how many were new.
    pub(super) fn insert_batch(
        &mut self,
        keys: &[KeyHash],
        threads: usize,
        sizes: BatchSizes,
    ) -> Result<u64, FullError> {
        let levels = self.plan.levels.as_slice();
        let share_no_block =
            levels.windows(2).all(|two| two[0].offset + two[0].size <= two[1].offset);
        let are_many = keys.len() >= sizes.thread && (threads > 1 || keys.len() <= self.room());
        if !share_no_block || !self.ledger.budget.is_unlimited() || !are_many {
            return self.insert_one_by_one(keys);
        }
        let mut new = 0;
        let mut pending = PendingKeys::default();
        let mut scratch: Vec<_> = (0..threads.max(1)).map(|_| Scratch::default()).collect();
        let mut rest = keys;
        while !rest.is_empty() {
            // If all keys fit into the list, no journal is needed.
            let most = rest.len().min(sizes.slab).max(1);
            let without_journal = self.room().min(most);
            let with_journal = (sizes.journal / self.plan.shape.words_per_block()).clamp(1, most);
            let (slab, others) = rest.split_at(without_journal.max(with_journal));
            for own in &mut scratch {
                own.journal.begin(without_journal < with_journal);
            }
            pending.set_to(true, slab.len());
            match self.insert_slab(slab, &mut pending, sizes.thread, &mut scratch)? {
                Some(inserted) => new += inserted,
                None => return Ok(new + self.insert_one_by_one(rest)?),
            }
            rest = others;
        }
        Ok(new)
    }

    /// Keys that the overflow list can hold without refusing one or saturating a block.
    fn room(&self) -> usize {
        if !R::REJECTS {
            return usize::MAX;
        }
        let list = &self.ledger.overflow;
        let room = list.capacity().saturating_sub(list.len());
        usize::try_from(room).unwrap_or(usize::MAX)
    }

    /// Inserts keys level by level, with one worker for each scratch; returns how many were new. If the overflow
    /// list cannot hold its part of them, everything is undone, and the result is `None`.
    fn insert_slab(
        &mut self,
        keys: &[KeyHash],
        pending: &mut PendingKeys,
        keys_for_a_thread: usize,
        scratch: &mut [Scratch],
    ) -> Result<Option<u64>, FullError> {
        let (mut placed, mut reads) = (0, 0);
        for number in 0..self.plan.levels.as_slice().len() {
            let going = pending.count();
            if going == 0 {
                break;
            }
            let threads = (going / keys_for_a_thread.max(1)).clamp(1, scratch.len());
            let scratch = &mut scratch[..threads];
            let placed_here = self.pass_level(number, keys, pending, scratch);
            pending.set_to(false, keys.len());
            for (own, here) in scratch.iter().zip(placed_here) {
                pending.join(&own.sent_on);
                placed += here;
                reads += here * (number as u64 + 1);
            }
        }
        if pending.count() > self.room() {
            let Self { plan, words, .. } = self;
            scratch.iter().for_each(|own| own.journal.undo(&plan.shape, words));
            return Ok(None);
        }
        self.ledger.elements = self.ledger.elements.saturating_add(placed);
        let used = &mut self.ledger.budget.used;
        *used = used.saturating_add(reads);
        let levels = self.plan.levels.as_slice().len() as u32;
        let mut ledger = &mut self.ledger;
        for place in pending.places() {
            let entry = keys[place].overflow_entry();
            let listed = ledger.list(entry, pending.reachable(place), WhenFull::Refuse, false);
            // There is room; only memory for the list can be short.
            if listed.map_err(|ListFull| ledger.full())?.is_new() {
                ledger.spend(levels);
                ledger.count(levels);
                placed += 1;
            }
        }
        Ok(Some(placed))
    }

    /// Takes the pending keys through one level, with one worker for each scratch; how many keys each worker
    /// has placed.
    fn pass_level(
        &mut self,
        number: usize,
        keys: &[KeyHash],
        pending: &PendingKeys,
        scratch: &mut [Scratch],
    ) -> Vec<u64> {
        let Self { plan, words, inserts, .. } = self;
        let level = plan.levels.level(number);
        let parts = Part::all(words, plan.shape.words_per_block(), level, scratch.len());
        let run = |(part, scratch): (Part<'_>, &mut Scratch)| {
            scratch.sent_on.set_to(false, keys.len());
            inserts.pass(plan, number, keys, pending, part, scratch)
        };
        each_by_a_thread(parts.zip(scratch).collect(), run)
    }
}
