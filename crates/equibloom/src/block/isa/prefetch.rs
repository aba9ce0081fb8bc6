//! Asking for memory before it is needed.
#![allow(unsafe_code, reason = "an instruction that Rust has no safe name for")]

/// How near a line is to be brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nearness {
    /// Into the first-level cache: it will be changed.
    First,
    /// Into the second-level cache: it will be looked at once. Many of them come faster that way, because
    /// they push nothing out of the first level.
    Second,
}

/// Asks for a line to be brought into a cache. Changes nothing but time.
#[inline(always)]
pub(crate) fn prefetch(line: *const u8, nearness: Nearness) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse"))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        let line = line.cast();
        match nearness {
            // SAFETY: the target has SSE, and prefetching has no effect on the program, whatever the address.
            Nearness::First => unsafe { _mm_prefetch::<_MM_HINT_T0>(line) },
            // SAFETY: as above.
            Nearness::Second => unsafe { _mm_prefetch::<_MM_HINT_T1>(line) },
        }
    }
    #[cfg(target_arch = "aarch64")]
    match nearness {
        // SAFETY: prefetching has no effect on the program, whatever the address.
        Nearness::First => unsafe {
            core::arch::asm!(
                "prfm pldl1keep, [{line}]",
                line = in(reg) line,
                options(nostack, readonly, preserves_flags),
            );
        },
        // SAFETY: as above.
        Nearness::Second => unsafe {
            core::arch::asm!(
                "prfm pldl2keep, [{line}]",
                line = in(reg) line,
                options(nostack, readonly, preserves_flags),
            );
        },
    }
    #[cfg(not(any(all(target_arch = "x86_64", target_feature = "sse"), target_arch = "aarch64",)))]
    let _ = (line, nearness);
}
