use std::vec;

use proptest::prelude::*;

proptest! {
    #[test]
    fn halves_are_scaled_alike(word: u64, bound: u32) {
        for (word, bound) in [(word, bound), (u64::MAX, bound), (word, u32::MAX)] {
            prop_assert_eq!(super::scale_in_halves(word, bound), super::scale(word, bound.into()));
        }
    }
}

use super::*;

#[test]
fn scaling_reaches_block_indices_beyond_32_bits() {
    let blocks = 10_000_000_000_u64;
    assert_eq!(scale(0, blocks), 0);
    assert_eq!(scale(u64::MAX, blocks), blocks - 1);
    assert_eq!(scale(1 << 63, blocks), blocks / 2);
    assert_eq!(scale(u64::MAX, u64::MAX), u64::MAX - 1);
}

#[test]
fn draws_of_different_domains_do_not_coincide() {
    let hash = KeyHash::from_u64(42);
    let mut words = vec![hash.second_choice(), hash.candidate(0), hash.candidate(1)];
    words.extend((0..16).map(|i| hash.pattern_word(i)));
    words.extend((1..16).map(|i| hash.pattern_lanes(i)));
    words.extend((0..16).map(|i| hash.coin(i)));
    let total = words.len();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), total);
}
