//! The threshold rule: the first candidate with room takes the key.

use super::{Candidates, Coin, Placement, Rule, Search};
use crate::block::BlockView;
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::parameters::Threshold;

/// Tries the candidates in order. A block below the threshold takes the key; a block at the
/// threshold takes it if the coin of this key and probe says so; the others turn it away.
///
/// The papers' lookup goes on while the load is at least the threshold. Because the coin here is a
/// function of the key and the probe, a lookup can throw it again: a block at exactly the threshold
/// proves absence for the keys that it would have taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstWithRoom {
    threshold: u32,
    at_threshold: Coin,
}

impl FirstWithRoom {
    pub(crate) fn new(threshold: &Threshold) -> Self {
        Self { threshold: threshold.load, at_threshold: Coin::new(threshold.probability) }
    }

    /// Whether a block of this load takes the key at this probe.
    #[inline]
    fn admits(&self, load: u32, key: KeyHash, probe: usize) -> bool {
        load < self.threshold
            || (load == self.threshold && self.at_threshold.says_yes(key.coin(probe)))
    }
}

impl Rule for FirstWithRoom {
    const REJECTS: bool = true;

    #[inline]
    fn place<B: BlockView, O: Observer>(
        &self,
        blocks: &B,
        candidates: &Candidates,
        key: KeyHash,
        observer: &mut O,
    ) -> Placement {
        let choices = candidates.choices(key);
        for probe in 0..choices {
            let block = candidates.block(key, probe);
            observer.block_read();
            if blocks.test(block, key) {
                return Placement::Present;
            }
            if self.admits(blocks.load(block), key, probe) {
                return Placement::Admitted { block, reads: probe as u32 + 1 };
            }
        }
        Placement::Rejected { reads: choices as u32 }
    }

    /// The same walk: what would admit the key proves its absence.
    #[inline(always)]
    fn search<B: BlockView, O: Observer>(
        &self,
        blocks: &B,
        candidates: &Candidates,
        key: KeyHash,
        observer: &mut O,
    ) -> Search {
        match self.place(blocks, candidates, key, observer) {
            Placement::Present => Search::Present,
            Placement::Admitted { .. } => Search::Absent,
            Placement::Rejected { .. } => Search::Exhausted,
        }
    }

    fn passing_probability(&self, load: u32) -> f64 {
        match load.cmp(&self.threshold) {
            core::cmp::Ordering::Less => 0.0,
            core::cmp::Ordering::Equal => 1.0 - self.at_threshold.probability(),
            core::cmp::Ordering::Greater => 1.0,
        }
    }
}
