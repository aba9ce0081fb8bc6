//! Cuckoo hashing: an entry is in one of two buckets, or in a small stash.
//!
//! Two tables of the same size, each with a hash function of its own (Pagh and Rodler). A new entry that finds
//! no room takes the place of another, which moves to its bucket in the other table, where it may
//! displace a third, and so on ([`walk`]). After a bounded number of steps the displaced entry goes to
//! the stash; when that has become too long, the table is rebuilt with other functions, or larger.
//!
//! A lookup reads both buckets at once: their cache lines are loaded together, and no branch depends on which of
//! them has the entry. (Reading the second one only if the first has nothing reads 1.46 buckets per hit instead
//! of two, and is slower.)
//!
//! With one slot a bucket, as on the slides, this works up to a load of one half; with four up to
//! 95 %.

mod functions;
mod trace;
mod walk;

pub use functions::{Lecture, Seeded, TwoFunctions};
pub use trace::{Move, Outcome, Step, Trace};

use equibloom_layout::{KeyHash, check_real};

use super::buckets::{BucketArray, Slot};
use super::raw::RawTable;
use super::storage::{Place, Read, Storage};
use crate::error::TableError;

/// Entries in the stash before a table is rebuilt with other functions.
const SMALL_STASH: usize = 4;

/// Lookups always read both buckets, so that there is nothing to count.
const NO_COUNTERS: usize = 0;

/// Two tables of buckets with `SLOTS` entries each, from 1 to 8.
#[derive(Clone)]
pub struct Cuckoo<T, const SLOTS: usize = 4, F = Seeded> {
    storage: Storage<T>,
    functions: F,
    /// Buckets of each table.
    size: u64,
    max_load: f64,
    history: CuckooHistory,
}

/// Events in a cuckoo table so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CuckooHistory {
    /// Entries that were displaced by others.
    pub displacements: u64,
    /// Walks that reached the limit, so that an entry went to the stash.
    pub failed_walks: u64,
    /// Number of rehashes, with other functions or more room.
    pub rehashes: u64,
}

impl<T, const SLOTS: usize> Cuckoo<T, SLOTS> {
    /// Default load factor at which a table grows.
    pub const DEFAULT_LOAD: f64 = if SLOTS == 1 { 0.45 } else { 0.9 * Self::MAX_LOAD / 0.95 };
    /// The highest load factor that can be required. Insertions become slow before the limits of 0.5 (one slot
    /// a bucket), 0.897 (two), 0.959 (three) and 0.980 (four).
    pub const MAX_LOAD: f64 = match SLOTS {
        1 => 0.49,
        2 => 0.87,
        3 => 0.93,
        _ => 0.95,
    };

    /// An empty table for `capacity` entries that grows when more than a share `max_load` of its slots
    /// is filled.
    pub fn new(capacity: usize, max_load: f64) -> Result<Self, TableError> {
        check_real("load of a cuckoo table", max_load, f64::MIN_POSITIVE, Self::MAX_LOAD)?;
        Self::with_functions(Self::size_for(capacity, max_load), max_load, Seeded::default())
    }
}

/// Tables without memory, with the default load.
impl<T, const SLOTS: usize> Default for Cuckoo<T, SLOTS> {
    fn default() -> Self {
        Self::over(BucketArray::empty(SLOTS), Self::DEFAULT_LOAD, Seeded::default())
    }
}

impl<T, const SLOTS: usize, F: TwoFunctions> Cuckoo<T, SLOTS, F> {
    const SLOTS_ARE_FEW: () = assert!(1 <= SLOTS && SLOTS <= 8, "a bucket has 1 to 8 slots");

    /// Two tables of `size` buckets.
    fn with_functions(size: u64, max_load: f64, functions: F) -> Result<Self, TableError> {
        let buckets = usize::try_from(size.saturating_mul(2)).unwrap_or(usize::MAX);
        Ok(Self::over(BucketArray::new(buckets, SLOTS, NO_COUNTERS)?, max_load, functions))
    }

