//! Lines that one thread may change while others change theirs.

use super::{Line, Storage, Update, WORDS_PER_LINE};
use crate::block::isa::{Nearness, prefetch};

/// Some lines of an array.
pub(crate) struct Lines<'a>(pub(crate) &'a mut [Line]);

impl Storage for Lines<'_> {
    type Read<'a>
        = &'a Line
    where
        Self: 'a;

    #[inline(always)]
    fn load(&self, line: usize) -> &Line {
        &self.0[line]
    }

    #[inline(always)]
    fn snapshot(&self, _level: usize, line: usize) -> &Line {
        &self.0[line]
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        self.0[index / WORDS_PER_LINE][index % WORDS_PER_LINE]
    }

    #[inline(always)]
    fn prefetch(&self, line: usize, nearness: Nearness) {
        prefetch(self.0.as_ptr().wrapping_add(line).cast(), nearness);
    }
}

/// Exclusive access: nothing to lock.
impl<'l> Update for &mut Lines<'l> {
    type Words = Lines<'l>;

    #[inline(always)]
    fn words(&self) -> &Lines<'l> {
        self
    }

    #[inline(always)]
    fn set(&mut self, word: usize, bits: u64) {
        self.0[word / WORDS_PER_LINE][word % WORDS_PER_LINE] |= bits;
    }

    #[inline(always)]
    fn set_in_line(&mut self, line: usize, bits: impl Iterator<Item = (usize, u64)>) {
        let line = &mut self.0[line];
        bits.for_each(|(word, bits)| line[word % WORDS_PER_LINE] |= bits);
    }

    #[inline(always)]
    fn try_change(&mut self, word: usize, change: impl Fn(u64) -> Option<u64>) -> bool {
        let word = &mut self.0[word / WORDS_PER_LINE][word % WORDS_PER_LINE];
        let changed = change(*word);
        *word = changed.unwrap_or(*word);
        changed.is_some()
    }

    #[inline(always)]
    fn lock(&mut self, _level: usize, _line: usize) {}

    #[inline(always)]
    fn write(&mut self, _level: usize, line: usize, change: impl FnOnce(&mut Line)) {
        change(&mut self.0[line]);
    }

    #[inline(always)]
    fn unlock(&mut self, _level: usize, _line: usize) {}
}
