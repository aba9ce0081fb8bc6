//! What Rust programmers expect of a collection.

#![cfg(all(feature = "planner", feature = "file"))]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::error::Error;
use std::fmt::Debug;

use equibloom::{
    BuildError, Filter, FilterGroup, FullError, GroupError, GrowingFilter, HashFilter, LayoutError,
    MergeError, PlanError, PredictionError, RemoveError, SharedFilter, SharedGrowingFilter,
    ShrinkError, Stable, UnknownName, WithBuildHasher,
    file::{FileError, FileErrorKind, Mapped},
};

#[test]
fn a_filter_is_cheap_to_move() {
    let sizes = [
        size_of::<Filter<u64>>(),
        size_of::<SharedFilter<u64>>(),
        size_of::<GrowingFilter<u64>>(),
        size_of::<SharedGrowingFilter<u64>>(),
    ];
    assert!(sizes.iter().all(|&bytes| bytes <= 256), "{sizes:?}");
}

/// What is counted has not become less by being elsewhere.
#[test]
fn the_plan_counts_what_the_filter_takes() {
    for builder in [Filter::<u64>::builder(), Filter::<u64>::builder().removable()] {
        for (keys, rate) in [(3, 0.01), (1_000, 0.01), (30_000, 0.001)] {
            let filter = builder.clone().keys(keys).rate(rate).build().unwrap();
            let memory = filter.statistics().memory;
            assert!(memory.header > 500, "{memory:?}");
            assert_eq!(memory.total(), filter.parameters().design.bytes(), "{memory:?}");
        }
    }
}

#[test]
fn every_filter_knows_how_many_keys_it_has() {
    let builder = Filter::<u64>::builder().keys(1_000).rate(1e-9);
    let mut filter = builder.clone().removable().build().unwrap();
    assert!(filter.is_empty() && filter.as_hash_filter().is_empty());
    for (number, key) in [7, 8, 9].iter().enumerate() {
        filter.insert(key).unwrap();
        assert_eq!(filter.len(), number as u64 + 1);
    }
    filter.remove(&8).unwrap();
    assert_eq!((filter.len(), filter.as_hash_filter().len(), filter.is_empty()), (2, 2, false));

    let shared = builder.build().unwrap().into_shared().unwrap();
    assert!(shared.is_empty());
    shared.insert_batch(&[1, 2, 2, 3]).unwrap();
    assert_eq!((shared.len(), shared.is_empty()), (3, false));

    let growing: GrowingFilter<u64> = [1, 2, 3].into_iter().collect();
    assert_eq!((growing.len(), growing.is_empty()), (3, false));
    let shared = growing.into_shared().unwrap();
    assert_eq!((shared.len(), shared.is_empty()), (3, false));
    let mut growing = shared.into_growing().unwrap();
    growing.clear();
    assert!(growing.is_empty() && GrowingFilter::<u64>::default().is_empty());
}

#[test]
fn filters_are_shown_on_one_screen_and_without_their_contents() {
    fn lines(filter: &impl Debug) -> usize {
        let (short, long) = (format!("{filter:?}"), format!("{filter:#?}"));
        assert!(short.len() < 1_000, "{short}");
        long.lines().count()
    }
    let filter = Filter::<u64>::builder().keys(1_000_000).rate(0.001).build().unwrap();
    let growing = (0..10_000_u64).collect::<GrowingFilter<u64>>();
    assert!(lines(&filter) < 60 && lines(filter.as_hash_filter()) < 60 && lines(&growing) < 60);
    assert!(lines(&filter.clone().into_shared().unwrap()) < 60);
    assert!(lines(&growing.into_shared().unwrap()) < 60);
    let many = vec![filter; 1_000];
    assert!(lines(&FilterGroup::new(&many).unwrap()) < 60);
}

/// For keys that have none of these themselves.
#[test]
fn every_filter_has_the_usual_traits() {
    struct Bare;
    fn is_plain<F: Clone + PartialEq + Debug + Send + Sync + 'static>() {}
    fn is_shared<F: Debug + Send + Sync + 'static>() {}
    fn is_collection<F: Default + FromIterator<u64> + Extend<u64> + for<'a> Extend<&'a u64>>() {}
    is_plain::<Filter<Bare>>();
    type Other = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;
    is_plain::<Filter<Bare, WithBuildHasher<Other>>>();
    is_plain::<HashFilter>();
    is_plain::<GrowingFilter<Bare>>();
    is_collection::<GrowingFilter<u64>>();
    is_shared::<SharedFilter<Bare>>();
    is_shared::<SharedGrowingFilter<Bare>>();
    is_shared::<Mapped<Filter<Bare>>>();
    is_shared::<Mapped<GrowingFilter<Bare>>>();
    is_shared::<FilterGroup<'static, Bare>>();
    fn is_cloned<T: Clone>(_: &T) {}
    is_cloned(&FilterGroup::<Bare>::new([]));
    is_cloned(&Stable::default());
}

#[test]
fn errors_go_through_threads_and_boxes() {
    fn is_error<E: Error + Send + Sync + 'static>() {}
    is_error::<BuildError>();
    is_error::<FullError>();
    is_error::<GroupError>();
    is_error::<MergeError>();
    is_error::<PlanError>();
    is_error::<RemoveError>();
    is_error::<ShrinkError>();
    is_error::<FileError>();
    is_error::<FileErrorKind>();
    is_error::<LayoutError>();
    is_error::<PredictionError>();
    is_error::<UnknownName>();
}
