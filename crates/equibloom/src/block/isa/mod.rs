//! Operations with a separate implementation for each instruction set.
//!
//! An [`Isa`] is an instruction set. All code that works on a block is generic over a [`Target`] and inlined
//! into an entry point ([`dispatch`]), which is compiled for every ISA. A filter holds pointers to the entry
//! points for its [`DetectedIsa`].
//!
//! Every ISA gives the same answers and writes the same bytes. [`Portable`] always exists and is the oracle
//! in the tests.

/// Whether the CPU has all these features; without `std`, whether the target does.
#[cfg(target_arch = "x86_64")]
macro_rules! processor_has {
    ($($feature:tt)*) => {{
        #[cfg(feature = "std")]
        let found = true $(&& std::is_x86_feature_detected!($feature))*;
        #[cfg(not(feature = "std"))]
        let found = cfg!(all($(target_feature = $feature),*));
        found
    }};
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
mod portable;
mod prefetch;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse2;
#[cfg(any(
    test,
    not(any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    ))
))]
mod words;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
pub(crate) use dispatch::{ANY, KernelTable, On, Target, entry_point, entry_points, kernel_table};
pub(crate) use portable::Portable;
pub(crate) use prefetch::{Nearness, prefetch};

use super::Holds;
use super::fields::{Field, LINE_BITS, LINE_BYTES, ones};
use super::pattern::Draws;
use crate::storage::Line;

/// Maximum number of draws for [`Isa::distinct_draws`].
pub(super) const DRAWS_AT_ONCE: usize = 16;

/// Masks of the bits before each of the first 128 bits of a line, and of all of them.
#[cfg(target_arch = "x86_64")]
const BEFORE: [[u64; 2]; 129] = {
    let mut masks = [[0; 2]; 129];
    let mut at = 0;
    while at < masks.len() {
        masks[at] = [ones(at as u32), ones((at as u32).saturating_sub(64))];
        at += 1;
    }
    masks
};

/// All bytes of a line but the last.
const BYTES: Field = Field::new(0, LINE_BITS - u8::BITS);

/// An instruction set.
pub(crate) trait Isa: Copy {
    /// Which of a line's 64 bytes equal `byte`, one bit for each.
    fn equal_bytes(self, line: &Line, byte: u8) -> u64;

    /// Which of a line's 64 bytes equal the lowest byte of a word, one bit for each.
    #[inline(always)]
    fn equal_to_lowest(self, line: &Line, word: u64) -> u64 {
        self.equal_bytes(line, word as u8)
    }

    /// Which of a line's 64 bytes are greater than `byte`, one bit for each.
    fn greater_bytes(self, line: &Line, byte: u8) -> u64;

    /// Byte `at` (< 64) of a line.
    #[inline(always)]
    fn byte(self, line: &Line, at: u32) -> u8 {
        (line[at as usize / 8 % line.len()] >> (at % 8 * u8::BITS)) as u8
    }

    /// Whether a line's byte `63 - at` is `byte`.
    #[inline(always)]
    fn equals_from_end(self, line: &Line, at: u32, byte: u8) -> bool {
        self.byte(line, (LINE_BYTES - 1).wrapping_sub(at)) == byte
    }

    /// Word `at` (< 8) of a line.
    #[inline(always)]
    fn word(self, line: &Line, at: usize) -> u64 {
        line[at % line.len()]
    }

    /// Number of ones in a field within the first two words.
    #[inline(always)]
    fn early_ones(self, line: &Line, field: &Field) -> u32 {
        (line[0] & field.mask[0]).count_ones() + (line[1] & field.mask[1]).count_ones()
    }

    /// Number of ones before bit `at` (< 128) of a line. By a branch, which the CPU resolves before it has the
    /// line, instead of instructions that wait for it.
    #[inline(always)]
    fn early_ones_before(self, line: &Line, at: u32) -> u32 {
        let in_first = self.lowest(self.word(line, 0), at).count_ones();
        if at <= 64 {
            return in_first;
        }
        in_first + self.lowest(self.word(line, 1), at - 64).count_ones()
    }

    /// The zeros from bit `at` (< 128) of a line on, moved up by `shift` behind ones, and the place of the one among
    /// them with `shift` more before it than there are ones before bit `at`.
    #[inline(always)]
    fn early_zeros(self, line: &Line, at: u32, shift: u32) -> (u64, u32) {
        // The mask removes a check.
        let zeros = !self.inner_window(line, at % 128).wrapping_shl(shift);
        let rank = shift + self.early_ones_before(line, at);
        (zeros, self.select(zeros, rank % u64::BITS))
    }

    /// The least of bytes `first..end` of a line, which are not none.
    #[inline(always)]
    fn least_byte(self, line: &Line, first: u32, end: u32) -> u8 {
        let own = ones(end) & !ones(first);
        // Bit by bit from the highest: a bit is set if all bytes are greater than with it unset and ones below.
        (0..u8::BITS).rev().fold(0, |byte, bit| {
            let others = !self.greater_bytes(line, byte | ((1 << bit) - 1)) & own;
            byte | u8::from(others == 0) << bit
        })
    }

    /// Removes byte `at` (< 63) of a line: later bytes move down by one, the last but one becomes zero, the last
    /// stays.
    #[inline(always)]
    fn remove_byte(self, line: &mut Line, at: u32) {
        BYTES.remove(line, u8::BITS * at, u8::BITS);
    }

