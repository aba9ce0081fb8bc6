//! Every ISA matches the portable one, and that one a simple model.

use super::{ANY, DetectedIsa, Isa, KernelTable, Target, kernel_table, words};
use crate::block::Holds;
use crate::block::fields::{Field, LINE_BITS, ones};
use crate::block::pattern::Draws;
use crate::hashing::KeyHash;
use crate::storage::Line;
use alloc::vec::Vec;
use proptest::prelude::*;

/// Inputs for every method of [`Isa`].
struct Everything<'a> {
    line: &'a Line,
    byte: u8,
    at: u32,
    rank: u32,
    draws: Draws,
    field: Field,
    start: u32,
    /// A field within the first two words.
    early: Field,
}

#[derive(Debug, PartialEq)]
struct Answers {
    equal: u64,
    greater: u64,
    least: u8,
    byte: u8,
    word: u64,
    equals_from_end: bool,
    early_ones: u32,
    early_ones_before: u32,
    early_zeros: (u64, Option<u32>),
    spread: u64,
    changed: Line,
    removed: Line,
    inserted: Line,
    shortened: Line,
    both: Line,
    deposited: u64,
    extracted: u64,
    early: [Line; 2],
    window: u64,
    inner_window: u64,
    lowest: u64,
    selected: u32,
    holds: Holds,
    distinct: Option<Vec<u16>>,
}

