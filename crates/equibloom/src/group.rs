//! Many filters that are asked for the same keys.

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

use crate::filter::Filter;
use crate::hash_filter::HashFilter;
use crate::hashing::{ANSWERED_AT_ONCE, KeyHash, KeyHasher, Stable, hash_next};

/// How many lookups ahead a block is prefetched.
const AHEAD: usize = 16;

/// Answers per word of a bitmap.
const WORD: usize = u64::BITS as usize;

/// Filters with one hash function that are asked for the same keys: one filter a file of an index, or a run
/// of an LSM tree. A key is hashed once, and the blocks of other filters are prefetched meanwhile.
///
/// ```
/// use equibloom::{Filter, FilterGroup};
///
/// let builder = Filter::builder().rate(0.001);
/// let mut days = Vec::new();
/// for day in [["alice", "bob"], ["bob", "carol"], ["dave", "eve"]] {
///     let mut filter: Filter<str> = builder.clone().keys(1_000).build()?;
///     filter.insert_batch(&day)?;
///     days.push(filter);
/// }
/// let group = FilterGroup::new(&days)?;
/// let mut found = Vec::new();
/// group.which("bob", &mut found);
/// assert_eq!(found, [0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FilterGroup<'a, K: ?Sized, H = Stable> {
    filters: Vec<&'a Filter<K, H>>,
}

impl<'a, K: ?Sized, H> FilterGroup<'a, K, H> {
    /// The group of these filters. Their plans may differ; they are numbered from 0 on.
    ///
    /// # Errors
    /// [`GroupError`] if a filter's hash function or its seed differs from the first one's.
    pub fn new(filters: impl IntoIterator<Item = &'a Filter<K, H>>) -> Result<Self, GroupError>
    where
        H: PartialEq,
    {
        let filters: Vec<&Filter<K, H>> = filters.into_iter().collect();
        let differs = |filter: &&Filter<K, H>| filter.hasher() != filters[0].hasher();
        match filters.iter().position(differs) {
            Some(index) => Err(GroupError { index }),
            None => Ok(Self { filters }),
        }
    }

    /// Number of filters.
    pub const fn len(&self) -> usize {
        self.filters.len()
    }

    /// Whether there is no filter.
    pub const fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// [`which`](Self::which) for a hash.
    pub fn which_hash(&self, hash: KeyHash, found: &mut Vec<usize>) {
        found.clear();
        self.ask(&[hash], |index, _| found.push(index));
    }

    /// Looks up some keys in all filters, filter by filter; `found` gets the numbers of filter and key of
    /// each one that may be there.
    fn ask(&self, hashes: &[KeyHash], mut found: impl FnMut(usize, usize)) {
        let lookup = |index: usize| {
            let filter: &HashFilter = self.filters.get(index / hashes.len())?.as_hash_filter();
            Some((filter, hashes[index % hashes.len()]))
        };
        let prefetch = |index| {
            if let Some((filter, hash)) = lookup(index) {
                filter.raw.prefetch_first(hash);
            }
        };
        (0..AHEAD).for_each(prefetch);
        for index in 0..self.filters.len() * hashes.len() {
            prefetch(index + AHEAD);
            if lookup(index).is_some_and(|(filter, hash)| filter.contains(hash)) {
                found(index / hashes.len(), index % hashes.len());
            }
        }
    }
}

impl<K: ?Sized, H: KeyHasher<K>> FilterGroup<'_, K, H> {
    /// Which filters may hold the key: their numbers, in order, replace the contents of `found`.
    pub fn which(&self, key: &K, found: &mut Vec<usize>) {
        match self.filters.first() {
            Some(first) => self.which_hash(first.hash(key), found),
            None => found.clear(),
        }
    }

    /// Looks up many keys in every filter. The answers of filter after filter replace the contents of
    /// `found`: for each filter `keys.len().div_ceil(64)` words, in which key `i` has bit `i % 64` of word
    /// `i / 64`.
    pub fn contains_batch_bitmap<Q: Borrow<K>>(&self, keys: &[Q], found: &mut Vec<u64>) {
        let words = keys.len().div_ceil(WORD);
        found.clear();
        found.resize(words * self.filters.len(), 0);
        let Some(first) = self.filters.first() else { return };
        let mut hashes = [KeyHash::from_u64(0); ANSWERED_AT_ONCE];
        for (chunk, keys) in keys.chunks(ANSWERED_AT_ONCE).enumerate() {
            let start = chunk * ANSWERED_AT_ONCE / WORD;
            let hashes = hash_next(&first.hasher, keys.iter().map(Borrow::borrow), &mut hashes);
            if hashes.len() < WORD {
                self.ask(hashes, |filter, key| {
                    found[filter * words + start + key / WORD] |= 1 << (key % WORD);
                });
                continue;
            }
            for (filter, found) in self.filters.iter().zip(found.chunks_mut(words)) {
                filter.as_hash_filter().raw.contains_batch(hashes, &mut found[start..]);
            }
        }
    }
}

/// Implemented by hand: deriving would require `K: Clone`.
impl<K: ?Sized, H> Clone for FilterGroup<'_, K, H> {
    fn clone(&self) -> Self {
        Self { filters: self.filters.clone() }
    }
}

/// Shows how many filters there are: there may be thousands.
impl<K: ?Sized, H> fmt::Debug for FilterGroup<'_, K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterGroup").field("filters", &self.filters.len()).finish_non_exhaustive()
    }
}

/// Filters that cannot be asked together: one of them hashes its keys differently from the first.
///
/// ```
/// use equibloom::{Filter, FilterGroup};
///
/// let builder = Filter::<str>::builder().keys(1_000).rate(0.001);
/// let (one, other) = (builder.clone().seed(1).build()?, builder.seed(2).build()?);
/// assert_eq!(FilterGroup::new([&one, &one, &other]).unwrap_err().index, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupError {
    /// The number of the filter, from 0 on.
    pub index: usize,
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "filter {} hashes its keys differently from filter 0: build all with the same hasher and seed",
            self.index
        )
    }
}

impl core::error::Error for GroupError {}
