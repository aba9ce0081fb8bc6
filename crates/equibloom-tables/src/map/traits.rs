//! What every map can do: print, compare, collect, index.

use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::ops::Index;

use equivalent::Equivalent;

use super::{Map, RawTable};

impl<K: fmt::Debug, V: fmt::Debug, T: RawTable<Entry = (K, V)>, S> fmt::Debug for Map<K, V, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

/// Equal entries, whatever the tables and hashers: a balanced map can be compared with a cuckoo map.
impl<K, V, T, S, T2, S2> PartialEq<Map<K, V, T2, S2>> for Map<K, V, T, S>
where
    K: Eq + Hash,
    V: PartialEq,
    T: RawTable<Entry = (K, V)>,
    S: BuildHasher,
    T2: RawTable<Entry = (K, V)>,
    S2: BuildHasher,
{
    fn eq(&self, other: &Map<K, V, T2, S2>) -> bool {
        self.len() == other.len()
            && self.iter().all(|(key, value)| other.get(key).is_some_and(|found| found == value))
    }
}

impl<K: Eq + Hash, V: Eq, T: RawTable<Entry = (K, V)>, S: BuildHasher> Eq for Map<K, V, T, S> {}

impl<K, V, T: RawTable + Default, S: Default> Default for Map<K, V, T, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

impl<K, V, T, S> FromIterator<(K, V)> for Map<K, V, T, S>
where
    K: Eq + Hash,
    T: RawTable<Entry = (K, V)> + Default,
    S: BuildHasher + Default,
{
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.extend(entries);
        map
    }
}

impl<K, V, T, S> Extend<(K, V)> for Map<K, V, T, S>
where
    K: Eq + Hash,
    T: RawTable<Entry = (K, V)>,
    S: BuildHasher,
{
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        let entries = entries.into_iter();
        // Half of them may be known already; hashbrown assumes the same of a map that is not empty.
        let announced = entries.size_hint().0;
        self.reserve(if self.is_empty() { announced } else { announced.div_ceil(2) });
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<'a, K, V, T, S> Extend<(&'a K, &'a V)> for Map<K, V, T, S>
where
    K: Eq + Hash + Copy,
    V: Copy,
    T: RawTable<Entry = (K, V)>,
    S: BuildHasher,
{
    fn extend<I: IntoIterator<Item = (&'a K, &'a V)>>(&mut self, entries: I) {
        self.extend(entries.into_iter().map(|(&key, &value)| (key, value)));
    }
}

/// Panics if there is no entry, as the standard maps do.
impl<K, V, T, S, Q> Index<&Q> for Map<K, V, T, S>
where
    K: Eq + Hash,
    T: RawTable<Entry = (K, V)>,
    S: BuildHasher,
    Q: ?Sized + Hash + Equivalent<K>,
{
    type Output = V;

    #[expect(
        clippy::expect_used,
        reason = "indexing has no other way to say that there is nothing"
    )]
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no entry found for key")
    }
}
