//! Lookups, in passes:
//!
//! 1. *At the first block of 64 keys*: may it hold the key, and would a lookup go on from it? Two bits
//!    for each key, without a branch.
//! 2. *Of those that may*: does it? Few, unless the keys are there.
//! 3. *Of the others that go on*: ask for the next block, and let the key wait until enough of them do,
//!    so that theirs have arrived too.

use super::columns::Columns;
use crate::block::isa::{Isa, Nearness, Operation};
use crate::block::{BlockArray, BlockIndex, Holds};
use crate::hashing::KeyHash;
use crate::placement::{Choose, Probe};
use crate::raw::Balanced;

/// Keys that are looked at at once, and answers of a word.
pub(super) const WORD: usize = u64::BITS as usize;

/// Keys that wait for a further block.
const WAITING: usize = 128;

/// A batch of lookups.
pub(in crate::raw) struct ContainsBatch<'a, F> {
    pub(in crate::raw) filter: &'a F,
    pub(in crate::raw) keys: &'a [KeyHash],
    pub(in crate::raw) found: &'a mut [u64],
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

impl<R: Choose, B: BlockArray> Operation for ContainsBatch<'_, Balanced<R, B>> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { filter, keys, found } = self;
        filter.contains_batch_on(isa, keys, found);
    }
}

impl<R: Choose, B: BlockArray> ContainsBatch<'_, Balanced<R, B>> {
    /// Looks the keys up one after the other, while the first blocks of later ones are asked for.
    pub(in crate::raw) fn one_by_one(self) {
        let Self { filter, keys, found } = self;
        let ask_for = |keys: &[KeyHash]| {
            for &key in keys.iter().take(WORD) {
                filter.blocks.prefetch(filter.candidates.first_block(key), Nearness::Second);
            }
        };
        ask_for(keys);
        for (word, (chunk, answers)) in keys.chunks(WORD).zip(found).enumerate() {
            ask_for(keys.get((word + 1) * WORD..).unwrap_or_default());
            *answers = chunk.iter().zip(0..).fold(0, |answers, (&key, bit)| {
                answers | u64::from(filter.engine.ask(filter, key)) << bit
            });
        }
    }
}

/// Puts keys into columns.
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

/// A look at the first blocks of up to 64 keys, while those of the keys ahead are asked for.
struct LookAtFirst<'a, F> {
    filter: &'a F,
    keys: &'a [KeyHash],
    here: &'a Columns,
    /// The first blocks of the keys ahead.
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
        // None come last: then those that wait have to be finished.
        for (word, chunk) in keys.chunks(WORD).chain([&[][..]]).enumerate() {
            let later = keys.get((word + 1) * WORD..).unwrap_or_default();
            isa.outlined(Fill { filter: self, columns: ahead, keys: later });
            let to_ask_for = ahead.blocks(later.len());
            let look = LookAtFirst { filter: self, keys: chunk, here, ahead: to_ask_for };
            let answers = isa.outlined(look);
            if chunk.is_empty() || !waiting.has_room_for(WORD) {
                self.finish(isa, &mut waiting, &mut spare, found);
            }
            let came_to = |bit: usize| {
                // Of the keys that were looked at, so that there is one.
                let key = chunk.get(bit).copied().unwrap_or(KeyHash::from_u64(0));
                here.probe_of::<B::Routing>(bit, key)
            };
            let place_of = |bit| word * WORD + bit;
            let holds = self.sort_out(isa, 0, answers, came_to, place_of, &mut waiting);
            if let Some(found) = found.get_mut(word) {
                *found = holds;
            }
            (here, ahead) = (ahead, here);
        }
        if R::REJECTS && self.budget.is_spent() {
            self.ask_overflow(keys, found);
        }
    }

    /// What the block that a key has come to says about it.
    #[inline(always)]
    fn look_at<I: Isa>(&self, isa: I, number: usize, key: KeyHash, probe: Probe) -> Answer {
        let holds = self.blocks.glance(isa, probe.block, key);
        Answer { holds, goes_on: self.goes_on_at(isa, number, key, probe) }
    }

    /// Settles which of the keys that a block may hold it does, and sends those on that go on; which of
    /// them were found.
    #[inline(always)]
    fn sort_out<I: Isa>(
        &self,
        isa: I,
        number: usize,
        answers: Answers,
        came_to: impl Fn(usize) -> (KeyHash, Probe),
        place_of: impl Fn(usize) -> usize,
        onward: &mut Front,
    ) -> u64 {
        let Answers { mut holds, may_hold, goes_on } = answers;
        for bit in set_bits(may_hold) {
            let (key, probe) = came_to(bit);
            holds |= u64::from(self.blocks.settle(isa, probe.block, key)) << bit;
        }
        let next_level = self.candidates.as_slice().get(number + 1).copied();
        if next_level.is_none() && self.overflow.is_empty() {
            return holds;
        }
        for bit in set_bits(goes_on & !holds) {
            let (key, probe) = came_to(bit);
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

    /// Takes the keys that wait for their second block through the rest of their ways.
    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, waiting: &mut Front, spare: &mut Front, found: &mut [u64]) {
        let (mut here, mut onward) = (waiting, spare);
        for number in 1..self.candidates.as_slice().len() {
            onward.len = 0;
            for start in (0..here.len).step_by(WORD) {
                let mut answers = Answers::default();
                let count = (here.len - start).min(WORD);
                let came_to = |bit: usize| {
                    let at = (start + bit) % WAITING;
                    let (key, block) = (here.keys[at], here.blocks[at]);
                    (key, self.candidates.probe_at(number, key, block))
                };
                for bit in 0..count {
                    let (key, probe) = came_to(bit);
                    answers = answers.and(self.look_at(isa, number, key, probe));
                }
                let answers = answers.in_order(count);
                let place_of = |bit| here.places[(start + bit) % WAITING];
                let holds = self.sort_out(isa, number, answers, came_to, place_of, onward);
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
                let is_there = self.is_in_overflow(self.blocks.reduce(key), &mut ());
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
