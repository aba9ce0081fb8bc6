//! One worker's pass over its blocks of a level.

use alloc::vec::Vec;

use super::pending::{PendingKeys, WORD};
use super::word_range::WordRange;
use super::work_sharing::{Share, WorkSharing};
use super::{BLOCKS_TO_A_CUT, WorkerScratch};
use crate::block::BlockIndex;
use crate::block::isa::{Nearness, Target, kernel_table, prefetch};
use crate::hashing::KeyHash;
use crate::placement::{Choose, Level, Probe};
use crate::raw::balanced::Plan;
use crate::storage::{Lines, WORDS_PER_LINE, Words};

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
pub(super) struct Part<'a> {
    /// The number of the first in the whole table.
    pub(super) first: u64,
    pub(super) count: u64,
    pub(super) lines: Lines<'a>,
}

/// One worker's part of a level, and the pending keys.
pub(super) struct LevelPass<'a, 'l, R> {
    pub(super) plan: &'a Plan<R>,
    pub(super) number: usize,
    pub(super) level: Level,
    pub(super) keys: &'a [KeyHash],
    pub(super) pending: &'a PendingKeys,
    /// The worker's blocks, and the index of the first key that has not reached them.
    pub(super) share: Share<Part<'l>>,
    pub(super) scratch: &'a mut WorkerScratch,
    pub(super) work_sharing: &'a WorkSharing<Part<'l>>,
    /// With fewer remaining keys than this, no blocks are handed over.
    pub(super) keys_for_a_thread: usize,
}

kernel_table! {
    /// One worker's pass over its blocks of a level; returns the number of keys placed.
    pub(super) struct LevelPasses[R: Choose,] [R] {
        fn pass(pass: LevelPass<'_, '_, R>) -> u64;
    }
}

#[inline(always)]
fn pass<T: Target, R: Choose>(target: T, pass: LevelPass<'_, '_, R>) -> u64 {
    pass.run(target)
}

impl<R: Choose> LevelPass<'_, '_, R> {
    #[inline(always)]
    fn run<T: Target>(mut self, target: T) -> u64 {
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
                placed += u64::from(self.arrive(target, arrival));
            }
            if self.work_sharing.is_asked()
                && let Some(fewer) = self.give_half()
            {
                words = fewer;
            }
        }
        placed
    }

    #[inline(always)]
    fn prefetch(&self, arrival: &Arrival) {
        let block = self.level.block_of(arrival.word);
        let part = &self.share.part;
        self.plan.shape.prefetch(&part.lines, part.place_of(block), Nearness::First);
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
            let word = self.keys[place].candidate(self.number);
            list[count] = Arrival { place, word };
            count += usize::from(words.contain(word));
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
        let second = part.cut_at(cut, self.plan.shape.words_per_block());
        let left = part.words(self.level);
        self.work_sharing.answer(Some(Share { part: second, start: *start }));
        left
    }

    /// The step of an insert at one block; returns whether the key was placed.
    #[inline(always)]
    fn arrive<T: Target>(&mut self, target: T, Arrival { place, word }: Arrival) -> bool {
        let Self { plan, number, ref mut scratch, .. } = *self;
        let Plan { shape, rule, .. } = plan;
        let part = &mut self.share.part;
        let block = self.level.block_of(word);
        let key = self.keys[place];
        let reachable = number == 0 || self.pending.reachable(place);
        let here = part.place_of(block);
        if reachable && shape.test(target, &part.lines, here, key) {
            return false;
        }
        if !R::REJECTS || rule.admits(shape.load(&part.lines, here), key, number) {
            scratch.journal.note(shape, &part.lines, here, block);
            return plan.try_add(target, &mut &mut part.lines, here, number, key);
        }
        let probe = Probe::at(number, key, here);
        let was_marked = shape.hint_is_set(&part.lines, probe).unwrap_or(true);
        scratch.sent_on.insert(place, reachable && was_marked);
        if !was_marked {
            scratch.journal.note(shape, &part.lines, here, block);
            shape.set_hint(&mut &mut part.lines, probe);
        }
        false
    }
}

impl<'a> Part<'a> {
    /// Divides a table: one part begins with the first block, and one with each of `cuts`, ascending
    /// multiples of [`BLOCKS_TO_A_CUT`].
    pub(super) fn all(
        words: &'a mut Words,
        words_per_block: usize,
        cuts: impl Iterator<Item = u64>,
    ) -> Vec<Self> {
        let lines = words.as_lines_mut();
        let count = (lines.0.len() * WORDS_PER_LINE / words_per_block) as u64;
        let mut parts = Vec::from([Self { first: 0, count, lines }]);
        for cut in cuts {
            let next = parts.last_mut().map(|last| last.cut_at(cut, words_per_block));
            parts.extend(next);
        }
        parts
    }

    #[inline(always)]
    fn place_of(&self, block: BlockIndex) -> BlockIndex {
        BlockIndex(block.0.wrapping_sub(self.first))
    }

    /// A block in the middle of those of a level, on a line, with others on both sides.
    fn middle(&self, level: Level) -> Option<u64> {
        let first = self.first.max(level.offset);
        let end = (self.first + self.count).min(level.offset + level.size);
        let middle = first + end.saturating_sub(first) / 2;
        let middle = middle - middle % BLOCKS_TO_A_CUT;
        (first < middle && middle < end).then_some(middle)
    }

    /// Keeps the blocks before this one, which begins on a line, and returns the others.
    pub(super) fn cut_at(&mut self, block: u64, words_per_block: usize) -> Self {
        let before = block.clamp(self.first, self.first + self.count) - self.first;
        let lines = core::mem::take(&mut self.lines.0);
        let line = before as usize * words_per_block / WORDS_PER_LINE;
        let (ours, others) = lines.split_at_mut(line.min(lines.len()));
        let others = Self { first: block, count: self.count - before, lines: Lines(others) };
        (self.count, self.lines) = (before, Lines(ours));
        others
    }

    /// The words of its blocks of a level, if it has any.
    fn words(&self, level: Level) -> Option<WordRange> {
        WordRange::to(level, self.first..self.first + self.count)
    }
}
