//! Laws that hold for every placement × block size × policy, against an exact set.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod designs;

use std::collections::HashSet;

use designs::{bloom_with_threshold, fingerprints, keys, parameters};
use equibloom::{BlockKind, Filter, Insertion, Parameters};
use proptest::prelude::*;

proptest! {
    #![proptest_config(designs::cases(2_000))]

    #[test]
    fn a_key_that_was_taken_is_found_for_ever(parameters in parameters(), keys in keys()) {
        let mut filter = Filter::new(&parameters).unwrap();
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

    /// An insert ends at the block that takes the key; a lookup may go on there, by a hint or a watermark, and
    /// meet the likeness of the key. An entry that leaves a fingerprint block may meet its equal further on, so
    /// that the filter holds no entry more. A key that itself meets its equal may have raised watermarks.
    #[test]
    fn an_insert_changes_the_filter_exactly_if_it_says_so(parameters in parameters(), keys in keys()) {
        let fingerprints = parameters.design.block_kind() == Some(BlockKind::Fingerprint);
        let hinted = parameters.design.hints() > 0;
        let mut filter = Filter::new(&parameters).unwrap();
        let mut elements = 0;
        for key in keys.into_iter().take(60) {
            let before = filter.clone();
            match filter.insert(&key) {
                Ok(Insertion::New) => {
                    let gained = filter.len() - elements;
                    prop_assert!(gained == 1 || fingerprints && gained == 0);
                    elements += gained;
                    prop_assert!(fingerprints || hinted || !before.contains(&key));
                    prop_assert!(filter != before);
                }
                Ok(Insertion::AlreadyPresent) => {
                    prop_assert!(fingerprints || before.contains(&key));
                    prop_assert!(filter == before || fingerprints && !before.contains(&key));
                    prop_assert_eq!(filter.len(), elements);
                }
                Err(full) => {
                    prop_assert!(fingerprints || !before.contains(&key));
                    prop_assert!(filter == before);
                    prop_assert_eq!(full.stored, elements);
                }
            }
        }
        prop_assert_eq!(filter.statistics().elements, elements);
    }

    #[test]
    fn every_element_is_in_a_block_or_in_the_overflow_list(
        layout in prop_oneof![bloom_with_threshold(), fingerprints(false)],
        keys in keys(),
        planned in 0_u64..200,
    ) {
        let parameters = Parameters { keys: planned, seed: 5, design: layout.into() };
        let mut filter = Filter::new(&parameters).unwrap();
        for key in keys {
            let _ = filter.insert(&key);
        }
        let statistics = filter.statistics();
        let loads = statistics.loads();
        let in_blocks: u64 = loads.iter().zip(0..).map(|(blocks, load)| blocks * load).sum();
        // A saturated counter is at most the number of keys in its block.
        prop_assert!(in_blocks + statistics.overflowed <= statistics.elements);
        prop_assert!(in_blocks + statistics.overflowed + statistics.saturated >= statistics.elements);
        prop_assert_eq!(loads.iter().sum::<u64>(), statistics.levels.iter().map(|l| l.blocks).sum::<u64>());
        prop_assert!((0.0..=1.0 + 1e-12).contains(&statistics.expected_rate));
    }

    #[test]
    fn a_cleared_filter_is_as_good_as_new(parameters in parameters(), keys in keys()) {
        let mut filter = Filter::new(&parameters).unwrap();
        let new = filter.clone();
        for key in &keys {
            let _ = filter.insert(key);
        }
        filter.clear();
        // A grown overflow list keeps its memory.
        let grown = filter.statistics().memory.overflow > new.statistics().memory.overflow;
        prop_assert!(filter == new || grown);
        prop_assert!(keys.iter().all(|key| !filter.contains(key)));
    }

    #[test]
    fn one_seed_and_input_give_the_same_words(parameters in parameters(), keys in keys()) {
        let build = || {
            let mut filter = Filter::new(&parameters).unwrap();
            for key in &keys {
                let _ = filter.insert(key);
            }
            filter.as_hash_filter().words().collect::<Vec<u64>>()
        };
        prop_assert_eq!(build(), build());
    }

    #[test]
    fn a_block_is_never_above_its_threshold_unless_saturated(
        layout in bloom_with_threshold(),
        keys in keys(),
    ) {
        let parameters = Parameters { keys: 100, seed: 5, design: layout.into() };
        let mut filter = Filter::new(&parameters).unwrap();
        for key in keys {
            let _ = filter.insert(&key);
        }
        let statistics = filter.statistics();
        if statistics.saturated == 0 {
            let most = layout.rule.capacity().unwrap() as usize;
            prop_assert!(statistics.loads().len() <= most + 1);
        }
    }
}
