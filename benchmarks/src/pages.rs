//! The same pages for everybody.
//!
//! Equibloom asks the system for huge pages, its peers do not, and for a filter out of cache that decides
//! more than anything else. So that filters are compared and not pages, all large memory of this program is
//! asked for in huge pages, whoever allocates it; with `--pages small` nobody gets any.
#![allow(unsafe_code, reason = "an allocator, and two calls of the operating system")]

use std::alloc::{GlobalAlloc, Layout, System};

/// Bytes of the pages that filters lie in, as far as the system has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Pages {
    /// 2 MiB.
    Huge,
    /// 4 KiB.
    Small,
}

/// The system's allocator, asked for huge pages where they can be used.
pub(crate) struct HugePages;

/// Less than this is not worth a call of the operating system.
const LARGE: usize = 4 << 20;

// SAFETY: all memory comes from the system's allocator and goes back to it by the same layout; the advice
// in between changes none of it.
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
    /// Makes it so for all memory from now on.
    pub(crate) fn choose(self) {
        #[cfg(target_os = "linux")]
        if self == Self::Small {
            let (yes, unused) = (1 as libc::c_ulong, 0 as libc::c_ulong);
            // SAFETY: concerns this process's page sizes and nothing else. Where it is not known, the
            // system says so, and pages are as they are.
            unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, yes, unused, unused, unused) };
        }
    }
}
