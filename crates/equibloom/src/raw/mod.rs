//! The filters themselves. They see hashes only; [`Filter`](crate::Filter) puts keys in front.
//!
//! There are three: [`Classical`], [`Balanced`] (every blocked scheme, generic over the rule and the
//! blocks), and [`Any`], which holds one of them and decides once per operation.

mod absorb;
mod any;
mod balanced;
mod budget;
mod classical;
mod contents;
mod design;
#[cfg(feature = "file")]
mod parts;

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
    fn insert<O: Observer>(
        &mut self,
        key: KeyHash,
        observer: &mut O,
    ) -> Result<Insertion, FullError>;

    /// Whether the key may have been inserted. Never `false` for a key that was.
    fn contains<O: Observer>(&self, key: KeyHash, observer: &mut O) -> bool;

    /// Removes a key that was inserted, from a filter that stores every insert.
    fn remove<O: Observer>(&mut self, key: KeyHash, observer: &mut O) -> Result<(), RemoveError>;

    /// Elements stored, counted along the way.
    fn elements(&self) -> u64;

    /// Removes all keys and keeps the memory.
    fn clear(&mut self);

    /// Looks through the whole filter and tells how it is doing.
    fn statistics(&self) -> Statistics;

    /// The filter's contents, word by word: equal for equal histories.
    fn words(&self) -> Box<dyn Iterator<Item = u64> + '_>;
}
