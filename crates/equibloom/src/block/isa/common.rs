//! Adapter that specialises an ISA for common filters.

use super::{DRAWS_AT_ONCE, Isa, Line, Operation, Step};
use crate::block::fields::Field;
use crate::block::pattern::Draws;
use crate::block::{BlockIndex, Holds};
use crate::hashing::KeyHash;

/// An ISA for [common](Isa::COMMON) filters: checks for other shapes are compiled out, which also saves
/// registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Common<I>(pub(crate) I);

impl<I: Isa> Isa for Common<I> {
    const COMMON: bool = true;

    #[inline(always)]
    fn outlined<O: Operation>(self, operation: O) -> O::Output {
        self.0.outlined(OnCommon(operation))
    }

    #[inline(always)]
    fn outlined_at<S: Step>(self, step: S, key: KeyHash, block: BlockIndex) -> S::Output {
        self.0.outlined_at(OnCommon(step), key, block)
    }

    #[inline(always)]
    fn equal_bytes(self, line: &Line, byte: u8) -> u64 {
        self.0.equal_bytes(line, byte)
    }

    #[inline(always)]
    fn greater_bytes(self, line: &Line, byte: u8) -> u64 {
        self.0.greater_bytes(line, byte)
    }

    #[inline(always)]
    fn last_byte(self, line: &Line) -> u8 {
        self.0.last_byte(line)
    }

    #[inline(always)]
    fn insert_byte(self, line: &mut Line, at: u32, byte: u8) {
        self.0.insert_byte(line, at, byte);
    }

    #[inline(always)]
    fn window(self, line: &Line, start: u32) -> u64 {
        self.0.window(line, start)
    }

    #[inline(always)]
    fn inner_window(self, line: &Line, start: u32) -> u64 {
        self.0.inner_window(line, start)
    }

    #[inline(always)]
    fn lowest(self, word: u64, count: u32) -> u64 {
        self.0.lowest(word, count)
    }

    #[inline(always)]
    fn insert_bits(self, line: &mut Line, field: &Field, at: u32, width: u32, value: u64) {
        self.0.insert_bits(line, field, at, width, value);
    }

    #[inline(always)]
    fn select(self, word: u64, rank: u32) -> u32 {
        self.0.select(word, rank)
    }

    #[inline(always)]
    fn holds(self, line: &Line, draws: &Draws) -> Holds {
        self.0.holds(line, draws)
    }

    #[inline(always)]
    fn distinct_draws(self, draws: &Draws) -> Option<[u16; DRAWS_AT_ONCE]> {
        self.0.distinct_draws(draws)
    }
}

/// An operation or step on a common filter.
pub(super) struct OnCommon<O>(pub(super) O);

impl<O: Operation> Operation for OnCommon<O> {
    type Output = O::Output;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> O::Output {
        self.0.run(Common(isa))
    }
}

impl<S: Step> Step for OnCommon<S> {
    type Output = S::Output;

    #[inline(always)]
    fn take<I: Isa>(self, isa: I, key: KeyHash, block: BlockIndex) -> S::Output {
        self.0.take(Common(isa), key, block)
    }
}
