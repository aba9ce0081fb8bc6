//! Sixteen bytes at a time. Every x86-64 processor can do this.
#![allow(unsafe_code, reason = "vector instructions; see the one call below")]

use core::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};

use crate::memory::WORDS_PER_LINE;

/// Which of a line's 64 bytes equal `byte`, one bit for each.
#[inline(always)]
pub(crate) fn equal_bytes(line: &[u64; WORDS_PER_LINE], byte: u8) -> u64 {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { with_sse2(line, byte) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn with_sse2(line: &[u64; WORDS_PER_LINE], byte: u8) -> u64 {
    let pattern = _mm_set1_epi8(byte as i8);
    let mut mask = 0;
    for quarter in 0..WORDS_PER_LINE / 2 {
        let (low, high) = (line[2 * quarter] as i64, line[2 * quarter + 1] as i64);
        let equal = _mm_cmpeq_epi8(_mm_set_epi64x(high, low), pattern);
        mask |= u64::from(_mm_movemask_epi8(equal) as u32) << (16 * quarter);
    }
    mask
}
