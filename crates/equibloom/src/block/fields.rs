//! Bit fields of a cache line.

use super::isa::{Isa, Portable, Target};
use crate::storage::{Line, WORDS_PER_LINE};

/// Bits of a line.
pub(super) const LINE_BITS: u32 = 512;

/// Bytes of a line.
pub(super) const LINE_BYTES: u32 = 64;

/// A bit field of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    /// First bit.
    pub(super) start: u32,
    /// One past the last bit.
    pub(super) end: u32,
    /// The first word with bits of the field.
    first_word: u32,
    /// Masks of the field in that word and the next; the whole field, if it is short.
    first_two: [u64; 2],
    is_short: bool,
    /// Masks of the field in all words.
    pub(super) mask: Line,
}

impl Field {
    /// The field of bits `start..end`.
    pub(super) const fn new(start: u32, end: u32) -> Self {
        let mut mask = [0; WORDS_PER_LINE];
        let mut word = 0;
        while word < mask.len() {
            let (before_start, before_end) = (Before::new(start), Before::new(end));
            mask[word] = before_end.of_word(word) & !before_start.of_word(word);
            word += 1;
        }
        let first_word = start / 64;
        // The index wraps around: a field that reaches the last word has no bits in the first one.
        let first = first_word as usize;
        let first_two = [mask[first % mask.len()], mask[(first + 1) % mask.len()]];
        let is_short = end <= 64 * (first_word + 2);
        Self { start, end, first_word, first_two, is_short, mask }
    }

    /// Whether the field lies within the first two words of the line. Common shapes require it.
    pub(super) const fn is_early(&self) -> bool {
        self.end <= 128
    }

    /// The first word with bits of the field.
    #[inline(always)]
    const fn first_word<T: Target>(&self) -> u32 {
        if T::COMMON { 0 } else { self.first_word }
    }

    /// The field's bits in its first two words, in place.
    #[inline(always)]
    fn first_two<T: Target>(&self, line: &Line) -> [u64; 2] {
        let first = self.first_word::<T>() as usize;
        let (low, high) = (line[first % line.len()], line[(first + 1) % line.len()]);
        [low & self.first_two[0], high & self.first_two[1]]
    }

    /// Number of ones.
    #[inline(always)]
    pub(super) fn ones<T: Target>(&self, _t: T, line: &Line) -> u32 {
        if T::COMMON || self.is_short {
            let [low, high] = self.first_two::<T>(line);
            low.count_ones() + high.count_ones()
        } else {
            self.ones_before_in_all(line, self.end)
        }
    }

    /// Number of ones before bit `at` of the line; in common shapes, where the field begins with the line, `at`
    /// lies within the field.
    #[inline(always)]
    pub(super) fn ones_before<T: Target>(&self, t: T, line: &Line, at: u32) -> u32 {
        if T::COMMON {
            t.lowest(t.word(line, 0), at).count_ones()
                + t.lowest(t.word(line, 1), at.saturating_sub(64)).count_ones()
        } else if self.is_short {
            let [low, high] = self.first_two::<T>(line);
            let into = at.saturating_sub(64 * self.first_word).min(128);
            t.lowest(low, into).count_ones() + t.lowest(high, into.saturating_sub(64)).count_ones()
        } else {
            self.ones_before_in_all(line, at)
        }
    }

    /// [`ones_before`](Self::ones_before) for a position that does not depend on the line: by a branch, which the
    /// CPU resolves before it has the line, instead of instructions that wait for it.
    #[inline(always)]
    pub(super) fn ones_before_list<T: Target>(&self, t: T, line: &Line, at: u32) -> u32 {
        if T::COMMON && at <= 64 {
            return t.lowest(line[0], at).count_ones();
        }
        self.ones_before(t, line, at)
    }

    #[inline(always)]
    fn ones_before_in_all(&self, line: &Line, at: u32) -> u32 {
        let before = Before::new(at);
        let words = line.iter().zip(&self.mask).enumerate();
        words.map(|(word, (&bits, mask))| (bits & mask & before.of_word(word)).count_ones()).sum()
    }

    /// The bit of the line that holds the field's one with `rank` ones before it.
    #[inline(always)]
    pub(super) fn one<T: Target>(&self, t: T, line: &Line, rank: u32) -> Option<u32> {
        self.select::<T, false>(t, line, rank)
    }

