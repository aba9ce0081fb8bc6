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
use core::iter;
use core::ops::RangeInclusive;

use super::insert::{Arrived, Visit};
use super::{Fingerprints, Plan};
use crate::block::isa::{ANY, Nearness, Target, prefetch};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::overflow::ListFull;
use crate::raw::batch::set_bits;
use crate::raw::ledger::{Ledger, Record};
use crate::raw::threads::{Part, each_by_a_thread};
use crate::storage::{Line, Storage, WORDS_PER_LINE};
use equibloom_layout::{MAX_FINGERPRINT_SUBTABLES, WhenFull};

/// Keys tested at once, and answers per word.
const WORD: usize = u64::BITS as usize;
/// How many inserts ahead a block is prefetched.
const AHEAD: usize = 16;
/// Keys that are scanned before the worker's own are inserted. (Tests need several.)
const CHUNK: usize = if cfg!(test) { 1 << 6 } else { 1 << 12 };
/// Keys that pass all levels together: half as many as there are free slots, so that the first are seldom too many for
/// the list, but at least and at most so many. The memory for the most stays in the cache.
const MIN_SLAB: u64 = 1 << 8;
const MAX_SLAB: u64 = 1 << 17;
/// If they are too many for the list, as many parts are tried one after the other.
const PARTS: usize = 8;
/// Fewer keys are inserted one by one.
const FEW: usize = 32;
/// With fewer keys per thread, fewer threads are started.
const KEYS_PER_THREAD: usize = if cfg!(test) { 1 << 6 } else { 1 << 12 };

/// What came out of a part of a level.
#[derive(Default)]
pub(super) struct Outcome {
    /// Number of entries that got a slot.
    added: u64,
    /// The keys of what was sent on.
    sent_on: Vec<KeyHash>,
    /// Entries for the list that are not sent on.
    repeats: Vec<u64>,
    /// To undo it: the keys that got no free slot, and full blocks before each change.
    others: Vec<KeyHash>,
    copies: Vec<(u64, Line)>,
}

/// The outcomes of the parts of each level, in memory that is used again.
type Outcomes = [Vec<Outcome>; MAX_FINGERPRINT_SUBTABLES as usize];

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
    /// The list is full and refuses a key. Only the keys before it are stored.
    pub(in crate::raw) fn insert_batch(
        &mut self,
        keys: &[KeyHash],
        threads: usize,
    ) -> Result<u64, FullError> {
        let before = self.ledger.elements;
        let slots = self.words.len() as u64 * u64::from(self.plan.shape.slots());
        let mut outcomes = Outcomes::default();
        let mut later = keys;
        while !later.is_empty() {
            let free = slots.saturating_sub(self.ledger.elements);
            let slab = (free / 2).clamp(MIN_SLAB, MAX_SLAB) as usize;
            let (some, others) = later.split_at(slab.min(later.len()));
            self.insert_slab(some, threads, &mut outcomes)
                .map_err(|ListFull| self.ledger.full())?;
            later = others;
        }
        Ok(self.ledger.elements - before)
    }

    /// Inserts keys; if they are too many for the list, one part after the other, up to the first key that it refuses.
    fn insert_slab(
        &mut self,
        keys: &[KeyHash],
        threads: usize,
        outcomes: &mut Outcomes,
    ) -> Result<(), ListFull> {
        if keys.len() <= FEW || self.ledger.is_overloaded() {
            return self.insert_one_by_one(keys);
        }
        self.pass_levels(keys, threads, outcomes).or_else(|ListFull| {
            let mut parts = keys.chunks(keys.len().div_ceil(PARTS));
            parts.try_for_each(|part| self.insert_slab(part, threads, outcomes))
        })
    }

    /// Takes keys through all levels.
    ///
    /// # Errors
    /// The list has too little room. Nothing has changed.
    fn pass_levels(
        &mut self,
        keys: &[KeyHash],
        threads: usize,
        outcomes: &mut Outcomes,
    ) -> Result<(), ListFull> {
        let Plan { count, multiset, when_full, .. } = self.plan;
        let may_fail =
            keys.len() as u64 > self.ledger.overflow.room() && when_full == WhenFull::Refuse;
        let mut arriving: &[Outcome] = &[];
        for (level, outcomes) in outcomes.iter_mut().enumerate().take(count) {
            let keys = if level == 0 { keys } else { &[] };
            self.pass_level(level, arriving, keys, threads, may_fail, outcomes);
            arriving = outcomes;
        }
        let Self { plan, ledger, .. } = self;
        let outcomes = &outcomes[..count];
        let last = outcomes.iter().next_back().into_iter().flatten();
        let left = last.flat_map(|part| &part.sent_on).map(|key| key.candidate(0));
        let repeats = outcomes.iter().flatten().flat_map(|part| part.repeats.iter().copied());
        let mut listed = Vec::new();
        for entry in left.chain(repeats) {
            match { &mut *ledger }.list(entry, !multiset, plan.when_full, false) {
                Ok(insertion) if insertion.is_new() => listed.push(entry),
                Ok(_) => {}
                Err(ListFull) if may_fail => {
                    self.undo(keys, outcomes, &listed);
                    return Err(ListFull);
                }
                // Memory is short. The program aborts, as collections do, rather than lose an entry.
                Err(ListFull) => handle_alloc_error(Layout::new::<Line>()),
            }
        }
        let added = outcomes.iter().flatten().map(|part| part.added).sum::<u64>();
        ledger.elements = ledger.elements.saturating_add(added + listed.len() as u64);
        Ok(())
    }

    /// Takes back all changes of blocks by these keys, and what has been listed.
    #[cold]
    fn undo(&mut self, keys: &[KeyHash], outcomes: &[Vec<Outcome>], listed: &[u64]) {
        let Self { plan, words, ledger, .. } = self;
        let mut lists = alloc::vec![keys];
        for (level, parts) in outcomes.iter().enumerate() {
            // A block takes no more keys after its first copy.
            for (block, copy) in parts.iter().flat_map(|part| part.copies.iter().rev()) {
                words[*block as usize] = *copy;
            }
            let mut others: Vec<_> =
                parts.iter().map(|part| part.others.iter().peekable()).collect();
            for &key in lists.iter().copied().flatten() {
                let was_added = !others.iter_mut().any(|part| part.next_if_eq(&&key).is_some());
                if was_added && let Some(visit) = Visit::of(ANY, plan, level, key) {
                    plan.shape.remove(&mut words[visit.block as usize], visit.entry);
                }
            }
            lists = parts.iter().map(|part| &part.sent_on[..]).collect();
        }
        for &entry in listed {
            ledger.overflow.remove(entry);
        }
    }

    /// Takes keys through one level, by one thread for each of its parts.
    fn pass_level(
        &mut self,
        level: usize,
        arriving: &[Outcome],
        keys: &[KeyHash],
        threads: usize,
        undoable: bool,
        outcomes: &mut Vec<Outcome>,
    ) {
        let count = keys.len() + arriving.iter().map(|part| part.sent_on.len()).sum::<usize>();
        let threads = (count / KEYS_PER_THREAD).clamp(1, threads.max(1));
        let Self { plan, words, inserts, .. } = self;
        let parts = Part::all(words, WORDS_PER_LINE, plan.levels[level], threads);
        let used = core::mem::take(outcomes).into_iter().chain(iter::repeat_with(Outcome::default));
        let run =
            |(part, used)| inserts.insert_level(plan, level, part, arriving, keys, undoable, used);
        *outcomes = each_by_a_thread(parts.zip(used).collect(), run);
    }
}

