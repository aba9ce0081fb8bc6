//! Any machine, for filters of which something is known.

use super::{DRAWS_AT_ONCE, Line, Machine, Operation, Step};
use crate::block::fields::Field;
use crate::block::pattern::Draws;
use crate::block::{BlockIndex, Holds};
use crate::hashing::KeyHash;

/// A machine for [usual](Machine::USUAL) filters: what is known of those need not be asked at every block,
/// and what runs for others does not stand in the way of the registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usual<M>(pub(crate) M);

impl<M: Machine> Machine for Usual<M> {
    const USUAL: bool = true;

    #[inline(always)]
    fn apart<O: Operation>(self, operation: O) -> O::Output {
        self.0.apart(OnUsual(operation))
    }

    #[inline(always)]
    fn apart_at<S: Step>(self, step: S, key: KeyHash, block: BlockIndex) -> S::Output {
        self.0.apart_at(OnUsual(step), key, block)
    }

    #[inline(always)]
    fn equal_bytes(self, line: &Line, byte: u8) -> u64 {
        self.0.equal_bytes(line, byte)
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

/// An operation on a usual filter, or a step.
pub(super) struct OnUsual<O>(pub(super) O);

impl<O: Operation> Operation for OnUsual<O> {
    type Output = O::Output;

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) -> O::Output {
        self.0.run(Usual(machine))
    }
}

impl<S: Step> Step for OnUsual<S> {
    type Output = S::Output;

    #[inline(always)]
    fn take<M: Machine>(self, machine: M, key: KeyHash, block: BlockIndex) -> S::Output {
        self.0.take(Usual(machine), key, block)
    }
}
