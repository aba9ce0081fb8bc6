//! A filter that is planned for keys and a rate grows: it keeps the rate for any number of keys, wherever a filter goes.

#![cfg(all(feature = "file", feature = "planner"))]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod random;

use std::collections::HashSet;
use std::thread;

use equibloom::{
    AccessStatistics, BlockKind, Blocks, Design, Filter, HashFilter, KeyHash, KeyHasher, Layout,
    Parameters, Placement, PlanError, ShrinkError, Stable, WhenFull,
};
use random::Random;

fn hashes(keys: std::ops::Range<u64>) -> Vec<KeyHash> {
    keys.map(|key| Stable::default().hash_key(&key)).collect()
}

fn filter(keys: u64, rate: f64) -> HashFilter {
    Filter::<u64>::builder().keys(keys).rate(rate).build().unwrap().into_hash_filter()
}

/// The measured rate of 400,000 absent keys has a standard deviation below √(rate/400,000); four of them are added. The
/// expected rate is exact for the contents.
#[test]
fn the_rate_is_kept_for_any_number_of_keys() {
    const ASKED: u64 = 400_000;
    let absent = hashes(1 << 40..(1 << 40) + ASKED);
    for rate in [0.3, 0.1, 0.01, 1e-3, 1e-6, 1e-9] {
        for keys in [1_000, 10_000, 100_000] {
            let mut filter = filter(keys, rate);
            let planned = filter.statistics().memory.total();
            let mut stored = 0;
            for percent in [100, 105, 150, 300, 2_000] {
                filter.insert_batch(&hashes(stored..keys * percent / 100)).unwrap();
                stored = keys * percent / 100;
                let statistics = filter.statistics();
                let case = format!("{rate}, {percent} % of {keys} keys: {statistics:?}");
                assert!(statistics.expected_rate <= rate, "{case}");
                assert!(percent > 100 || filter.part_count() == 1, "{case}");
                assert!(percent > 100 || statistics.memory.total() == planned, "{case}");
                assert!(statistics.elements <= stored, "{case}");
                // What seems to be there already is not counted: a third of the keys at the most, in the filters of 0.3.
                let beyond = stored.saturating_sub(keys);
                assert!(statistics.beyond_plan <= beyond, "{case}");
                let seen = (2.0 * rate * stored as f64) as u64 + 1;
                assert!(statistics.beyond_plan + seen >= beyond, "{case}");
                let mut found = Vec::new();
                filter.contains_batch(&absent, &mut found);
                let measured = found.iter().filter(|&&found| found).count() as f64 / ASKED as f64;
                assert!(
                    measured <= rate + 4.0 * (rate / ASKED as f64).sqrt(),
                    "{measured}: {case}"
                );
            }
            assert!(filter.is_over_capacity());
            let mut found = Vec::new();
            filter.contains_batch(&hashes(0..stored), &mut found);
            assert!(found.iter().all(|&found| found));
        }
    }
}

/// What every way of using a filter gives with an exact set of the same keys.
#[derive(Clone)]
struct Checked {
    filter: Filter<u64>,
    keys: HashSet<u64>,
}

impl Checked {
    fn check(&self, after: &str) {
        let (filter, keys) = (&self.filter, &self.keys);
        let lost = keys.iter().find(|key| !filter.contains(key));
        assert_eq!(lost, None, "after {after}");
        let asked: Vec<u64> = keys.iter().copied().chain(1 << 50..(1 << 50) + 100).collect();
        let (mut found, mut bitmap) = (Vec::new(), Vec::new());
        filter.contains_batch(&asked, &mut found);
        filter.contains_batch_bitmap(&asked, &mut bitmap);
        let mut accesses = AccessStatistics::default();
        for (index, key) in asked.iter().enumerate() {
            let one = filter.contains(key);
            assert_eq!(found[index], one, "after {after}");
            assert_eq!(bitmap[index / 64] >> (index % 64) & 1 == 1, one, "after {after}");
            let counted = filter.as_hash_filter().contains_counted(filter.hash(key), &mut accesses);
            assert_eq!(counted, one, "after {after}");
        }
        let statistics = filter.statistics();
        assert_eq!(statistics.elements, filter.len());
        assert!((0.0..=1.0).contains(&statistics.expected_rate));
    }

