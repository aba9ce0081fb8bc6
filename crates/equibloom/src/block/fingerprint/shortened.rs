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
const MOST_CODE_WORDS: usize = LINE_BITS as usize / 64;
/// Words that nearly all codes have at most.
const CODE_WORDS: usize = 4;

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

/// A one in the lowest bit of each field of so many bits in a word.
const LOWEST_BITS: [u64; WINDOW as usize + 1] = {
    let mut lowest = [1; WINDOW as usize + 1];
    let mut width = 1;
    while width < lowest.len() {
        let mut at = width;
        while at < u64::BITS as usize {
            lowest[width] |= 1 << at;
            at += width;
        }
        width += 1;
    }
    lowest
};

/// Where the zeros of a block's code are, which ends within so many words. Codes have any length: a loop over words would
/// end at one that no processor foresees.
struct Zeros<'a, const WORDS: usize> {
    line: &'a Line,
    /// Zeros before each word.
    before: [u32; WORDS],
}

impl<'a, const WORDS: usize> Zeros<'a, WORDS> {
    /// `None` if these words have fewer zeros than lists.
    #[inline(always)]
    fn new(line: &'a Line, lists: u32) -> Option<Self> {
        let (mut before, mut all) = ([0; WORDS], 0);
        for word in 0..WORDS {
            before[word] = all;
            all += (!line[word] & CONTENTS.mask[word]).count_ones();
        }
        (all >= lists).then_some(Self { line, before })
    }

    /// The zero that ends a list.
    #[inline(always)]
    fn of<T: Target>(&self, t: T, list: u32) -> u32 {
        let word: u32 = (1..WORDS).map(|word| u32::from(self.before[word] <= list)).sum();
        let index = word as usize % WORDS;
        let zeros = !self.line[index] & CONTENTS.mask[index];
        u64::BITS * word + t.select(zeros, list.wrapping_sub(self.before[index]))
    }

    /// Number of entries of the lists before this one.
    #[inline(always)]
    fn slots_before<T: Target>(&self, t: T, list: u32) -> u32 {
        // There is no zero before list 0.
        let Some(before) = list.checked_sub(1) else { return 0 };
        self.of(t, before).saturating_sub(before)
    }

