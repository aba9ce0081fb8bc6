//! Bloom's filter of 1970, the baseline.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Insertion;
#[cfg(feature = "file")]
use super::parts::Counters;
use super::parts::Parts;
#[cfg(feature = "file")]
use crate::error::BuildError;
use crate::error::FullError;
use crate::hashing::{KeyHash, scale};
use crate::observer::Observer;
use crate::statistics::{Memory, Statistics};
use crate::storage::Words;

/// `k` independent bits anywhere in one array, one memory access each. A miss ends at the first unset bit,
/// after about two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Classical {
    pub(super) array: Words,
    pub(super) bits: u64,
    pub(super) hashes: u32,
    pub(super) elements: u64,
}

impl Classical {
    /// Word and bit of the key's `index`-th position in an array of `bits` bits.
    #[inline]
    pub(super) fn position(bits: u64, key: KeyHash, index: u32) -> (usize, u32) {
        let position = scale(key.pattern_word(index), bits);
        ((position / 64) as usize, (position % 64) as u32)
    }
}

impl Classical {
    /// The filter with these parts; `None` if they include an overflow list.
    pub(super) fn over(bits: u64, hashes: u32, parts: Parts) -> Option<Self> {
        let Parts { blocks: array, overflow, counters } = parts;
        let fits = overflow.bytes() == 0 && counters.overflow_capacity == 0;
        fits.then_some(Self { array, bits, hashes, elements: counters.elements })
    }

    #[inline]
    pub(super) fn insert(&mut self, key: KeyHash) -> Result<Insertion, FullError> {
        self.insert_observed(key, ())
    }

    #[inline]
    pub(super) fn insert_observed<O: Observer>(
        &mut self,
        key: KeyHash,
        mut observer: O,
    ) -> Result<Insertion, FullError> {
        let mut unset_before = 0;
        let words = self.array.words_mut();
        for index in 0..self.hashes {
            observer.block_read();
            let (word, bit) = Self::position(self.bits, key, index);
            let word = &mut words[word];
            unset_before += !*word >> bit & 1;
            *word |= 1 << bit;
        }
        if unset_before == 0 {
            return Ok(Insertion::AlreadyPresent);
        }
        self.elements = self.elements.saturating_add(1);
        Ok(Insertion::New)
    }

    #[inline]
    pub(super) fn contains_observed<O: Observer>(&self, key: KeyHash, mut observer: O) -> bool {
        (0..self.hashes).all(|index| {
            observer.block_read();
            let (word, bit) = Self::position(self.bits, key, index);
            self.array.get(word) >> bit & 1 == 1
        })
    }

    pub(super) fn contains(&self, key: KeyHash) -> bool {
        self.contains_observed(key, ())
    }

    /// One by one: a key's bits lie anywhere, so that threads cannot divide the array.
    pub(super) fn insert_batch(
        &mut self,
        keys: &[KeyHash],
        _threads: usize,
    ) -> Result<u64, FullError> {
        let mut new = 0;
        for &key in keys {
            new += u64::from(self.insert(key)?.is_new());
        }
        Ok(new)
    }

    pub(super) fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        for (keys, found) in keys.chunks(64).zip(found) {
            let answers = keys.iter().zip(0..);
            *found =
                answers.fold(0, |word, (&key, bit)| word | u64::from(self.contains(key)) << bit);
        }
    }

    pub(super) fn clear(&mut self) {
        self.array.fill_with_zeros();
        self.elements = 0;
    }

    pub(super) fn statistics(&self) -> Statistics {
        let set: u64 = self.array.iter().map(|word| u64::from(word.count_ones())).sum();
        let fill = set as f64 / self.bits as f64;
        let (mut rate, mut accesses) = (1.0, 0.0);
        for _ in 0..self.hashes {
            accesses += rate;
            rate *= fill;
        }
        Statistics {
            elements: self.elements,
            overflowed: 0,
            saturated: 0,
            budget_spent: false,
            levels: Vec::new(),
            memory: Memory {
                blocks: self.array.bytes(),
                overflow: 0,
                header: size_of::<Self>() as u64,
            },
            expected_rate: rate,
            expected_accesses_per_miss: accesses,
        }
    }

    pub(super) fn words(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        Box::new(self.array.iter())
    }

    #[cfg(feature = "file")]
    pub(super) fn parts(&self) -> Parts<&Words> {
        const NONE: &Words = &Words::none();
        let counters = Counters { elements: self.elements, ..Counters::default() };
        Parts { blocks: &self.array, overflow: NONE, counters }
    }

    #[cfg(feature = "file")]
    pub(super) fn detach(&mut self) -> Result<(), BuildError> {
        self.array.detach()
    }

    /// Bit `i` becomes the union of `factor` bits of the larger array from `i × factor` on: the positions
    /// of keys whose word scales to `i` in the smaller array.
    pub(super) fn merge(&mut self, other: &Self, factor: u64) {
        if factor == 1 {
            for (index, word) in other.array.iter().enumerate() {
                *self.array.get_mut(index) |= word;
            }
        } else {
            let is_set = |bit: &u64| other.array.get((bit / 64) as usize) >> (bit % 64) & 1 == 1;
            for bit in (0..other.bits).filter(is_set).map(|bit| bit / factor) {
                *self.array.get_mut((bit / 64) as usize) |= 1 << (bit % 64);
            }
        }
        self.elements = self.elements.saturating_add(other.elements);
    }
}
