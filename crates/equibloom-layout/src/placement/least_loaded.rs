//! The power of two choices: the least loaded candidate takes the key.

use super::{BlockView, Choice, Choose, Levels, Observer, Probe, least_loaded};
use crate::hash::KeyHash;

/// Reads all candidates and chooses the one with the smallest load, the first of equals. No key is
/// rejected, and no block proves absence: a lookup continues until it finds the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeastLoaded;

impl Choose for LeastLoaded {
    const REJECTS: bool = false;

    #[inline(always)]
    fn choose<B: BlockView, O: Observer>(
        &self,
        blocks: &B,
        levels: &Levels,
        key: KeyHash,
        observer: &mut O,
    ) -> Choice {
        let choices = levels.choices(key);
        for number in 0..choices {
            observer.block_read();
            if blocks.test(levels.block(key, number), key) {
                return Choice::Present;
            }
        }
        // With one candidate no load is needed.
        let block =
            if choices == 1 { levels.block(key, 0) } else { least_loaded(blocks, levels, key) };
        Choice::Admitted { block, reads: choices as u32 }
    }

    #[inline(always)]
    fn lookup_continues<B: BlockView>(&self, _: &B, _: KeyHash, _: usize, _: Probe) -> bool {
        true
    }

    #[inline(always)]
    fn admits(&self, _load: u32, _key: KeyHash, _number: usize) -> bool {
        true
    }

    fn continuing_probability(&self, _load: u32) -> f64 {
        1.0
    }
}
