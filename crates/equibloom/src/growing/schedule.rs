//! How large is a table, and how long are its strings?
//!
//! **Sizes.** A table has `2^list_bits` lists. Growth goes in steps: three times fewer lists per block, then
//! twice the lists and as many per block as at first. Each step has about 1.19 times the blocks of the one before.
//!
//! **Lengths.** A string of `m` bits answers "present" for a share of 2⁻ᵐ of all absent keys. New strings have
//! `list_bits + width − 1` bits: a remainder of `width − 1` bits and its end. A table of `2^b` lists
//! with one string in each list thus adds 2^(1 − width) to the rate, whatever `b` is. Strings keep their length
//! while the table grows: each generation (a doubling of the lists) adds about as much to the rate as the one
//! before, if the width stays. So the width has to grow with the number of generations, slowly:
//! [`Schedule::new`] divides the required rate among them. While a table is small (64 KiB) all its strings have one
//! length, at the cost of wider fields: these are one generation.

use super::block::{MAX_WIDTH, Shape};

/// Levels of a table: see [`Levels`](super::levels::Levels).
pub(super) const LEVELS: usize = 3;

/// How many bits fewer than the first level's the list numbers of each level have: the second level has 1/16 of the
/// blocks, the third 1/64. Which blocks are too full is decided by chance, and neighbours in the first level share
/// a block in the second; so a few of those are too full by far.
pub(super) const FEWER_BITS: [u32; LEVELS] = [0, 4, 6];

/// Steps from one doubling of the lists to the next.
pub(super) const STEPS: u32 = 4;

/// By how much a table has grown after so many steps: 2^(step / 4).
const GROWN_BY: [f64; STEPS as usize + 1] =
    [1.0, 1.189_207_115_002_721, core::f64::consts::SQRT_2, 1.681_792_830_507_429, 2.0];

/// `log2` of the lists of the smallest table.
const FIRST_LIST_BITS: u32 = 6;

/// `log2` of the most lists: 2⁵⁶ need more memory than any machine has.
const MAX_LIST_BITS: u32 = 56;

/// Number of steps from the smallest table to that.
pub(super) const MAX_STEPS: usize = ((MAX_LIST_BITS - FIRST_LIST_BITS) * STEPS) as usize;

/// The narrowest field: with fewer bits there are more slots, and the unary code takes more than two words.
const MIN_WIDTH: u32 = 7;

/// The widest field of the first level: those of the last have the bits that its list numbers lack.
const MAX_FIRST_WIDTH: u32 = MAX_WIDTH - FEWER_BITS[LEVELS - 1];

/// Most lists per block after a doubling: with more, the unary code takes more than two words.
const MAX_LISTS: u32 = 40;

/// Blocks of a small table: with the other levels 64 KiB.
const SMALL_BLOCKS: u32 = 960;

/// Free slots per block when a step begins, as a mean. About 3 % of the strings are in other levels then, two
/// thirds of what the second level holds.
const FREE_SLOTS: u32 = 3;

/// Generations for which the rate is planned in full: from 64 KiB to 256 MiB.
const HORIZON: u32 = 12;

/// Share of the rate for all generations after these.
const RESERVE: f64 = 1.0 / 16.0;

/// A generation after the horizon adds at most this share of what is left of the rate. So it never ends.
const SHARE_BEYOND: f64 = 1.0 / 8.0;

/// Size of a table and of its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Geometry {
    /// Number of steps from the smallest table.
    pub(super) step: u32,
    /// `log2` of the number of lists.
    pub(super) list_bits: u32,
    /// Lists per block; even, so that a block's lists are whole lists of a table of half as many.
    pub(super) lists: u32,
    /// Bits of a field.
    pub(super) width: u32,
}

impl Geometry {
    /// Number of blocks of the first level.
    pub(super) const fn blocks(&self) -> u64 {
        (1_u64 << self.list_bits).div_ceil(self.lists as u64)
    }

    /// Strings with which the next step begins.
    pub(super) const fn capacity(&self) -> u64 {
        self.blocks() * (Shape::slots(self.lists, self.width) - FREE_SLOTS) as u64
    }
}

