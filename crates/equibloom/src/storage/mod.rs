//! Where a filter's words lie: plain ([`Words`]: allocated, mapped or borrowed) or shared by threads
//! ([`SharedWords`]: the same memory, accessed atomically).
//!
//! Lookups and inserts are written once, over [`Storage`] and [`Update`]. Blocks know no atomics, and
//! storage knows no blocks.

mod huge_pages;
mod lines;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod shared;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub(crate) mod sync;
mod words;

#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub(crate) use shared::SharedWords;
#[cfg(feature = "file")]
pub(crate) use words::{Bytes, map};
pub(crate) use words::{Words, bytes_for};

use core::ops::Deref;

use crate::block::isa::Nearness;

pub(crate) const WORDS_PER_LINE: usize = 8;

/// A cache line as a string of 512 bits.
pub(crate) type Line = [u64; WORDS_PER_LINE];

/// Words that can be read.
pub(crate) trait Storage {
    /// A line that was read: a reference, or a copy of what other threads may change.
    type Read<'a>: Deref<Target = Line>
    where
        Self: 'a;

    /// A line, each word of it as it was at some moment. Enough for blocks whose bits are only ever set.
    fn load(&self, line: usize) -> Self::Read<'_>;

    /// A line of the level numbered `level` as it was at one moment.
    fn snapshot(&self, level: usize, line: usize) -> Self::Read<'_>;

    /// A word.
    fn word(&self, index: usize) -> u64;

    /// Word `word` (< 8) of a line.
    fn word_in_line(&self, line: usize, word: usize) -> u64;

    /// Prefetches a line, if it exists.
    fn prefetch(&self, line: usize, nearness: Nearness);
}

/// Words that can be changed: `&mut` plain words, or a shared reference to atomic ones.
pub(crate) trait Update: Deref<Target: Storage + Sized> {
    /// Sets bits of a word.
    fn set(&mut self, word: usize, bits: u64);

    /// Sets bits of words of one line, numbered from 0 to 7.
    fn set_in_line(&mut self, line: usize, bits: impl Iterator<Item = (usize, u64)>);

    /// Replaces a word by `change` of it, unless that is `None`; returns whether it was replaced.
    fn try_change(&mut self, word: usize, change: impl Fn(u64) -> Option<u64>) -> bool;

    /// Begins changes of a line of the level numbered `level` that no other thread may see in between. One
    /// thread locks one line of each level at most, those of earlier levels first.
    fn lock(&mut self, level: usize, line: usize);

    /// Changes a locked line. Other threads see all of the change or nothing.
    fn write(&mut self, level: usize, line: usize, change: impl FnOnce(&mut Line));

    /// Ends what `lock` began.
    fn unlock(&mut self, level: usize, line: usize);
}