    /// Number of entries of a list that ends with this zero.
    #[inline(always)]
    fn entries<T: Target>(&self, t: T, list: u32, zero: u32) -> u32 {
        let first = zero.saturating_sub(WINDOW);
        let ones = t.window(self.line, first) << 1 << (u64::BITS - 1 - (zero - first));
        let count = ones.leading_ones().min(zero - first);
        match count {
            WINDOW => zero - list - self.slots_before(t, list),
            _ => count,
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
    const fn at(&self, slot: u32) -> u32 {
        let narrow = if slot < self.narrow { slot } else { self.narrow };
        self.start + slot * self.widths.wide - narrow
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

    /// The parts of a block with these widths; `None` if it is damaged.
    #[inline(always)]
    fn parts<T: Target, const WORDS: usize>(
        &self,
        t: T,
        zeros: &Zeros<'_, WORDS>,
        widths: Widths,
    ) -> Option<Parts> {
        let start = zeros.of(t, self.lists - 1) + 1;
        let narrow = zeros.slots_before(t, widths.pivot);
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
        match Zeros::<CODE_WORDS>::new(line, self.lists) {
            Some(zeros) => self.holds_by(t, &zeros, entry),
            None => self.holds_behind_long_code(line, entry),
        }
    }

    #[inline(never)]
    fn holds_behind_long_code(&self, line: &Line, entry: Entry) -> bool {
        let zeros = Zeros::<MOST_CODE_WORDS>::new(line, self.lists);
        zeros.is_some_and(|zeros| self.holds_by(ANY, &zeros, entry))
    }

    #[inline(always)]
    fn holds_by<T: Target, const WORDS: usize>(
        &self,
        t: T,
        zeros: &Zeros<'_, WORDS>,
        entry: Entry,
    ) -> bool {
        let Some(parts) = self.parts(t, zeros, self.widths(step_of(zeros.line))) else {
            return false;
        };
        find(t, zeros, &parts, self.whole(entry).at(parts.widths)).1
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
    pub(crate) fn add_to_shortened<T: Target>(&self, t: T, line: &mut Line, entry: Entry) -> bool {
        self.add(t, line, self.whole(entry))
    }

    #[inline(always)]
    fn add<T: Target>(&self, t: T, line: &mut Line, entry: ShortEntry) -> bool {
        let step = step_of(line);
        if step > self.last_step() {
            return false;
        }
        match self.add_behind_code::<T, CODE_WORDS>(t, line, step, entry) {
            Some(added) => added,
            None => self.add_behind_long_code(line, step, entry),
        }
    }

    #[inline(never)]
    fn add_behind_long_code(&self, line: &mut Line, step: u32, entry: ShortEntry) -> bool {
        let added = self.add_behind_code::<_, MOST_CODE_WORDS>(ANY, line, step, entry);
        // A damaged code may have too few zeros.
        added.unwrap_or_else(|| hold_everything(line))
    }

    /// Adds an entry to a block whose code ends within so many words; `None` if it does not.
    #[inline(always)]
    fn add_behind_code<T: Target, const WORDS: usize>(
        &self,
        t: T,
        line: &mut Line,
        step: u32,
        entry: ShortEntry,
    ) -> Option<bool> {
        let zeros = Zeros::<WORDS>::new(line, self.lists)?;
        let Some(mut parts) = self.parts(t, &zeros, self.widths(step)) else {
            return Some(hold_everything(line));
        };
        let (zero, is_there) = find(t, &zeros, &parts, entry.at(parts.widths));
        if is_there {
            return Some(false);
        }
        if parts.end() + 1 + parts.widths.of(entry.list) > ROOM {
            let Some((step, after)) = self.fit(t, &zeros, &parts, step + 1, Some(entry.list))
            else {
                return Some(hold_everything(line));
            };
            *line = narrowed(t, line, &parts, &after, step);
            parts = after;
        }
        let ShortEntry { list, width, remainder } = entry.at(parts.widths);
        t.insert_one_and_bits(line, &CONTENTS, zero, parts.at(zero - list), width, remainder);
        Some(true)
    }

    /// The first of the steps from `first` on that leaves room, for new entries of a list if one is given.
    #[inline(always)]
    fn fit<T: Target, const WORDS: usize>(
        &self,
        t: T,
        zeros: &Zeros<'_, WORDS>,
        parts: &Parts,
        first: u32,
        list: Option<u32>,
    ) -> Option<(u32, Parts)> {
        let mut step = first;
        while step <= self.last_step() {
            let widths = self.widths(step);
            let narrow = zeros.slots_before(t, widths.pivot);
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
        if step <= self.last_step()
            && let Some(zeros) = Zeros::<MOST_CODE_WORDS>::new(&whole, self.lists)
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
        if self.byte_mask == 0 {
            for slot in 0..entries {
                to.put(self.high_part_at(t, line, slot), width);
            }
            return (to.finish(), 0);
        }
        // As many as a window has: their bytes, and above each its high part.
        let at_once = WINDOW / width;
        let lowest = LOWEST_BITS[width as usize % LOWEST_BITS.len()];
        let bytes = lowest.wrapping_mul(0xff);
        let high_parts = (lowest << u8::BITS).wrapping_mul(ones(self.high_bits));
        let mut slot = 0;
        while slot < entries {
            let count = at_once.min(entries - slot);
            let low = t.window(line, u8::BITS * (self.first_byte + slot));
            let high = t.window(line, self.high_parts.start + slot * self.high_bits);
            let whole = t.deposit(low, bytes) | t.deposit(high, high_parts);
            to.put(t.lowest(whole, count * width), count * width);
            slot += count;
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
        let parts = Zeros::<MOST_CODE_WORDS>::new(line, self.lists)
            .filter(|_| step <= self.last_step())
            .and_then(|zeros| self.parts(ANY, &zeros, self.widths(step)));
        let Some(parts) = parts else { return Vec::new() };
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

/// The zero of an entry's list in the code, and whether the entry is there.
#[inline(always)]
fn find<T: Target, const WORDS: usize>(
    t: T,
    zeros: &Zeros<'_, WORDS>,
    parts: &Parts,
    ShortEntry { list, width, remainder }: ShortEntry,
) -> (u32, bool) {
    let zero = zeros.of(t, list);
    let count = zeros.entries(t, list, zero);
    let first = parts.at(zero - list - count);
    let bits = count * width;
    if bits > WINDOW {
        let is_at = |index: u32| {
            let found = t.window(zeros.line, first + index * width);
            t.lowest(found ^ remainder, width) == 0
        };
        return (zero, (0..count).any(is_at));
    }
    if width == 0 {
        return (zero, count > 0);
    }
    // All at once: a difference of 0 is a field that borrows when 1 is subtracted from each.
    let lowest = LOWEST_BITS[width as usize % LOWEST_BITS.len()];
    let differences = t.window(zeros.line, first) ^ lowest.wrapping_mul(remainder);
    let borrows = differences.wrapping_sub(lowest) & !differences & lowest << (width - 1);
    (zero, t.lowest(borrows, bits) != 0)
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
        let lowest = LOWEST_BITS[old as usize % LOWEST_BITS.len()];
        let kept = lowest.wrapping_mul(ones(new) << (old - new));
        let at_once = WINDOW / old.max(1);
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
