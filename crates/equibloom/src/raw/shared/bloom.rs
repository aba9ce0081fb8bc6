//! Bloom blocks without a lock.
//!
//! Bits and hints are only set, and the counter only increases. So every later read of a word sees at least
//! as much as an earlier one that happened before it, and no lookup needs a consistent view of two words.
//! That is why every access may be relaxed.

use super::SharedBlocks;
use crate::block::isa::Isa;
use crate::block::{BlockIndex, BloomBlocks};
use crate::hashing::KeyHash;
use crate::placement::Probe;
use crate::storage::SharedWords;
use crate::storage::sync::Ordering::Relaxed;

// Out of line, and so compiled once for all ISAs.
impl BloomBlocks {
    /// Whether the block has all of the key's bits.
    #[inline(never)]
    fn shared_holds(&self, words: &SharedWords, block: BlockIndex, key: KeyHash) -> bool {
        self.every_bit(block, key, |word, bits| words.word(word).load(Relaxed) & bits == bits)
    }

    /// Sets all of the key's bits in the block.
    #[inline(never)]
    fn shared_add(&self, words: &SharedWords, block: BlockIndex, key: KeyHash) {
        self.every_bit(block, key, |word, bits| {
            let word = words.word(word);
            // A write would invalidate the line in all other caches.
            if word.load(Relaxed) & bits != bits {
                word.fetch_or(bits, Relaxed);
            }
            true
        });
    }
}

impl SharedBlocks for BloomBlocks {
    #[inline(always)]
    fn shared_load(&self, words: &SharedWords, block: BlockIndex) -> u32 {
        let read = |word| words.word(word).load(Relaxed);
        let counted = self.counted_in(read(self.head(block)));
        counted.unwrap_or_else(|| self.set_bits_in(block, read))
    }

    #[inline(always)]
    fn shared_test<I: Isa>(
        &self,
        _isa: I,
        words: &SharedWords,
        block: BlockIndex,
        key: KeyHash,
    ) -> bool {
        let read = |word| words.word(word).load(Relaxed);
        self.begins_with(block, key, read) && self.shared_holds(words, block, key)
    }

    #[inline(always)]
    fn shared_hint_is_set(&self, words: &SharedWords, probe: Probe) -> Option<bool> {
        self.hint(probe).map(|(word, bit)| words.word(word).load(Relaxed) & bit != 0)
    }

    /// The key counts itself in first: of two that come for the last place, one gets it.
    #[inline(always)]
    fn add_if<I: Isa>(
        &self,
        _isa: I,
        words: &SharedWords,
        block: BlockIndex,
        key: KeyHash,
        admits: impl Fn(u32) -> bool,
    ) -> bool {
        let head = words.word(self.head(block));
        let count_in = |head| {
            let load = self.counted_in(head)?;
            admits(load).then(|| self.counting_one_more(head))
        };
        // Without a counter no key is rejected, and nothing is reserved.
        let is_counted = self.counted_in(0).is_some();
        if is_counted && head.fetch_update(Relaxed, Relaxed, count_in).is_err() {
            return false;
        }
        self.shared_add(words, block, key);
        true
    }

    fn shared_set_hint(&self, words: &SharedWords, probe: Probe) {
        if let Some((word, bit)) = self.hint(probe)
            && words.word(word).load(Relaxed) & bit == 0
        {
            words.word(word).fetch_or(bit, Relaxed);
        }
    }
}
