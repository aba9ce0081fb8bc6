use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn keys_are_told_from_others(
        first in any::<u64>(),
        span in any::<u64>(),
        keys in prop::collection::vec(any::<u64>().prop_map(KeyHash::from_u64), 0..=WORD),
    ) {
        let words = WordRange { first, span };
        let own = words.among(&keys);
        for bit in 0..WORD {
            let leads = keys.get(bit).is_some_and(|key| words.contain(key.candidate(0)));
            prop_assert_eq!(own >> bit & 1 == 1, leads);
        }
    }

    #[test]
    fn words_are_those_that_lead_there(
        offset in 0_u64..1_000,
        size in prop_oneof![1_u64..100, 1_u64..1 << 40],
        start in 0_u64..1_200,
        count in prop_oneof![0_u64..1_200, 0_u64..1 << 40],
        word in any::<u64>(),
    ) {
        let level = Level { offset, size };
        let blocks = start..start + count;
        let words = WordRange::to(level, blocks.clone());
        let contain = |word| words.is_some_and(|words| words.contain(word));
        let lead = |word| blocks.contains(&level.block_of(word).0);
        // And the ones at the edges.
        let edges = words.map(|WordRange { first, span }| [first, first + span]).unwrap_or_default();
        let beside = [edges[0].wrapping_sub(1), edges[1].wrapping_add(1)];
        for word in edges.into_iter().chain(beside).chain([word, 0, u64::MAX]) {
            prop_assert_eq!(contain(word), lead(word), "{}", word);
        }
    }
}