    fn step(&mut self, random: &mut Random, others: &[Self]) -> &'static str {
        let first = random.word() >> 20;
        let count = random.one_of(&[1, 10, 100, 1_000]);
        let keys: Vec<u64> = (first..first + random.between(1, count)).collect();
        let before = self.filter.len();
        let mut accesses = AccessStatistics::default();
        match random.between(0, 8) {
            0 => {
                let new = keys.iter().filter(|key| self.filter.insert(key).unwrap().is_new());
                let new = new.count() as u64;
                assert!(self.filter.len() <= before + new);
                self.keys.extend(keys);
                "inserts"
            }
            1 => {
                let new = self.filter.insert_batch(&keys).unwrap();
                assert_eq!(self.filter.len(), before + new);
                self.keys.extend(keys);
                "a batch"
            }
            2 => {
                let hashes: Vec<KeyHash> = keys.iter().map(|key| self.filter.hash(key)).collect();
                self.filter.as_hash_filter_mut().insert_parallel(&hashes, 3).unwrap();
                self.keys.extend(keys);
                "threads"
            }
            3 => {
                let other = &others[random.between(0, others.len() as u64 - 1) as usize];
                self.filter.merge(&other.filter).unwrap();
                self.keys.extend(&other.keys);
                "a merge"
            }
            4 => {
                let bytes = self.filter.to_bytes().unwrap();
                let loaded = Filter::read_from(&bytes[..]).unwrap();
                assert!(loaded == self.filter);
                assert!(loaded.as_hash_filter().words().eq(self.filter.as_hash_filter().words()));
                let borrowed = Filter::<u64>::from_owner(bytes.clone()).unwrap();
                assert!(borrowed == self.filter);
                let header = equibloom::file::verify_from(&bytes[..]).unwrap();
                assert_eq!(header.parameters.design, self.filter.parameters().design);
                self.filter = if random.between(0, 1) == 0 { loaded } else { borrowed };
                "a file"
            }
            5 => {
                for key in &keys {
                    let hash = self.filter.hash(key);
                    let filter = self.filter.as_hash_filter_mut();
                    filter.insert_counted(hash, &mut accesses).unwrap();
                }
                assert_eq!(accesses.inserts.operations, keys.len() as u64);
                self.keys.extend(keys);
                "counted inserts"
            }
            6 => {
                if random.between(0, 3) == 0 {
                    self.filter.clear();
                    self.keys.clear();
                    assert_eq!(self.filter.len(), 0);
                    assert!(self.filter.as_hash_filter().growth_elements().is_none());
                }
                "clear"
            }
            7 => {
                let copy = self.filter.clone();
                assert!(copy == self.filter);
                self.filter = copy;
                "a copy"
            }
            _ => {
                let shared = self.filter.clone().into_shared().unwrap();
                thread::scope(|scope| {
                    for run in keys.chunks(keys.len().div_ceil(3)) {
                        let shared = &shared;
                        scope.spawn(move || {
                            for (number, key) in run.iter().enumerate() {
                                if number % 2 == 0 {
                                    shared.insert(key).unwrap();
                                } else {
                                    shared.insert_batch(&[*key]).unwrap();
                                }
                                assert!(shared.contains(key));
                                if number % 100 == 50 {
                                    let copy = shared.snapshot().unwrap();
                                    assert!(run[..=number].iter().all(|key| copy.contains(key)));
                                }
                            }
                            let mut found = Vec::new();
                            shared.contains_batch(run, &mut found);
                            assert!(found.iter().all(|&found| found));
                        });
                    }
                });
                let (elements, is_over) = (shared.len(), shared.is_over_capacity());
                self.filter = shared.into_filter();
                assert_eq!(
                    (elements, is_over),
                    (self.filter.len(), self.filter.is_over_capacity())
                );
                self.keys.extend(keys);
                "shared inserts"
            }
        }
    }
}

