//! How a cuckoo table makes room for an entry.
//!
//! The entry in hand is put into its bucket; if that is full, it displaces an entry there, which is in
//! hand now and goes on to its bucket in the other table. An entry's hash is found out *before* it is
//! displaced, so that nothing has moved if the user's hash function panics; and whatever ends the walk,
//! an entry that is still in hand goes to the stash. None is ever lost.
//!
//! With several slots a bucket, the one to displace is drawn at random. (A breadth-first search for the
//! shortest way would displace fewer entries, but hash many more.)

use super::{Cuckoo, Slot, TwoFunctions};
use crate::hashing::{KeyHash, scale};
use crate::table::storage::{Place, Position};

/// Entries that one insertion displaces at most. At a load of 95 % with four slots about 30 are usual
/// just before the table is full.
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
    pub(super) fn place_observed<O: WalkObserver<T>>(
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
        let [first, second] = self.table.buckets(self.hash);
        // As on the slides, an entry begins in the first table. With several slots it pays to look
        // for a free one in the second table before anything is displaced.
        let mut at = (0, first);
        if SLOTS > 1
            && self.table.free_slot(first).is_none()
            && self.table.free_slot(second).is_some()
        {
            at = (1, second);
        }
        // A walk that comes to an end visits no slot more than twice.
        let slots = (self.table.storage.buckets.count() * SLOTS) as u64;
        for _ in 0..=MOST_DISPLACEMENTS.min(2 * slots) {
            let (table, bucket) = at;
            let free = self.table.free_slot(bucket);
            let slot = free.unwrap_or_else(|| self.victim(bucket));
            // The user's code: nothing has moved yet.
            let next_hash = self.table.storage.buckets.get(slot).map(&hash_of);
            if let Some(entry) = &self.in_hand {
                let displaced = self.table.storage.buckets.get(slot);
                observer.entry_moves(entry, table, self.bucket_of_table(bucket), displaced);
            }
            self.put(slot);
            let Some(next_hash) = next_hash else { return };
            self.hash = next_hash;
            self.table.history.displacements += 1;
            at = (1 - table, self.table.buckets(next_hash)[1 - table]);
        }
    }

    fn bucket_of_table(&self, bucket: usize) -> usize {
        bucket % self.table.size as usize
    }

    /// Which entry of a full bucket has to go.
    fn victim(&self, bucket: usize) -> Slot {
        let draw = KeyHash::from_u64(self.table.history.displacements).candidate(0);
        Slot { bucket, slot: scale(draw, SLOTS as u64) as usize }
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
