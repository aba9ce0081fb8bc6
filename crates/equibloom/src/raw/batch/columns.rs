//! First probes of 64 keys, computed before their blocks arrive.
//!
//! One column per loop, so that the compiler vectorises each.

use super::lookups::WORD;
use crate::block::BlockIndex;
use crate::hashing::KeyHash;
use crate::placement::{Choose, Probe};
use crate::raw::Balanced;

/// The first probes of 64 keys.
pub(super) struct Columns {
    blocks: [BlockIndex; WORD],
    /// The bits that select the hints, if blocks have any.
    hints: [u64; WORD],
}

impl Columns {
    pub(super) const fn empty() -> Self {
        Self { blocks: [BlockIndex(0); WORD], hints: [0; WORD] }
    }

    /// Fills the rows with the first 64 of these keys. With fewer keys, the other rows are unspecified.
    #[inline(always)]
    pub(super) fn fill<R: Choose>(&mut self, filter: &Balanced<R>, keys: &[KeyHash]) {
        match keys.first_chunk() {
            Some(keys) => self.fill_all(filter, keys),
            None if keys.is_empty() => {}
            None => self.fill_some(filter, keys),
        }
    }

    #[cold]
    fn fill_some<R: Choose>(&mut self, filter: &Balanced<R>, keys: &[KeyHash]) {
        let mut all = [KeyHash::from_u64(0); WORD];
        for (row, &key) in all.iter_mut().zip(keys) {
            *row = key;
        }
        self.fill_all(filter, &all);
    }

    // Exactly 64 keys, so that the loops have a constant length.
    #[inline(always)]
    fn fill_all<R: Choose>(&mut self, filter: &Balanced<R>, keys: &[KeyHash; WORD]) {
        let Self { blocks, hints } = self;
        filter.plan.levels.first_blocks(keys, blocks);
        if filter.plan.shape.has_hints() {
            for (&key, (&block, hint)) in keys.iter().zip(blocks.iter().zip(hints)) {
                *hint = Probe::at(0, key, block).hint;
            }
        }
    }

    /// The blocks of the first `count` rows, at most 64.
    #[inline(always)]
    pub(super) fn blocks(&self, count: usize) -> &[BlockIndex] {
        &self.blocks[..count.min(WORD)]
    }

    /// These keys with their first probes, the first of which is in row `start`.
    #[inline(always)]
    pub(super) fn probes(
        &self,
        start: usize,
        keys: &[KeyHash],
    ) -> impl Iterator<Item = (KeyHash, Probe)> {
        let start = start.min(WORD);
        let columns = self.blocks[start..].iter().zip(&self.hints[start..]);
        keys.iter().zip(columns).map(|(&key, (&block, &hint))| (key, probe(key, block, hint)))
    }

    /// The probe in a row.
    #[inline(always)]
    pub(super) fn probe_of(&self, row: usize, key: KeyHash) -> Probe {
        probe(key, self.blocks[row % WORD], self.hints[row % WORD])
    }
}

#[inline(always)]
fn probe(key: KeyHash, block: BlockIndex, hint: u64) -> Probe {
    Probe { hint, ..Probe::at(0, key, block) }
}
