//! Zeroed words on cache-line boundaries, in safe code.

use alloc::vec::Vec;

use crate::error::BuildError;

pub(crate) const WORDS_PER_LINE: usize = 8;
const LINE_BYTES: u64 = 64;

/// One cache line. A vector of these starts on a line boundary, so that a block whose size divides
/// 512 bits never straddles two lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
struct Line([u64; WORDS_PER_LINE]);

/// Bytes that `words` words occupy: whole lines.
pub(crate) const fn bytes_for(words: u64) -> u64 {
    words.div_ceil(WORDS_PER_LINE as u64).saturating_mul(LINE_BYTES)
}

/// A fixed number of 64-bit words, initially zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    lines: Vec<Line>,
}

impl Words {
    /// At least `count` zero words, or an error if the memory cannot be had.
    pub(crate) fn zeroed(count: u64) -> Result<Self, BuildError> {
        let lines = count.div_ceil(WORDS_PER_LINE as u64);
        let refused = BuildError::OutOfMemory { bytes: bytes_for(count) };
        let Ok(lines) = usize::try_from(lines) else {
            return Err(refused);
        };
        let mut memory = Vec::new();
        if memory.try_reserve_exact(lines).is_err() {
            return Err(refused);
        }
        memory.resize(lines, Line([0; WORDS_PER_LINE]));
        Ok(Self { lines: memory })
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> u64 {
        self.lines[index / WORDS_PER_LINE].0[index % WORDS_PER_LINE]
    }

    /// Eight words at once.
    #[inline]
    pub(crate) fn line(&self, line: usize) -> &[u64; WORDS_PER_LINE] {
        &self.lines[line].0
    }

    #[inline]
    pub(crate) fn line_mut(&mut self, line: usize) -> &mut [u64; WORDS_PER_LINE] {
        &mut self.lines[line].0
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> &mut u64 {
        &mut self.lines[index / WORDS_PER_LINE].0[index % WORDS_PER_LINE]
    }

    /// All words, including the few that fill the last line.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        self.lines.iter().flat_map(|line| line.0)
    }

    pub(crate) fn fill_with_zeros(&mut self) {
        self.lines.fill(Line([0; WORDS_PER_LINE]));
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.lines.len() as u64 * LINE_BYTES
    }
}
