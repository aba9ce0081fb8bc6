//! Many keys at once: blocks are prefetched, level by level.
//!
//! *Lookups* test the first blocks of 64 keys without a branch: two bits per key tell whether the block may
//! hold it, and whether it may have been sent on. Few keys need more.
//!
//! *Inserts* take all keys through the first level before what it sends on arrives at the next: the result
//! is the same in any order. A level can be divided among threads by blocks; each of them scans all keys and
//! inserts those of its own blocks.

use alloc::alloc::handle_alloc_error;
use alloc::vec::Vec;
use core::alloc::Layout;

use super::insert::{Arrived, Visit};
use super::{Fingerprints, Plan};
use crate::block::isa::{Nearness, Target, prefetch};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::overflow::ListFull;
use crate::raw::batch::set_bits;
use crate::raw::ledger::{Ledger, Record};
use crate::raw::threads::{Part, each_by_a_thread};
use crate::storage::{Line, Storage, WORDS_PER_LINE};
use equibloom_layout::WhenFull;

/// Keys tested at once, and answers per word.
const WORD: usize = u64::BITS as usize;
/// How many inserts ahead a block is prefetched.
const AHEAD: usize = 16;
/// Keys that are scanned before the worker's own are inserted. (Tests need several.)
const CHUNK: usize = if cfg!(test) { 1 << 6 } else { 1 << 10 };
/// Keys that pass all levels together: bounds the memory beside the filter. (Tests need several.)
const SLAB: usize = if cfg!(test) { 1 << 10 } else { 1 << 22 };
/// With less room in the list, keys are inserted one by one.
const FEW: usize = 32;
/// With fewer keys per thread, fewer threads are started.
const KEYS_PER_THREAD: usize = if cfg!(test) { 1 << 6 } else { 1 << 12 };

/// What came out of a part of a level.
#[derive(Default)]
pub(super) struct Outcome {
    /// Entries that got a slot.
    added: u64,
    /// The keys of what was sent on.
    sent_on: Vec<KeyHash>,
    /// Entries for the list that are not sent on.
    repeats: Vec<u64>,
}

impl Fingerprints {
    pub(in crate::raw) fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        if self.ledger.is_overloaded() {
            return self.contains_each(keys, found);
        }
        self.inserts.contains_batch(self, keys, found);
    }

    /// Inserts keys with up to `threads` threads; returns how many entries more the filter holds.
    ///
    /// # Errors
    /// The list is full and refuses a key, which has changed nothing. The keys before it are stored, and all that
    /// their first blocks have room for.
    pub(in crate::raw) fn insert_batch(
        &mut self,
        keys: &[KeyHash],
        threads: usize,
    ) -> Result<u64, FullError> {
        let before = self.ledger.elements;
        for slab in keys.chunks(SLAB) {
            self.insert_slab(slab, threads).map_err(|ListFull| self.ledger.full())?;
        }
        Ok(self.ledger.elements - before)
    }

    /// Inserts keys in parts that the list has room for, even if all of them came there.
    fn insert_slab(&mut self, keys: &[KeyHash], threads: usize) -> Result<(), ListFull> {
        let room = |filter: &Self| filter.ledger.overflow.room().min(usize::MAX as u64) as usize;
        if keys.len() <= room(self) || self.plan.when_full == WhenFull::Saturate {
            self.pass_levels(keys, threads);
            return Ok(());
        }
        if self.ledger.is_overloaded() {
            return self.insert_one_by_one(keys);
        }
        // Most keys find room in their first blocks.
        let outcomes = self.pass_level(0, &[], keys, threads, true);
        let added = outcomes.iter().fold(0, |sum, outcome| sum + outcome.added);
        self.ledger.elements = self.ledger.elements.saturating_add(added);
        let others = in_order(keys, outcomes);
        let mut others = &others[..];
        while room(self) >= FEW.min(others.len()) && !others.is_empty() {
            let (some, later) = others.split_at(room(self).min(others.len()));
            self.pass_levels(some, threads);
            others = later;
        }
        self.insert_one_by_one(others)
    }

    /// Takes keys through all levels. The list must have room for as many, or grow.
    fn pass_levels(&mut self, keys: &[KeyHash], threads: usize) {
        let mut sent_on: Vec<Vec<KeyHash>> = Vec::new();
        let mut repeats = Vec::new();
        for level in 0..self.plan.count {
            let keys = if level == 0 { keys } else { &[] };
            let outcomes = self.pass_level(level, &sent_on, keys, threads, false);
            sent_on.clear();
            for outcome in outcomes {
                let elements = &mut self.ledger.elements;
                *elements = elements.saturating_add(outcome.added);
                sent_on.push(outcome.sent_on);
                repeats.extend(outcome.repeats);
            }
        }
        let left = sent_on.iter().flatten().map(|key| key.candidate(0));
        let Self { plan, ledger, .. } = self;
        let mut ledger = ledger;
        for entry in left.chain(repeats) {
            match ledger.list(entry, !plan.multiset, plan.when_full, false) {
                Ok(insertion) if insertion.is_new() => ledger.count(0),
                Ok(_) => {}
                // Memory is short. The program aborts, as collections do, rather than lose an entry.
                Err(ListFull) => handle_alloc_error(Layout::new::<Line>()),
            }
        }
    }

    /// Takes keys through one level, by one thread for each of its parts.
    fn pass_level(
        &mut self,
        level: usize,
        sent_on: &[Vec<KeyHash>],
        keys: &[KeyHash],
        threads: usize,
        only_with_room: bool,
    ) -> Vec<Outcome> {
        let count = keys.len() + sent_on.iter().map(Vec::len).sum::<usize>();
        let threads = (count / KEYS_PER_THREAD).clamp(1, threads.max(1));
        let Self { plan, words, inserts, .. } = self;
        let parts = Part::all(words, WORDS_PER_LINE, plan.levels[level], threads);
        let run = |part| inserts.insert_level(plan, level, part, sent_on, keys, only_with_room);
        each_by_a_thread(parts.collect(), run)
    }
}

