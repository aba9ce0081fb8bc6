//! Shared filters: one thread writes the same words, many threads give the right answers.
#![cfg(all(feature = "std", target_has_atomic = "64"))]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod designs;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use designs::{cases, fingerprints, keys, parameters};
use equibloom::{
    BlockKind, Blocks, Design, Filter, KeyHash, Layout, Overflow, Parameters, Rule, Share,
    SharedFilter, StableKey, WhenFull,
};
use proptest::prelude::*;

fn shared<K: StableKey>(parameters: &Parameters) -> SharedFilter<K> {
    Filter::new(parameters).unwrap().into_shared().unwrap()
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn one_thread_writes_the_words_of_the_filter_that_is_not_shared(
        parameters in prop_oneof![
            5 => parameters(),
            1 => fingerprints(true)
                .prop_map(|layout| Parameters { keys: 100, seed: 7, design: layout.into() }),
        ],
        keys in keys(),
    ) {
        let mut plain = Filter::new(&parameters).unwrap();
        let mut shared = shared(&parameters);
        for (index, key) in keys.iter().enumerate() {
            prop_assert_eq!(shared.insert(key), plain.insert(key));
            prop_assert_eq!(shared.len(), plain.len());
            // There and back in the middle.
            if index == keys.len() / 2 {
                shared = shared.into_filter().into_shared().unwrap();
            }
        }
        let asked: Vec<u16> = (0..700).collect();
        for key in &asked {
            prop_assert_eq!(shared.contains(key), plain.contains(key));
        }
        let (mut of_shared, mut of_plain) = (Vec::new(), Vec::new());
        shared.contains_batch(&asked, &mut of_shared);
        plain.contains_batch(&asked, &mut of_plain);
        prop_assert_eq!(of_shared, of_plain);
        prop_assert!(shared.into_filter() == plain);
    }

    #[test]
    fn batches_write_the_words_of_single_inserts(
        parameters in parameters(), keys in keys(),
    ) {
        let mut plain = Filter::new(&parameters).unwrap();
        let (by_key, by_hash) = (shared(&parameters), shared(&parameters));
        let expected = keys.iter().try_fold(0, |new, key| {
            plain.insert(key).map(|insertion| new + u64::from(insertion.is_new()))
        });
        prop_assert_eq!(&by_key.insert_batch(&keys), &expected);
        let hashes: Vec<KeyHash> = keys.iter().map(|key| by_hash.hash(key)).collect();
        let by_hashes = hashes.iter().try_fold(0, |new, &hash| {
            by_hash.insert_hash(hash).map(|insertion| new + u64::from(insertion.is_new()))
        });
        prop_assert_eq!(&by_hashes, &expected);
        prop_assert!(by_key.into_filter() == plain);
        prop_assert!(by_hash.into_filter() == plain);
    }
}

const WRITERS: u64 = 3;
const READERS: u64 = 2;

/// Filters of every kind that are full with all keys, with a list that has room for all keys or for few of
/// them.
fn full_filters(keys: u64, when_full: WhenFull) -> Vec<Parameters> {
    let capacity = if when_full == WhenFull::Refuse { keys } else { keys / 100 };
    let overflow = Overflow { capacity, when_full };
    let at = |below, coin| Rule::FirstWithRoom { below, coin: Share::clamped(coin) };
    let budget = |accesses: f64| Some((accesses * keys as f64) as u64);
    let subtables = |count: u64| [count - count.div_ceil(5), count.div_ceil(5)];
    let mut all = vec![
        Design::Classical { bits: keys * 10, hashes: 6 },
        Design::List { overflow, multiset: false },
    ];
    for bits in [64, 256, 512, 1_000] {
        let count = (keys * 12 / u64::from(bits)).max(2);
        let load = (keys / count) as u32;
        let blocks = Blocks::bloom(bits, 5);
        let hinted = blocks.with_hints(if bits == 64 { 3 } else { 12 });
        let rejecting = [
            Layout::single(blocks, count, at(load + 1, 0.5)),
            Layout::sequential(blocks, count, 3, at(load, 0.5)).with_budget(budget(1.2)),
            Layout::multi_level(hinted, &subtables(count), at(load, 0.3)).unwrap(),
        ];
        let layouts = [
            Layout::blocked(blocks, count),
            Layout::two_choice(blocks, count),
            Layout::one_plus_alpha(blocks, count, Share::clamped(0.4)),
        ];
        let rejecting = rejecting.map(|layout| layout.with_overflow(overflow));
        all.extend(layouts.into_iter().chain(rejecting).map(Design::Blocked));
    }
    // The code in one word, in two, and in several; remainders with a byte and without.
    let shapes = [(9, 20, 20), (33, 59, 12), (60, 80, 5), (16, 200, 10)];
    for (slots, lists, remainder_bits) in shapes {
        let count = (keys / u64::from(slots)).max(2);
        let blocks = Blocks::Fingerprint { slots, lists, remainder_bits };
        let [first, second] = subtables(count);
        for sizes in [&[count][..], &[first, second], &[first, second, 1, 1]] {
            let layout = Layout::fingerprints(blocks, sizes).unwrap();
            all.push(layout.with_overflow(overflow).into());
        }
    }
    all.into_iter().map(|design| Parameters { keys, seed: 3, design }).collect()
}

