//! Strings on their way from one geometry to the next.
//!
//! Most work of a growing filter is done here. At three of four steps the lists of a new block are those of one or
//! two old ones, and their bits are copied as they are. When the lists double, or the fields become wider,
//! strings move one by one, in two words: a list number, and a remainder that begins at the highest bit,
//! with its end, a one, behind it. With `d` list bits more, the first `d` bits of the remainder move to the
//! list number.
//!
//! Strings that other levels hold come back to the first.

use alloc::vec::Vec;
use core::ops::Range;

use super::levels::{Level, Levels, Place};
use super::prefix::Prefix;
use super::table::{GrowthWork, Table};
use crate::block::isa::Target;
use crate::error::BuildError;

/// A remainder of no bits: only its end.
const NO_REMAINDER: u64 = 1 << 63;

/// Some lists of a table, which a block of another one takes.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// The lists, of which there are `2^list_bits`: as many as the table has, or more.
    pub(super) lists: Range<u64>,
    pub(super) list_bits: u32,
    /// The block, and how many of its lists come before these.
    pub(super) block: u64,
    pub(super) before: u32,
}

impl Piece {
    /// The part within some other lists.
    fn within(&self, others: &Range<u64>) -> Self {
        let lists = self.lists.start.max(others.start)..self.lists.end.min(others.end);
        let skipped = lists.start.saturating_sub(self.lists.start) as u32;
        Self { lists, before: self.before + skipped, ..*self }
    }
}

/// The strings of one block on their way to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Moving {
    /// Strings in the order of lists: list in the block, and remainder.
    strings: Vec<(u32, u64)>,
    /// Strings with several copies, and how many.
    repeated: Vec<(u32, u64, u64)>,
    /// Strings that were copied to the block.
    copied: u32,
}

impl Moving {
    fn clear(&mut self) {
        self.strings.clear();
        self.repeated.clear();
        self.copied = 0;
    }

    /// Inserts a string behind those of its list and the lists before: mostly at the end.
    #[inline(always)]
    fn insert(&mut self, list: u32, remainder: u64) {
        let mut at = self.strings.len();
        self.strings.push((list, remainder));
        while at > 0 && self.strings[at - 1].0 > list {
            self.strings.swap(at - 1, at);
            at -= 1;
        }
    }

    /// Copies some lists of the first level to their block, if that has the same fields and room for them, and
    /// gathers their other strings: of all levels, and those of `listed`. Returns how many of the levels' it has
    /// gathered.
    #[inline(always)]
    fn gather<T: Target>(
        &mut self,
        t: T,
        piece: &Piece,
        from: &Levels,
        listed: impl IntoIterator<Item = (Prefix, u64)>,
        to: &mut Levels,
    ) -> u64 {
        let &Piece { ref lists, list_bits, before, .. } = piece;
        let at = |list: u64| before + (list - lists.start) as u32;
        let copied = from.copy_lists(t, piece, self.copied, to);
        self.copied = copied.unwrap_or(self.copied);
        let first = usize::from(copied.is_some());
        let gathered = from.leave(t, first, lists, list_bits, |list, remainder| {
            self.insert(at(list), remainder);
        });
        for (string, copies) in listed {
            string.extended(list_bits, &mut |part| {
                let list = part.list(list_bits);
                let remainder = part.window(list_bits, u64::BITS);
                if !lists.contains(&list) {
                } else if copies == 1 {
                    self.insert(at(list), remainder);
                } else {
                    self.repeated.push((at(list), remainder, copies));
                }
            });
        }
        gathered
    }
}

impl Table {
    /// Fills the next block of the current table with the strings of its lists.
    #[inline(always)]
    pub(super) fn move_block<T: Target>(
        &mut self,
        t: T,
        work: &mut GrowthWork,
    ) -> Result<(), BuildError> {
        let Self { current, previous: Some(previous), listed, strings, moving, .. } = self else {
            return Ok(());
        };
        let block = previous.next;
        let lists = current.lists_of(block);
        work.bytes += current.allocate_to(lists.end)?;

        let list_bits = current.geometry.list_bits;
        let old_bits = previous.levels.geometry.list_bits;
        let doublings = list_bits - old_bits;
        let old_lists = lists.start >> doublings..lists.end >> doublings;
        work.blocks += previous.levels.blocks_with(&old_lists) + current.blocks_with(&lists);

        let listed = listed.take(old_bits, &old_lists);
        let piece = Piece { lists, list_bits, block, before: 0 };
        let left = moving.gather(t, &piece, &previous.levels, listed, current);
        *strings = (*strings + moving.strings.len() as u64).saturating_sub(left);

        previous.next += 1;
        if piece.lists.end == 1 << list_bits {
            self.previous = None;
        } else {
            previous.boundary = piece.lists.end << (u64::BITS - list_bits);
            previous.levels.free_before(old_lists.end);
        }
        self.store_gathered(t, block);
        Ok(())
    }

