//! The balanced chained hash table: buckets whose sizes differ as little as an access budget allows.
//!
//! An entry's bucket is chosen by the same rules as a key's block in a filter ([`placement`](equibloom_layout::placement)).
//! Lookups do not use the rule: loads go down when entries are removed, so that a bucket with room
//! proves nothing. Instead each bucket counts the entries that passed it by, which are in a later
//! candidate or in the stash:
//!
//! ```text
//!     insert:   every candidate before the one that takes the entry  passed += 1
//!     remove:   the same buckets                                     passed −= 1
//!     lookup:   candidates in order, until found or passed = 0, then the stash
//! ```
//!
//! Where the plan limits the accesses of placing, entries that come after they are spent go to the stash; lookups find
//! them there, because all their candidates count them. A removed entry gives its accesses back.
//!
//! The entries are counted in classes of keys ([`counters`](super::counters)), so that few lookups
//! read another bucket without need.
//!
//! When a table grows, its entries are moved in the order of the old buckets. Multi-level and single placement
//! do not depend on the order; with sequential placement the sizes are a little less even after growth than in a
//! table that had its size from the start.

mod plan;

pub use plan::{BucketPlan, MAX_SLOTS};

use equibloom_layout::placement::{
    BlockIndex, BlockView, Choice, Choose, FirstWithRoom, LeastLoaded, Levels,
};
use equibloom_layout::{KeyHash, Rule};

use super::buckets::{Bucket, BucketArray, Slot};
use super::raw::RawTable;
use super::storage::{Place, Read, Storage};
use crate::counters::Counter;
use crate::error::TableError;
use crate::tag::{DEFAULT_MULTIPLIER, spread, tag_of};

/// A table of buckets, placed by a [`BucketPlan`].
#[derive(Clone)]
pub struct Balanced<T> {
    storage: Storage<T>,
    plan: BucketPlan,
    candidates: Levels,
    /// Accesses left for placing entries, if the plan limits them.
    budget: u64,
}

/// Minimum bytes of counters in a bucket's header; padding of the header adds more.
const MIN_COUNTERS: usize = 4;
/// Maximum stash length of a table of any size before a rebuild.
const MIN_STASH_LIMIT: usize = 16;

impl<T> Balanced<T> {
    /// An empty table for `capacity` entries.
    pub fn new(capacity: usize, plan: BucketPlan) -> Result<Self, TableError> {
        plan.check()?;
        let buckets = plan.buckets_for(capacity);
        let mut storage =
            Storage::new(BucketArray::new(buckets, plan.slots as usize, MIN_COUNTERS)?);
        // Rounding up to whole buckets may have made room for a few more.
        storage.capacity = capacity.max((buckets as f64 * plan.load) as usize);
        // More than the papers' plans let overflow.
        storage.stash_limit = MIN_STASH_LIMIT + storage.capacity / 8;
        Ok(Self { candidates: plan.levels(buckets), storage, plan, budget: 0 })
    }

    /// The plan of the table.
    pub fn plan(&self) -> &BucketPlan {
        &self.plan
    }

    #[inline]
    fn bucket(&self, key: KeyHash, probe: usize) -> usize {
        self.candidates.block(key, probe).0 as usize
    }

    /// Continues a lookup behind the first word of tags of its first bucket, where most lookups end. Not inlined:
    /// it would take registers from those lookups. It takes `is_match` by value, because a reference would force
    /// it into memory in all of them.
    #[inline(never)]
    fn find_further(
        &self,
        key: KeyHash,
        mut is_match: impl FnMut(&T) -> bool,
        observe: &mut impl FnMut(Read),
    ) -> Option<(Place, &T)> {
        let tag = tag_of(key);
        for probe in 0..self.candidates.choices(key) {
            // Without memory there is no bucket, but there may be a stash.
            let Some(bucket) = self.storage.buckets.bucket(self.bucket(key, probe)) else { break };
            let found = match probe {
                0 => bucket.find_further(tag, &mut is_match, observe),
                _ => bucket.find(tag, &mut is_match, observe),
            };
            if let Some((at, entry)) = found {
                return Some((Place::Bucket(at), entry));
            }
            if !bucket.was_passed(key) {
                return None;
            }
        }
        self.storage.find_in_stash(key, is_match, observe)
    }

    /// Changes the counters of the buckets that an entry passes on its way to `place`; returns how many buckets were
    /// read if it is in one of them.
    #[inline]
    fn count_passed(
        &mut self,
        key: KeyHash,
        place: Place,
        changed: impl Fn(Counter, u8) -> u8 + Copy,
    ) -> Option<u64> {
        for probe in 0..self.candidates.choices(key) {
            let bucket = self.bucket(key, probe);
            if matches!(place, Place::Bucket(at) if at.bucket == bucket) {
                return Some(probe as u64 + 1);
            }
            self.storage.buckets.count_passed(bucket, key, changed);
        }
        None
    }

