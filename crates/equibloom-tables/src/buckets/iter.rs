//! All entries, one after the other.

use super::{BucketArray, Slot};

impl<T> BucketArray<T> {
    /// Every occupied slot, bucket by bucket.
    pub(super) fn occupied_from(&self, from: Cursor) -> Option<(Slot, Cursor)> {
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
}

/// Position of an iteration.
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
