//! Blocks against sorted lists, with every ISA.

use alloc::vec::Vec;

use super::arrival::MAX_COPIES;
use super::*;
use crate::block::isa::{DetectedIsa, KernelTable, kernel_table};
use equibloom_layout::WATERMARK_BITS;
use proptest::prelude::*;

kernel_table! {
    /// The functions of one ISA.
    struct Functions[] [] {
        fn arrive(
            shape: &FingerprintShape, line: &mut Line, entry: Entry, multiset: bool,
        ) -> Option<Entry>;
        fn answers(shape: &FingerprintShape, line: &Line, entry: Entry) -> (bool, bool, bool, u32);
    }
}

/// Takes an entry as a filter does; returns what is sent on.
#[inline(always)]
fn arrive<T: Target>(
    t: T,
    shape: &FingerprintShape,
    line: &mut Line,
    entry: Entry,
    multiset: bool,
) -> Option<Entry> {
    let usual = shape.usual_place(t, line, entry);
    let arrival = shape.arrival(t, line, entry, multiset);
    // In a damaged block the two may differ.
    if let Some(place) =
        usual.filter(|_| shape.entries(line).is_sorted_by_key(|entry| slot_order(&entry)))
    {
        assert_eq!(arrival, Arrival::Room(place));
    }
    let leaving = match arrival {
        Arrival::Present => return None,
        Arrival::Room(place) => {
            shape.insert(t, line, place, entry);
            return None;
        }
        Arrival::Displaces(smallest) => {
            shape.replace(t, line, smallest, entry);
            smallest.entry
        }
        Arrival::GoesOn => entry,
        Arrival::Repeats => return Some(entry),
    };
    shape.raise_watermark(line, leaving.byte);
    Some(leaving)
}

#[inline(always)]
fn answers<T: Target>(
    t: T,
    shape: &FingerprintShape,
    line: &Line,
    entry: Entry,
) -> (bool, bool, bool, u32) {
    let holds = shape.holds(t, line, entry);
    let may = shape.may_hold(t, line, entry.byte);
    (holds, may, shape.sends_on(t, line, entry.byte, false), shape.load(t, line))
}

impl Functions {
    /// Every ISA, and for a common shape its own code too.
    fn all(shape: &FingerprintShape) -> impl Iterator<Item = Self> {
        let codes: &[bool] = if shape.is_common() { &[false, true] } else { &[false] };
        DetectedIsa::all().flat_map(|isa| codes.iter().map(move |&common| Self::new(isa, common)))
    }
}

/// Shapes that fill a line as far as possible, many of them common ones.
fn shapes() -> impl Strategy<Value = FingerprintShape> {
    (1..=64_u32, 1..=256_u32, prop_oneof![5..=56_u32, Just(8), 5..=16_u32]).prop_map(
        |(slots, lists, remainder_bits)| {
            let slots = slots.min((512 - WATERMARK_BITS - 1) / (remainder_bits + 1));
            let lists = lists.min(512 - WATERMARK_BITS - slots * (remainder_bits + 1));
            FingerprintShape::new(slots, lists, remainder_bits)
        },
    )
}

/// A shape and entries for it, few different ones, so that repeats occur.
fn histories() -> impl Strategy<Value = (FingerprintShape, Vec<(Entry, bool)>)> {
    (shapes(), 1..40_u32, any::<u64>()).prop_flat_map(|(shape, distinct, seed)| {
        let entry = (0..distinct.max(shape.slots)).prop_map(move |number| {
            let key = KeyHash::from_u64(u64::from(number) ^ seed << 8);
            let entry = shape.entry_of(ANY, key);
            // Few lists and bytes, so that there are ties.
            let byte = if number % 3 == 0 { entry.byte } else { entry.byte & 0x83 };
            Entry { list: entry.list % (1 + shape.lists / 3), byte, ..entry }
        });
        (Just(shape), prop::collection::vec((entry, prop::bool::weighted(0.3)), 0..200))
    })
}

/// The order of slots.
fn slot_order(entry: &Entry) -> (u32, u8, u64) {
    (entry.list, entry.byte, entry.high)
}

proptest! {
    #[test]
    fn a_block_keeps_the_largest((shape, history) in histories()) {
        for functions in Functions::all(&shape) {
            let mut line = [0; 8];
            let (mut kept, mut sent): (Vec<Entry>, Vec<Entry>) = Default::default();
            for &(entry, _) in &history {
                let leaving = functions.arrive(&shape, &mut line, entry, false);
                let mut expected = None;
                if !kept.contains(&entry) {
                    kept.push(entry);
                    kept.sort_unstable();
                    expected = (kept.len() > shape.slots as usize).then(|| kept.remove(0));
                }
                prop_assert_eq!(leaving, expected);
                sent.extend(expected);
                let (holds, may_hold, sends_on, load) = functions.answers(&shape, &line, entry);
                prop_assert_eq!(holds, kept.contains(&entry));
                prop_assert!(may_hold || !holds);
                prop_assert!(sends_on || !sent.contains(&entry));
                prop_assert_eq!(load as usize, kept.len());
            }
            let mut expected = kept.clone();
            expected.sort_unstable_by_key(slot_order);
            prop_assert_eq!(shape.entries(&line).collect::<Vec<_>>(), expected);
            prop_assert_eq!(watermark(&line), sent.iter().map(|entry| entry.byte).max().unwrap_or(0));
        }
    }

    /// With removals a block is a multiset with few copies of each entry.
    #[test]
    fn a_block_is_a_multiset((shape, history) in histories()) {
        for functions in Functions::all(&shape) {
            let mut line = [0; 8];
            let mut model: Vec<Entry> = Vec::new();
            for &(entry, removal) in &history {
                let at = model.iter().position(|&stored| stored == entry);
                if removal {
                    prop_assert_eq!(shape.remove(&mut line, entry), at.is_some());
                    at.map(|at| model.remove(at));
                } else {
                    let leaving = functions.arrive(&shape, &mut line, entry, true);
                    let copies = model.iter().filter(|&&stored| stored == entry).count() as u32;
                    if copies == MAX_COPIES {
                        prop_assert_eq!(leaving, Some(entry));
                        continue;
                    }
                    model.push(entry);
                    model.sort_unstable();
                    let full = model.len() > shape.slots as usize;
                    prop_assert_eq!(leaving, full.then(|| model.remove(0)));
                }
                prop_assert_eq!(shape.load(ANY, &line) as usize, model.len());
            }
            model.sort_unstable_by_key(slot_order);
            prop_assert_eq!(shape.entries(&line).collect::<Vec<_>>(), model);
        }
    }

    /// A damaged file: wrong answers are allowed, nothing else.
    #[test]
    fn any_512_bits_can_be_read_and_changed(shape in shapes(), line: Line, key: u64, dense: bool) {
        let line = if dense { line.map(|word| word | word.rotate_left(7)) } else { line };
        let entry = shape.entry_of(ANY, KeyHash::from_u64(key));
        prop_assert!(shape.entries(&line).count() <= shape.slots as usize);
        for functions in Functions::all(&shape) {
            let mut line = line;
            functions.answers(&shape, &line, entry);
            for multiset in [false, true] {
                functions.arrive(&shape, &mut line, entry, multiset);
            }
            shape.remove(&mut line, entry);
        }
    }
}
