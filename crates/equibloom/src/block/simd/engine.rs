//! What runs a filter: a machine, and what is known of the filter.
#![allow(unsafe_code, reason = "functions for instructions that not every processor has")]

use core::fmt;

use super::usual::{OnUsual, Usual};
use super::{Best, Machine, Operation, Portable, USUAL_ON_PORTABLE};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::hashing::KeyHash;

/// Something that is asked about keys.
pub(crate) trait Asked: Sized {
    /// Whether special instructions are worth their code also where it is not a [usual](Machine::USUAL) one.
    /// Single lookups have them always.
    const UNUSUAL_BY_SPECIAL_INSTRUCTIONS: bool;

    /// The answer. Must be inlined, as an [`Operation`] must.
    fn answer<M: Machine>(&self, machine: M, key: KeyHash) -> bool;
}

/// Runs operations on a filter. Which machine does it and whether the filter is a [usual](Machine::USUAL)
/// one is known when it is made. Most operations are long enough to look that up when they begin; single
/// lookups are not, and a filter is asked through the function that was compiled for just this.
pub(crate) struct Engine<F> {
    machine: Best,
    on_usual: bool,
    /// For `machine` and for `on_usual` only.
    answer: unsafe fn(&F, KeyHash) -> bool,
}

impl<F: Asked> Engine<F> {
    /// The machine must be that of the processor, as every [`Best`] is.
    pub(crate) fn new(machine: Best, on_usual: bool) -> Self {
        let answer: unsafe fn(&F, KeyHash) -> bool = match (machine, on_usual) {
            (Best::Portable, true) if USUAL_ON_PORTABLE => answer_portably::<F, true>,
            (Best::Portable, _) => answer_portably::<F, false>,
            #[cfg(target_arch = "x86_64")]
            (Best::Avx512(_), true) => avx512::answer::<F>,
            #[cfg(target_arch = "x86_64")]
            (Best::Avx2(_), true) => avx2::answer::<F, true>,
            #[cfg(target_arch = "x86_64")]
            (Best::Avx2(_) | Best::Avx512(_), false) => avx2::answer::<F, false>,
        };
        Self { machine, on_usual, answer }
    }

    /// Asks about a key.
    #[inline(always)]
    pub(crate) fn ask(self, asked: &F, key: KeyHash) -> bool {
        // SAFETY: compiled for `self.machine`, which the processor is.
        unsafe { (self.answer)(asked, key) }
    }
}

impl<F: Asked> Engine<F> {
    /// Runs an operation on the filter.
    #[inline(always)]
    pub(crate) fn run<O: Operation>(self, operation: O) -> O::Output {
        if self.on_usual {
            self.machine.run_on_usual(operation)
        } else {
            self.run_on_any(operation)
        }
    }

    /// Runs an operation that is worth its code only by the best instructions of the target; otherwise it
    /// comes back.
    #[inline(always)]
    pub(crate) fn run_if_worthwhile<O: Operation>(self, operation: O) -> Result<O::Output, O> {
        match (self.machine, self.on_usual) {
            (Best::Portable, _) if !USUAL_ON_PORTABLE => Err(operation),
            (Best::Portable, true) => Ok(Portable.apart(OnUsual(operation))),
            #[cfg(target_arch = "x86_64")]
            (Best::Avx512(machine), true) => Ok(machine.run(OnUsual(operation))),
            #[cfg(target_arch = "x86_64")]
            (Best::Avx2(machine), true) => Ok(machine.run(OnUsual(operation))),
            (_, false) if !F::UNUSUAL_BY_SPECIAL_INSTRUCTIONS => Err(operation),
            (Best::Portable, false) => Ok(Portable.apart(operation)),
            #[cfg(target_arch = "x86_64")]
            (Best::Avx512(machine), false) => Ok(machine.avx2().run(operation)),
            #[cfg(target_arch = "x86_64")]
            (Best::Avx2(machine), false) => Ok(machine.run(operation)),
        }
    }

    /// Runs an operation that takes nothing for granted of the filter.
    #[inline(always)]
    pub(crate) fn run_on_any<O: Operation>(self, operation: O) -> O::Output {
        if F::UNUSUAL_BY_SPECIAL_INSTRUCTIONS {
            self.machine.run(operation)
        } else {
            Portable.apart(operation)
        }
    }
}

/// The answer by instructions that every processor of the target has.
fn answer_portably<F: Asked, const USUAL: bool>(asked: &F, key: KeyHash) -> bool {
    answer_on::<F, _, USUAL>(Portable, asked, key)
}

/// The answer by one machine.
#[inline(always)]
pub(super) fn answer_on<F: Asked, M: Machine, const USUAL: bool>(
    machine: M,
    asked: &F,
    key: KeyHash,
) -> bool {
    if USUAL { asked.answer(Usual(machine), key) } else { asked.answer(machine, key) }
}

// Not derived: whatever `F` is, this is not a part of it.
impl<F> Clone for Engine<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Engine<F> {}

/// All answer the same.
impl<F> PartialEq for Engine<F> {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl<F> Eq for Engine<F> {}

impl<F> fmt::Debug for Engine<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, on_usual, .. } = self;
        formatter
            .debug_struct("Engine")
            .field("machine", machine)
            .field("on_usual", on_usual)
            .finish()
    }
}
