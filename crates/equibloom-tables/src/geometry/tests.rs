use super::*;

#[test]
fn a_header_of_at_most_16_bytes_lies_in_one_line() {
    for (slots, counters, header) in
        [(1, 0, 1), (4, 0, 4), (3, 4, 8), (4, 4, 8), (7, 4, 16), (12, 4, 16), (20, 4, 32)]
    {
        let (geometry, _) = Geometry::of::<(u64, u64)>(1_000, slots, counters).unwrap();
        assert_eq!(geometry.header, header);
        assert_eq!(geometry.classes(), PER_BYTE * (header - slots));
        let lines = (0..1_000).map(|bucket| geometry.header_lines(bucket).count());
        assert!(header > 16 || lines.max() == Some(1));
    }
}

#[test]
fn four_entries_of_16_bytes_fill_one_line() {
    let (geometry, layout) = Geometry::of::<(u64, u64)>(100, 4, 0).unwrap();
    assert_eq!(layout.size(), geometry.first_entry + 100 * 64);
    for bucket in 0..100 {
        let first = geometry.entry_lines(Slot { bucket, slot: 0 });
        assert!((1..4).all(|slot| geometry.entry_lines(Slot { bucket, slot }) == first));
    }
}

#[test]
fn entries_lie_behind_the_headers_and_aligned() {
    #[repr(align(128))]
    struct Wide([u8; 200]);
    fn check<T>() {
        for slots in 1..=100 {
            let (found, layout) = Geometry::of::<T>(3, slots, 1).unwrap();
            assert!(found.classes() >= 1 && found.first_entry >= 3 * found.header + WORD);
            assert!(found.first_entry.is_multiple_of(layout.align()));
            assert!(layout.align() >= align_of::<T>().max(LINE));
            assert_eq!(layout.size(), found.first_entry + 3 * slots * size_of::<T>());
        }
    }
    check::<()>();
    check::<u8>();
    check::<[u8; 3]>();
    check::<(u64, u32)>();
    check::<[u64; 9]>();
    check::<Wide>();
    let _ = Wide([0; 200]).0;
}
