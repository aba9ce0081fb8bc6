//! Bloom's filter of 1970, the baseline.

use alloc::vec::Vec;

use super::Insertion;
use super::held::Held;
use super::ledger::{OwnLedger, Record};
use crate::error::FullError;
use crate::hashing::{KeyHash, scale};
use crate::observer::Observer;
use crate::statistics::Survey;
use crate::storage::{Update, Words};

/// `k` independent bits anywhere in one array, one memory access each. A miss ends at the first unset bit,
/// after about two.
#[derive(Clone)]
pub(crate) struct Classical<S: Held = Words> {
    pub(super) plan: Plan,
    pub(super) words: S,
    /// The list is empty, and the budget unlimited.
    pub(super) ledger: S::Ledger,
}

/// Number of bits, and how many of them a key sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    bits: u64,
    hashes: u32,
}

impl Plan {
    /// Words and masks of the key's bits.
    #[inline]
    fn bits_of(self, key: KeyHash) -> impl Iterator<Item = (usize, u64)> {
        (0..self.hashes).map(move |index| {
            let position = scale(key.pattern_word(index), self.bits);
            ((position / 64) as usize, 1 << (position % 64))
        })
    }

    /// Sets the key's bits.
    #[inline]
    pub(super) fn insert<U: Update, L: Record, O: Observer>(
        self,
        mut to: U,
        mut ledger: L,
        key: KeyHash,
        mut observer: O,
    ) -> Insertion {
        let mut is_new = false;
        for (word, bit) in self.bits_of(key) {
            observer.block_read();
            is_new |= to.try_change(word, |word| (word & bit == 0).then_some(word | bit));
        }
        if !is_new {
            return Insertion::AlreadyPresent;
        }
        ledger.count(0);
        Insertion::New
    }
}

impl<S: Held> Classical<S> {
    #[inline(never)]
    pub(super) fn contains_observed<O: Observer>(&self, key: KeyHash, mut observer: O) -> bool {
        self.plan.bits_of(key).all(|(word, bit)| {
            observer.block_read();
            self.words.word(word) & bit != 0
        })
    }

    pub(super) fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        contains_one_by_one(keys, found, |key| self.contains_observed(key, ()));
    }
}

/// A batch of lookups for a filter without blocks.
pub(super) fn contains_one_by_one(
    keys: &[KeyHash],
    found: &mut [u64],
    contains: impl Fn(KeyHash) -> bool,
) {
    for (keys, found) in keys.chunks(64).zip(found) {
        let answers = keys.iter().zip(0..);
        *found = answers.fold(0, |word, (&key, bit)| word | u64::from(contains(key)) << bit);
    }
}

impl Classical {
    pub(super) const fn new(bits: u64, hashes: u32, words: Words, ledger: OwnLedger) -> Self {
        Self { plan: Plan { bits, hashes }, words, ledger }
    }

    #[inline(never)]
    pub(super) fn insert_observed<O: Observer>(
        &mut self,
        key: KeyHash,
        observer: O,
    ) -> Result<Insertion, FullError> {
        Ok(self.plan.insert(&mut self.words, &mut self.ledger, key, observer))
    }

    /// There are no levels. What a miss costs follows from the share of set bits.
    pub(super) fn survey(&self) -> Survey {
        let set: u64 =
            self.words.as_flattened().iter().map(|word| u64::from(word.count_ones())).sum();
        let fill = set as f64 / self.plan.bits as f64;
        let mut survey = Survey { levels: Vec::new(), rate: 1.0, accesses: 0.0 };
        for _ in 0..self.plan.hashes {
            survey.accesses += survey.rate;
            survey.rate *= fill;
        }
        survey
    }

    /// Bit `i` becomes the union of `factor` bits of the larger array from `i × factor` on: the positions
    /// of keys whose word scales to `i` in the smaller array.
    pub(super) fn merge(&mut self, other: &Self, factor: u64) {
        let (words, others) = (self.words.as_flattened_mut(), other.words.as_flattened());
        if factor == 1 {
            words.iter_mut().zip(others).for_each(|(word, other)| *word |= other);
        } else {
            let is_set = |bit: &u64| others[(bit / 64) as usize] >> (bit % 64) & 1 == 1;
            for bit in (0..other.plan.bits).filter(is_set).map(|bit| bit / factor) {
                words[(bit / 64) as usize] |= 1 << (bit % 64);
            }
        }
        self.ledger.elements = self.ledger.elements.saturating_add(other.ledger.elements);
    }
}
