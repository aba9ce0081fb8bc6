//! What does one block hold? The strings of some successive lists.
//!
//! ```text
//! bit 0            lists + slots                                504     512
//!    ┌────────────────┬──────────────────────────────────────┬─┬─────────┐
//!    │ unary code     │ slots × width bits                    │ │ hints   │
//!    └────────────────┴──────────────────────────────────────┴─┴─────────┘
//! ```
//!
//! The unary code has a one per string and a zero per list. A field has the string's remainder, a one, and zeros.
//! A hint says that a string of this eighth of the lists was sent on to the next level.

use core::ops::Range;

use super::prefix::field_matches;
use crate::block::code::UnaryCode;
use crate::block::fields::{Field, LINE_BITS, ones, window};
use crate::block::isa::{Isa, Target};
use crate::storage::Line;

/// Number of hints of a block: they are its last byte.
pub(super) const HINTS: u32 = 8;

/// The widest field: what [`Isa::window`] reads at once.
pub(super) const MAX_WIDTH: u32 = 57;

/// What all blocks of a level have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) lists: u32,
    pub(super) slots: u32,
    /// Bits of a field.
    pub(super) width: u32,
    code: UnaryCode,
    fields: Field,
    /// 2¹⁶ times the number of hints per list, rounded up, to find a list's hint without division.
    hints_per_list: u32,
}

/// Where the strings of a list stand in a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// The zero in the code that ends the list.
    end: u32,
    /// Number of the first string.
    first: u32,
    /// Number of strings.
    pub(super) count: u32,
}

impl Shape {
    /// Blocks of `lists` lists with as many fields of `width` bits as fit.
    pub(super) const fn new(lists: u32, width: u32) -> Self {
        let slots = Self::slots(lists, width);
        let code = UnaryCode::new(lists + slots);
        let fields = Field::new(code.end(), code.end() + slots * width);
        Self { lists, slots, width, code, fields, hints_per_list: (HINTS << 16).div_ceil(lists) }
    }

    /// How many fields of `width` bits fit beside a code of `lists` lists: at most 64, because all may be of one
    /// list, and a run of ones is counted in one word.
    pub(super) const fn slots(lists: u32, width: u32) -> u32 {
        let slots = (LINE_BITS - HINTS - lists) / (1 + width);
        if slots < u64::BITS { slots } else { u64::BITS }
    }

    /// Whether the code lies within two words.
    #[cfg(test)]
    pub(super) const fn is_common(&self) -> bool {
        self.code.is_short()
    }

    /// The strings of a list; `None` only in a damaged block.
    #[inline(always)]
    pub(super) fn run<T: Target>(&self, t: T, line: &Line, list: u32) -> Option<Run> {
        let end = self.code.zero(t, line, list)?;
        let count = self.code.run_before(t, line, end);
        Some(Run { end, first: end - list - count, count })
    }

    /// The field of string number `slot`.
    #[inline(always)]
    fn field<T: Target>(&self, t: T, line: &Line, slot: u32) -> u64 {
        t.lowest(t.window(line, self.fields.start + slot * self.width), self.width)
    }

    /// The strings of a run: their numbers and fields.
    #[inline(always)]
    pub(super) fn strings<T: Target>(
        &self,
        t: T,
        line: &Line,
        run: Run,
    ) -> impl Iterator<Item = (u32, u64)> {
        (run.first..run.first + run.count).map(move |slot| (slot, self.field(t, line, slot)))
    }

    /// Whether a string of this run is a beginning of the bits of `window`.
    #[inline(always)]
    pub(super) fn matches<T: Target>(&self, t: T, line: &Line, run: Run, window: u64) -> bool {
        self.strings(t, line, run).any(|(_, field)| field_matches(field, window))
    }

    /// Number of strings in the block.
    #[inline(always)]
    pub(super) fn load<T: Target>(&self, t: T, line: &Line) -> u32 {
        self.code.ones(t, line)
    }

    /// Appends a string to a run. The block has a free slot.
    #[inline(always)]
    pub(super) fn insert<T: Target>(&self, t: T, line: &mut Line, run: Run, field: u64) {
        self.code.insert_one(t, line, run.end);
        let at = self.fields.start + (run.first + run.count) * self.width;
        t.insert_bits(line, &self.fields, at, self.width, field);
    }

