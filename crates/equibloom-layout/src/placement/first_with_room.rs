//! The threshold rule: the first candidate with room takes the key.

use super::{BlockView, Choice, Choose, Levels, Observer, Probe};
use crate::hash::KeyHash;
use crate::share::Share;

/// Tries the candidates in order. A block below the threshold admits the key; a block at the threshold
/// admits it if the coin for this key and probe comes up; fuller blocks reject it.
///
/// The papers' lookup continues while the load is at least the threshold. Here the coin is a function of
/// the key and the probe, so a lookup can repeat it: a block at exactly the threshold proves absence for
/// the keys that it would have admitted. Where blocks have hints, the hints decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstWithRoom {
    below: u32,
    coin: Share,
}

impl FirstWithRoom {
    /// The rule with threshold `below` and a coin at the threshold.
    pub const fn new(below: u32, coin: Share) -> Self {
        Self { below, coin }
    }
}

impl Choose for FirstWithRoom {
    const REJECTS: bool = true;

    #[inline(always)]
    fn choose<B: BlockView, O: Observer>(
        &self,
        blocks: &B,
        levels: &Levels,
        key: KeyHash,
        observer: &mut O,
    ) -> Choice {
        let mut reads = 0;
        // A key that a lookup would not reach here is new.
        let mut reachable = true;
        for (number, probe) in levels.walk(key).enumerate() {
            observer.block_read();
            reads += 1;
            if reachable && blocks.test(probe.block, key) {
                return Choice::Present;
            }
            if self.admits(blocks.load(probe.block), key, number) {
                return Choice::Admitted { block: probe.block, reads };
            }
            reachable = reachable && blocks.hint_is_set(probe).unwrap_or(true);
        }
        Choice::Rejected { reads, reachable }
    }

    /// An unset hint proves absence; without hints, a block that would admit the key does.
    #[inline(always)]
    fn lookup_continues<B: BlockView>(
        &self,
        blocks: &B,
        key: KeyHash,
        number: usize,
        probe: Probe,
    ) -> bool {
        let hint = blocks.hint_is_set(probe);
        hint.unwrap_or_else(|| !self.admits(blocks.load(probe.block), key, number))
    }

    #[inline(always)]
    fn admits(&self, load: u32, key: KeyHash, number: usize) -> bool {
        load < self.below || (load == self.below && self.coin.takes(key.coin(number)))
    }

    fn continuing_probability(&self, load: u32) -> f64 {
        match load.cmp(&self.below) {
            core::cmp::Ordering::Less => 0.0,
            core::cmp::Ordering::Equal => 1.0 - self.coin.get(),
            core::cmp::Ordering::Greater => 1.0,
        }
    }
}
