//! The same page size for all filters.
//!
//! Equibloom asks the system for huge pages, its peers do not, and out of cache the page size matters more than
//! the filter. To compare filters and not pages, this program requests huge pages for every large allocation,
//! or for none with `--pages small`.
#![allow(unsafe_code, reason = "an allocator, and two calls of the operating system")]

use std::alloc::{GlobalAlloc, Layout, System};

/// Size of the filters' pages, as far as the system provides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Pages {
    /// 2 MiB.
    Huge,
    /// 4 KiB.
    Small,
}

/// The system's allocator with advice to use huge pages.
pub(crate) struct HugePages;

/// Smaller allocations are not worth a system call.
const LARGE: usize = 4 << 20;

// SAFETY: all memory comes from the system's allocator and returns to it with the same layout; the advice does
// not change it.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        advised(unsafe { System.alloc(layout) }, layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        advised(unsafe { System.alloc_zeroed(layout) }, layout)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's; it came from the same allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[cfg_attr(not(target_os = "linux"), expect(unused_variables))]
fn advised(memory: *mut u8, layout: Layout) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if layout.size() >= LARGE && !memory.is_null() {
        const HUGE_PAGE: usize = 2 << 20;
        let before = memory.align_offset(HUGE_PAGE);
        let rest = layout.size().saturating_sub(before);
        // SAFETY: whole pages of memory that was just allocated; the advice changes no byte of it.
        unsafe {
            libc::madvise(
                memory.wrapping_add(before).cast(),
                rest - rest % HUGE_PAGE,
                libc::MADV_HUGEPAGE,
            );
        }
    }
    memory
}

impl Pages {
    /// Applies to all memory allocated from now on.
    pub(crate) fn choose(self) {
        #[cfg(target_os = "linux")]
        if self == Self::Small {
            let (yes, unused) = (1 as libc::c_ulong, 0 as libc::c_ulong);
            // SAFETY: changes this process's page sizes only. A system without this option returns an error,
            // and the pages stay as they are.
            unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, yes, unused, unused, unused) };
        }
    }
}
