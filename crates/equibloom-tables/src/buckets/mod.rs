//! Memory for buckets: their headers, and behind them their entries.
//!
//! The only unsafe code of the tables, behind a safe interface that checks every index. It is needed
//! because a free slot holds no entry, and safe Rust would pay for that with a discriminant: 24 bytes
//! instead of 16 for a pair of words.
//!
//! **Invariant.** A slot holds an entry exactly if its tag is not 0. Every function below keeps it. None of
//! them runs user code while it does not hold, except `Drop` of an entry, whose tag is cleared first.

#![allow(unsafe_code, reason = "entries in slots that may be free, see above")]

mod bucket;
mod iter;

pub(crate) use bucket::Bucket;
pub(crate) use iter::IterMut;

use alloc::alloc::{alloc, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::marker::PhantomData;
use core::num::NonZeroU8;
use core::ptr::NonNull;

use equibloom_layout::KeyHash;

use super::counters::Counter;
use super::geometry::Geometry;
use crate::error::TableError;
use crate::tag::class_of;

/// One entry's place: bucket and slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slot {
    pub(crate) bucket: usize,
    pub(crate) slot: usize,
}

/// An array of buckets, each with a header and some slots.
pub(crate) struct BucketArray<T> {
    memory: NonNull<u8>,
    /// The first entry, in the same memory.
    entries: NonNull<T>,
    layout: Layout,
    count: usize,
    geometry: Geometry,
    owns: PhantomData<T>,
}

// SAFETY: the array owns its entries like a `Vec<Option<T>>`; there is no shared mutability.
unsafe impl<T: Send> Send for BucketArray<T> {}
// SAFETY: as above; a shared reference gives out shared references only.
unsafe impl<T: Sync> Sync for BucketArray<T> {}

impl<T> BucketArray<T> {
    /// No buckets, and no memory.
    pub(crate) fn empty(slots: usize) -> Self {
        Self {
            memory: NonNull::dangling(),
            entries: NonNull::dangling(),
            layout: Layout::new::<()>(),
            count: 0,
            geometry: Geometry::without_buckets(slots),
            owns: PhantomData,
        }
    }

    /// `count` buckets of `slots` free slots, with at least `counters` bytes of counters.
    pub(crate) fn new(count: usize, slots: usize, counters: usize) -> Result<Self, TableError> {
        if count == 0 {
            return Ok(Self::empty(slots));
        }
        let (geometry, layout) = Geometry::of::<T>(count, slots, counters)?;
        // SAFETY: a bucket has a header, so that the size is not 0.
        let memory = unsafe { alloc(layout) };
        let refused = TableError::OutOfMemory { bytes: layout.size() as u64 };
        let memory = NonNull::new(memory).ok_or(refused)?;
        #[cfg(all(feature = "huge-pages", target_os = "linux"))]
        crate::huge_pages::ask_for_huge_pages(memory, layout.size());
        // All headers are written now, so that their pages are allocated together. Allocated by the first inserts,
        // they would be scattered among the pages of the entries; misses seemed slower then.
        // SAFETY: headers and the bytes behind the last one end where the entries begin.
        unsafe { memory.write_bytes(0, geometry.first_entry) };
        // SAFETY: the entries lie inside the allocation, behind the headers, and aligned.
        let entries = unsafe { memory.add(geometry.first_entry).cast::<T>() };
        Ok(Self { memory, entries, layout, count, geometry, owns: PhantomData })
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub(crate) fn bytes(&self) -> usize {
        self.layout.size()
    }

    #[inline]
    fn start_of_header(&self, bucket: usize) -> *mut u8 {
        assert!(bucket < self.count, "there is no such bucket");
        // SAFETY: headers lie at the start of the allocation, as many as there are buckets.
        unsafe { self.memory.as_ptr().add(bucket * self.geometry.header) }
    }

    /// Tags and counters of a bucket.
    #[inline]
    pub(crate) fn header(&self, bucket: usize) -> &[u8] {
        // SAFETY: headers are initialised from the start and written through `&mut self` only.
        unsafe { core::slice::from_raw_parts(self.start_of_header(bucket), self.geometry.header) }
    }

    #[inline]
    fn header_mut(&mut self, bucket: usize) -> &mut [u8] {
        // SAFETY: as in `header`, and `&mut self` excludes other references.
        unsafe {
            core::slice::from_raw_parts_mut(self.start_of_header(bucket), self.geometry.header)
        }
    }

    /// A bucket, if there is one of this number.
    #[inline]
    pub(crate) fn bucket(&self, index: usize) -> Option<Bucket<'_, T>> {
        (index < self.count).then_some(Bucket { array: self, index })
    }

    #[inline]
    pub(crate) fn tags(&self, bucket: usize) -> &[u8] {
        &self.header(bucket)[..self.geometry.slots]
    }

