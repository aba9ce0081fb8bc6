//! Blocks against vectors of fields, on every instruction set.

use super::*;
use crate::block::fields::ones;
use crate::block::isa::{ANY, DetectedIsa, On, Portable};
use alloc::vec::Vec;
use proptest::prelude::*;

/// Lists, width: those of schedules, and others.
fn shapes() -> impl Strategy<Value = (u32, u32)> {
    (1..40_u32, 2..=MAX_WIDTH).prop_map(|(half, width)| (2 * half, width))
}

/// The oracle: the fields of each list.
type Lists = Vec<Vec<u64>>;

fn check<T: Target + Copy>(t: T, shape: &Shape, line: &Line, lists: &Lists) {
    let expected: Vec<_> = (0..)
        .zip(lists)
        .flat_map(|(list, fields)| fields.iter().map(move |&field| (list, field)))
        .collect();
    assert_eq!(shape.contents(t, line, 0).collect::<Vec<_>>(), expected);
    assert_eq!(shape.load(t, line) as usize, expected.len());
    for (list, fields) in (0..).zip(lists) {
        let run = shape.run(t, line, list).unwrap();
        let stored: Vec<_> = shape.strings(t, line, run).map(|(_, field)| field).collect();
        assert_eq!(&stored, fields);
        for &field in fields {
            assert!(shape.matches(t, line, run, field));
        }
        let absent = ones(shape.width) - 1;
        let expected = fields.iter().any(|&field| field_matches(field, absent));
        assert_eq!(shape.matches(t, line, run, absent), expected);
    }
}

fn on_all(shape: &Shape, line: &Line, lists: &Lists) {
    check(ANY, shape, line, lists);
    if shape.is_common() {
        check(On::<_, true>(Portable), shape, line, lists);
    }
    #[cfg(target_arch = "x86_64")]
    for isa in DetectedIsa::all() {
        match isa {
            DetectedIsa::Avx2(isa) => check(On::<_, false>(isa), shape, line, lists),
            DetectedIsa::Avx512(isa) if shape.is_common() => {
                check(On::<_, true>(isa), shape, line, lists);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(crate::raw::designs::cases(300))]

    #[test]
    fn a_block_holds_its_lists(
        (lists, width) in shapes(),
        changes in prop::collection::vec((any::<u32>(), any::<u64>(), 0..4_u8), 1..150),
    ) {
        let shape = Shape::new(lists, width);
        prop_assume!(shape.slots > 0);
        let mut line = Line::default();
        let mut oracle: Lists = (0..lists).map(|_| Vec::new()).collect();
        let mut hints = 0_u8;
        for (list, field, change) in changes {
            let list = list % lists;
            let field = (field & ones(width)).max(1);
            let run = shape.run(ANY, &line, list).unwrap();
            let fields = &mut oracle[list as usize];
            match change {
                0 if !fields.is_empty() => {
                    let index = field as usize % fields.len();
                    let (slot, _) = shape.strings(ANY, &line, run).nth(index).unwrap();
                    shape.remove(ANY, &mut line, run, slot);
                    fields.remove(index);
                }
                1 => {
                    shape.set_hint(&mut line, list);
                    hints |= 1 << ((list * shape.hints_per_list) >> 16);
                }
                _ if shape.load(ANY, &line) < shape.slots => {
                    shape.insert(ANY, &mut line, run, field);
                    fields.push(field);
                }
                _ => {}
            }
        }
        for list in 0..lists {
            let is_hinted = hints >> ((list * shape.hints_per_list) >> 16) & 1 == 1;
            prop_assert_eq!(shape.hints(ANY, &line, list), is_hinted);
        }
        on_all(&shape, &line, &oracle);
        for from in 0..lists {
            let rest: Vec<_> = shape.contents(ANY, &line, from).collect();
            let expected = shape.contents(ANY, &line, 0).filter(|&(list, _)| list >= from);
            prop_assert!(expected.eq(rest));
        }

        // Filled at once, it is the same block.
        let all: Vec<_> = shape.contents(ANY, &line, 0).collect();
        let remainders: Vec<_> =
            all.iter().map(|&(list, field)| (list, field << (64 - width))).collect();
        let mut filled = Line::default();
        shape.fill(&mut filled, &remainders);
        filled[7] |= line[7] & 0xff << 56;
        prop_assert_eq!(filled, line);
    }

    #[test]
    fn any_words_can_be_read((lists, width) in shapes(), line: Line) {
        let shape = Shape::new(lists, width);
        for list in 0..lists {
            if let Some(run) = shape.run(ANY, &line, list) {
                shape.matches(ANY, &line, run, 5);
            }
        }
        for from in 0..lists {
            assert!(shape.contents(ANY, &line, from).count() <= shape.slots as usize);
        }
    }
}

#[test]
fn every_list_has_one_of_the_eight_hints_and_they_are_even() {
    for lists in 2..=80 {
        let shape = Shape::new(lists, 10);
        let mut per_hint = [0_u32; HINTS as usize];
        for list in 0..lists {
            per_hint[(shape.hint(list).trailing_zeros() - 56) as usize] += 1;
        }
        let most = per_hint.iter().max().unwrap();
        assert!(*most <= lists.div_ceil(HINTS), "{lists}: {per_hint:?}");
    }
}

/// Also if all of its strings are of one list: a run is counted in one word.
#[test]
fn every_string_of_a_full_block_is_read() {
    for width in 1..=MAX_WIDTH {
        for lists in [2, 14, 40, 80] {
            let shape = Shape::new(lists, width);
            let strings: Vec<_> = (0..shape.slots).map(|_| (lists / 2, 1 << 63)).collect();
            let mut line = Line::default();
            shape.fill(&mut line, &strings);
            let run = shape.run(ANY, &line, lists / 2).unwrap();
            assert_eq!(run.count, shape.slots, "{lists} lists, {width} bits");
        }
    }
}
