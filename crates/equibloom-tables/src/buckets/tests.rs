//! Slots, lookups and drops.

use super::*;
use alloc::vec::Vec;
use equibloom_layout::KeyHash;

const TAG: NonZeroU8 = NonZeroU8::new(0x77).unwrap();

#[test]
fn slots_are_found_by_their_tags_in_headers_of_any_length() {
    for slots in [1, 3, 7, 8, 9, 20] {
        let mut array = BucketArray::<u16>::new(3, slots, 1).unwrap();
        // Counters may look like tags.
        array.passed_mut(1).fill(0x77);
        let found = |array: &BucketArray<u16>| {
            let bucket = array.bucket(1).unwrap();
            bucket.find(TAG, &mut |_| true, &mut |_| {}).map(|(at, &entry)| (at, entry))
        };
        assert_eq!(array.bucket(1).unwrap().size(), 0);
        assert_eq!(found(&array), None);
        let last = Slot { bucket: 1, slot: slots - 1 };
        array.fill(last, TAG, 99);
        assert_eq!(found(&array), Some((last, 99)));
        assert_eq!(array.bucket(1).unwrap().size(), 1);
        let key = KeyHash::from_u64(9);
        assert!(array.bucket(1).unwrap().was_passed(key));
        assert!(!array.bucket(2).unwrap().was_passed(key) && array.bucket(3).is_none());
        assert_eq!(array.take(last), Some(99));
        array.fill(last, TAG, 98);
        assert_eq!(array.iter_mut().map(|entry| *entry).collect::<Vec<_>>(), [98]);
        assert_eq!(array.take(last), Some(98));
        assert_eq!(array.take(last), None);
    }
}

/// Tags that often agree, compared with a search of every slot.
#[test]
fn lookups_in_one_and_two_buckets_compare_exactly_the_entries_with_the_tag() {
    fn check<const SLOTS: usize>() {
        let mut array = BucketArray::<(u8, Slot)>::new(5, SLOTS, 0).unwrap();
        for bucket in 0..5 {
            for slot in 0..SLOTS {
                let draw = KeyHash::from_u64((bucket * SLOTS + slot) as u64).candidate(1);
                if let Some(tag) = NonZeroU8::new((draw % 4) as u8) {
                    let at = Slot { bucket, slot };
                    array.fill(at, tag, (tag.get(), at));
                }
            }
        }
        for (first, second, tag) in
            (0..5).flat_map(|a| (0..5).flat_map(move |b| (1..=4).map(move |tag| (a, b, tag))))
        {
            let tag = NonZeroU8::new(tag).unwrap();
            let expected = |bucket: usize| {
                let slots = (0..SLOTS).map(move |slot| Slot { bucket, slot });
                slots.filter(|&at| array.get(at).is_some_and(|entry| entry.0 == tag.get()))
            };
            let [one, two] = [first, second].map(|bucket| array.bucket(bucket).unwrap());
            let mut seen = Vec::new();
            let mut look = |entry: &(u8, Slot)| {
                seen.push(entry.1);
                false
            };
            assert_eq!(one.find(tag, &mut look, &mut |_| {}), None);
            assert_eq!(one.find_here_or_in::<SLOTS>(two, tag, &mut look, &mut |_| {}), None);
            let both = expected(first).chain(expected(second));
            assert_eq!(seen, expected(first).chain(both).collect::<Vec<_>>());
            let size = (0..SLOTS).filter(|&slot| array.get(Slot { bucket: first, slot }).is_some());
            assert_eq!(one.size() as usize, size.count());
            let roomier = if two.size() < one.size() { two } else { one };
            assert_eq!(one.free_slot_here_or_in::<SLOTS>(two), roomier.free_slot());
        }
    }
    check::<1>();
    check::<2>();
    check::<3>();
    check::<4>();
    check::<5>();
    check::<7>();
    check::<8>();
}

#[test]
fn entries_of_any_size_and_alignment_come_back_and_are_dropped_once() {
    use alloc::rc::Rc;
    #[repr(align(128))]
    struct Wide(Rc<()>);
    let counter = Rc::new(());
    let mut array = BucketArray::new(2, 2, 1).unwrap();
    for (bucket, slot) in [(0, 0), (0, 1), (1, 1)] {
        array.fill(Slot { bucket, slot }, TAG, Wide(counter.clone()));
    }
    assert!(array.iter_mut().all(|wide| (&raw const *wide).addr().is_multiple_of(128)));
    assert_eq!(array.iter_mut().count(), 3);
    drop(array.take(Slot { bucket: 0, slot: 1 }));
    assert_eq!(Rc::strong_count(&counter), 3);
    drop(array);
    assert_eq!(Rc::strong_count(&counter), 1);
    let wide = Wide(counter);
    assert_eq!(Rc::strong_count(&wide.0), 1);
}

#[test]
fn sizes_that_no_computer_has_are_refused() {
    assert!(matches!(BucketArray::<u64>::new(usize::MAX, 3, 0), Err(TableError::TooLarge { .. })));
    assert!(matches!(BucketArray::<u64>::new(1 << 55, 3, 0), Err(TableError::OutOfMemory { .. })));
    assert_eq!(BucketArray::<u64>::new(0, 3, 0).unwrap().bytes(), 0);
}
