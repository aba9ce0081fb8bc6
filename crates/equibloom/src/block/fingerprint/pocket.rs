//! One block's lists of remainders: a pocket dictionary.
//!
//! The unary code has, for each list in turn, a one for each of its remainders, and a zero. The remainders
//! are stored in the slots in the same order. So the one of slot `s` in list `l` is bit `l + s` of the
//! code, with `s` ones before it, and the zero of list `l` has `l` zeros before it.
//!
//! The low byte of every remainder is a byte of the line; the bits above it are in a separate field. A
//! lookup compares all bytes at once and reads the rest only for matching slots: for an absent key, mostly
//! none. Remainders of less than eight bits have no byte; there the lookup scans the key's list.
//!
//! Any 512 bits can be read: a code with too few zeros or too many ones gives lists that are empty or
//! end early.

use super::shape::{Fingerprint, Lanes, Shape};
use crate::block::fields::{Line, window};
use crate::block::isa::{Isa, Portable};
use crate::block::{ByteMatches, Holds};

/// A list's slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slots {
    first: u32,
    count: u32,
}

/// Number of remainders in the block.
#[inline(always)]
pub(super) fn load<I: Isa>(isa: I, shape: &Shape, line: &Line) -> u32 {
    shape.code.ones(isa, line).min(shape.slots)
}

/// Compares the low bytes. Decides at once if remainders have no bytes.
#[inline(always)]
pub(super) fn glance<I: Isa>(
    isa: I,
    shape: &Shape,
    line: &Line,
    fingerprint: Fingerprint,
) -> Holds {
    if !shape.has_bytes(isa) {
        return Holds::exactly(list_contains(isa, shape, line, fingerprint));
    }
    let equal = equal_bytes(isa, shape, line, fingerprint);
    // An absent key mostly matches no byte.
    if equal == 0 { Holds::No } else { Holds::Perhaps(ByteMatches(equal)) }
}

/// Checks the matching bytes against the code. Decides unless several slots match.
#[inline(always)]
pub(super) fn look_closely<I: Isa>(
    isa: I,
    shape: &Shape,
    line: &Line,
    fingerprint: Fingerprint,
    ByteMatches(equal): ByteMatches,
) -> Holds {
    let similar = similar_slots(isa, shape, line, fingerprint, equal);
    if similar == 0 {
        Holds::No
    } else if holds(isa, shape, line, similar.trailing_zeros(), fingerprint) {
        Holds::Yes
    } else {
        Holds::Perhaps(ByteMatches(equal))
    }
}

/// Whether the block holds the fingerprint.
#[inline(always)]
pub(super) fn contains<I: Isa>(
    isa: I,
    shape: &Shape,
    line: &Line,
    fingerprint: Fingerprint,
) -> bool {
    if shape.has_bytes(isa) {
        find_by_byte(isa, shape, line, fingerprint).is_some()
    } else {
        list_contains(isa, shape, line, fingerprint)
    }
}

/// [`contains`] for remainders without bytes: compares all remainders of the list at once, in one word.
#[inline(always)]
fn list_contains<I: Isa>(isa: I, shape: &Shape, line: &Line, fingerprint: Fingerprint) -> bool {
    let Slots { first, count } = slots(isa, shape, line, fingerprint.list);
    let width = shape.remainder_bits;
    let lanes = Lanes::of(width);
    if count > lanes.count {
        return find_in_list(shape, line, fingerprint).is_some();
    }
    let found = isa.window(line, shape.high_parts.start + first * width);
    let difference = found ^ (lanes.lowest_bits * fingerprint.remainder);
    // The highest bit of lanes that are zero; above a zero lane, perhaps of others.
    let zeros = difference.wrapping_sub(lanes.lowest_bits) & !difference & lanes.highest_bits;
    isa.lowest(zeros, count * width) != 0
}

