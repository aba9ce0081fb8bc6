//! Batch inserts.
//!
//! Inserts run in order, because each depends on the previous ones. But their blocks can be prefetched: the
//! first candidate at once, the second when the first is cached and proves to be full.

use crate::block::isa::{Nearness, Portable};
use crate::block::{BlockArray, On};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::placement::Choose;
use crate::raw::Balanced;
use crate::raw::insert::{Insert, Place};

/// How many inserts ahead the first and the second candidate are prefetched.
const FAR: usize = 32;
const NEAR: usize = 12;

impl<R: Choose, B: BlockArray> Balanced<R, B> {
    /// Inserts keys in order; returns how many were new.
    pub(in crate::raw) fn insert_one_by_one(&mut self, keys: &[KeyHash]) -> Result<u64, FullError> {
        for &key in keys.iter().take(FAR) {
            self.prefetch_first(key);
        }
        let mut new = 0;
        for (index, key) in keys.iter().enumerate() {
            if let Some(&ahead) = keys.get(index + FAR) {
                self.prefetch_first(ahead);
            }
            if let Some(&ahead) = keys.get(index + NEAR) {
                self.prefetch_second(ahead);
            }
            let insertion = if R::REJECTS {
                self.engine.run(Insert { filter: self, key })
            } else {
                // All candidates must be compared: the shortcut for the first block does not apply.
                self.engine.run(Place { filter: self, key })
            };
            new += u64::from(insertion?.is_new());
        }
        Ok(new)
    }

    /// Prefetches the first candidate.
    fn prefetch_first(&self, key: KeyHash) {
        self.blocks.prefetch(self.candidates.first_block(key), Nearness::First);
    }

    /// Prefetches the second candidate if the first, already cached, is full.
    fn prefetch_second(&self, key: KeyHash) {
        let Some(&level) = self.candidates.as_slice().get(1) else { return };
        let view = On { blocks: &self.blocks, isa: Portable };
        let first = self.candidates.first_block(key);
        if self.rule.insert_continues(&view, key, 0, first) {
            let probe = self.candidates.probe_at(0, self.blocks.reduce(key), first);
            self.blocks.prefetch(level.block_of(probe.onward), Nearness::First);
        }
    }
}
