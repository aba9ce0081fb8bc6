//! The threshold rule: the first candidate with room takes the key.

use super::{Candidates, Coin, Lead, Placement, Rule, Stop};
use crate::block::{BlockIndex, BlockView};
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::parameters::Threshold;

/// Tries the candidates in order. A block below the threshold takes the key; a block at the
/// threshold takes it if the coin of this key and probe says so; the others turn it away.
///
/// The papers' lookup goes on while the load is at least the threshold. Because the coin here is a
/// function of the key and the probe, a lookup can throw it again: a block at exactly the threshold
/// proves absence for the keys that it would have taken. Where blocks give hints, those decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstWithRoom {
    threshold: u32,
    at_threshold: Coin,
    /// Whether a key that seems to be there is placed once more.
    repeats: bool,
}

impl FirstWithRoom {
    pub(crate) fn new(threshold: &Threshold) -> Self {
        let at_threshold = Coin::new(threshold.probability);
        Self { threshold: threshold.load, at_threshold, repeats: false }
    }

    /// Blocks with so many slots.
    pub(crate) const fn with_slots(slots: u32, repeats: bool) -> Self {
        Self { threshold: slots, at_threshold: Coin::NEVER, repeats }
    }

    /// Whether a block of this load takes the key at this probe.
    #[inline(always)]
    fn admits(&self, load: u32, key: KeyHash, probe: usize) -> bool {
        load < self.threshold
            || (load == self.threshold && self.at_threshold.says_yes(key.coin(probe)))
    }
}

impl Rule for FirstWithRoom {
    const REJECTS: bool = true;

    #[inline(always)]
    fn places_repeats(&self) -> bool {
        self.repeats
    }

    #[inline(always)]
    fn place<B: BlockView, L: Lead, O: Observer>(
        &self,
        blocks: &B,
        candidates: &Candidates<L>,
        key: KeyHash,
        observer: &mut O,
    ) -> Placement {
        let mut reads = 0;
        // A key is where a lookup would find it, or it is new.
        let mut led_on = true;
        for (probe, stop) in candidates.walk(key).enumerate() {
            observer.block_read();
            reads += 1;
            if led_on && !self.repeats && blocks.test(stop.block, key) {
                return Placement::Present;
            }
            if self.admits(blocks.load(stop.block), key, probe) {
                return Placement::Admitted { block: stop.block, reads };
            }
            led_on = led_on && blocks.turned_away(stop).unwrap_or(true);
        }
        Placement::Rejected { reads, led_on }
    }

    /// A hint that is unset proves absence; without hints, what would admit the key does.
    #[inline(always)]
    fn goes_on<B: BlockView>(&self, blocks: &B, key: KeyHash, probe: usize, stop: Stop) -> bool {
        let turned_away = blocks.turned_away(stop);
        turned_away.unwrap_or_else(|| self.looks_further(blocks, key, probe, stop.block))
    }

    #[inline(always)]
    fn looks_further<B: BlockView>(
        &self,
        blocks: &B,
        key: KeyHash,
        probe: usize,
        block: BlockIndex,
    ) -> bool {
        !self.admits(blocks.load(block), key, probe)
    }

    fn passing_probability(&self, load: u32) -> f64 {
        match load.cmp(&self.threshold) {
            core::cmp::Ordering::Less => 0.0,
            core::cmp::Ordering::Equal => 1.0 - self.at_threshold.probability(),
            core::cmp::Ordering::Greater => 1.0,
        }
    }
}
