//! Bit fields of a cache line.

pub(super) use super::isa::Line;
use super::isa::{Isa, Portable};
use crate::storage::WORDS_PER_LINE;

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

    /// Whether the field begins in the first word of the line and ends within the first two.
    /// [Common](Isa::COMMON) shapes require it.
    pub(super) const fn is_early(&self) -> bool {
        self.start < 64 && self.end <= 128
    }

    /// The first word with bits of the field.
    #[inline(always)]
    fn first_word<I: Isa>(&self) -> u32 {
        if I::COMMON { 0 } else { self.first_word }
    }

    /// The field's bits in its first two words, in place.
    #[inline(always)]
    fn first_two<I: Isa>(&self, line: &Line) -> [u64; 2] {
        let first = self.first_word::<I>() as usize;
        let (low, high) = (line[first % line.len()], line[(first + 1) % line.len()]);
        [low & self.first_two[0], high & self.first_two[1]]
    }

    /// Number of ones.
    #[inline(always)]
    pub(super) fn ones<I: Isa>(&self, _isa: I, line: &Line) -> u32 {
        if I::COMMON || self.is_short {
            let [low, high] = self.first_two::<I>(line);
            low.count_ones() + high.count_ones()
        } else {
            self.ones_before_in_all(line, self.end)
        }
    }

    /// Number of ones before bit `at` of the line.
    #[inline(always)]
    pub(super) fn ones_before<I: Isa>(&self, isa: I, line: &Line, at: u32) -> u32 {
        if I::COMMON || self.is_short {
            let [low, high] = self.first_two::<I>(line);
            let into = at.saturating_sub(64 * self.first_word::<I>());
            // In the common shape, `at` lies within the field.
            let into = if I::COMMON { into } else { into.min(128) };
            isa.lowest(low, into).count_ones()
                + isa.lowest(high, into.saturating_sub(64)).count_ones()
        } else {
            self.ones_before_in_all(line, at)
        }
    }

    #[inline(always)]
    fn ones_before_in_all(&self, line: &Line, at: u32) -> u32 {
        let before = Before::new(at);
        let words = line.iter().zip(&self.mask).enumerate();
        words.map(|(word, (&bits, mask))| (bits & mask & before.of_word(word)).count_ones()).sum()
    }

    /// The bit of the line that holds the field's zero with `rank` zeros before it.
    #[inline(always)]
    pub(super) fn zero<I: Isa>(&self, isa: I, line: &Line, rank: u32) -> Option<u32> {
        if !I::COMMON && !self.is_short {
            return self.zero_in_all(isa, line, rank);
        }
        // Branchless selection of the word.
        let [low, high] = self.first_two::<I>(line);
        let (low, high) = (low ^ self.first_two[0], high ^ self.first_two[1]);
        let in_low = low.count_ones();
        let is_low = rank < in_low;
        let (zeros, rank) = if is_low { (low, rank) } else { (high, rank - in_low) };
        let word = self.first_word::<I>() + u32::from(!is_low);
        (rank < zeros.count_ones()).then(|| 64 * word + isa.select(zeros, rank))
    }

    #[inline(always)]
    fn zero_in_all<I: Isa>(&self, isa: I, line: &Line, rank: u32) -> Option<u32> {
        let zeros_of = |word: u32| {
            let word = word as usize % line.len();
            !line[word] & self.mask[word]
        };
        // Branchless selection among the first three words.
        let first = self.first_word;
        let [low, middle, high] = [zeros_of(first), zeros_of(first + 1), zeros_of(first + 2)];
        let before_middle = low.count_ones();
        let before_high = before_middle + middle.count_ones();
        let (is_low, is_below_high) = (rank < before_middle, rank < before_high);
        let (zeros, before) =
            if is_below_high { (middle, before_middle) } else { (high, before_high) };
        let (zeros, before) = if is_low { (low, 0) } else { (zeros, before) };
        let (rank, word) = (rank - before, first + u32::from(!is_low) + u32::from(!is_below_high));
        if rank < zeros.count_ones() {
            return Some(64 * word + isa.select(zeros, rank));
        }
        self.zero_behind(line, first + 3, rank - zeros.count_ones())
    }

    /// The same from word `first_word` on.
    #[cold]
    #[inline(never)]
    fn zero_behind(&self, line: &Line, first_word: u32, mut rank: u32) -> Option<u32> {
        let words = line.iter().zip(&self.mask).zip(0..).skip(first_word as usize);
        for ((bits, mask), word) in words {
            let zeros = !bits & mask;
            let count = zeros.count_ones();
            if rank < count {
                return Some(64 * word + Portable.select(zeros, rank));
            }
            rank -= count;
        }
        None
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
mod tests {
    use super::*;
    use crate::block::isa::Portable;
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
            prop_assert_eq!(field.ones(Portable, &line), is(1).count() as u32);
            prop_assert_eq!(field.ones_before(Portable, &line, at), is(1).filter(|&bit| bit < at).count() as u32);
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
