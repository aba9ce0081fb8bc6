//! NEON: sixteen bytes at a time, little-endian. Every 64-bit ARM target with a standard library has it;
//! targets without floating point (kernels) do not.
#![allow(unsafe_code, reason = "vector instructions; see the one block below")]

use core::arch::aarch64::{
    uint8x16_t, vceqq_u8, vcgtq_u8, vdupq_n_u8, vget_lane_u64, vld1q_u8, vreinterpret_u64_u8,
    vreinterpretq_u16_u8, vshrn_n_u16,
};

use crate::storage::Line;

/// Which of a line's 64 bytes equal `byte`, one bit for each.
#[inline(always)]
pub(super) fn equal_bytes(line: &Line, byte: u8) -> u64 {
    // SAFETY: this file is compiled only if the target has NEON.
    masks(line, |bytes| unsafe { vceqq_u8(bytes, vdupq_n_u8(byte)) })
}

/// Which of a line's 64 bytes are greater than `byte`, one bit for each.
#[inline(always)]
pub(super) fn greater_bytes(line: &Line, byte: u8) -> u64 {
    // SAFETY: this file is compiled only if the target has NEON.
    masks(line, |bytes| unsafe { vcgtq_u8(bytes, vdupq_n_u8(byte)) })
}

/// One bit for each byte: whether `compare` has set it.
#[inline(always)]
fn masks(line: &Line, compare: impl Fn(uint8x16_t) -> uint8x16_t) -> u64 {
    (0..4).fold(0, |mask, quarter| {
        // SAFETY: this file is compiled only if the target has NEON, and a line has four times 16 bytes to load.
        let nibbles = unsafe {
            let bytes = vld1q_u8(line.as_ptr().cast::<u8>().add(16 * quarter));
            // Four bits of each byte: NEON has no instruction that gathers one bit of each.
            vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(vreinterpretq_u16_u8(
                compare(bytes),
            ))))
        };
        // Bit 4i to bit i, in three steps.
        let ones = nibbles & 0x1111_1111_1111_1111;
        let pairs = (ones | ones >> 3) & 0x0303_0303_0303_0303;
        let fours = (pairs | pairs >> 6) & 0x000f_000f_000f_000f;
        let eights = (fours | fours >> 12) & 0x0000_00ff_0000_00ff;
        mask | ((eights | eights >> 24) & 0xffff) << (16 * quarter)
    })
}