    /// Inserts a byte at byte `at` (< 63) of a line: later bytes move up by one, the last but one is lost, the last
    /// stays.
    fn insert_byte(self, line: &mut Line, at: u32, byte: u8);

    /// The bits from `start` on: at least 57, or all to the end of the line. Higher bits are unspecified.
    fn window(self, line: &Line, start: u32) -> u64;

    /// The same for a `start` at least eight bytes before the end of the line.
    fn inner_window(self, line: &Line, start: u32) -> u64;

    /// The lowest `count` bits of a word; the whole word from 64 on. `count` is below 256.
    fn lowest(self, word: u64, count: u32) -> u64;

    /// Inserts the `width` (< 64) bits of `value` at bit `at` of the line: higher bits of the field move
    /// up, the last ones are lost.
    fn insert_bits(self, line: &mut Line, field: &Field, at: u32, width: u32, value: u64);

    /// Inserts a one at bit `one` of a field, and the `width` (< 64) bits of `value` at bit `at` (not before): higher
    /// bits of the field move up, the last ones are lost.
    #[inline(always)]
    fn insert_one_and_bits(
        self,
        line: &mut Line,
        field: &Field,
        one: u32,
        at: u32,
        width: u32,
        value: u64,
    ) {
        if width > 0 {
            self.insert_bits(line, field, at, width, value);
        }
        self.insert_bits(line, field, one, 1, 1);
    }

    /// Inserts a one at bit `at` of a field within the first two words: its higher bits move up, the last is
    /// lost.
    #[inline(always)]
    fn insert_early_one(self, line: &mut Line, field: &Field, at: u32) {
        self.insert_bits(line, field, at, 1, 1);
    }

    /// Removes `width` (< 64) bits at bit `at` of the line: higher bits of the field move down, the last ones
    /// become zero.
    #[inline(always)]
    fn remove_bits(self, line: &mut Line, field: &Field, at: u32, width: u32) {
        field.remove(line, at, width);
    }

    /// Removes bit `at` of a field within the first two words: its higher bits move down, the last becomes zero.
    #[inline(always)]
    fn remove_early_bit(self, line: &mut Line, field: &Field, at: u32) {
        field.remove(line, at, 1);
    }

    /// The eight fields of `width` (< 8) bits at the lowest bits of a word, as bytes.
    #[inline(always)]
    fn spread(self, word: u64, width: u32) -> u64 {
        (0..8).fold(0, |bytes, byte| bytes | (word >> (byte * width) & ones(width)) << (8 * byte))
    }

    /// The bits of a word that a mask selects, moved together to the lowest bits.
    #[inline(always)]
    fn extract(self, word: u64, mask: u64) -> u64 {
        let (mut mask, mut extracted, mut count) = (mask, 0, 0);
        while mask != 0 {
            // A run of selected bits at a time.
            let start = mask.trailing_zeros();
            let run = (mask >> start).trailing_ones();
            extracted |= (word >> start & ones(run)) << count;
            count += run;
            mask &= !(ones(run) << start);
        }
        extracted
    }

    /// The lowest bits of a word, moved to where a mask has ones.
    #[inline(always)]
    fn deposit(self, word: u64, mask: u64) -> u64 {
        let (mut mask, mut word, mut deposited) = (mask, word, 0);
        while mask != 0 {
            // A run of ones at a time.
            let start = mask.trailing_zeros();
            let run = (mask >> start).trailing_ones();
            deposited |= (word & ones(run)) << start;
            word = word >> (run - 1) >> 1;
            mask &= !(ones(run) << start);
        }
        deposited
    }

    /// Position of the set bit with `rank` (< 64) set bits below it; 64 if there is none.
    fn select(self, word: u64, rank: u32) -> u32;

    /// Tests the bits of a key's first draws: no if one is unset; yes if all are set and distinct, because
    /// then they are the whole pattern.
    fn holds(self, line: &Line, draws: &Draws) -> Holds;

    /// The bits selected by these draws, if the ISA can show quickly that they are distinct. Positions
    /// beyond the number of draws are unspecified.
    fn distinct_draws(self, draws: &Draws) -> Option<[u16; DRAWS_AT_ONCE]>;
}

/// Whether [`Portable`] has specialised code for common filters. Not on x86-64, where few CPUs lack AVX2.
pub(crate) const COMMON_ON_PORTABLE: bool = cfg!(any(test, not(target_arch = "x86_64")));

/// The ISA of the CPU.
///
/// Compiling each entry point for each ISA takes most of the library's build time. Combinations with little
/// gain are left out: AVX-512 is used for [common](Target::COMMON) filters only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DetectedIsa {
    /// The baseline of the target.
    Portable,
    /// Detected at run time.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// Detected at run time.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl DetectedIsa {
    /// Detects the best ISA; without `std`, that of the target.
    pub(crate) fn detect() -> Self {
        Self::all().next().unwrap_or(Self::Portable)
    }

    /// All ISAs of this CPU, the best first.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let found = [Avx512::detect().map(Self::Avx512), Avx2::detect().map(Self::Avx2)];
        #[cfg(not(target_arch = "x86_64"))]
        let found: [Option<Self>; 0] = [];
        found.into_iter().flatten().chain([Self::Portable])
    }
}

#[cfg(test)]
mod tests;
