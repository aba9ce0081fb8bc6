//! One block's lists of remainders: a pocket dictionary.
//!
//! The unary code has for each list in turn as many ones as the list has remainders, and a zero. The
//! remainders stand in the slots in the same order, so that a slot's list is known once its one in the
//! code is, and a list's slots once its zero is.
//!
//! The low byte of every remainder is a byte of the line; bit `b` above it of all remainders is a
//! plane, a field with a bit for each slot. A lookup compares all bytes at once, strikes out the slots
//! that a plane says differ, and looks into the code only for those that are left: of a stranger's,
//! mostly none. Narrow remainders have planes only.
//!
//! Any 512 bits can be read: a code with too few zeros or too many ones gives lists that are empty or
//! end early.

use super::fields::{
    LINE_BYTES, Line, insert_bit, ones, remove_bit, select, window, with_bytes, write,
};
use super::shape::{Fingerprint, Shape};
use crate::block::simd::equal_bytes;

/// Planes that are compared before it is asked whether any slot is left.
const PLANES_AT_ONCE: u32 = 4;

/// A list's slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slots {
    first: u32,
    count: u32,
}

/// How many remainders the block has.
#[inline]
pub(super) fn load(shape: &Shape, line: &Line) -> u32 {
    let mut at = shape.code_start();
    let mut load = 0;
    while at < shape.code_end() {
        load += (window(line, at) & ones(shape.code_end() - at)).count_ones();
        at += 64;
    }
    load.min(shape.slots)
}

/// Whether the block has the fingerprint.
#[inline(always)]
pub(super) fn contains(shape: &Shape, line: &Line, fingerprint: Fingerprint) -> bool {
    let alike = equal_remainders(shape, line, fingerprint.remainder);
    alike != 0 && slot_in_list(shape, line, alike, fingerprint.list).is_some()
}

/// Adds a fingerprint to a block with a free slot, at the end of its list.
pub(super) fn insert(shape: &Shape, line: &mut Line, fingerprint: Fingerprint) {
    let slots = slots(shape, line, fingerprint.list);
    let slot = slots.first + slots.count;
    if slot >= shape.slots {
        return; // Not in a block that this code has written and that has room.
    }
    // As many bits stand before it in the code as there are lists before its own, and remainders.
    let at = shape.code_start() + fingerprint.list + slot;
    insert_bit(line, at, shape.code_end(), 1);
    let in_planes = shape.in_planes(fingerprint.remainder);
    for index in 0..shape.planes() {
        let start = shape.plane(index);
        let plane = window(line, start);
        let (below, above) = (plane & ones(slot), plane & !ones(slot));
        let bit = in_planes >> index & 1;
        write(line, start, shape.slots, below | above << 1 | bit << slot);
    }
    if shape.has_bytes() {
        with_bytes(line, |bytes| {
            let at = (shape.first_byte() + slot) as usize;
            bytes.copy_within(at..LINE_BYTES as usize - 1, at + 1);
            bytes[at] = fingerprint.remainder as u8;
        });
    }
}

/// Removes one such fingerprint; whether there was one.
pub(super) fn remove(shape: &Shape, line: &mut Line, fingerprint: Fingerprint) -> bool {
    let alike = equal_remainders(shape, line, fingerprint.remainder);
    let Some(slot) = slot_in_list(shape, line, alike, fingerprint.list) else {
        return false;
    };
    remove_bit(line, shape.code_start() + fingerprint.list + slot, shape.code_end());
    for index in 0..shape.planes() {
        let start = shape.plane(index);
        let plane = window(line, start) & ones(shape.slots);
        let (below, above) = (plane & ones(slot), plane & !ones(slot + 1));
        write(line, start, shape.slots, below | above >> 1);
    }
    if shape.has_bytes() {
        with_bytes(line, |bytes| {
            let at = (shape.first_byte() + slot) as usize;
            bytes.copy_within(at + 1.., at);
            bytes[LINE_BYTES as usize - 1] = 0;
        });
    }
    true
}

/// Every fingerprint of the block in order.
pub(super) fn fingerprints<'a>(
    shape: &'a Shape,
    line: &'a Line,
) -> impl Iterator<Item = Fingerprint> + 'a {
    let code = (shape.code_start()..shape.code_end()).map(|at| window(line, at) & 1 == 1);
    let mut list = 0;
    let lists = code.filter_map(move |is_remainder| {
        list += u32::from(!is_remainder);
        is_remainder.then_some(list)
    });
    (0..shape.slots).zip(lists).filter(|&(_, list)| list < shape.lists).map(|(slot, list)| {
        let plane = |index| window(line, shape.plane(index)) >> slot & 1;
        let high = (0..shape.planes()).fold(0, |sum, index| sum | plane(index) << index);
        let remainder = if shape.has_bytes() {
            high << 8 | window(line, 8 * (shape.first_byte() + slot)) & 0xff
        } else {
            high
        };
        Fingerprint { list, remainder }
    })
}

/// The slots of a list.
#[inline(always)]
fn slots(shape: &Shape, line: &Line, list: u32) -> Slots {
    // The list begins behind the zero of the one before it.
    let Some(begin) = list.checked_sub(1).map_or(Some(0), |before| zero(shape, line, before))
    else {
        return Slots { first: 0, count: 0 };
    };
    let first = (begin - list).min(shape.slots);
    let count = window(line, shape.code_start() + begin).trailing_ones();
    Slots { first, count: count.min(shape.slots - first) }
}

