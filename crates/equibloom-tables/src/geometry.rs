//! Where the parts of a bucket lie.
//!
//! The headers of all buckets stand together, and beside them their entries. Four slots:
//!
//! ```text
//!   headers  ┌─────────────────┬───────────┬─────────────────┬───────────┬────
//!            │ tags of entries │ passed by │ tags of entries │ passed by │ …
//!            └─────────────────┴───────────┴─────────────────┴───────────┴────
//!             byte 0            4           8                 12
//!   entries  ┌─────────┬─────────┬─────────┬────
//!            │ entry 0 │ entry 1 │ entry 2 │ …
//!            └─────────┴─────────┴─────────┴────
//! ```
//!
//! A tag is a byte of the entry's hash, never 0; the tag 0 says that the slot is free. A lookup
//! compares the tags of the header and touches an entry only if its tag agrees: a miss reads one line for
//! each bucket, a hit one more. The rest of the header counts the entries that passed the bucket by, in as
//! many classes of keys as there is room for counters: the more there are, the fewer lookups go on without need. (At
//! six entries a bucket, misses read 1.71 buckets with one class, 1.13 with nine and 1.07 with eighteen.)
//!
//! Rejected: header and entries of a bucket in one line. Hits then read a line less, but misses read lines from
//! the whole table and not from an eighth of it: at a million entries of 16 bytes misses took 80 to 110 ns, and
//! 23 to 27 ns with separate headers.

use core::alloc::Layout;

use super::buckets::Slot;
use super::counters::PER_BYTE;
use crate::error::TableError;
use crate::tag_word::{Positions, WORD};

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Sizes and offsets in a table with entries of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Geometry {
    pub(crate) slots: usize,
    /// Bytes of a bucket's tags and counters: 1, 2, 4, 8 or a multiple of 16, so that a header of at most 16
    /// lies in one line.
    pub(crate) header: usize,
    /// Bytes from the first header to the first entry.
    pub(crate) first_entry: usize,
    /// Tags are read in words; the slots whose tags are in the first.
    pub(crate) slots_of_first_word: Positions,
    /// Words of tags.
    pub(crate) words: usize,
    entry_size: usize,
}

impl Geometry {
    /// `count` buckets of `slots` entries of type `T` with at least this many counters, and the memory they
    /// need.
    pub(crate) fn of<T>(
        count: usize,
        slots: usize,
        counters: usize,
    ) -> Result<(Self, Layout), TableError> {
        let header = match slots + counters {
            bytes if bytes <= WORD => bytes.next_power_of_two(),
            bytes => bytes.next_multiple_of(2 * WORD),
        };
        let entries = (slots as u64).saturating_mul(size_of::<T>() as u64);
        let bytes = entries.saturating_add(header as u64);
        let too_large = TableError::TooLarge { count: count as u64, bytes };
        let align = align_of::<T>().max(LINE);
        let sizes = || {
            // A header may be read as a word that reaches beyond it.
            let headers = count.checked_mul(header)?.checked_add(WORD)?;
            let first_entry = headers.checked_next_multiple_of(align)?;
            let entries = count.checked_mul(slots)?.checked_mul(size_of::<T>())?;
            let layout = Layout::from_size_align(first_entry.checked_add(entries)?, align).ok()?;
            let entry_size = size_of::<T>();
            Some((Self { header, first_entry, entry_size, ..Self::without_buckets(slots) }, layout))
        };
        sizes().ok_or(too_large)
    }

    /// No buckets.
    pub(crate) const fn without_buckets(slots: usize) -> Self {
        let (words, slots_of_first_word) = (slots.div_ceil(WORD), Positions::first(slots));
        Self { slots, header: slots, first_entry: 0, slots_of_first_word, words, entry_size: 0 }
    }

    /// The slots whose tags are in a word.
    #[inline]
    pub(crate) const fn slots_of_word(&self, word: usize) -> Positions {
        Positions::first(self.slots.saturating_sub(word * WORD))
    }

    /// Classes of keys that are counted apart when they pass a bucket by.
    #[inline]
    pub(crate) const fn classes(&self) -> usize {
        (self.header - self.slots) * PER_BYTE
    }

    /// The cache lines that hold the header of a bucket, counted from the table's first.
    pub(crate) fn header_lines(&self, bucket: usize) -> core::ops::RangeInclusive<usize> {
        let start = bucket * self.header;
        start / LINE..=(start + self.header - 1) / LINE
    }

    /// The cache lines that hold an entry.
    pub(crate) fn entry_lines(&self, at: Slot) -> core::ops::RangeInclusive<usize> {
        let start = self.first_entry + (at.bucket * self.slots + at.slot) * self.entry_size;
        start / LINE..=(start + self.entry_size.max(1) - 1) / LINE
    }
}

#[cfg(test)]
mod tests;
