//! One bucket, read by lookups.

use core::num::NonZeroU8;
use core::ops::Range;

use equibloom_layout::KeyHash;

use super::{BucketArray, Slot};
use crate::counters::Counter;
use crate::geometry::Geometry;
use crate::storage::Read;
use crate::tag::class_of;
use crate::tag_word::{Positions, WORD, first_halves};

/// One bucket. Its index was checked when this was made, so that reads need no further check.
pub(crate) struct Bucket<'a, T> {
    pub(super) array: &'a BucketArray<T>,
    /// Less than the number of buckets.
    pub(super) index: usize,
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

    /// The positions in a word of tags that are slots with this tag; with 0, the free ones.
    #[inline(always)]
    fn tagged(self, word: usize, tag: u8) -> Positions {
        let geometry = &self.array.geometry;
        let slots =
            if word == 0 { geometry.slots_of_first_word } else { geometry.slots_of_word(word) };
        slots.with_tag(self.tags(word), tag)
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
    unsafe fn matching(
        self,
        slot: usize,
        is_match: &mut impl FnMut(&T) -> bool,
        observe: &mut impl FnMut(Read),
    ) -> Option<(Slot, &'a T)> {
        let at = Slot { bucket: self.index, slot };
        observe(Read::Entry(at));
        // SAFETY: the caller promises that the slot is occupied; the reference borrows the array.
        let entry = unsafe { &*self.array.entry_unchecked(at) };
        is_match(entry).then_some((at, entry))
    }

    /// The entry with this tag that `is_match` accepts.
    #[inline(always)]
    pub(crate) fn find(
        self,
        tag: NonZeroU8,
        is_match: &mut impl FnMut(&T) -> bool,
        observe: &mut impl FnMut(Read),
    ) -> Option<(Slot, &'a T)> {
        let found = self.find_in_first_word(tag, is_match, observe);
        found.or_else(|| self.find_further(tag, is_match, observe))
    }

    /// The same among the slots whose tags are in the first word. Most tables have no others.
    #[inline(always)]
    pub(crate) fn find_in_first_word(
        self,
        tag: NonZeroU8,
        is_match: &mut impl FnMut(&T) -> bool,
        observe: &mut impl FnMut(Read),
    ) -> Option<(Slot, &'a T)> {
        observe(Read::Bucket(self.index));
        self.find_in_word(0, tag, is_match, observe)
    }

    /// The same among the other slots.
    #[inline]
    pub(crate) fn find_further(
        self,
        tag: NonZeroU8,
        is_match: &mut impl FnMut(&T) -> bool,
        observe: &mut impl FnMut(Read),
    ) -> Option<(Slot, &'a T)> {
        self.more_words().find_map(|word| self.find_in_word(word, tag, is_match, observe))
    }

    #[inline(always)]
    fn find_in_word(
        self,
        word: usize,
        tag: NonZeroU8,
        is_match: &mut impl FnMut(&T) -> bool,
        observe: &mut impl FnMut(Read),
    ) -> Option<(Slot, &'a T)> {
        for position in self.tagged(word, tag.get()) {
            // SAFETY: the slot is one of the bucket's. Its tag is not 0, so that it is occupied.
            let found = unsafe { self.matching(word * WORD + position, is_match, observe) };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Whether it has slots whose tags are not in the first word.
    #[inline]
    pub(crate) fn has_more_words(self) -> bool {
        self.array.geometry.words > 1
    }

    /// The same in one of two buckets of `SLOTS` slots. If these are at most four, both buckets are read at once,
    /// and which of them has the entry is no branch that could be mispredicted.
    #[inline(always)]
    pub(crate) fn find_here_or_in<const SLOTS: usize>(
        self,
        other: Self,
        tag: NonZeroU8,
        is_match: &mut impl FnMut(&T) -> bool,
        observe: &mut impl FnMut(Read),
    ) -> Option<(Slot, &'a T)> {
        const HALF: usize = WORD / 2;
        debug_assert!(SLOTS == self.array.geometry.slots);
        if SLOTS > HALF {
            let found = self.find(tag, is_match, observe);
            return found.or_else(|| other.find(tag, is_match, observe));
        }
        observe(Read::Bucket(self.index));
        observe(Read::Bucket(other.index));
        let slots = const { Positions::first(SLOTS).in_both_halves() };
        for position in slots.with_tag(first_halves(self.tags(0), other.tags(0)), tag.get()) {
            let either = [self.index, other.index][position / HALF];
            let bucket = Self { index: either, ..self };
            // SAFETY: as in `find_in_word`.
            let found = unsafe { bucket.matching(position % HALF, is_match, observe) };
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
        slots as u32 - self.tagged(0, 0).count() - further
    }

    /// The first free slot behind the first word of tags, if there is one, and the number of them.
    #[inline(never)]
    fn free_further(self) -> (Option<usize>, u32) {
        let words = self.more_words().map(|word| (word, self.tagged(word, 0)));
        words.fold((None, 0), |(first, count), (word, mut free)| {
            let count = count + free.count();
            (first.or_else(|| free.next().map(|position| word * WORD + position)), count)
        })
    }

    /// A slot without an entry in the roomier of two buckets of `SLOTS` slots, at most eight; in this one if they
    /// are equal.
    #[inline]
    pub(crate) fn free_slot_here_or_in<const SLOTS: usize>(self, other: Self) -> Option<Slot> {
        debug_assert!(SLOTS == self.array.geometry.slots);
        let slots = const { Positions::first(SLOTS) };
        let [here, there] = [self, other].map(|bucket| slots.with_tag(bucket.tags(0), 0));
        let (bucket, mut free) =
            if there.count() > here.count() { (other, there) } else { (self, here) };
        free.next().map(|slot| Slot { bucket: bucket.index, slot })
    }

    /// A slot without an entry.
    #[inline]
    pub(crate) fn free_slot(self) -> Option<Slot> {
        let slot = match self.tagged(0, 0).next() {
            None if self.array.geometry.words > 1 => self.free_further().0,
            found => found,
        };
        slot.map(|slot| Slot { bucket: self.index, slot })
    }

    /// Whether an entry of the key's class has passed the bucket by.
    #[inline]
    pub(crate) fn was_passed(self, key: KeyHash) -> bool {
        let geometry = &self.array.geometry;
        let counter = Counter::number(class_of(key, geometry.classes()));
        let offset = geometry.slots + counter.byte;
        debug_assert!(offset < geometry.header, "the table has no counters");
        // SAFETY: there is such a bucket, and the class is less than the number of classes. (If that were
        // 0, this would be the byte behind the header, which is there, too.)
        let byte =
            unsafe { *self.array.memory.as_ptr().add(self.index * geometry.header + offset) };
        !counter.is_zero(byte)
    }
}
