//! Memory for buckets: their headers, and behind them their entries.
//!
//! The only unsafe code of the tables, behind a safe interface that checks every index. It is needed
//! because a free slot holds no entry, and safe Rust would pay for that with a discriminant: 24 bytes
//! instead of 16 for a pair of words.
//!
//! **Invariant.** A slot holds an entry exactly if its tag is not 0. Every function below keeps it,
//! and none of them runs code of the user's between two steps that break and mend it, except `Drop`,
//! which clears the tag first.

#![allow(unsafe_code, reason = "entries in slots that may be free, see above")]

use alloc::alloc::{alloc_zeroed, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::marker::PhantomData;
use core::num::NonZeroU8;
use core::ptr::NonNull;

use super::geometry::{Geometry, WORD};
use crate::error::BuildError;

/// One entry's place: bucket and slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) bucket: usize,
    pub(crate) slot: usize,
}

/// An array of buckets, each with a header and some slots.
pub(crate) struct BucketArray<T> {
    memory: NonNull<u8>,
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
            layout: Layout::new::<()>(),
            count: 0,
            geometry: Geometry::without_buckets(slots),
            owns: PhantomData,
        }
    }

    /// `count` buckets of `slots` free slots, with at least so many counters of who passed by.
    pub(crate) fn new(count: usize, slots: usize, counters: usize) -> Result<Self, BuildError> {
        if count == 0 {
            return Ok(Self::empty(slots));
        }
        let (geometry, layout) = Geometry::of::<T>(count, slots, counters)?;
        // SAFETY: a bucket has a header, so that the size is not 0.
        let memory = unsafe { alloc_zeroed(layout) };
        let refused = BuildError::OutOfMemory { bytes: layout.size() as u64 };
        let memory = NonNull::new(memory).ok_or(refused)?;
        Ok(Self { memory, layout, count, geometry, owns: PhantomData })
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
        assert!(bucket < self.count, "bucket {bucket} of {}", self.count);
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

    /// The first eight bytes of a bucket's header and of what comes behind it.
    #[inline]
    fn first_word(&self, bucket: usize) -> [u8; WORD] {
        // SAFETY: behind the last header there are as many bytes, zeroed like the headers.
        unsafe { self.start_of_header(bucket).cast::<[u8; WORD]>().read() }
    }

    #[inline]
    pub(crate) fn tags(&self, bucket: usize) -> &[u8] {
        &self.header(bucket)[..self.geometry.slots]
    }

    /// Counters of the entries that passed a bucket by.
    #[inline]
    pub(crate) fn passed_mut(&mut self, bucket: usize) -> &mut [u8] {
        let slots = self.geometry.slots;
        &mut self.header_mut(bucket)[slots..]
    }

    #[inline]
    fn entry(&self, at: Slot) -> *mut T {
        assert!(at.bucket < self.count, "bucket {} of {}", at.bucket, self.count);
        assert!(at.slot < self.geometry.slots, "slot {} of {}", at.slot, self.geometry.slots);
        let index = at.bucket * self.geometry.slots + at.slot;
        // SAFETY: the entries lie behind the headers, as many as there are slots in all buckets.
        unsafe { self.memory.as_ptr().add(self.geometry.first_entry).cast::<T>().add(index) }
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
        // SAFETY: the slot was occupied; its tag says "free" now, so that nobody reads it again.
        Some(unsafe { self.entry(at).read() })
    }

    /// Puts an entry into a slot and gives back the one that was there.
    #[inline]
    pub(crate) fn replace(&mut self, at: Slot, tag: NonZeroU8, entry: T) -> Option<T> {
        let before = self.take(at);
        // SAFETY: the slot is free now, so that nothing is overwritten without being dropped.
        unsafe { self.entry(at).write(entry) };
        self.header_mut(at.bucket)[at.slot] = tag.get();
        before
    }

    /// The slots of a bucket whose tag is `tag`; with 0, the free ones.
    #[inline]
    pub(crate) fn slots_tagged(&self, bucket: usize, tag: u8) -> TaggedSlots<'_> {
        let equal = EqualBytes::in_word(self.first_word(bucket), tag);
        let slots = self.geometry.slots;
        let rest = if slots > WORD { &self.header(bucket)[WORD..] } else { &[] };
        TaggedSlots { bucket, tag, equal, before: 0, slots, rest }
    }

    /// Every occupied slot, bucket by bucket.
    fn occupied_from(&self, from: Cursor) -> Option<(Slot, Cursor)> {
        let Cursor { mut bucket, mut slot } = from;
        while bucket < self.count {
            if let Some(more) = self.tags(bucket)[slot..].iter().position(|&tag| tag != 0) {
                let found = Slot { bucket, slot: slot + more };
                let next = if found.slot + 1 == self.geometry.slots {
                    Cursor { bucket: bucket + 1, slot: 0 }
                } else {
                    Cursor { bucket, slot: found.slot + 1 }
                };
                return Some((found, next));
            }
            (bucket, slot) = (bucket + 1, 0);
        }
        None
    }

    pub(crate) fn occupied_slots(&self) -> impl Iterator<Item = Slot> + '_ {
        let mut cursor = Cursor::default();
        core::iter::from_fn(move || {
            let (found, next) = self.occupied_from(cursor)?;
            cursor = next;
            Some(found)
        })
    }

    pub(crate) fn iter(&self) -> Iter<'_, T> {
        Iter { array: self, cursor: Cursor::default() }
    }

    pub(crate) fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut { array: self, cursor: Cursor::default() }
    }

    /// Takes every entry out, one after the other.
    pub(crate) fn take_next(&mut self, cursor: &mut Cursor) -> Option<T> {
        let (found, next) = self.occupied_from(*cursor)?;
        *cursor = next;
        self.take(found)
    }

    /// Drops all entries and forgets who passed by.
    pub(crate) fn clear(&mut self) {
        let mut cursor = Cursor::default();
        while let Some(entry) = self.take_next(&mut cursor) {
            drop(entry);
        }
        for bucket in 0..self.count {
            self.passed_mut(bucket).fill(0);
        }
    }
}

