//! The protocols under every interleaving and every reordering that the memory model allows, by a model
//! checker:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p equibloom --lib \
//!     --no-default-features --features std shared::models
//! ```

use alloc::sync::Arc;
use alloc::vec::Vec;

use loom::model::Builder;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use super::{Shared, SharedBlocks, SharedRaw};
use crate::block::FingerprintShape;
use crate::block::isa::{Line, Portable};
use crate::block::{BlockArray, BlockIndex, FingerprintBlocks};
use crate::hashing::KeyHash;
use crate::placement::Level;
use crate::raw::Any;
use crate::storage::{SharedWords, Words};
use equibloom_layout::{Blocks, Layout, Overflow, Rule, WhenFull};

/// Checks every execution with at most `interruptions` preemptions besides waits, or every execution if
/// `None`. (The checker was seen to skip interleavings of the main thread: everything relevant runs in
/// spawned threads.)
fn check(interruptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = interruptions;
    builder.check(model);
}

const BLOCK: BlockIndex = BlockIndex(0);

/// One block with a key in this list. Its code lies in three words, from the last two bits of the first to
/// the first ones of the third, where the lock is.
fn one_block(list: u32) -> FingerprintBlocks {
    let shape = FingerprintShape { slots: 3, lists: 68, remainder_bits: 8, hints: 62 };
    let mut blocks = FingerprintBlocks::allocate(&shape, 1);
    assert_eq!(blocks.code_words(), 0..3);
    assert_eq!(blocks.lock(), (2, 1 << 4));
    blocks.add(Portable, BLOCK, key(&blocks, list, 0xaa));
    blocks
}

/// A key with this fingerprint, in such blocks.
fn key(blocks: &FingerprintBlocks, list: u32, remainder: u64) -> KeyHash {
    let of_list = ((u128::from(list) << 64) / 68) as u64 + (1 << 30);
    let key = KeyHash::from(u128::from(of_list >> 8 << 8 | remainder));
    blocks.reduce(key)
}

/// The words of a block with a key in this list after these inserts.
fn after(list: u32, inserts: &[KeyHash]) -> Line {
    let mut blocks = one_block(list);
    inserts.iter().for_each(|&key| blocks.add(Portable, BLOCK, key));
    *blocks.storage().line(0)
}

/// The blocks, and their words separately.
fn shared(mut blocks: FingerprintBlocks) -> Arc<(FingerprintBlocks, SharedWords)> {
    let words = core::mem::replace(blocks.storage_mut(), Words::none());
    Arc::new((blocks, SharedWords::new(words)))
}

/// A block with a key in one list gets keys in others, one after the other, while a reader looks at it.
/// The words of the code that the first of these inserts changes are given as well.
fn a_reader_beside_a_writer(list: u32, inserts: &'static [(u32, u64)], changed: &'static [usize]) {
    check(None, move || {
        let blocks = one_block(list);
        let inserts: Vec<KeyHash> =
            inserts.iter().map(|&(list, remainder)| key(&blocks, list, remainder)).collect();
        let states: Vec<Line> =
            (0..=inserts.len()).map(|count| after(list, &inserts[..count])).collect();
        let changes = |&word: &usize| states[0][word] != states[1][word];
        assert!((0..3).filter(changes).eq(changed.iter().copied()));
        let last = after(list, &inserts);
        let shared = shared(blocks);
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (blocks, words) = &*shared;
                for key in inserts {
                    assert!(blocks.add_if(Portable, words, BLOCK, key, |load| load < 3));
                }
            })
        };
        let reader = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (blocks, words) = &*shared;
                let snapshot = blocks.snapshot(words.line(0));
                assert!(states.contains(&snapshot), "{snapshot:x?}");
                // A load is never less than what was there before.
                assert!(blocks.shared_load(words, BLOCK) >= blocks.load_of(&snapshot));
            })
        };
        reader.join().unwrap();
        writer.join().unwrap();
        let (blocks, words) = &*shared;
        assert_eq!(blocks.snapshot(words.line(0)), last);
    });
}

#[test]
fn a_reader_sees_a_block_as_it_was_at_one_moment() {
    // The one of list 65 is the last bit of the second word, and moves to the third.
    a_reader_beside_a_writer(65, &[(0, 0x11)], &[0, 1, 2]);
    // The word with the lock stays as it was: it does not tell that something was written.
    a_reader_beside_a_writer(1, &[(0, 0x11)], &[0, 1]);
    a_reader_beside_a_writer(40, &[(30, 0x11)], &[1]);
}

/// Two keys, one place: one of them gets it. Meanwhile a third sets a hint in the word that the others
/// write to.
#[test]
fn the_last_slot_is_taken_once_and_no_hint_is_lost() {
    check(Some(3), || {
        let mut blocks = one_block(65);
        let keys = [key(&blocks, 0, 0x11), key(&blocks, 65, 0x22)];
        blocks.add(Portable, BLOCK, key(&blocks, 1, 0x33));
        let probe = crate::placement::Probe { block: BLOCK, hint: 0xffff, onward: 0 };
        let shared = shared(blocks);
        let writers = keys.map(|key| {
            let shared = shared.clone();
            thread::spawn(move || {
                let (blocks, words) = &*shared;
                let added = blocks.add_if(Portable, words, BLOCK, key, |load| load < 3);
                assert!(!added || blocks.shared_test(Portable, words, BLOCK, key));
                // A rejected key finds the block full.
                assert!(added || blocks.shared_load(words, BLOCK) == 3);
                added
            })
        });
        let (blocks, words) = &*shared;
        blocks.shared_set_hint(words, probe);
        let added = writers.map(|writer| writer.join().unwrap());
        assert!(added[0] != added[1]);
        assert_eq!(blocks.shared_hint_is_set(words, probe), Some(true));
        for (key, added) in keys.into_iter().zip(added) {
            assert_eq!(blocks.shared_test(Portable, words, BLOCK, key), added);
        }
        assert_eq!(blocks.shared_load(words, BLOCK), 3);
    });
}

