//! All entries, one after the other.

use super::{BucketArray, Slot};

impl<T> BucketArray<T> {
    /// The first occupied slot from the cursor on, which moves behind it.
    pub(crate) fn next_occupied(&self, cursor: &mut Slot) -> Option<Slot> {
        while cursor.bucket < self.count {
            let tags = &self.tags(cursor.bucket)[cursor.slot..];
            if let Some(more) = tags.iter().position(|&tag| tag != 0) {
                let found = Slot { slot: cursor.slot + more, ..*cursor };
                cursor.slot = found.slot + 1;
                return Some(found);
            }
            *cursor = Slot { bucket: cursor.bucket + 1, slot: 0 };
        }
        None
    }

    /// Takes every entry out, one after the other.
    pub(crate) fn take_next(&mut self, cursor: &mut Slot) -> Option<T> {
        let found = self.next_occupied(cursor)?;
        self.take(found)
    }

    pub(crate) fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut { array: self, cursor: Slot::default() }
    }
}

/// Exclusive references to all entries.
pub(crate) struct IterMut<'a, T> {
    array: &'a mut BucketArray<T>,
    cursor: Slot,
}

impl<'a, T> Iterator for IterMut<'a, T> {
    type Item = &'a mut T;

    #[inline]
    fn next(&mut self) -> Option<&'a mut T> {
        let found = self.array.next_occupied(&mut self.cursor)?;
        // SAFETY: the slot is occupied. The cursor never comes back to it, so that no two of these
        // references meet, and the array is borrowed mutably for as long as they live; what the
        // iterator itself reads on are headers, which they do not overlap.
        Some(unsafe { &mut *self.array.entry(found) })
    }
}
