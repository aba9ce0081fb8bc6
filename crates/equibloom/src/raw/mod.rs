//! The filters themselves. They see hashes only; [`Filter`](crate::Filter) puts keys in front.
//!
//! There are three: [`Classical`], [`Balanced`] (every blocked scheme, generic over the rule and the
//! blocks), and [`Any`], which holds one of them and decides once per operation.

mod absorb;
mod any;
mod balanced;
mod batch;
mod budget;
mod classical;
mod contents;
mod design;
mod insert;
#[cfg(feature = "std")]
mod level_by_level;
mod lookup;
#[cfg(test)]
mod machines;
#[cfg(feature = "file")]
mod parts;
#[cfg(test)]
#[path = "../../tests/schemes/mod.rs"]
mod schemes;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub(crate) mod shared;

pub use any::Any;
pub use balanced::Balanced;
pub use classical::Classical;
#[cfg(feature = "file")]
pub(crate) use parts::{Counters, FromParts, Parts, blocks_bytes, planned_overflow};

use alloc::boxed::Box;

use crate::error::{BuildError, FullError, RemoveError};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::parameters::Parameters;
use crate::statistics::Statistics;

/// What an insert found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insertion {
    /// The key was not there; now it is.
    New,
    /// The key was there already, or it looked like that (at the filter's false-positive rate).
    /// Nothing has changed, and the filter answers "present" all the same.
    AlreadyPresent,
}

impl Insertion {
    /// Whether the key was not there before.
    pub const fn is_new(self) -> bool {
        matches!(self, Self::New)
    }
}

/// A filter over hashes. Every operation reports its accesses to an [`Observer`].
pub trait RawFilter: absorb::Absorb + Sized {
    /// Makes an empty filter. Nothing is allocated if the parameters are refused.
    fn new(parameters: &Parameters) -> Result<Self, BuildError>;

    /// Inserts a key unless it is (apparently) present.
    fn insert<O: Observer>(&mut self, key: KeyHash, observer: O) -> Result<Insertion, FullError>;

    /// Whether the key may have been inserted. Never `false` for a key that was.
    #[inline]
    fn contains(&self, key: KeyHash) -> bool {
        self.contains_observed(key, ())
    }

    /// The same, observed.
    fn contains_observed<O: Observer>(&self, key: KeyHash, observer: O) -> bool;

    /// Inserts keys in order, as if one by one; how many were new.
    ///
    /// # Errors
    /// [`FullError`] at the first key that is refused; the keys before it are in the filter.
    fn insert_batch(&mut self, keys: &[KeyHash]) -> Result<u64, FullError> {
        let mut new = 0;
        for &key in keys {
            new += u64::from(self.insert(key, ())?.is_new());
        }
        Ok(new)
    }

    /// [`insert_batch`](Self::insert_batch) by up to so many threads, where the filter's kind allows.
    fn insert_parallel(&mut self, keys: &[KeyHash], _threads: usize) -> Result<u64, FullError> {
        self.insert_batch(keys)
    }

    /// Looks keys up. Bit `i % 64` of the word `i / 64` of `found` becomes the answer for key `i`;
    /// keys that it has no room for are left out.
    fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        for (keys, found) in keys.chunks(64).zip(found) {
            let answers = keys.iter().zip(0..);
            *found =
                answers.fold(0, |word, (&key, bit)| word | u64::from(self.contains(key)) << bit);
        }
    }

    /// Removes a key that was inserted, from a filter that stores every insert.
    fn remove<O: Observer>(&mut self, key: KeyHash, observer: O) -> Result<(), RemoveError>;

    /// Elements stored, counted along the way.
    fn elements(&self) -> u64;

    /// Removes all keys and keeps the memory.
    fn clear(&mut self);

    /// Looks through the whole filter and tells how it is doing.
    fn statistics(&self) -> Statistics;

    /// The filter's contents, word by word: equal for equal histories.
    fn words(&self) -> Box<dyn Iterator<Item = u64> + '_>;
}
