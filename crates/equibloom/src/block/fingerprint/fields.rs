//! Fields of any width anywhere in a cache line.

use crate::memory::WORDS_PER_LINE;

/// A cache line as a string of 512 bits.
pub(super) type Line = [u64; WORDS_PER_LINE];

/// Bits of a line.
pub(super) const LINE_BITS: u32 = 512;

/// Bytes of a line.
pub(super) const LINE_BYTES: u32 = 64;

/// Changes a line byte by byte.
#[inline]
pub(super) fn with_bytes(line: &mut Line, change: impl FnOnce(&mut [u8; LINE_BYTES as usize])) {
    let mut bytes = [0; LINE_BYTES as usize];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(line.iter()) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    change(&mut bytes);
    for (chunk, word) in bytes.chunks_exact(8).zip(line.iter_mut()) {
        *word = chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
}

/// Ones in the lowest `width` bits, up to 64.
#[inline(always)]
pub(super) const fn ones(width: u32) -> u64 {
    if width >= u64::BITS { u64::MAX } else { (1 << width) - 1 }
}

/// The 64 bits from `start` on; bits behind the end of the line are zero.
#[inline(always)]
pub(super) fn window(line: &Line, start: u32) -> u64 {
    let (word, shift) = ((start / 64) as usize, start % 64);
    let low = line.get(word).copied().unwrap_or(0);
    let high = line.get(word + 1).copied().unwrap_or(0);
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

/// Inserts a bit into the field from `start` to `end`: the bits from `at` on move up by one, the last
/// one is lost.
pub(super) fn insert_bit(line: &mut Line, at: u32, end: u32, bit: u64) {
    let (mut at, mut carry) = (at, bit);
    while at < end {
        let width = (end - at).min(64);
        let moved = window(line, at) & ones(width);
        write(line, at, width, moved << 1 | carry);
        carry = moved >> (width - 1);
        at += width;
    }
}

/// Removes the bit `at` of the field that ends at `end`: the bits behind it move down by one, the
/// last one becomes zero.
pub(super) fn remove_bit(line: &mut Line, at: u32, end: u32) {
    let mut at = at;
    while at < end {
        let width = (end - at).min(64);
        let moved = window(line, at + 1) & ones((end - at - 1).min(64));
        write(line, at, width, moved);
        at += width;
    }
}

/// Position of the set bit that has `rank` set bits below it; the word has more than `rank`.
#[inline(always)]
pub(super) fn select(word: u64, rank: u32) -> u32 {
    // Set bits up to and including each byte, in the bytes of one word.
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    let bytes = (nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    let sums = bytes.wrapping_mul(0x0101_0101_0101_0101);
    // The top bit of each byte tells whether its sum is at most the rank: those bytes lie below.
    let ranks = u64::from(rank) * 0x0101_0101_0101_0101;
    let below = ((ranks | 0x8080_8080_8080_8080) - sums) & 0x8080_8080_8080_8080;
    let byte = below.count_ones() * 8;
    let mut left = rank - ((sums << 8 >> byte) & 0xff) as u32;
    let mut rest = word >> byte & 0xff;
    while left > 0 {
        rest &= rest - 1;
        left -= 1;
    }
    byte + rest.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
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
                let expected = bits.get((start + i) as usize).copied().unwrap_or(0);
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
        fn bits_are_inserted_and_removed_within_their_field(
            line: Line, bit in 0..2_u64, range in (0..LINE_BITS, 1..=LINE_BITS),
        ) {
            let (at, end) = (range.0.min(range.1 - 1), range.1);
            let mut expected = bits_of(&line);
            let lost = expected.remove(end as usize - 1);
            expected.insert(at as usize, bit);
            let mut changed = line;
            insert_bit(&mut changed, at, end, bit);
            prop_assert_eq!(bits_of(&changed), expected);

            remove_bit(&mut changed, at, end);
            let mut back = changed;
            write(&mut back, end - 1, 1, lost);
            prop_assert_eq!(back, line);
            prop_assert_eq!(window(&changed, end - 1) & 1, 0);
        }

        #[test]
        fn select_finds_the_bit_of_a_rank(word: u64) {
            let set = (0..64).filter(|bit| word >> bit & 1 == 1);
            for (rank, bit) in set.enumerate() {
                prop_assert_eq!(select(word, rank as u32), bit);
            }
        }
    }
}
