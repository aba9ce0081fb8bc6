//! Batch lookups, in passes:
//!
//! 1. *Quick test* of the first blocks of 64 keys: may it hold the key, and would a lookup continue? Two
//!    bits per key, without a branch.
//! 2. *Settle* the undecided keys: few, unless the keys are present.
//! 3. *Continue* with the others whose lookup is not over: prefetch the next block, and collect keys until
//!    enough of them wait for theirs.

use super::columns::Columns;
use crate::block::isa::{Isa, Nearness, Operation};
use crate::block::{BlockArray, BlockIndex, Holds};
use crate::hashing::KeyHash;
use crate::placement::{Choose, Probe};
use crate::raw::Balanced;

/// Keys tested at once, and answers per word.
pub(super) const WORD: usize = u64::BITS as usize;

/// Maximum number of keys waiting for a later block.
const WAITING: usize = 128;

/// A batch of lookups.
pub(in crate::raw) struct ContainsBatch<'a, F> {
    pub(in crate::raw) filter: &'a F,
    pub(in crate::raw) keys: &'a [KeyHash],
    pub(in crate::raw) found: &'a mut [u64],
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
struct Answers {
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
            may_hold: self.may_hold << 1 | u64::from(answer.holds.is_perhaps()),
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

impl<R: Choose, B: BlockArray> Operation for ContainsBatch<'_, Balanced<R, B>> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { filter, keys, found } = self;
        filter.contains_batch_on(isa, keys, found);
    }
}

impl<R: Choose, B: BlockArray> ContainsBatch<'_, Balanced<R, B>> {
    /// Looks up the keys one by one; first blocks of later keys are prefetched.
    pub(in crate::raw) fn one_by_one(self) {
        let Self { filter, keys, found } = self;
        let prefetch = |keys: &[KeyHash]| {
            for &key in keys.iter().take(WORD) {
                filter.blocks.prefetch(filter.candidates.first_block(key), Nearness::Second);
            }
        };
        prefetch(keys);
        for (word, (chunk, answers)) in keys.chunks(WORD).zip(found).enumerate() {
            prefetch(keys.get((word + 1) * WORD..).unwrap_or_default());
            *answers = chunk.iter().zip(0..).fold(0, |answers, (&key, bit)| {
                answers | u64::from(filter.engine.lookup(filter, key)) << bit
            });
        }
    }
}

/// Fills columns.
struct Fill<'a, F> {
    filter: &'a F,
    columns: &'a mut Columns,
    keys: &'a [KeyHash],
}

impl<R: Choose, B: BlockArray> Operation for Fill<'_, Balanced<R, B>> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        self.columns.fill(self.filter, self.keys);
    }
}

/// Quick test of the first blocks of up to 64 keys; those of later keys are prefetched.
struct LookAtFirst<'a, F> {
    filter: &'a F,
    keys: &'a [KeyHash],
    here: &'a Columns,
    /// The first blocks of later keys.
    ahead: &'a [BlockIndex],
}

impl<R: Choose, B: BlockArray> Operation for LookAtFirst<'_, Balanced<R, B>> {
    type Output = Answers;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Answers {
        let Self { filter, keys, here, ahead } = self;
        let mut answers = Answers::default();
        let (first, last) = keys.split_at(keys.len().min(ahead.len()));
        for ((key, probe), &later) in here.probes::<B::Routing>(0, first).zip(ahead) {
            filter.blocks.prefetch(later, Nearness::Second);
            answers = answers.and(filter.look_at(isa, 0, key, probe));
        }
        for (key, probe) in here.probes::<B::Routing>(first.len(), last) {
            answers = answers.and(filter.look_at(isa, 0, key, probe));
        }
        answers.in_order(keys.len())
    }
}

