//! Copies of a table that grows meanwhile, under every interleaving, by a model checker:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p equibloom --lib sharded::models
//! ```

use alloc::sync::Arc;

use loom::model::Builder;
use loom::thread;

use super::*;

/// Keys of the first shard, in the order of their hashes' numbers.
fn keys() -> impl Iterator<Item = KeyHash> {
    (0..).map(KeyHash::from_u64).filter(|&key| place(key).0 == 0)
}

/// The first shard is about to begin a step. A thread inserts keys, each of which moves two blocks; another one copies
/// the table, and has every key that was there before. (With block numbers of the shard instead of positions in
/// the hash space, keys are lost.)
fn copy_while_growing(steps_before: u32, inserts: usize) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let table = Sharded::of_schedule(Schedule::for_tests(7, 16), false).unwrap();
        let mut keys = keys();
        let mut before = Vec::new();
        let grows = |table: &Sharded| {
            let shard = table.shard(0).read();
            let next = shard.current.geometry.step >= steps_before && shard.previous.is_none();
            next && shard.strings + 1 >= shard.current.geometry.capacity()
        };
        while !grows(&table) {
            let key = keys.next().unwrap();
            table.insert(key).unwrap();
            before.push(key);
        }
        let table = Arc::new(table);
        let later: Vec<_> = keys.take(inserts).collect();
        let writer = {
            let table = table.clone();
            thread::spawn(move || {
                for key in later {
                    table.insert(key).unwrap();
                    assert!(table.contains(key));
                }
            })
        };
        let copier = thread::spawn(move || {
            let copy = table.snapshot().unwrap();
            for &key in &before {
                assert!(copy.contains(Prefix::of_key(key)));
            }
        });
        writer.join().unwrap();
        copier.join().unwrap();
    });
}

#[test]
fn a_copy_has_all_keys_while_lists_are_spread() {
    copy_while_growing(1, 3);
}

#[test]
fn a_copy_has_all_keys_while_lists_double() {
    copy_while_growing(3, 4);
}
