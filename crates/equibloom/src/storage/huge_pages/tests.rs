//! Requests for huge pages.

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

/// The flag `hg` of a mapping says that huge pages were requested.
#[test]
fn a_large_table_asks_for_huge_pages() {
    let words = crate::storage::Words::zeroed(8 << 20).unwrap();
    let middle = words.as_flattened()[4 << 20..].as_ptr().addr();
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mut inside = false;
    let mut flags = None;
    for line in maps.lines() {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let ends = range
            .map(|(start, end)| (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16)));
        if let Some((Ok(start), Ok(end))) = ends {
            inside = (start..end).contains(&middle);
        } else if inside && line.starts_with("VmFlags:") {
            flags = Some(line);
        }
    }
    // A kernel without huge pages ignores requests.
    let has_any = std::fs::exists("/sys/kernel/mm/transparent_hugepage").unwrap();
    let asked = flags.is_some_and(|flags| flags.split(' ').any(|flag| flag == "hg"));
    assert_eq!(asked, has_any, "{flags:?}");
}
