//! Inserts.
//!
//! They have to come one after the other, because each may find what the one before it left. But
//! their blocks can be asked for in time, the first candidate's by the key alone, the second one's when
//! the first has arrived and proves to be full.

use crate::block::simd::{Machine, Nearness, Operation};
use crate::block::{BlockArray, On};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::placement::Choose;
use crate::raw::Balanced;

/// How many inserts ahead a key's first block is asked for, and its second.
const FAR: usize = 32;
const NEAR: usize = 12;

/// A batch of inserts.
pub(in crate::raw) struct InsertBatch<'a, F> {
    pub(in crate::raw) filter: &'a mut F,
    pub(in crate::raw) keys: &'a [KeyHash],
}

impl<R: Choose, B: BlockArray> Operation for InsertBatch<'_, Balanced<R, B>> {
    type Output = Result<u64, FullError>;

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) -> Self::Output {
        let Self { filter, keys } = self;
        filter.insert_batch_on(machine, keys)
    }
}

impl<R: Choose, B: BlockArray> Balanced<R, B> {
    #[inline(always)]
    fn insert_batch_on<M: Machine>(
        &mut self,
        machine: M,
        keys: &[KeyHash],
    ) -> Result<u64, FullError> {
        for &key in keys.iter().take(FAR) {
            self.ask_for_first(key);
        }
        let mut new = 0;
        for (index, &key) in keys.iter().enumerate() {
            if let Some(&ahead) = keys.get(index + FAR) {
                self.ask_for_first(ahead);
            }
            if let Some(&ahead) = keys.get(index + NEAR) {
                self.ask_for_second(machine, ahead);
            }
            new += u64::from(self.insert_on(machine, key, &mut ())?.is_new());
        }
        Ok(new)
    }

    /// Asks for the block that the key tries first.
    #[inline(always)]
    fn ask_for_first(&self, key: KeyHash) {
        self.blocks.prefetch(self.candidates.first_block(key), Nearness::First);
    }

    /// Asks for the block that the key tries second, if the first, which has arrived, is full.
    #[inline(always)]
    fn ask_for_second<M: Machine>(&self, machine: M, key: KeyHash) {
        let Some(&level) = self.candidates.as_slice().get(1) else { return };
        let view = On { blocks: &self.blocks, machine };
        let first = self.candidates.first_block(key);
        if self.rule.insert_continues(&view, key, 0, first) {
            let stop = self.candidates.probe_at(0, self.blocks.seen(key), first);
            self.blocks.prefetch(level.block_of(stop.onward), Nearness::First);
        }
    }
}
