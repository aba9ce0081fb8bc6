//! Words shared by many threads.
//!
//! The same memory viewed as atomic words while it is shared: conversions copy nothing, and no plain
//! reference to a word exists meanwhile.
//!
//! Bits that are only ever set need no more than that. A block whose contents move has a *version* beside
//! the words (it is never saved): a writer locks it and changes it before and after it writes, and a reader
//! reads again if the version has changed meanwhile. Versions are few: the blocks of a level share them in
//! turn. Each level has its own, so that a thread that holds one of an earlier level never waits for
//! itself, and threads that hold several took them in the same order.

#![allow(unsafe_code, reason = "the same memory as plain and as atomic words")]

#[cfg(all(test, loom))]
mod models;

use alloc::boxed::Box;
use core::ops::Deref;

use super::sync::Ordering::{Acquire, Relaxed, Release};
use super::sync::{AtomicU64, fence, let_others_run};
use super::{Line, Storage, Update, WORDS_PER_LINE, Words};
use crate::block::isa::{Nearness, prefetch};
#[cfg(all(test, loom))]
pub(crate) use models::SharedWords;

/// Versions of a level.
const VERSIONS: usize = if cfg!(all(test, loom)) { 2 } else { 1 << 10 };

/// A version whose line is locked by a writer.
const LOCKED: u64 = 1;
/// A version whose line is being written.
const WRITING: u64 = 2;
/// The difference of two versions.
const NEXT: u64 = 4;

/// Words with atomic access only.
#[cfg(not(all(test, loom)))]
pub(crate) struct SharedWords {
    words: Words,
    versions: Box<[AtomicU64]>,
}

#[cfg(not(all(test, loom)))]
impl SharedWords {
    /// Shares words, whose lines belong to `levels` levels with versions. Borrowed words, which must not be
    /// written, are copied.
    pub(crate) fn new(mut words: Words, levels: usize) -> Self {
        // Copies borrowed words.
        let _: &mut [Line] = &mut words;
        Self { words, versions: versions(levels) }
    }

    /// Converts back into plain words.
    pub(crate) fn into_words(self) -> Words {
        self.words
    }

    /// All words, including the padding of the last line.
    #[inline(always)]
    pub(crate) fn atomics(&self) -> &[AtomicU64] {
        let Words { start, count, .. } = &self.words;
        // SAFETY: the invariant of `Words`; an atomic word has the size of a word and at most the alignment
        // of a line. The words are not borrowed (see `new`), so that they may be written, and only this array
        // uses them, as atomics.
        unsafe { core::slice::from_raw_parts(start.as_ptr().cast(), count * WORDS_PER_LINE) }
    }
}

/// Versions of the lines of some levels.
fn versions(levels: usize) -> Box<[AtomicU64]> {
    (0..levels * VERSIONS).map(|_| AtomicU64::new(0)).collect()
}

impl SharedWords {
    #[inline(always)]
    fn version_of(&self, level: usize, line: usize) -> &AtomicU64 {
        &self.versions[level * VERSIONS + line % VERSIONS]
    }

    /// Eight words at once.
    #[inline(always)]
    pub(crate) fn line(&self, line: usize) -> &[AtomicU64; WORDS_PER_LINE] {
        &self.atomics().as_chunks().0[line]
    }
}

/// A copy of a line.
pub(crate) struct Copied(Line);

impl Deref for Copied {
    type Target = Line;

    #[inline(always)]
    fn deref(&self) -> &Line {
        &self.0
    }
}

impl Storage for SharedWords {
    type Read<'a> = Copied;

    #[inline(always)]
    fn load(&self, line: usize) -> Copied {
        Copied(self.line(line).each_ref().map(|word| word.load(Relaxed)))
    }

    /// Reads the line until no writer has come in between.
    #[inline(always)]
    fn snapshot(&self, level: usize, line: usize) -> Copied {
        let version = self.version_of(level, line);
        let mut turn = 0;
        loop {
            let before = version.load(Acquire);
            let copy = self.load(line);
            // What was read of a write makes the version before it visible.
            fence(Acquire);
            // Whether a writer holds the lock does not matter while it does not write.
            if before & WRITING == 0 && version.load(Relaxed) | LOCKED == before | LOCKED {
                return copy;
            }
            let_others_run(&mut turn);
        }
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        self.atomics()[index].load(Relaxed)
    }

    #[inline(always)]
    fn word_in_line(&self, line: usize, word: usize) -> u64 {
        self.line(line)[word % WORDS_PER_LINE].load(Relaxed)
    }

    #[inline(always)]
    fn prefetch(&self, line: usize, nearness: Nearness) {
        let start = self.atomics().as_ptr();
        prefetch(start.wrapping_add(line * WORDS_PER_LINE).cast(), nearness);
    }
}

/// Sets bits of a word, unless they are set: a write would invalidate the line in all other caches.
#[inline(always)]
fn set(word: &AtomicU64, bits: u64) {
    if word.load(Relaxed) & bits != bits {
        word.fetch_or(bits, Relaxed);
    }
}

impl Update for &SharedWords {
    #[inline(always)]
    fn set(&mut self, word: usize, bits: u64) {
        set(&self.atomics()[word], bits);
    }

    #[inline(always)]
    fn set_in_line(&mut self, line: usize, bits: impl Iterator<Item = (usize, u64)>) {
        let mut all = [0; WORDS_PER_LINE];
        bits.for_each(|(word, bits)| all[word % WORDS_PER_LINE] |= bits);
        self.line(line).iter().zip(all).for_each(|(word, bits)| set(word, bits));
    }

    #[inline(always)]
    fn try_change(&mut self, word: usize, change: impl Fn(u64) -> Option<u64>) -> bool {
        self.atomics()[word].fetch_update(Relaxed, Relaxed, change).is_ok()
    }

    #[inline(always)]
    fn lock(&mut self, level: usize, line: usize) {
        let version = self.version_of(level, line);
        let mut turn = 0;
        loop {
            let free = version.load(Relaxed) & !LOCKED;
            // Acquires what the writer before has written.
            if version.compare_exchange(free, free | LOCKED, Acquire, Relaxed).is_ok() {
                return;
            }
            let_others_run(&mut turn);
        }
    }

    #[inline(always)]
    fn write(&mut self, level: usize, line: usize, change: impl FnOnce(&mut Line)) {
        let old = *self.load(line);
        let mut new = old;
        change(&mut new);
        let version = self.version_of(level, line);
        let before = version.load(Relaxed);
        version.store(before | WRITING, Relaxed);
        // A reader that sees one of the words sees that they are being written.
        fence(Release);
        for (word, (old, new)) in self.line(line).iter().zip(old.into_iter().zip(new)) {
            if old != new {
                word.store(new, Relaxed);
            }
        }
        version.store(before.wrapping_add(NEXT), Release);
    }

    #[inline(always)]
    fn unlock(&mut self, level: usize, line: usize) {
        let version = self.version_of(level, line);
        version.store(version.load(Relaxed) & !LOCKED, Release);
    }
}
