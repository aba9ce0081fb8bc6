//! A table of one geometry: three levels of blocks.
//!
//! A block that is full sends a string on to the next level, and sets a hint. Each level has 1/16 of the lists of
//! the one before; the string is the same there, with a shorter list number and a longer remainder. So what is
//! stored of a string says where it stands in every level, and in every table.

use core::ops::{ControlFlow, Range};

use super::block::{Run, Shape};
use super::prefix::{Prefix, field_matches};
use super::schedule::{FEWER_BITS, Geometry, LEVELS};
use super::segments::Segments;
use crate::block::isa::{ANY, Nearness, Target};
use crate::error::BuildError;
use crate::observer::Observer;
use crate::storage::{Line, WORDS_PER_LINE, Words};

/// Equal strings in one list of a removable filter; more are counted in the list of strings.
const MAX_COPIES: usize = 4;

/// One level of a table.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub(super) shape: Shape,
    /// `log2` of the number of lists.
    pub(super) list_bits: u32,
    /// ⌊2⁶⁴ / lists per block⌋ + 1, to divide by multiplying. Exact for list numbers below 2⁵⁷.
    reciprocal: u64,
    pub(super) lines: Segments,
}

/// A block of a level, and a list in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) block: usize,
    pub(super) list: u32,
}

impl Level {
    fn new(geometry: &Geometry, number: usize) -> Self {
        let Geometry { list_bits, lists, width, .. } = *geometry;
        let fewer = list_bits.min(FEWER_BITS[number]);
        let shape = Shape::new(lists, width + fewer);
        let blocks = (1_u64 << (list_bits - fewer)).div_ceil(lists.into());
        Self {
            shape,
            list_bits: list_bits - fewer,
            reciprocal: u64::MAX / u64::from(lists) + 1,
            lines: Segments::new(usize::try_from(blocks).unwrap_or(usize::MAX)),
        }
    }

    /// Where the strings of a list stand.
    #[inline(always)]
    pub(super) fn place_of_list(&self, list: u64) -> Place {
        let block = ((u128::from(list) * u128::from(self.reciprocal)) >> 64) as u64;
        let list = list - block * u64::from(self.shape.lists);
        Place { block: block as usize, list: list as u32 }
    }

    #[inline(always)]
    fn place(&self, string: Prefix) -> Place {
        self.place_of_list(string.list(self.list_bits))
    }

    /// The bits of a key that are compared with fields.
    #[inline(always)]
    fn window(&self, key: Prefix) -> u64 {
        key.window(self.list_bits, self.shape.width)
    }

    /// The line and the list of a string. A line that could not be allocated has sent on everything.
    #[inline(always)]
    fn line(&self, string: Prefix) -> Option<(&Line, u32)> {
        let Place { block, list } = self.place(string);
        Some((self.lines.get(block)?, list))
    }

    /// Blocks with these lists of the first level, which has `2^first_bits`.
    pub(super) fn blocks_with(&self, lists: &Range<u64>, first_bits: u32) -> Range<usize> {
        let shift = first_bits - self.list_bits;
        let first = self.place_of_list(lists.start >> shift).block;
        let last = self.place_of_list((lists.end - 1) >> shift).block;
        first..last + 1
    }

    /// All strings of a block.
    fn contents(&self, block: usize) -> impl Iterator<Item = Prefix> {
        let first = block as u64 * u64::from(self.shape.lists);
        self.lines.get(block).into_iter().flat_map(move |line| {
            self.shape.contents(ANY, line, 0).map(move |(list, field)| {
                let list = first + u64::from(list);
                Prefix::from_field(list, self.list_bits, field, self.shape.width)
            })
        })
    }
}

/// Where a lookup ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// A stored string is a beginning of the key.
    Yes,
    /// No stored string is.
    No,
    /// No string in the levels; the list of strings has to be asked.
    AskList,
}

/// What became of a key in the first level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstBlock {
    /// Its string was stored.
    Stored,
    /// A string there is a beginning of the key.
    Holds,
    /// Nothing: the block is full or has sent on strings.
    Unclear,
}

/// A string in a level, found for removal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Match {
    level: usize,
    place: Place,
    run: Run,
    slot: u32,
    pub(super) length: u32,
}

/// A table of one geometry.
#[derive(Debug, Clone)]
pub(super) struct Levels {
    pub(super) geometry: Geometry,
    pub(super) levels: [Level; LEVELS],
}

impl Levels {
    /// An empty table without memory.
    pub(super) fn new(geometry: Geometry) -> Self {
        let level = |number| Level::new(&geometry, number);
        Self { geometry, levels: core::array::from_fn(level) }
    }

