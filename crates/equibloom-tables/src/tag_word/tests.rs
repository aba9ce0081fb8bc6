use super::*;
use alloc::vec::Vec;
use proptest::prelude::*;

/// Byte by byte.
fn oracle(word: [u8; WORD], tag: u8, among: usize) -> Vec<usize> {
    (0..among.min(WORD)).filter(|&at| word[at] == tag).collect()
}

/// Words whose bytes are often equal, or differ in one bit, or are neighbours of a carry.
fn words() -> impl Strategy<Value = [u8; WORD]> {
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(vec![0, 1, 2, 3, 126, 127, 128, 129, 254, 255])
    ];
    prop::array::uniform8(byte)
}

proptest! {
    #[test]
    fn tags_are_found_where_they_stand_and_nowhere_else(
        first in words(),
        second in words(),
        any_tag in any::<u8>(),
        from_word in 0_usize..=WORD,
        among in 0_usize..=12,
    ) {
        let tag = first.get(from_word).copied().unwrap_or(any_tag);
        let find = |word| Positions::first(among).with_tag(word, tag);
        let in_first = oracle(first, tag, among);
        prop_assert_eq!(find(first).count() as usize, in_first.len());
        prop_assert_eq!(find(first).collect::<Vec<_>>(), in_first);

        let few = among.min(WORD / 2);
        let both = Positions::first(few).in_both_halves();
        let found: Vec<_> = both.with_tag(first_halves(first, second), tag).collect();
        let in_second = oracle(second, tag, few).into_iter().map(|at| at + WORD / 2);
        let expected = oracle(first, tag, few).into_iter().chain(in_second);
        prop_assert_eq!(found, expected.collect::<Vec<_>>());
    }
}

#[test]
fn every_tag_is_found_among_its_neighbours() {
    for tag in 0..=255_u8 {
        let word = [tag, 1, tag, 0, 128, 255, tag, 127];
        let found = Positions::first(WORD).with_tag(word, tag).collect::<Vec<_>>();
        assert_eq!(found, oracle(word, tag, WORD));
    }
}
