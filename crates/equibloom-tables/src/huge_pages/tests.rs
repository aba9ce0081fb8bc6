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
