//! Undo journal of changed blocks.

use alloc::vec::Vec;

use crate::block::{BlockIndex, BloomShape};
use crate::storage::{Lines, Words};

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
        lines: &Lines<'_>,
        here: BlockIndex,
        block: BlockIndex,
    ) {
        if !self.is_kept {
            return;
        }
        let size = shape.words_per_block();
        let start = here.0 as usize * size;
        self.words.extend_from_slice(&lines.0.as_flattened()[start..start + size]);
        self.blocks.push(block);
    }

    /// Restores the blocks.
    pub(super) fn undo(&self, shape: &BloomShape, whole: &mut Words) {
        let size = shape.words_per_block();
        let words = whole.words_mut();
        for (block, before) in self.blocks.iter().zip(self.words.chunks(size)).rev() {
            let start = block.0 as usize * size;
            words[start..start + size].copy_from_slice(before);
        }
    }
}
