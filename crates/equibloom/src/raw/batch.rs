//! Many keys at once.
//!
//! A lookup waits for its block longer than for anything else, so a batch asks for the blocks of the
//! next keys while it looks at those of the last. It goes over the keys level by level:
//!
//! 1. *At every block that has arrived*: may it hold the key, and would a lookup go on from it? Two bits
//!    for each key, without a branch.
//! 2. *Of those that may*: does it? Few, unless the keys are there.
//! 3. *Of the others that go on*: ask for the next block, and put them on the list for the next level.
//!
//! Inserts have to come one after the other, because each may find what the one before it left. But
//! their blocks can be asked for in time, the first candidate's by the key alone, the second one's when
//! the first has arrived and proves to be full.

use super::balanced::Balanced;
use crate::block::simd::{Machine, Operation};
use crate::block::{BlockArray, BlockIndex, On};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::placement::{Candidates, Rule};

/// Keys that are looked up together. Their blocks, and those of as many next ones, fit into half of a
/// first-level cache.
const CHUNK: usize = 128;
const WORD: usize = u64::BITS as usize;

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
    keys: [KeyHash; CHUNK],
    blocks: [BlockIndex; CHUNK],
    /// Which of the chunk's keys it is.
    places: [u8; CHUNK],
}

impl Front {
    const fn empty() -> Self {
        Self {
            len: 0,
            keys: [KeyHash::from_u64(0); CHUNK],
            blocks: [BlockIndex(0); CHUNK],
            places: [0; CHUNK],
        }
    }

    /// Takes in a key if there is room, which there is.
    #[inline(always)]
    fn push(&mut self, key: KeyHash, block: BlockIndex, place: u8) {
        let at = self.len % CHUNK;
        self.keys[at] = key;
        self.blocks[at] = block;
        self.places[at] = place;
        self.len += 1;
    }
}

impl<R: Rule, B: BlockArray> Operation for ContainsBatch<'_, Balanced<R, B>> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) {
        let Self { filter, keys, found } = self;
        let mut fronts = [const { Front::empty() }; 2];
        let mut levels = [const { Front::empty() }; 2];
        let [mut here, mut next] = fronts.each_mut();
        let mut chunks = keys.chunks(CHUNK);
        let first = chunks.next().unwrap_or_default();
        for place in 0..first.len() {
            filter.begin(here, first, place);
        }
        for found in found.chunks_mut(CHUNK / WORD) {
            let coming = chunks.next().unwrap_or_default();
            next.len = 0;
            let mut answers = [0; CHUNK / WORD];
            // While these are looked at, the blocks of the next ones are on their way.
            filter.visit(machine, 0, here, &mut levels[0], &mut answers, |place| {
                filter.begin(next, coming, place);
            });
            let [mut level, mut further] = levels.each_mut();
            for probe in 1..filter.candidates.levels().len() {
                filter.visit(machine, probe, level, further, &mut answers, |_| ());
                (level, further) = (further, level);
            }
            if R::REJECTS && filter.budget.is_spent() {
                filter.ask_overflow(here, &mut answers);
            }
            for (found, answer) in found.iter_mut().zip(answers) {
                *found = answer;
            }
            (here, next) = (next, here);
        }
    }
}

impl<R: Rule, B: BlockArray> Balanced<R, B> {
    /// The key at this place of a chunk, if there is one, sets out for its first block.
    #[inline(always)]
    fn begin(&self, front: &mut Front, chunk: &[KeyHash], place: usize) {
        let Some(&key) = chunk.get(place) else { return };
        let key = self.blocks.seen(key);
        let block = self.candidates.first_block(key);
        self.blocks.prefetch(block);
        front.push(key, block, place as u8);
    }

