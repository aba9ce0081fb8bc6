//! What one thread does at its blocks of a level.

use super::Luggage;
use super::travellers::{Travellers, WORD};
use super::word_range::WordRange;
use crate::block::simd::{Machine, Nearness, Operation, prefetch};
use crate::block::{BlockArray, BlockIndex, On};
use crate::hashing::KeyHash;
use crate::placement::{Level, Rule};
use crate::raw::Balanced;

/// Keys of a slab that are looked through before those that were found are inserted: a multiple of 64. At later
/// levels, which few keys come to, those that are found. They and the list of them fit into a first-level cache.
const CHUNK: usize = 1 << 10;
/// How many inserts ahead a block is asked for.
const AHEAD: usize = 32;

/// A key that comes to a block of the thread's.
#[derive(Clone, Copy)]
struct Arrival {
    /// Where the key stands in the slab.
    place: usize,
    /// What leads it to the block.
    word: u64,
}

/// Blocks that belong to one thread.
pub(super) struct Part<B> {
    /// The number of the first in the whole table.
    pub(super) first: u64,
    pub(super) blocks: B,
}

/// One thread's part of a level, and all that come to the level.
pub(super) struct Visit<'a, 'l, R, B: BlockArray> {
    /// The filter, whose own blocks are away, divided among the threads.
    pub(super) filter: &'a Balanced<R, B>,
    pub(super) probe: usize,
    pub(super) level: Level,
    pub(super) keys: &'a [KeyHash],
    pub(super) travellers: &'a Travellers,
    pub(super) part: Part<B>,
    pub(super) luggage: &'l mut Luggage,
}

/// What came of it.
pub(super) struct Visited<'l> {
    pub(super) sent_on: &'l Travellers,
    pub(super) placed: u64,
}

impl<'l, R: Rule, B: BlockArray> Operation for Visit<'_, 'l, R, B> {
    type Output = Visited<'l>;

    #[inline(always)]
    fn run<M: Machine>(mut self, machine: M) -> Visited<'l> {
        self.luggage.sent_on.set_to_none(self.keys.len());
        let Some(words) = self.part.words(self.level) else {
            return Visited { sent_on: &self.luggage.sent_on, placed: 0 };
        };
        let mut placed = 0;
        let mut list = [Arrival { place: 0, word: 0 }; CHUNK];
        let mut start = 0;
        let mut travellers = self.travellers.places();
        let mut is_last = false;
        while !is_last {
            let count = if self.probe == 0 {
                self.list_all(start, words, &mut list)
            } else {
                self.list_travellers(&mut travellers, words, &mut list)
            };
            start += CHUNK;
            is_last = if self.probe == 0 { start >= self.keys.len() } else { count < CHUNK };
            let list = &list[..count];
            for arrival in list.iter().take(AHEAD) {
                self.prefetch(arrival);
            }
            for (index, &arrival) in list.iter().enumerate() {
                if let Some(ahead) = list.get(index + AHEAD) {
                    self.prefetch(ahead);
                }
                self.prefetch_later_key(arrival);
                placed += u64::from(self.arrive(machine, arrival));
            }
        }
        Visited { sent_on: &self.luggage.sent_on, placed }
    }
}

impl<R: Rule, B: BlockArray> Visit<'_, '_, R, B> {
    #[inline(always)]
    fn prefetch(&self, arrival: &Arrival) {
        let block = self.level.block_of(arrival.word);
        self.part.blocks.prefetch(self.part.place_of(block), Nearness::First);
    }

    /// Asks for a key of the next chunk, which will be looked through: one for each key that arrives, so that
    /// they come in the meantime.
    #[inline(always)]
    fn prefetch_later_key(&self, arrival: Arrival) {
        let key = self.keys.as_ptr().wrapping_add(arrival.place + CHUNK);
        prefetch(key.cast(), Nearness::Second);
    }

    /// Lists the keys of a chunk whose first block is the thread's.
    #[inline(always)]
    fn list_all(&self, start: usize, words: WordRange, list: &mut [Arrival; CHUNK]) -> usize {
        let mut count = 0;
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
        count
    }

    /// Lists the next keys on their way to a later block which is the thread's; fewer than there is room for
    /// if they are the last.
    #[inline(always)]
    fn list_travellers(
        &self,
        travellers: &mut impl Iterator<Item = usize>,
        words: WordRange,
        list: &mut [Arrival; CHUNK],
    ) -> usize {
        let mut count = 0;
        while count < CHUNK
            && let Some(place) = travellers.next()
        {
            let key = self.filter.blocks.seen(self.keys[place]);
            let Some(before) = self.filter.candidates.walk(key).nth(self.probe - 1) else {
                continue;
            };
            list[count] = Arrival { place, word: before.onward };
            count += usize::from(words.contain(before.onward));
        }
        count
    }

    /// What an insert does at one block; whether the key was placed there.
    #[inline(always)]
    fn arrive<M: Machine>(&mut self, machine: M, Arrival { place, word }: Arrival) -> bool {
        let Self { filter, probe, ref mut part, ref mut luggage, .. } = *self;
        let block = self.level.block_of(word);
        let key = filter.blocks.seen(self.keys[place]);
        let led_on = probe == 0 || self.travellers.led_on(place);
        let here = part.place_of(block);
        if led_on && !filter.rule.places_repeats() && part.blocks.test(machine, here, key) {
            return false;
        }
        let view = On { blocks: &part.blocks, machine };
        if !R::REJECTS || !filter.rule.looks_further(&view, key, probe, here) {
            luggage.journal.note(&part.blocks, here, block);
            part.blocks.add(machine, here, key);
            return true;
        }
        let mut stop = filter.candidates.stop_at(probe, key, block);
        stop.block = here;
        let was_marked = part.blocks.turned_away(machine, stop).unwrap_or(true);
        luggage.sent_on.insert(place, led_on && was_marked);
        if !was_marked {
            luggage.journal.note(&part.blocks, here, block);
            part.blocks.mark(stop);
        }
        false
    }
}

impl<B: BlockArray> Part<B> {
    #[inline(always)]
    fn place_of(&self, block: BlockIndex) -> BlockIndex {
        BlockIndex(block.0.wrapping_sub(self.first))
    }

    /// The words that lead to its blocks of a level, if it has any.
    fn words(&self, level: Level) -> Option<WordRange> {
        WordRange::to(level, self.first..self.first + self.blocks.count())
    }
}
