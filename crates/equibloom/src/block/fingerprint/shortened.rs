//! Shortened blocks: what a full block becomes in a filter that has no other room.
//!
//! A full block of an overloaded filter sends nothing on. It drops bits of its remainders and stores the new
//! entry in what this frees:
//!
//! ```text
//!  bit 0 …                                                      byte 61     62     63
//! ┌─────────────────────────────┬─────────────────────┬──────┬───────────┬──────┬─────┐
//! │ unary code: lists + entries │ one remainder each  │ free │ watermark │ step │ 255 │
//! └─────────────────────────────┴─────────────────────┴──────┴───────────┴──────┴─────┘
//! ```
//!
//! *Steps.* After `4 q + p` steps every remainder has lost `q` bits, and those of the first `p` quarters of the
//! lists one more. Quarters, because a whole bit of every remainder doubles the rate at once: with whole bits
//! the rate at twice the keys is 1.6 times that of a Bloom filter of the same bytes, with quarters 1.4 times.
//! When no bits are left and the code fills the block, the step [`EVERYTHING`] says that the block holds every
//! key.
//!
//! *What was sent on* before is further on, under the whole entry. Keys know their whole entry, so that lookups
//! still find the way: those up to the block's old watermark go on.
//!
//! *No block looks like another.* An ordinary block has the watermark 255 only if all of its bytes are 255: it
//! has sent on one of these, and keeps the largest. Byte 62 is one of them. Here it is the step, which is
//! less.
//!
//! A shortened block has more entries than an ordinary one has slots, and its code begins like one: read as an
//! ordinary block, it is full.
//!
//! Entries of a list have no order, and those that become equal are not merged: that would lower the rate by at
//! most a tenth, for much time.

use alloc::vec::Vec;

use super::{Entry, FingerprintShape, WATERMARK_WORD, watermark};
use crate::block::fields::{Field, LINE_BITS, ones, window};
use crate::block::isa::{ANY, Isa, Target};
use crate::storage::Line;

/// Bits of watermark, step and mark.
const RESERVED: u32 = 24;
/// Bits for code and remainders.
const ROOM: u32 = LINE_BITS - RESERVED;
/// Code and remainders.
const CONTENTS: Field = Field::new(0, ROOM);
/// Words that a code may have.
const CODE_WORDS: usize = LINE_BITS as usize / 64;

/// The last byte of a shortened block.
const MARK: u64 = 255;
/// The step of a block that holds every key.
const EVERYTHING: u32 = 254;
/// Steps by which every remainder loses a bit.
const PER_BIT: u32 = 4;
/// New entries that steps make room for: with fewer, steps would be made at every insert; with more, remainders
/// would be shorter than they need be.
const NEW_ENTRIES: u32 = 4;
/// Bits of a window.
const WINDOW: u32 = 57;

/// Entries of a list that are compared without a branch for each.
const USUAL_ENTRIES: u32 = 3;

/// Where the zeros of a block's code are. Codes have any length up to a whole line: a loop over words would end at one
/// that no processor foresees.
struct Zeros<'a> {
    line: &'a Line,
    /// Zeros before each word, and in all.
    before: [u32; CODE_WORDS + 1],
}

impl<'a> Zeros<'a> {
    #[inline(always)]
    fn new(line: &'a Line) -> Self {
        let mut before = [0; CODE_WORDS + 1];
        for word in 0..CODE_WORDS {
            let zeros = !line[word] & CONTENTS.mask[word];
            before[word + 1] = before[word] + zeros.count_ones();
        }
        Self { line, before }
    }

    /// The zero that ends a list; `None` if the code is damaged.
    #[inline(always)]
    fn of<T: Target>(&self, t: T, list: u32) -> Option<u32> {
        if list >= self.before[CODE_WORDS] {
            return None;
        }
        let word: u32 = (1..CODE_WORDS).map(|word| u32::from(self.before[word] <= list)).sum();
        let index = word as usize % CODE_WORDS;
        let zeros = !self.line[index] & CONTENTS.mask[index];
        Some(u64::BITS * word + t.select(zeros, list - self.before[index]))
    }

