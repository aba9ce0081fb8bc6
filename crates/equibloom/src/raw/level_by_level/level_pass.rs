//! One worker's pass over its blocks of a level.

use super::pending::{PendingKeys, WORD};
use super::word_range::WordRange;
use super::work_sharing::{Share, WorkSharing};
use super::{BLOCKS_TO_A_CUT, WorkerScratch};
use crate::block::isa::{Isa, Nearness, Operation, prefetch};
use crate::block::{BlockArray, BlockIndex, On};
use crate::hashing::KeyHash;
use crate::placement::{Choose, Level};
use crate::raw::Balanced;

/// Keys of a slab that are scanned before the listed ones are inserted: a multiple of 64. At later levels,
/// which few keys reach, the listed keys. They and their list fit into a first-level cache. (Tests need
/// many chunks.)
const CHUNK: usize = if cfg!(test) { 1 << 6 } else { 1 << 10 };
/// How many inserts ahead a block is prefetched.
const AHEAD: usize = 32;

/// A key whose block belongs to the worker.
#[derive(Clone, Copy)]
struct Arrival {
    /// The key's index in the slab.
    place: usize,
    /// The word that selects the block.
    word: u64,
}

/// Blocks of one worker.
pub(super) struct Part<B> {
    /// The number of the first in the whole table.
    pub(super) first: u64,
    pub(super) blocks: B,
}

/// One worker's part of a level, and the pending keys.
pub(super) struct LevelPass<'a, R, B: BlockArray> {
    /// The filter without its blocks, which are divided among the workers.
    pub(super) filter: &'a Balanced<R, B>,
    pub(super) number: usize,
    pub(super) level: Level,
    pub(super) keys: &'a [KeyHash],
    pub(super) pending: &'a PendingKeys,
    /// The worker's blocks, and the index of the first key that has not reached them.
    pub(super) share: Share<B>,
    pub(super) scratch: &'a mut WorkerScratch,
    pub(super) work_sharing: &'a WorkSharing<B>,
    /// With fewer remaining keys than this, no blocks are handed over.
    pub(super) keys_for_a_thread: usize,
}

impl<R: Choose, B: BlockArray> Operation for LevelPass<'_, R, B> {
    /// Number of keys placed.
    type Output = u64;

    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) -> u64 {
        let Some(mut words) = self.share.part.words(self.level) else { return 0 };
        let mut placed = 0;
        let mut list = [Arrival { place: 0, word: 0 }; CHUNK];
        let mut pending = self.pending.places_from(self.share.start);
        let mut is_last = false;
        while !is_last {
            let count = if self.number == 0 {
                self.list_all(words, &mut list)
            } else {
                self.list_pending(&mut pending, words, &mut list)
            };
            is_last =
                if self.number == 0 { self.share.start >= self.keys.len() } else { count < CHUNK };
            let list = &list[..count];
            for arrival in list.iter().take(AHEAD) {
                self.prefetch(arrival);
            }
            for (index, &arrival) in list.iter().enumerate() {
                if let Some(ahead) = list.get(index + AHEAD) {
                    self.prefetch(ahead);
                }
                self.prefetch_later_key(arrival);
                placed += u64::from(self.arrive(isa, arrival));
            }
            if self.work_sharing.is_asked()
                && let Some(fewer) = self.give_half()
            {
                words = fewer;
            }
        }
        placed
    }
}

