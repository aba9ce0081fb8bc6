//! Batches of keys.
//!
//! Most time is spent waiting for memory, so a batch prefetches the blocks of later keys while it works on
//! those already cached.
//!
//! *Lookups* test the first blocks of 64 keys without a branch: three bits per key tell whether the block
//! holds it, whether it may, and whether the lookup continues. The few keys that continue wait, while their
//! second blocks are fetched, until the next 64 keys have been tested.
//!
//! *Inserts* run in order, because each depends on the previous ones.

use super::balanced::{Balanced, Plan};
use super::ledger::Ledger;
use crate::block::isa::{Nearness, Target};
use crate::block::{BlockIndex, Holds};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::placement::{Choose, Probe};

/// Keys tested at once, and answers per word.
const WORD: usize = u64::BITS as usize;

/// How many inserts ahead the first and the second candidate are prefetched.
const FAR: usize = 32;
const NEAR: usize = 12;

/// The first probes of 64 keys, computed before their blocks arrive: one column per loop, so that the compiler
/// vectorises each.
pub(super) struct Columns {
    blocks: [BlockIndex; WORD],
    /// The bits that select the hints, if blocks have any.
    hints: [u64; WORD],
}

/// The results of testing the first blocks of up to 64 keys, one bit per key.
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
    fn and(self, holds: Holds, continues: bool) -> Self {
        Self {
            holds: self.holds.rotate_left(1) | u64::from(holds == Holds::Yes),
            may_hold: self.may_hold << 1 | u64::from(holds == Holds::Perhaps),
            continues: self.continues >> 1 | u64::from(continues) << (WORD - 1),
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

/// Fills columns with the first 64 of these keys. With fewer keys, the other rows are unspecified.
#[inline(always)]
pub(super) fn fill<T: Target, R: Choose>(
    _target: T,
    filter: &Balanced<R>,
    keys: &[KeyHash],
    Columns { blocks, hints }: &mut Columns,
) {
    let mut padded = [KeyHash::from_u64(0); WORD];
    // Exactly 64 keys, so that the loops have a constant length.
    let keys = keys.first_chunk().unwrap_or_else(|| {
        padded[..keys.len()].copy_from_slice(keys);
        &padded
    });
    filter.plan.levels.first_blocks(keys, blocks);
    if filter.plan.shape.has_hints() {
        for (&key, (&block, hint)) in keys.iter().zip(blocks.iter().zip(hints)) {
            *hint = Probe::at(0, key, block).hint;
        }
    }
}

/// Quick test of the first blocks of up to 64 keys; those of as many later keys are prefetched.
#[inline(always)]
pub(super) fn look_at_first<T: Target, R: Choose>(
    target: T,
    filter: &Balanced<R>,
    keys: &[KeyHash],
    here: &Columns,
    later: &[BlockIndex],
) -> Answers {
    let rows = keys.iter().zip(here.blocks.iter().zip(&here.hints));
    let mut answers = Answers::default();
    for ((&key, row), &later) in rows.clone().zip(later) {
        filter.prefetch(later);
        answers = filter.look_at(target, key, row, answers);
    }
    for (&key, row) in rows.skip(later.len()) {
        answers = filter.look_at(target, key, row, answers);
    }
    answers.in_order(keys.len())
}

impl<R: Choose> Balanced<R> {
    /// Looks up keys: see [`Any::contains_batch`](super::Any::contains_batch).
    pub(super) fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        let Plan { shape, levels, .. } = &self.plan;
        let second_level = levels.as_slice().get(1).copied();
        let mut columns =
            [const { Columns { blocks: [BlockIndex(0); WORD], hints: [0; WORD] } }; 2];
        let [mut here, mut ahead] = columns.each_mut();
        self.inserts.fill(self, keys, here);
        here.blocks.iter().take(keys.len()).for_each(|&block| self.prefetch(block));
        // The keys of the chunk before, and those of them that wait.
        let (mut before, mut waiting): (&[KeyHash], u64) = (&[], 0);
        let chunks = keys.chunks(WORD).take(found.len());
        for (word, chunk) in chunks.chain([&[][..]]).enumerate() {
            let later = keys.get((word + 1) * WORD..).unwrap_or_default();
            self.inserts.fill(self, later, ahead);
            let later = &ahead.blocks[..later.len().min(WORD)];
            let answers = self.inserts.look_at_first(self, chunk, here, later);
            let mut holds = answers.holds;
            for bit in set_bits(answers.may_hold) {
                let key = chunk[bit % WORD];
                let may_hold = shape.settle(&self.words, levels.first_block(key), key);
                holds |= u64::from(may_hold) << bit;
            }
            for bit in set_bits(waiting) {
                let key = before[bit % WORD];
                let is_there = self.lookups.look_further(self, key, levels.first_block(key));
                found[word - 1] |= u64::from(is_there) << bit;
            }
            if let Some(found) = found.get_mut(word) {
                *found = holds;
            }
            (before, waiting) = (chunk, answers.continues & !holds);
            if let Some(level) = second_level {
                for bit in set_bits(waiting) {
                    self.prefetch(level.block_of(chunk[bit % WORD].candidate(1)));
                }
            } else if !self.ledger.lists_any() {
                waiting = 0;
            }
            (here, ahead) = (ahead, here);
        }
        if R::REJECTS && self.ledger.is_spent() {
            self.check_overflow(keys, found);
        }
    }

    /// Quick test of a key's first block.
    #[inline(always)]
    fn look_at<T: Target>(
        &self,
        target: T,
        key: KeyHash,
        (&block, &hint): (&BlockIndex, &u64),
        answers: Answers,
    ) -> Answers {
        let holds = self.plan.shape.glance(target, &self.words, block, key);
        let probe = Probe { hint, ..Probe::at(0, key, block) };
        answers.and(holds, self.continues_at(target, 0, key, probe))
    }

    /// Prefetches a block to read it once.
    #[inline(always)]
    fn prefetch(&self, block: BlockIndex) {
        self.plan.shape.prefetch(&self.words, block, Nearness::Second);
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

    /// Inserts keys in order; returns how many were new. The first candidate is prefetched at once, the second
    /// when the first is cached and proves to be full.
    pub(super) fn insert_one_by_one(&mut self, keys: &[KeyHash]) -> Result<u64, FullError> {
        for &key in keys.iter().take(FAR) {
            self.prefetch_first(key);
        }
        let mut new = 0;
        for (index, &key) in keys.iter().enumerate() {
            if let Some(&ahead) = keys.get(index + FAR) {
                self.prefetch_first(ahead);
            }
            if let Some(&ahead) = keys.get(index + NEAR) {
                self.prefetch_second(ahead);
            }
            let insertion = if R::REJECTS {
                self.inserts.insert(self, key)
            } else {
                // All candidates must be compared: the shortcut for the first block does not apply.
                self.inserts.place(self, key)
            };
            new += u64::from(insertion?.is_new());
        }
        Ok(new)
    }

    /// Prefetches the second candidate if the first, already cached, is full, or if both are compared.
    fn prefetch_second(&self, key: KeyHash) {
        let Plan { shape, levels, rule, .. } = &self.plan;
        let Some(&level) = levels.as_slice().get(1) else { return };
        let load = || shape.load(&self.words, levels.first_block(key));
        if !R::REJECTS || !rule.admits(load(), key, 0) {
            shape.prefetch(&self.words, level.block_of(key.candidate(1)), Nearness::First);
        }
    }
}

/// The indices of a word's set bits.
#[inline(always)]
pub(super) fn set_bits(mut word: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.checked_sub(1)?;
        Some(bit)
    })
}
