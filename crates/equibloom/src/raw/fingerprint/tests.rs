//! Filters against the definition, and against exact multisets.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::*;
use crate::block::fingerprint::{Entry, watermark};
use crate::block::isa::ANY;
use crate::hashing::KeyHash;
#[cfg(all(feature = "std", target_has_atomic = "64", not(loom)))]
use crate::raw::shared;
use crate::raw::{Any, Insertion};
use equibloom_layout::{Design, Overflow};
use proptest::prelude::*;
use proptest::sample::Index;

impl PartialEq for Fingerprints {
    fn eq(&self, other: &Self) -> bool {
        (&self.words, &self.ledger) == (&other.words, &other.ledger)
    }
}

impl Fingerprints {
    /// The same filter on another ISA.
    pub(in crate::raw) fn on(&self, isa: DetectedIsa) -> Self {
        Self::new(self.plan, self.words.clone(), self.ledger.clone(), isa)
    }
}

pub(super) fn filter_of(layout: &Layout) -> Fingerprints {
    match Any::new(&Design::Blocked(*layout)).unwrap() {
        Any::Fingerprint(filter) => filter,
        _ => panic!("no fingerprint blocks"),
    }
}

/// Small layouts of every kind, which a hundred keys overfill.
fn layouts(when_full: WhenFull, capacity: u64) -> impl Strategy<Value = Layout> {
    let sizes = prop::collection::vec(1..4_u64, 1..=4);
    let remainder = prop_oneof![Just(8_u32), 5..=16_u32, 5..=56_u32];
    (1..=56_u32, 1..=100_u32, remainder, sizes).prop_map(
        move |(slots, lists, remainder_bits, sizes)| {
            let slots = slots.min(503 / (remainder_bits + 1)).max(1);
            let lists = lists.min(504 - slots * (remainder_bits + 1));
            let blocks = Blocks::Fingerprint { slots, lists, remainder_bits };
            let overflow = equibloom_layout::Overflow { capacity, when_full };
            Layout::fingerprints(blocks, &sizes).unwrap().with_overflow(overflow)
        },
    )
}

/// A filter as the definition has it.
#[derive(Debug, PartialEq, Eq, Default)]
struct Model {
    blocks: BTreeMap<u64, (BTreeSet<Entry>, u8)>,
    list: BTreeSet<u64>,
}

impl Model {
    fn of_keys(plan: &Plan, keys: &[KeyHash]) -> Self {
        let mut model = Self::default();
        let mut arriving: Vec<KeyHash> = keys.to_vec();
        for level in plan.levels() {
            for key in core::mem::take(&mut arriving) {
                let entry = plan.shape.entry_of(ANY, key);
                model.blocks.entry(level.block_of(key.candidate(0)).0).or_default().0.insert(entry);
            }
            for (&block, (entries, watermark)) in model.blocks.range_mut(level.offset..) {
                while entries.len() > plan.shape.slots() as usize {
                    let Some(leaving) = entries.pop_first() else { break };
                    *watermark = (*watermark).max(leaving.byte());
                    arriving.push(leaving.onward(block));
                }
            }
        }
        model.list = arriving.iter().map(|key| key.candidate(0).max(1)).collect();
        model
    }

    fn of_filter(filter: &Fingerprints) -> Self {
        let mut model = Self::default();
        for level in filter.plan.levels() {
            for block in level.offset..level.offset + level.size {
                let line = &filter.words[block as usize];
                let entries: BTreeSet<Entry> = filter.plan.shape.entries(line).collect();
                if !entries.is_empty() {
                    model.blocks.insert(block, (entries, watermark(line)));
                }
            }
        }
        model.list = filter.ledger.overflow.entries().map(|(entry, _)| entry).collect();
        model
    }

    fn elements(&self) -> u64 {
        let in_blocks = self.blocks.values().map(|(entries, _)| entries.len());
        (in_blocks.sum::<usize>() + self.list.len()) as u64
    }
}

pub(super) fn hashes(seeds: &[u64]) -> Vec<KeyHash> {
    seeds.iter().map(|&seed| KeyHash::from_u64(seed)).collect()
}

