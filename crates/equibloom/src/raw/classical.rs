//! Bloom's filter of 1970, the reference the others are measured against.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::absorb::Absorb;
use super::{Insertion, RawFilter};
use crate::error::{BuildError, FullError, MergeError, RemoveError};
use crate::hashing::{KeyHash, scale};
use crate::memory::Words;
use crate::observer::Observer;
use crate::parameters::{Parameters, Scheme};
use crate::statistics::{Memory, Statistics};

/// `k` independent bits anywhere in one array. Each of them is a memory access of its own; a miss
/// stops at the first that is unset, after about two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classical {
    pub(super) array: Words,
    pub(super) bits: u64,
    pub(super) hashes: u32,
    pub(super) elements: u64,
}

impl Classical {
    /// Word and bit of the key's `index`-th position among so many bits.
    #[inline]
    pub(super) fn position(bits: u64, key: KeyHash, index: u32) -> (usize, u32) {
        let position = scale(key.pattern_word(index), bits);
        ((position / 64) as usize, (position % 64) as u32)
    }
}

impl RawFilter for Classical {
    fn new(parameters: &Parameters) -> Result<Self, BuildError> {
        parameters.check()?;
        let Scheme::Classical { bits, hashes } = parameters.scheme else {
            let found = parameters.scheme.name();
            return Err(BuildError::OtherScheme { expected: "the classical filter", found });
        };
        Ok(Self { array: Words::zeroed(bits.div_ceil(64))?, bits, hashes, elements: 0 })
    }

    #[inline]
    fn insert<O: Observer>(
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
    fn contains_observed<O: Observer>(&self, key: KeyHash, mut observer: O) -> bool {
        (0..self.hashes).all(|index| {
            observer.block_read();
            let (word, bit) = Self::position(self.bits, key, index);
            self.array.get(word) >> bit & 1 == 1
        })
    }

    fn remove<O: Observer>(&mut self, _key: KeyHash, _observer: O) -> Result<(), RemoveError> {
        Err(RemoveError::NotRemovable("the classical filter"))
    }

    fn elements(&self) -> u64 {
        self.elements
    }

    fn clear(&mut self) {
        self.array.fill_with_zeros();
        self.elements = 0;
    }

    fn statistics(&self) -> Statistics {
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

    fn words(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        Box::new(self.array.iter())
    }
}

impl Absorb for Classical {
    /// Bit `i` takes in the bits from `i × factor` on: those to which keys go whose word, scaled to the
    /// smaller array, gives `i`.
    fn absorb(&mut self, other: &Self, factor: u64) -> Result<(), MergeError> {
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
        Ok(())
    }
}