/// The keys that were sent on, in their order among all: where they go may depend on it.
fn in_order(keys: &[KeyHash], mut outcomes: Vec<Outcome>) -> Vec<KeyHash> {
    if let [outcome] = &mut outcomes[..] {
        return core::mem::take(&mut outcome.sent_on);
    }
    let mut parts: Vec<_> =
        outcomes.into_iter().map(|outcome| outcome.sent_on.into_iter().peekable()).collect();
    let mut next = |key| parts.iter_mut().find_map(|part| part.next_if_eq(key));
    keys.iter().filter_map(&mut next).collect()
}

/// Inserts the keys whose blocks belong to a part of a level; if `only_with_room`, those that displace no entry, and
/// the others are what is sent on.
#[inline(always)]
pub(super) fn insert_level<T: Target>(
    t: T,
    plan: &Plan,
    level: usize,
    Part { first, lines }: Part<'_>,
    sent_on: &[Vec<KeyHash>],
    keys: &[KeyHash],
    only_with_room: bool,
) -> Outcome {
    let first = first as usize;
    let mut outcome = Outcome::default();
    let blocks = plan.levels[level % plan.levels.len()];
    let is_whole = lines.len() as u64 == blocks.size;
    let mut some = alloc::vec![KeyHash::from_u64(0); if is_whole { 0 } else { CHUNK }];
    let place_of = |key: KeyHash| blocks.block_of(key.candidate(0)).0 as usize;
    let start = lines.as_ptr();
    let fetch = |key: &KeyHash| {
        let line = start.wrapping_add(place_of(*key).wrapping_sub(first));
        prefetch(line.cast(), Nearness::First);
    };
    let lists = sent_on.iter().map(Vec::as_slice).chain([keys]);
    // A part that is the whole level needs no selection.
    let chunk_size = if is_whole { usize::MAX } else { CHUNK };
    for chunk in lists.flat_map(|keys| keys.chunks(chunk_size)) {
        let own = if is_whole {
            chunk
        } else {
            let mut count = 0;
            for &key in chunk {
                // The modulo removes the bounds check.
                some[count % CHUNK] = key;
                count += usize::from(place_of(key).wrapping_sub(first) < lines.len());
            }
            &some[..count.min(CHUNK)]
        };
        own.iter().take(AHEAD).for_each(fetch);
        for (index, &key) in own.iter().enumerate() {
            own.get(index + AHEAD).into_iter().for_each(fetch);
            let Some(visit) = Visit::of(t, plan, level, key) else { continue };
            let Some(line) = lines.get_mut(visit.block as usize - first) else { continue };
            let arrived = if only_with_room {
                visit.take_room(t, plan, line, key)
            } else {
                visit.arrive(t, plan, line)
            };
            match arrived {
                Arrived::Added => outcome.added += 1,
                Arrived::Present => {}
                Arrived::Left { onward, .. } => outcome.sent_on.push(onward),
                Arrived::Listed { entry } => outcome.repeats.push(entry),
            }
        }
    }
    outcome
}

