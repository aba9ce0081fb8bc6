//! Batch lookups, in passes:
//!
//! 1. *Quick test* of the first blocks of 64 keys: may it hold the key, and would a lookup continue? Two
//!    bits per key, without a branch.
//! 2. *Settle* the undecided keys: few, unless the keys are present.
//! 3. *Continue* with the others whose lookup is not over: prefetch the next block, and collect keys until
//!    enough of them wait for theirs.

use super::columns::Columns;
use crate::block::isa::{Nearness, Target, kernel_table};
use crate::block::{BlockIndex, Holds};
use crate::hashing::KeyHash;
use crate::placement::{Choose, Probe};
use crate::raw::Balanced;
use crate::raw::balanced::Plan;
use crate::raw::ledger::Ledger;

/// Keys tested at once, and answers per word.
pub(super) const WORD: usize = u64::BITS as usize;

/// Maximum number of keys waiting for a later block.
const WAITING: usize = 128;

kernel_table! {
    /// A batch of lookups and its passes.
    pub(super) struct Batches[R: Choose,] [R] {
        fn contains_batch(filter: &Balanced<R>, keys: &[KeyHash], found: &mut [u64]) -> ();
        fn fill(filter: &Balanced<R>, columns: &mut Columns, keys: &[KeyHash]) -> ();
        fn look_at_first(
            filter: &Balanced<R>, keys: &[KeyHash], here: &Columns, ahead: &[BlockIndex],
        ) -> Answers;
    }
}

/// Keys waiting for a block.
struct Front {
    len: usize,
    keys: [KeyHash; WAITING],
    blocks: [BlockIndex; WAITING],
    /// The key's index in the batch.
    places: [usize; WAITING],
}

impl Front {
    const fn empty() -> Self {
        Self {
            len: 0,
            keys: [KeyHash::from_u64(0); WAITING],
            blocks: [BlockIndex(0); WAITING],
            places: [0; WAITING],
        }
    }

    fn has_room_for(&self, keys: usize) -> bool {
        self.len + keys <= WAITING
    }

    /// The caller has checked `has_room_for`; the modulo removes the bounds check.
    #[inline(always)]
    fn push(&mut self, key: KeyHash, block: BlockIndex, place: usize) {
        let at = self.len % WAITING;
        self.keys[at] = key;
        self.blocks[at] = block;
        self.places[at] = place;
        self.len += 1;
    }
}

/// The result of testing one block for a key.
#[derive(Clone, Copy)]
struct Answer {
    holds: Holds,
    continues: bool,
}

/// The results for up to 64 keys, one bit per key.
#[derive(Clone, Copy, Default)]
pub(super) struct Answers {
    holds: u64,
    may_hold: u64,
    continues: u64,
}

impl Answers {
    /// Appends the result of the next key. The three fields are shifted in different ways on purpose: the
    /// compiler would vectorise similar ones, which is slower.
    #[inline(always)]
    fn and(self, answer: Answer) -> Self {
        Self {
            holds: self.holds.rotate_left(1) | u64::from(answer.holds == Holds::Yes),
            may_hold: self.may_hold << 1 | u64::from(answer.holds == Holds::Perhaps),
            continues: self.continues >> 1 | u64::from(answer.continues) << (WORD - 1),
        }
    }

    /// The results of up to 64 keys, with that of the first key in the lowest bit.
    #[inline(always)]
    fn in_order(self, keys: usize) -> Self {
        let first = |answers: u64| answers.checked_shr((WORD - keys) as u32).unwrap_or(0);
        Self {
            holds: first(self.holds.reverse_bits()),
            may_hold: first(self.may_hold.reverse_bits()),
            continues: first(self.continues),
        }
    }
}

/// Looks up keys, chunk by chunk.
#[inline(always)]
fn contains_batch<T: Target, R: Choose>(
    target: T,
    filter: &Balanced<R>,
    keys: &[KeyHash],
    found: &mut [u64],
) {
    let passes = Batches::new(filter.isa, filter.is_common);
    let (mut waiting, mut spare) = (Front::empty(), Front::empty());
    let mut columns = [const { Columns::empty() }; 2];
    let [mut here, mut ahead] = columns.each_mut();
    passes.fill(filter, here, keys);
    for &block in here.blocks(keys.len()) {
        filter.prefetch_later(block);
    }
    // An empty chunk at the end finishes the waiting keys.
    for (word, chunk) in keys.chunks(WORD).chain([&[][..]]).enumerate() {
        let later = keys.get((word + 1) * WORD..).unwrap_or_default();
        passes.fill(filter, ahead, later);
        let answers = passes.look_at_first(filter, chunk, here, ahead.blocks(later.len()));
        if chunk.is_empty() || !waiting.has_room_for(WORD) {
            filter.finish(target, &mut waiting, &mut spare, found);
        }
        let key_at = |bit: usize| {
            // Always exists: `bit` is that of a tested key.
            let key = chunk.get(bit).copied().unwrap_or(KeyHash::from_u64(0));
            (key, here.probe_of(bit, key))
        };
        let place_of = |bit| word * WORD + bit;
        let holds = filter.sort_out(0, answers, key_at, place_of, &mut waiting);
        if let Some(found) = found.get_mut(word) {
            *found = holds;
        }
        (here, ahead) = (ahead, here);
    }
    if R::REJECTS && filter.ledger.is_spent() {
        filter.check_overflow(keys, found);
    }
}

