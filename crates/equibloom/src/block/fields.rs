//! Fields of any width anywhere in a cache line.

pub(super) use super::simd::Line;
use super::simd::Machine;

/// Bits of a line.
pub(super) const LINE_BITS: u32 = 512;

/// Bytes of a line.
pub(super) const LINE_BYTES: u32 = 64;

/// A part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    /// First bit.
    pub(super) start: u32,
    /// Behind the last bit.
    pub(super) end: u32,
    /// The words of the line that it has bits in: the first, and behind the last.
    words: (u8, u8),
    /// Its bits in those two.
    masks: (u64, u64),
}

impl Field {
    /// From bit `start` to before bit `end` of the line.
    pub(super) const fn new(start: u32, end: u32) -> Self {
        let (first, behind) = (start / 64, end.div_ceil(64));
        let in_first = !Before::new(start).of_word(first as usize);
        let in_last = Before::new(end).of_word(behind.saturating_sub(1) as usize);
        Self { start, end, words: (first as u8, behind as u8), masks: (in_first, in_last) }
    }

    /// The words of the line that it has bits in. All of them take part in everything: how many they are
    /// is the same for all blocks, while a loop that begins at some bit would end in a surprise each
    /// time.
    #[inline(always)]
    pub(super) fn words(&self) -> core::ops::Range<usize> {
        usize::from(self.words.0)..usize::from(self.words.1)
    }

    /// Which bits of a word are its own.
    #[inline(always)]
    pub(super) const fn mask(&self, word: usize) -> u64 {
        let from_start = if word == self.words.0 as usize { self.masks.0 } else { u64::MAX };
        let to_end = if word + 1 == self.words.1 as usize { self.masks.1 } else { u64::MAX };
        from_start & to_end
    }

    /// Its bits of a word, in their places.
    #[inline(always)]
    const fn of_word(&self, line: &Line, word: usize) -> u64 {
        line[word % 8] & self.mask(word)
    }

    /// How many ones it has.
    #[inline(always)]
    pub(super) fn ones(&self, line: &Line) -> u32 {
        self.words().fold(0, |sum, word| sum + self.of_word(line, word).count_ones())
    }

    /// How many ones it has before bit `at` of the line.
    #[inline(always)]
    pub(super) fn ones_before(&self, line: &Line, at: u32) -> u32 {
        let before = Before::new(at);
        let in_word = |word| (self.of_word(line, word) & before.of_word(word)).count_ones();
        self.words().fold(0, |sum, word| sum + in_word(word))
    }

    /// The bit of the line that is its zero with `rank` zeros before it.
    #[inline(always)]
    pub(super) fn zero<M: Machine>(&self, machine: M, line: &Line, rank: u32) -> Option<u32> {
        let zeros = |word: usize| !line[word % 8] & self.mask(word);
        let first = self.words().start;
        if self.words().end <= first + 2 {
            // Without a branch on the word that it is in.
            let has_second = self.words().end == first + 2;
            let low = if self.words().is_empty() { 0 } else { zeros(first) };
            let high = if has_second { zeros(first + 1) } else { 0 };
            let in_low = low.count_ones();
            let is_low = rank < in_low;
            let (zeros, rank) = if is_low { (low, rank) } else { (high, rank - in_low) };
            let word = first as u32 + u32::from(!is_low);
            return (rank < zeros.count_ones()).then(|| 64 * word + machine.select(zeros, rank));
        }
        let mut rank = rank;
        for word in self.words() {
            let count = zeros(word).count_ones();
            if rank < count {
                return Some(64 * word as u32 + machine.select(zeros(word), rank));
            }
            rank -= count;
        }
        None
    }

    /// Inserts the `width` bits of `value` (less than 64) at bit `at` of the line: its bits from there on
    /// move up by as many, the last ones are lost.
    #[inline(always)]
    pub(super) fn insert(&self, line: &mut Line, at: u32, width: u32, value: u64) {
        let before = Before::new(at);
        let (mut below, behind) = (0, 63 - width);
        for word in self.words() {
            let moving = self.of_word(line, word) & !before.of_word(word);
            let moved = (moving << width | below >> 1 >> behind) & self.mask(word);
            line[word % 8] = line[word % 8] ^ moving | moved;
            below = moving;
        }
        let (word, shift) = ((at / 64) as usize, at % 64);
        line[word % 8] |= value << shift;
        // Nothing is spilled over the end of the line.
        line[(word + 1) % 8] |= value >> 1 >> (63 - shift);
    }

