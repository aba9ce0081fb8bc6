//! The entry of one key, present or not.

use core::hash::{BuildHasher, Hash};

use super::{Map, RawTable, hash_of};
use crate::storage::Place;

/// The entry of a key, present or not: see [`Map::entry`].
pub enum Entry<'a, K, V, T, S> {
    /// There is an entry.
    Occupied(OccupiedEntry<'a, K, V, T, S>),
    /// There is none.
    Vacant(VacantEntry<'a, K, V, T, S>),
}

/// An entry that is there.
pub struct OccupiedEntry<'a, K, V, T, S> {
    pub(super) map: &'a mut Map<K, V, T, S>,
    pub(super) hash: u64,
    pub(super) place: Place,
}

/// A key without an entry.
pub struct VacantEntry<'a, K, V, T, S> {
    pub(super) map: &'a mut Map<K, V, T, S>,
    pub(super) hash: u64,
    pub(super) key: K,
}

impl<'a, K, V, T, S> Entry<'a, K, V, T, S>
where
    K: Eq + Hash,
    T: RawTable<Entry = (K, V)>,
    S: BuildHasher,
{
    /// The value, after inserting `default` if there was none.
    pub fn or_insert(self, default: V) -> &'a mut V {
        self.or_insert_with(|| default)
    }

    /// The value, after inserting what `default` makes if there was none.
    pub fn or_insert_with(self, default: impl FnOnce() -> V) -> &'a mut V {
        match self {
            Self::Occupied(entry) => entry.into_mut(),
            Self::Vacant(entry) => entry.insert(default()),
        }
    }

    /// The value, after inserting the default if there was none.
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Changes the value if there is one.
    #[must_use]
    pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
        if let Self::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }

    /// The stored key, or the requested one.
    pub fn key(&self) -> &K {
        match self {
            Self::Occupied(entry) => entry.key(),
            Self::Vacant(entry) => entry.key(),
        }
    }
}

impl<'a, K, V, T: RawTable<Entry = (K, V)>, S> OccupiedEntry<'a, K, V, T, S> {
    fn pair(&self) -> &(K, V) {
        present(self.map.table.storage().get(self.place))
    }

    /// The stored key.
    pub fn key(&self) -> &K {
        &self.pair().0
    }

    /// The value.
    pub fn get(&self) -> &V {
        &self.pair().1
    }

    /// The value, to be changed.
    pub fn get_mut(&mut self) -> &mut V {
        &mut present(self.map.table.storage_mut().get_mut(self.place)).1
    }

    /// The value for as long as the map is borrowed.
    pub fn into_mut(self) -> &'a mut V {
        &mut present(self.map.table.storage_mut().get_mut(self.place)).1
    }

    /// Replaces the value and returns the old one.
    pub fn insert(&mut self, value: V) -> V {
        core::mem::replace(self.get_mut(), value)
    }

    /// Removes the entry and returns its value.
    pub fn remove(self) -> V {
        self.remove_entry().1
    }

    /// Removes the entry and returns it.
    pub fn remove_entry(self) -> (K, V) {
        present(self.map.table.remove(self.hash, self.place))
    }
}

impl<'a, K, V, T, S> VacantEntry<'a, K, V, T, S>
where
    K: Eq + Hash,
    T: RawTable<Entry = (K, V)>,
    S: BuildHasher,
{
    /// The requested key.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// The key back.
    pub fn into_key(self) -> K {
        self.key
    }

    /// Puts a value in.
    pub fn insert(self, value: V) -> &'a mut V {
        let Map { table, hasher, .. } = self.map;
        table.make_room(hash_of(hasher));
        let place = table.place(self.hash, (self.key, value), hash_of(hasher));
        &mut present(table.storage_mut().get_mut(place)).1
    }
}

/// An entry's place was found while the map was borrowed, so that the entry is there.
fn present<T>(found: Option<T>) -> T {
    match found {
        Some(entry) => entry,
        None => unreachable!("the place of an entry is valid until the map changes"),
    }
}