/// The geometries of a growing table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Schedule {
    /// Lists per block at each step between two doublings.
    lists: [u32; STEPS as usize],
    /// Width of the fields at each step.
    widths: [u8; MAX_STEPS],
    /// Where the filter begins.
    first_step: u32,
    /// Whether all unary codes lie within two words.
    pub(super) is_common: bool,
}

impl Schedule {
    /// For a false-positive rate, and a first table for this many keys. `None` if the rate is not in 10⁻¹² … ½.
    pub(super) fn new(rate: f64, keys: u64) -> Option<Self> {
        if !(1e-12..=0.5).contains(&rate) {
            return None;
        }
        let width = (MIN_WIDTH..MAX_FIRST_WIDTH).find(|&width| {
            // The first generation counts twice, the others of the horizon have fields of one bit more.
            let shares = 2.0 + f64::from(HORIZON - 1) / 2.0;
            shares * added_rate(lists_after_doubling(width), width) <= rate * (1.0 - RESERVE)
        })?;
        let lists = lists_after_doubling(width);
        // Each step has the same ratio, as far as even numbers allow.
        let at_step = |step: usize| {
            let pairs = f64::from(lists) * GROWN_BY[STEPS as usize - 1 - step] / 2.0;
            2 * (pairs + 0.5) as u32
        };
        let mut schedule = Self {
            lists: core::array::from_fn(at_step),
            widths: [0; MAX_STEPS],
            first_step: 0,
            is_common: true,
        };
        let small = (SMALL_BLOCKS * 2 * lists).ilog2();
        schedule.set_widths(rate, width, small);
        let mut first = schedule.geometry(0);
        while first.capacity() < keys
            && let Some(next) = schedule.after(first)
        {
            first = next;
        }
        schedule.first_step = first.step;
        if first.list_bits > small {
            schedule.set_widths(rate, width, first.list_bits);
        }
        Some(schedule)
    }

    /// Sets the widths, for a first generation of `2^first` lists.
    fn set_widths(&mut self, rate: f64, first_width: u32, first: u32) {
        let lists = self.lists[STEPS as usize - 1];
        let (mut left, mut width) = (rate, first_width);
        for (step, slot) in (0..).zip(&mut self.widths) {
            let list_bits = FIRST_LIST_BITS + step / STEPS;
            if let Some(generation) = list_bits.checked_sub(first + 1) {
                // The part of its generation's strings that are added in this step and by its end.
                let by = |step: u32| GROWN_BY[step as usize] - 1.0;
                let step = step % STEPS;
                let (part, by_end) = (by(step + 1) - by(step), by(step + 1));
                let is_enough = |width| {
                    let added = added_rate(lists, width);
                    let rest = f64::from(HORIZON) - f64::from(generation + 1) - by_end;
                    if rest > 0.0 {
                        // The other generations of the horizon can have one bit more, and add half as much.
                        added * (part + rest / 2.0) <= left - rate * RESERVE
                    } else {
                        added <= left * SHARE_BEYOND
                    }
                };
                // Not when the lists double: that step adds the least capacity. One bit a step, so that each has
                // more capacity than the one before.
                if step > 0 && !is_enough(width) && width < MAX_FIRST_WIDTH {
                    width += 1;
                }
                left -= part * added_rate(lists, width);
            } else if step % STEPS == 0 && list_bits == first {
                left -= 2.0 * added_rate(lists, width);
            }
            *slot = (width + first.saturating_sub(list_bits)).min(MAX_FIRST_WIDTH) as u8;
        }
    }

    /// One width for all steps, and numbers of lists as no rate asks for.
    #[cfg(test)]
    pub(super) fn for_tests(width: u8, lists: u32) -> Self {
        let lists = [2 * lists, 2 * lists - lists / 4 * 2, lists + lists / 4 * 2, lists];
        // Small tables have fewer lists per block, and more slots.
        let is_common = |&lists: &u32| lists + Shape::slots(0, width.into()) <= 128;
        let is_common = lists.iter().all(is_common);
        Self { lists, widths: [width; MAX_STEPS], first_step: 0, is_common }
    }

