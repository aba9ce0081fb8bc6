//! Any arguments, valid or not, to everything that is public: calls return, with a value or with an error that says something.

#![cfg(all(feature = "planner", feature = "file"))]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod arguments;
mod calls;
mod covered;
mod parts;
#[path = "../random/mod.rs"]
mod random;
#[path = "../scratch/mod.rs"]
mod scratch;

use std::error::Error;

use equibloom::{
    AccessStatistics, Filter, FilterGroup, GrowingFilter, HashFilter, KeyHash, Parameters, file,
};

use arguments::{MOST_BYTES, rounds};
use random::Random;

/// An error says something, and can be handed to other threads.
fn refused(error: impl Error + Send + Sync + 'static) {
    assert!(error.to_string().len() > 10, "{error}");
}

fn use_filter(filter: &mut Filter<u64>, random: &mut Random) {
    let keys: Vec<u64> = (0..random.between(0, 300)).map(|_| random.number()).collect();
    let (mut found, mut bits) = (Vec::new(), Vec::new());
    let all_are_in = filter.insert_batch(&keys).is_ok();
    if let Err(error) = filter.insert(&random.number()) {
        refused(error);
    }
    filter.contains_batch(&keys, &mut found);
    filter.contains_batch_bitmap(&keys, &mut bits);
    assert!(!all_are_in || found.iter().all(|&is_there| is_there));
    assert!((0..keys.len()).all(|key| found[key] == (bits[key / 64] >> (key % 64) & 1 == 1)));
    let _ = (filter.remove(&random.number()), filter.statistics(), format!("{filter:?}"));
    let other = filter.clone();
    let _ =
        (filter.merge(&other).map_err(refused), filter.folded(random.number()).map_err(refused));
    let group = FilterGroup::new([&other, &*filter]).unwrap();
    group.contains_batch_bitmap(&keys, &mut bits);
    let mut bytes = Vec::new();
    filter.write_to(&mut bytes).unwrap();
    assert!(Filter::<u64>::read_from(&bytes[..]).unwrap() == *filter);
    let at = random.number() as usize % bytes.len();
    bytes.truncate(at);
    refused(Filter::<u64>::read_from(&bytes[..]).unwrap_err());
    calls::filter(filter, random);
    calls::shared(other.into_shared().unwrap(), random);
    filter.clear();
    assert!(!filter.is_over_capacity());
}

#[test]
fn any_wish_is_planned_and_built_or_refused() {
    let mut random = Random(1);
    for _ in 0..rounds(1_000) {
        let builder = random.builder(u64::MAX);
        match builder.plan() {
            Ok(plan) if plan.design.bytes() <= MOST_BYTES => match calls::built(&builder) {
                Ok(mut filter) => use_filter(&mut filter, &mut random),
                Err(error) => refused(error),
            },
            Ok(_) => {}
            Err(error) => refused(error),
        }
        let growing = random.builder(10_000);
        let expected = growing.growing_bytes();
        match growing.build_growing() {
            Ok(filter) => {
                assert!(expected.is_ok(), "{expected:?}");
                use_growing(filter, &mut random);
            }
            Err(error) => refused(error),
        }
    }
    let many = Filter::<u64>::builder().keys(u64::MAX).rate(0.01);
    refused(many.build_growing().unwrap_err());
    refused(many.build_shared_growing().unwrap_err());
}

fn use_growing(mut filter: GrowingFilter<u64>, random: &mut Random) {
    let keys: Vec<u64> = (0..random.between(0, 300)).map(|_| random.number()).collect();
    filter.insert_batch(&keys).unwrap();
    let _ = filter.remove(&random.number());
    let mut found = Vec::new();
    filter.contains_batch(&keys, &mut found);
    let mut counted = AccessStatistics::default();
    let _ = (filter.contains_counted(&random.number(), &mut counted), filter.statistics());
    let other = filter.clone();
    filter.merge(&other).unwrap();
    calls::growing(&mut filter, random);
    calls::shared_growing(other.into_shared().unwrap(), random);
    let mut bytes = Vec::new();
    filter.write_to(&mut bytes).unwrap();
    assert!(GrowingFilter::<u64>::read_from(&bytes[..]).unwrap() == filter);
    bytes.pop();
    refused(GrowingFilter::<u64>::read_from(&bytes[..]).unwrap_err());
    filter.clear();
    assert!(filter.is_empty());
}

#[test]
fn any_design_is_built_or_refused() {
    let mut random = Random(2);
    let (mut built, rounds) = (0, rounds(20_000));
    for _ in 0..rounds {
        let design = random.design();
        let parameters = Parameters { keys: random.number(), seed: random.number(), design };
        parts::design(design, &mut random);
        let _ = (parameters.check(), parameters.predict(random.number() % 5_000).map_err(refused));
        if design.bytes() > MOST_BYTES {
            continue;
        }
        match HashFilter::new(&parameters) {
            Ok(filter) => {
                let mut filter: Filter<u64> = Filter::new(filter.parameters()).unwrap();
                use_filter(&mut filter, &mut random);
                built += 1;
            }
            Err(error) => refused(error),
        }
    }
    assert!(built * 200 > rounds, "{built} of {rounds}");
}

#[test]
fn any_bytes_are_a_filter_or_refused() {
    let mut random = Random(3);
    let filter = Filter::<u64>::builder().keys(100).rate(0.01).build().unwrap();
    let mut file = Vec::new();
    filter.write_to(&mut file).unwrap();
    for _ in 0..rounds(3_000) {
        let mut bytes = file.clone();
        for _ in 0..random.between(0, 3) {
            let at = random.word() as usize % bytes.len();
            bytes[at] = random.word() as u8;
        }
        let _ = (file::verify_from(&bytes[..]), GrowingFilter::<u64>::read_from(&bytes[..]));
        let _ = GrowingFilter::<u64>::from_owner(bytes.clone());
        if let Ok(filter) = HashFilter::from_owner(bytes) {
            filter.contains(KeyHash::from_u64(random.number()));
        }
    }
}
