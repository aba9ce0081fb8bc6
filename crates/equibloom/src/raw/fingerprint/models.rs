//! Models of shared filters under every interleaving: `--cfg loom`.

use alloc::sync::Arc;
use alloc::vec::Vec;

use loom::model::Builder;
use loom::thread;

use super::Fingerprints;
use super::tests::{filter_of, hashes};
use crate::hashing::KeyHash;
use crate::raw::shared;
use crate::storage::Words;
use equibloom_layout::{Blocks, Layout, Overflow, WhenFull};

/// One block with `slots` slots in each of `levels` subtables.
fn filter(slots: u32, levels: usize) -> Fingerprints {
    let blocks = Blocks::Fingerprint { slots, lists: 2, remainder_bits: 8 };
    let overflow = Overflow { capacity: 4, when_full: WhenFull::Refuse };
    filter_of(&Layout::fingerprints(blocks, &[1; 4][..levels]).unwrap().with_overflow(overflow))
}

/// Keys in ascending order of their bytes.
fn keys(count: u64) -> Vec<KeyHash> {
    let mut keys = hashes(&(0..count).collect::<Vec<_>>());
    keys.sort_unstable_by_key(|key| key.candidate(0) as u8);
    keys
}

/// Checks every execution with at most this many preemptions besides waits, or every execution if `None`. (The checker was seen to skip
/// interleavings of the main thread: everything relevant runs in spawned threads.)
fn check(interruptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = interruptions;
    builder.max_branches = 10_000;
    builder.check(model);
}

/// One thread for each list of keys inserts them, one more looks for keys that are there; returns the filter
/// after them.
fn run(filter: Fingerprints, inserts: &[&[KeyHash]], lookups: &[KeyHash]) -> Fingerprints {
    let shared = Arc::new(filter.converted(shared::share));
    let insert = |keys: &[KeyHash]| {
        let (shared, keys) = (shared.clone(), keys.to_vec());
        thread::spawn(move || {
            for key in keys {
                shared.insert(key).unwrap();
            }
        })
    };
    let mut workers: Vec<_> = inserts.iter().map(|keys| insert(keys)).collect();
    if !lookups.is_empty() {
        let (shared, keys) = (shared.clone(), lookups.to_vec());
        workers.push(thread::spawn(move || {
            assert!(keys.into_iter().all(|key| shared.contains(key)), "missed while entries move");
        }));
    }
    for worker in workers {
        worker.join().unwrap();
    }
    Arc::into_inner(shared).unwrap().converted(shared::own)
}

/// A key moves on while it is looked for: to the list, or to the second block.
#[test]
fn a_key_that_moves_on_is_found() {
    for levels in [1, 2] {
        check(Some(2), move || {
            let keys = keys(2);
            let mut filter = filter(1, levels);
            filter.insert(keys[0]).unwrap();
            let filter = run(filter, &[&keys[1..]], &keys[..1]);
            assert!(keys.iter().all(|&key| filter.contains(key)));
        });
    }
}

/// A key moves on while the filter is copied: to the list, or to the second block.
#[test]
fn a_key_that_moves_on_is_in_a_snapshot() {
    for levels in [1, 2] {
        check(Some(2), move || {
            let keys = keys(2);
            let mut filter = filter(1, levels);
            filter.insert(keys[0]).unwrap();
            let shared = Arc::new(filter.converted(shared::share));
            let insert = {
                let (shared, key) = (shared.clone(), keys[1]);
                thread::spawn(move || assert!(shared.insert(key).is_ok()))
            };
            let copy = {
                let (shared, key) = (shared.clone(), keys[0]);
                thread::spawn(move || {
                    let mut words = Words::zeroed(shared.words.atomics().len() as u64).unwrap();
                    shared.copy_blocks(&mut words);
                    let Fingerprints { plan, ledger, isa, .. } = &*shared;
                    let copy = Fingerprints::new(*plan, words, ledger.snapshot(), *isa);
                    assert!(copy.contains(key), "missed while it moved");
                })
            };
            insert.join().unwrap();
            copy.join().unwrap();
        });
    }
}

/// A key moves through the second block, while another one does.
#[test]
fn a_key_that_moves_twice_is_found() {
    check(Some(1), || {
        let keys = keys(3);
        let mut filter = filter(1, 2);
        filter.insert(keys[0]).unwrap();
        run(filter, &[&keys[1..]], &keys[..1]);
    });
}

/// Two threads displace entries of the same blocks; one form comes out.
#[test]
fn two_threads_that_displace_entries_lose_none() {
    check(None, || {
        let keys = keys(3);
        let mut expected = filter(1, 2);
        keys.iter().for_each(|&key| assert!(expected.insert(key).is_ok()));
        let mut filter = filter(1, 2);
        filter.insert(keys[1]).unwrap();
        let filter = run(filter, &[&keys[2..], &keys[..1]], &[]);
        assert!(keys.iter().all(|&key| filter.contains(key)));
        assert!(filter == expected);
    });
}
