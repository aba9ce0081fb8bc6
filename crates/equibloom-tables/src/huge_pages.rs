//! Requests pages of 2 MiB instead of 4 KiB from Linux.
//!
//! The processor caches the addresses of some thousand pages: a few MiB of small ones, a few GiB of huge ones.
//! The library's filters contain the same code (`memory/huge_pages.rs`): a crate for one system call would cost
//! more than it saves.

#![allow(unsafe_code, reason = "`madvise` has no safe name")]

use core::ptr::NonNull;

/// Bytes of a huge page. Where it is larger (small pages of 16 or 64 KiB), the system rounds the request.
const HUGE_PAGE: usize = 2 << 20;

/// Requests huge pages for allocated memory that has not been touched yet, as far as whole ones lie in it.
/// Without them the memory stays in small pages.
pub(crate) fn ask_for_huge_pages(memory: NonNull<u8>, bytes: usize) {
    let before = memory.align_offset(HUGE_PAGE);
    let whole = bytes.saturating_sub(before) / HUGE_PAGE * HUGE_PAGE;
    if whole > 0 {
        let start = memory.as_ptr().wrapping_add(before);
        // SAFETY: advice changes no byte, and the range lies in the allocation.
        unsafe { libc::madvise(start.cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(test)]
mod tests;
