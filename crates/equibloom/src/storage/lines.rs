//! Lines that one owner may change, wherever they are.

use core::ops::{Deref, DerefMut};

use super::{Line, Storage, Update, WORDS_PER_LINE};
use crate::block::isa::{Nearness, prefetch};

impl<L: Deref<Target = [Line]>> Storage for L {
    type Read<'a>
        = &'a Line
    where
        Self: 'a;

    #[inline(always)]
    fn load(&self, line: usize) -> &Line {
        &self[line]
    }

    #[inline(always)]
    fn snapshot(&self, _level: usize, line: usize) -> &Line {
        // Without the numbers in its message, the check takes an instruction less.
        self.get(line).unwrap_or_else(|| no_such_line())
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        self[index / WORDS_PER_LINE][index % WORDS_PER_LINE]
    }

    #[inline(always)]
    fn word_in_line(&self, line: usize, word: usize) -> u64 {
        self.as_ref()[line][word % WORDS_PER_LINE]
    }

    #[inline(always)]
    fn prefetch(&self, line: usize, nearness: Nearness) {
        prefetch(self.as_ptr().wrapping_add(line).cast(), nearness);
    }
}

/// Exclusive access: nothing to lock.
impl<L: DerefMut<Target = [Line]>> Update for &mut L {
    #[inline(always)]
    fn set(&mut self, word: usize, bits: u64) {
        self[word / WORDS_PER_LINE][word % WORDS_PER_LINE] |= bits;
    }

    #[inline(always)]
    fn set_in_line(&mut self, line: usize, bits: impl Iterator<Item = (usize, u64)>) {
        let line = &mut self[line];
        bits.for_each(|(word, bits)| line[word % WORDS_PER_LINE] |= bits);
    }

    #[inline(always)]
    fn try_change(&mut self, word: usize, change: impl Fn(u64) -> Option<u64>) -> bool {
        let word = &mut self[word / WORDS_PER_LINE][word % WORDS_PER_LINE];
        let changed = change(*word);
        *word = changed.unwrap_or(*word);
        changed.is_some()
    }

    #[inline(always)]
    fn lock(&mut self, _level: usize, _line: usize) {}

    #[inline(always)]
    fn write(&mut self, _level: usize, line: usize, change: impl FnOnce(&mut Line)) {
        change(&mut self[line]);
    }

    #[inline(always)]
    fn unlock(&mut self, _level: usize, _line: usize) {}
}

/// Unreachable: a filter's blocks are those of its words.
#[cold]
#[inline(never)]
#[allow(clippy::panic, reason = "as indexing does")]
fn no_such_line() -> ! {
    panic!("a block outside of the filter")
}