impl<T: Clone> Clone for BucketArray<T> {
    /// Slot by slot. Like `Vec::clone` it stops the program if the memory cannot be had. A `clone` of the
    /// user's that panics leaves a copy that is dropped as far as it goes.
    fn clone(&self) -> Self {
        let Ok(mut copy) = Self::new(self.count, self.geometry.slots, self.geometry.classes())
        else {
            handle_alloc_error(self.layout)
        };
        for bucket in 0..self.count {
            for (slot, &tag) in self.tags(bucket).iter().enumerate() {
                let at = Slot { bucket, slot };
                if let (Some(tag), Some(entry)) = (NonZeroU8::new(tag), self.get(at)) {
                    copy.replace(at, tag, entry.clone());
                }
            }
            let slots = self.geometry.slots;
            copy.passed_mut(bucket).copy_from_slice(&self.header(bucket)[slots..]);
        }
        copy
    }
}

impl<T> Drop for BucketArray<T> {
    fn drop(&mut self) {
        if self.count == 0 {
            return;
        }
        let mut cursor = Cursor::default();
        while core::mem::needs_drop::<T>()
            && let Some(entry) = self.take_next(&mut cursor)
        {
            drop(entry);
        }
        // SAFETY: allocated in `new` with this layout, since there are buckets.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) };
    }
}

/// Where an iteration goes on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cursor {
    bucket: usize,
    slot: usize,
}

/// Shared references to all entries.
pub(crate) struct Iter<'a, T> {
    array: &'a BucketArray<T>,
    cursor: Cursor,
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        let (found, next) = self.array.occupied_from(self.cursor)?;
        self.cursor = next;
        self.array.get(found)
    }
}

/// Exclusive references to all entries.
pub(crate) struct IterMut<'a, T> {
    array: &'a mut BucketArray<T>,
    cursor: Cursor,
}

impl<'a, T> Iterator for IterMut<'a, T> {
    type Item = &'a mut T;

    #[inline]
    fn next(&mut self) -> Option<&'a mut T> {
        let (found, next) = self.array.occupied_from(self.cursor)?;
        self.cursor = next;
        // SAFETY: the slot is occupied. The cursor never comes back to it, so that no two of these
        // references meet, and the array is borrowed mutably for as long as they live; what the
        // iterator itself reads on are headers, which they do not overlap.
        Some(unsafe { &mut *self.array.entry(found) })
    }
}