    /// The lists of a block of the first level.
    pub(super) fn lists_of(&self, block: u64) -> Range<u64> {
        let Geometry { list_bits, lists, .. } = self.geometry;
        let start = block * u64::from(lists);
        start..(start + u64::from(lists)).min(1 << list_bits)
    }

    /// Allocates the lines of all lists before `end`; returns the number of new bytes.
    pub(super) fn allocate_to(&mut self, end: u64) -> Result<u64, BuildError> {
        let mut bytes = 0;
        for level in &mut self.levels {
            let blocks = level.blocks_with(&(0..end), self.geometry.list_bits);
            bytes += level.lines.allocate_to(blocks.end - 1)?;
        }
        Ok(bytes)
    }

    /// Allocates everything.
    pub(super) fn allocate(&mut self) -> Result<u64, BuildError> {
        self.check_memory()?;
        self.allocate_to(1 << self.geometry.list_bits)
    }

    /// Fails if there is no memory for all lines in one piece: a table that is larger than the memory is refused before it
    /// has filled that.
    pub(super) fn check_memory(&self) -> Result<(), BuildError> {
        let lines = self.blocks_with(&(0..1 << self.geometry.list_bits));
        let memory = Words::zeroed(lines.saturating_mul(WORDS_PER_LINE as u64))?;
        // Otherwise the compiler leaves out an allocation that nothing uses.
        drop(core::hint::black_box(memory));
        Ok(())
    }

    /// Frees lines that have lists before `start` only.
    pub(super) fn free_before(&mut self, start: u64) {
        for level in &mut self.levels {
            let shift = self.geometry.list_bits - level.list_bits;
            level.lines.free_before(level.place_of_list(start >> shift).block);
        }
    }

