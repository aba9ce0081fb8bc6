//! Lookups and inserts, compiled for each instruction set.

use super::levels::FirstBlock;
use super::prefix::Prefix;
use super::table::Table;
use crate::block::isa::{Target, kernel_table};
use crate::hashing::KeyHash;
use crate::raw::Insertion;

kernel_table! {
    /// The steps of lookups and inserts.
    pub(super) struct Kernels[] [] {
        fn contains(table: &Table, key: Prefix) -> bool;
        fn contains_word(table: &Table, keys: &[KeyHash]) -> u64;
        fn insert(table: &mut Table, key: Prefix) -> Insertion;
    }
}

/// Whether a string is a beginning of the key.
#[inline(always)]
fn contains<T: Target>(t: T, table: &Table, key: Prefix) -> bool {
    table.find(t, key, 0, &mut ())
}

/// Answers for up to 64 keys, the first in the lowest bit.
#[inline(always)]
fn contains_word<T: Target>(t: T, table: &Table, keys: &[KeyHash]) -> u64 {
    (0..64).zip(keys).fold(0, |answers, (bit, &key)| {
        answers | u64::from(contains(t, table, Prefix::of_key(key))) << bit
    })
}

/// Inserts a key: mostly the first block has room, and has sent on nothing.
#[inline(always)]
fn insert<T: Target>(t: T, table: &mut Table, key: Prefix) -> Insertion {
    let stored = match table.removable {
        true => FirstBlock::Unclear,
        false => table.levels_of_mut(key).store_first(t, key),
    };
    match stored {
        FirstBlock::Stored => table.strings += 1,
        FirstBlock::Holds => return Insertion::AlreadyPresent,
        FirstBlock::Unclear => return insert_further(table, key),
    }
    table.elements += 1;
    Insertion::New
}

/// Inserts a key that the first block does not take, or one of a removable filter.
#[cold]
fn insert_further(table: &mut Table, key: Prefix) -> Insertion {
    if !table.removable && table.contains(key) {
        return Insertion::AlreadyPresent;
    }
    table.store(key);
    table.elements += 1;
    Insertion::New
}
