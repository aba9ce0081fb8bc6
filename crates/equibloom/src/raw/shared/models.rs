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

use super::Shared;
use crate::hashing::KeyHash;
use crate::placement::Level;
use crate::raw::Any;
use equibloom_layout::{Blocks, Layout, Overflow, Rule, WhenFull};

/// Checks every execution with at most `interruptions` preemptions besides waits, or every execution if
/// `None`. (The checker was seen to skip interleavings of the main thread: everything relevant runs in
/// spawned threads.)
fn check(interruptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = interruptions;
    builder.check(model);
}

fn filter(layout: Layout) -> Shared {
    Shared::share(Any::new(&layout.into()).unwrap())
}

/// Two levels of one Bloom block each, with threshold `below`.
fn bloom(below: u32, hints: u32, when_full: WhenFull) -> Layout {
    Layout::multi_level(Blocks::Bloom { bits: 64, hashes: 3, hints }, &[1, 1], Rule::below(below))
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
        let filter = filter.into_own();
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