/// Inserts the keys whose blocks belong to a part of a level.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(super) fn insert_level<T: Target>(
    t: T,
    plan: &Plan,
    level: usize,
    Part { first, lines }: Part<'_>,
    arriving: &[Outcome],
    keys: &[KeyHash],
    undoable: bool,
    used: Outcome,
) -> Outcome {
    let first = first as usize;
    let Outcome { mut sent_on, mut repeats, mut others, mut copies, .. } = used;
    sent_on.clear();
    repeats.clear();
    others.clear();
    copies.clear();
    let mut added = 0;
    let blocks = plan.levels[level % plan.levels.len()];
    // A part that is the whole level needs no selection.
    let is_whole = lines.len() as u64 == blocks.size;
    let (chunk_size, space) = if is_whole { (usize::MAX, 0) } else { (CHUNK, CHUNK) };
    let mut selected = alloc::vec![KeyHash::from_u64(0); space];
    let own_words = blocks.words_of(first as u64, lines.len() as u64);
    let start = lines.as_ptr();
    let fetch = |key: &KeyHash| {
        let place = blocks.block_of(key.candidate(0)).0 as usize;
        prefetch(start.wrapping_add(place.wrapping_sub(first)).cast(), Nearness::First);
    };
    let lists = arriving.iter().map(|part| &part.sent_on[..]).chain([keys]);
    for chunk in lists.flat_map(|keys| keys.chunks(chunk_size)) {
        let own = if is_whole { chunk } else { select(chunk, &own_words, &mut selected) };
        own.iter().take(AHEAD).for_each(fetch);
        for (index, &key) in own.iter().enumerate() {
            own.get(index + AHEAD).into_iter().for_each(fetch);
            let Some(visit) = Visit::of(t, plan, level, key) else { continue };
            let Some(line) = lines.get_mut(visit.block as usize - first) else { continue };
            if visit.takes_room(t, plan, line) {
                added += 1;
                continue;
            }
            let before = *line;
            match visit.displaces(t, plan, line) {
                Arrived::Added => {
                    added += 1;
                    continue;
                }
                Arrived::Present => {}
                Arrived::Left { onward, .. } => {
                    sent_on.push(onward);
                    if undoable {
                        copies.push((visit.block, before));
                    }
                }
                Arrived::Listed { entry } => repeats.push(entry),
            }
            if undoable {
                others.push(key);
            }
        }
    }
    Outcome { added, sent_on, repeats, others, copies }
}

/// The keys of a chunk whose first words are in this range.
#[inline(always)]
fn select<'a>(
    chunk: &[KeyHash],
    words: &RangeInclusive<u64>,
    selected: &'a mut [KeyHash],
) -> &'a [KeyHash] {
    let (start, width) = (*words.start(), words.end() - words.start());
    let mut count = 0;
    for &key in chunk {
        if let Some(place) = selected.get_mut(count) {
            *place = key;
        }
        count += usize::from(key.candidate(0).wrapping_sub(start) <= width);
    }
    &selected[..count.min(selected.len())]
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
