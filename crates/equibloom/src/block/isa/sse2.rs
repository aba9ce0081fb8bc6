//! SSE2: sixteen bytes at a time. Every x86-64 CPU has it; targets without floating point (kernels) forbid
//! it.
#![allow(unsafe_code, reason = "vector instructions; see the one block below")]

use core::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};

use super::Line;

/// Which of a line's 64 bytes equal `byte`, one bit for each.
#[inline(always)]
pub(super) fn equal_bytes(line: &Line, byte: u8) -> u64 {
    // SAFETY: this file is compiled only if the target has SSE2, and a line has four times 16 bytes to load.
    unsafe {
        let pattern = _mm_set1_epi8(byte as i8);
        let mut mask = 0;
        for quarter in 0..4 {
            let bytes =
                _mm_loadu_si128(line.as_ptr().cast::<core::arch::x86_64::__m128i>().add(quarter));
            let equal = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, pattern)) as u32;
            mask |= u64::from(equal) << (16 * quarter);
        }
        mask
    }
}