/// No key is lost by any sequence of inserts, batches, threads, merges, files and clears, with filters that have grown and
/// that have not.
#[test]
fn a_filter_that_grows_loses_no_key() {
    for seed in 0..10 {
        let random = &mut Random(seed);
        let empty = |keys, rate| {
            let filter = Filter::builder().keys(keys).rate(rate).build().unwrap();
            Checked { filter, keys: HashSet::new() }
        };
        let blocks = Filter::builder().keys(400).rate(0.01).block(BlockKind::Bloom);
        let multi_level = blocks.placement(Placement::MultiLevel).build().unwrap();
        let mut all = vec![
            empty(300, 0.01),
            empty(300, 0.01),
            empty(2_000, 1e-3),
            empty(2, 0.1),
            Checked { filter: multi_level, keys: HashSet::new() },
        ];
        for _ in 0..16 {
            let others = all.clone();
            let one = random.between(0, all.len() as u64 - 1) as usize;
            let after = all[one].step(random, &others);
            all[one].check(after);
        }
    }
}

/// A batch has the same result as its keys one by one, also where the filter begins to grow in its midst, and where
/// the list is full before.
#[test]
fn a_batch_grows_as_its_keys_one_by_one_do() {
    for keys in [50, 3_000] {
        let mut one_by_one = filter(keys, 1e-3);
        let mut batch = one_by_one.clone();
        let all = hashes(0..3 * keys);
        let mut new = 0;
        for &key in &all {
            new += u64::from(one_by_one.insert(key).unwrap().is_new());
        }
        assert_eq!(batch.insert_batch(&all).unwrap(), one_by_one.len());
        assert!(batch == one_by_one && new >= batch.len());
        assert_eq!(batch.insert_batch(&all).unwrap(), 0);
        assert_eq!(batch.part_count(), 2);
    }
}

/// Filters of one plan are merged in place if the plan has room for the keys of both, and kept apart if not.
#[test]
fn a_merge_keeps_to_the_plan() {
    let (mut small, mut large) = (filter(10_000, 0.01), filter(10_000, 0.01));
    small.insert_batch(&hashes(0..4_000)).unwrap();
    large.insert_batch(&hashes(4_000..12_000)).unwrap();
    let mut both = small.clone();
    both.merge(&small).unwrap();
    assert_eq!(both.part_count(), 1);
    both.merge(&large).unwrap();
    assert_eq!(both.part_count(), 2);
    assert!(both.statistics().expected_rate < 0.02);
    assert!(hashes(0..12_000).iter().all(|&key| both.contains(key)));
    // Then it has room for the keys of two plans.
    both.insert_batch(&hashes(12_000..18_000)).unwrap();
    assert!(both.growth_elements().is_none());
    both.insert_batch(&hashes(18_000..30_000)).unwrap();
    assert!(both.growth_elements().is_some());
    assert!(both.statistics().expected_rate < 0.02);
    assert!(hashes(0..30_000).iter().all(|&key| both.contains(key)));
    let refused = both.folded(2).unwrap_err();
    assert_eq!(refused, ShrinkError::Parts);
}

/// Threads share the part that grows, and the filter begins to grow about where it should.
#[test]
fn a_shared_filter_keeps_its_rate() {
    const KEYS: u64 = 50_000;
    let shared = Filter::<u64>::builder().keys(KEYS).rate(0.01).build_shared().unwrap();
    thread::scope(|scope| {
        for worker in 0..4 {
            let shared = &shared;
            scope.spawn(move || {
                for key in (worker..6 * KEYS).step_by(4) {
                    shared.insert(&key).unwrap();
                    assert!(shared.contains(&key));
                }
            });
        }
    });
    let statistics = shared.statistics().unwrap();
    assert!(statistics.expected_rate <= 0.01, "{statistics:?}");
    assert!(statistics.beyond_plan > 49 * KEYS / 10 && statistics.beyond_plan <= 5 * KEYS);
    assert_eq!(statistics.elements, shared.len());
    let filter = shared.into_filter();
    let planned = filter.len() - filter.as_hash_filter().growth_elements().unwrap();
    // It is counted by one insert of 64.
    assert!((KEYS..KEYS + 2_000).contains(&planned), "{planned}");
    assert!((0..6 * KEYS).all(|key| filter.contains(&key)));
}

