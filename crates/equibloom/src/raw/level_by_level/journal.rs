//! What blocks were before they changed.

use alloc::vec::Vec;

use crate::block::{BlockArray, BlockIndex};

/// Blocks of one thread as they were before each change, in the order of the changes.
#[derive(Default)]
pub(super) struct Journal {
    is_kept: bool,
    blocks: Vec<BlockIndex>,
    words: Vec<u64>,
}

impl Journal {
    /// Begins anew, in the same memory.
    pub(super) fn begin(&mut self, is_kept: bool) {
        self.is_kept = is_kept;
        self.blocks.clear();
        self.words.clear();
    }

    pub(super) const fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Notes a block that is about to change: the one at `here` in a part, and at `block` in the whole.
    #[inline(always)]
    pub(super) fn note<B: BlockArray>(&mut self, part: &B, here: BlockIndex, block: BlockIndex) {
        if !self.is_kept {
            return;
        }
        let size = part.words_per_block();
        let start = here.0 as usize * size;
        self.words.extend_from_slice(&part.storage().words()[start..start + size]);
        self.blocks.push(block);
    }

    /// Makes the blocks what they were before the first change.
    pub(super) fn undo<B: BlockArray>(&self, whole: &mut B) {
        let size = whole.words_per_block();
        let words = whole.storage_mut().words_mut();
        for (block, before) in self.blocks.iter().zip(self.words.chunks(size)).rev() {
            let start = block.0 as usize * size;
            words[start..start + size].copy_from_slice(before);
        }
    }
}
