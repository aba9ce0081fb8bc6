//! What a worker writes beside its blocks.

use alloc::vec::Vec;

use crate::block::{BlockIndex, BloomShape};
use crate::raw::batch::set_bits;
use crate::storage::Line;

const WORD: usize = u64::BITS as usize;

/// A worker's buffers, reused across levels and slabs, because new memory has to be zeroed page by page.
#[derive(Default)]
pub(in crate::raw) struct Scratch {
    /// The keys that a level rejects.
    pub(super) sent_on: PendingKeys,
    pub(super) journal: Journal,
}

/// Keys of a slab, by index, that no block has admitted yet.
#[derive(Default)]
pub(in crate::raw) struct PendingKeys {
    going: Vec<u64>,
    /// Pending keys whose hint was already set in every block so far: they may be duplicates.
    reachable: Vec<u64>,
}

impl PendingKeys {
    /// Becomes all or none of `keys` keys, in the memory it has.
    pub(super) fn set_to(&mut self, all: bool, keys: usize) {
        for bits in [&mut self.going, &mut self.reachable] {
            bits.clear();
            bits.resize(keys.div_ceil(WORD), if all { u64::MAX } else { 0 });
            if let Some(last) = bits.last_mut() {
                *last >>= keys.wrapping_neg() % WORD;
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.going.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether a lookup of this key would get this far.
    #[inline(always)]
    pub(super) fn reachable(&self, place: usize) -> bool {
        self.reachable[place / WORD] >> (place % WORD) & 1 == 1
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, place: usize, reachable: bool) {
        self.going[place / WORD] |= 1 << (place % WORD);
        self.reachable[place / WORD] |= u64::from(reachable) << (place % WORD);
    }

    /// Adds the pending keys of another worker.
    pub(super) fn join(&mut self, other: &Self) {
        let ours = self.going.iter_mut().chain(&mut self.reachable);
        ours.zip(other.going.iter().chain(&other.reachable)).for_each(|(ours, word)| *ours |= word);
    }

    /// Their places, in order.
    #[inline(always)]
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        let words = self.going.iter().enumerate();
        words.flat_map(|(index, &word)| set_bits(word).map(move |bit| index * WORD + bit))
    }
}

/// Blocks of one worker as they were before each change, in order.
#[derive(Default)]
pub(super) struct Journal {
    is_kept: bool,
    blocks: Vec<BlockIndex>,
    words: Vec<u64>,
}

impl Journal {
    /// Clears the journal and keeps its memory.
    pub(super) fn begin(&mut self, is_kept: bool) {
        self.is_kept = is_kept;
        self.blocks.clear();
        self.words.clear();
    }

    /// Records a block before it changes: the one at `here` in some lines, and at `block` in the whole.
    #[inline(always)]
    pub(super) fn note(
        &mut self,
        shape: &BloomShape,
        lines: &[Line],
        here: BlockIndex,
        block: BlockIndex,
    ) {
        if self.is_kept {
            let size = shape.words_per_block();
            let start = here.0 as usize * size;
            self.words.extend_from_slice(&lines.as_flattened()[start..start + size]);
            self.blocks.push(block);
        }
    }

    /// Restores the blocks.
    pub(super) fn undo(&self, shape: &BloomShape, whole: &mut [Line]) {
        let size = shape.words_per_block();
        let words = whole.as_flattened_mut();
        for (block, before) in self.blocks.iter().zip(self.words.chunks(size)).rev() {
            let start = block.0 as usize * size;
            words[start..start + size].copy_from_slice(before);
        }
    }
}