/// Adds a fingerprint to a block with a free slot, at the end of its list.
#[inline(always)]
pub(super) fn insert<I: Isa>(isa: I, shape: &Shape, line: &mut Line, fingerprint: Fingerprint) {
    // Its one replaces the list's zero.
    let Some(zero) = shape.code.zero(isa, line, fingerprint.list) else { return };
    let slot = zero - shape.code.start - fingerprint.list;
    if slot >= shape.slots {
        return; // Only in a damaged or full block.
    }
    // The bytes first: the single words read next then come from a wider store, which the CPU can forward.
    if shape.has_bytes(isa) {
        isa.insert_byte(line, shape.first_byte + slot, fingerprint.remainder as u8);
    }
    isa.insert_bits(line, &shape.code, zero, 1, 1);
    let width = shape.high_bits(isa);
    if width > 0 {
        let part = shape.high_part(isa, fingerprint.remainder);
        isa.insert_bits(
            line,
            &shape.high_parts,
            shape.high_parts.start + slot * width,
            width,
            part,
        );
    }
}

/// Removes one copy of a fingerprint; returns whether there was one.
pub(super) fn remove(shape: &Shape, line: &mut Line, fingerprint: Fingerprint) -> bool {
    let isa = Portable;
    let found = if shape.has_bytes(isa) {
        find_by_byte(isa, shape, line, fingerprint)
    } else {
        find_in_list(shape, line, fingerprint)
    };
    let Some(slot) = found else { return false };
    shape.code.remove(line, shape.code.start + fingerprint.list + slot, 1);
    let (parts, width) = (&shape.high_parts, shape.high_bits(isa));
    if width > 0 {
        parts.remove(line, parts.start + slot * width, width);
    }
    if shape.has_bytes(isa) {
        let bytes = shape.bytes();
        bytes.remove(line, bytes.start + slot * u8::BITS, u8::BITS);
    }
    true
}

/// Every fingerprint of the block in order.
pub(super) fn fingerprints<'a>(
    shape: &'a Shape,
    line: &'a Line,
) -> impl Iterator<Item = Fingerprint> + 'a {
    let code = (shape.code.start..shape.code.end).map(|at| window(line, at) & 1 == 1);
    let mut list = 0;
    let lists = code.filter_map(move |is_remainder| {
        list += u32::from(!is_remainder);
        is_remainder.then_some(list)
    });
    (0..shape.slots).zip(lists).filter(|&(_, list)| list < shape.lists).map(|(slot, list)| {
        let high = high_part(Portable, shape, line, slot);
        let remainder = if shape.has_bytes(Portable) {
            high << 8 | window(line, 8 * (shape.first_byte + slot)) & 0xff
        } else {
            high
        };
        Fingerprint { list, remainder }
    })
}

/// A slot that holds the fingerprint, found by scanning its list.
#[cold]
#[inline(never)]
fn find_in_list(shape: &Shape, line: &Line, fingerprint: Fingerprint) -> Option<u32> {
    let Slots { first, count } = slots(Portable, shape, line, fingerprint.list);
    let part = shape.high_part(Portable, fingerprint.remainder);
    (first..first + count).find(|&slot| high_part(Portable, shape, line, slot) == part)
}

/// A slot that holds the fingerprint, where remainders have bytes.
#[inline(always)]
fn find_by_byte<I: Isa>(
    isa: I,
    shape: &Shape,
    line: &Line,
    fingerprint: Fingerprint,
) -> Option<u32> {
    let equal = equal_bytes(isa, shape, line, fingerprint);
    if equal == 0 {
        return None;
    }
    let similar = similar_slots(isa, shape, line, fingerprint, equal);
    if similar == 0 {
        return None;
    }
    // Mostly one slot matches.
    let slot = similar.trailing_zeros();
    if holds(isa, shape, line, slot, fingerprint) {
        return Some(slot);
    }
    let others = similar & (similar - 1);
    if others == 0 { None } else { find_among(shape, line, fingerprint, others) }
}

/// One of these slots that holds the fingerprint.
#[cold]
#[inline(never)]
fn find_among(shape: &Shape, line: &Line, fingerprint: Fingerprint, mut slots: u64) -> Option<u32> {
    while slots != 0 {
        let slot = slots.trailing_zeros();
        if holds(Portable, shape, line, slot, fingerprint) {
            return Some(slot);
        }
        slots &= slots - 1;
    }
    None
}