    /// Number of entries of the lists before this one.
    #[inline(always)]
    fn slots_before<T: Target>(&self, t: T, list: u32) -> Option<u32> {
        let Some(before) = list.checked_sub(1) else { return Some(0) };
        Some(self.of(t, before)? - before)
    }

    /// Number of entries of a list that ends with this zero.
    #[inline(always)]
    fn entries<T: Target>(&self, t: T, list: u32, zero: u32) -> Option<u32> {
        let first = zero.saturating_sub(WINDOW);
        let ones = t.window(self.line, first) << 1 << (u64::BITS - 1 - (zero - first));
        let count = ones.leading_ones().min(zero - first);
        match count {
            WINDOW => Some(zero - list - self.slots_before(t, list)?),
            _ => Some(count),
        }
    }
}

/// The widths of a block's remainders.
#[derive(Debug, Clone, Copy)]
struct Widths {
    /// Those of lists from the pivot on; the others have one bit less.
    wide: u32,
    pivot: u32,
}

impl Widths {
    #[inline(always)]
    const fn of(&self, list: u32) -> u32 {
        self.wide - (list < self.pivot) as u32
    }
}

/// Where the parts of a shortened block are.
#[derive(Debug, Clone, Copy)]
struct Parts {
    widths: Widths,
    /// Number of entries.
    entries: u32,
    /// The first bit of the remainders.
    start: u32,
    /// Entries of the lists before the pivot.
    narrow: u32,
}

impl Parts {
    /// The first bit of a remainder, or one past the last.
    #[inline(always)]
    fn at(&self, slot: u32) -> u32 {
        self.start + slot * self.widths.wide - slot.min(self.narrow)
    }

    const fn end(&self) -> u32 {
        self.start + self.entries * self.widths.wide - self.narrow
    }
}

/// What a shortened block stores of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ShortEntry {
    list: u32,
    width: u32,
    remainder: u64,
}

impl ShortEntry {
    /// The same entry in a block with these widths, which are not wider.
    #[inline(always)]
    const fn at(self, widths: Widths) -> Self {
        let width = widths.of(self.list);
        Self { width, remainder: self.remainder >> (self.width - width), ..self }
    }
}

/// Whether a block of a set is shortened.
#[inline(always)]
pub(crate) const fn is_shortened(line: &Line) -> bool {
    // Mark and step.
    let last = line[WATERMARK_WORD] >> 48;
    last >= MARK << 8 && last != MARK << 8 | 255
}

/// The largest byte that a shortened block has sent on before it was shortened.
#[inline(always)]
pub(crate) const fn old_watermark(line: &Line) -> u8 {
    (line[WATERMARK_WORD] >> 40) as u8
}

const fn step_of(line: &Line) -> u32 {
    (line[WATERMARK_WORD] >> 48) as u32 & 255
}

/// Writes watermark, step and mark.
fn seal(line: &mut Line, watermark: u8, step: u32) {
    let last = MARK << 16 | (step as u64) << 8 | watermark as u64;
    line[WATERMARK_WORD] = line[WATERMARK_WORD] & ones(40) | last << 40;
}

impl FingerprintShape {
    const fn remainder_bits(&self) -> u32 {
        if self.byte_mask != 0 { self.high_bits + u8::BITS } else { self.high_bits }
    }

    /// The step after which no bits are left.
    const fn last_step(&self) -> u32 {
        PER_BIT * self.remainder_bits()
    }

    #[inline(always)]
    const fn widths(&self, step: u32) -> Widths {
        let wide = self.remainder_bits() - step / PER_BIT;
        Widths { wide, pivot: self.lists * (step % PER_BIT) / PER_BIT }
    }

    /// The whole entry.
    #[inline(always)]
    const fn whole(&self, entry: Entry) -> ShortEntry {
        let byte = entry.byte as u64;
        let remainder = if self.byte_mask != 0 { entry.high << 8 | byte } else { byte };
        ShortEntry { list: entry.list, width: self.remainder_bits(), remainder }
    }

