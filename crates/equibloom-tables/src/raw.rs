//! The operations of a table over hashes, and how it is rebuilt. [`Map`](super::Map) adds keys.

use core::mem;

use super::buckets::BucketArray;
use super::storage::{IntoIter, Place, Read, Storage};
use crate::error::TableError;

/// A table of entries, each under a 64-bit hash. Only [`Balanced`](crate::Balanced) and
/// [`Cuckoo`](crate::Cuckoo) can implement it: their storage is private.
///
/// Operations that may move entries take `hash_of`, which computes an entry's hash. If it panics, no
/// entry is lost: those being moved go to the stash.
pub trait RawTable: Sized {
    /// What is stored.
    type Entry;

    #[doc(hidden)]
    fn storage(&self) -> &Storage<Self::Entry>;
    #[doc(hidden)]
    fn storage_mut(&mut self) -> &mut Storage<Self::Entry>;
    #[doc(hidden)]
    fn into_storage(mut self) -> Storage<Self::Entry> {
        let slots = self.storage().buckets.geometry().slots;
        mem::replace(self.storage_mut(), Storage::new(BucketArray::empty(slots)))
    }

    /// Entries the table is planned for. Past that it grows.
    fn capacity(&self) -> usize {
        self.storage().capacity
    }

    /// An empty table like this one, planned for `capacity` entries. It may have other hash functions.
    fn emptied(&self, capacity: usize) -> Result<Self, TableError>;

    /// The entry with this hash that `is_match` accepts, and where it is. Everything that is read is observed.
    fn find(
        &self,
        hash: u64,
        is_match: impl FnMut(&Self::Entry) -> bool,
        observe: &mut impl FnMut(Read),
    ) -> Option<(Place, &Self::Entry)>;

    /// Puts in an entry that is not in the table, without growing.
    fn place(
        &mut self,
        hash: u64,
        entry: Self::Entry,
        hash_of: impl Fn(&Self::Entry) -> u64,
    ) -> Place;

    /// Takes an entry out; `hash` is its hash.
    fn remove(&mut self, hash: u64, place: Place) -> Option<Self::Entry>;

    /// Grows a table that is full, and rebuilds one whose stash has become too long.
    ///
    /// A rebuild that does not shorten the stash (all hashes may be equal) is tried again only when the stash
    /// is twice as long. If the allocation of more buckets fails, the table is unchanged, and the stash
    /// takes the entries that its buckets cannot.
    #[inline]
    fn make_room(&mut self, hash_of: impl Fn(&Self::Entry) -> u64) {
        let (storage, capacity) = (self.storage(), self.capacity());
        let wanted = if storage.len() >= capacity {
            capacity.saturating_mul(2).max(MIN_CAPACITY)
        } else if storage.stash.len() > storage.stash_limit {
            capacity
        } else {
            return;
        };
        let _no_memory = self.rebuild(wanted, hash_of);
    }

    /// Moves all entries into a new table for at least `capacity` entries.
    #[cold]
    #[inline(never)]
    fn rebuild(
        &mut self,
        capacity: usize,
        hash_of: impl Fn(&Self::Entry) -> u64,
    ) -> Result<(), TableError> {
        let fresh = self.emptied(capacity.max(self.storage().len()))?;
        let old = mem::replace(self, fresh).into_storage();
        let mut moving = Rebuild { table: self, pending: None, rest: IntoIter::new(old) };
        moving.run(hash_of);
        drop(moving);
        let storage = self.storage_mut();
        storage.stash_limit = storage.stash_limit.max(2 * storage.stash.len());
        Ok(())
    }
}

/// Entries that the smallest table with memory has room for.
const MIN_CAPACITY: usize = 12;

/// The move of all entries from an old table to a new one.
struct Rebuild<'a, R: RawTable> {
    table: &'a mut R,
    pending: Option<R::Entry>,
    rest: IntoIter<R::Entry>,
}

impl<R: RawTable> Rebuild<'_, R> {
    fn run(&mut self, hash_of: impl Fn(&R::Entry) -> u64) {
        loop {
            self.pending = self.rest.next();
            let Some(hash) = self.pending.as_ref().map(&hash_of) else { return };
            if let Some(entry) = self.pending.take() {
                self.table.place(hash, entry, &hash_of);
            }
        }
    }
}

/// Entries are left only if `hash_of` panicked.
impl<R: RawTable> Drop for Rebuild<'_, R> {
    fn drop(&mut self) {
        for entry in self.pending.take().into_iter().chain(&mut self.rest) {
            self.table.storage_mut().keep_unhashed(entry);
        }
    }
}