/// Keys waiting for a block of a later level.
struct Waiting {
    len: usize,
    keys: [KeyHash; 2 * WORD],
    /// Their indices in the batch.
    places: [usize; 2 * WORD],
}

impl Waiting {
    /// The caller leaves room; the modulo removes the bounds check.
    #[inline(always)]
    fn push(&mut self, key: KeyHash, place: usize) {
        let at = self.len % self.keys.len();
        self.keys[at] = key;
        self.places[at] = place;
        self.len += 1;
    }
}

/// Looks up keys: bit `i % 64` of word `i / 64` of `found` becomes the answer for key `i`.
#[inline(always)]
pub(super) fn contains_batch<T: Target>(
    t: T,
    filter: &Fingerprints,
    keys: &[KeyHash],
    found: &mut [u64],
) {
    let Fingerprints { plan: Plan { shape, multiset, levels, .. }, words, .. } = filter;
    let block_of = |key: KeyHash| levels[0].first_block_of(key.candidate(0));
    let fetch = |key: KeyHash| words.prefetch(block_of(key).0 as usize, Nearness::Second);
    let key = KeyHash::from_u64(0);
    let mut waiting = Waiting { len: 0, keys: [key; 2 * WORD], places: [0; 2 * WORD] };
    keys.iter().take(WORD).for_each(|&key| fetch(key));
    for (word, chunk) in keys.chunks(WORD).enumerate().take(found.len()) {
        let later = keys.get((word + 1) * WORD..).unwrap_or_default();
        let (mut may_hold, mut may_go_on) = (0, 0);
        for (bit, &key) in chunk.iter().enumerate() {
            if let Some(&later) = later.get(bit) {
                fetch(later);
            }
            let line = &words[block_of(key).0 as usize];
            let byte = shape.byte_of::<T>(key);
            may_hold |= u64::from(shape.may_hold(t, line, byte)) << bit;
            may_go_on |= u64::from(shape.may_have_sent_on(t, line, byte)) << bit;
        }
        let mut holds = 0;
        for bit in set_bits(may_hold) {
            let key = chunk[bit % WORD];
            let line = &words[block_of(key).0 as usize];
            holds |= u64::from(shape.holds(t, line, shape.entry_of(t, key))) << bit;
        }
        for bit in set_bits(may_go_on & !holds) {
            let key = chunk[bit % WORD];
            let block = block_of(key).0;
            let entry = shape.entry_of(t, key);
            if shape.sends_on(t, &words[block as usize], entry.byte(), *multiset) {
                wait(filter, &mut waiting, 1, entry.onward(block), word * WORD + bit);
            }
        }
        found[word] = holds;
        if waiting.len > WORD {
            finish(t, filter, &mut waiting, found);
        }
    }
    finish(t, filter, &mut waiting, found);
}

/// Prefetches a key's block of a level, if there are so many levels, and lets the key wait for it.
#[inline(always)]
fn wait(filter: &Fingerprints, waiting: &mut Waiting, level: usize, key: KeyHash, place: usize) {
    if let Some(level) = filter.plan.levels().get(level) {
        let block = level.block_of(key.candidate(0));
        filter.words.prefetch(block.0 as usize, Nearness::Second);
    }
    waiting.push(key, place);
}

/// Finishes the lookups of all waiting keys, which are at the second level.
#[inline(always)]
fn finish<T: Target>(t: T, filter: &Fingerprints, waiting: &mut Waiting, found: &mut [u64]) {
    let Fingerprints { plan: Plan { shape, multiset, .. }, words, ledger, .. } = filter;
    let mut note = |place: usize| {
        if let Some(word) = found.get_mut(place / WORD) {
            *word |= 1 << (place % WORD);
        }
    };
    for (number, level) in filter.plan.levels().iter().enumerate().skip(1) {
        let count = core::mem::take(&mut waiting.len).min(waiting.keys.len());
        for at in 0..count {
            let (key, place) = (waiting.keys[at], waiting.places[at]);
            let block = level.block_of(key.candidate(0)).0;
            let (line, entry) = (&words[block as usize], shape.entry_of(t, key));
            if shape.holds(t, line, entry) {
                note(place);
            } else if shape.sends_on(t, line, entry.byte(), *multiset) {
                // Keys move up in the same arrays: no more are written than were read.
                wait(filter, waiting, number + 1, entry.onward(block), place);
            }
        }
    }
    let count = core::mem::take(&mut waiting.len).min(waiting.keys.len());
    for at in 0..count {
        if ledger.lists(waiting.keys[at].candidate(0)) {
            note(waiting.places[at]);
        }
    }
}
