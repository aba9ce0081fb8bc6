//! The power of two choices: the less loaded candidate takes the key.

use super::{Candidates, Lead, Placement, Rule, Stop, least_loaded};
use crate::block::{BlockIndex, BlockView};
use crate::hashing::KeyHash;
use crate::observer::Observer;

/// Reads all candidates and takes the one with the smallest load, the first of equals. No key is
/// ever turned away, and no block proves absence: a lookup reads on until it finds the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeastLoaded;

impl Rule for LeastLoaded {
    const REJECTS: bool = false;

    #[inline(always)]
    fn place<B: BlockView, L: Lead, O: Observer>(
        &self,
        blocks: &B,
        candidates: &Candidates<L>,
        key: KeyHash,
        observer: &mut O,
    ) -> Placement {
        let choices = candidates.choices(key);
        for probe in 0..choices {
            observer.block_read();
            if blocks.test(candidates.block(key, probe), key) {
                return Placement::Present;
            }
        }
        // With one candidate there is nothing to compare, and no load to read.
        let block = if choices == 1 {
            candidates.block(key, 0)
        } else {
            least_loaded(blocks, candidates, key)
        };
        Placement::Admitted { block, reads: choices as u32 }
    }

    #[inline(always)]
    fn goes_on<B: BlockView>(&self, _: &B, _: KeyHash, _: usize, _: Stop) -> bool {
        true
    }

    #[inline(always)]
    fn looks_further<B: BlockView>(&self, _: &B, _: KeyHash, _: usize, _: BlockIndex) -> bool {
        true
    }

    fn passing_probability(&self, _load: u32) -> f64 {
        1.0
    }
}
