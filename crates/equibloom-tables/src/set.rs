//! Sets: maps without values.

use core::fmt;
use core::hash::{BuildHasher, Hash};

use equivalent::Equivalent;

use super::balanced::Balanced;
use super::cuckoo::Cuckoo;
use super::map::{DefaultHashBuilder, IntoIter, Iter, Map};
use super::raw::RawTable;
use super::statistics::TableStatistics;
use crate::error::TableError;

/// A hash set over a table of keys: see [`BalancedSet`] and [`CuckooSet`].
#[derive(Clone)]
pub struct Set<K, T, S> {
    map: Map<K, (), T, S>,
}

/// A hash set whose buckets are filled evenly.
///
/// ```
/// use equibloom_tables::BalancedSet;
///
/// let mut seen = BalancedSet::new();
/// assert!(seen.insert("alice"));
/// assert!(!seen.insert("alice"));
/// assert!(seen.contains("alice") && !seen.contains("bob"));
/// ```
pub type BalancedSet<K, S = DefaultHashBuilder> = Set<K, Balanced<(K, ())>, S>;

/// A hash set in which a key has two places.
///
/// ```
/// use equibloom_tables::CuckooSet;
///
/// let set: CuckooSet<u32> = (0..100).collect();
/// assert!(set.contains(&7) && !set.contains(&100));
/// ```
pub type CuckooSet<K, S = DefaultHashBuilder, const SLOTS: usize = 4> =
    Set<K, Cuckoo<(K, ()), SLOTS>, S>;

type Keys<'a, K> = core::iter::Map<Iter<'a, K, ()>, fn((&'a K, &'a ())) -> &'a K>;

impl<K, T, S> From<Map<K, (), T, S>> for Set<K, T, S> {
    /// Takes a map without values, made with any of its constructors.
    fn from(map: Map<K, (), T, S>) -> Self {
        Self { map }
    }
}

#[cfg(feature = "std")]
impl<K, T: RawTable + Default> Set<K, T, DefaultHashBuilder> {
    /// An empty set that allocates nothing yet.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<K, T: RawTable<Entry = (K, ())>, S> Set<K, T, S> {
    /// Number of keys.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Keys the set is planned for; past that it grows.
    pub fn capacity(&self) -> usize {
        self.map.capacity()
    }

    /// All keys, in arbitrary order.
    pub fn iter(&self) -> Keys<'_, K> {
        self.map.iter().map(|(key, ())| key)
    }

    /// Takes all keys out and keeps the memory.
    pub fn drain(&mut self) -> impl Iterator<Item = K> + '_ {
        self.map.drain().map(|(key, ())| key)
    }

    /// Removes all keys and keeps the memory.
    pub fn clear(&mut self) {
        self.map.clear();
    }
}

impl<K: Eq + Hash, T: RawTable<Entry = (K, ())>, S: BuildHasher> Set<K, T, S> {
    /// Inserts a key and returns whether it is new. If not, the stored key stays.
    pub fn insert(&mut self, key: K) -> bool {
        self.map.insert(key, ()).is_none()
    }

    /// Whether the key is in the set.
    #[inline]
    pub fn contains<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> bool {
        self.map.contains_key(key)
    }

    /// The stored key that equals this one.
    pub fn get<Q: ?Sized + Hash + Equivalent<K>>(&self, key: &Q) -> Option<&K> {
        self.map.get_key_value(key).map(|(key, ())| key)
    }

    /// Removes a key and returns whether it was there.
    pub fn remove<Q: ?Sized + Hash + Equivalent<K>>(&mut self, key: &Q) -> bool {
        self.take(key).is_some()
    }

    /// Removes a key and returns it.
    pub fn take<Q: ?Sized + Hash + Equivalent<K>>(&mut self, key: &Q) -> Option<K> {
        self.map.remove_entry(key).map(|(key, ())| key)
    }

    /// Keeps the keys for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
        self.map.retain(|key, ()| keep(key));
    }

    /// Makes room for `additional` more keys.
    ///
    /// # Errors
    /// [`TableError::TooLarge`] or [`TableError::OutOfMemory`]; the set is as it was.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TableError> {
        self.map.try_reserve(additional)
    }

    /// Makes room for `additional` more keys, unless the allocation fails.
    pub fn reserve(&mut self, additional: usize) {
        self.map.reserve(additional);
    }

    /// Frees the memory that the keys do not need.
    pub fn shrink_to_fit(&mut self) {
        self.map.shrink_to_fit();
    }

    /// Statistics, from a pass over the whole set.
    pub fn statistics(&self) -> TableStatistics {
        self.map.statistics()
    }
}

impl<K: fmt::Debug, T: RawTable<Entry = (K, ())>, S> fmt::Debug for Set<K, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<K, T, S, T2, S2> PartialEq<Set<K, T2, S2>> for Set<K, T, S>
where
    K: Eq + Hash,
    T: RawTable<Entry = (K, ())>,
    S: BuildHasher,
    T2: RawTable<Entry = (K, ())>,
    S2: BuildHasher,
{
    fn eq(&self, other: &Set<K, T2, S2>) -> bool {
        self.map == other.map
    }
}

impl<K: Eq + Hash, T: RawTable<Entry = (K, ())>, S: BuildHasher> Eq for Set<K, T, S> {}

impl<K, T: RawTable + Default, S: Default> Default for Set<K, T, S> {
    fn default() -> Self {
        Self { map: Map::default() }
    }
}

impl<K, T, S> FromIterator<K> for Set<K, T, S>
where
    K: Eq + Hash,
    T: RawTable<Entry = (K, ())> + Default,
    S: BuildHasher + Default,
{
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        Self { map: keys.into_iter().map(|key| (key, ())).collect() }
    }
}

impl<K, T, S> Extend<K> for Set<K, T, S>
where
    K: Eq + Hash,
    T: RawTable<Entry = (K, ())>,
    S: BuildHasher,
{
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.map.extend(keys.into_iter().map(|key| (key, ())));
    }
}

impl<'a, K, T: RawTable<Entry = (K, ())>, S> IntoIterator for &'a Set<K, T, S> {
    type Item = &'a K;
    type IntoIter = Keys<'a, K>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K, T: RawTable<Entry = (K, ())>, S> IntoIterator for Set<K, T, S> {
    type Item = K;
    type IntoIter = core::iter::Map<IntoIter<K, ()>, fn((K, ())) -> K>;

    fn into_iter(self) -> Self::IntoIter {
        self.map.into_iter().map(|(key, ())| key)
    }
}
