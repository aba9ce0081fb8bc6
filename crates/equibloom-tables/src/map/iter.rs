//! Iteration, in arbitrary order.

use core::iter::FusedIterator;

use super::{Map, RawTable};
use crate::buckets::Slot;
use crate::storage;

/// Iterator of [`Map::iter`].
pub struct Iter<'a, K, V>(storage::Iter<'a, (K, V)>);
/// Iterator of [`Map::iter_mut`].
pub struct IterMut<'a, K, V>(storage::IterMut<'a, (K, V)>);
/// Iterator of [`Map::into_iter`](IntoIterator::into_iter).
pub struct IntoIter<K, V>(storage::IntoIter<(K, V)>);

/// Iterator of [`Map::drain`]: takes the entries out. The map is empty when this is dropped.
pub struct Drain<'a, K, V> {
    storage: &'a mut storage::Storage<(K, V)>,
    cursor: Slot,
}

impl<K, V, T: RawTable<Entry = (K, V)>, S> Map<K, V, T, S> {
    /// All entries.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.table.storage().iter())
    }

    /// All entries, their values to be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut(self.table.storage_mut().iter_mut())
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

/// An iterator that changes what another one gives and knows how many are left.
macro_rules! forwarding {
    ($name:ident<$($lifetime:lifetime)?>, $item:ty, $from:pat => $to:expr) => {
        impl<$($lifetime,)? K, V> Iterator for $name<$($lifetime,)? K, V> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                self.0.next().map(|$from| $to)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.size_hint()
            }
        }
        impl<$($lifetime,)? K, V> ExactSizeIterator for $name<$($lifetime,)? K, V> {}
        impl<$($lifetime,)? K, V> FusedIterator for $name<$($lifetime,)? K, V> {}
    };
}

forwarding!(Iter<'a>, (&'a K, &'a V), (key, value) => (key, value));
forwarding!(IterMut<'a>, (&'a K, &'a mut V), (key, value) => (&*key, value));
forwarding!(IntoIter<>, (K, V), entry => entry);

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

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
        IntoIter(storage::IntoIter::new(self.table.into_storage()))
    }
}
