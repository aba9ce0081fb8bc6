//! Many keys at once.
//!
//! A lookup waits for its block longer than for anything else, so a batch asks for the blocks of later
//! keys while it looks at those that have arrived:
//!
//! 1. *At the first block of 64 keys*: may it hold the key, and would a lookup go on from it? Two bits
//!    for each key, without a branch.
//! 2. *Of those that may*: does it? Few, unless the keys are there.
//! 3. *Of the others that go on*: ask for the next block, and let the key wait until enough of them do,
//!    so that theirs have arrived too.
//!
//! Inserts have to come one after the other, because each may find what the one before it left. But
//! their blocks can be asked for in time, the first candidate's by the key alone, the second one's when
//! the first has arrived and proves to be full.

use super::balanced::Balanced;
use crate::block::simd::{Machine, Nearness, Operation};
use crate::block::{BlockArray, BlockIndex, Holds, On};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::placement::{Rule, Stop};

const WORD: usize = u64::BITS as usize;

/// Keys that wait for a further block.
const WAITING: usize = 128;

/// How many inserts ahead a key's first block is asked for, and its second.
const FAR: usize = 32;
const NEAR: usize = 12;

/// A batch of lookups.
pub(super) struct ContainsBatch<'a, F> {
    pub(super) filter: &'a F,
    pub(super) keys: &'a [KeyHash],
    pub(super) found: &'a mut [u64],
}

/// Keys, each with the block that it has come to.
struct Front {
    len: usize,
    keys: [KeyHash; WAITING],
    blocks: [BlockIndex; WAITING],
    /// Which of the batch's keys it is.
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

    /// Takes in a key if there is room, which there is.
    #[inline(always)]
    fn push(&mut self, key: KeyHash, block: BlockIndex, place: usize) {
        let at = self.len % WAITING;
        self.keys[at] = key;
        self.blocks[at] = block;
        self.places[at] = place;
        self.len += 1;
    }
}

/// What a block says about a key.
#[derive(Clone, Copy)]
struct Answer {
    holds: Holds,
    goes_on: bool,
}

/// What blocks say about keys, one bit for each.
#[derive(Clone, Copy, Default)]
struct Answers {
    holds: u64,
    may_hold: u64,
    goes_on: u64,
}

impl Answers {
    /// These and that of the next key. The first two enter at the low end and the last at the high one, in
    /// three ways: what looks alike the compiler would do at once, in vectors, which takes longer.
    #[inline(always)]
    fn and(self, answer: Answer) -> Self {
        Self {
            holds: self.holds.rotate_left(1) | u64::from(answer.holds == Holds::Yes),
            may_hold: self.may_hold << 1 | u64::from(answer.holds.is_perhaps()),
            goes_on: self.goes_on >> 1 | u64::from(answer.goes_on) << (WORD - 1),
        }
    }

    /// Those of so many keys, up to 64, with that of the first key in the first place.
    #[inline(always)]
    fn in_order(self, keys: usize) -> Self {
        let first = |answers: u64| answers.checked_shr((WORD - keys) as u32).unwrap_or(0);
        Self {
            holds: first(self.holds.reverse_bits()),
            may_hold: first(self.may_hold.reverse_bits()),
            goes_on: first(self.goes_on),
        }
    }
}

impl<R: Rule, B: BlockArray> Operation for ContainsBatch<'_, Balanced<R, B>> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) {
        let Self { filter, keys, found } = self;
        filter.contains_batch_on(machine, keys, found);
    }
}

/// A look at the first blocks of up to 64 keys, while those of the keys ahead are asked for.
struct LookAtFirst<'a, F> {
    filter: &'a F,
    keys: &'a [KeyHash],
    ahead: &'a [KeyHash],
    /// The keys' first blocks; then those of the keys ahead.
    blocks: &'a mut [BlockIndex; WORD],
}

