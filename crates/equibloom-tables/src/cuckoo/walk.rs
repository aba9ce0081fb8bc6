//! How a cuckoo table makes room for an entry.
//!
//! The entry in hand is put into its bucket; if that is full, it displaces an entry there, which is in
//! hand now and goes on to its bucket in the other table. An entry's hash is found out *before* it is
//! displaced, so that nothing has moved if the user's hash function panics; and whatever ends the walk,
//! an entry that is still in hand goes to the stash. None is ever lost.
//!
//! With several slots a bucket, a newcomer goes to the roomier of its two buckets, and an entry is displaced
//! whose other bucket has room. Only if there is none, one is drawn at random. The other buckets of a bucket's
//! entries are read at once, so that looking at all of them costs little more than looking at one.

use super::{Cuckoo, Slot, TwoFunctions};
use crate::storage::{Place, Position};
use equibloom_layout::{KeyHash, scale};

/// Entries that one insertion displaces at most. With four slots three or four are usual at a load of 95 %, just
/// before the table is full.
const MOST_DISPLACEMENTS: u64 = 500;

/// Is told of every step of a walk. The unit type ignores it.
pub(super) trait WalkObserver<T> {
    /// `entry` comes into `bucket` of table 0 or 1, where `displaced` was.
    fn entry_moves(&mut self, entry: &T, table: usize, bucket: usize, displaced: Option<&T>);
}

impl<T> WalkObserver<T> for () {
    #[inline(always)]
    fn entry_moves(&mut self, _: &T, _: usize, _: usize, _: Option<&T>) {}
}

/// Where an entry goes that is displaced.
#[derive(Clone, Copy)]
struct Next {
    hash: u64,
    bucket: usize,
}

/// The entry in hand.
struct Walk<'a, T, const SLOTS: usize, F: TwoFunctions> {
    table: &'a mut Cuckoo<T, SLOTS, F>,
    hash: u64,
    in_hand: Option<T>,
    /// Where the entry is that the walk began with; `None` while it is in hand.
    newcomer: Option<Place>,
}

impl<T, const SLOTS: usize, F: TwoFunctions> Cuckoo<T, SLOTS, F> {
    /// Puts in an entry that is not in the table.
    #[inline]
    pub(super) fn place_observed<O: WalkObserver<T>>(
        &mut self,
        hash: u64,
        entry: T,
        hash_of: impl Fn(&T) -> u64,
        observer: &mut O,
    ) -> Place {
        if let Some(slot) = self.free_slot_of(hash) {
            let (table, bucket) = self.table_and_bucket(slot.bucket);
            observer.entry_moves(&entry, table, bucket, None);
            return self.storage.put(slot, self.functions.tag(hash), entry);
        }
        self.displace(hash, entry, hash_of, observer)
    }

    /// A free slot for a newcomer.
    #[inline]
    fn free_slot_of(&self, hash: u64) -> Option<Slot> {
        let [first, second] = self.buckets(hash);
        let buckets = &self.storage.buckets;
        let first = buckets.bucket(first)?;
        // As on the slides, an entry in tables of one slot begins in the first, whoever is there.
        if SLOTS == 1 {
            first.free_slot()
        } else {
            first.free_slot_here_or_in(buckets.bucket(second)?)
        }
    }

    /// Which table a bucket is in, and its number there.
    fn table_and_bucket(&self, bucket: usize) -> (usize, usize) {
        let size = self.size as usize;
        if bucket < size { (0, bucket) } else { (1, bucket - size) }
    }

    /// Puts in an entry in the place of another.
    #[inline(never)]
    fn displace<O: WalkObserver<T>>(
        &mut self,
        hash: u64,
        entry: T,
        hash_of: impl Fn(&T) -> u64,
        observer: &mut O,
    ) -> Place {
        let mut walk = Walk { table: self, hash, in_hand: Some(entry), newcomer: None };
        if walk.table.size > 0 {
            walk.run(hash_of, observer);
        }
        walk.finish()
    }
}

impl<T, const SLOTS: usize, F: TwoFunctions> Walk<'_, T, SLOTS, F> {
    fn run<O: WalkObserver<T>>(&mut self, hash_of: impl Fn(&T) -> u64, observer: &mut O) {
        let mut bucket = self.table.buckets(self.hash)[0];
        // A walk that comes to an end visits no slot more than twice.
        let slots = (self.table.storage.buckets.count() * SLOTS) as u64;
        for _ in 0..=MOST_DISPLACEMENTS.min(2 * slots) {
            // The user's code: nothing has moved yet.
            let (slot, next) = match self.table.free_slot(bucket) {
                Some(slot) => (slot, None),
                None => {
                    let (slot, next) = self.victim(bucket, &hash_of);
                    (slot, Some(next))
                }
            };
            if let Some(entry) = &self.in_hand {
                let displaced = self.table.storage.buckets.get(slot);
                let (table, bucket) = self.table.table_and_bucket(bucket);
                observer.entry_moves(entry, table, bucket, displaced);
            }
            self.put(slot);
            let Some(next) = next else { return };
            self.hash = next.hash;
            self.table.history.displacements += 1;
            bucket = next.bucket;
        }
    }

    /// Which entry of a full bucket has to go, and where to.
    fn victim(&self, bucket: usize, hash_of: impl Fn(&T) -> u64) -> (Slot, Next) {
        let (table, _) = self.table.table_and_bucket(bucket);
        let buckets = &self.table.storage.buckets;
        let others: [Next; SLOTS] = core::array::from_fn(|slot| {
            let hash = buckets.get(Slot { bucket, slot }).map_or(0, &hash_of);
            Next { hash, bucket: self.table.buckets(hash)[1 - table] }
        });
        let have_room = others.map(|next| self.table.free_slot(next.bucket).is_some());
        let slot = have_room.iter().position(|&has_room| has_room).unwrap_or_else(|| {
            let draw = KeyHash::from_u64(self.table.history.displacements).candidate(0);
            scale(draw, SLOTS as u64) as usize
        });
        (Slot { bucket, slot }, others[slot])
    }

    /// Exchanges the entry in hand for the one in the slot, if there is one.
    fn put(&mut self, slot: Slot) {
        let Some(entry) = self.in_hand.take() else { return };
        let place = Place(Position::Bucket(slot));
        let tag = self.table.functions.tag(self.hash);
        self.in_hand = self.table.storage.exchange(slot, tag, entry);
        if self.newcomer.is_none() {
            self.newcomer = Some(place);
        } else if self.newcomer == Some(place) {
            self.newcomer = None;
        }
    }

    /// The stash takes what is still in hand.
    fn lay_down(&mut self) {
        if let Some(entry) = self.in_hand.take() {
            self.table.history.failed_walks += 1;
            let place = self.table.storage.put_into_stash(KeyHash::from_u64(self.hash), entry);
            self.newcomer.get_or_insert(place);
        }
    }

    /// Where the newcomer is at last.
    fn finish(mut self) -> Place {
        self.lay_down();
        // Either it was put into a bucket and stayed there, or it was in hand and is in the stash.
        self.newcomer.unwrap_or(Place(Position::Stash(0)))
    }
}

impl<T, const SLOTS: usize, F: TwoFunctions> Drop for Walk<'_, T, SLOTS, F> {
    fn drop(&mut self) {
        self.lay_down();
    }
}
