//! First probes of 64 keys, computed before their blocks arrive.
//!
//! One column per loop, so that the compiler vectorises each.

use super::lookups::WORD;
use crate::block::{BlockArray, BlockIndex};
use crate::hashing::KeyHash;
use crate::placement::{Choose, Probe, Routing};
use crate::raw::Balanced;

/// The first probes of 64 keys.
pub(super) struct Columns {
    /// Patterns of the reduced keys.
    patterns: [u64; WORD],
    blocks: [BlockIndex; WORD],
    /// The bits that select the hints, if blocks have any.
    hints: [u64; WORD],
}

impl Columns {
    pub(super) const fn empty() -> Self {
        Self { patterns: [0; WORD], blocks: [BlockIndex(0); WORD], hints: [0; WORD] }
    }

    /// Fills the rows with the first 64 of these keys. With fewer keys, the other rows are unspecified.
    #[inline(always)]
    pub(super) fn fill<R: Choose, B: BlockArray>(
        &mut self,
        filter: &Balanced<R, B>,
        keys: &[KeyHash],
    ) {
        match keys.first_chunk() {
            Some(keys) => self.fill_all(filter, keys),
            None if keys.is_empty() => {}
            None => self.fill_some(filter, keys),
        }
    }

    #[cold]
    fn fill_some<R: Choose, B: BlockArray>(&mut self, filter: &Balanced<R, B>, keys: &[KeyHash]) {
        let mut all = [KeyHash::from_u64(0); WORD];
        for (row, &key) in all.iter_mut().zip(keys) {
            *row = key;
        }
        self.fill_all(filter, &all);
    }

    // Exactly 64 keys, so that the loops have a constant length.
    #[inline(always)]
    fn fill_all<R: Choose, B: BlockArray>(
        &mut self,
        filter: &Balanced<R, B>,
        keys: &[KeyHash; WORD],
    ) {
        let Self { patterns, blocks, hints } = self;
        filter.blocks.reduce_all(keys, patterns);
        filter.candidates.first_blocks(keys, blocks);
        if filter.blocks.has_hints() {
            let columns = patterns.iter().zip(&*blocks).zip(hints);
            for (&key, ((&pattern, &block), hint)) in keys.iter().zip(columns) {
                *hint = B::Routing::probe_at(0, key.reduced_to(pattern), block).hint;
            }
        }
    }

    /// The blocks of the first `count` rows, at most 64.
    #[inline(always)]
    pub(super) fn blocks(&self, count: usize) -> &[BlockIndex] {
        &self.blocks[..count.min(WORD)]
    }

    /// The reduced keys and first probes of these keys, the first of which is in row `start`.
    #[inline(always)]
    pub(super) fn probes<L: Routing>(
        &self,
        start: usize,
        keys: &[KeyHash],
    ) -> impl Iterator<Item = (KeyHash, Probe)> {
        let start = start.min(WORD);
        let columns = self.patterns[start..].iter().zip(&self.blocks[start..]);
        let rows = keys.iter().zip(columns.zip(&self.hints[start..]));
        rows.map(|(&key, ((&pattern, &block), &hint))| probe::<L>(key, pattern, block, hint))
    }

    /// The same for one row.
    #[inline(always)]
    pub(super) fn probe_of<L: Routing>(&self, row: usize, key: KeyHash) -> (KeyHash, Probe) {
        let row = row % WORD;
        probe::<L>(key, self.patterns[row], self.blocks[row], self.hints[row])
    }
}

#[inline(always)]
fn probe<L: Routing>(key: KeyHash, pattern: u64, block: BlockIndex, hint: u64) -> (KeyHash, Probe) {
    let key = key.reduced_to(pattern);
    (key, Probe { hint, ..L::probe_at(0, key, block) })
}