    /// Removes string number `slot` of a run.
    pub(super) fn remove<T: Target>(&self, t: T, line: &mut Line, run: Run, slot: u32) {
        self.code.remove_bit(t, line, run.end - 1);
        let at = self.fields.start + slot * self.width;
        t.remove_bits(line, &self.fields, at, self.width);
    }

    /// Fills an empty block with strings in the order of their lists, no more than it has slots. Remainders begin at
    /// the highest bit.
    pub(super) fn fill(&self, line: &mut Line, strings: &[(u32, u64)]) {
        let mut at = self.fields.start;
        for (slot, &(list, remainder)) in (0..).zip(strings) {
            let bit = list + slot;
            line[(bit / 64) as usize % line.len()] |= 1 << (bit % 64);
            // The block is empty: no bits to clear.
            let field = remainder >> (u64::BITS - self.width);
            let (word, shift) = ((at / 64) as usize, at % 64);
            line[word % line.len()] |= field << shift;
            line[(word + 1) % line.len()] |= field >> 1 >> (63 - shift);
            at += self.width;
        }
    }

    /// Appends the strings of some lists of a block of another shape, with fields of the same width, to a block that
    /// holds `held` strings in `before` lists, and none in later ones. Returns how many there are then; `None` if
    /// they do not fit.
    #[inline(always)]
    pub(super) fn append<T: Target>(
        &self,
        t: T,
        line: &mut Line,
        (before, held): (u32, u32),
        other: &Self,
        source: &Line,
        lists: Range<u32>,
    ) -> Option<u32> {
        let start = lists
            .start
            .checked_sub(1)
            .map_or(Some(0), |list| Some(other.code.zero(t, source, list)? + 1))?;
        let end = other.code.zero(t, source, lists.end - 1)? + 1;
        let count = end - start - lists.len() as u32;
        if held + count > self.slots {
            return None;
        }
        copy_bits(source, start, line, before + held, end - start);
        let from = other.fields.start + (start - lists.start) * self.width;
        copy_bits(source, from, line, self.fields.start + held * self.width, count * self.width);
        Some(held + count)
    }

    /// The strings of a block from a list on, in the order of their lists: list and field. A field without an end, in
    /// a damaged block, is left out.
    #[inline(always)]
    pub(super) fn contents<'a, T: Target + 'a>(
        &'a self,
        t: T,
        line: &'a Line,
        from: u32,
    ) -> impl Iterator<Item = (u32, u64)> + 'a {
        // The lists before end with one zero each. (Only a damaged block has fewer.)
        let before = from.checked_sub(1).map(|list| self.code.zero(t, line, list));
        let start = before.map_or(0, |end| end.map_or(self.code.end(), |end| end + 1));
        let ones = self.code.ones_from(line, start);
        // Before the one of string number `slot`, the other bits are zeros that end lists.
        (start - from.min(start)..self.slots)
            .zip(ones)
            .map(move |(slot, one)| (one - slot, self.field(t, line, slot)))
            .filter(|&(_, field)| field != 0)
    }

    /// Whether the block can be one of this shape: a zero for each list, and an end in each field.
    #[cfg(feature = "file")]
    pub(super) fn is_valid<T: Target>(&self, t: T, line: &Line) -> bool {
        self.contents(t, line, 0).count() as u32 == self.load(t, line)
    }

    #[inline(always)]
    const fn hint(&self, list: u32) -> u64 {
        1 << (u64::BITS - HINTS + ((list * self.hints_per_list) >> 16))
    }

    /// Whether a string of this list may have been sent on.
    #[inline(always)]
    pub(super) fn hints<T: Target>(&self, t: T, line: &Line, list: u32) -> bool {
        t.word(line, line.len() - 1) & self.hint(list) != 0
    }

    /// Notes that a string of this list is sent on.
    pub(super) fn set_hint(&self, line: &mut Line, list: u32) {
        line[line.len() - 1] |= self.hint(list);
    }
}

/// Copies bits of one line to bits of another, which are zero.
#[inline(always)]
fn copy_bits(source: &Line, mut from: u32, line: &mut Line, mut to: u32, mut bits: u32) {
    while bits > 0 {
        let count = bits.min(64);
        let value = window(source, from) & ones(count);
        let (word, shift) = ((to / 64) as usize, to % 64);
        line[word % line.len()] |= value << shift;
        // No bits are carried past the end of the line.
        line[(word + 1) % line.len()] |= value >> 1 >> (63 - shift);
        (from, to, bits) = (from + count, to + count, bits - count);
    }
}

#[cfg(test)]
mod tests;