/// Every policy is in the plan, or refused by name; and what is planned is built, whatever else is required.
#[test]
fn no_plan_ignores_a_policy() {
    let keys = hashes(0..30_000);
    let policies = [WhenFull::Refuse, WhenFull::Saturate, WhenFull::grow(0.01).unwrap()];
    for when_full in policies {
        let placements = Placement::ALL.iter().copied().map(Some).chain([None]);
        for (placement, size) in
            placements.flat_map(|placement| (0..4).map(move |size| (placement, size)))
        {
            for removable in [false, true] {
                let builder = Filter::<u64>::builder().when_full(when_full);
                let mut builder = match size {
                    0 => builder.keys(5_000).rate(0.01),
                    1 => builder.keys(5_000).bits_per_key(16.0),
                    2 => builder.memory(10_000).rate(0.01),
                    _ => builder.keys(20).rate(0.01),
                };
                if let Some(placement) = placement {
                    builder = builder.placement(placement);
                }
                if removable {
                    builder = builder.removable();
                }
                match builder.plan() {
                    Ok(plan) => {
                        let never_full = matches!(plan.design, Design::Classical { .. })
                            || plan
                                .design
                                .layout()
                                .is_some_and(|layout| layout.rule == equibloom::Rule::LeastLoaded);
                        let planned = plan.design.overflow().when_full;
                        assert!(
                            planned == when_full || when_full == WhenFull::Saturate && never_full,
                            "{when_full:?} {placement:?} {planned:?}"
                        );
                        let mut filter = builder.build().unwrap().into_hash_filter();
                        let inserted = filter.insert_batch(&keys);
                        assert_eq!(inserted.is_err(), when_full == WhenFull::Refuse);
                        if when_full.grows() && size != 1 {
                            assert!(filter.statistics().expected_rate <= 0.0105);
                        }
                    }
                    Err(PlanError::Requirements(error)) => {
                        let text = error.to_string();
                        let names = ["refuse", "saturate", "grow", "remov", "list", "accesses"];
                        assert!(names.iter().any(|name| text.contains(name)), "{text}");
                    }
                    Err(PlanError::Build(error)) => panic!("{error}"),
                    Err(_) => panic!("unknown"),
                }
            }
        }
    }
}

/// Where keys can be removed, or the filter is classical, growth is refused by name, and the default is another one.
#[test]
fn what_cannot_grow_says_so() {
    let grow = WhenFull::grow(0.01).unwrap();
    let builder = Filter::<u64>::builder().keys(1_000).rate(0.01);
    let removable = builder.clone().removable();
    assert!(!removable.plan().unwrap().design.overflow().when_full.grows());
    let error = removable.when_full(grow).plan().unwrap_err().to_string();
    assert!(error.contains("removed") && error.contains("grows from the start"), "{error}");
    let classical = builder.clone().placement(Placement::Classical);
    assert!(!classical.plan().unwrap().design.overflow().when_full.grows());
    let error = classical.when_full(grow).plan().unwrap_err().to_string();
    assert!(error.contains("growth"), "{error}");
    let large = WhenFull::Grow { rate_bits: 3 };
    let error = builder.clone().when_full(large).plan().unwrap_err().to_string();
    assert!(error.contains("2^-3"), "{error}");

    let blocks = Blocks::Fingerprint { slots: 20, lists: 20, remainder_bits: 10 };
    let overflow = equibloom::Overflow { capacity: 10, when_full: grow };
    let layout =
        Layout::fingerprints(blocks, &[10]).unwrap().with_overflow(overflow).with_removal();
    let parameters = Parameters { keys: 100, seed: 0, design: layout.into() };
    let error = HashFilter::new(&parameters).err().unwrap().to_string();
    assert!(error.contains("removed"), "{error}");
}

/// The default where keys and a rate are given is to grow, where memory is given to saturate.
#[test]
fn the_default_depends_on_what_is_given() {
    let builder = Filter::<u64>::builder().keys(10_000);
    let policy = |builder: equibloom::FilterBuilder<u64>| {
        builder.plan().unwrap().design.overflow().when_full
    };
    assert_eq!(Some(policy(builder.clone().rate(0.01))), WhenFull::grow(0.01));
    assert_eq!(policy(builder.clone().bits_per_key(16.0)), WhenFull::Saturate);
    assert_eq!(policy(builder.clone().memory(20_000)), WhenFull::Saturate);
    assert_eq!(policy(builder.rate(1e-12)), WhenFull::Saturate);
}
