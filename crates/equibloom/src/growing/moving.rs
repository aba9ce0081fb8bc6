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
use crate::storage::Line;

/// A remainder of no bits: only its end.
const NO_REMAINDER: u64 = 1 << 63;

/// The strings of the lists of one block, in the order of lists: list in the block, and remainder.
#[derive(Debug, Clone, Default)]
pub(super) struct Moving(Vec<(u32, u64)>);

impl Moving {
    /// Inserts a string behind those of its list and the lists before: mostly at the end.
    #[inline(always)]
    fn insert(&mut self, list: u32, remainder: u64) {
        let mut at = self.0.len();
        self.0.push((list, remainder));
        while at > 0 && self.0[at - 1].0 > list {
            self.0.swap(at - 1, at);
            at -= 1;
        }
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
        let Self { current, previous: Some(previous), listed, strings, moving, removable, .. } =
            self
        else {
            return Ok(());
        };
        let lists = current.lists_of(previous.next);
        work.bytes += current.allocate_to(lists.end)?;

        let list_bits = current.geometry.list_bits;
        let old_bits = previous.levels.geometry.list_bits;
        let doublings = list_bits - old_bits;
        let old_lists = lists.start >> doublings..lists.end >> doublings;
        work.blocks += previous.levels.blocks_with(&old_lists) + current.blocks_with(&lists);

        let is_copied = previous.levels.copy_lists(t, &lists, current, previous.next);
        let from = usize::from(is_copied);
        moving.0.clear();
        let left = previous.levels.leave(t, from, &lists, list_bits, |list, remainder| {
            moving.insert((list - lists.start) as u32, remainder);
        });
        let mut repeated = listed.take(old_bits, &old_lists);
        repeated.retain(|&(string, copies)| {
            if copies == 1 {
                string.extended(list_bits, &mut |part| {
                    let list = (part.list(list_bits) - lists.start) as u32;
                    moving.insert(list, part.window(list_bits, u64::BITS));
                });
            }
            copies > 1
        });
        *strings = *strings - left + moving.0.len() as u64;

        // An empty block is filled at once.
        let filled = if is_copied { 0 } else { current.fill(previous.next, &moving.0) };
        for &(list, remainder) in &moving.0[filled..] {
            let list = lists.start + u64::from(list);
            let string = Prefix::from_field(list, list_bits, remainder, u64::BITS);
            if !current.store(t, string, 0, *removable) {
                current.lead_to_list(string);
                listed.insert(string, 1);
                *strings -= 1;
            }
        }
        let longest = current.lengths().end - 1;
        for (string, copies) in repeated {
            string.extended(list_bits, &mut |part| {
                current.lead_to_list(part);
                listed.insert(part.truncated(longest), copies);
            });
        }

        previous.next += 1;
        if lists.end == 1 << list_bits {
            self.previous = None;
        } else {
            previous.boundary = lists.end << (u64::BITS - list_bits);
            previous.levels.free_before(old_lists.end);
        }
        Ok(())
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

    /// Copies some lists of the first level to a block of another table, if that has the same lists and fields and room
    /// for all of their strings.
    #[inline(always)]
    fn copy_lists<T: Target>(&self, t: T, lists: &Range<u64>, to: &mut Self, block: u64) -> bool {
        let (old, new) = (&self.levels[0], &mut to.levels[0]);
        let Some(line) = new.lines.get_mut(block as usize) else { return false };
        if (old.list_bits, old.shape.width) != (new.list_bits, new.shape.width) {
            return false;
        }
        let (mut at, mut held) = (lists.start, 0);
        while at < lists.end {
            let Place { block, list } = old.place_of_list(at);
            let count = (lists.end - at).min(u64::from(old.shape.lists - list)) as u32;
            let before = ((at - lists.start) as u32, held);
            let appended = old.lines.get(block).and_then(|source| {
                new.shape.append(t, line, before, &old.shape, source, list..list + count)
            });
            let Some(appended) = appended else {
                *line = Line::default();
                return false;
            };
            (at, held) = (at + u64::from(count), appended);
        }
        true
    }

    /// Calls `visit` with the list number and the remainder of each string of some lists, in the levels from number
    /// `from` on, for a geometry of `2^list_bits` lists: as many as this one's, or twice as many. A string that has
    /// no bit for that stands in two lists then. Returns the number of strings here.
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
                    if !lists.contains(&list) {
                        continue;
                    }
                    count += 1;
                    if remainder == 0 {
                        // The string's end has become the last bit of the list.
                        visit(list ^ 1, NO_REMAINDER);
                        visit(list, NO_REMAINDER);
                    } else {
                        visit(list, remainder);
                    }
                }
                (block, from) = (block + 1, 0);
            }
        }
        count
    }
}