    /// Prefetches the block of the first level.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: Prefix, nearness: Nearness) {
        let level = &self.levels[0];
        level.lines.prefetch(level.place(key).block, nearness);
    }

    /// Whether a string in the first level is a beginning of the key. The list is never asked: a block that
    /// has sent on strings says [`Found::AskList`], and means the next levels.
    #[inline(always)]
    pub(super) fn find_first<T: Target>(&self, t: T, key: Prefix) -> Found {
        let level = &self.levels[0];
        let Some((line, list)) = level.line(key) else { return Found::AskList };
        if let Some(run) = level.shape.run(t, line, list)
            && run.count > 0
            && level.shape.matches(t, line, run, level.window(key))
        {
            return Found::Yes;
        }
        if level.shape.hints(t, line, list) { Found::AskList } else { Found::No }
    }

    /// Whether a string in the levels from number `from` on is a beginning of the key.
    #[inline(always)]
    pub(super) fn find<T: Target, O: Observer>(
        &self,
        t: T,
        key: Prefix,
        from: usize,
        observer: &mut O,
    ) -> Found {
        for level in &self.levels[from..] {
            let Some((line, list)) = level.line(key) else { break };
            observer.block_read();
            if let Some(run) = level.shape.run(t, line, list)
                && level.shape.matches(t, line, run, level.window(key))
            {
                return Found::Yes;
            }
            if !level.shape.hints(t, line, list) {
                return Found::No;
            }
        }
        Found::AskList
    }

    /// Stores a string in the first level from number `from` on that has room. Returns `false` if none has, or, in a
    /// removable filter, if one holds too many copies: the string is for the list.
    #[inline(always)]
    pub(super) fn store<T: Target>(
        &mut self,
        t: T,
        string: Prefix,
        from: usize,
        counts_copies: bool,
    ) -> bool {
        for level in &mut self.levels[from..] {
            let Place { block, list } = level.place(string);
            let shape = &level.shape;
            let field = string.field(level.list_bits, shape.width);
            let Some(line) = level.lines.get_mut(block) else { continue };
            let Some(run) = shape.run(t, line, list) else { continue };
            let equal = || shape.strings(t, line, run).filter(|&(_, other)| other == field);
            if counts_copies && equal().count() >= MAX_COPIES {
                return false;
            }
            if shape.load(t, line) < shape.slots {
                shape.insert(t, line, run, field);
                return true;
            }
            shape.set_hint(line, list);
        }
        false
    }

    /// Stores a key's string in the first level if it has room and its block neither holds nor has sent on a
    /// beginning of the key.
    #[inline(always)]
    pub(super) fn store_first<T: Target>(&mut self, t: T, key: Prefix) -> FirstBlock {
        let level = &mut self.levels[0];
        let Place { block, list } = level.place(key);
        let (window, shape) = (level.window(key), &level.shape);
        let Some(line) = level.lines.get_mut(block) else { return FirstBlock::Unclear };
        let Some(run) = shape.run(t, line, list) else { return FirstBlock::Unclear };
        if run.count > 0 && shape.matches(t, line, run, window) {
            return FirstBlock::Holds;
        }
        if shape.hints(t, line, list) || shape.load(t, line) >= shape.slots {
            return FirstBlock::Unclear;
        }
        // The last bit is the string's end: the key is longer.
        shape.insert(t, line, run, window | 1);
        FirstBlock::Stored
    }

    /// Makes lookups of this string ask the list.
    pub(super) fn lead_to_list(&mut self, string: Prefix) {
        for level in &mut self.levels {
            let Place { block, list } = level.place(string);
            if let Some(line) = level.lines.get_mut(block) {
                level.shape.set_hint(line, list);
            }
        }
    }

    /// The longest string in the levels that is a beginning of the key, and whether the list has to be asked for
    /// a longer one.
    pub(super) fn longest(&self, key: Prefix) -> (Option<Match>, Found) {
        let mut longest: Option<Match> = None;
        for (number, level) in self.levels.iter().enumerate() {
            let place = level.place(key);
            let (shape, window) = (&level.shape, level.window(key));
            let Some(line) = level.lines.get(place.block) else { break };
            let Some(run) = shape.run(ANY, line, place.list) else { break };
            // Only a damaged block has a field without an end.
            let strings = shape.strings(ANY, line, run).filter(|&(_, field)| field != 0);
            for (slot, field) in strings {
                let length = level.list_bits + shape.width - 1 - field.trailing_zeros();
                if field_matches(field, window) && longest.is_none_or(|best| length > best.length) {
                    longest = Some(Match { level: number, place, run, slot, length });
                }
            }
            if !shape.hints(ANY, line, place.list) {
                return (longest, Found::No);
            }
        }
        (longest, Found::AskList)
    }

    /// Removes a string that was found.
    pub(super) fn remove(&mut self, found: &Match) {
        let level = &mut self.levels[found.level];
        if let Some(line) = level.lines.get_mut(found.place.block) {
            level.shape.remove(ANY, line, found.run, found.slot);
        }
    }

    /// The blocks with some lists of the first level, level by level; `None` for those that are not allocated.
    pub(super) fn lines(&self, lists: Range<u64>) -> impl Iterator<Item = Option<&Line>> {
        self.levels.iter().flat_map(move |level| {
            let blocks = level.blocks_with(&lists, self.geometry.list_bits);
            blocks.map(|block| level.lines.get(block))
        })
    }

    /// Number of blocks with some lists of the first level.
    pub(super) fn blocks_with(&self, lists: &Range<u64>) -> u64 {
        let list_bits = self.geometry.list_bits;
        self.levels.iter().map(|level| level.blocks_with(lists, list_bits).len() as u64).sum()
    }

    /// How many levels send on what is not found in this list of the first.
    pub(super) fn hinted_levels(&self, list: u64) -> usize {
        let is_hinted = |level: &&Level| {
            let place = level.place_of_list(list >> (self.geometry.list_bits - level.list_bits));
            let line = level.lines.get(place.block);
            line.is_none_or(|line| level.shape.hints(ANY, line, place.list))
        };
        self.levels.iter().take_while(is_hinted).count()
    }

    /// Bytes of all levels once they are allocated.
    #[cfg(feature = "planner")]
    pub(super) fn bytes_when_full(&self) -> u64 {
        let bytes = self.levels.iter().map(|level| level.lines.bytes_when_full());
        bytes.fold(0, u64::saturating_add)
    }

    /// Bytes of all levels.
    pub(super) fn bytes(&self) -> u64 {
        self.levels.iter().map(|level| level.lines.bytes()).sum()
    }

    /// The lengths that strings of this table have.
    pub(super) const fn lengths(&self) -> Range<u32> {
        let Geometry { list_bits, width, .. } = self.geometry;
        list_bits..list_bits + width
    }

    /// Visits all strings of lists from `start` on, in an order that strews them over the table: a table that
    /// takes them in this order fills evenly.
    pub(super) fn for_each<B>(
        &self,
        lists: &Range<u64>,
        mut visit: impl FnMut(Prefix) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let list_bits = self.geometry.list_bits;
        for level in &self.levels {
            let blocks = level.blocks_with(lists, list_bits);
            let count = blocks.len();
            let stride = stride(count);
            for number in 0..count {
                let block =
                    blocks.start + (number as u128 * stride as u128 % count as u128) as usize;
                for string in level.contents(block) {
                    if lists.contains(&string.list(list_bits)) {
                        visit(string)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// A number without common divisors with `count`, near `count` divided by the golden ratio: its multiples are
/// strewn evenly.
fn stride(count: usize) -> usize {
    let is_coprime = |stride: &usize| {
        let (mut a, mut b) = (count, *stride);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    let first = (count as f64 * 0.618) as usize;
    (first.max(1)..count).find(is_coprime).unwrap_or(1)
}