    /// The bit of the line that holds the field's zero with `rank` zeros before it.
    #[inline(always)]
    pub(super) fn zero<T: Target>(&self, t: T, line: &Line, rank: u32) -> Option<u32> {
        self.select::<T, true>(t, line, rank)
    }

    #[inline(always)]
    fn select<T: Target, const ZEROS: bool>(&self, t: T, line: &Line, rank: u32) -> Option<u32> {
        if !T::COMMON && !self.is_short {
            return self.select_in_all::<ZEROS>(line, rank);
        }
        let [mut low, mut high] = self.first_two::<T>(line);
        if ZEROS {
            (low, high) = (low ^ self.first_two[0], high ^ self.first_two[1]);
        }
        // Branchless selection of the word.
        let in_low = low.count_ones();
        let is_low = rank < in_low;
        let (bits, rank) = if is_low { (low, rank) } else { (high, rank - in_low) };
        let word = self.first_word::<T>() + u32::from(!is_low);
        (rank < bits.count_ones()).then(|| 64 * word + t.select(bits, rank))
    }

    fn select_in_all<const ZEROS: bool>(&self, line: &Line, mut rank: u32) -> Option<u32> {
        for ((&bits, mask), word) in line.iter().zip(&self.mask).zip(0..) {
            let bits = if ZEROS { !bits } else { bits } & mask;
            let count = bits.count_ones();
            if rank < count {
                return Some(64 * word + Portable.select(bits, rank));
            }
            rank -= count;
        }
        None
    }

    /// Number of successive ones that end before bit `at` of the field, at most 64.
    #[inline(always)]
    pub(super) fn run_before<T: Target>(&self, _t: T, line: &Line, at: u32) -> u32 {
        let before = if T::COMMON {
            // Branchless: `at` is below 128.
            let both = u128::from(line[1]) << 64 | u128::from(line[0]);
            ((both << 1 << (127 - at % 128)) >> 64) as u64
        } else if at >= 64 {
            window(line, at - 64)
        } else {
            line[0] << (63 - at) << 1
        };
        before.leading_ones().min(at - self.start)
    }

    /// Inserts the `width` (< 64) bits of `value` at bit `at` of the line: higher bits of the field move
    /// up, the last ones are lost. (What [`Isa::insert_bits`] does, word by word.)
    #[inline(always)]
    pub(super) fn insert(&self, line: &mut Line, at: u32, width: u32, value: u64) {
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

    /// Inserts a one at bit `at` of the line: higher bits of the field move up, the last is lost.
    #[inline(always)]
    pub(super) fn insert_one<T: Target>(&self, t: T, line: &mut Line, at: u32) {
        if T::COMMON {
            t.insert_early_one(line, self, at);
        } else {
            t.insert_bits(line, self, at, 1, 1);
        }
    }

    /// Removes bit `at` of the line: higher bits of the field move down, the last becomes zero.
    #[inline(always)]
    pub(super) fn remove_bit<T: Target>(&self, t: T, line: &mut Line, at: u32) {
        if T::COMMON {
            t.remove_early_bit(line, self, at);
        } else {
            self.remove(line, at, 1);
        }
    }

    /// Removes `width` (< 64) bits at bit `at` of the line: higher bits of the field move down, the last
    /// ones become zero.
    pub(super) fn remove(&self, line: &mut Line, at: u32, width: u32) {
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
struct Before {
    word: usize,
    of_its_word: u64,
}

impl Before {
    #[inline(always)]
    const fn new(at: u32) -> Self {
        Self { word: (at / 64) as usize, of_its_word: (1 << (at % 64)) - 1 }
    }

    /// Their mask in a word of the line.
    #[inline(always)]
    const fn of_word(self, word: usize) -> u64 {
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
pub(super) const fn ones(width: u32) -> u64 {
    if width >= u64::BITS { u64::MAX } else { (1 << width) - 1 }
}

/// The 64 bits from `start` on, wrapping around at the end of the line.
#[inline(always)]
pub(super) const fn window(line: &Line, start: u32) -> u64 {
    let (word, shift) = ((start / 64) as usize, start % 64);
    let (low, high) = (line[word % line.len()], line[(word + 1) % line.len()]);
    // Two shifts, because a shift by 64 is not allowed.
    (low >> shift) | (high << 1 << (63 - shift))
}

/// Writes the lowest `width` bits of `value` from bit `start` on; `width` is at most 64 and the field
/// lies within the line.
#[inline]
pub(super) fn write(line: &mut Line, start: u32, width: u32, value: u64) {
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
mod tests;