    /// Copies some lists of another table, which has no more lists than this one, for a block that is
    /// [filled](Self::fill_block) then.
    #[inline(always)]
    pub(super) fn gather<T: Target>(&mut self, t: T, source: &Self, piece: &Piece) {
        for (levels, held) in source.parts() {
            let own_bits = levels.geometry.list_bits;
            let more = piece.list_bits - own_bits;
            let part = piece.within(&(held.start << more..held.end << more));
            if !part.lists.is_empty() {
                let own = part.lists.start >> more..((part.lists.end - 1) >> more) + 1;
                let listed = source.listed.range(own_bits, &own);
                self.moving.gather(t, &part, levels, listed, &mut self.current);
            }
        }
    }

    /// Fills a block with what was gathered from another table.
    #[inline(always)]
    pub(super) fn fill_block<T: Target>(&mut self, t: T, block: u64) {
        self.strings += u64::from(self.moving.copied) + self.moving.strings.len() as u64;
        self.store_gathered(t, block);
    }

    /// Stores what was gathered for a block of the current table.
    #[inline(always)]
    fn store_gathered<T: Target>(&mut self, t: T, block: u64) {
        let Self { current, listed, strings, moving, removable, .. } = self;
        let list_bits = current.geometry.list_bits;
        let first = current.lists_of(block).start;
        let string = |list: u32, remainder| {
            Prefix::from_field(first + u64::from(list), list_bits, remainder, u64::BITS)
        };
        // An empty block is filled at once.
        let filled = if moving.copied == 0 { current.fill(block, &moving.strings) } else { 0 };
        for &(list, remainder) in &moving.strings[filled..] {
            let string = string(list, remainder);
            if !current.store(t, string, 0, *removable) {
                current.lead_to_list(string);
                listed.insert(string, 1);
                *strings = strings.saturating_sub(1);
            }
        }
        let longest = current.lengths().end - 1;
        for &(list, remainder, copies) in &moving.repeated {
            let string = string(list, remainder);
            current.lead_to_list(string);
            listed.insert(string.truncated(longest), copies);
        }
        moving.clear();
    }
}

impl Levels {
    /// Fills an empty block of the first level with strings in the order of lists; returns how many fitted.
    fn fill(&mut self, block: u64, strings: &[(u32, u64)]) -> usize {
        let Level { shape, lines, .. } = &mut self.levels[0];
        let Some(line) = lines.get_mut(block as usize) else { return 0 };
        let fitting = strings.len().min(shape.slots as usize);
        shape.fill(line, &strings[..fitting]);
        fitting
    }

    /// Copies some lists of the first level to a block of another table that holds `held` strings, all in lists
    /// before these, if it has the same fields and room for all strings. Returns how many it holds then.
    #[inline(always)]
    fn copy_lists<T: Target>(
        &self,
        t: T,
        piece: &Piece,
        mut held: u32,
        to: &mut Self,
    ) -> Option<u32> {
        let &Piece { ref lists, list_bits, block, before } = piece;
        let (old, new) = (&self.levels[0], &mut to.levels[0]);
        if (old.list_bits, old.shape.width) != (list_bits, new.shape.width) {
            return None;
        }
        let line = new.lines.get_mut(block as usize)?;
        let (mut at, mut filled) = (lists.start, *line);
        while at < lists.end {
            let Place { block, list } = old.place_of_list(at);
            let count = (lists.end - at).min(u64::from(old.shape.lists - list)) as u32;
            let lists = list..list + count;
            let before = (before + (at - piece.lists.start) as u32, held);
            held = new.shape.append(
                t,
                &mut filled,
                before,
                &old.shape,
                old.lines.get(block)?,
                lists,
            )?;
            at += u64::from(count);
        }
        *line = filled;
        Some(held)
    }

    /// Calls `visit` with the list number and the remainder of each string of some lists, in the levels from number
    /// `from` on, for a geometry of `2^list_bits` lists: as many as this one's, or more. A string that has too few
    /// bits for that stands in several lists then. Returns the number of strings here.
    #[inline(always)]
    fn leave<T: Target>(
        &self,
        t: T,
        from: usize,
        lists: &Range<u64>,
        list_bits: u32,
        mut visit: impl FnMut(u64, u64),
    ) -> u64 {
        let mut count = 0;
        for level in &self.levels[from..] {
            let bits = list_bits - level.list_bits;
            let own = lists.start >> bits..((lists.end - 1) >> bits) + 1;
            let Place { mut block, list: mut from } = level.place_of_list(own.start);
            let last = level.place_of_list(own.end - 1).block;
            while block <= last {
                let first = block as u64 * u64::from(level.shape.lists);
                let Some(line) = level.lines.get(block) else { break };
                for (list, field) in level.shape.contents(t, line, from) {
                    let list = first + u64::from(list);
                    if list >= own.end {
                        break;
                    }
                    let remainder = field << (u64::BITS - level.shape.width);
                    let list = list << bits | remainder >> 1 >> (63 - bits);
                    let remainder = remainder << bits;
                    if remainder != 0 {
                        if lists.contains(&list) {
                            count += 1;
                            visit(list, remainder);
                        }
                        continue;
                    }
                    // The string's end has become the lowest one of the list number.
                    let first = list & (list - 1);
                    let end = first + 2 * (list - first);
                    let lists = first.max(lists.start)..end.min(lists.end);
                    count += u64::from(!lists.is_empty());
                    lists.for_each(|list| visit(list, NO_REMAINDER));
                }
                (block, from) = (block + 1, 0);
            }
        }
        count
    }
}
