//! What one thread does at its blocks of a level.

use super::journal::Journal;
use super::travellers::Travellers;
use crate::block::simd::{Machine, Nearness, OnBlocks, Operation};
use crate::block::{BlockArray, BlockIndex, On};
use crate::hashing::KeyHash;
use crate::placement::{Level, Rule};
use crate::raw::Balanced;

/// Keys of a slab that are looked through before those that were found are inserted: a multiple of 64.
/// They and the list of them fit into a first-level cache.
const CHUNK: usize = 1 << 10;
/// How many inserts ahead a block is asked for.
const AHEAD: usize = 32;

/// A key at a block of the thread's.
#[derive(Clone, Copy)]
struct Arrival {
    /// Where the key stands in the slab.
    place: usize,
    block: BlockIndex,
}

/// Blocks that belong to one thread.
pub(super) struct Part<'a, B> {
    /// The number of the first in the whole table.
    pub(super) first: u64,
    pub(super) blocks: B,
    pub(super) journal: &'a mut Journal,
}

/// One thread's part of a level, and all that come to the level.
pub(super) struct Visit<'a, R, B: BlockArray> {
    /// The filter, whose own blocks are away, divided among the threads.
    pub(super) filter: &'a Balanced<R, B>,
    pub(super) probe: usize,
    pub(super) level: Level,
    pub(super) keys: &'a [KeyHash],
    pub(super) travellers: &'a Travellers,
    pub(super) part: Part<'a, B>,
}

/// What came of it.
pub(super) struct Visited {
    pub(super) sent_on: Travellers,
    pub(super) placed: u64,
}

impl<R: Rule, B: BlockArray> OnBlocks for Visit<'_, R, B> {
    #[inline(always)]
    fn are_usual(&self) -> bool {
        self.part.blocks.is_usual()
    }
}

impl<R: Rule, B: BlockArray> Operation for Visit<'_, R, B> {
    type Output = Visited;

    #[inline(always)]
    fn run<M: Machine>(mut self, machine: M) -> Visited {
        let mut sent_on = Travellers::none(self.keys.len());
        let mut placed = 0;
        let mut list = [Arrival { place: 0, block: BlockIndex(0) }; CHUNK];
        for start in (0..self.keys.len()).step_by(CHUNK) {
            let count = if self.probe == 0 {
                self.list_all(start, &mut list)
            } else {
                self.list_travellers(start, &mut list)
            };
            let list = &list[..count];
            for arrival in list.iter().take(AHEAD) {
                self.part.prefetch(arrival.block);
            }
            for (index, &arrival) in list.iter().enumerate() {
                if let Some(ahead) = list.get(index + AHEAD) {
                    self.part.prefetch(ahead.block);
                }
                self.arrive(machine, arrival, &mut sent_on, &mut placed);
            }
        }
        Visited { sent_on, placed }
    }
}

impl<R: Rule, B: BlockArray> Visit<'_, R, B> {
    /// Lists the keys of a chunk whose first block is the thread's. Every key is written down, and the
    /// next one over it if it was not meant: nobody could foresee a branch.
    #[inline(always)]
    fn list_all(&self, start: usize, list: &mut [Arrival; CHUNK]) -> usize {
        let mut count = 0;
        for (place, &key) in self.keys.iter().enumerate().skip(start).take(CHUNK) {
            let block = self.level.block_of(key.candidate(0));
            list[count % CHUNK] = Arrival { place, block };
            count += usize::from(self.part.owns(block));
        }
        count
    }

    /// Lists the keys of a chunk that are on their way to a later block, if it is the thread's.
    #[inline(always)]
    fn list_travellers(&self, start: usize, list: &mut [Arrival; CHUNK]) -> usize {
        let mut count = 0;
        for place in self.travellers.places_from(start, CHUNK) {
            let key = self.filter.blocks.seen(self.keys[place]);
            let Some(stop) = self.filter.candidates.walk(key).nth(self.probe) else { continue };
            list[count % CHUNK] = Arrival { place, block: stop.block };
            count += usize::from(self.part.owns(stop.block));
        }
        count
    }

    /// What an insert does at one block.
    #[inline(always)]
    fn arrive<M: Machine>(
        &mut self,
        machine: M,
        Arrival { place, block }: Arrival,
        sent_on: &mut Travellers,
        placed: &mut u64,
    ) {
        let Self { filter, probe, ref mut part, .. } = *self;
        let key = filter.blocks.seen(self.keys[place]);
        let led_on = probe == 0 || self.travellers.led_on(place);
        let here = part.place_of(block);
        if led_on && !filter.rule.places_repeats() && part.blocks.test(machine, here, key) {
            return;
        }
        let view = On { blocks: &part.blocks, machine };
        if !R::REJECTS || !filter.rule.looks_further(&view, key, probe, here) {
            part.journal.note(&part.blocks, here, block);
            part.blocks.add(machine, here, key);
            *placed += 1;
            return;
        }
        let mut stop = filter.candidates.stop_at(probe, key, block);
        stop.block = here;
        let was_marked = part.blocks.turned_away(machine, stop).unwrap_or(true);
        sent_on.insert(place, led_on && was_marked);
        if !was_marked {
            part.journal.note(&part.blocks, here, block);
            part.blocks.mark(stop);
        }
    }
}

impl<B: BlockArray> Part<'_, B> {
    #[inline(always)]
    fn place_of(&self, block: BlockIndex) -> BlockIndex {
        BlockIndex(block.0.wrapping_sub(self.first))
    }

    #[inline(always)]
    fn owns(&self, block: BlockIndex) -> bool {
        self.place_of(block).0 < self.blocks.count()
    }

    #[inline(always)]
    fn prefetch(&self, block: BlockIndex) {
        self.blocks.prefetch(self.place_of(block), Nearness::First);
    }
}
