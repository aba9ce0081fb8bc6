//! Lines that one owner may change, wherever they are.

use super::{Line, Storage, Update, WORDS_PER_LINE};
use crate::block::isa::{Nearness, prefetch};

/// Some lines of an array, for one of several threads.
pub(crate) struct Lines<'a>(pub(crate) &'a mut [Line]);

impl AsRef<[Line]> for Lines<'_> {
    #[inline(always)]
    fn as_ref(&self) -> &[Line] {
        self.0
    }
}

impl AsMut<[Line]> for Lines<'_> {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [Line] {
        self.0
    }
}

impl<L: AsRef<[Line]>> Storage for L {
    type Read<'a>
        = &'a Line
    where
        Self: 'a;

    #[inline(always)]
    fn load(&self, line: usize) -> &Line {
        &self.as_ref()[line]
    }

    #[inline(always)]
    fn snapshot(&self, _level: usize, line: usize) -> &Line {
        &self.as_ref()[line]
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        self.as_ref()[index / WORDS_PER_LINE][index % WORDS_PER_LINE]
    }

    #[inline(always)]
    fn word_in_line(&self, line: usize, word: usize) -> u64 {
        self.as_ref()[line][word % WORDS_PER_LINE]
    }

    #[inline(always)]
    fn prefetch(&self, line: usize, nearness: Nearness) {
        prefetch(self.as_ref().as_ptr().wrapping_add(line).cast(), nearness);
    }
}

/// Exclusive access: nothing to lock.
impl<L: AsRef<[Line]> + AsMut<[Line]>> Update for &mut L {
    type Words = L;

    #[inline(always)]
    fn words(&self) -> &L {
        self
    }

    #[inline(always)]
    fn set(&mut self, word: usize, bits: u64) {
        self.as_mut()[word / WORDS_PER_LINE][word % WORDS_PER_LINE] |= bits;
    }

    #[inline(always)]
    fn set_in_line(&mut self, line: usize, bits: impl Iterator<Item = (usize, u64)>) {
        let line = &mut self.as_mut()[line];
        bits.for_each(|(word, bits)| line[word % WORDS_PER_LINE] |= bits);
    }

    #[inline(always)]
    fn try_change(&mut self, word: usize, change: impl Fn(u64) -> Option<u64>) -> bool {
        let word = &mut self.as_mut()[word / WORDS_PER_LINE][word % WORDS_PER_LINE];
        let changed = change(*word);
        *word = changed.unwrap_or(*word);
        changed.is_some()
    }

    #[inline(always)]
    fn lock(&mut self, _level: usize, _line: usize) {}

    #[inline(always)]
    fn write(&mut self, _level: usize, line: usize, change: impl FnOnce(&mut Line)) {
        change(&mut self.as_mut()[line]);
    }

    #[inline(always)]
    fn unlock(&mut self, _level: usize, _line: usize) {}
}