fn filter(layout: Layout) -> Shared {
    Shared::new(Any::new(&layout.into()).unwrap())
}

/// Two levels of one Bloom block each, with threshold `below`.
fn bloom(below: u32, hints: u32, when_full: WhenFull) -> Layout {
    Layout::multi_level(Blocks::Bloom { bits: 64, hashes: 3, hints }, &[1, 1], Rule::below(below))
        .unwrap()
        .with_overflow(Overflow { capacity: 1, when_full })
}

/// The same with fingerprint blocks.
fn fingerprints(slots: u32, hints: u32, when_full: WhenFull) -> Layout {
    let blocks = Blocks::Fingerprint { slots, lists: 3, remainder_bits: 8, hints };
    Layout::multi_level(blocks, &[1, 1], Rule::below(slots))
        .unwrap()
        .with_overflow(Overflow { capacity: 1, when_full })
}

/// Keys that none of these filters takes for each other.
fn keys() -> Vec<KeyHash> {
    (1..4)
        .map(|key| KeyHash::from(u128::from(key * 0x1234_5678_9abc_def1_u64) * 0x1_0001))
        .collect()
}

/// One key is present; two writers insert, and one of them publishes its key; a reader looks up the keys
/// that it knows of. At the end all are present.
fn writers_and_a_reader(interruptions: usize, layout: Layout) {
    check(Some(interruptions), move || {
        let keys = keys();
        let shared = Arc::new((filter(layout), AtomicBool::new(false)));
        shared.0.insert(keys[0]).unwrap();
        let publisher = {
            let (shared, key) = (shared.clone(), keys[1]);
            thread::spawn(move || {
                assert!(shared.0.insert(key).unwrap().is_new());
                shared.1.store(true, Ordering::Release);
            })
        };
        let writer = {
            let (shared, key) = (shared.clone(), keys[2]);
            thread::spawn(move || {
                assert!(shared.0.insert(key).unwrap().is_new());
                assert!(shared.0.contains(key));
            })
        };
        let is_published = shared.1.load(Ordering::Acquire);
        assert!(!is_published || shared.0.contains(keys[1]));
        assert!(shared.0.contains(keys[0]));
        publisher.join().unwrap();
        writer.join().unwrap();
        assert!(keys.iter().all(|&key| shared.0.contains(key)));
        assert_eq!(shared.0.elements(), 3);
        let Some((filter, _)) = Arc::into_inner(shared) else { panic!("still shared") };
        let filter = filter.into_any();
        assert!(keys.iter().all(|&key| filter.contains(key)));
        let statistics = filter.statistics();
        let in_blocks: u64 = statistics.loads().iter().zip(0..).map(|(n, load)| n * load).sum();
        assert_eq!(in_blocks + statistics.overflowed + statistics.saturated, 3);
    });
}

#[test]
fn no_insert_into_bloom_blocks_is_lost() {
    // One slot in each block: the second key continues, the third overflows.
    for hints in [0, 2] {
        writers_and_a_reader(2, bloom(1, hints, WhenFull::Refuse));
    }
    // Two places in each block, and the second in the first block is fought for.
    writers_and_a_reader(2, bloom(2, 0, WhenFull::Refuse));
}

#[test]
fn no_insert_into_fingerprint_blocks_is_lost() {
    for hints in [0, 2] {
        writers_and_a_reader(2, fingerprints(1, hints, WhenFull::Refuse));
    }
    writers_and_a_reader(2, fingerprints(2, 0, WhenFull::Refuse));
}

/// Two blocks with threshold `below`, two choices, and a budget.
fn with_budget(below: u32, budget: u64) -> Layout {
    Layout::sequential(Blocks::bloom(64, 3), 2, 2, Rule::below(below))
        .with_budget(Some(budget))
        .with_overflow(Overflow { capacity: 3, when_full: WhenFull::Refuse })
}

/// The budget is spent by one key: from the second on, keys overflow although blocks have room, and the
/// lookups have to know.
#[test]
fn lookups_learn_that_the_budget_is_spent() {
    writers_and_a_reader(2, with_budget(2, 1));
}

/// Two threads insert x and one inserts y, into a first block with room for one key. Two of them reserve the two
/// accesses, so the third key overflows. Then one of the two takes the place, and the other gives its access
/// back. The third key has to be found in the list, although its second block has room.
#[test]
fn a_key_that_could_not_pay_is_found_after_a_refund() {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(4);
    // All executions take many minutes. The first lost key was found after a tenth of a second.
    builder.max_permutations = Some(100_000);
    builder.check(|| {
        let filter = Arc::new(filter(with_budget(1, 2)));
        let blocks = Level { offset: 0, size: 2 };
        let leads = |key: &KeyHash| [0, 1].map(|number| blocks.block_of(key.candidate(number)).0);
        let mut keys = (0..).map(KeyHash::from_u64).filter(|key| leads(key) == [0, 1]);
        let (x, y) = (keys.next().unwrap(), keys.next().unwrap());
        let writers = [x, x, y].map(|key| {
            let filter = filter.clone();
            thread::spawn(move || {
                filter.insert(key).unwrap();
                assert!(filter.contains(key));
            })
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        assert!(filter.contains(x) && filter.contains(y));
    });
}
