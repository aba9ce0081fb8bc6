//! SSE2: sixteen bytes at a time. Every x86-64 CPU has it; targets without floating point (kernels) forbid
//! it.
#![allow(unsafe_code, reason = "vector instructions; see the one block below")]

use core::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_max_epu8, _mm_movemask_epi8, _mm_set1_epi8,
};

use crate::storage::Line;

/// Which of a line's 64 bytes equal `byte`, one bit for each.
#[inline(always)]
pub(super) fn equal_bytes(line: &Line, byte: u8) -> u64 {
    // SAFETY: this file is compiled only if the target has SSE2.
    masks(line, |bytes| unsafe { _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8)) })
}

/// Which of a line's 64 bytes are greater than `byte`, one bit for each.
#[inline(always)]
pub(super) fn greater_bytes(line: &Line, byte: u8) -> u64 {
    // There is no comparison of unsigned bytes: the maximum of a byte that is not greater is `byte`.
    !masks(line, |bytes| {
        // SAFETY: this file is compiled only if the target has SSE2.
        unsafe {
            let pattern = _mm_set1_epi8(byte as i8);
            _mm_cmpeq_epi8(_mm_max_epu8(bytes, pattern), pattern)
        }
    })
}

/// The highest bit of each byte after `compare`.
#[inline(always)]
fn masks(line: &Line, compare: impl Fn(__m128i) -> __m128i) -> u64 {
    (0..4).fold(0, |mask, quarter| {
        // SAFETY: this file is compiled only if the target has SSE2, and a line has four times 16 bytes to load.
        let bits = unsafe {
            let bytes = _mm_loadu_si128(line.as_ptr().cast::<__m128i>().add(quarter));
            _mm_movemask_epi8(compare(bytes)) as u32
        };
        mask | u64::from(bits) << (16 * quarter)
    })
}
