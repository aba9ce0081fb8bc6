//! The map that users hold: a table over hashes with keys and a hasher in front.

mod construct;
mod entry;
mod iter;
mod traits;

pub use construct::DefaultHashBuilder;
pub use entry::{Entry, OccupiedEntry, VacantEntry};
pub use iter::{Drain, IntoIter, Iter, IterMut};

use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;
use core::mem;

use equivalent::Equivalent;

use super::balanced::Balanced;
use super::cuckoo::Cuckoo;
use super::raw::RawTable;
use super::statistics::TableStatistics;
use super::storage::Place;
use crate::error::TableError;

/// A hash map over a table of entries, which decides where they are: see [`BalancedMap`] and
/// [`CuckooMap`].
#[derive(Clone)]
pub struct Map<K, V, T, S> {
    table: T,
    hasher: S,
    entries: PhantomData<(K, V)>,
}

/// A hash map whose buckets are filled evenly: a lookup reads few of them, and never more than planned.
///
/// ```
/// use equibloom_tables::BalancedMap;
///
/// let mut map = BalancedMap::new();
/// map.insert(String::from("alice"), 31);
/// assert_eq!(map.get("alice"), Some(&31));
/// assert!(!map.contains_key("bob"));
/// ```
pub type BalancedMap<K, V, S = DefaultHashBuilder> = Map<K, V, Balanced<(K, V)>, S>;

/// A hash map in which an entry has two places: with `SLOTS` = 1 as on the slides (half full at most),
/// with 4 up to 95 % full.
///
/// ```
/// use equibloom_tables::CuckooMap;
///
/// let mut map: CuckooMap<&str, u32> = CuckooMap::new();
/// assert_eq!(map.insert("alice", 31), None);
/// assert_eq!(map.insert("alice", 32), Some(31));
/// assert_eq!(map.len(), 1);
/// ```
pub type CuckooMap<K, V, S = DefaultHashBuilder, const SLOTS: usize = 4> =
    Map<K, V, Cuckoo<(K, V), SLOTS>, S>;

fn hash_of<K: Hash, V, S: BuildHasher>(hasher: &S) -> impl Fn(&(K, V)) -> u64 + '_ {
    |(key, _)| hasher.hash_one(key)
}

impl<K, V, T: RawTable<Entry = (K, V)>, S> Map<K, V, T, S> {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.table.storage().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries the map is planned for; past that it grows.
    pub fn capacity(&self) -> usize {
        self.table.capacity()
    }

    /// The hasher.
    pub fn hasher(&self) -> &S {
        &self.hasher
    }

    /// The table behind the map.
    pub fn table(&self) -> &T {
        &self.table
    }

    /// Removes all entries and keeps the memory.
    pub fn clear(&mut self) {
        self.table.storage_mut().clear();
    }
}

impl<K: Eq + Hash, V, T: RawTable<Entry = (K, V)>, S: BuildHasher> Map<K, V, T, S> {
    #[inline]
    fn find<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> Option<(u64, Place)> {
        let hash = self.hasher.hash_one(key);
        let is_match = move |entry: &(K, V)| key.equivalent(&entry.0);
        let (place, _) = self.table.find(hash, is_match, &mut |_| {})?;
        Some((hash, place))
    }

    /// The value under a key.
    #[inline]
    pub fn get<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> Option<&V> {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// The stored key and its value.
    #[inline]
    pub fn get_key_value<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> Option<(&K, &V)> {
        let is_match = move |entry: &(K, V)| key.equivalent(&entry.0);
        let (_, entry) = self.table.find(self.hasher.hash_one(key), is_match, &mut |_| {})?;
        Some((&entry.0, &entry.1))
    }

    /// The value under a key, to be changed.
    #[inline]
    pub fn get_mut<Q: ?Sized + Hash + Equivalent<K>>(&mut self, key: &Q) -> Option<&mut V> {
        let (_, place) = self.find(key)?;
        self.table.storage_mut().get_mut(place).map(|(_, value)| value)
    }

    /// Whether there is an entry under a key.
    #[inline]
    pub fn contains_key<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> bool {
        self.find(key).is_some()
    }

    /// Inserts a value under a key and returns the one that was there. The stored key stays.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let Self { table, hasher, .. } = self;
        let hash = hasher.hash_one(&key);
        if let Some((place, _)) = table.find(hash, |entry| entry.0 == key, &mut |_| {}) {
            let (_, known) = table.storage_mut().get_mut(place)?;
            return Some(mem::replace(known, value));
        }
        table.make_room(hash_of(hasher));
        table.place(hash, (key, value), hash_of(hasher));
        None
    }

    /// Removes the entry under a key and returns its value.
    pub fn remove<Q: ?Sized + Hash + Equivalent<K>>(&mut self, key: &Q) -> Option<V> {
        self.remove_entry(key).map(|(_, value)| value)
    }

    /// Removes the entry under a key and returns it.
    pub fn remove_entry<Q: ?Sized + Hash + Equivalent<K>>(&mut self, key: &Q) -> Option<(K, V)> {
        let (hash, place) = self.find(key)?;
        self.table.remove(hash, place)
    }

    /// The place of a key, whether there is an entry or not.
    ///
    /// ```
    /// use equibloom_tables::BalancedMap;
    ///
    /// let mut words = BalancedMap::new();
    /// for word in "to be or not to be".split(' ') {
    ///     *words.entry(word).or_insert(0) += 1;
    /// }
    /// assert_eq!(words["be"], 2);
    /// ```
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V, T, S> {
        let hash = self.hasher.hash_one(&key);
        match self.table.find(hash, |entry| entry.0 == key, &mut |_| {}) {
            Some((place, _)) => Entry::Occupied(OccupiedEntry { map: self, hash, place }),
            None => Entry::Vacant(VacantEntry { map: self, hash, key }),
        }
    }

    /// Keeps the entries for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        let Self { table, hasher, .. } = self;
        // From the end, because a removal from the stash moves the last entry into the gap.
        for place in table.storage().places().rev() {
            let Some((key, value)) = table.storage_mut().get_mut(place) else { continue };
            if !keep(key, value) {
                let hash = hasher.hash_one(&*key);
                table.remove(hash, place);
            }
        }
    }

    /// Makes room for `additional` more entries, so that they come in without growth.
    ///
    /// # Errors
    /// [`TableError::TooLarge`] or [`TableError::OutOfMemory`]; the map is as it was.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TableError> {
        let bytes = size_of::<(K, V)>() as u64;
        let too_large = TableError::TooLarge { count: additional as u64, bytes };
        let wanted = self.len().checked_add(additional).ok_or(too_large)?;
        if wanted <= self.capacity() {
            return Ok(());
        }
        self.table.rebuild(wanted, hash_of(&self.hasher))
    }

    /// [`try_reserve`](Self::try_reserve) without an error: if the allocation fails, the map grows later.
    pub fn reserve(&mut self, additional: usize) {
        let _no_memory = self.try_reserve(additional);
    }

    /// Frees the memory that the entries do not need.
    pub fn shrink_to_fit(&mut self) {
        let entries = self.len();
        // Without memory for the smaller table, the larger one stays.
        let _no_memory = self.table.rebuild(entries, hash_of(&self.hasher));
    }

    /// Statistics, from a pass over the whole map.
    pub fn statistics(&self) -> TableStatistics {
        TableStatistics::take(&self.table, hash_of(&self.hasher))
    }
}
