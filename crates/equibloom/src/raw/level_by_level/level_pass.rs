//! One worker's pass over its blocks of a level.

use alloc::vec::Vec;

use super::WorkerScratch;
use super::pending::{PendingKeys, WORD};
use super::word_range::WordRange;
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
pub(super) struct LevelPass<'a, R> {
    pub(super) plan: &'a Plan<R>,
    pub(super) number: usize,
    pub(super) level: Level,
    pub(super) keys: &'a [KeyHash],
    pub(super) pending: &'a PendingKeys,
    pub(super) part: Part<'a>,
    pub(super) scratch: &'a mut WorkerScratch,
}

kernel_table! {
    /// One worker's pass over its blocks of a level; returns the number of keys placed.
    pub(super) struct LevelPasses[R: Choose,] [R] {
        fn pass(pass: LevelPass<'_, R>) -> u64;
    }
}

#[inline(always)]
fn pass<T: Target, R: Choose>(target: T, pass: LevelPass<'_, R>) -> u64 {
    pass.run(target)
}

impl<R: Choose> LevelPass<'_, R> {
    #[inline(always)]
    fn run<T: Target>(mut self, target: T) -> u64 {
        let Some(words) = self.part.words(self.level) else { return 0 };
        let mut placed = 0;
        let mut list = [Arrival { place: 0, word: 0 }; CHUNK];
        let mut start = 0;
        let mut pending = self.pending.places();
        let mut is_last = false;
        while !is_last {
            let count = if self.number == 0 {
                let end = self.keys.len().min(start + CHUNK);
                let count = self.list_all(start, end, words, &mut list);
                (start, is_last) = (end, end == self.keys.len());
                count
            } else {
                let count = self.list_pending(&mut pending, words, &mut list);
                is_last = count < CHUNK;
                count
            };
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
        }
        placed
    }

    #[inline(always)]
    fn prefetch(&self, arrival: &Arrival) {
        let block = self.level.block_of(arrival.word);
        self.plan.shape.prefetch(&self.part.lines, self.part.place_of(block), Nearness::First);
    }

    /// Prefetches one key of the next chunk for each arriving key.
    #[inline(always)]
    fn prefetch_later_key(&self, arrival: Arrival) {
        let key = self.keys.as_ptr().wrapping_add(arrival.place + CHUNK);
        prefetch(key.cast(), Nearness::Second);
    }

    /// Lists the keys of a chunk whose first block is the worker's.
    #[inline(always)]
    fn list_all(
        &self,
        start: usize,
        end: usize,
        words: WordRange,
        list: &mut [Arrival; CHUNK],
    ) -> usize {
        let mut count = 0;
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
        count
    }

    /// Lists the next pending keys whose later block is the worker's; fewer than fit only at the end.
    #[inline(always)]
    fn list_pending(
        &self,
        pending: &mut impl Iterator<Item = usize>,
        words: WordRange,
        list: &mut [Arrival; CHUNK],
    ) -> usize {
        let mut count = 0;
        while count < CHUNK
            && let Some(place) = pending.next()
        {
            let word = self.keys[place].candidate(self.number);
            list[count] = Arrival { place, word };
            count += usize::from(words.contain(word));
        }
        count
    }

    /// The step of an insert at one block; returns whether the key was placed.
    #[inline(always)]
    fn arrive<T: Target>(&mut self, target: T, Arrival { place, word }: Arrival) -> bool {
        let Self { plan, number, ref mut scratch, .. } = *self;
        let Plan { shape, rule, .. } = plan;
        let part = &mut self.part;
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
    /// Divides a table: one part begins with the first block, and one with each of `cuts`, ascending block
    /// numbers that begin on a line.
    pub(super) fn all(
        words: &'a mut Words,
        words_per_block: usize,
        cuts: impl Iterator<Item = u64>,
    ) -> Vec<Self> {
        let Lines(mut rest) = words.as_lines_mut();
        let mut first = 0;
        let mut parts = Vec::new();
        for end in cuts.map(Some).chain([None]) {
            let lines = end.map_or(rest.len(), |end| {
                (end - first) as usize * words_per_block / WORDS_PER_LINE
            });
            let (ours, others) = rest.split_at_mut(lines.min(rest.len()));
            let count = (ours.len() * WORDS_PER_LINE / words_per_block) as u64;
            parts.push(Self { first, count, lines: Lines(ours) });
            (first, rest) = (first + count, others);
        }
        parts
    }

    #[inline(always)]
    fn place_of(&self, block: BlockIndex) -> BlockIndex {
        BlockIndex(block.0.wrapping_sub(self.first))
    }

    /// The words of its blocks of a level, if it has any.
    fn words(&self, level: Level) -> Option<WordRange> {
        WordRange::to(level, self.first..self.first + self.count)
    }
}