    fn over(buckets: BucketArray<T>, max_load: f64, functions: F) -> Self {
        let () = Self::SLOTS_ARE_FEW;
        let size = buckets.count() as u64 / 2;
        let mut storage = Storage::new(buckets);
        storage.capacity = (max_load * (2.0 * size as f64 * SLOTS as f64)) as usize;
        storage.stash_limit = SMALL_STASH;
        Self { storage, functions, size, max_load, history: CuckooHistory::default() }
    }

    /// Buckets of each table for `capacity` entries: at least one, unless that is 0.
    fn size_for(capacity: usize, max_load: f64) -> u64 {
        let buckets = capacity as f64 / max_load / (2 * SLOTS) as f64;
        if capacity == 0 { 0 } else { (buckets as u64).saturating_add(1) }
    }

    /// Events in the table so far.
    pub fn history(&self) -> CuckooHistory {
        self.history
    }

    /// Buckets of each table. In the cuckoo graph buckets are nodes and entries are edges.
    pub fn buckets_per_table(&self) -> u64 {
        self.size
    }

    /// The edges of the cuckoo graph: for each entry, the stash's included, its bucket in the first and in the
    /// second table.
    pub fn edges(&self, hash_of: impl Fn(&T) -> u64) -> impl Iterator<Item = [u64; 2]> {
        let entries = self.storage.places().filter_map(|place| self.storage.get(place));
        entries.map(move |entry| self.functions.buckets(hash_of(entry), self.size))
    }

    /// The two buckets of an entry, numbered through both tables.
    #[inline]
    fn buckets(&self, hash: u64) -> [usize; 2] {
        let [first, second] = self.functions.buckets(hash, self.size);
        [first as usize, (self.size + second) as usize]
    }

    #[inline]
    fn free_slot(&self, bucket: usize) -> Option<Slot> {
        self.storage.buckets.bucket(bucket)?.free_slot()
    }
}

impl<T, const SLOTS: usize, F: TwoFunctions> RawTable for Cuckoo<T, SLOTS, F> {
    type Entry = T;

    fn storage(&self) -> &Storage<T> {
        &self.storage
    }

    fn storage_mut(&mut self) -> &mut Storage<T> {
        &mut self.storage
    }

    /// With other functions if there are entries, so that a table of the same size may succeed.
    fn emptied(&self, capacity: usize) -> Result<Self, TableError> {
        let as_before = capacity == self.capacity();
        let size = if as_before { self.size } else { Self::size_for(capacity, self.max_load) };
        let rehashes = self.storage.len() > 0;
        let functions = if rehashes { self.functions.renewed() } else { self.functions.clone() };
        let mut empty = Self::with_functions(size, self.max_load, functions)?;
        empty.history = self.history;
        empty.history.rehashes += u64::from(rehashes);
        Ok(empty)
    }

    #[inline]
    fn find(
        &self,
        hash: u64,
        mut is_match: impl FnMut(&T) -> bool,
        observe: &mut impl FnMut(Read),
    ) -> Option<(Place, &T)> {
        let buckets = &self.storage.buckets;
        let [first, second] = self.buckets(hash);
        if let Some(first) = buckets.bucket(first)
            && let Some(second) = buckets.bucket(second)
        {
            let tag = self.functions.tag(hash);
            let found = first.find_here_or_in::<SLOTS>(second, tag, &mut is_match, observe);
            if let Some((at, entry)) = found {
                return Some((Place::Bucket(at), entry));
            }
        }
        self.storage.find_in_stash(KeyHash::from_u64(hash), is_match, observe)
    }

    #[inline]
    fn place(&mut self, hash: u64, entry: T, hash_of: impl Fn(&T) -> u64) -> Place {
        self.place_observed(hash, entry, hash_of, &mut |_, _, _| {})
    }

    fn remove(&mut self, _hash: u64, place: Place) -> Option<T> {
        self.storage.take(place)
    }
}
