//! Every ISA matches the portable one, and that one a simple model.

use super::{DetectedIsa, Isa, Line, Operation, Portable, words};
use crate::block::fields::{Field, LINE_BITS, ones};
use crate::block::pattern::Draws;
use crate::block::{ByteMatches, Holds};
use crate::hashing::KeyHash;
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
}

#[derive(Debug, PartialEq)]
struct Answers {
    equal: u64,
    changed: Line,
    inserted: Line,
    window: u64,
    inner_window: u64,
    lowest: u64,
    selected: u32,
    holds: Holds,
    distinct: Option<Vec<u16>>,
}

impl Operation for Everything<'_> {
    type Output = Answers;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Answers {
        let mut changed = *self.line;
        isa.insert_byte(&mut changed, self.at, self.byte);
        let mut inserted = *self.line;
        let width = self.rank.clamp(1, self.field.end - self.start).min(63);
        let value = self.line[1] & ones(width);
        isa.insert_bits(&mut inserted, &self.field, self.start, width, value);
        let count = self.draws.count as usize;
        Answers {
            equal: isa.equal_bytes(self.line, self.byte),
            changed,
            inserted,
            window: isa.window(self.line, self.start) & ones((LINE_BITS - self.start).min(57)),
            inner_window: isa.inner_window(self.line, self.start % 456) & ones(57),
            lowest: isa.lowest(self.line[2], self.start % 256),
            selected: isa.select(self.line[0], self.rank),
            holds: isa.holds(self.line, &self.draws),
            distinct: isa.distinct_draws(&self.draws).map(|bits| bits[..count].to_vec()),
        }
    }
}

proptest! {
    #[test]
    fn every_isa_gives_the_same_answers(
        line: Line,
        byte: u8,
        planted: u64,
        at in 0..64_u32,
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
        let everything = || Everything { line: &line, byte, at, rank, draws, field, start };
        let portable = everything().run(Portable);

        let byte_at = |line: &Line, index: usize| (line[index / 8] >> (8 * (index % 8))) as u8;
        let mut equal = 0_u64;
        let mut bytes: Vec<u8> = (0..64).map(|index| byte_at(&line, index)).collect();
        for (index, &found) in bytes.iter().enumerate() {
            equal |= u64::from(found == byte) << index;
        }
        bytes.insert(at as usize, byte);
        prop_assert_eq!(portable.equal, equal);
        prop_assert_eq!(words::equal_bytes(&line, byte), equal);
        prop_assert!((0..64).all(|index| byte_at(&portable.changed, index) == bytes[index]));
        let set: Vec<u32> = (0..64).filter(|bit| line[0] >> bit & 1 == 1).collect();
        prop_assert_eq!(portable.selected, set[rank as usize]);
        let holds = bits.iter().all(|&bit| line[usize::from(bit) / 64] >> (bit % 64) & 1 == 1);
        prop_assert!(portable.holds.is_perhaps() || !holds);

        let inner = start % 456;
        let expected = (0..57).map(|i| (line[((inner + i) / 64) as usize] >> ((inner + i) % 64) & 1) << i);
        prop_assert_eq!(portable.inner_window, expected.sum::<u64>());
        prop_assert_eq!(portable.lowest, if start % 256 < 64 { line[2] & ((1 << (start % 256)) - 1) } else { line[2] });

        let mut different = bits.clone();
        different.sort_unstable();
        different.dedup();
        let distinct = count <= 16 && different.len() == bits.len();
        for isa in DetectedIsa::all() {
            let found = isa.run_on_common(everything());
            prop_assert_eq!(found.equal, portable.equal);
            prop_assert_eq!(found.changed, portable.changed);
            prop_assert_eq!(found.inserted, portable.inserted);
            prop_assert_eq!(found.window, portable.window);
            prop_assert_eq!(found.inner_window, portable.inner_window);
            prop_assert_eq!(found.lowest, portable.lowest);
            prop_assert_eq!(found.selected, portable.selected);
            prop_assert!(found.holds != Holds::No || !holds);
            if isa != DetectedIsa::Portable {
                let expected = match (holds, distinct) {
                    (false, _) => Holds::No,
                    (true, true) => Holds::Yes,
                    (true, false) => Holds::Perhaps(ByteMatches::NONE),
                };
                prop_assert_eq!(found.holds, expected);
                prop_assert_eq!(found.distinct, distinct.then(|| bits.clone()));
            }
        }
    }
}
