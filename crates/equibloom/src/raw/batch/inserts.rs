//! Batch inserts.
//!
//! Inserts run in order, because each depends on the previous ones. But their blocks can be prefetched: the
//! first candidate at once, the second when the first is cached and proves to be full.

use crate::block::isa::Nearness;
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::placement::Choose;
use crate::raw::Balanced;
use crate::raw::balanced::Plan;

/// How many inserts ahead the first and the second candidate are prefetched.
const FAR: usize = 32;
const NEAR: usize = 12;

impl<R: Choose> Balanced<R> {
    /// Inserts keys as if one by one, with up to `threads` threads; returns how many were new.
    pub(in crate::raw) fn insert_batch(
        &mut self,
        keys: &[KeyHash],
        threads: usize,
    ) -> Result<u64, FullError> {
        #[cfg(feature = "std")]
        return self.insert_by_threads(keys, threads);
        #[cfg(not(feature = "std"))]
        {
            let _ = threads;
            self.insert_one_by_one(keys)
        }
    }

    /// Inserts keys in order; returns how many were new.
    pub(in crate::raw) fn insert_one_by_one(&mut self, keys: &[KeyHash]) -> Result<u64, FullError> {
        for &key in keys.iter().take(FAR) {
            self.prefetch_first(key);
        }
        let mut new = 0;
        for (index, &key) in keys.iter().enumerate() {
            if let Some(&ahead) = keys.get(index + FAR) {
                self.prefetch_first(ahead);
            }
            if let Some(&ahead) = keys.get(index + NEAR) {
                self.prefetch_second(ahead);
            }
            let insertion = if R::REJECTS {
                self.inserts.insert(self, key)
            } else {
                // All candidates must be compared: the shortcut for the first block does not apply.
                self.inserts.place(self, key)
            };
            new += u64::from(insertion?.is_new());
        }
        Ok(new)
    }

    /// Prefetches the first candidate.
    fn prefetch_first(&self, key: KeyHash) {
        let Plan { shape, levels, .. } = &self.plan;
        shape.prefetch(&self.words, levels.first_block(key), Nearness::First);
    }

    /// Prefetches the second candidate if the first, already cached, is full, or if both are compared.
    fn prefetch_second(&self, key: KeyHash) {
        let Plan { shape, levels, rule, .. } = &self.plan;
        let Some(&level) = levels.as_slice().get(1) else { return };
        let load = || shape.load(&self.words, levels.first_block(key));
        if !R::REJECTS || !rule.admits(load(), key, 0) {
            shape.prefetch(&self.words, level.block_of(key.candidate(1)), Nearness::First);
        }
    }
}
