//! A filter whose kind is known only at run time.

use alloc::boxed::Box;

use super::absorb::Absorb;
use super::{Balanced, Classical, Insertion, RawFilter};
use crate::block::FingerprintBlocks;
use crate::error::{BuildError, FullError, MergeError, RemoveError};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::parameters::{Parameters, Scheme};
use crate::placement::{FirstWithRoom, LeastLoaded};
use crate::statistics::Statistics;

/// One of the filters, chosen by the parameters. The choice costs one predictable branch per
/// operation, or per batch of them; behind it runs the same code as in the filter itself.
#[derive(Debug, Clone, PartialEq, Eq)]
// The largest variant is a few hundred bytes, once per filter: a box would cost an access per key.
#[allow(clippy::large_enum_variant)]
pub enum Any {
    /// The classical filter.
    Classical(Classical),
    /// Single, sequential and multi-level.
    FirstWithRoom(Balanced<FirstWithRoom>),
    /// Blocked, two-choice and one-plus-alpha.
    LeastLoaded(Balanced<LeastLoaded>),
    /// Single, sequential and multi-level over fingerprint blocks.
    Fingerprint(Balanced<FirstWithRoom, FingerprintBlocks>),
}

/// Runs the same expression on whichever filter it is.
macro_rules! delegate {
    ($any:expr, $filter:ident => $operation:expr) => {
        match $any {
            Any::Classical($filter) => $operation,
            Any::FirstWithRoom($filter) => $operation,
            Any::LeastLoaded($filter) => $operation,
            Any::Fingerprint($filter) => $operation,
        }
    };
}

impl RawFilter for Any {
    fn new(parameters: &Parameters) -> Result<Self, BuildError> {
        match parameters.scheme {
            Scheme::Classical { .. } => RawFilter::new(parameters).map(Self::Classical),
            Scheme::Single { .. } | Scheme::Sequential { .. } | Scheme::MultiLevel { .. } => {
                RawFilter::new(parameters).map(Self::FirstWithRoom)
            }
            Scheme::Blocked { .. } | Scheme::TwoChoice { .. } | Scheme::OnePlusAlpha { .. } => {
                RawFilter::new(parameters).map(Self::LeastLoaded)
            }
            Scheme::Fingerprint { .. } => RawFilter::new(parameters).map(Self::Fingerprint),
        }
    }

    #[inline]
    fn insert<O: Observer>(&mut self, key: KeyHash, observer: O) -> Result<Insertion, FullError> {
        delegate!(self, filter => filter.insert(key, observer))
    }

    #[inline]
    fn contains(&self, key: KeyHash) -> bool {
        delegate!(self, filter => filter.contains(key))
    }

    fn contains_observed<O: Observer>(&self, key: KeyHash, observer: O) -> bool {
        delegate!(self, filter => filter.contains_observed(key, observer))
    }

    fn insert_batch(&mut self, keys: &[KeyHash]) -> Result<u64, FullError> {
        delegate!(self, filter => filter.insert_batch(keys))
    }

    fn insert_parallel(&mut self, keys: &[KeyHash], threads: usize) -> Result<u64, FullError> {
        delegate!(self, filter => filter.insert_parallel(keys, threads))
    }

    fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        delegate!(self, filter => filter.contains_batch(keys, found));
    }

    fn remove<O: Observer>(&mut self, key: KeyHash, observer: O) -> Result<(), RemoveError> {
        delegate!(self, filter => filter.remove(key, observer))
    }

    fn elements(&self) -> u64 {
        delegate!(self, filter => filter.elements())
    }

    fn clear(&mut self) {
        delegate!(self, filter => filter.clear());
    }

    fn statistics(&self) -> Statistics {
        delegate!(self, filter => filter.statistics())
    }

    fn words(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        delegate!(self, filter => filter.words())
    }
}

impl Absorb for Any {
    fn absorb(&mut self, other: &Self, factor: u64) -> Result<(), MergeError> {
        match (self, other) {
            (Self::Classical(ours), Self::Classical(theirs)) => ours.absorb(theirs, factor),
            (Self::FirstWithRoom(ours), Self::FirstWithRoom(theirs)) => ours.absorb(theirs, factor),
            (Self::LeastLoaded(ours), Self::LeastLoaded(theirs)) => ours.absorb(theirs, factor),
            (Self::Fingerprint(ours), Self::Fingerprint(theirs)) => ours.absorb(theirs, factor),
            _ => Err(MergeError::OtherKind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::BlockTable;

    #[test]
    fn filters_of_different_kinds_are_not_merged() {
        let blocks = BlockTable { count: 2, bits: 512, hashes: 3 };
        let schemes = [Scheme::Classical { bits: 1_024, hashes: 3 }, Scheme::Blocked { blocks }];
        let [mut ours, theirs] =
            schemes.map(|scheme| Any::new(&Parameters { keys: 10, seed: 0, scheme }).unwrap());
        let before = ours.clone();
        assert_eq!(ours.absorb(&theirs, 1), Err(MergeError::OtherKind));
        assert_eq!(ours, before);
    }
}
