//! The parts of every table: buckets, a stash, and the number of entries in both.

use core::iter::FusedIterator;
use core::mem;
use core::num::NonZeroU8;

use super::buckets::{BucketArray, Slot};
use super::stash::{Stash, StashIndex};
use equibloom_layout::KeyHash;

/// Where an entry is. Valid until the table changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a slot of a bucket.
    Bucket(Slot),
    /// In the stash, at this position.
    Stash(StashIndex),
}

/// What a lookup reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// The header of this bucket.
    Bucket(usize),
    /// The entry in this slot, because its tag agreed.
    Entry(Slot),
    /// The stash.
    Stash,
}

/// The entries of a table. Only the tables of this crate use it.
pub struct Storage<T> {
    pub(crate) buckets: BucketArray<T>,
    pub(crate) stash: Stash<T>,
    len: usize,
    /// Entries the table is planned for.
    pub(crate) capacity: usize,
    /// Entries that the stash may hold before the table is rebuilt.
    pub(crate) stash_limit: usize,
}

impl<T> Storage<T> {
    /// An empty storage. Capacity and limit of the stash are for the table to set.
    pub(crate) fn new(buckets: BucketArray<T>) -> Self {
        Self { buckets, stash: Stash::new(), len: 0, capacity: 0, stash_limit: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn get(&self, place: Place) -> Option<&T> {
        match place {
            Place::Bucket(slot) => self.buckets.get(slot),
            Place::Stash(at) => self.stash.get(at),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        match place {
            Place::Bucket(slot) => self.buckets.get_mut(slot),
            Place::Stash(at) => self.stash.get_mut(at),
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, place: Place) -> Option<T> {
        let taken = match place {
            Place::Bucket(slot) => self.buckets.take(slot),
            Place::Stash(at) => self.stash.remove(at),
        };
        self.len -= usize::from(taken.is_some());
        taken
    }

    /// Stores an entry whose hash is unknown. It counts as having passed every bucket by.
    pub(crate) fn keep_unhashed(&mut self, entry: T) {
        if !mem::replace(&mut self.stash.has_unhashed, true) {
            self.buckets.count_many_everywhere();
            // The next insert tries to find out the hash.
            self.stash_limit = 0;
        }
        self.put_into_stash(KeyHash::from_u64(0), entry);
    }

    /// Drops all entries and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.buckets.clear();
        self.stash.clear();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.buckets.bytes() + self.stash.bytes()
    }

    /// The stash's entry under this hash that `is_match` accepts.
    #[inline]
    pub(crate) fn find_in_stash(
        &self,
        key: KeyHash,
        is_match: impl FnMut(&T) -> bool,
        observe: &mut impl FnMut(Read),
    ) -> Option<(Place, &T)> {
        if self.stash.len() == 0 {
            return None;
        }
        observe(Read::Stash);
        let (at, entry) = self.stash.find(key.overflow_entry(), is_match)?;
        Some((Place::Stash(at), entry))
    }

    /// Puts a new entry into a free slot.
    #[inline]
    pub(crate) fn put(&mut self, at: Slot, tag: NonZeroU8, entry: T) -> Place {
        self.buckets.fill(at, tag, entry);
        self.len += 1;
        Place::Bucket(at)
    }

    /// Puts a new entry into the stash.
    pub(crate) fn put_into_stash(&mut self, key: KeyHash, entry: T) -> Place {
        self.len += 1;
        Place::Stash(self.stash.push(key.overflow_entry(), entry))
    }

    /// All places that may hold an entry, those of the stash at the end.
    pub(crate) fn places(&self) -> impl DoubleEndedIterator<Item = Place> + use<T> {
        let slots = self.buckets.geometry().slots;
        let in_buckets = (0..self.buckets.count()).flat_map(move |bucket| {
            (0..slots).map(move |slot| Place::Bucket(Slot { bucket, slot }))
        });
        in_buckets.chain((0..self.stash.len()).map(Place::Stash))
    }

    /// Takes one entry after the other out of the storage.
    pub(crate) fn take_next(&mut self, cursor: &mut Slot) -> Option<T> {
        let taken = self.buckets.take_next(cursor).or_else(|| self.stash.pop());
        self.len -= usize::from(taken.is_some());
        taken
    }
}

/// The layout is copied slot by slot, so that a copy needs no hashing and looks the same.
impl<T: Clone> Clone for Storage<T> {
    fn clone(&self) -> Self {
        Self { buckets: self.buckets.clone(), stash: self.stash.clone(), ..*self }
    }
}

/// The entries of a table that is taken apart.
pub struct IntoIter<T> {
    storage: Storage<T>,
    cursor: Slot,
}

impl<T> IntoIter<T> {
    pub(crate) fn new(storage: Storage<T>) -> Self {
        Self { storage, cursor: Slot::default() }
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.storage.take_next(&mut self.cursor)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.storage.len(), Some(self.storage.len()))
    }
}

impl<T> ExactSizeIterator for IntoIter<T> {}
impl<T> FusedIterator for IntoIter<T> {}
