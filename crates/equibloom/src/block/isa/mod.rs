//! The steps that processors have instructions of their own for.
//!
//! A [`Isa`] is a set of instructions; everything that runs on a block is generic over it and
//! inlined into one [`Operation`]. [`DetectedIsa`] knows which machine the program runs on and compiles each
//! operation once for each of them, so that the choice is made once per operation (per lookup, or per
//! batch of them) and not once per step: behind it, all code may use the machine's instructions. An [`Engine`]
//! has made the choice for a filter and its blocks.
//!
//! Every machine gives the same answers and writes the same bytes. [`Portable`] is always there and is
//! the oracle in the tests.

/// Whether the processor has all of these; without `std`, whether the program is compiled for such a one.
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
mod common;
mod engine;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon;
mod portable;
mod prefetch;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse2;
#[cfg(any(
    test,
    not(any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon"),
    ))
))]
mod words;

#[cfg(target_arch = "x86_64")]
use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use avx512::Avx512;
pub(crate) use engine::{Dispatch, Engine};
pub(crate) use portable::Portable;
pub(crate) use prefetch::{Nearness, prefetch};

use super::fields::Field;
use super::pattern::Draws;
use super::{BlockIndex, Holds};
use crate::hashing::KeyHash;
use crate::memory::WORDS_PER_LINE;
use common::OnCommon;

/// A cache line as a string of 512 bits.
pub(crate) type Line = [u64; WORDS_PER_LINE];

/// The most draws that [`Isa::distinct_draws`] looks at.
pub(super) const DRAWS_AT_ONCE: usize = 16;

/// A set of instructions.
pub(crate) trait Isa: Copy {
    /// Whether it works on usual filters only: their blocks have their array's [usual
    /// shape](super::BlockArray::is_common), and no budget limits the accesses of their keys.
    const COMMON: bool;

    /// Runs an operation in a function of its own, so that it neither takes registers from what stands
    /// around it nor the other way round.
    fn outlined<O: Operation>(self, operation: O) -> O::Output;

    /// The same for a step on a key's way. What it is given stays in registers.
    fn outlined_at<S: Step>(self, step: S, key: KeyHash, block: BlockIndex) -> S::Output;

    /// Which of a line's 64 bytes equal `byte`, one bit for each.
    fn equal_bytes(self, line: &Line, byte: u8) -> u64;

    /// Puts a byte into a line at byte `at`: the ones from there on move up by one, the last is lost.
    fn insert_byte(self, line: &mut Line, at: u32, byte: u8);

    /// The bits from `start` on: 57 of them at least, or all to the end of the line. What the others are
    /// does not matter.
    fn window(self, line: &Line, start: u32) -> u64;

    /// The same for a `start` in one of the line's bytes that has seven others behind it.
    fn inner_window(self, line: &Line, start: u32) -> u64;

    /// The lowest `count` bits of a word; all of it from 64 on. There are less than 256.
    fn lowest(self, word: u64, count: u32) -> u64;

    /// Inserts the `width` bits of `value` (less than 64) into a field of the line, at bit `at` of it: the
    /// field's bits from there on move up by as many, its last ones are lost.
    fn insert_bits(self, line: &mut Line, field: &Field, at: u32, width: u32, value: u64);

    /// Position of the set bit that has `rank` set bits below it; the word has more than `rank`.
    fn select(self, word: u64, rank: u32) -> u32;

    /// Whether a line has the bits of a key's first draws: no if one is unset; yes if all are set and
    /// they are the whole pattern, because none repeats another.
    fn holds(self, line: &Line, draws: &Draws) -> Holds;

    /// The bits that these draws hit, if the machine can tell quickly that they are all different. The
    /// positions behind the number of draws are not meant.
    fn distinct_draws(self, draws: &Draws) -> Option<[u16; DRAWS_AT_ONCE]>;
}

/// Something to be compiled for each machine.
pub(crate) trait Operation {
    /// What comes out.
    type Output;

    /// Does it. Must be inlined, with all that it calls, or the machine's instructions are calls.
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}

/// A step on a key's way through a filter, to be compiled for each machine.
pub(crate) trait Step {
    /// What comes out.
    type Output;

    /// Takes it with a key that stands at a block. Must be inlined, as an [`Operation`] must.
    fn take<I: Isa>(self, isa: I, key: KeyHash, block: BlockIndex) -> Self::Output;
}

/// Whether code is compiled apart for usual filters on [`Portable`]: not where processors are seldom so old.
const USUAL_ON_PORTABLE: bool = cfg!(any(test, not(target_arch = "x86_64")));

/// The machine that the program runs on.
///
/// Each operation is compiled for each machine, and that is most of the time that the library takes to
/// compile. So machines are left out where they gain little: AVX-512 works on [usual](Isa::COMMON)
/// filters only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DetectedIsa {
    /// Whatever every processor of the target can do.
    Portable,
    /// The processor has been asked.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// The processor has been asked.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl DetectedIsa {
    /// Asks the processor; without `std`, only the compiler.
    pub(crate) fn detect() -> Self {
        Self::all().next().unwrap_or(Self::Portable)
    }

    /// All that this processor can be, the best first.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let found = [Avx512::detect().map(Self::Avx512), Avx2::detect().map(Self::Avx2)];
        #[cfg(not(target_arch = "x86_64"))]
        let found: [Option<Self>; 0] = [];
        found.into_iter().flatten().chain([Self::Portable])
    }

    /// Runs an operation by this machine's instructions, or by older ones: see [`DetectedIsa`].
    #[inline(always)]
    pub(crate) fn run<O: Operation>(self, operation: O) -> O::Output {
        match self {
            Self::Portable => Portable.outlined(operation),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(isa) => isa.run(operation),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(isa) => isa.avx2().run(operation),
        }
    }

    /// The same on a [usual](Isa::COMMON) filter.
    #[inline(always)]
    fn run_on_usual<O: Operation>(self, operation: O) -> O::Output {
        match self {
            Self::Portable if USUAL_ON_PORTABLE => Portable.outlined(OnCommon(operation)),
            Self::Portable => Portable.outlined(operation),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(isa) => isa.run(OnCommon(operation)),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(isa) => isa.run(OnCommon(operation)),
        }
    }
}

#[cfg(test)]
mod tests;
