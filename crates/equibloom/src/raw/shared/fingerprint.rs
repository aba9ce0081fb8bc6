//! Fingerprint blocks: one writer at a time, and readers that never write.
//!
//! A writer locks the block by the last bit of its code (which keys never use), works on a copy with the
//! ordinary code, and writes the copy back. A reader must not see one word from before and another from
//! after. It needs a version that tells whether anything was written while it read, and the block has one:
//! every insert adds a one to the code, and nothing takes a one away. The version is the number of ones.
//!
//! The code lies in several words, which cannot be read at one moment. But in every prefix of the words,
//! too, an insert never takes a one away, and adds at most one. (It puts a one in the place of a zero
//! and moves up what is behind; what leaves a prefix at its end is one bit.) So, with Lamport (*Concurrent
//! Reading and Writing*, 1977): **writers write the words of the code from the first to the last, readers
//! read them from the last to the first. The ones that a reader counts are at least as many as there were
//! when it read the last word, and at most as many as there were when it read the first.**
//!
//! *Proof.* Let `c(w, v)` be the ones in the words 0 … w at version v, and let the reader meet word w
//! at version v(w). What it reads in word w was written after the words before it, so v(L) ≤ … ≤ v(0) for
//! the last word L. It counts c(L, v(L)) + Σ c(w, v(w)) − c(w, v(w+1)) over w < L, and each difference is at least
//! 0 and at most v(w) − v(w+1). ∎
//!
//! A reader counts (`before`), copies all eight words, and counts again (`after`); it waits while the lock is
//! shut, each time before it reads anything else. If both counts are the same, the copy is what the block
//! was at one moment:
//!
//! *Proof.* Let m be the version at which `after` met the lock open, and v that at which `before` met the
//! first word. m ≤ `after` = `before` ≤ v. Each word of the copy is of version v or later, since the lock, which
//! had been shut for version v by then, was met open when copying began. And it is of version m or earlier, since
//! the lock, which is shut before anything of a version is written, was met open at m afterwards. So all
//! words are of version m = v. ∎
//!
//! Both proofs use that a reader of a word also sees everything done before the word was written: every
//! write releases, every read acquires. (On x86 these are ordinary instructions.)
//!
//! Hints are set without the lock. They share their word with the code, so a writer flips the bits that it changes
//! in that word instead of storing it.

use core::array;

use super::SharedBlocks;
use crate::block::isa::{Isa, Line};
use crate::block::{BlockIndex, FingerprintBlocks};
use crate::hashing::KeyHash;
use crate::placement::Probe;
use crate::storage::sync::Ordering::{AcqRel, Acquire, Relaxed, Release};
use crate::storage::sync::{AtomicU64, let_others_run};
use crate::storage::{SharedWords, WORDS_PER_LINE};

/// One block.
type SharedLine = [AtomicU64; WORDS_PER_LINE];

impl FingerprintBlocks {
    /// The word with the lock, when it is open.
    #[inline(always)]
    fn when_unlocked(&self, line: &SharedLine) -> u64 {
        let (word, lock) = self.lock();
        let mut turn = 0;
        loop {
            let value = line[word].load(Acquire);
            if value & lock == 0 {
                return value;
            }
            let_others_run(&mut turn);
        }
    }

    /// The version: how many ones the code has, its words read from the last to the first.
    #[inline(always)]
    fn version(&self, line: &SharedLine) -> u32 {
        let (last, _) = self.lock();
        let ones = self.ones_of_code(last, self.when_unlocked(line));
        let before = self.code_words().start..last;
        before.rev().fold(ones, |ones, word| {
            ones + self.ones_of_code(word, line[word % WORDS_PER_LINE].load(Acquire))
        })
    }

    /// The block as it was at one moment.
    #[inline(always)]
    pub(super) fn snapshot(&self, line: &SharedLine) -> Line {
        let (last, _) = self.lock();
        loop {
            let before = self.version(line);
            let unlocked = self.when_unlocked(line);
            let copy =
                array::from_fn(
                    |word| {
                        if word == last { unlocked } else { line[word].load(Acquire) }
                    },
                );
            if self.version(line) == before {
                return copy;
            }
        }
    }

