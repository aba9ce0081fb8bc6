//! Prefetching.
#![allow(unsafe_code, reason = "prefetch instructions have no safe wrapper")]

/// Prefetches the cache line of a value into all levels.
#[inline(always)]
pub(super) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching has no effect on the program, and the address is that of a reference.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: prefetching has no effect on the program, and the address is that of a reference.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{value}]",
            value = in(reg) std::ptr::from_ref(value),
            options(nostack, readonly, preserves_flags),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = value;
}

/// Prefetches into the second-level cache only, as Equibloom's batched lookups do. (For the loops around peers
/// it makes no difference.)
#[inline(always)]
pub(super) fn prefetch_to_second_level<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: as above.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    prefetch(value);
}
