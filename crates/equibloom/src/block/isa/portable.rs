//! The target's baseline instructions.

use super::{BYTES, DRAWS_AT_ONCE, Isa};
use crate::block::Holds;
use crate::block::fields::{Field, ones, window};
use crate::block::pattern::Draws;
use crate::storage::Line;

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
use super::neon as vector;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::sse2 as vector;
#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
)))]
use super::words as vector;

/// Word operations, and the vector instructions that are part of the target.
///
/// On x86-64 its longest functions are out of line: few CPUs need them, and inlined they would be a large
/// part of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portable;

impl Isa for Portable {
    #[inline(always)]
    fn equal_bytes(self, line: &Line, byte: u8) -> u64 {
        vector::equal_bytes(line, byte)
    }

    #[inline(always)]
    fn greater_bytes(self, line: &Line, byte: u8) -> u64 {
        vector::greater_bytes(line, byte)
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn insert_byte(self, line: &mut Line, at: u32, byte: u8) {
        BYTES.insert(line, 8 * at, u8::BITS, byte.into());
    }

    #[inline(always)]
    fn window(self, line: &Line, start: u32) -> u64 {
        window(line, start)
    }

    #[inline(always)]
    fn inner_window(self, line: &Line, start: u32) -> u64 {
        window(line, start)
    }

    #[inline(always)]
    fn lowest(self, word: u64, count: u32) -> u64 {
        word & ones(count)
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn insert_bits(self, line: &mut Line, field: &Field, at: u32, width: u32, value: u64) {
        field.insert(line, at, width, value);
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn select(self, word: u64, rank: u32) -> u32 {
        // Set bits up to and including each byte, in the bytes of one word.
        let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
        let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
        let bytes = (nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
        let sums = bytes.wrapping_mul(0x0101_0101_0101_0101);
        // The top bit of each byte tells whether its sum is at most the rank: those bytes are below the
        // result.
        let ranks = u64::from(rank) * 0x0101_0101_0101_0101;
        let below = ((ranks | 0x8080_8080_8080_8080) - sums) & 0x8080_8080_8080_8080;
        let byte = below.count_ones() * 8;
        if byte == u64::BITS {
            return byte;
        }
        let mut left = rank - ((sums << 8 >> byte) & 0xff) as u32;
        let mut rest = word >> byte & 0xff;
        while left > 0 {
            rest &= rest - 1;
            left -= 1;
        }
        byte + rest.trailing_zeros()
    }

    /// Tests the draws of the first word without a branch between them: in a half-full block a miss passes
    /// four bits once in sixteen times, so that the one branch after them is predictable.
    #[inline(always)]
    fn holds(self, line: &Line, draws: &Draws) -> Holds {
        let mut all_hold = 1;
        draws.of_word(0, |bit| all_hold &= line[(bit / 64) as usize % line.len()] >> (bit % 64));
        if all_hold & 1 == 1 { Holds::Perhaps } else { Holds::No }
    }

    /// Never: comparing all pairs takes longer than drawing again.
    #[inline(always)]
    fn distinct_draws(self, _draws: &Draws) -> Option<[u16; DRAWS_AT_ONCE]> {
        None
    }
}
