//! One worker's pass over its blocks of a level.

use alloc::vec::Vec;
use core::ops::Range;

use super::scratch::{PendingKeys, Scratch};
use crate::block::BlockIndex;
use crate::block::isa::{Nearness, Target, kernel_table};
use crate::hashing::KeyHash;
use crate::placement::{Choose, Level, Probe};
use crate::raw::balanced::Plan;
use crate::storage::{Lines, WORDS_PER_LINE, Words};

/// Own keys that are listed before they are inserted: they and their list fit into a first-level cache. (Tests
/// need many chunks.)
const CHUNK: usize = if cfg!(test) { 1 << 6 } else { 1 << 10 };
/// How many inserts ahead a block is prefetched.
const AHEAD: usize = 32;
/// Parts of a table begin at multiples of this many blocks, and so on a cache line, for any block size.
const BLOCKS_TO_A_CUT: u64 = 64;

/// Blocks of one worker.
pub(super) struct Part<'a> {
    /// Their numbers in the whole table.
    blocks: Range<u64>,
    lines: Lines<'a>,
}

impl<'a> Part<'a> {
    /// Divides a table into up to `count` parts, among which the blocks of a level are shared evenly. The first
    /// part includes everything before the level, the last everything after it.
    pub(super) fn all(
        words: &'a mut Words,
        words_per_block: usize,
        level: Level,
        count: usize,
    ) -> Vec<Self> {
        let Lines(mut rest) = words.as_lines_mut();
        let mut first = 0;
        let mut parts = Vec::new();
        for cut in cuts(level, count).map(Some).chain([None]) {
            let to_cut = |cut| (cut - first) as usize * words_per_block / WORDS_PER_LINE;
            let (lines, others) = rest.split_at_mut(cut.map_or(rest.len(), to_cut).min(rest.len()));
            let end = first + (lines.len() * WORDS_PER_LINE / words_per_block) as u64;
            parts.push(Self { blocks: first..end, lines: Lines(lines) });
            (first, rest) = (end, others);
        }
        parts
    }

    /// The number of a block among these.
    #[inline(always)]
    const fn place_of(&self, block: BlockIndex) -> BlockIndex {
        BlockIndex(block.0.wrapping_sub(self.blocks.start))
    }
}

/// Where the parts of a level begin, but for the first.
pub(super) fn cuts(level: Level, parts: usize) -> impl Iterator<Item = u64> {
    let end = level.offset + level.size;
    let size = level.size.div_ceil(parts as u64).max(BLOCKS_TO_A_CUT);
    let cut = move |part| level.offset.saturating_add(size.saturating_mul(part));
    let on_a_line = move |cut: u64| cut - cut % BLOCKS_TO_A_CUT;
    (1..parts as u64).map(move |part| on_a_line(cut(part))).take_while(move |&cut| cut < end)
}

kernel_table! {
    /// One worker's pass; returns the number of keys placed.
    pub(super) struct Passes[R: Choose,] [R] {
        #[any]
        fn pass(
            plan: &Plan<R>,
            number: usize,
            keys: &[KeyHash],
            pending: &PendingKeys,
            part: Part<'_>,
            scratch: &mut Scratch,
        ) -> u64;
    }
}

/// Takes the pending keys whose block of the level numbered `number` belongs to the part to that block, in
/// order.
#[inline(always)]
fn pass<T: Target, R: Choose>(
    target: T,
    plan: &Plan<R>,
    number: usize,
    keys: &[KeyHash],
    pending: &PendingKeys,
    mut part: Part<'_>,
    scratch: &mut Scratch,
) -> u64 {
    let Plan { shape, rule, .. } = plan;
    let level = plan.levels.level(number);
    let mut placed = 0;
    let mut own = [(0, BlockIndex(0)); CHUNK];
    let mut places = pending.places();
    loop {
        let mut count = 0;
        while count < CHUNK
            && let Some(place) = places.next()
        {
            let block = level.block_of(keys[place].candidate(number));
            own[count] = (place, block);
            count += usize::from(part.blocks.contains(&block.0));
        }
        let own = &own[..count];
        let ahead = own.iter().skip(AHEAD).map(Some).chain(core::iter::repeat(None));
        for (_, block) in own.iter().take(AHEAD) {
            shape.prefetch(&part.lines, part.place_of(*block), Nearness::First);
        }
        for (&(place, block), ahead) in own.iter().zip(ahead) {
            if let Some((_, block)) = ahead {
                shape.prefetch(&part.lines, part.place_of(*block), Nearness::First);
            }
            let reachable = number == 0 || pending.reachable(place);
            let (key, here) = (keys[place], part.place_of(block));
            if reachable && shape.test(target, &part.lines, here, key) {
                continue;
            }
            scratch.journal.note(shape, &part.lines, here, block);
            if !R::REJECTS || rule.admits(shape.load(&part.lines, here), key, number) {
                let lines = &mut &mut part.lines;
                placed += u64::from(plan.try_add(target, lines, here, number, key));
                continue;
            }
            let probe = Probe::at(number, key, here);
            let was_set = shape.hint_is_set(target, &part.lines, probe).unwrap_or(true);
            scratch.sent_on.insert(place, reachable && was_set);
            shape.set_hint(&mut &mut part.lines, probe);
        }
        if count < CHUNK {
            return placed;
        }
    }
}
