//! Asking for memory before it is needed.
#![allow(unsafe_code, reason = "an instruction that Rust has no safe name for")]

use super::Line;

/// Asks for a line to be brought into the cache. Changes nothing but time.
#[inline(always)]
pub(crate) fn prefetch(line: &Line) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching has no effect on the program, and the address is that of a reference.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: prefetching has no effect on the program, and the address is that of a reference.
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{line}]",
            line = in(reg) line.as_ptr(),
            options(nostack, readonly, preserves_flags),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = line;
}