    /// Removes `width` bits (less than 64) from bit `at` of the line on: those behind them move down, the
    /// last ones become zero.
    pub(super) fn remove(&self, line: &mut Line, at: u32, width: u32) {
        let mut at = at;
        while at < self.end {
            let moved = window(line, at + width) & ones((self.end - at).saturating_sub(width));
            write(line, at, (self.end - at).min(64), moved);
            at += 64;
        }
    }
}

/// The bits of a line before one of them.
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

    /// Ones for those in a word of the line.
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

/// Ones in the lowest `width` bits, up to 64.
#[inline(always)]
pub(super) const fn ones(width: u32) -> u64 {
    if width >= u64::BITS { u64::MAX } else { (1 << width) - 1 }
}

/// The 64 bits from `start` on. Behind the end of the line come the bits of its beginning.
#[inline(always)]
pub(super) const fn window(line: &Line, start: u32) -> u64 {
    let (word, shift) = ((start / 64) as usize, start % 64);
    let (low, high) = (line[word % line.len()], line[(word + 1) % line.len()]);
    // In two steps, because a word cannot be shifted by all of its 64 bits.
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
mod tests {
    use super::*;
    use crate::block::simd::Portable;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn bits_of(line: &Line) -> Vec<u64> {
        (0..LINE_BITS).map(|bit| line[(bit / 64) as usize] >> (bit % 64) & 1).collect()
    }

    proptest! {
        #[test]
        fn fields_are_read_and_written_as_strings_of_bits(
            line: Line, value: u64, start in 0..LINE_BITS, width in 1..65_u32,
        ) {
            let width = width.min(LINE_BITS - start);
            let bits = bits_of(&line);
            for i in 0..64 {
                let expected = bits[(start + i) as usize % bits.len()];
                prop_assert_eq!(window(&line, start) >> i & 1, expected);
            }
            let mut written = line;
            write(&mut written, start, width, value);
            let mut expected = bits;
            for i in 0..width {
                expected[(start + i) as usize] = value >> i & 1;
            }
            prop_assert_eq!(bits_of(&written), expected);
        }

        #[test]
        fn a_field_counts_and_finds_its_own_bits_only(
            line: Line, range in (0..=LINE_BITS, 0..=LINE_BITS), at in 0..=LINE_BITS, rank in 0..40_u32,
        ) {
            let (start, end) = (range.0.min(range.1), range.0.max(range.1));
            let field = Field::new(start, end);
            let own = |bit: &u32| (start..end).contains(bit);
            let is = |value| (0..LINE_BITS).filter(own).filter(move |&bit| bits_of(&line)[bit as usize] == value);
            prop_assert_eq!(field.ones(&line), is(1).count() as u32);
            prop_assert_eq!(field.ones_before(&line, at), is(1).filter(|&bit| bit < at).count() as u32);
            prop_assert_eq!(field.zero(Portable, &line, rank), is(0).nth(rank as usize));
        }

        #[test]
        fn bits_are_inserted_and_removed_within_their_field(
            line: Line, value: u64, range in (0..LINE_BITS, 1..=LINE_BITS), width in 1..64_u32, before in 0..LINE_BITS,
        ) {
            let (at, end) = (range.0.min(range.1 - 1), range.1);
            let field = Field::new(at.saturating_sub(before), end);
            let width = width.min(end - at);
            let value = value & ones(width);
            let mut expected = bits_of(&line);
            let lost: Vec<u64> = expected.drain((end - width) as usize..end as usize).collect();
            for bit in 0..width {
                expected.insert((at + bit) as usize, value >> bit & 1);
            }
            let mut changed = line;
            field.insert(&mut changed, at, width, value);
            prop_assert_eq!(bits_of(&changed), expected);

            field.remove(&mut changed, at, width);
            prop_assert_eq!(window(&changed, end - width) & ones(width), 0);
            for (bit, value) in (end - width..end).zip(lost) {
                write(&mut changed, bit, 1, value);
            }
            prop_assert_eq!(changed, line);
        }
    }
}