/// Fills columns.
#[inline(always)]
fn fill<T: Target, R: Choose>(
    _target: T,
    filter: &Balanced<R>,
    columns: &mut Columns,
    keys: &[KeyHash],
) {
    columns.fill(filter, keys);
}

/// Quick test of the first blocks of up to 64 keys; those of later keys (`ahead`) are prefetched.
#[inline(always)]
fn look_at_first<T: Target, R: Choose>(
    target: T,
    filter: &Balanced<R>,
    keys: &[KeyHash],
    here: &Columns,
    ahead: &[BlockIndex],
) -> Answers {
    let mut answers = Answers::default();
    let (first, last) = keys.split_at(keys.len().min(ahead.len()));
    for ((key, probe), &later) in here.probes(0, first).zip(ahead) {
        filter.prefetch_later(later);
        answers = answers.and(filter.look_at(target, 0, key, probe));
    }
    for (key, probe) in here.probes(first.len(), last) {
        answers = answers.and(filter.look_at(target, 0, key, probe));
    }
    answers.in_order(keys.len())
}

impl<R: Choose> Balanced<R> {
    /// Looks up keys: see [`Any::contains_batch`](crate::raw::Any::contains_batch).
    pub(in crate::raw) fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        Batches::new(self.isa, self.is_common).contains_batch(self, keys, found);
    }

    /// Prefetches the block of a later key.
    #[inline(always)]
    fn prefetch_later(&self, block: BlockIndex) {
        self.plan.shape.prefetch(&self.words, block, Nearness::Second);
    }

    /// Quick test of the block of a probe.
    #[inline(always)]
    fn look_at<T: Target>(&self, target: T, number: usize, key: KeyHash, probe: Probe) -> Answer {
        let holds = self.plan.shape.glance(target, &self.words, probe.block, key);
        Answer { holds, continues: self.continues_at(target, number, key, probe) }
    }

    /// Settles the undecided keys and passes on those whose lookup continues; returns the keys found.
    #[inline(always)]
    fn sort_out(
        &self,
        number: usize,
        answers: Answers,
        key_at: impl Fn(usize) -> (KeyHash, Probe),
        place_of: impl Fn(usize) -> usize,
        onward: &mut Front,
    ) -> u64 {
        let Plan { shape, levels, .. } = &self.plan;
        let Answers { mut holds, may_hold, continues } = answers;
        for bit in set_bits(may_hold) {
            let (key, probe) = key_at(bit);
            holds |= u64::from(shape.settle(&self.words, probe.block, key)) << bit;
        }
        let next_level = levels.as_slice().get(number + 1).copied();
        if next_level.is_none() && !self.ledger.lists_any() {
            return holds;
        }
        for bit in set_bits(continues & !holds) {
            let (key, probe) = key_at(bit);
            match next_level {
                Some(level) if number + 1 < levels.choices(key) => {
                    let block = level.block_of(probe.onward);
                    self.prefetch_later(block);
                    onward.push(key, block, place_of(bit));
                }
                _ => holds |= u64::from(self.is_listed(key)) << bit,
            }
        }
        holds
    }

    /// Finishes the lookups of all waiting keys, which are at their second block.
    #[inline(always)]
    fn finish<T: Target>(
        &self,
        target: T,
        waiting: &mut Front,
        spare: &mut Front,
        found: &mut [u64],
    ) {
        let (mut here, mut onward) = (waiting, spare);
        for number in 1..self.plan.levels.as_slice().len() {
            onward.len = 0;
            for start in (0..here.len).step_by(WORD) {
                let mut answers = Answers::default();
                let count = (here.len - start).min(WORD);
                let key_at = |bit: usize| {
                    let at = (start + bit) % WAITING;
                    let key = here.keys[at];
                    (key, Probe::at(number, key, here.blocks[at]))
                };
                for bit in 0..count {
                    let (key, probe) = key_at(bit);
                    answers = answers.and(self.look_at(target, number, key, probe));
                }
                let answers = answers.in_order(count);
                let place_of = |bit| here.places[(start + bit) % WAITING];
                let holds = self.sort_out(number, answers, key_at, place_of, onward);
                for bit in set_bits(holds) {
                    note(found, place_of(bit));
                }
            }
            (here, onward) = (onward, here);
        }
        (here.len, onward.len) = (0, 0);
    }

    /// Checks the overflow list for all keys, once the budget is spent.
    #[cold]
    fn check_overflow(&self, keys: &[KeyHash], found: &mut [u64]) {
        for (keys, found) in keys.chunks(WORD).zip(found) {
            for (bit, &key) in keys.iter().enumerate() {
                *found |= u64::from(self.is_listed(key)) << bit;
            }
        }
    }
}

/// The indices of a word's set bits.
#[inline(always)]
fn set_bits(mut word: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.checked_sub(1)?;
        Some(bit)
    })
}

/// Sets the answer of a key of the batch.
#[inline(always)]
fn note(found: &mut [u64], place: usize) {
    if let Some(word) = found.get_mut(place / WORD) {
        *word |= 1 << (place % WORD);
    }
}