    /// The parts of a block with these widths; `None` if its code is damaged.
    #[inline(always)]
    fn parts<T: Target>(&self, t: T, zeros: &Zeros<'_>, widths: Widths) -> Option<Parts> {
        let start = zeros.of(t, self.lists - 1)? + 1;
        let narrow = zeros.slots_before(t, widths.pivot)?;
        let parts = Parts { widths, entries: start - self.lists, start, narrow };
        (parts.end() < LINE_BITS).then_some(parts)
    }

    /// Whether a shortened block holds the entry, as far as it stores entries.
    #[inline(always)]
    pub(crate) fn holds_shortened<T: Target>(&self, t: T, line: &Line, entry: Entry) -> bool {
        let step = step_of(line);
        if step > self.last_step() {
            return true;
        }
        let zeros = Zeros::new(line);
        let parts = self.parts(t, &zeros, self.widths(step));
        parts.is_some_and(|parts| {
            let short = self.whole(entry).at(parts.widths);
            find(t, &zeros, &parts, short).is_some_and(|(_, is_there)| is_there)
        })
    }

    /// Adds an entry to a full or shortened block; returns whether it was not there. A full block must not hold
    /// it.
    #[inline(always)]
    pub(crate) fn add_shortened<T: Target>(&self, t: T, line: &mut Line, entry: Entry) -> bool {
        let was_ordinary = !is_shortened(line);
        if was_ordinary {
            *line = self.shortened(t, line, 1, Some(entry.list));
        }
        // By now another entry may stand for it.
        self.add(t, line, self.whole(entry)) || was_ordinary
    }

    /// Adds an entry to a shortened block; returns whether it was not there.
    #[inline(always)]
    fn add<T: Target>(&self, t: T, line: &mut Line, entry: ShortEntry) -> bool {
        let step = step_of(line);
        if step > self.last_step() {
            return false;
        }
        let zeros = Zeros::new(line);
        let Some(mut parts) = self.parts(t, &zeros, self.widths(step)) else {
            return hold_everything(line);
        };
        let Some((zero, is_there)) = find(t, &zeros, &parts, entry.at(parts.widths)) else {
            return hold_everything(line);
        };
        if is_there {
            return false;
        }
        if parts.end() + 1 + parts.widths.of(entry.list) > ROOM {
            let Some((step, after)) = self.fit(t, &zeros, &parts, step + 1, Some(entry.list))
            else {
                return hold_everything(line);
            };
            *line = narrowed(t, line, &parts, &after, step);
            parts = after;
        }
        let ShortEntry { list, width, remainder } = entry.at(parts.widths);
        if width > 0 {
            t.insert_bits(line, &CONTENTS, parts.at(zero - list), width, remainder);
        }
        t.insert_bits(line, &CONTENTS, zero, 1, 1);
        true
    }

    /// The first of the steps from `first` on that leaves room, for new entries of a list if one is given.
    #[inline(always)]
    fn fit<T: Target>(
        &self,
        t: T,
        zeros: &Zeros<'_>,
        parts: &Parts,
        first: u32,
        list: Option<u32>,
    ) -> Option<(u32, Parts)> {
        let mut step = first;
        while step <= self.last_step() {
            let widths = self.widths(step);
            let narrow = zeros.slots_before(t, widths.pivot)?;
            let after = Parts { widths, narrow, ..*parts };
            let each = list.map_or(0, |list| 1 + widths.of(list));
            let needed = after.end() + each * NEW_ENTRIES;
            if needed <= ROOM || step == self.last_step() && after.end() + each <= ROOM {
                return Some((step, after));
            }
            // The steps of a whole bit free one bit of each entry, old or new.
            step += 1 + (needed - ROOM - 1) / (parts.entries + NEW_ENTRIES) * PER_BIT;
            step = if step > self.last_step() && widths.wide > 0 { self.last_step() } else { step };
        }
        None
    }