impl<R: Choose, B: BlockArray> Balanced<R, B> {
    #[inline(always)]
    fn contains_batch_on<I: Isa>(&self, isa: I, keys: &[KeyHash], found: &mut [u64]) {
        let (mut waiting, mut spare) = (Front::empty(), Front::empty());
        let mut columns = [const { Columns::empty() }; 2];
        let [mut here, mut ahead] = columns.each_mut();
        isa.outlined(Fill { filter: self, columns: here, keys });
        for &block in here.blocks(keys.len()) {
            self.blocks.prefetch(block, Nearness::Second);
        }
        // An empty chunk at the end finishes the waiting keys.
        for (word, chunk) in keys.chunks(WORD).chain([&[][..]]).enumerate() {
            let later = keys.get((word + 1) * WORD..).unwrap_or_default();
            isa.outlined(Fill { filter: self, columns: ahead, keys: later });
            let blocks_ahead = ahead.blocks(later.len());
            let look = LookAtFirst { filter: self, keys: chunk, here, ahead: blocks_ahead };
            let answers = isa.outlined(look);
            if chunk.is_empty() || !waiting.has_room_for(WORD) {
                self.finish(isa, &mut waiting, &mut spare, found);
            }
            let key_at = |bit: usize| {
                // Always exists: `bit` is that of a tested key.
                let key = chunk.get(bit).copied().unwrap_or(KeyHash::from_u64(0));
                here.probe_of::<B::Routing>(bit, key)
            };
            let place_of = |bit| word * WORD + bit;
            let holds = self.sort_out(isa, 0, answers, key_at, place_of, &mut waiting);
            if let Some(found) = found.get_mut(word) {
                *found = holds;
            }
            (here, ahead) = (ahead, here);
        }
        if R::REJECTS && self.budget.is_spent() {
            self.check_overflow(keys, found);
        }
    }

    /// Quick test of the block of a probe.
    #[inline(always)]
    fn look_at<I: Isa>(&self, isa: I, number: usize, key: KeyHash, probe: Probe) -> Answer {
        let holds = self.blocks.glance(isa, probe.block, key);
        Answer { holds, continues: self.continues_at(isa, number, key, probe) }
    }

    /// Settles the undecided keys and passes on those whose lookup continues; returns the keys found.
    #[inline(always)]
    fn sort_out<I: Isa>(
        &self,
        isa: I,
        number: usize,
        answers: Answers,
        key_at: impl Fn(usize) -> (KeyHash, Probe),
        place_of: impl Fn(usize) -> usize,
        onward: &mut Front,
    ) -> u64 {
        let Answers { mut holds, may_hold, continues } = answers;
        for bit in set_bits(may_hold) {
            let (key, probe) = key_at(bit);
            holds |= u64::from(self.blocks.settle(isa, probe.block, key)) << bit;
        }
        let next_level = self.candidates.as_slice().get(number + 1).copied();
        if next_level.is_none() && self.overflow.is_empty() {
            return holds;
        }
        for bit in set_bits(continues & !holds) {
            let (key, probe) = key_at(bit);
            match next_level {
                Some(level) if number + 1 < self.candidates.choices(key) => {
                    let block = level.block_of(probe.onward);
                    self.blocks.prefetch(block, Nearness::Second);
                    onward.push(key, block, place_of(bit));
                }
                _ => holds |= u64::from(self.is_in_overflow(key, &mut ())) << bit,
            }
        }
        holds
    }

    /// Finishes the lookups of all waiting keys, which are at their second block.
    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, waiting: &mut Front, spare: &mut Front, found: &mut [u64]) {
        let (mut here, mut onward) = (waiting, spare);
        for number in 1..self.candidates.as_slice().len() {
            onward.len = 0;
            for start in (0..here.len).step_by(WORD) {
                let mut answers = Answers::default();
                let count = (here.len - start).min(WORD);
                let key_at = |bit: usize| {
                    let at = (start + bit) % WAITING;
                    let (key, block) = (here.keys[at], here.blocks[at]);
                    (key, self.candidates.probe_at(number, key, block))
                };
                for bit in 0..count {
                    let (key, probe) = key_at(bit);
                    answers = answers.and(self.look_at(isa, number, key, probe));
                }
                let answers = answers.in_order(count);
                let place_of = |bit| here.places[(start + bit) % WAITING];
                let holds = self.sort_out(isa, number, answers, key_at, place_of, onward);
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
                let is_there = self.is_in_overflow(self.blocks.reduce(key), &mut ());
                *found |= u64::from(is_there) << bit;
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