/// Writers insert keys of their own and publish their progress; readers look up published keys. Returns the
/// number of new keys.
fn insert_and_ask(filter: &SharedFilter<u64>, keys: u64) -> u64 {
    let keys_each = keys / WRITERS;
    let published: Vec<AtomicU64> = (0..WRITERS).map(|_| AtomicU64::new(0)).collect();
    let key = |writer: u64, index: u64| index * WRITERS + writer;
    thread::scope(|scope| {
        for reader in 0..READERS {
            let published = &published;
            scope.spawn(move || {
                let mut random = reader;
                let mut done = 0;
                while done < WRITERS {
                    done = 0;
                    for (writer, published) in (0..).zip(published) {
                        let known = published.load(Ordering::Acquire);
                        done += u64::from(known == keys_each);
                        // The newest one, and a random one.
                        random = KeyHash::from_u64(random).candidate(0);
                        for index in [known.checked_sub(1), random.checked_rem(known)] {
                            let Some(index) = index else { continue };
                            let found = filter.contains(&key(writer, index));
                            assert!(found, "{:?} lost {writer}'s {index}", filter.parameters());
                        }
                    }
                }
            });
        }
        let writers = (0..).zip(&published).map(|(writer, published)| {
            scope.spawn(move || {
                let mut new = 0;
                for index in 0..keys_each {
                    let insertion = filter.insert(&key(writer, index)).unwrap();
                    new += u64::from(insertion.is_new());
                    assert!(filter.contains(&key(writer, index)));
                    published.store(index + 1, Ordering::Release);
                }
                new
            })
        });
        let writers: Vec<_> = writers.collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    })
}

#[test]
fn a_published_key_is_found_during_other_inserts() {
    for when_full in [WhenFull::Refuse, WhenFull::Saturate] {
        // Many threads on few blocks, and on many.
        for (keys, rounds) in [(12_000, 1), (240, 20)] {
            for parameters in full_filters(keys, when_full) {
                for _ in 0..rounds {
                    let filter = shared(&parameters);
                    let new = insert_and_ask(&filter, keys);
                    let filter = filter.into_filter();
                    assert!((0..keys).all(|key| filter.contains(&key)), "{parameters:?}");
                    let statistics = filter.statistics();
                    // Fingerprint blocks hold the same, whatever the order; a new key may displace an entry
                    // that meets its equal further on.
                    if parameters.design.block_kind() == Some(BlockKind::Fingerprint) {
                        let mut plain = Filter::new(&parameters).unwrap();
                        plain.try_extend(0..keys).unwrap();
                        // The words of shortened blocks depend on the order.
                        let is_overloaded = statistics.saturated > 0;
                        assert!(filter == plain || is_overloaded, "{parameters:?}");
                        assert!(statistics.elements <= new, "{parameters:?}");
                        continue;
                    }
                    assert_eq!(statistics.elements, new);
                    // Every element is in a block or in the list, once. Blocks without a counter cannot be
                    // counted, and those with one only up to its highest value.
                    let layout = parameters.design.layout();
                    let is_counted = layout.is_some_and(|layout| layout.rule != Rule::LeastLoaded);
                    let loads = statistics.loads();
                    let in_blocks: u64 = loads.iter().zip(0..).map(|(n, load)| n * load).sum();
                    let stored = in_blocks + statistics.overflowed;
                    if is_counted {
                        let unseen = statistics.saturated;
                        assert!(
                            (stored..=stored + unseen).contains(&new),
                            "{new} inserts, but {stored} stored and {unseen} saturated: {parameters:?}"
                        );
                    }
                }
            }
        }
    }
}

/// All threads insert the same keys at the same time: each key is stored, in Bloom blocks perhaps more than
/// once, but usually once.
#[test]
fn threads_that_insert_the_same_keys_lose_none() {
    let keys = 3_000;
    for parameters in full_filters(keys, WhenFull::Refuse) {
        let filter = shared(&parameters);
        thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| {
                    // Keys stored twice may fill a filter, which may then refuse.
                    for key in 0..keys {
                        if filter.insert(&key).is_ok() {
                            assert!(filter.contains(&key), "{parameters:?} lost {key}");
                        }
                    }
                });
            }
        });
        assert!(filter.len() <= WRITERS * keys);
        let filter = filter.into_filter();
        assert!((0..keys).all(|key| filter.contains(&key)), "{parameters:?}");
        if parameters.design.block_kind() == Some(BlockKind::Fingerprint) {
            let mut plain = Filter::new(&parameters).unwrap();
            plain.try_extend(0..keys).unwrap();
            assert!(filter == plain, "{parameters:?}");
        }
    }
}
