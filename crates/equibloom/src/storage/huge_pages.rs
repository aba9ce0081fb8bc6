//! Pages of 2 MiB instead of 4 KiB, where the system supports them.
//!
//! A random access to a large table needs an address translation as well as a cache line, and the TLB
//! covers a few thousand pages: a few MiB of small ones, a few GiB of huge ones. Linux gives huge pages to
//! all memory or on request (`/sys/kernel/mm/transparent_hugepage/enabled`); this module requests them for
//! allocated memory.
//!
//! Cost: the first access to a page zeroes 2 MiB, so that a table becomes resident in steps of 2 MiB. Only
//! whole pages within the table are requested, so that no memory is added.

#![allow(unsafe_code, reason = "a system call without a safe name")]

use core::ptr::NonNull;

/// Bytes of a huge page on x86-64, and on AArch64 with small pages of 4 KiB. Where they are larger (small
/// pages of 16 or 64 KiB), the system rounds the request.
#[cfg(all(feature = "huge-pages", target_os = "linux"))]
const HUGE_PAGE: usize = 2 << 20;

/// Requests huge pages for untouched memory. Has no effect without the feature `huge-pages`, on other
/// systems than Linux, or if the system has none.
#[cfg_attr(not(all(feature = "huge-pages", target_os = "linux")), expect(unused_variables))]
pub(crate) fn request_huge_pages(memory: NonNull<u8>, bytes: usize) {
    #[cfg(all(feature = "huge-pages", target_os = "linux"))]
    {
        let (start, whole) = whole_pages(memory, bytes);
        if whole > 0 {
            // SAFETY: the advice changes no byte of any memory; the system rejects an invalid request.
            unsafe { libc::madvise(start.cast(), whole, libc::MADV_HUGEPAGE) };
        }
    }
}

/// The first huge page within the memory, and the bytes of all.
#[cfg(all(feature = "huge-pages", target_os = "linux"))]
fn whole_pages(memory: NonNull<u8>, bytes: usize) -> (*mut u8, usize) {
    let before = memory.align_offset(HUGE_PAGE);
    let rest = bytes.saturating_sub(before);
    (memory.as_ptr().wrapping_add(before), rest - rest % HUGE_PAGE)
}

#[cfg(all(test, feature = "huge-pages", target_os = "linux"))]
mod tests;
