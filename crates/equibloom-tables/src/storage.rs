//! The parts of every table: buckets, a stash, and the number of entries in both.

use core::num::NonZeroU8;

pub(crate) use super::buckets::Cursor;
use super::buckets::{self, BucketArray, Slot};
use super::observer::LookupObserver;
use super::stash::{self, Stash, StashIndex};
use crate::error::TableError;
use equibloom_layout::KeyHash;

/// Where an entry is. Valid until the table changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(pub(crate) Position);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    Bucket(Slot),
    Stash(StashIndex),
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

impl Place {
    /// Beside its entry.
    #[inline]
    pub(crate) fn with_entry<T>((at, entry): (Slot, &T)) -> (Self, &T) {
        (Self(Position::Bucket(at)), entry)
    }
}

impl<T> Storage<T> {
    /// An empty storage without memory.
    pub(crate) fn empty(slots: usize) -> Self {
        Self::over(BucketArray::empty(slots))
    }

    pub(crate) fn new(buckets: usize, slots: usize, counters: usize) -> Result<Self, TableError> {
        Ok(Self::over(BucketArray::new(buckets, slots, counters)?))
    }

    fn over(buckets: BucketArray<T>) -> Self {
        Self { buckets, stash: Stash::new(), len: 0, capacity: 0, stash_limit: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn get(&self, place: Place) -> Option<&T> {
        match place.0 {
            Position::Bucket(slot) => self.buckets.get(slot),
            Position::Stash(at) => self.stash.get(at),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        match place.0 {
            Position::Bucket(slot) => self.buckets.get_mut(slot),
            Position::Stash(at) => self.stash.get_mut(at),
        }
    }

    pub(crate) fn take(&mut self, place: Place) -> Option<T> {
        let taken = match place.0 {
            Position::Bucket(slot) => self.buckets.take(slot),
            Position::Stash(at) => self.stash.remove(at),
        };
        self.len -= usize::from(taken.is_some());
        taken
    }

    /// Whether the entry is where its hash places it.
    pub(crate) fn is_hashed(&self, place: Place) -> bool {
        !matches!(place.0, Position::Stash(at) if self.stash.is_unhashed(at))
    }

    /// Stores an entry whose hash is unknown. It counts as having passed every bucket by.
    pub(crate) fn keep_unhashed(&mut self, entry: T) {
        if !self.stash.has_unhashed() {
            self.buckets.count_many_everywhere();
        }
        self.stash.push_unhashed(entry);
        self.len += 1;
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
    pub(crate) fn find_in_stash<O: LookupObserver>(
        &self,
        key: KeyHash,
        is_match: &mut impl FnMut(&T) -> bool,
        observer: &mut O,
    ) -> Option<(Place, &T)> {
        if self.stash.is_empty() {
            return None;
        }
        observer.stash_searched();
        let (at, entry) = self.stash.find(key.overflow_entry(), is_match)?;
        Some((Place(Position::Stash(at)), entry))
    }

    /// Puts a new entry into a free slot.
    #[inline]
    pub(crate) fn put(&mut self, at: Slot, tag: NonZeroU8, entry: T) -> Place {
        self.buckets.fill(at, tag, entry);
        self.len += 1;
        Place(Position::Bucket(at))
    }

    /// Puts an entry into a slot and returns the one that was there.
    pub(crate) fn exchange(&mut self, at: Slot, tag: NonZeroU8, entry: T) -> Option<T> {
        let before = self.buckets.replace(at, tag, entry);
        self.len += usize::from(before.is_none());
        before
    }

    /// Puts a new entry into the stash.
    pub(crate) fn put_into_stash(&mut self, key: KeyHash, entry: T) -> Place {
        self.len += 1;
        Place(Position::Stash(self.stash.push(key.overflow_entry(), entry)))
    }

    /// The places of all entries.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let in_buckets = self.buckets.occupied_slots().map(Position::Bucket);
        in_buckets.chain((0..self.stash.len()).map(Position::Stash)).map(Place)
    }

    /// The last place that can hold an entry; [`place_before`](Self::place_before) gives every other one.
    pub(crate) fn last_place(&self) -> Option<Place> {
        match self.stash.len().checked_sub(1) {
            Some(at) => Some(Place(Position::Stash(at))),
            None => self.last_slot(self.buckets.count()),
        }
    }

    /// The place before this one. It may be empty.
    pub(crate) fn place_before(&self, place: Place) -> Option<Place> {
        match place.0 {
            Position::Stash(0) => self.last_slot(self.buckets.count()),
            Position::Stash(at) => Some(Place(Position::Stash(at - 1))),
            Position::Bucket(Slot { bucket, slot: 0 }) => self.last_slot(bucket),
            Position::Bucket(Slot { bucket, slot }) => {
                Some(Place(Position::Bucket(Slot { bucket, slot: slot - 1 })))
            }
        }
    }

    /// The last slot before a bucket.
    fn last_slot(&self, bucket: usize) -> Option<Place> {
        let slot = self.buckets.geometry().slots - 1;
        let bucket = bucket.checked_sub(1)?;
        Some(Place(Position::Bucket(Slot { bucket, slot })))
    }

    pub(crate) fn iter(&self) -> Iter<'_, T> {
        Entries { buckets: self.buckets.iter(), stash: self.stash.iter(), left: self.len }
    }

    pub(crate) fn iter_mut(&mut self) -> IterMut<'_, T> {
        Entries { buckets: self.buckets.iter_mut(), stash: self.stash.iter_mut(), left: self.len }
    }

    /// Takes one entry after the other out of the storage.
    pub(crate) fn take_next(&mut self, cursor: &mut Cursor) -> Option<T> {
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

/// References to all entries of a table, in the buckets and in the stash.
#[derive(Clone)]
pub(crate) struct Entries<B, S> {
    buckets: B,
    stash: S,
    left: usize,
}

/// Shared references to all entries.
pub(crate) type Iter<'a, T> = Entries<buckets::Iter<'a, T>, stash::Iter<'a, T>>;
/// Exclusive references to all entries.
pub(crate) type IterMut<'a, T> = Entries<buckets::IterMut<'a, T>, stash::IterMut<'a, T>>;

impl<B: Iterator, S: Iterator<Item = B::Item>> Iterator for Entries<B, S> {
    type Item = B::Item;

    #[inline]
    fn next(&mut self) -> Option<B::Item> {
        // Stops at the last entry: millions of free slots may follow.
        self.left = self.left.checked_sub(1)?;
        self.buckets.next().or_else(|| self.stash.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// The entries of a table that is taken apart.
pub(crate) struct IntoIter<T> {
    storage: Storage<T>,
    cursor: Cursor,
}

impl<T> IntoIter<T> {
    pub(crate) fn new(storage: Storage<T>) -> Self {
        Self { storage, cursor: Cursor::default() }
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