/// What [`BucketArray::slots_tagged`] gives. It looks at eight tags at a time.
pub(crate) struct TaggedSlots<'a> {
    bucket: usize,
    tag: u8,
    equal: EqualBytes,
    /// Slots before those of the word that is looked at.
    before: usize,
    slots: usize,
    rest: &'a [u8],
}

impl Iterator for TaggedSlots<'_> {
    type Item = Slot;

    #[inline]
    fn next(&mut self) -> Option<Slot> {
        loop {
            if let Some(byte) = self.equal.next() {
                let slot = self.before + byte;
                // Behind the last tag come counters, or the next bucket.
                return (slot < self.slots).then_some(Slot { bucket: self.bucket, slot });
            }
            self.before += WORD;
            if self.before >= self.slots {
                return None;
            }
            let (word, rest) = self.rest.split_first_chunk()?;
            self.equal = EqualBytes::in_word(*word, self.tag);
            self.rest = rest;
        }
    }
}

/// The positions of one byte in a word of the header.
struct EqualBytes(u64);

impl EqualBytes {
    /// Sets the highest bit of each byte that equals `byte`, without carries between bytes.
    #[inline]
    fn in_word(bytes: [u8; WORD], byte: u8) -> Self {
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let difference = u64::from_le_bytes(bytes) ^ (u64::from(byte) * 0x0101_0101_0101_0101);
        Self(!(((difference & LOW) + LOW) | difference | LOW))
    }
}

impl Iterator for EqualBytes {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let byte = self.0.trailing_zeros() as usize / 8;
        self.0 &= self.0 - 1;
        Some(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const TAG: NonZeroU8 = NonZeroU8::new(7).unwrap();

    #[test]
    fn slots_are_found_by_their_tags_in_headers_of_any_length() {
        for slots in [1, 3, 7, 8, 9, 20] {
            let mut array = BucketArray::<u16>::new(3, slots, 1).unwrap();
            // Counters that look like tags are none.
            array.passed_mut(1).fill(7);
            assert_eq!(array.slots_tagged(1, 0).count(), slots);
            assert_eq!(array.slots_tagged(1, 7).count(), 0);
            let last = Slot { bucket: 1, slot: slots - 1 };
            assert_eq!(array.replace(last, TAG, 99), None);
            assert_eq!(array.slots_tagged(1, 7).collect::<Vec<_>>(), [last]);
            assert_eq!(array.replace(last, TAG, 98), Some(99));
            assert_eq!(array.iter().copied().collect::<Vec<_>>(), [98]);
            assert_eq!(array.take(last), Some(98));
            assert_eq!(array.take(last), None);
        }
    }

    #[test]
    fn every_byte_is_found_where_it_stands() {
        for byte in 0..=255_u8 {
            let word = [byte, 1, byte, 0, 128, 255, byte, 127];
            let expected: Vec<usize> = (0..8).filter(|&at| word[at] == byte).collect();
            assert_eq!(EqualBytes::in_word(word, byte).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn entries_of_any_size_and_alignment_come_back_and_are_dropped_once() {
        use alloc::rc::Rc;
        #[repr(align(128))]
        struct Wide(Rc<()>);
        let counter = Rc::new(());
        let mut array = BucketArray::new(2, 2, 1).unwrap();
        for (bucket, slot) in [(0, 0), (0, 1), (1, 1)] {
            array.replace(Slot { bucket, slot }, TAG, Wide(counter.clone()));
        }
        assert!(array.iter().all(|wide| (&raw const *wide).addr().is_multiple_of(128)));
        assert_eq!(array.iter_mut().count(), 3);
        drop(array.take(Slot { bucket: 0, slot: 1 }));
        assert_eq!(Rc::strong_count(&counter), 3);
        drop(array);
        assert_eq!(Rc::strong_count(&counter), 1);
        let wide = Wide(counter);
        assert_eq!(Rc::strong_count(&wide.0), 1);
    }

    #[test]
    fn sizes_that_no_machine_has_are_refused() {
        assert!(matches!(
            BucketArray::<u64>::new(usize::MAX, 3, 0),
            Err(BuildError::TooLarge { .. })
        ));
        assert!(matches!(
            BucketArray::<u64>::new(1 << 55, 3, 0),
            Err(BuildError::OutOfMemory { .. })
        ));
        assert_eq!(BucketArray::<u64>::new(0, 3, 0).unwrap().bytes(), 0);
    }
}
