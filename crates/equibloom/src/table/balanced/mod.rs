//! The balanced chained hash table: buckets whose sizes differ as little as an access budget allows.
//!
//! An entry's bucket is chosen by the same rules as a key's block in a filter ([`crate::placement`]).
//! Lookups do not use the rule: loads go down when entries are removed, so that a bucket with room
//! proves nothing. Instead each bucket counts the entries that passed it by, which live in a later
//! candidate or in the stash:
//!
//! ```text
//!     insert:   every candidate before the one that takes the entry  passed += 1
//!     remove:   the same buckets                                     passed −= 1
//!     lookup:   candidates in order, until found or passed = 0, then the stash
//! ```
//!
//! Entries come into a larger table in the order of the old buckets. Multi-level and single placement do
//! not depend on the order; with sequential placement the sizes are a little less even after growth than in a
//! table that had its size from the start.
//!
//! A counter has eight bits. At 255 it stays where it is until the table is rebuilt; lookups then read
//! a bucket more than they need, and are right.

mod plan;

pub use plan::{BucketPlacement, BucketPlan, MAX_SLOTS};

use super::buckets::{BucketArray, Slot};
use super::mark::Mark;
use super::observer::LookupObserver;
use super::raw::{RawTable, sealed};
use super::storage::{Place, Position, Storage};
use crate::block::{BlockIndex, BlockView};
use crate::error::BuildError;
use crate::hashing::KeyHash;
use crate::placement::{Candidates, Placement, Rule};
use plan::BucketRule;

/// A table of buckets, placed by a [`BucketPlan`].
#[derive(Clone)]
pub struct Balanced<T> {
    storage: Storage<T>,
    plan: BucketPlan,
    candidates: Candidates,
    rule: BucketRule,
}

/// Counters in a bucket's header at the least; what the header leaves over are more.
const LEAST_COUNTERS: usize = 4;
/// Entries in the stash that a table of any size is content with.
const LEAST_STASH: usize = 16;
/// A counter that has reached this value tells no more than "many".
const MANY: u8 = u8::MAX;

impl<T> Balanced<T> {
    /// An empty table for `capacity` entries.
    pub fn new(capacity: usize, plan: BucketPlan) -> Result<Self, BuildError> {
        plan.check()?;
        let buckets = plan.buckets_for(capacity);
        let mut storage = Storage::new(buckets, plan.slots(), LEAST_COUNTERS)?;
        // Rounding up to whole buckets may have made room for a few more.
        storage.capacity = capacity.max((buckets as f64 * plan.load) as usize);
        // More than plans of the papers let overflow.
        storage.stash_limit = LEAST_STASH + storage.capacity / 8;
        Ok(Self::over(storage, plan))
    }

    /// A table that has no memory yet. The plan has been checked.
    pub(super) fn empty(plan: BucketPlan) -> Self {
        Self::over(Storage::empty(plan.slots()), plan)
    }

    fn over(storage: Storage<T>, plan: BucketPlan) -> Self {
        let candidates = plan.candidates(storage.buckets.count());
        Self { candidates, rule: plan.rule(), storage, plan }
    }

    /// What the table was made from.
    pub fn plan(&self) -> &BucketPlan {
        &self.plan
    }

    #[inline]
    fn bucket(&self, key: KeyHash, probe: usize) -> usize {
        self.candidates.block(key, probe).0 as usize
    }

    /// Whether an entry of the key's class has passed the bucket by.
    #[inline]
    fn was_passed(&self, bucket: usize, mark: Mark) -> bool {
        let geometry = self.storage.buckets.geometry();
        let (slots, class) = (geometry.slots, mark.class(geometry.classes()));
        self.storage.buckets.header(bucket)[slots + class] != 0
    }

