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
mod tests {
    use core::ops::Range;

    use crate::buckets::{BucketArray, Slot};

    /// The address range at the start of a line of `smaps`, if it begins a mapping.
    fn range(line: &str) -> Option<Range<usize>> {
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        Some(number(start)?..number(end)?)
    }

    /// The flag `hg` of a mapping says that huge pages were requested.
    #[test]
    fn a_large_table_asks_for_huge_pages() {
        let mut array = BucketArray::<u64>::new(1 << 20, 8, 0).unwrap();
        let middle = Slot { bucket: 1 << 19, slot: 0 };
        array.fill(middle, core::num::NonZeroU8::MIN, 1);
        let address = (&raw const *array.get(middle).unwrap()).addr();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mapping =
            maps.lines().skip_while(|&line| !range(line).is_some_and(|r| r.contains(&address)));
        let flags = mapping.into_iter().find(|line| line.starts_with("VmFlags:")).unwrap();
        // A kernel that was built without huge pages has no such flag.
        let has_any = std::fs::exists("/sys/kernel/mm/transparent_hugepage").unwrap();
        assert_eq!(flags.split(' ').any(|flag| flag == "hg"), has_any, "{flags}");
    }
}
