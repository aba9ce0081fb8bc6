//! Inserts.
//!
//! They have to come one after the other, because each may find what the one before it left. But
//! their blocks can be asked for in time, the first candidate's by the key alone, the second one's when
//! the first has arrived and proves to be full.

use crate::block::isa::{Nearness, Portable};
use crate::block::{BlockArray, On};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::placement::Choose;
use crate::raw::Balanced;
use crate::raw::insert::{Insert, Place};

/// How many inserts ahead a key's first block is asked for, and its second.
const FAR: usize = 32;
const NEAR: usize = 12;

impl<R: Choose, B: BlockArray> Balanced<R, B> {
    /// Inserts keys in order; how many were new.
    pub(in crate::raw) fn insert_one_by_one(&mut self, keys: &[KeyHash]) -> Result<u64, FullError> {
        for &key in keys.iter().take(FAR) {
            self.ask_for_first(key);
        }
        let mut new = 0;
        for (index, key) in keys.iter().enumerate() {
            if let Some(&ahead) = keys.get(index + FAR) {
                self.ask_for_first(ahead);
            }
            if let Some(&ahead) = keys.get(index + NEAR) {
                self.ask_for_second(ahead);
            }
            let insertion = if R::REJECTS {
                self.engine.run(Insert { filter: self, key })
            } else {
                // All candidates have to be seen, so that no first block is the place of most keys.
                self.engine.run(Place { filter: self, key })
            };
            new += u64::from(insertion?.is_new());
        }
        Ok(new)
    }

    /// Asks for the block that the key tries first.
    fn ask_for_first(&self, key: KeyHash) {
        self.blocks.prefetch(self.candidates.first_block(key), Nearness::First);
    }

    /// Asks for the block that the key tries second, if the first, which has arrived, is full.
    fn ask_for_second(&self, key: KeyHash) {
        let Some(&level) = self.candidates.as_slice().get(1) else { return };
        let view = On { blocks: &self.blocks, isa: Portable };
        let first = self.candidates.first_block(key);
        if self.rule.insert_continues(&view, key, 0, first) {
            let probe = self.candidates.probe_at(0, self.blocks.reduce(key), first);
            self.blocks.prefetch(level.block_of(probe.onward), Nearness::First);
        }
    }
}
