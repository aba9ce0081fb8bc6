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

use alloc::alloc::{alloc, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::marker::PhantomData;
use core::num::NonZeroU8;
use core::ops::Range;
use core::ptr::NonNull;

use super::counters::Counter;
use super::geometry::Geometry;
use super::mark::Mark;
use super::observer::LookupObserver;
use super::tags::{Positions, WORD, first_halves};
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

    /// `count` buckets of `slots` free slots, with at least so many bytes to count who passed by.
    pub(crate) fn new(count: usize, slots: usize, counters: usize) -> Result<Self, BuildError> {
        if count == 0 {
            return Ok(Self::empty(slots));
        }
        let (geometry, layout) = Geometry::of::<T>(count, slots, counters)?;
        // SAFETY: a bucket has a header, so that the size is not 0.
        let memory = unsafe { alloc(layout) };
        let refused = BuildError::OutOfMemory { bytes: layout.size() as u64 };
        let memory = NonNull::new(memory).ok_or(refused)?;
        // The headers are written from the first to the last, so that the system gives them pages that lie
        // together. Pages that it gives at the first insert into each are scattered among those of the entries,
        // and misses seemed slower for it.
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

    /// Counts an entry of this mark that passes a bucket by.
    pub(crate) fn count_passed(&mut self, bucket: usize, mark: Mark) {
        let counter = Counter::number(mark.class(self.geometry.classes()));
        let byte = &mut self.passed_mut(bucket)[counter.byte];
        *byte = counter.incremented(*byte);
    }

    /// Forgets an entry of this mark that passed a bucket by.
    pub(crate) fn forget_passed(&mut self, bucket: usize, mark: Mark) {
        let counter = Counter::number(mark.class(self.geometry.classes()));
        let byte = &mut self.passed_mut(bucket)[counter.byte];
        *byte = counter.decremented(*byte);
    }

    /// Every counter says "many" from now on.
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
        assert!(at.bucket < self.count, "bucket {} of {}", at.bucket, self.count);
        assert!(at.slot < self.geometry.slots, "slot {} of {}", at.slot, self.geometry.slots);
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
        // SAFETY: the slot was occupied; its tag says "free" now, so that nobody reads it again.
        Some(unsafe { self.entry(at).read() })
    }

    /// Puts an entry into a slot and gives back the one that was there.
    #[inline]
    pub(crate) fn replace(&mut self, at: Slot, tag: NonZeroU8, entry: T) -> Option<T> {
        let before = self.take(at);
        self.fill(at, tag, entry);
        before
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

/// One bucket. Its number was checked when this was made; what is read of it needs no check any more.
pub(crate) struct Bucket<'a, T> {
    array: &'a BucketArray<T>,
    /// Less than the number of buckets.
    index: usize,
}

impl<T> Clone for Bucket<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Bucket<'_, T> {}

impl<'a, T> Bucket<'a, T> {
    /// Eight tags. Behind the last one there may be counters and the next bucket.
    #[inline]
    fn tags(self, word: usize) -> [u8; WORD] {
        let Geometry { header, words, .. } = self.array.geometry;
        debug_assert!(word < words);
        // SAFETY: there is such a bucket. Headers are initialised from the start. One with several words of
        // tags is a multiple of words long, and behind the last header of less than a word there are
        // as many bytes, zeroed like the headers.
        unsafe {
            let start = self.array.memory.as_ptr().add(self.index * header + word * WORD);
            start.cast::<[u8; WORD]>().read()
        }
    }

    /// The slots of the first word of tags whose tag is this one; with 0, the free ones.
    #[inline]
    fn tagged(self, tag: u8) -> Positions {
        self.array.geometry.slots_of_first_word.with_tag(self.tags(0), tag)
    }

    /// The same for a word behind the first.
    #[inline]
    fn tagged_further(self, word: usize, tag: u8) -> Positions {
        self.array.geometry.slots_of_word(word).with_tag(self.tags(word), tag)
    }

    /// The numbers of the words of tags behind the first.
    #[inline]
    fn more_words(self) -> Range<usize> {
        1..self.array.geometry.words
    }

    /// The entry in a slot with this tag, if `is_match` accepts it.
    ///
    /// # Safety
    /// There must be such a slot, and it must be occupied.
    #[inline]
    unsafe fn matching<O: LookupObserver>(
        self,
        slot: usize,
        is_match: &mut impl FnMut(&T) -> bool,
        observer: &mut O,
    ) -> Option<(Slot, &'a T)> {
        let at = Slot { bucket: self.index, slot };
        observer.entry_read(at.bucket, at.slot);
        // SAFETY: the slot is occupied, says the caller, and the reference borrows the array.
        let entry = unsafe { &*self.array.entry_unchecked(at) };
        is_match(entry).then_some((at, entry))
    }

    /// The entry with this tag that `is_match` accepts.
    #[inline(always)]
    pub(crate) fn find<O: LookupObserver>(
        self,
        tag: NonZeroU8,
        is_match: &mut impl FnMut(&T) -> bool,
        observer: &mut O,
    ) -> Option<(Slot, &'a T)> {
        observer.bucket_read(self.index);
        for position in self.tagged(tag.get()) {
            // SAFETY: the slot is one of the bucket's. Its tag is not 0, so that it is occupied.
            let found = unsafe { self.matching(position, is_match, observer) };
            if found.is_some() {
                return found;
            }
        }
        if self.array.geometry.words <= 1 {
            return None;
        }
        self.find_further(tag, is_match, observer)
    }

    /// Goes on in the words of tags behind the first. Not inlined: the usual bucket has no more words.
    #[inline(never)]
    fn find_further<O: LookupObserver>(
        self,
        tag: NonZeroU8,
        is_match: &mut impl FnMut(&T) -> bool,
        observer: &mut O,
    ) -> Option<(Slot, &'a T)> {
        for word in self.more_words() {
            for position in self.tagged_further(word, tag.get()) {
                // SAFETY: as in `find`.
                let found = unsafe { self.matching(word * WORD + position, is_match, observer) };
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// The same in one of two buckets of `SLOTS` slots. If these are at most four, both buckets are read at once,
    /// and which of them has the entry is no branch that could be mispredicted.
    #[inline(always)]
    pub(crate) fn find_here_or_in<const SLOTS: usize, O: LookupObserver>(
        self,
        other: Self,
        tag: NonZeroU8,
        is_match: &mut impl FnMut(&T) -> bool,
        observer: &mut O,
    ) -> Option<(Slot, &'a T)> {
        const HALF: usize = WORD / 2;
        debug_assert!(SLOTS == self.array.geometry.slots);
        if SLOTS > HALF {
            let found = self.find(tag, is_match, observer);
            return found.or_else(|| other.find(tag, is_match, observer));
        }
        observer.bucket_read(self.index);
        observer.bucket_read(other.index);
        let slots = self.array.geometry.slots_of_first_word.in_both_halves();
        for position in slots.with_tag(first_halves(self.tags(0), other.tags(0)), tag.get()) {
            let either = [self.index, other.index][position / HALF];
            let bucket = Self { index: either, ..self };
            // SAFETY: as in `find`.
            let found = unsafe { bucket.matching(position % HALF, is_match, observer) };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Number of entries.
    #[inline]
    pub(crate) fn size(self) -> u32 {
        let Geometry { slots, words, .. } = self.array.geometry;
        let further = if words > 1 { self.free_further().1 } else { 0 };
        slots as u32 - self.tagged(0).count() - further
    }

    /// The first free slot behind the first word of tags, if there is one, and the number of them.
    #[inline(never)]
    fn free_further(self) -> (Option<usize>, u32) {
        let words = self.more_words().map(|word| (word, self.tagged_further(word, 0)));
        words.fold((None, 0), |(first, count), (word, mut free)| {
            let count = count + free.count();
            (first.or_else(|| free.next().map(|position| word * WORD + position)), count)
        })
    }

    /// A slot without an entry in the roomier of two buckets, in this one if they are equal. Buckets have at most
    /// eight slots.
    #[inline]
    pub(crate) fn free_slot_here_or_in(self, other: Self) -> Option<Slot> {
        let (here, there) = (self.tagged(0), other.tagged(0));
        let (bucket, mut free) =
            if there.count() > here.count() { (other, there) } else { (self, here) };
        free.next().map(|slot| Slot { bucket: bucket.index, slot })
    }

    /// A slot without an entry.
    #[inline]
    pub(crate) fn free_slot(self) -> Option<Slot> {
        let slot = match self.tagged(0).next() {
            None if self.array.geometry.words > 1 => self.free_further().0,
            found => found,
        };
        slot.map(|slot| Slot { bucket: self.index, slot })
    }

    /// Whether an entry of the key's class has passed the bucket by.
    #[inline]
    pub(crate) fn was_passed(self, mark: Mark) -> bool {
        let geometry = &self.array.geometry;
        let counter = Counter::number(mark.class(geometry.classes()));
        let offset = geometry.slots + counter.byte;
        debug_assert!(offset < geometry.header, "nobody counts");
        // SAFETY: there is such a bucket, and the class is less than the number of classes. (If that were
        // 0, this would be the byte behind the header, which is there, too.)
        let byte =
            unsafe { *self.array.memory.as_ptr().add(self.index * geometry.header + offset) };
        !counter.is_zero(byte)
    }
}

impl<T: Clone> Clone for BucketArray<T> {
    /// Slot by slot. Like `Vec::clone` it stops the program if the memory cannot be had. A `clone` of the
    /// user's that panics leaves a copy that is dropped as far as it goes.
    fn clone(&self) -> Self {
        let counters = self.geometry.header - self.geometry.slots;
        let Ok(mut copy) = Self::new(self.count, self.geometry.slots, counters) else {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hashing::KeyHash;
    use alloc::vec::Vec;

    const TAG: NonZeroU8 = NonZeroU8::new(0x77).unwrap();

    #[test]
    fn slots_are_found_by_their_tags_in_headers_of_any_length() {
        for slots in [1, 3, 7, 8, 9, 20] {
            let mut array = BucketArray::<u16>::new(3, slots, 1).unwrap();
            // Counters that look like tags are none.
            array.passed_mut(1).fill(0x77);
            let found = |array: &BucketArray<u16>| {
                let bucket = array.bucket(1).unwrap();
                bucket.find(TAG, &mut |_| true, &mut ()).map(|(at, &entry)| (at, entry))
            };
            assert_eq!(array.bucket(1).unwrap().size(), 0);
            assert_eq!(found(&array), None);
            let last = Slot { bucket: 1, slot: slots - 1 };
            assert_eq!(array.replace(last, TAG, 99), None);
            assert_eq!(found(&array), Some((last, 99)));
            assert_eq!(array.bucket(1).unwrap().size(), 1);
            let mark = Mark::of(KeyHash::from_u64(9));
            assert!(array.bucket(1).unwrap().was_passed(mark));
            assert!(!array.bucket(2).unwrap().was_passed(mark) && array.bucket(3).is_none());
            assert_eq!(array.replace(last, TAG, 98), Some(99));
            assert_eq!(array.iter().copied().collect::<Vec<_>>(), [98]);
            assert_eq!(array.take(last), Some(98));
            assert_eq!(array.take(last), None);
        }
    }

    /// Tags that often agree, against a look at every slot.
    #[test]
    fn lookups_in_one_and_two_buckets_compare_exactly_the_entries_with_the_tag() {
        fn check<const SLOTS: usize>() {
            let mut array = BucketArray::<(u8, Slot)>::new(5, SLOTS, 0).unwrap();
            for bucket in 0..5 {
                for slot in 0..SLOTS {
                    let draw = KeyHash::from_u64((bucket * SLOTS + slot) as u64).candidate(1);
                    if let Some(tag) = NonZeroU8::new((draw % 4) as u8) {
                        let at = Slot { bucket, slot };
                        array.fill(at, tag, (tag.get(), at));
                    }
                }
            }
            for (first, second, tag) in
                (0..5).flat_map(|a| (0..5).flat_map(move |b| (1..=4).map(move |tag| (a, b, tag))))
            {
                let tag = NonZeroU8::new(tag).unwrap();
                let expected = |bucket: usize| {
                    let slots = (0..SLOTS).map(move |slot| Slot { bucket, slot });
                    slots.filter(|&at| array.get(at).is_some_and(|entry| entry.0 == tag.get()))
                };
                let [one, two] = [first, second].map(|bucket| array.bucket(bucket).unwrap());
                let mut seen = Vec::new();
                let mut look = |entry: &(u8, Slot)| {
                    seen.push(entry.1);
                    false
                };
                assert_eq!(one.find(tag, &mut look, &mut ()), None);
                assert_eq!(one.find_here_or_in::<SLOTS, ()>(two, tag, &mut look, &mut ()), None);
                let both = expected(first).chain(expected(second));
                assert_eq!(seen, expected(first).chain(both).collect::<Vec<_>>());
                let size =
                    (0..SLOTS).filter(|&slot| array.get(Slot { bucket: first, slot }).is_some());
                assert_eq!(one.size() as usize, size.count());
                let roomier = if two.size() < one.size() { two } else { one };
                assert_eq!(one.free_slot_here_or_in(two), roomier.free_slot());
            }
        }
        check::<1>();
        check::<2>();
        check::<3>();
        check::<4>();
        check::<5>();
        check::<7>();
        check::<8>();
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