/// Position in the code right behind the zero that ends a list.
#[inline(always)]
fn zero(shape: &Shape, line: &Line, list: u32) -> Option<u32> {
    let mut at = shape.code_start();
    let mut rank = list;
    while at < shape.code_end() {
        let zeros = !window(line, at);
        let count = zeros.count_ones();
        if rank < count {
            let behind = at + select(zeros, rank) + 1;
            return (behind <= shape.code_end()).then(|| behind - shape.code_start());
        }
        rank -= count;
        at += 64;
    }
    None
}

/// The slots that hold this remainder, whatever their list.
#[inline(always)]
fn equal_remainders(shape: &Shape, line: &Line, remainder: u64) -> u64 {
    let mut left = if shape.has_bytes() {
        equal_bytes(line, remainder as u8) >> shape.first_byte()
    } else {
        ones(shape.slots)
    };
    let in_planes = shape.in_planes(remainder);
    let mut next = 0;
    while left != 0 && next < shape.planes() {
        for index in next..shape.planes().min(next + PLANES_AT_ONCE) {
            // All ones where the remainder's bit is set.
            let wanted = (in_planes >> index & 1).wrapping_neg();
            left &= !(window(line, shape.plane(index)) ^ wanted);
        }
        next += PLANES_AT_ONCE;
    }
    left
}

/// The first of these slots that belongs to the list.
#[inline]
fn slot_in_list(shape: &Shape, line: &Line, slots: u64, list: u32) -> Option<u32> {
    let mut left = slots;
    while left != 0 {
        let slot = left.trailing_zeros();
        // A slot's one has the slots before it before it, and the zeros of the lists before its own.
        if one(shape, line, slot) == Some(list + slot) {
            return Some(slot);
        }
        left &= left - 1;
    }
    None
}

/// Position in the code of the one that stands for a slot.
#[inline(always)]
fn one(shape: &Shape, line: &Line, slot: u32) -> Option<u32> {
    let mut at = shape.code_start();
    let mut rank = slot;
    while at < shape.code_end() {
        let ones_here = window(line, at) & ones(shape.code_end() - at);
        let count = ones_here.count_ones();
        if rank < count {
            return Some(at - shape.code_start() + select(ones_here, rank));
        }
        rank -= count;
        at += 64;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::FingerprintTable;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// Shapes that fill a line as far as it goes.
    fn shapes() -> impl Strategy<Value = Shape> {
        (1..=64_u32, 1..=256_u32, 1..=48_u32, 0..=64_u32).prop_map(
            |(slots, lists, remainder_bits, hints)| {
                let slots = slots.min((512 - hints - 1) / (remainder_bits + 1));
                let lists = lists.min(512 - hints - slots * (remainder_bits + 1));
                Shape::new(&FingerprintTable { count: 1, slots, lists, remainder_bits, hints })
            },
        )
    }

    /// A shape, fingerprints for it (few different ones, so that repeats occur), and which of the
    /// operations are removals.
    fn histories() -> impl Strategy<Value = (Shape, Vec<(Fingerprint, bool)>)> {
        shapes().prop_flat_map(|shape| {
            let remainders = (1_u64 << shape.remainder_bits).min(5);
            let spread = if shape.remainder_bits > 8 { 0x0123_4567_89ab } else { 1 };
            let fingerprint = (0..shape.lists, 0..remainders).prop_map(move |(list, remainder)| {
                let remainder = (remainder * spread) & ones(shape.remainder_bits);
                Fingerprint { list, remainder }
            });
            (Just(shape), prop::collection::vec((fingerprint, prop::bool::weighted(0.3)), 0..200))
        })
    }

    proptest! {
        #[test]
        fn a_block_is_a_multiset((shape, history) in histories(), hints: u64) {
            let mut line = [0; 8];
            write(&mut line, 0, shape.hints.count(), hints);
            let mut model: Vec<Fingerprint> = Vec::new();
            for (fingerprint, removal) in history {
                if removal {
                    let at = model.iter().position(|&stored| stored == fingerprint);
                    prop_assert_eq!(remove(&shape, &mut line, fingerprint), at.is_some());
                    at.map(|at| model.swap_remove(at));
                } else if model.len() < shape.slots as usize {
                    insert(&shape, &mut line, fingerprint);
                    model.push(fingerprint);
                }
                prop_assert_eq!(load(&shape, &line), model.len() as u32);
                prop_assert_eq!(contains(&shape, &line, fingerprint), model.contains(&fingerprint));
            }
            for &stored in &model {
                prop_assert!(contains(&shape, &line, stored));
            }
            let mut stored: Vec<u64> = model.into_iter().map(Fingerprint::to_pattern).collect();
            stored.sort_unstable();
            let mut found: Vec<u64> =
                fingerprints(&shape, &line).map(Fingerprint::to_pattern).collect();
            found.sort_unstable();
            prop_assert_eq!(stored, found);
            prop_assert_eq!(window(&line, 0) & ones(shape.hints.count()), hints & ones(shape.hints.count()));
        }

        /// A damaged file: wrong answers are allowed, nothing else.
        #[test]
        fn any_512_bits_can_be_read_and_changed(shape in shapes(), line: Line, pattern: u64, dense: bool) {
            let mut line = if dense { line.map(|word| word | word.rotate_left(7)) } else { line };
            let fingerprint = Fingerprint {
                list: (pattern % u64::from(shape.lists)) as u32,
                remainder: pattern & ones(shape.remainder_bits),
            };
            prop_assert!(load(&shape, &line) <= shape.slots);
            contains(&shape, &line, fingerprint);
            prop_assert!(fingerprints(&shape, &line).count() <= shape.slots as usize);
            insert(&shape, &mut line, fingerprint);
            remove(&shape, &mut line, fingerprint);
        }
    }
}
