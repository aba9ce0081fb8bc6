//! Asking for memory before it is needed.
#![allow(unsafe_code, reason = "an instruction that Rust has no safe name for")]

/// Asks for the line that something begins in to be brought into the cache. Changes nothing but time.
#[inline(always)]
pub(crate) fn prefetch<T>(place: &T) {
    let place = core::ptr::from_ref(place);
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching has no effect on the program, and the address is that of a reference.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: prefetching has no effect on the program, and the address is that of a reference.
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{place}]",
            place = in(reg) place,
            options(nostack, readonly, preserves_flags),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}