impl<R: Choose, B: BlockArray> LevelPass<'_, R, B> {
    #[inline(always)]
    fn prefetch(&self, arrival: &Arrival) {
        let block = self.level.block_of(arrival.word);
        let part = &self.share.part;
        part.blocks.prefetch(part.place_of(block), Nearness::First);
    }

    /// Prefetches one key of the next chunk for each arriving key.
    #[inline(always)]
    fn prefetch_later_key(&self, arrival: Arrival) {
        let key = self.keys.as_ptr().wrapping_add(arrival.place + CHUNK);
        prefetch(key.cast(), Nearness::Second);
    }

    /// Lists the keys of the next chunk whose first block is the worker's.
    #[inline(always)]
    fn list_all(&mut self, words: WordRange, list: &mut [Arrival; CHUNK]) -> usize {
        let mut count = 0;
        let start = self.share.start.min(self.keys.len());
        let end = self.keys.len().min(start + CHUNK);
        for (index, keys) in self.keys[start..end].chunks(WORD).enumerate() {
            let mut own = words.among(keys);
            while own != 0 {
                let bit = own.trailing_zeros() as usize;
                let word = keys[bit % WORD].candidate(0);
                list[count % CHUNK] = Arrival { place: start + index * WORD + bit, word };
                count += 1;
                own &= own - 1;
            }
        }
        self.share.start = end;
        count
    }

    /// Lists the next pending keys whose later block is the worker's; fewer than fit only at the end.
    #[inline(always)]
    fn list_pending(
        &mut self,
        pending: &mut impl Iterator<Item = usize>,
        words: WordRange,
        list: &mut [Arrival; CHUNK],
    ) -> usize {
        let mut count = 0;
        while count < CHUNK
            && let Some(place) = pending.next()
        {
            self.share.start = place + 1;
            let key = self.filter.blocks.reduce(self.keys[place]);
            let Some(before) = self.filter.candidates.walk(key).nth(self.number - 1) else {
                continue;
            };
            list[count] = Arrival { place, word: before.onward };
            count += usize::from(words.contain(before.onward));
        }
        count
    }

    /// Hands over the second half of the blocks to the requesting worker, if it is worthwhile; returns the
    /// words of the remaining blocks.
    #[cold]
    #[inline(never)]
    fn give_half(&mut self) -> Option<WordRange> {
        let Share { part, start } = &mut self.share;
        let to_come = self.keys.len() - *start;
        let half = part.middle(self.level).filter(|_| to_come >= self.keys_for_a_thread);
        let Some(cut) = half else {
            self.work_sharing.answer(None);
            return None;
        };
        let second = part.cut_at(cut);
        let left = part.words(self.level);
        self.work_sharing.answer(second.map(|part| Share { part, start: *start }));
        left
    }

    /// The step of an insert at one block; returns whether the key was placed.
    #[inline(always)]
    fn arrive<I: Isa>(&mut self, isa: I, Arrival { place, word }: Arrival) -> bool {
        let Self { filter, number, ref mut scratch, .. } = *self;
        let part = &mut self.share.part;
        let block = self.level.block_of(word);
        let key = filter.blocks.reduce(self.keys[place]);
        let reachable = number == 0 || self.pending.reachable(place);
        let here = part.place_of(block);
        if reachable && !filter.rule.stores_repeats() && part.blocks.test(isa, here, key) {
            return false;
        }
        let view = On { blocks: &part.blocks, isa };
        if !R::REJECTS || !filter.rule.insert_continues(&view, key, number, here) {
            scratch.journal.note(&part.blocks, here, block);
            part.blocks.add(isa, here, key);
            return true;
        }
        let mut probe = filter.candidates.probe_at(number, key, block);
        probe.block = here;
        let was_marked = part.blocks.hint_is_set(isa, probe).unwrap_or(true);
        scratch.sent_on.insert(place, reachable && was_marked);
        if !was_marked {
            scratch.journal.note(&part.blocks, here, block);
            part.blocks.set_hint(probe);
        }
        false
    }
}

impl<B: BlockArray> Part<B> {
    #[inline(always)]
    fn place_of(&self, block: BlockIndex) -> BlockIndex {
        BlockIndex(block.0.wrapping_sub(self.first))
    }

    /// A block in the middle of those of a level, on a line, with others on both sides.
    fn middle(&self, level: Level) -> Option<u64> {
        let first = self.first.max(level.offset);
        let end = (self.first + self.blocks.count()).min(level.offset + level.size);
        let middle = first + end.saturating_sub(first) / 2;
        let middle = middle - middle % BLOCKS_TO_A_CUT;
        (first < middle && middle < end).then_some(middle)
    }

    /// Keeps the blocks before this one, and returns the others.
    fn cut_at(&mut self, block: u64) -> Option<Self> {
        let (_, parts) = self.blocks.divide(&[block - self.first]);
        let mut parts = parts.into_iter();
        self.blocks = parts.next()?;
        parts.next().map(|blocks| Self { first: block, blocks })
    }

    /// The words of its blocks of a level, if it has any.
    fn words(&self, level: Level) -> Option<WordRange> {
        WordRange::to(level, self.first..self.first + self.blocks.count())
    }
}
