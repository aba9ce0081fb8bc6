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

use super::prefix::field_matches;
use crate::block::code::UnaryCode;
use crate::block::fields::{Field, LINE_BITS, ones, write};
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
    count: u32,
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
        t.window(line, self.fields.start + slot * self.width) & ones(self.width)
    }

    /// The strings of a run: their numbers and fields.
    #[inline(always)]
    pub(super) fn strings<T: Target>(
        &self,
        t: T,
        line: &Line,
        run: Run,
    ) -> impl Iterator<Item = (u32, u64)> {
        // Only in a damaged block does a run exceed the slots.
        let end = (run.first + run.count).min(self.slots);
        (run.first..end).map(move |slot| (slot, self.field(t, line, slot)))
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

    /// Fills an empty block with strings in the order of their lists, as far as it has slots; returns how many.
    pub(super) fn fill(&self, line: &mut Line, strings: &[(u32, u64)]) -> usize {
        let strings = strings.iter().take(self.slots as usize);
        let filled = strings.len();
        for (slot, &(list, field)) in (0..).zip(strings) {
            let bit = list + slot;
            line[(bit / 64) as usize % line.len()] |= 1 << (bit % 64);
            write(line, self.fields.start + slot * self.width, self.width, field);
        }
        filled
    }

    /// All strings of a block in the order of their lists: list and field.
    pub(super) fn contents<'a, T: Target + 'a>(
        &'a self,
        t: T,
        line: &'a Line,
    ) -> impl Iterator<Item = (u32, u64)> + 'a {
        let ones = self.code.all_ones(line);
        // Before the one of string number `slot`, the other bits are zeros that end lists.
        (0..self.slots).zip(ones).map(move |(slot, one)| (one - slot, self.field(t, line, slot)))
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

#[cfg(test)]
mod tests;