    /// Looks at the blocks that keys have come to by this probe, and sends those on that go on.
    #[inline(always)]
    fn visit<M: Machine>(
        &self,
        machine: M,
        probe: usize,
        here: &Front,
        onward: &mut Front,
        found: &mut [u64; CHUNK / WORD],
        mut meanwhile: impl FnMut(usize),
    ) {
        onward.len = 0;
        let view = On { blocks: &self.blocks, machine };
        let next_level = self.candidates.levels().get(probe + 1).copied();
        let ends_here = next_level.is_none() && self.overflow.is_empty();
        for start in (0..here.len).step_by(WORD) {
            let (mut may_hold, mut goes_on) = (0_u64, 0_u64);
            let mut words = [0; WORD];
            for (bit, word) in words.iter_mut().enumerate().take(here.len - start) {
                let at = (start + bit) % CHUNK;
                meanwhile(at);
                let (key, block) = (here.keys[at], here.blocks[at]);
                let stop = self.candidates.stop_at(probe, key, block);
                may_hold |= u64::from(self.blocks.may_hold(machine, block, key)) << bit;
                goes_on |= u64::from(self.rule.goes_on(&view, key, probe, stop)) << bit;
                *word = stop.onward;
            }
            while may_hold != 0 {
                let bit = may_hold.trailing_zeros() as usize;
                may_hold &= may_hold - 1;
                let at = (start + bit) % CHUNK;
                if self.blocks.test(machine, here.blocks[at], here.keys[at]) {
                    note(found, here.places[at]);
                    goes_on &= !(1 << bit);
                }
            }
            if ends_here {
                continue;
            }
            while goes_on != 0 {
                let bit = goes_on.trailing_zeros() as usize;
                goes_on &= goes_on - 1;
                let at = (start + bit) % CHUNK;
                let (key, place) = (here.keys[at], here.places[at]);
                match next_level {
                    Some(level) if probe + 1 < self.candidates.choices(key) => {
                        let block = Candidates::block_in(level, words[bit % WORD]);
                        self.blocks.prefetch(block);
                        onward.push(key, block, place);
                    }
                    _ if self.is_in_overflow(key, &mut ()) => note(found, place),
                    _ => {}
                }
            }
        }
    }

    /// Asks the overflow list for the keys that were not found.
    #[cold]
    fn ask_overflow(&self, front: &Front, found: &mut [u64; CHUNK / WORD]) {
        for (&key, &place) in front.keys.iter().zip(&front.places).take(front.len) {
            if self.is_in_overflow(key, &mut ()) {
                note(found, place);
            }
        }
    }
}

/// Notes that a key of the chunk was found.
#[inline(always)]
fn note(found: &mut [u64; CHUNK / WORD], place: u8) {
    let place = usize::from(place);
    found[place / WORD % (CHUNK / WORD)] |= 1 << (place % WORD);
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
        for &key in keys.iter().take(FAR) {
            filter.ask_for_first(key);
        }
        let mut new = 0;
        for (index, &key) in keys.iter().enumerate() {
            if let Some(&ahead) = keys.get(index + FAR) {
                filter.ask_for_first(ahead);
            }
            if let Some(&ahead) = keys.get(index + NEAR) {
                filter.ask_for_second(machine, ahead);
            }
            new += u64::from(filter.insert_on(machine, key, &mut ())?.is_new());
        }
        Ok(new)
    }
}

impl<R: Rule, B: BlockArray> Balanced<R, B> {
    /// Asks for the block that the key tries first.
    #[inline(always)]
    fn ask_for_first(&self, key: KeyHash) {
        self.blocks.prefetch(self.candidates.first_block(key));
    }

    /// Asks for the block that the key tries second, if the first, which has arrived, is full.
    #[inline(always)]
    fn ask_for_second<M: Machine>(&self, machine: M, key: KeyHash) {
        let Some(&level) = self.candidates.levels().get(1) else { return };
        let view = On { blocks: &self.blocks, machine };
        let first = self.candidates.first_block(key);
        let stop = self.candidates.stop_at(0, self.blocks.seen(key), first);
        let second = Candidates::block_in(level, stop.onward);
        // To ask for a block that is there costs less than a branch that nobody can foresee.
        let looks_further = self.rule.looks_further(&view, key, 0, first);
        self.blocks.prefetch(if looks_further { second } else { first });
    }
}
