//! Laws that hold for every placement × block size × policy, against an exact set.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::collections::HashSet;

use equibloom::{
    AnyFilter, BlockTable, Insertion, Overflow, Parameters, Scheme, Threshold, WhenFull,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn block_bits() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(64),
        Just(65),
        Just(100),
        Just(256),
        Just(500),
        Just(512),
        Just(4_096),
        Just(32_768),
        64_u32..=32_768,
    ]
}

/// Tables from one block upwards, small enough to be overfull most of the time.
fn table() -> impl Strategy<Value = BlockTable> {
    (prop_oneof![1_u64..=3, 1_u64..40], block_bits(), 1_u32..=24)
        .prop_map(|(count, bits, hashes)| BlockTable { count, bits, hashes })
}

fn threshold() -> impl Strategy<Value = Threshold> {
    let probability = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    prop_oneof![
        (1_u32..12, probability).prop_map(|(load, probability)| Threshold { load, probability }),
        Just(Threshold { load: 0, probability: 0.5 }),
    ]
}

fn overflow() -> impl Strategy<Value = Overflow> {
    let when_full = prop_oneof![Just(WhenFull::Refuse), Just(WhenFull::Saturate)];
    (prop_oneof![Just(0), 0_u64..300], when_full)
        .prop_map(|(capacity, when_full)| Overflow { capacity, when_full })
}

/// Divides a table into up to four subtables, each of at least one block.
fn divide(blocks: u64, cuts: [u64; 3]) -> Vec<u64> {
    let mut ends: Vec<u64> = cuts.iter().map(|cut| 1 + cut % blocks).chain([blocks]).collect();
    ends.sort_unstable();
    ends.dedup();
    let starts = [0].into_iter().chain(ends.iter().copied());
    ends.iter().zip(starts).map(|(end, start)| end - start).collect()
}

fn balanced_scheme() -> impl Strategy<Value = Scheme> {
    (table(), threshold(), overflow(), 1_u32..=5, 0.1..4.0, any::<[u64; 3]>(), 0..3).prop_map(
        |(blocks, threshold, overflow, choices, accesses, cuts, kind)| match kind {
            0 => Scheme::Single { blocks, threshold, overflow },
            1 => Scheme::Sequential { blocks, threshold, overflow, choices, accesses },
            _ => Scheme::MultiLevel {
                blocks,
                threshold,
                overflow,
                subtables: divide(blocks.count, cuts),
            },
        },
    )
}

fn scheme() -> impl Strategy<Value = Scheme> {
    prop_oneof![
        6 => balanced_scheme(),
        1 => table().prop_map(|blocks| Scheme::Blocked { blocks }),
        1 => table().prop_map(|blocks| Scheme::TwoChoice { blocks }),
        1 => (table(), 0.0..=1.0).prop_map(|(blocks, alpha)| Scheme::OnePlusAlpha { blocks, alpha }),
        1 => (1_u64..5_000, 1_u32..=24).prop_map(|(bits, hashes)| Scheme::Classical { bits, hashes }),
    ]
}

fn parameters() -> impl Strategy<Value = Parameters> {
    (scheme(), 0_u64..200, any::<u64>()).prop_map(|(scheme, keys, seed)| Parameters {
        keys,
        seed,
        scheme,
    })
}

/// Keys with many duplicates; sometimes none, sometimes one.
fn keys() -> impl Strategy<Value = Vec<u16>> {
    prop_oneof![
        Just(vec![]),
        any::<u16>().prop_map(|key| vec![key]),
        prop::collection::vec(0_u16..300, 0..600),
        prop::collection::vec(any::<u16>(), 0..400),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_key_that_was_taken_is_found_for_ever(parameters in parameters(), keys in keys()) {
        let mut filter = AnyFilter::new(&parameters).unwrap();
        let mut taken = HashSet::new();
        for key in keys {
            if filter.insert(&key).is_ok() {
                taken.insert(key);
            }
            prop_assert!(!taken.contains(&key) || filter.contains(&key));
        }
        for key in taken {
            prop_assert!(filter.contains(&key), "{key} was lost");
        }
    }

    #[test]
    fn an_insert_changes_the_filter_exactly_if_it_says_so(parameters in parameters(), keys in keys()) {
        let mut filter = AnyFilter::new(&parameters).unwrap();
        let mut elements = 0;
        for key in keys.into_iter().take(60) {
            let before = filter.clone();
            match filter.insert(&key) {
                Ok(Insertion::New) => {
                    elements += 1;
                    prop_assert!(!before.contains(&key));
                    prop_assert!(filter != before);
                }
                Ok(Insertion::AlreadyPresent) => {
                    prop_assert!(before.contains(&key));
                    prop_assert!(filter == before);
                }
                Err(full) => {
                    prop_assert!(!before.contains(&key));
                    prop_assert!(filter == before);
                    prop_assert_eq!(full.stored, elements);
                }
            }
        }
        prop_assert_eq!(filter.statistics().elements, elements);
    }

    #[test]
    fn every_element_is_in_a_block_or_in_the_overflow_list(
        scheme in balanced_scheme(),
        keys in keys(),
        planned in 0_u64..200,
    ) {
        let mut filter = AnyFilter::new(&Parameters { keys: planned, seed: 5, scheme }).unwrap();
        for key in keys {
            let _ = filter.insert(&key);
        }
        let statistics = filter.statistics();
        let loads = statistics.loads();
        let in_blocks: u64 = loads.iter().zip(0..).map(|(blocks, load)| blocks * load).sum();
        // A saturated counter tells less than what is in its block, never more.
        prop_assert!(in_blocks + statistics.overflowed <= statistics.elements);
        prop_assert!(in_blocks + statistics.overflowed + statistics.saturated >= statistics.elements);
        prop_assert_eq!(loads.iter().sum::<u64>(), statistics.levels.iter().map(|l| l.blocks).sum::<u64>());
        prop_assert!((0.0..=1.0 + 1e-12).contains(&statistics.expected_rate));
    }

    #[test]
    fn a_cleared_filter_is_as_good_as_new(parameters in parameters(), keys in keys()) {
        let mut filter = AnyFilter::new(&parameters).unwrap();
        let new = filter.clone();
        for key in &keys {
            let _ = filter.insert(key);
        }
        filter.clear();
        prop_assert!(filter == new);
    }

    #[test]
    fn one_seed_and_input_give_the_same_words(parameters in parameters(), keys in keys()) {
        let build = || {
            let mut filter = AnyFilter::new(&parameters).unwrap();
            for key in &keys {
                let _ = filter.insert(key);
            }
            filter.words().collect::<Vec<u64>>()
        };
        prop_assert_eq!(build(), build());
    }

    #[test]
    fn a_block_is_never_above_its_threshold_unless_saturated(
        scheme in balanced_scheme(),
        keys in keys(),
    ) {
        let (Scheme::Single { threshold, .. }
        | Scheme::Sequential { threshold, .. }
        | Scheme::MultiLevel { threshold, .. }) = scheme
        else { unreachable!() };
        let mut filter = AnyFilter::new(&Parameters { keys: 100, seed: 5, scheme }).unwrap();
        for key in keys {
            let _ = filter.insert(&key);
        }
        let statistics = filter.statistics();
        if statistics.saturated == 0 {
            let most = threshold.load as usize + usize::from(threshold.probability > 0.0);
            prop_assert!(statistics.loads().len() <= most + 1);
        }
    }
}
