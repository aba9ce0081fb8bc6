//! Eight bytes at a time, in a general-purpose register.

use crate::storage::Line;

const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;

/// Which of a line's 64 bytes equal `byte`, one bit for each.
pub(crate) fn equal_bytes(line: &Line, byte: u8) -> u64 {
    let pattern = u64::from(byte) * 0x0101_0101_0101_0101;
    masks(line, |word| {
        let difference = word ^ pattern;
        // No carry leaves a byte.
        !(((difference & LOW_BITS) + LOW_BITS) | difference)
    })
}

/// Which of a line's 64 bytes are greater than `byte`, one bit for each.
pub(crate) fn greater_bytes(line: &Line, byte: u8) -> u64 {
    let pattern = u64::from(byte) * 0x0101_0101_0101_0101;
    masks(line, |word| {
        // The low seven bits are greater if they and the complement of `byte`'s carry into the eighth.
        let carries = (word & LOW_BITS) + (!pattern & LOW_BITS);
        (word & !pattern) | (!(word ^ pattern) & carries)
    })
}

/// The highest bit of each byte after `compare`.
fn masks(line: &Line, compare: impl Fn(u64) -> u64) -> u64 {
    line.iter().enumerate().fold(0, |mask, (index, &word)| {
        let highest = compare(word) & !LOW_BITS;
        // Moves bit 8i + 7 to bit 56 + i.
        let bits = (highest >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask | bits << (8 * index)
    })
}
