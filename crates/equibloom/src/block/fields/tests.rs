//! Fields against strings of bits.

use super::*;
use alloc::vec::Vec;
use proptest::prelude::*;

pub(in crate::block) fn bits_of(line: &Line) -> Vec<u64> {
    (0..LINE_BITS).map(|bit| line[(bit / 64) as usize] >> (bit % 64) & 1).collect()
}

proptest! {
    #[test]
    fn fields_are_read_and_written_as_strings_of_bits(
        line: Line, value: u64, start in 0..LINE_BITS, width in 1..65_u32,
    ) {
        let width = width.min(LINE_BITS - start);
        let bits = bits_of(&line);
        for i in 0..64 {
            let expected = bits[(start + i) as usize % bits.len()];
            prop_assert_eq!(window(&line, start) >> i & 1, expected);
        }
        let mut written = line;
        write(&mut written, start, width, value);
        let mut expected = bits;
        for i in 0..width {
            expected[(start + i) as usize] = value >> i & 1;
        }
        prop_assert_eq!(bits_of(&written), expected);
    }

    #[test]
    fn bits_are_inserted_and_removed_within_their_field(
        line: Line, value: u64, range in (0..LINE_BITS, 1..=LINE_BITS), width in 1..64_u32, before in 0..LINE_BITS,
    ) {
        let (at, end) = (range.0.min(range.1 - 1), range.1);
        let field = Field::new(at.saturating_sub(before), end);
        let width = width.min(end - at);
        let value = value & ones(width);
        let mut expected = bits_of(&line);
        let lost: Vec<u64> = expected.drain((end - width) as usize..end as usize).collect();
        for bit in 0..width {
            expected.insert((at + bit) as usize, value >> bit & 1);
        }
        let mut changed = line;
        field.insert(&mut changed, at, width, value);
        prop_assert_eq!(bits_of(&changed), expected);

        field.remove(&mut changed, at, width);
        prop_assert_eq!(window(&changed, end - width) & ones(width), 0);
        for (bit, value) in (end - width..end).zip(lost) {
            write(&mut changed, bit, 1, value);
        }
        prop_assert_eq!(changed, line);
    }
}