impl<R: Rule, B: BlockArray> Operation for LookAtFirst<'_, Balanced<R, B>> {
    type Output = Answers;

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) -> Answers {
        let Self { filter, keys, ahead, blocks } = self;
        let mut answers = Answers::default();
        let count = keys.len();
        let (keys, last_keys) = keys.split_at(count.min(ahead.len()));
        let (blocks, last_blocks) = blocks.split_at_mut(keys.len().min(WORD));
        for ((&key, &later), block) in keys.iter().zip(ahead).zip(blocks) {
            let here = *block;
            *block = filter.ask_for_first(later, Nearness::Second);
            let key = filter.blocks.seen(key);
            answers = answers.and(filter.look_at(machine, 0, key, here));
        }
        for (&key, block) in last_keys.iter().zip(last_blocks) {
            let key = filter.blocks.seen(key);
            answers = answers.and(filter.look_at(machine, 0, key, *block));
        }
        answers.in_order(count)
    }
}

impl<R: Rule, B: BlockArray> Balanced<R, B> {
    #[inline(always)]
    fn contains_batch_on<M: Machine>(&self, machine: M, keys: &[KeyHash], found: &mut [u64]) {
        let mut waiting = Front::empty();
        let mut blocks = [BlockIndex(0); WORD];
        for (&key, block) in keys.iter().zip(&mut blocks) {
            *block = self.ask_for_first(key, Nearness::Second);
        }
        // None come last: then those that wait have to be finished.
        for (word, chunk) in keys.chunks(WORD).chain([&[][..]]).enumerate() {
            let start = word * WORD;
            let ahead = keys.get(start + WORD..).unwrap_or_default();
            let look = LookAtFirst { filter: self, keys: chunk, ahead, blocks: &mut blocks };
            let answers = machine.apart(look);
            if chunk.is_empty() || !waiting.has_room_for(WORD) {
                self.finish(machine, &mut waiting, found);
            }
            let came_to = |bit: usize| {
                // Of the keys that were looked at, so that there is one.
                let key = chunk.get(bit).copied().unwrap_or(KeyHash::from_u64(0));
                let key = self.blocks.seen(key);
                (key, self.candidates.first_block(key))
            };
            let place_of = |bit| start + bit;
            let holds = self.sort_out(machine, 0, answers, came_to, place_of, &mut waiting);
            if let Some(found) = found.get_mut(word) {
                *found = holds;
            }
        }
        if R::REJECTS && self.budget.is_spent() {
            self.ask_overflow(keys, found);
        }
    }

    /// Asks for the block that the key tries first, and tells which it is.
    #[inline(always)]
    fn ask_for_first(&self, key: KeyHash, nearness: Nearness) -> BlockIndex {
        let block = self.candidates.first_block(key);
        self.blocks.prefetch(block, nearness);
        block
    }

    /// What the block that a key has come to says about it.
    #[inline(always)]
    fn look_at<M: Machine>(
        &self,
        machine: M,
        probe: usize,
        key: KeyHash,
        block: BlockIndex,
    ) -> Answer {
        let holds = self.blocks.glance(machine, block, key);
        Answer { holds, goes_on: self.goes_on_from(machine, probe, key, block) }
    }

    /// Settles which of the keys that a block may hold it does, and sends those on that go on; which of
    /// them were found.
    #[inline(always)]
    fn sort_out<M: Machine>(
        &self,
        machine: M,
        probe: usize,
        answers: Answers,
        came_to: impl Fn(usize) -> (KeyHash, BlockIndex),
        place_of: impl Fn(usize) -> usize,
        onward: &mut Front,
    ) -> u64 {
        let Answers { mut holds, may_hold, goes_on } = answers;
        for bit in set_bits(may_hold) {
            let (key, block) = came_to(bit);
            holds |= u64::from(self.blocks.settle(machine, block, key)) << bit;
        }
        let next_level = self.candidates.levels().get(probe + 1).copied();
        if next_level.is_none() && self.overflow.is_empty() {
            return holds;
        }
        for bit in set_bits(goes_on & !holds) {
            let (key, block) = came_to(bit);
            match next_level {
                Some(level) if probe + 1 < self.candidates.choices(key) => {
                    let Stop { onward: word, .. } = self.candidates.stop_at(probe, key, block);
                    let block = level.block_of(word);
                    self.blocks.prefetch(block, Nearness::Second);
                    onward.push(key, block, place_of(bit));
                }
                _ => holds |= u64::from(self.is_in_overflow(key, &mut ())) << bit,
            }
        }
        holds
    }

