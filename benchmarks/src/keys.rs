//! The same keys for every filter, hashed before the clock starts where a filter takes hashes.

use equibloom::{KeyHash, KeyHasher, Stable};

/// Keys and their hashes: 128 bits, and the lower 64 bits for filters that take those.
///
/// Three arrays, so that no filter reads more memory than its interface needs.
pub(crate) struct Hashes {
    plain: Vec<u64>,
    full: Vec<KeyHash>,
    short: Vec<u64>,
}

/// A part of them.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    /// The keys themselves.
    pub(crate) plain: &'a [u64],
    pub(crate) full: &'a [KeyHash],
    pub(crate) short: &'a [u64],
}

impl Hashes {
    pub(crate) fn of(keys: impl Iterator<Item = u64>) -> Self {
        let plain: Vec<u64> = keys.collect();
        let full: Vec<KeyHash> = plain.iter().map(full_hash).collect();
        let short = full.iter().copied().map(short_hash).collect();
        Self { plain, full, short }
    }

    pub(crate) fn all(&self) -> Keys<'_> {
        Keys { plain: &self.plain, full: &self.full, short: &self.short }
    }
}

#[inline(always)]
pub(crate) fn full_hash(key: &u64) -> KeyHash {
    Stable::default().hash_key(key)
}

#[inline(always)]
pub(crate) fn short_hash(hash: KeyHash) -> u64 {
    u128::from(hash) as u64
}

impl<'a> Keys<'a> {
    pub(crate) fn len(self) -> usize {
        self.full.len()
    }

    /// At most `parts` parts of about equal size, none empty.
    pub(crate) fn split(self, parts: usize) -> impl Iterator<Item = Keys<'a>> {
        let size = self.len().div_ceil(parts.max(1)).max(1);
        let hashes = self.full.chunks(size).zip(self.short.chunks(size));
        let parts = self.plain.chunks(size).zip(hashes);
        parts.map(|(plain, (full, short))| Keys { plain, full, short })
    }
}

/// The keys of a race.
pub(crate) struct Workload {
    /// Keys that are inserted.
    pub(crate) members: Hashes,
    /// Absent keys.
    pub(crate) misses: Hashes,
    /// Members, spread over all of them, as many as there are absent keys.
    pub(crate) hits: Hashes,
    /// Members and absent keys in random order.
    pub(crate) mixed: Hashes,
    /// Number of members in `mixed`.
    pub(crate) members_in_mixed: usize,
}

impl Workload {
    pub(crate) fn new(keys: u64, lookups: u64) -> Self {
        let hit = |index: u64| match lookups < keys {
            true => (u128::from(index) * u128::from(keys) / u128::from(lookups)) as u64,
            false => index % keys,
        };
        let miss = |index: u64| keys + index;
        // A bit of a hash with another seed is a fair coin, independent of the filters' hashes.
        let coin = Stable::with_seed(1);
        let is_member = |index: &u64| u128::from(coin.hash_key(index)) & 1 == 1;
        let mixed = |index: u64| if is_member(&index) { hit(index) } else { miss(index) };
        Self {
            members: Hashes::of(0..keys),
            misses: Hashes::of((0..lookups).map(miss)),
            hits: Hashes::of((0..lookups).map(hit)),
            mixed: Hashes::of((0..lookups).map(mixed)),
            members_in_mixed: (0..lookups).filter(is_member).count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn set(hashes: &Hashes) -> HashSet<KeyHash> {
        hashes.full.iter().copied().collect()
    }

    #[test]
    fn hits_are_members_and_misses_are_absent() {
        for (keys, lookups) in [(1_000, 100), (100, 1_000), (7, 7), (1, 3)] {
            let workload = Workload::new(keys, lookups);
            let members = set(&workload.members);
            assert_eq!(members.len() as u64, keys);
            assert_eq!(workload.hits.full.len() as u64, lookups);
            assert_eq!(set(&workload.hits).len() as u64, keys.min(lookups));
            assert!(set(&workload.hits).is_subset(&members));
            assert_eq!(set(&workload.misses).len() as u64, lookups);
            assert!(set(&workload.misses).is_disjoint(&members));
            let found = workload.mixed.full.iter().filter(|hash| members.contains(hash)).count();
            assert_eq!(found, workload.members_in_mixed);
        }
        let even = Workload::new(10_000, 10_000).members_in_mixed;
        assert!((4_800..5_200).contains(&even), "{even}");
    }

    #[test]
    fn parts_hold_every_key_once_in_every_form() {
        let workload = Workload::new(1_001, 10);
        let all = workload.members.all();
        for parts in [1, 2, 16, 5_000] {
            let full: Vec<KeyHash> = all.split(parts).flat_map(|part| part.full.to_vec()).collect();
            let short: Vec<u64> = all.split(parts).flat_map(|part| part.short.to_vec()).collect();
            let plain: Vec<u64> = all.split(parts).flat_map(|part| part.plain.to_vec()).collect();
            assert_eq!((&plain[..], &full[..], &short[..]), (all.plain, all.full, all.short));
            assert!(all.split(parts).all(|part| part.len() == part.short.len()));
            assert!(all.split(parts).all(|part| part.len() == part.plain.len()));
            assert!(all.split(parts).count() <= parts);
        }
    }
}