    /// Spends the accesses of placing an entry; `None` if the budget does not afford them.
    #[inline]
    fn spend(&mut self, reads: u32) -> Option<()> {
        let Some(budget) = self.plan.budget else { return Some(()) };
        if self.storage.len() == 0 {
            self.budget = (budget * self.storage.capacity as f64) as u64;
        }
        self.budget = self.budget.checked_sub(reads.into())?;
        Some(())
    }

    /// The free slot that the rule gives to a new key, if the budget affords the accesses.
    #[inline]
    fn free_slot(&mut self, key: KeyHash) -> Option<Slot> {
        let buckets = &self.storage.buckets;
        if buckets.count() == 0 {
            return None;
        }
        let view = Sizes(buckets);
        let choice = match self.plan.rule {
            Rule::FirstWithRoom { below, coin } => {
                let rule = FirstWithRoom::new(below, coin);
                rule.choose(&view, &self.candidates, key, &mut ())
            }
            Rule::LeastLoaded => LeastLoaded.choose(&view, &self.candidates, key, &mut ()),
            // `check` refuses it: buckets do not move what they hold.
            Rule::KeepLargest => return None,
        };
        let (slot, reads) = match choice {
            Choice::Admitted { block, reads } => {
                // The least loaded bucket may be full; then the others are full, too.
                (buckets.bucket(block.0 as usize)?.free_slot(), reads)
            }
            Choice::Rejected { reads, .. } => (None, reads),
            Choice::Present => return None,
        };
        self.spend(reads)?;
        slot
    }
}

/// Buckets as the placement rules see them, for keys that are known to be absent.
struct Sizes<'a, T>(&'a BucketArray<T>);

impl<T> BlockView for Sizes<'_, T> {
    #[inline]
    fn load(&self, block: BlockIndex) -> u32 {
        self.0.bucket(block.0 as usize).map_or(0, Bucket::size)
    }

    #[inline]
    fn test(&self, _block: BlockIndex, _key: KeyHash) -> bool {
        false
    }
}

/// A table without memory, with the default plan.
impl<T> Default for Balanced<T> {
    fn default() -> Self {
        let plan = BucketPlan::default();
        let storage = Storage::new(BucketArray::empty(plan.slots as usize));
        Self { storage, plan, candidates: plan.levels(0), budget: 0 }
    }
}

impl<T> RawTable for Balanced<T> {
    type Entry = T;

    fn storage(&self) -> &Storage<T> {
        &self.storage
    }

    fn storage_mut(&mut self) -> &mut Storage<T> {
        &mut self.storage
    }

    fn emptied(&self, capacity: usize) -> Result<Self, TableError> {
        Self::new(capacity, self.plan)
    }

    #[inline]
    fn find(
        &self,
        hash: u64,
        mut is_match: impl FnMut(&T) -> bool,
        observe: &mut impl FnMut(Read),
    ) -> Option<(Place, &T)> {
        let key = spread(hash, DEFAULT_MULTIPLIER);
        if let Some(first) = self.storage.buckets.bucket(self.bucket(key, 0)) {
            let found = first.find_in_first_word(tag_of(key), &mut is_match, observe);
            if let Some((at, entry)) = found {
                return Some((Place::Bucket(at), entry));
            }
            if !first.was_passed(key) && !first.has_more_words() {
                return None;
            }
        }
        self.find_further(key, is_match, observe)
    }

    #[inline]
    fn place(&mut self, hash: u64, entry: T, _hash_of: impl Fn(&T) -> u64) -> Place {
        let key = spread(hash, DEFAULT_MULTIPLIER);
        let place = match self.free_slot(key) {
            Some(slot) => self.storage.put(slot, tag_of(key), entry),
            None => self.storage.put_into_stash(key, entry),
        };
        self.count_passed(key, place, Counter::incremented);
        place
    }

    fn remove(&mut self, hash: u64, place: Place) -> Option<T> {
        let entry = self.storage.take(place)?;
        // An entry without a hash was not counted, but it has set all counters to "many", where they stay.
        let key = spread(hash, DEFAULT_MULTIPLIER);
        let reads = self.count_passed(key, place, Counter::decremented);
        // What an entry in the stash has cost is not known: it is not given back.
        self.budget = self.budget.saturating_add(reads.unwrap_or(0));
        Some(entry)
    }
}