/// Whether a slot with a matching byte and a consistent code position holds the fingerprint.
#[inline(always)]
fn holds<I: Isa>(
    isa: I,
    shape: &Shape,
    line: &Line,
    slot: u32,
    Fingerprint { list, remainder }: Fingerprint,
) -> bool {
    let at = shape.code.start + list + slot;
    high_part(isa, shape, line, slot) == shape.high_part(isa, remainder)
        && shape.code.ones_before(isa, line, at) == slot
}

/// The slots' bytes that equal the fingerprint's, one bit for each byte of the line.
#[inline(always)]
fn equal_bytes<I: Isa>(isa: I, shape: &Shape, line: &Line, fingerprint: Fingerprint) -> u64 {
    isa.equal_bytes(line, fingerprint.remainder as u8) & shape.byte_mask
}

/// The slots with a matching byte that may be in the fingerprint's list.
#[inline(always)]
fn similar_slots<I: Isa>(
    isa: I,
    shape: &Shape,
    line: &Line,
    fingerprint: Fingerprint,
    equal: u64,
) -> u64 {
    // Slot `s` of list `l` has its one at bit `l + s` of the code, which excludes half of the slots. (Slots
    // with bytes number at most 56, which fit into one window.)
    let at = shape.code.start + fingerprint.list;
    equal >> shape.first_byte & before_the_bytes(isa, line, at)
}

/// The bits of a slot's remainder above its byte.
#[inline(always)]
fn high_part<I: Isa>(isa: I, shape: &Shape, line: &Line, slot: u32) -> u64 {
    let width = shape.high_bits(isa);
    isa.lowest(before_the_bytes(isa, line, shape.high_parts.start + slot * width), width)
}

/// The bits from `start` on, which lies before the bytes if there are any; in the common shape, before at
/// least eight of them.
#[inline(always)]
fn before_the_bytes<I: Isa>(isa: I, line: &Line, start: u32) -> u64 {
    if I::COMMON { isa.inner_window(line, start) } else { isa.window(line, start) }
}

/// The slots of a list.
#[inline(always)]
fn slots<I: Isa>(isa: I, shape: &Shape, line: &Line, list: u32) -> Slots {
    // The list begins after the zero of the previous one.
    let begin = match list.checked_sub(1) {
        None => 0,
        Some(before) => match shape.code.zero(isa, line, before) {
            Some(zero) => zero + 1 - shape.code.start,
            None => return Slots { first: 0, count: 0 },
        },
    };
    let first = (begin - list).min(shape.slots);
    let count = window(line, shape.code.start + begin).trailing_ones();
    Slots { first, count: count.min(shape.slots - first) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::FingerprintShape;
    use crate::block::fields::{ones, write};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// Shapes that fill a line as far as possible.
    fn shapes() -> impl Strategy<Value = Shape> {
        (1..=64_u32, 1..=256_u32, 1..=48_u32, 0..=64_u32).prop_map(
            |(slots, lists, remainder_bits, hints)| {
                let slots = slots.min((512 - hints - 1) / (remainder_bits + 1));
                let lists = lists.min(512 - hints - slots * (remainder_bits + 1));
                Shape::new(&FingerprintShape { slots, lists, remainder_bits, hints })
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
                    insert(Portable, &shape, &mut line, fingerprint);
                    model.push(fingerprint);
                }
                prop_assert_eq!(load(Portable, &shape, &line), model.len() as u32);
                prop_assert_eq!(contains(Portable, &shape, &line, fingerprint), model.contains(&fingerprint));
            }
            for &stored in &model {
                prop_assert!(contains(Portable, &shape, &line, stored));
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
            prop_assert!(load(Portable, &shape, &line) <= shape.slots);
            contains(Portable, &shape, &line, fingerprint);
            prop_assert!(fingerprints(&shape, &line).count() <= shape.slots as usize);
            insert(Portable, &shape, &mut line, fingerprint);
            remove(&shape, &mut line, fingerprint);
        }
    }
}
