//! How a cuckoo table makes room for an entry.
//!
//! A walk holds one pending entry. It puts the entry into its bucket; if that is full, an entry there is displaced,
//! becomes the pending one and goes on to its bucket in the other table. An entry's hash is computed *before* it is
//! displaced, so that nothing has moved if the user's hash function panics. However the walk ends, an entry that
//! is still pending goes to the stash: none is lost.
//!
//! With several slots a bucket, a new entry goes to the roomier of its two buckets, and a walk displaces an entry
//! whose other bucket has room. Only if there is none, one is drawn at random. The other buckets of a bucket's
//! entries are read at once, so that reading all of them costs little more than reading one.

use super::{Cuckoo, Slot, TwoFunctions};
use crate::storage::Place;
use equibloom_layout::{KeyHash, scale};

/// Limit of displacements by one insertion. With four slots the mean is three or four at a load of 95 %, just
/// before the table is full.
const MAX_DISPLACEMENTS: u64 = 500;

/// An insertion that displaces entries.
struct Walk<'a, T, const SLOTS: usize, F: TwoFunctions> {
    table: &'a mut Cuckoo<T, SLOTS, F>,
    hash: u64,
    pending: Option<T>,
    /// Place of the entry that the walk began with; `None` while that is pending.
    inserted: Option<Place>,
}

impl<T, const SLOTS: usize, F: TwoFunctions> Cuckoo<T, SLOTS, F> {
    /// Puts in an entry that is not in the table. Every step is observed: an entry, the bucket it comes into,
    /// numbered through both tables, and the entry that it displaces there.
    #[inline]
    pub(super) fn place_observed(
        &mut self,
        hash: u64,
        entry: T,
        hash_of: impl Fn(&T) -> u64,
        observe: &mut impl FnMut(&T, usize, Option<&T>),
    ) -> Place {
        if let Some(slot) = self.free_slot_of(hash) {
            observe(&entry, slot.bucket, None);
            return self.storage.put(slot, self.functions.tag(hash), entry);
        }
        self.displace(hash, entry, hash_of, observe)
    }

    /// A free slot for a new entry.
    #[inline]
    fn free_slot_of(&self, hash: u64) -> Option<Slot> {
        let [first, second] = self.buckets(hash);
        let buckets = &self.storage.buckets;
        let first = buckets.bucket(first)?;
        // As on the slides, an entry of tables of one slot begins in the first table, free or not.
        if SLOTS == 1 {
            first.free_slot()
        } else {
            first.free_slot_here_or_in::<SLOTS>(buckets.bucket(second)?)
        }
    }

    /// Puts in an entry by displacing others.
    #[inline(never)]
    fn displace(
        &mut self,
        hash: u64,
        entry: T,
        hash_of: impl Fn(&T) -> u64,
        observe: &mut impl FnMut(&T, usize, Option<&T>),
    ) -> Place {
        let mut walk = Walk { table: self, hash, pending: Some(entry), inserted: None };
        if walk.table.size > 0 {
            walk.run(hash_of, observe);
        }
        walk.finish()
    }
}

impl<T, const SLOTS: usize, F: TwoFunctions> Walk<'_, T, SLOTS, F> {
    fn run(
        &mut self,
        hash_of: impl Fn(&T) -> u64,
        observe: &mut impl FnMut(&T, usize, Option<&T>),
    ) {
        let mut bucket = self.table.buckets(self.hash)[0];
        // A terminating walk visits no slot more than twice.
        let slots = (self.table.storage.buckets.count() * SLOTS) as u64;
        for _ in 0..=MAX_DISPLACEMENTS.min(2 * slots) {
            // Runs user code, while nothing has moved yet.
            let (slot, next) = match self.table.free_slot(bucket) {
                Some(slot) => (slot, None),
                None => {
                    let (slot, next) = self.victim(bucket, &hash_of);
                    (slot, Some(next))
                }
            };
            if let Some(entry) = &self.pending {
                observe(entry, bucket, self.table.storage.buckets.get(slot));
            }
            self.put(slot);
            let Some(next) = next else { return };
            (self.hash, bucket) = next;
            self.table.history.displacements += 1;
        }
    }

    /// The entry of a full bucket to displace, its hash, and the bucket it goes to.
    fn victim(&self, bucket: usize, hash_of: impl Fn(&T) -> u64) -> (Slot, (u64, usize)) {
        let other = usize::from(bucket < self.table.size as usize);
        let buckets = &self.table.storage.buckets;
        let others: [(u64, usize); SLOTS] = core::array::from_fn(|slot| {
            let hash = buckets.get(Slot { bucket, slot }).map_or(0, &hash_of);
            (hash, self.table.buckets(hash)[other])
        });
        let have_room = others.map(|(_, bucket)| self.table.free_slot(bucket).is_some());
        let slot = have_room.iter().position(|&has_room| has_room).unwrap_or_else(|| {
            let draw = KeyHash::from_u64(self.table.history.displacements).candidate(0);
            scale(draw, SLOTS as u64) as usize
        });
        (Slot { bucket, slot }, others[slot])
    }

    /// Exchanges the pending entry for the one in the slot, if there is one.
    fn put(&mut self, slot: Slot) {
        let Some(entry) = self.pending.take() else { return };
        let place = Place::Bucket(slot);
        let tag = self.table.functions.tag(self.hash);
        self.pending = self.table.storage.take(place);
        self.table.storage.put(slot, tag, entry);
        if self.inserted.is_none() {
            self.inserted = Some(place);
        } else if self.inserted == Some(place) {
            self.inserted = None;
        }
    }

    /// Moves an entry that is still pending to the stash.
    fn stash_pending(&mut self) {
        if let Some(entry) = self.pending.take() {
            self.table.history.failed_walks += 1;
            let place = self.table.storage.put_into_stash(KeyHash::from_u64(self.hash), entry);
            self.inserted.get_or_insert(place);
        }
    }

    /// The final place of the inserted entry.
    fn finish(mut self) -> Place {
        self.stash_pending();
        // It stayed in a bucket, or it was pending and is in the stash now.
        self.inserted.unwrap_or(Place::Stash(0))
    }
}

impl<T, const SLOTS: usize, F: TwoFunctions> Drop for Walk<'_, T, SLOTS, F> {
    fn drop(&mut self) {
        self.stash_pending();
    }
}