    /// Locks the block and copies it; only its hints can change now.
    #[inline(always)]
    fn lock_and_copy(&self, line: &SharedLine) -> Line {
        let (word, lock) = self.lock();
        loop {
            self.when_unlocked(line);
            let found = line[word].fetch_or(lock, Acquire);
            if found & lock == 0 {
                return array::from_fn(
                    |at| if at == word { found } else { line[at].load(Relaxed) },
                );
            }
        }
    }

    /// Writes what has changed of a locked block, from the first word to the last of the code, and opens
    /// the lock.
    #[inline(always)]
    fn write_and_unlock(&self, line: &SharedLine, old: &Line, new: &Line) {
        let (last, lock) = self.lock();
        for (at, word) in line.iter().enumerate() {
            let changed = old[at] ^ new[at];
            if at == last || changed == 0 {
                continue;
            }
            if at == 0 {
                word.fetch_xor(changed, Release);
            } else {
                word.store(new[at], Release);
            }
        }
        // A damaged block may have moved a one to where the lock is.
        let changed = (old[last] ^ new[last]) & !lock;
        line[last].fetch_xor(changed | lock, Release);
    }
}

impl SharedBlocks for FingerprintBlocks {
    /// The version is the load. It is enough to count once: a key that finds the block full will find it
    /// full again, since the load was reached by then.
    #[inline(always)]
    fn shared_load(&self, words: &SharedWords, block: BlockIndex) -> u32 {
        self.version(words.line(block.0 as usize)).min(self.slots())
    }

    #[inline(always)]
    fn shared_test<I: Isa>(
        &self,
        isa: I,
        words: &SharedWords,
        block: BlockIndex,
        key: KeyHash,
    ) -> bool {
        self.is_in(isa, &self.snapshot(words.line(block.0 as usize)), key)
    }

    #[inline(always)]
    fn shared_hint_is_set(&self, words: &SharedWords, probe: Probe) -> Option<bool> {
        let first = &words.line(probe.block.0 as usize)[0];
        self.hint(probe).map(|bit| first.load(Acquire) & bit != 0)
    }

    #[inline(always)]
    fn add_if<I: Isa>(
        &self,
        isa: I,
        words: &SharedWords,
        block: BlockIndex,
        key: KeyHash,
        admits: impl Fn(u32) -> bool,
    ) -> bool {
        let line = words.line(block.0 as usize);
        let old = self.lock_and_copy(line);
        let mut new = old;
        let admitted = admits(self.load_of(&old));
        if admitted {
            self.add_to(isa, &mut new, key);
        }
        self.write_and_unlock(line, &old, &new);
        admitted
    }

    fn shared_set_hint(&self, words: &SharedWords, probe: Probe) {
        let first = &words.line(probe.block.0 as usize)[0];
        if let Some(bit) = self.hint(probe)
            && first.load(Relaxed) & bit == 0
        {
            // Passes a writer's changes to this word on to later readers of it.
            first.fetch_or(bit, AcqRel);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::block::BlockArray;
    use crate::hashing::KeyHash;
    use crate::raw::Any;
    use crate::raw::shared::{Shared, SharedRaw};
    use equibloom_layout::{Blocks, Design, Layout, Overflow, Rule, WhenFull};

    /// A mapped file is not verified and may contain any bits: wrong answers are allowed, waiting forever
    /// is not.
    #[test]
    fn a_lock_set_in_a_damaged_file_blocks_no_thread() {
        let blocks = Blocks::Fingerprint { slots: 33, lists: 59, remainder_bits: 12, hints: 24 };
        let overflow = Overflow { capacity: 1_000, when_full: WhenFull::Saturate };
        let layout = Layout::sequential(blocks, 40, 2, Rule::below(33)).with_overflow(overflow);
        for damage in [u64::MAX, 0xffff_0000_ff00_f0f0, 1 << 51, 0xffff << 40] {
            let mut filter = Any::new(&Design::Blocked(layout));
            let Ok(Any::Fingerprint(inner)) = &mut filter else { panic!("another filter") };
            inner.blocks.storage_mut().words_mut().fill(damage);
            let mut filter = filter.unwrap();
            Shared::prepare(&mut filter);
            let shared = Shared::new(filter);
            for key in (0..2_000).map(KeyHash::from_u64) {
                let _ = shared.insert(key);
                shared.contains(key);
            }
        }
    }
}