kernel_table! {
    struct Kernels[] [] {
        fn run(inputs: &Everything<'_>) -> Answers;
    }
}

#[inline(always)]
fn run<T: Target>(isa: T, inputs: &Everything<'_>) -> Answers {
    let &Everything { line, byte, at, rank, ref draws, ref field, start, .. } = inputs;
    let mut changed = *line;
    isa.insert_byte(&mut changed, at, byte);
    let mut removed = *line;
    isa.remove_byte(&mut removed, at);
    let mut inserted = *line;
    let width = rank.clamp(1, field.end - start).min(63);
    isa.insert_bits(&mut inserted, field, start, width, line[1] & ones(width));
    let mut early = [*line; 2];
    isa.insert_early_one(&mut early[0], &inputs.early, start % inputs.early.end);
    isa.remove_early_bit(&mut early[1], &inputs.early, start % inputs.early.end);
    let mut shortened = *line;
    isa.remove_bits(&mut shortened, field, start, width);
    let mut both = *line;
    // With room for both.
    let behind = (start + rank).min(field.end - 1);
    let few = (rank + at).min(field.end - behind - 1).min(56);
    isa.insert_one_and_bits(&mut both, field, start, behind, few, line[1] & ones(few));
    let count = draws.count as usize;
    let (zeros, place) = isa.early_zeros(line, start % 128, at);
    let early_ones_before = isa.early_ones_before(line, start % 128);
    // Higher bits are unspecified, and the place of a zero that is not among the others.
    let known = (57 + at).min(64);
    let has_place = at + early_ones_before < 64 && place < known;
    Answers {
        equal: isa.equal_bytes(line, byte),
        greater: isa.greater_bytes(line, byte),
        least: isa.least_byte(line, at, at + 1 + rank % (64 - at)),
        byte: isa.byte(line, at),
        word: isa.word(line, at as usize / 8),
        equals_from_end: isa.equals_from_end(line, at, byte),
        early_ones: isa.early_ones(line, &inputs.early),
        early_ones_before,
        early_zeros: (zeros & ones(known), has_place.then_some(place)),
        spread: isa.spread(line[3], rank % 8),
        changed,
        removed,
        inserted,
        shortened,
        both,
        deposited: isa.deposit(line[1], line[2]),
        extracted: isa.extract(line[1], line[2]),
        early,
        window: isa.window(line, start) & ones((LINE_BITS - start).min(57)),
        inner_window: isa.inner_window(line, start % 456) & ones(57),
        lowest: isa.lowest(line[2], start % 256),
        selected: isa.select(line[0], rank),
        holds: isa.holds(line, draws),
        distinct: isa.distinct_draws(draws).map(|bits| bits[..count].to_vec()),
    }
}

proptest! {
    #[test]
    fn every_isa_gives_the_same_answers(
        line: Line,
        byte: u8,
        planted: u64,
        at in 0..63_u32,
        rank in 0..64_u32,
        hash: u128,
        positions in 64..=512_u32,
        count in 1..=32_u32,
        full: bool,
        places in prop::array::uniform3(0..LINE_BITS),
    ) {
        let mut line = if full { line.map(|word| word | word.rotate_left(9) | word.rotate_left(31)) } else { line };
        for index in (0..64).filter(|index| planted >> index & 1 == 1) {
            let shift = 8 * (index % 8);
            line[index / 8] = line[index / 8] & !(0xff << shift) | u64::from(byte) << shift;
        }
        line[0] |= 1;
        let rank = rank % line[0].count_ones();
        let draws = Draws { key: KeyHash::from(hash), positions, count, start: 512 - positions };
        // A line that holds all the draws, so that a hit is among the cases.
        let mut bits = Vec::new();
        for word in 0..count.div_ceil(4) {
            draws.of_word(word, |bit| bits.push(bit as u16));
        }
        if full && hash % 2 == 1 {
            for &bit in &bits {
                line[usize::from(bit) / 64] |= 1 << (bit % 64);
            }
        }
        let mut places = places;
        places.sort_unstable();
        let [field_start, start, last] = places;
        let field = Field::new(field_start, last + 1);
        let early = Field::new(0, 1 + last % 128);
        let everything = Everything { line: &line, byte, at, rank, draws, field, start, early };
        let portable = run(ANY, &everything);

        let byte_at = |line: &Line, index: usize| (line[index / 8] >> (8 * (index % 8))) as u8;
        let (mut equal, mut greater) = (0_u64, 0_u64);
        let mut bytes: Vec<u8> = (0..64).map(|index| byte_at(&line, index)).collect();
        for (index, &found) in bytes.iter().enumerate() {
            equal |= u64::from(found == byte) << index;
            greater |= u64::from(found > byte) << index;
        }
        let own = at as usize..(at + 1 + rank % (64 - at)) as usize;
        prop_assert_eq!(Some(portable.least), bytes[own].iter().copied().min());
        prop_assert_eq!(portable.byte, bytes[at as usize]);
        prop_assert_eq!(portable.word, line[at as usize / 8]);
        prop_assert_eq!(portable.equals_from_end, bytes[63 - at as usize] == byte);
        let is_one = |bit: &u32| line[(bit / 64) as usize] >> (bit % 64) & 1 == 1;
        let ones_before = |bit: u32| (0..bit).filter(is_one).count() as u32;
        prop_assert_eq!(portable.early_ones, ones_before(early.end));
        let first = start % 128;
        prop_assert_eq!(portable.early_ones_before, ones_before(first));
        // As many ones as the zeros are moved up, then the line's bits inverted.
        let zeros = (0..(57 + at).min(64)).filter(|&bit| bit < at || !is_one(&(first + bit - at)));
        let zeros: Vec<u32> = zeros.collect();
        let place = zeros.get((at + ones_before(first)) as usize).copied();
        let all = zeros.iter().fold(0_u64, |all, bit| all | 1 << bit);
        prop_assert_eq!(portable.early_zeros, (all, place.filter(|_| at + ones_before(first) < 64)));
        for field in 0..8 {
            let bits = (0..rank % 8).map(|bit| (line[3] >> (field * (rank % 8) + bit) & 1) << bit);
            prop_assert_eq!(portable.spread >> (8 * field) & 0xff, bits.sum::<u64>());
        }
        // The last byte stays.
        let last = bytes[63];
        let mut removed = bytes.clone();
        removed.remove(at as usize);
        removed[62] = 0;
        removed.push(last);
        prop_assert!((0..64).all(|index| byte_at(&portable.removed, index) == removed[index]));
        bytes.insert(at as usize, byte);
        bytes[63] = last;
        prop_assert_eq!(portable.equal, equal);
        prop_assert_eq!(words::equal_bytes(&line, byte), equal);
        prop_assert_eq!(portable.greater, greater);
        prop_assert_eq!(words::greater_bytes(&line, byte), greater);
        prop_assert!((0..64).all(|index| byte_at(&portable.changed, index) == bytes[index]));
        let set: Vec<u32> = (0..64).filter(|bit| line[0] >> bit & 1 == 1).collect();
        prop_assert_eq!(portable.selected, set[rank as usize]);
        // The bits at the places of a mask's ones, and back.
        let places = (0..64).filter(|place| line[2] >> place & 1 == 1);
        let deposited = places.enumerate().map(|(bit, place)| (line[1] >> bit & 1) << place);
        prop_assert_eq!(portable.deposited, deposited.sum::<u64>());
        let places = (0..64).filter(|place| line[2] >> place & 1 == 1);
        let extracted = places.enumerate().map(|(bit, place)| (line[1] >> place & 1) << bit);
        prop_assert_eq!(portable.extracted, extracted.sum::<u64>());
        let holds = bits.iter().all(|&bit| line[usize::from(bit) / 64] >> (bit % 64) & 1 == 1);
        prop_assert!(portable.holds == Holds::Perhaps || !holds);

        let inner = start % 456;
        let expected = (0..57).map(|i| (line[((inner + i) / 64) as usize] >> ((inner + i) % 64) & 1) << i);
        prop_assert_eq!(portable.inner_window, expected.sum::<u64>());
        prop_assert_eq!(portable.lowest, if start % 256 < 64 { line[2] & ((1 << (start % 256)) - 1) } else { line[2] });

        let mut different = bits.clone();
        different.sort_unstable();
        different.dedup();
        let distinct = count <= 16 && different.len() == bits.len();
        for isa in DetectedIsa::all() {
            let found = Kernels::new(isa, true).run(&everything);
            prop_assert_eq!(found.equal, portable.equal);
            prop_assert_eq!(found.greater, portable.greater);
            prop_assert_eq!(found.changed, portable.changed);
            prop_assert_eq!(found.inserted, portable.inserted);
            prop_assert_eq!(found.removed, portable.removed);
            prop_assert_eq!(found.shortened, portable.shortened);
            prop_assert_eq!(found.both, portable.both);
            prop_assert_eq!(found.deposited, portable.deposited);
            prop_assert_eq!(found.extracted, portable.extracted);
            prop_assert_eq!(found.early, portable.early);
            prop_assert_eq!(found.least, portable.least);
            prop_assert_eq!(found.byte, portable.byte);
            prop_assert_eq!(found.word, portable.word);
            prop_assert_eq!(found.equals_from_end, portable.equals_from_end);
            prop_assert_eq!(found.early_ones, portable.early_ones);
            prop_assert_eq!(found.early_ones_before, portable.early_ones_before);
            prop_assert_eq!(found.early_zeros, portable.early_zeros);
            prop_assert_eq!(found.spread, portable.spread);
            prop_assert_eq!(found.window, portable.window);
            prop_assert_eq!(found.inner_window, portable.inner_window);
            prop_assert_eq!(found.lowest, portable.lowest);
            prop_assert_eq!(found.selected, portable.selected);
            prop_assert!(found.holds != Holds::No || !holds);
            if isa != DetectedIsa::Portable {
                let expected = match (holds, distinct) {
                    (false, _) => Holds::No,
                    (true, true) => Holds::Yes,
                    (true, false) => Holds::Perhaps,
                };
                prop_assert_eq!(found.holds, expected);
                prop_assert_eq!(found.distinct, distinct.then(|| bits.clone()));
            }
        }
    }
}
