//! Prefetching.
#![allow(unsafe_code, reason = "an instruction that Rust has no safe name for")]

/// The cache level to prefetch into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nearness {
    /// The first level: the line will be changed.
    First,
    /// The second level: the line will be read once. Many lines arrive faster that way, because they evict
    /// nothing from the first level.
    Second,
}

/// Prefetches a line. Has no effect but on time.
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