proptest! {
    #![proptest_config(crate::raw::designs::cases(400))]

    /// The definition, whatever the order, the ISA, the batches, the threads or the way of merging.
    #[test]
    fn the_contents_depend_on_the_set_of_keys_alone(
        layout in layouts(WhenFull::Refuse, 600),
        keys in prop::collection::btree_set(any::<u64>(), 0..600).prop_map(Vec::from_iter),
        shuffled in any::<u64>(),
        cuts in prop::collection::vec(any::<Index>(), 3),
        threads in 1..5_usize,
    ) {
        let keys = hashes(&keys);
        let empty = filter_of(&layout);
        let expected = Model::of_keys(&empty.plan, &keys);
        let mut reference = None;
        for isa in DetectedIsa::all() {
            let mut filter = empty.on(isa);
            for &key in &keys {
                filter.insert(key).unwrap();
                prop_assert!(filter.contains(key));
            }
            prop_assert_eq!(&Model::of_filter(&filter), &expected);
            prop_assert_eq!(filter.ledger.elements, expected.elements());
            prop_assert!(reference.get_or_insert_with(|| filter.clone()) == &filter);
        }
        let reference = reference.unwrap();
        let same = |filter: &Fingerprints| {
            filter.ledger.elements == reference.ledger.elements && filter.words == reference.words
                && Model::of_filter(filter).list == expected.list
        };
        let mut other_order = keys.clone();
        other_order.sort_unstable_by_key(|key| key.candidate(1) ^ shuffled);
        // Keys that are present change nothing.
        other_order.extend_from_slice(&keys[..keys.len() / 3]);
        for isa in DetectedIsa::all() {
            let mut filter = empty.on(isa);
            let new = filter.insert_batch(&other_order, threads).unwrap();
            prop_assert!(same(&filter) && new == reference.ledger.elements);
            let mut found = vec![0; keys.len().div_ceil(64)];
            filter.contains_batch(&keys, &mut found);
            let all: u64 = found.iter().map(|word| u64::from(word.count_ones())).sum();
            prop_assert_eq!(all, keys.len() as u64);
        }
        let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut.index(keys.len() + 1)).collect();
        bounds.extend([0, keys.len()]);
        bounds.sort_unstable();
        let mut merged = empty.clone();
        for bounds in bounds.windows(2).rev() {
            let mut part = empty.clone();
            part.insert_batch(&keys[bounds[0]..bounds[1]], 1).unwrap();
            merged.merge(&part).unwrap();
        }
        prop_assert!(same(&merged));
    }

    /// Single and batched lookups of any key agree, with every ISA.
    #[test]
    fn every_isa_gives_the_same_answers(
        layout in layouts(WhenFull::Saturate, 0),
        keys in prop::collection::vec(any::<u64>(), 0..600),
        absent in any::<u64>(),
        multiset: bool,
    ) {
        let layout = Layout { multiset, ..layout };
        let mut filter = filter_of(&layout);
        filter.insert_batch(&hashes(&keys), 1).unwrap();
        let absent: Vec<KeyHash> = (0..500).map(|key| KeyHash::from_u64(absent ^ key)).collect();
        let expected: Vec<bool> =
            absent.iter().map(|&key| filter.contains_observed(key, ())).collect();
        for isa in DetectedIsa::all() {
            let filter = filter.on(isa);
            let mut found = [0; 8];
            filter.contains_batch(&absent, &mut found);
            for (at, (&key, &expected)) in absent.iter().zip(&expected).enumerate() {
                prop_assert_eq!(filter.contains(key), expected);
                prop_assert_eq!(found[at / 64] >> (at % 64) & 1 == 1, expected);
            }
        }
    }

    /// Inserts, removals and merges against an exact multiset: nothing is lost.
    #[test]
    fn a_multiset_loses_nothing(
        layout in layouts(WhenFull::Saturate, 2),
        operations in prop::collection::vec((0..60_u64, 0..10_u32), 0..800),
        seed: u64,
    ) {
        let layout = layout.with_removal();
        let mut filter = filter_of(&layout);
        let mut model: BTreeMap<u64, u64> = BTreeMap::new();
        for &(key, action) in &operations {
            let hash = KeyHash::from_u64(key ^ seed << 6);
            let copies = model.entry(key).or_default();
            match action {
                0..4 if *copies > 0 => {
                    filter.remove(hash).unwrap();
                    *copies -= 1;
                }
                4 => {
                    let mut other = filter_of(&layout);
                    other.insert_batch(&[hash; 3], 1).unwrap();
                    filter.merge(&other).unwrap();
                    *copies += 3;
                }
                5 => {
                    filter.insert_batch(&[hash; 2], 2).unwrap();
                    *copies += 2;
                }
                _ => {
                    prop_assert_eq!(filter.insert(hash).unwrap(), Insertion::New);
                    *copies += 1;
                }
            }
            prop_assert_eq!(filter.ledger.elements, model.values().sum::<u64>());
            for (&key, &copies) in &model {
                prop_assert!(copies == 0 || filter.contains(KeyHash::from_u64(key ^ seed << 6)));
            }
        }
        for (key, copies) in model {
            for _ in 0..copies {
                filter.remove(KeyHash::from_u64(key ^ seed << 6)).unwrap();
            }
        }
        prop_assert_eq!(filter.ledger.elements, 0);
        prop_assert!(filter.ledger.overflow.is_empty());
    }

    /// A refused key changes nothing, also in a batch.
    #[test]
    fn a_full_filter_refuses_and_stays_as_it_is(
        layout in layouts(WhenFull::Refuse, 2),
        keys in prop::collection::vec(any::<u64>(), 0..900),
        multiset: bool,
    ) {
        let layout = Layout { multiset, ..layout };
        let keys = hashes(&keys);
        let mut filter = filter_of(&layout);
        let mut stored = Vec::new();
        for &key in &keys {
            let before = filter.clone();
            match filter.insert(key) {
                Ok(_) => stored.push(key),
                Err(error) => {
                    prop_assert_eq!(error.capacity, 2);
                    prop_assert!(filter == before);
                }
            }
            prop_assert!(filter.ledger.overflow.len() <= 2);
        }
        prop_assert!(stored.iter().all(|&key| filter.contains(key)));
        let mut up_to_refused = filter_of(&layout);
        let refused = keys.iter().any(|&key| up_to_refused.insert(key).is_err());
        let mut by_batch = filter_of(&layout);
        for threads in [1, 2, 3] {
            by_batch = filter_of(&layout);
            let is_err = by_batch.insert_batch(&keys, threads).is_err();
            prop_assert!(by_batch.ledger.overflow.len() <= 2);
            // A multiset's list has more or fewer different entries, depending on the order of equal keys.
            prop_assert!(multiset || is_err == refused);
            prop_assert!(multiset || by_batch == up_to_refused);
        }
        let found = |filter: &Fingerprints| keys.iter().filter(|&&key| filter.contains(key)).count();
        prop_assert!(refused || multiset || found(&by_batch) == keys.len());
        let mut merged = filter.clone();
        let before = merged.clone();
        match merged.merge(&by_batch) {
            Ok(()) => prop_assert!(found(&merged) >= found(&by_batch).max(found(&filter))),
            Err(_) => prop_assert!(merged == before),
        }
    }
}

