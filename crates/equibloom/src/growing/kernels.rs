//! Lookups and inserts, compiled for each instruction set.

use super::levels::{FirstBlock, Found};
use super::moving::Piece;
use super::prefix::Prefix;
use super::table::{GrowthWork, Table};
use crate::block::isa::{Target, kernel_table};
use crate::error::BuildError;
use crate::hashing::KeyHash;
use crate::raw::Insertion;

kernel_table! {
    /// The steps of lookups and inserts.
    pub(super) struct Kernels[] [] {
        fn contains(table: &Table, key: Prefix) -> bool;
        fn look_further(table: &Table, key: Prefix) -> bool;
        fn contains_word(table: &Table, keys: &[KeyHash]) -> u64;
        fn insert(table: &mut Table, key: Prefix) -> Insertion;
        fn insert_further(table: &mut Table, key: Prefix) -> Insertion;
        fn move_block(table: &mut Table, work: &mut GrowthWork) -> Result<(), BuildError>;
        fn gather(table: &mut Table, source: &Table, piece: &Piece) -> ();
        fn fill_block(table: &mut Table, block: u64) -> ();
    }
}

/// Whether a string is a beginning of the key: mostly decided by the first block.
#[inline(always)]
fn contains<T: Target>(t: T, table: &Table, key: Prefix) -> bool {
    match table.levels_of(key).find_first(t, key) {
        Found::Yes => true,
        Found::No => false,
        Found::AskList => table.kernels.look_further(table, key),
    }
}

/// Tests the other blocks of a key, and the list.
#[inline(always)]
fn look_further<T: Target>(t: T, table: &Table, key: Prefix) -> bool {
    table.find(t, key, 1, &mut ())
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
    if table.removable {
        return table.kernels.insert_further(table, key);
    }
    match table.levels_of_mut(key).store_first(t, key) {
        FirstBlock::Stored => {
            table.strings += 1;
            table.elements += 1;
            Insertion::New
        }
        FirstBlock::Holds => Insertion::AlreadyPresent,
        FirstBlock::Unclear => table.kernels.insert_further(table, key),
    }
}

/// Inserts a key that the first block does not take, or one of a removable filter.
#[inline(always)]
fn insert_further<T: Target>(t: T, table: &mut Table, key: Prefix) -> Insertion {
    if !table.removable && table.find(t, key, 1, &mut ()) {
        return Insertion::AlreadyPresent;
    }
    table.store(t, key);
    table.elements += 1;
    Insertion::New
}

/// Fills the next block while strings move.
#[inline(always)]
fn move_block<T: Target>(t: T, table: &mut Table, work: &mut GrowthWork) -> Result<(), BuildError> {
    table.move_block(t, work)
}

/// Copies some lists of another table.
#[inline(always)]
fn gather<T: Target>(t: T, table: &mut Table, source: &Table, piece: &Piece) {
    table.gather(t, source, piece);
}

/// Fills a block with what was copied.
#[inline(always)]
fn fill_block<T: Target>(t: T, table: &mut Table, block: u64) {
    table.fill_block(t, block);
}
