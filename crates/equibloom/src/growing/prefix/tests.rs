//! Strings against text of zeros and ones.

use super::*;
use alloc::string::String;
use alloc::vec::Vec;
use proptest::prelude::*;

fn text(string: Prefix) -> String {
    let bits = format!("{:0128b}", string.0);
    bits[..bits.rfind('1').unwrap()].into()
}

fn prefix(text: &str) -> Prefix {
    Prefix(u128::from_str_radix(&format!("{text:0<127}0"), 2).unwrap() | 1 << (127 - text.len()))
}

proptest! {
    #![proptest_config(crate::raw::designs::cases(300))]

    #[test]
    fn a_string_is_its_bits(text_of in "[01]{0,119}", bits in 0..57_u32, width in 1..58_u32) {
        let string = prefix(&text_of);
        prop_assert_eq!(text(string), text_of.clone());
        prop_assert_eq!(string.length() as usize, text_of.len());
        let truncated = string.truncated(bits);
        prop_assert_eq!(text(truncated), &text_of[..text_of.len().min(bits as usize)]);
        let [zero, one] = string.children();
        prop_assert_eq!(text(zero), text_of.clone() + "0");
        prop_assert_eq!(text(one), text_of.clone() + "1");

        // As a list and a field, cut off at the end of the field.
        if text_of.len() >= bits as usize {
            let (list, rest) = text_of.split_at(bits as usize);
            let expected = u64::from_str_radix(list, 2).unwrap_or(0);
            prop_assert_eq!(string.list(bits), expected);
            let field = string.field(bits, width);
            let back = Prefix::from_field(expected, bits, field, width);
            let stored = rest.len().min(width as usize - 1);
            prop_assert_eq!(text(back), &text_of[..bits as usize + stored]);
            let lists = expected..expected + 1;
            prop_assert!(Prefix::range(bits.max(1), &lists).contains(&string) || bits == 0);
        }
    }

    #[test]
    fn a_field_matches_what_begins_with_it(
        hash: u128, text_of in "[01]{0,56}", equal in 0..57_usize, bits in 0..57_u32, width in 1..58_u32,
    ) {
        // A string that begins as the key does.
        let key = Prefix::of_key(KeyHash::from(hash));
        let key_text = format!("{:0128b}", hash | 1);
        let after = &key_text[bits as usize..];
        let remainder: String = after.chars().take(equal).chain(text_of.chars()).collect();
        let remainder = &remainder[..remainder.len().min(width as usize - 1)];
        let string = prefix(&(String::from(&key_text[..bits as usize]) + remainder));
        let matches = field_matches(string.field(bits, width), key.window(bits, width));
        prop_assert_eq!(matches, after.starts_with(remainder));
    }

    #[test]
    fn continuations_stand_for_the_same_keys(text_of in "[01]{3,12}", length in 0..15_u32) {
        let mut all = Vec::new();
        prefix(&text_of).extended(length, &mut |string| all.push(text(string)));
        let more = (length as usize).saturating_sub(text_of.len());
        prop_assert_eq!(all.len(), 1 << more);
        all.sort();
        all.dedup();
        prop_assert_eq!(all.len(), 1 << more);
        prop_assert!(all.iter().all(|string| string.starts_with(&text_of)));
        prop_assert!(all.iter().all(|string| string.len() == text_of.len().max(length as usize)));
    }
}