/// One key a million times costs a few slots.
#[test]
fn a_key_inserted_often_is_counted() {
    let blocks = Blocks::Fingerprint { slots: 48, lists: 72, remainder_bits: 8 };
    let overflow = Overflow { capacity: 10, when_full: WhenFull::Refuse };
    let layout = Layout::fingerprints(blocks, &[20, 2]).unwrap();
    let mut filter = filter_of(&layout.with_overflow(overflow).with_removal());
    let key = KeyHash::from_u64(7);
    for _ in 0..1_000_000 {
        assert_eq!(filter.insert(key), Ok(Insertion::New));
    }
    assert_eq!((filter.ledger.elements, filter.ledger.overflow.len()), (1_000_000, 1));
    for _ in 0..1_000_000 {
        assert!(filter.contains(key));
        filter.remove(key).unwrap();
    }
    assert!(!filter.contains(key) && filter.remove(key).is_err());
}

/// Threads that insert at once write the same words as one, and find what has been inserted.
#[cfg(all(feature = "std", target_has_atomic = "64", not(loom)))]
#[test]
fn threads_write_the_words_of_one() {
    let blocks = Blocks::Fingerprint { slots: 45, lists: 54, remainder_bits: 9 };
    let overflow = Overflow { capacity: 2_000, when_full: WhenFull::Refuse };
    let layout = Layout::fingerprints(blocks, &[380, 50, 8, 2]).unwrap().with_overflow(overflow);
    let keys = hashes(&(0..20_000).collect::<Vec<_>>());
    let mut expected = filter_of(&layout);
    expected.insert_batch(&keys, 1).unwrap();
    let shared = filter_of(&layout).converted(shared::share);
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (shared, keys) = (&shared, &keys);
            scope.spawn(move || {
                // Half of the keys of each thread are also those of another.
                let own = keys.iter().skip(worker * 4_000).take(8_000);
                for (number, &key) in own.enumerate() {
                    shared.insert(key).unwrap();
                    let earlier = keys[worker * 4_000 + number / 2];
                    assert!(shared.contains(key) && shared.contains(earlier));
                }
            });
        }
    });
    let filter = shared.converted(shared::own);
    assert!(filter == expected);
    assert!(!expected.ledger.overflow.is_empty());
}
