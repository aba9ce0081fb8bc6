//! Pages of 2 MiB instead of 4 KiB, where the system gives them.
//!
//! A lookup anywhere in a large table needs a page's address as well as a cache line, and the processor
//! remembers the addresses of some thousand pages: a few MiB of small ones, a few GiB of huge ones. Linux
//! gives huge pages to everybody or to those who ask (`/sys/kernel/mm/transparent_hugepage/enabled`); here
//! we ask, for memory that the allocator has given us anyway.
//!
//! What it costs: the first touch of a page takes and zeroes 2 MiB, so that a table is resident in steps
//! of 2 MiB. Only pages that lie in the table as a whole are asked for: no more memory than was allocated.

use core::ptr::NonNull;

/// Bytes of a huge page: those of x86-64, and of AArch64 with small pages of 4 KiB. Where they are larger
/// (small pages of 16 or 64 KiB), the system rounds what is asked for.
#[cfg(all(feature = "huge-pages", target_os = "linux"))]
const HUGE_PAGE: usize = 2 << 20;

/// Asks for huge pages for memory that nobody has touched yet. If the system has none, or is not asked
/// (feature `huge-pages`, Linux), small pages do the same.
#[cfg_attr(not(all(feature = "huge-pages", target_os = "linux")), expect(unused_variables))]
pub(crate) fn ask_for_huge_pages(memory: NonNull<u8>, bytes: usize) {
    #[cfg(all(feature = "huge-pages", target_os = "linux"))]
    {
        let (start, whole) = whole_pages(memory, bytes);
        if whole > 0 {
            // SAFETY: the advice changes no byte of anybody's memory, whichever it is given for; what the
            // system does not like about it, it refuses.
            unsafe { libc::madvise(start.cast(), whole, libc::MADV_HUGEPAGE) };
        }
    }
}

/// The first huge page that lies in the memory, and the bytes of all.
#[cfg(all(feature = "huge-pages", target_os = "linux"))]
fn whole_pages(memory: NonNull<u8>, bytes: usize) -> (*mut u8, usize) {
    let before = memory.align_offset(HUGE_PAGE);
    let rest = bytes.saturating_sub(before);
    (memory.as_ptr().wrapping_add(before), rest - rest % HUGE_PAGE)
}

#[cfg(all(test, feature = "huge-pages", target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_pages_that_lie_in_the_memory_as_a_whole() {
        let page = HUGE_PAGE;
        for (at, bytes, start, whole) in [
            (page, page, page, page),
            (page, page - 1, page, 0),
            (page + 64, 3 * page, 2 * page, 2 * page),
            (3 * page - 64, page + 64, 3 * page, page),
            (3 * page - 64, 10, 3 * page, 0),
        ] {
            let memory = NonNull::new(core::ptr::without_provenance_mut::<u8>(at)).unwrap();
            let (found, found_bytes) = whole_pages(memory, bytes);
            assert_eq!((found.addr(), found_bytes), (start, whole), "{bytes} bytes at {at}");
        }
    }

    /// The flag `hg` of a mapping says that huge pages were asked for.
    #[test]
    fn a_large_table_asks_for_huge_pages() {
        let words = crate::memory::Words::zeroed(8 << 20).unwrap();
        let middle = words.words()[4 << 20..].as_ptr().addr();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        let mut flags = None;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let ends = range.map(|(start, end)| {
                (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16))
            });
            if let Some((Ok(start), Ok(end))) = ends {
                inside = (start..end).contains(&middle);
            } else if inside && line.starts_with("VmFlags:") {
                flags = Some(line);
            }
        }
        // A kernel that was built without huge pages has nothing to be asked.
        let has_any = std::fs::exists("/sys/kernel/mm/transparent_hugepage").unwrap();
        let asked = flags.is_some_and(|flags| flags.split(' ').any(|flag| flag == "hg"));
        assert_eq!(asked, has_any, "{flags:?}");
    }
}