    /// The schedule of one of `2^bits` tables that divide the hash space.
    pub(super) fn of_shard(&self, bits: u32) -> Self {
        let fewer = (bits * STEPS) as usize;
        let mut widths = [self.widths[MAX_STEPS - 1]; MAX_STEPS];
        widths[..MAX_STEPS - fewer].copy_from_slice(&self.widths[fewer..]);
        Self { widths, first_step: self.first_step.saturating_sub(fewer as u32), ..*self }
    }

    /// The geometry of the first table.
    pub(super) fn first(&self) -> Geometry {
        self.geometry(self.first_step)
    }

    /// The next geometry with a notably larger capacity, if there is one.
    pub(super) fn after(&self, geometry: Geometry) -> Option<Geometry> {
        let enough = geometry.capacity() + geometry.capacity() / 16;
        let steps = geometry.step + 1..MAX_STEPS as u32;
        steps.map(|step| self.geometry(step)).find(|next| next.capacity() >= enough)
    }

    /// The numbers that a file keeps.
    #[cfg(feature = "file")]
    pub(super) const fn to_numbers(self) -> ([u32; STEPS as usize], [u8; MAX_STEPS], u32) {
        (self.lists, self.widths, self.first_step)
    }

    /// The schedule of such numbers, if they make one.
    #[cfg(feature = "file")]
    pub(super) fn from_numbers(
        lists: [u32; STEPS as usize],
        widths: [u8; MAX_STEPS],
        first_step: u32,
    ) -> Option<Self> {
        let schedule = Self { lists, widths, first_step, is_common: true };
        let is_valid = lists
            .iter()
            .all(|&lists| (2..=2 * MAX_LISTS).contains(&lists) && lists % 2 == 0)
            && widths.iter().all(|&width| (MIN_WIDTH..=MAX_FIRST_WIDTH).contains(&width.into()))
            && first_step < MAX_STEPS as u32
            && (0..MAX_STEPS as u32).map(|step| schedule.geometry(step)).all(|geometry| {
                FEWER_BITS.iter().all(|fewer| {
                    let slots = Shape::slots(geometry.lists, geometry.width + fewer);
                    slots > FREE_SLOTS && slots + geometry.lists <= 128
                })
            });
        is_valid.then_some(schedule)
    }

    /// The geometry after a number of steps, if there is one.
    pub(super) fn geometry_at(&self, step: u64) -> Option<Geometry> {
        (step < MAX_STEPS as u64).then(|| self.geometry(step as u32))
    }

    /// The geometry after a number of steps below [`MAX_STEPS`].
    fn geometry(&self, step: u32) -> Geometry {
        let list_bits = FIRST_LIST_BITS + step / STEPS;
        let lists = self.lists[(step % STEPS) as usize];
        // Small tables divide their lists evenly.
        let blocks = (1_u64 << list_bits).div_ceil(lists.into());
        let lists = (1_u64 << list_bits).div_ceil(blocks) as u32;
        let width = self.widths[step as usize].into();
        Geometry { step, list_bits, lists: lists.next_multiple_of(2), width }
    }
}

/// Lists per block before the lists are doubled, for a width: about as many as slots.
const fn lists_after_doubling(width: u32) -> u32 {
    let slots = 504 / (width + 2) / 2 * 2;
    if slots < MAX_LISTS { slots } else { MAX_LISTS }
}

/// The share of all hashes that begin with a string of this length: 2^-length.
pub(super) fn share(length: u32) -> f64 {
    f64::from_bits(u64::from(1023 - length) << 52)
}

/// What a generation after the first adds to the rate: it begins at half of the strings that it ends with. (One
/// free slot per block less than at the beginning of a step: strings that come while the step lasts.)
fn added_rate(lists: u32, width: u32) -> f64 {
    let strings = Shape::slots(lists, width) - FREE_SLOTS + 1;
    f64::from(strings) / f64::from(2 * lists) * share(width - 1)
}

#[cfg(test)]
mod tests;