    /// Counters of the entries that passed a bucket by.
    #[inline]
    fn passed_mut(&mut self, bucket: usize) -> &mut [u8] {
        let slots = self.geometry.slots;
        &mut self.header_mut(bucket)[slots..]
    }

    /// Changes the counter of the key's class among those that passed the bucket by.
    pub(crate) fn count_passed(
        &mut self,
        bucket: usize,
        key: KeyHash,
        changed: impl Fn(Counter, u8) -> u8,
    ) {
        let counter = Counter::number(class_of(key, self.geometry.classes()));
        let byte = &mut self.passed_mut(bucket)[counter.byte];
        *byte = changed(counter, *byte);
    }

    /// Sets every counter to "many".
    pub(crate) fn count_many_everywhere(&mut self) {
        for bucket in 0..self.count {
            self.passed_mut(bucket).fill(u8::MAX);
        }
    }

    /// The memory of an entry.
    ///
    /// # Safety
    /// There must be such a bucket and such a slot.
    #[inline]
    unsafe fn entry_unchecked(&self, at: Slot) -> *mut T {
        let index = at.bucket * self.geometry.slots + at.slot;
        // SAFETY: there are as many entries as there are slots in all buckets.
        unsafe { self.entries.as_ptr().add(index) }
    }

    #[inline]
    fn entry(&self, at: Slot) -> *mut T {
        // A message with numbers would force them into memory, although it is never printed.
        assert!(at.bucket < self.count && at.slot < self.geometry.slots, "there is no such slot");
        // SAFETY: just checked.
        unsafe { self.entry_unchecked(at) }
    }

    #[inline]
    fn is_occupied(&self, at: Slot) -> bool {
        self.tags(at.bucket)[at.slot] != 0
    }

    #[inline]
    pub(crate) fn get(&self, at: Slot) -> Option<&T> {
        // SAFETY: the slot is occupied, and the reference borrows `self`.
        self.is_occupied(at).then(|| unsafe { &*self.entry(at) })
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: Slot) -> Option<&mut T> {
        // SAFETY: the slot is occupied, and the reference borrows `self` mutably.
        self.is_occupied(at).then(|| unsafe { &mut *self.entry(at) })
    }

    /// Takes the entry out of a slot, which is free then.
    #[inline]
    pub(crate) fn take(&mut self, at: Slot) -> Option<T> {
        if !self.is_occupied(at) {
            return None;
        }
        self.header_mut(at.bucket)[at.slot] = 0;
        // SAFETY: the slot was occupied; its tag says "free" now, so that it is not read again.
        Some(unsafe { self.entry(at).read() })
    }

    /// Puts an entry into a free slot.
    #[inline]
    pub(crate) fn fill(&mut self, at: Slot, tag: NonZeroU8, entry: T) {
        debug_assert!(!self.is_occupied(at), "the entry in {at:?} would never be dropped");
        // SAFETY: the memory is that of a slot, as `entry` checks, and so is the tag's in the header. It is
        // free, so that nothing is overwritten without being dropped (if it were not, that would leak).
        unsafe {
            self.entry(at).write(entry);
            let header = self.memory.as_ptr().add(at.bucket * self.geometry.header);
            header.add(at.slot).write(tag.get());
        }
    }

    fn drop_entries(&mut self) {
        let mut cursor = Slot::default();
        while let Some(entry) = self.take_next(&mut cursor) {
            drop(entry);
        }
    }

    /// Drops all entries and sets the counters to 0.
    pub(crate) fn clear(&mut self) {
        self.drop_entries();
        for bucket in 0..self.count {
            self.passed_mut(bucket).fill(0);
        }
    }
}

impl<T: Clone> Clone for BucketArray<T> {
    /// Slot by slot. Like `Vec::clone` it aborts if the allocation fails. If a `clone` of an entry panics,
    /// the entries copied so far are dropped.
    fn clone(&self) -> Self {
        let counters = self.geometry.header - self.geometry.slots;
        let Ok(mut copy) = Self::new(self.count, self.geometry.slots, counters) else {
            handle_alloc_error(self.layout)
        };
        for bucket in 0..self.count {
            let (tags, passed) = self.header(bucket).split_at(self.geometry.slots);
            for (slot, &tag) in tags.iter().enumerate() {
                let at = Slot { bucket, slot };
                if let (Some(tag), Some(entry)) = (NonZeroU8::new(tag), self.get(at)) {
                    copy.fill(at, tag, entry.clone());
                }
            }
            copy.passed_mut(bucket).copy_from_slice(passed);
        }
        copy
    }
}

impl<T> Drop for BucketArray<T> {
    fn drop(&mut self) {
        if self.count == 0 {
            return;
        }
        if core::mem::needs_drop::<T>() {
            self.drop_entries();
        }
        // SAFETY: allocated in `new` with this layout, since there are buckets.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) };
    }
}

#[cfg(test)]
mod tests;