    /// Any block in shortened form, after at least so many steps, perhaps with room for entries of a list.
    #[inline(always)]
    fn shortened<T: Target>(&self, t: T, line: &Line, least: u32, list: Option<u32>) -> Line {
        let (whole, step) = self.contents(t, line);
        let mut shortened = whole;
        let zeros = Zeros::new(&whole);
        if step <= self.last_step()
            && let Some(parts) = self.parts(t, &zeros, self.widths(step))
            && let Some((step, after)) = self.fit(t, &zeros, &parts, step.max(least), list)
        {
            shortened = narrowed(t, &whole, &parts, &after, step);
        } else {
            hold_everything(&mut shortened);
        }
        let step = step_of(&shortened);
        seal(&mut shortened, sent_on(line), step);
        shortened
    }

    /// Code and remainders of any block, and the steps that it has made.
    #[inline(always)]
    fn contents<T: Target>(&self, t: T, line: &Line) -> (Line, u32) {
        if is_shortened(line) {
            return (*line, step_of(line));
        }
        let (entries, width) = (self.load(t, line), self.remainder_bits());
        // Those of a full block without bytes are right behind the code.
        if self.byte_mask == 0 && entries == self.slots {
            return (*line, 0);
        }
        let mut to = Writer::new(line, self.lists + entries);
        for slot in 0..entries {
            to.put(self.whole(self.entry_at(t, line, slot, 0)).remainder, width);
        }
        (to.finish(), 0)
    }

    /// Adds what one block has stored and sent on to another; returns how many entries more this has. At least
    /// one of the two is shortened.
    pub(crate) fn merge_shortened(&self, ours: &mut Line, theirs: &Line) -> u64 {
        // A shortened one has at least as many entries as an ordinary one has slots: it must not lose any.
        let (base, other) = if is_shortened(theirs) { (theirs, &*ours) } else { (&*ours, theirs) };
        let (whole, step) = self.contents(ANY, other);
        let mut merged = self.shortened(ANY, base, step, None);
        for entry in self.short_entries(&whole, step) {
            self.add(ANY, &mut merged, entry);
        }
        let (sent_on, step) = (sent_on(ours).max(sent_on(theirs)), step_of(&merged));
        seal(&mut merged, sent_on, step);
        let before = self.entries_of(ours);
        *ours = merged;
        self.entries_of(ours).saturating_sub(before)
    }

    /// Number of entries of any block.
    fn entries_of(&self, line: &Line) -> u64 {
        let (whole, step) = self.contents(ANY, line);
        self.short_entries(&whole, step.min(self.last_step())).len() as u64
    }

    /// Records that any block has sent on an entry, in an overloaded filter.
    pub(crate) fn raise_any_watermark(&self, line: &mut Line, byte: u8) {
        let step = step_of(line);
        if is_shortened(line) {
            return seal(line, old_watermark(line).max(byte), step);
        }
        let mut raised = *line;
        self.raise_watermark(&mut raised, byte);
        // A full block that has sent on less than another one must not look like a shortened one.
        if is_shortened(&raised) {
            raised = self.shortened(ANY, line, 1, None);
            let step = step_of(&raised);
            seal(&mut raised, byte, step);
        }
        *line = raised;
    }

    /// The entries of a block after so many steps.
    fn short_entries(&self, line: &Line, step: u32) -> Vec<ShortEntry> {
        let parts = (step <= self.last_step())
            .then(|| self.parts(ANY, &Zeros::new(line), self.widths(step)));
        let Some(parts) = parts.flatten() else { return Vec::new() };
        let (mut list, mut entries) = (0, Vec::new());
        for at in 0..parts.start {
            if window(line, at) & 1 == 0 {
                list += 1;
                continue;
            }
            let width = parts.widths.of(list);
            let remainder = window(line, parts.at(at - list)) & ones(width);
            entries.push(ShortEntry { list, width, remainder });
        }
        entries
    }

    /// Number of entries of a shortened block, and the share of all keys that it holds.
    pub(crate) fn survey_shortened(&self, line: &Line) -> (u32, f64) {
        let step = step_of(line);
        let mut entries = self.short_entries(line, step);
        let count = entries.len() as u32;
        entries.sort_unstable();
        entries.dedup();
        let share = |entry: &ShortEntry| 1.0 / (1_u64 << entry.width) as f64;
        let sum: f64 = entries.iter().map(share).sum();
        (count, if step > self.last_step() { 1.0 } else { sum / f64::from(self.lists) })
    }
}