    /// Takes the keys that wait for their second block through the rest of their ways.
    #[inline(always)]
    fn finish<M: Machine>(&self, machine: M, waiting: &mut Front, found: &mut [u64]) {
        let mut spare = Front::empty();
        let (mut here, mut onward) = (waiting, &mut spare);
        for probe in 1..self.candidates.levels().len() {
            onward.len = 0;
            for start in (0..here.len).step_by(WORD) {
                let mut answers = Answers::default();
                let count = (here.len - start).min(WORD);
                for bit in 0..count {
                    let at = (start + bit) % WAITING;
                    let answer = self.look_at(machine, probe, here.keys[at], here.blocks[at]);
                    answers = answers.and(answer);
                }
                let answers = answers.in_order(count);
                let came_to = |bit: usize| {
                    let at = (start + bit) % WAITING;
                    (here.keys[at], here.blocks[at])
                };
                let place_of = |bit| here.places[(start + bit) % WAITING];
                let holds = self.sort_out(machine, probe, answers, came_to, place_of, onward);
                for bit in set_bits(holds) {
                    note(found, place_of(bit));
                }
            }
            (here, onward) = (onward, here);
        }
        (here.len, onward.len) = (0, 0);
    }

    /// Asks the overflow list for the keys that were not found.
    #[cold]
    fn ask_overflow(&self, keys: &[KeyHash], found: &mut [u64]) {
        for (keys, found) in keys.chunks(WORD).zip(found) {
            for (bit, &key) in keys.iter().enumerate() {
                let is_there = self.is_in_overflow(self.blocks.seen(key), &mut ());
                *found |= u64::from(is_there) << bit;
            }
        }
    }
}

/// The numbers of a word's set bits.
#[inline(always)]
fn set_bits(mut word: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.checked_sub(1)?;
        Some(bit)
    })
}

/// Notes that a key of the batch was found.
#[inline(always)]
fn note(found: &mut [u64], place: usize) {
    if let Some(word) = found.get_mut(place / WORD) {
        *word |= 1 << (place % WORD);
    }
}

/// A batch of inserts.
pub(super) struct InsertBatch<'a, F> {
    pub(super) filter: &'a mut F,
    pub(super) keys: &'a [KeyHash],
}

impl<R: Rule, B: BlockArray> Operation for InsertBatch<'_, Balanced<R, B>> {
    type Output = Result<u64, FullError>;

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) -> Self::Output {
        let Self { filter, keys } = self;
        filter.insert_batch_on(machine, keys)
    }
}

impl<R: Rule, B: BlockArray> Balanced<R, B> {
    #[inline(always)]
    fn insert_batch_on<M: Machine>(
        &mut self,
        machine: M,
        keys: &[KeyHash],
    ) -> Result<u64, FullError> {
        for &key in keys.iter().take(FAR) {
            self.ask_for_first(key, Nearness::First);
        }
        let mut new = 0;
        for (index, &key) in keys.iter().enumerate() {
            if let Some(&ahead) = keys.get(index + FAR) {
                self.ask_for_first(ahead, Nearness::First);
            }
            if let Some(&ahead) = keys.get(index + NEAR) {
                self.ask_for_second(machine, ahead);
            }
            new += u64::from(self.insert_on(machine, key, &mut ())?.is_new());
        }
        Ok(new)
    }

    /// Asks for the block that the key tries second, if the first, which has arrived, is full.
    #[inline(always)]
    fn ask_for_second<M: Machine>(&self, machine: M, key: KeyHash) {
        let Some(&level) = self.candidates.levels().get(1) else { return };
        let view = On { blocks: &self.blocks, machine };
        let first = self.candidates.first_block(key);
        if self.rule.looks_further(&view, key, 0, first) {
            let stop = self.candidates.stop_at(0, self.blocks.seen(key), first);
            self.blocks.prefetch(level.block_of(stop.onward), Nearness::First);
        }
    }
}
