//! What is known of keys before their first blocks arrive.
//!
//! In columns, each filled by a short loop, because such loops the compiler does in vectors: of several keys at once in
//! as many instructions as of one.

use super::lookups::WORD;
use crate::block::{BlockArray, BlockIndex};
use crate::hashing::KeyHash;
use crate::placement::{Choose, Probe, Routing};
use crate::raw::Balanced;

/// 64 keys at their first blocks.
pub(super) struct Columns {
    /// Their patterns, as the blocks see them.
    patterns: [u64; WORD],
    blocks: [BlockIndex; WORD],
    /// Which hints they ask for, where blocks give some.
    marks: [u64; WORD],
}

impl Columns {
    pub(super) const fn empty() -> Self {
        Self { patterns: [0; WORD], blocks: [BlockIndex(0); WORD], marks: [0; WORD] }
    }

    /// Puts the first 64 of these keys into the rows. If they are fewer, what the other rows have does not matter.
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

    // No more and no less: then the loops need not find out how long they are.
    #[inline(always)]
    fn fill_all<R: Choose, B: BlockArray>(
        &mut self,
        filter: &Balanced<R, B>,
        keys: &[KeyHash; WORD],
    ) {
        let Self { patterns, blocks, marks } = self;
        filter.blocks.reduce_all(keys, patterns);
        filter.candidates.first_blocks(keys, blocks);
        if filter.blocks.gives_hints() {
            let columns = patterns.iter().zip(&*blocks).zip(marks);
            for (&key, ((&pattern, &block), mark)) in keys.iter().zip(columns) {
                *mark = B::Routing::probe_at(0, key.reduced_to(pattern), block).hint;
            }
        }
    }

    /// The blocks of the first `count`, as far as there are so many.
    #[inline(always)]
    pub(super) fn blocks(&self, count: usize) -> &[BlockIndex] {
        &self.blocks[..count.min(WORD)]
    }

    /// These keys, the first of which is that of row `start`, as their blocks see them, and where they stand.
    #[inline(always)]
    pub(super) fn probes<L: Routing>(
        &self,
        start: usize,
        keys: &[KeyHash],
    ) -> impl Iterator<Item = (KeyHash, Probe)> {
        let start = start.min(WORD);
        let columns = self.patterns[start..].iter().zip(&self.blocks[start..]);
        let rows = keys.iter().zip(columns.zip(&self.marks[start..]));
        rows.map(|(&key, ((&pattern, &block), &mark))| probe::<L>(key, pattern, block, mark))
    }

    /// The same of one row.
    #[inline(always)]
    pub(super) fn probe_of<L: Routing>(&self, row: usize, key: KeyHash) -> (KeyHash, Probe) {
        let row = row % WORD;
        probe::<L>(key, self.patterns[row], self.blocks[row], self.marks[row])
    }
}

#[inline(always)]
fn probe<L: Routing>(key: KeyHash, pattern: u64, block: BlockIndex, mark: u64) -> (KeyHash, Probe) {
    let key = key.reduced_to(pattern);
    (key, Probe { hint: mark, ..L::probe_at(0, key, block) })
}