    /// Changes the counters of the buckets that an entry passes on its way to `place`.
    fn change_passed(&mut self, key: KeyHash, place: Place, change: impl Fn(u8) -> u8) {
        let class = Mark::of(key).class(self.storage.buckets.geometry().classes());
        for probe in 0..self.candidates.choices(key) {
            let bucket = self.bucket(key, probe);
            if matches!(place.0, Position::Bucket(at) if at.bucket == bucket) {
                return;
            }
            let counter = &mut self.storage.buckets.passed_mut(bucket)[class];
            if *counter != MANY {
                *counter = change(*counter);
            }
        }
    }

    /// The free slot that the rule gives to a new key.
    fn free_slot(&self, key: KeyHash) -> Option<Slot> {
        let buckets = &self.storage.buckets;
        if buckets.count() == 0 {
            return None;
        }
        let view = Sizes(buckets);
        let placement = match &self.rule {
            BucketRule::FirstWithRoom(rule) => rule.place(&view, &self.candidates, key, &mut ()),
            BucketRule::LeastLoaded(rule) => rule.place(&view, &self.candidates, key, &mut ()),
        };
        match placement {
            // The least loaded bucket may be full all the same; then the others are, too.
            Placement::Admitted { block, .. } => buckets.slots_tagged(block.0 as usize, 0).next(),
            Placement::Present | Placement::Rejected { .. } => None,
        }
    }
}

/// Buckets as the placement rules see them, for keys that are known to be absent.
struct Sizes<'a, T>(&'a BucketArray<T>);

impl<T> BlockView for Sizes<'_, T> {
    #[inline]
    fn load(&self, block: BlockIndex) -> u32 {
        self.0.tags(block.0 as usize).iter().map(|&tag| u32::from(tag != 0)).sum()
    }

    #[inline]
    fn test(&self, _block: BlockIndex, _key: KeyHash) -> bool {
        false
    }
}

impl<T> sealed::Sealed for Balanced<T> {}

impl<T> RawTable for Balanced<T> {
    type Entry = T;

    fn storage(&self) -> &Storage<T> {
        &self.storage
    }

    fn storage_mut(&mut self) -> &mut Storage<T> {
        &mut self.storage
    }

    fn into_storage(self) -> Storage<T> {
        self.storage
    }

    fn emptied(&self, capacity: usize) -> Result<Self, BuildError> {
        Self::new(capacity, self.plan.clone())
    }

    #[inline]
    fn find<O: LookupObserver>(
        &self,
        hash: u64,
        mut is_match: impl FnMut(&T) -> bool,
        observer: &mut O,
    ) -> Option<Place> {
        if self.storage.len() == 0 {
            return None;
        }
        let key = KeyHash::from_u64(hash);
        let mark = Mark::of(key);
        for probe in 0..self.candidates.choices(key) {
            let bucket = self.bucket(key, probe);
            let found = self.storage.find_in_bucket(bucket, mark.tag, &mut is_match, observer);
            if found.is_some() {
                return found;
            }
            // Entries without a hash have passed by without being counted.
            if !self.was_passed(bucket, mark) && !self.storage.stash.has_unhashed() {
                return None;
            }
        }
        self.storage.find_in_stash(key, &mut is_match, observer)
    }

    fn place(&mut self, hash: u64, entry: T, _hash_of: impl Fn(&T) -> u64) -> Place {
        let key = KeyHash::from_u64(hash);
        let place = match self.free_slot(key) {
            Some(slot) => self.storage.put(slot, Mark::of(key).tag, entry),
            None => self.storage.put_into_stash(key, entry),
        };
        self.change_passed(key, place, |passed| passed + 1);
        place
    }

    fn remove(&mut self, hash: u64, place: Place) -> Option<T> {
        let counted = self.storage.is_hashed(place);
        let entry = self.storage.take(place)?;
        if counted {
            // Never 0 here: the entry itself was counted.
            self.change_passed(KeyHash::from_u64(hash), place, |passed| passed.saturating_sub(1));
        }
        Some(entry)
    }
}
