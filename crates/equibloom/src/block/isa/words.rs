//! Eight bytes at a time, in a general-purpose register.

use crate::memory::WORDS_PER_LINE;

const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;

/// Which of a line's 64 bytes equal `byte`, one bit for each.
pub(crate) fn equal_bytes(line: &[u64; WORDS_PER_LINE], byte: u8) -> u64 {
    let pattern = u64::from(byte) * 0x0101_0101_0101_0101;
    line.iter().enumerate().fold(0, |mask, (index, word)| {
        let difference = word ^ pattern;
        // The highest bit of each byte that is zero; no carry leaves a byte.
        let zeros = !(((difference & LOW_BITS) + LOW_BITS) | difference | LOW_BITS);
        // Moves bit 8i + 7 to bit 56 + i.
        let bits = (zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask | bits << (8 * index)
    })
}
