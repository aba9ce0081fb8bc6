//! Bit fields of a cache line.

use crate::storage::{Line, WORDS_PER_LINE};

/// Bits of a line.
pub(crate) const LINE_BITS: u32 = 512;

/// Bytes of a line.
pub(crate) const LINE_BYTES: u32 = 64;

/// A bit field of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    /// First bit.
    pub(crate) start: u32,
    /// One past the last bit.
    pub(crate) end: u32,
    /// Masks of the field in all words.
    pub(crate) mask: Line,
}

impl Field {
    /// The field of bits `start..end`.
    pub(crate) const fn new(start: u32, end: u32) -> Self {
        let mut mask = [0; WORDS_PER_LINE];
        let mut word = 0;
        while word < mask.len() {
            let (before_start, before_end) = (Before::new(start), Before::new(end));
            mask[word] = before_end.of_word(word) & !before_start.of_word(word);
            word += 1;
        }
        Self { start, end, mask }
    }

    /// Inserts the `width` (< 64) bits of `value` at bit `at` of the line: higher bits of the field move
    /// up, the last ones are lost. (What [`Isa::insert_bits`] does, word by word.)
    #[inline(always)]
    pub(crate) fn insert(&self, line: &mut Line, at: u32, width: u32, value: u64) {
        let before = Before::new(at);
        let (mut below, behind) = (0, 63 - width);
        for (word, (bits, mask)) in line.iter_mut().zip(&self.mask).enumerate() {
            let moving = *bits & mask & !before.of_word(word);
            let moved = (moving << width | below >> 1 >> behind) & mask;
            *bits = *bits ^ moving | moved;
            below = moving;
        }
        let (word, shift) = ((at / 64) as usize, at % 64);
        line[word % 8] |= value << shift;
        // No bits are carried past the end of the line.
        line[(word + 1) % 8] |= value >> 1 >> (63 - shift);
    }

    /// Removes `width` (< 64) bits at bit `at` of the line: higher bits of the field move down, the last
    /// ones become zero.
    pub(crate) fn remove(&self, line: &mut Line, at: u32, width: u32) {
        let mut at = at;
        while at < self.end {
            let moved = window(line, at + width) & ones((self.end - at).saturating_sub(width));
            write(line, at, (self.end - at).min(64), moved);
            at += 64;
        }
    }
}

/// The bits of a line before bit `at`.
#[derive(Clone, Copy)]
pub(crate) struct Before {
    word: usize,
    of_its_word: u64,
}

impl Before {
    #[inline(always)]
    pub(crate) const fn new(at: u32) -> Self {
        Self { word: (at / 64) as usize, of_its_word: (1 << (at % 64)) - 1 }
    }

    /// Their mask in a word of the line.
    #[inline(always)]
    pub(crate) const fn of_word(self, word: usize) -> u64 {
        if word == self.word {
            self.of_its_word
        } else if word < self.word {
            u64::MAX
        } else {
            0
        }
    }
}

/// A mask of the lowest `width` bits, up to 64.
#[inline(always)]
pub(crate) const fn ones(width: u32) -> u64 {
    if width >= u64::BITS { u64::MAX } else { (1 << width) - 1 }
}

/// The 64 bits from `start` on, wrapping around at the end of the line.
#[inline(always)]
pub(crate) const fn window(line: &Line, start: u32) -> u64 {
    let (word, shift) = ((start / 64) as usize, start % 64);
    let (low, high) = (line[word % line.len()], line[(word + 1) % line.len()]);
    // Two shifts, because a shift by 64 is not allowed.
    (low >> shift) | (high << 1 << (63 - shift))
}

/// Writes the lowest `width` bits of `value` from bit `start` on; `width` is at most 64 and the field
/// lies within the line.
#[inline]
pub(crate) fn write(line: &mut Line, start: u32, width: u32, value: u64) {
    let (word, shift) = ((start / 64) as usize, start % 64);
    let mask = ones(width);
    let value = value & mask;
    if let Some(low) = line.get_mut(word) {
        *low = *low & !(mask << shift) | value << shift;
    }
    let (high_mask, high_value) = (mask >> 1 >> (63 - shift), value >> 1 >> (63 - shift));
    if high_mask != 0
        && let Some(high) = line.get_mut(word + 1)
    {
        *high = *high & !high_mask | high_value;
    }
}

#[cfg(test)]
pub(super) mod tests;
