//! Iteration, in arbitrary order.

use core::iter::FusedIterator;
use core::slice;

use super::{Map, RawTable};
use crate::buckets::{self, Slot};
use crate::stash::Node;
use crate::storage::{self, Storage};

/// Iterator of [`Map::iter`]: the entries in buckets, then those in the stash.
pub struct Iter<'a, K, V> {
    storage: &'a Storage<(K, V)>,
    cursor: Slot,
    left: usize,
}

/// Iterator of [`Map::iter_mut`].
pub struct IterMut<'a, K, V> {
    buckets: buckets::IterMut<'a, (K, V)>,
    stash: slice::IterMut<'a, Node<(K, V)>>,
    left: usize,
}

/// Iterator of [`Map::into_iter`](IntoIterator::into_iter).
pub type IntoIter<K, V> = storage::IntoIter<(K, V)>;

/// Iterator of [`Map::drain`]: takes the entries out. The map is empty when this is dropped.
pub struct Drain<'a, K, V> {
    storage: &'a mut Storage<(K, V)>,
    cursor: Slot,
}

impl<K, V, T: RawTable<Entry = (K, V)>, S> Map<K, V, T, S> {
    /// All entries.
    pub fn iter(&self) -> Iter<'_, K, V> {
        let storage = self.table.storage();
        Iter { storage, cursor: Slot::default(), left: storage.len() }
    }

    /// All entries, their values to be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        let storage = self.table.storage_mut();
        let left = storage.len();
        IterMut { buckets: storage.buckets.iter_mut(), stash: storage.stash.nodes_mut(), left }
    }

    /// All keys.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> + FusedIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// All values.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> + FusedIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// All values, to be changed.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut V> + FusedIterator {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Takes all entries out and keeps the memory.
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        let storage = self.table.storage_mut();
        Drain { storage, cursor: Slot::default() }
    }
}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        // Stops at the last entry: millions of free slots may follow.
        self.left = self.left.checked_sub(1)?;
        let Storage { buckets, stash, .. } = self.storage;
        let (key, value) = match buckets.next_occupied(&mut self.cursor) {
            Some(slot) => buckets.get(slot)?,
            // As many are left as the stash holds.
            None => stash.get(self.left)?,
        };
        Some((key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}
impl<K, V> FusedIterator for Iter<'_, K, V> {}

impl<'a, K, V> Iterator for IterMut<'a, K, V> {
    type Item = (&'a K, &'a mut V);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let in_stash = || self.stash.next().map(|node| &mut node.entry);
        let (key, value) = self.buckets.next().or_else(in_stash)?;
        Some((key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<K, V> ExactSizeIterator for IterMut<'_, K, V> {}
impl<K, V> FusedIterator for IterMut<'_, K, V> {}

impl<K, V> Iterator for Drain<'_, K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        self.storage.take_next(&mut self.cursor)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.storage.len(), Some(self.storage.len()))
    }
}

impl<K, V> ExactSizeIterator for Drain<'_, K, V> {}
impl<K, V> FusedIterator for Drain<'_, K, V> {}

impl<K, V> Drop for Drain<'_, K, V> {
    fn drop(&mut self) {
        // Also resets the counters of the buckets.
        self.storage.clear();
    }
}

impl<'a, K, V, T: RawTable<Entry = (K, V)>, S> IntoIterator for &'a Map<K, V, T, S> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<'a, K, V, T: RawTable<Entry = (K, V)>, S> IntoIterator for &'a mut Map<K, V, T, S> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> IterMut<'a, K, V> {
        self.iter_mut()
    }
}

impl<K, V, T: RawTable<Entry = (K, V)>, S> IntoIterator for Map<K, V, T, S> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        IntoIter::new(self.table.into_storage())
    }
}
