//! Groups of filters: every answer is that of the filter alone.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod designs;

use designs::{cases, keys, parameters};
use equibloom::{Filter, FilterGroup, GroupError, Parameters};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_group_answers_like_its_filters(
        members in prop::collection::vec((parameters(), keys()), 0..40),
        asked in prop::collection::vec(any::<u16>(), 0..700),
    ) {
        let filters: Vec<Filter<u16>> = members
            .iter()
            .map(|(parameters, keys)| {
                let mut filter = Filter::new(&Parameters { seed: 5, ..*parameters }).unwrap();
                // A full filter may refuse keys.
                keys.iter().for_each(|key| _ = filter.insert(key));
                filter
            })
            .collect();
        let group = FilterGroup::new(&filters).unwrap();
        prop_assert_eq!(group.len(), filters.len());
        let mut found = vec![7];
        for key in asked.iter().take(20) {
            group.which(key, &mut found);
            let expected = filters.iter().enumerate().filter(|(_, filter)| filter.contains(key));
            prop_assert!(expected.map(|(index, _)| index).eq(found.iter().copied()));
        }
        let (mut of_group, mut of_one, mut expected) = (vec![7], Vec::new(), Vec::new());
        group.contains_batch_bitmap(&asked, &mut of_group);
        for filter in &filters {
            filter.contains_batch_bitmap(&asked, &mut of_one);
            expected.extend_from_slice(&of_one);
        }
        prop_assert_eq!(of_group, expected);
    }
}

#[test]
fn filters_with_other_seeds_are_refused_by_number() {
    let filter = |seed| {
        let design = equibloom::Design::Classical { bits: 100, hashes: 2 };
        Filter::<u64>::new(&Parameters { keys: 10, seed, design }).unwrap()
    };
    let filters = [filter(1), filter(1), filter(2)];
    let error = FilterGroup::new(&filters).unwrap_err();
    assert!(matches!(error, GroupError { index: 2, .. }));
    assert!(error.to_string().contains("filter 2 hashes its keys differently from filter 0"));
    assert!(FilterGroup::new(&filters[..2]).is_ok());
    assert!(FilterGroup::<u64>::new([]).unwrap().is_empty());
}