/// The zero of an entry's list in the code, and whether the entry is there; `None` if the code is damaged.
#[inline(always)]
fn find<T: Target>(
    t: T,
    zeros: &Zeros<'_>,
    parts: &Parts,
    ShortEntry { list, width, remainder }: ShortEntry,
) -> Option<(u32, bool)> {
    let zero = zeros.of(t, list)?;
    let count = zeros.entries(t, list, zero)?;
    let first = parts.at(zero - list - count);
    let is_at = |index: u32| {
        let found = t.window(zeros.line, first + index * width);
        (t.lowest(found ^ remainder, width) == 0) & (index < count)
    };
    let mut is_there = (0..USUAL_ENTRIES).fold(false, |is_there, index| is_there | is_at(index));
    if count > USUAL_ENTRIES {
        is_there |= (USUAL_ENTRIES..count).any(is_at);
    }
    Some((zero, is_there))
}

/// The largest byte that any block has sent on.
const fn sent_on(line: &Line) -> u8 {
    if is_shortened(line) { old_watermark(line) } else { watermark(line) }
}

/// The same block after more steps, by which remainders have lost their lowest bits.
#[inline(always)]
fn narrowed<T: Target>(t: T, line: &Line, from: &Parts, to: &Parts, step: u32) -> Line {
    // The widths, old and new, are the same up to one of these slots, and up to the other.
    let (first, second) = (from.narrow.min(to.narrow), from.narrow.max(to.narrow));
    let mut writer = Writer::new(line, to.start);
    for (slot, end) in [(0, first), (first, second), (second, from.entries)] {
        if slot == end {
            continue;
        }
        let (mut at, mut left) = (from.at(slot), end - slot);
        let (old, new) = (from.at(slot + 1) - at, to.at(slot + 1) - to.at(slot));
        // As many as a window has, each without its lowest bits.
        let (at_once, kept) = if old == new {
            (WINDOW / old.max(1), u64::MAX)
        } else {
            let lowest = (u64::MAX / ones(old)) >> (u64::BITS % old);
            (WINDOW / old, lowest * (ones(new) << (old - new)))
        };
        while left > 0 && new > 0 {
            let count = left.min(at_once);
            let bits = t.extract(t.window(line, at), kept);
            writer.put(t.lowest(bits, count * new), count * new);
            (at, left) = (at + count * old, left - count);
        }
    }
    let mut narrowed = writer.finish();
    seal(&mut narrowed, old_watermark(line), step);
    narrowed
}

/// Writes bits one after the other; what lies behind them becomes zero.
struct Writer {
    line: Line,
    word: usize,
    bits: u64,
    /// How many there are.
    count: u32,
}

impl Writer {
    /// From bit `at` (< 512) on.
    #[inline(always)]
    fn new(line: &Line, at: u32) -> Self {
        let (word, count) = ((at / u64::BITS) as usize % line.len(), at % u64::BITS);
        Self { line: *line, word, bits: line[word] & ones(count), count }
    }

    /// Writes a value of `width` (< 64) bits.
    #[inline(always)]
    fn put(&mut self, value: u64, width: u32) {
        self.bits |= value << self.count;
        let count = self.count + width;
        if count >= u64::BITS {
            let length = self.line.len();
            self.line[self.word % length] = self.bits;
            self.bits = value >> 1 >> (u64::BITS - 1 - self.count);
            self.word += 1;
        }
        self.count = count % u64::BITS;
    }

    #[inline(always)]
    fn finish(mut self) -> Line {
        if let Some((last, behind)) = self.line[self.word.min(7)..].split_first_mut() {
            *last = self.bits;
            behind.fill(0);
        }
        self.line
    }
}

/// From now on the block holds every key, which it did not before.
#[cold]
fn hold_everything(line: &mut Line) -> bool {
    seal(line, old_watermark(line), EVERYTHING);
    true
}
